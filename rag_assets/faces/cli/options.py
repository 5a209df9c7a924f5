"""What commands share: options, the settings they give, and how each command ends."""

import logging
import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from rag_assets.core.domain import Filter
from rag_assets.core.errors import (
    InvalidFilter,
    InvalidSettings,
    RagAssetsError,
    disk_full,
    is_full_disk,
)
from rag_assets.faces.cli import rendering

if TYPE_CHECKING:  # help does without settings, which take .3 s to import
    from rag_assets.core.settings import Settings

_EXIT_OF_CTRL_C = 130


def _a_filter(text: str | None) -> str | None:
    """Refuse a wrong filter as a wrong usage, before anything is opened."""
    if text is not None:
        try:
            Filter.parse(text)
        except InvalidFilter as error:
            raise typer.BadParameter(str(error)) from error
    return text


DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DIR", help="The data folder; default: RAG_ASSETS_DATA_DIR, else ./data."
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting for this run, e.g. chunking.max_tokens=1100, answering.model=ollama:llama3.2 or, as TOML, "
        "retrieval.rank_weights=[1, 0.5]; repeatable.",
    ),
]
DepthOption = Annotated[
    int | None, typer.Option("-k", min=1, help="Chunks to find; default: the setting answering.k.")
]
PaperOption = Annotated[
    list[str] | None,
    typer.Option(
        "--paper",
        metavar="ID",
        help="Search only this paper; repeatable. Short for --where paper:ID.",
    ),
]
WhereOption = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="FILTER",
        callback=_a_filter,
        help="Search only what passes a filter of paper:ID, author:NAME, year:FROM-TO, venue:WORDS, type:TYPE, "
        "language:CODE, source:FORMAT, section:KIND and page:FROM-TO; commas part "
        'values, a minus excludes, e.g. "section:results,discussion page:3-7 -source:text".',
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="PROVIDER:MODEL",
        help="The model that answers, and writes queries if retrieval.queries asks for some; short for "
        "--set answering.model.",
    ),
]
RerankOption = Annotated[
    str | None,
    typer.Option(
        "--rerank",
        metavar="RERANKER",
        help="Who looks at the best hits once more, as provider:model, or none; short for --set retrieval.reranker.",
    ),
]
HybridWeightOption = Annotated[
    float | None,
    typer.Option(
        "--hybrid-weight",
        min=0,
        max=1,
        metavar="SHARE",
        help="Weight of the vectors beside the words: 0 is words only, 1 vectors only; short for "
        "--set retrieval.dense_weight.",
    ),
]
ThoroughOption = Annotated[
    bool,
    typer.Option(
        "--thorough",
        help="Answer each part of the question by itself, and search again for parts that nothing answers; short for "
        "--set answering.effort=thorough.",
    ),
]
AllowRemovalOption = Annotated[
    bool,
    typer.Option(
        "--allow-removal",
        help="Publish although most papers are gone from the papers folder; short for "
        "--set execution.allow_removal=true.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print records as JSON.")]


def settings_of(
    data: Path | None,
    values: list[str] | None,
    options: Mapping[str, tuple[str, object]] | None = None,
) -> "Settings":
    """The settings of a command.

    options: by their names, those that stand for a setting, with its name and the value (None: not
    given). They win over `--set`. Raises BadParameter for a `--set` or an option that is wrong,
    InvalidSettings for what stands in the file or the environment, and MissingInput when the data
    folder is not there.
    """
    from rag_assets.core.settings import load_settings
    from rag_assets.core.settings.paths import demand_data_folder

    settings, given = load_settings(overrides_of(data, None)), []
    of_options = {
        option: [f"{name}={value}"]
        for option, (name, value) in (options or {}).items()
        if value is not None
    }
    for option, items in {"--set": values or [], **of_options}.items():
        given += items
        try:
            settings = load_settings(overrides_of(data, given))
        except InvalidSettings as error:
            raise typer.BadParameter(str(error), param_hint=option) from error
    demand_data_folder(settings.paths)
    return settings


class SettingsCommand(TyperCommand):
    """A command that answers an option which is the name of a setting with the way to set it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = {name for parameter in self.params for name in parameter.opts}
        for argument in args if "--set" in own else []:
            option = argument.partition("=")[0]
            if not option.startswith("--") or option in own:
                continue
            from rag_assets.core.settings import Settings, setting_names

            field = option.removeprefix("--").replace("-", "_")
            names = [
                name for name in setting_names(Settings) if field in (name, name.rpartition(".")[2])
            ]
            if names:
                raise typer.BadParameter(
                    f"There is no such option. Write --set {names[0]}=VALUE.",
                    ctx,
                    param_hint=option,
                )
        return super().parse_args(ctx, args)


def demand_papers(wanted: Collection[str], known: Collection[str], *, option: str) -> None:
    """Refuse ids that no paper has as wrong usage, with the nearest id. known: all ids; empty
    before the first run."""
    for paper_id in wanted:
        if known and paper_id not in known:
            (nearest,) = get_close_matches(paper_id, known, n=1, cutoff=0)
            raise typer.BadParameter(
                f"No paper has the id {paper_id}. The nearest is {nearest}.", param_hint=option
            )


def overrides_of(data: Path | None, values: list[str] | None) -> dict[str, Any]:
    """`--data` and `--set group.field=value` as the nested mapping a launchpad would give."""
    overrides: dict[str, Any] = {"data_dir": str(data)} if data else {}
    for item in values or []:
        name, equals, value = item.partition("=")
        if not equals:
            raise InvalidSettings(
                f'--set {item}: write it as key=value, for example "chunking.max_tokens=1100".'
            )
        *groups, field = name.strip().split(".")
        target = overrides
        for group in groups:
            target = target.setdefault(group, {})
            if not isinstance(target, dict):
                raise InvalidSettings(
                    f'--set {item}: "{group}" already has a value; set either it or its fields.'
                )
        target[field] = _value_of(value, item)
    return overrides


def _value_of(written: str, item: str) -> Any:
    """The value of a setting: TOML for a list, a table or a text in quotes, else the text itself."""
    if not written.strip().startswith(("[", "{", '"', "'")):
        return written
    try:
        return tomllib.loads(f"value = {written}")["value"]
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings(
            f"--set {item}: the value is not TOML ({error}). A list is written as ['a', 'b'], a table as {{a = 1}}, "
            "a text that begins like one in quotes."
        ) from error


@contextmanager
def reported() -> Iterator[None]:
    """Our errors become one message and exit code 1; meanwhile, progress of the domain packages
    goes to stderr."""
    from rich.logging import RichHandler

    handler = RichHandler(
        console=rendering.err(), show_path=False, show_level=False, log_time_format="%H:%M:%S"
    )
    logger = logging.getLogger("rag_assets")
    before = (logger.handlers, logger.propagate, logger.level)
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.INFO)
    try:
        yield
    except KeyboardInterrupt as error:
        rendering.err().print("\nEnded.")
        raise typer.Exit(_EXIT_OF_CTRL_C) from error
    except RagAssetsError as error:
        rendering.print_error(error)
        raise typer.Exit(1) from error
    except Exception as error:
        if not is_full_disk(error):
            raise
        rendering.err().print(f"Error: {disk_full(None)}", style="red", soft_wrap=True)
        raise typer.Exit(1) from error
    finally:
        logger.handlers, logger.propagate = before[:2]
        logger.setLevel(before[2])
