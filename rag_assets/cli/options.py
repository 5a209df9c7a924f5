"""Options that several commands share, and the settings they give."""

from pathlib import Path
from typing import Annotated, Any

import typer

from rag_assets.data_folder import demand_data_folder
from rag_assets.errors import InvalidSettings
from rag_assets.settings import Settings, load_settings

DataOption = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="The data folder; default: RAG_ASSETS_DATA_DIR, else ./data."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting for this run, e.g. chunking.max_tokens=1100 or answering.model=ollama:llama3.2; repeatable.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print records as JSON.")]


def settings_of(data: Path | None, values: list[str] | None) -> Settings:
    """The settings of a command.

    Raises BadParameter for a `--set` that is wrong, InvalidSettings for what stands in the file or the environment, and
    MissingInput when the data folder is not there.
    """
    base = load_settings(overrides_of(data, None))
    settings = base
    if values:
        try:
            settings = load_settings(overrides_of(data, values))
        except InvalidSettings as error:
            raise typer.BadParameter(str(error), param_hint="--set") from error
    demand_data_folder(settings.paths)
    return settings


def overrides_of(data: Path | None, values: list[str] | None) -> dict[str, Any]:
    """`--data` and `--set group.field=value` as the nested mapping a launchpad would give."""
    overrides: dict[str, Any] = {"data_dir": str(data)} if data else {}
    for item in values or []:
        name, equals, value = item.partition("=")
        if not equals:
            raise InvalidSettings(f'--set {item}: write it as key=value, for example "chunking.max_tokens=1100".')
        *groups, field = name.strip().split(".")
        target = overrides
        for group in groups:
            target = target.setdefault(group, {})
            if not isinstance(target, dict):
                raise InvalidSettings(f'--set {item}: "{group}" already has a value; set either it or its fields.')
        target[field] = value
    return overrides
