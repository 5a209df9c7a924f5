"""Commands that write reports, tables of papers and lists of references from what is published:
nothing is materialized."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.core.errors import InvalidFilter, InvalidTemplate, MissingInput
from rag_assets.faces.cli import rendering
from rag_assets.faces.cli.options import (
    DataOption,
    ModelOption,
    SetOption,
    WhereOption,
    reported,
    settings_of,
)

if TYPE_CHECKING:
    from rag_assets.core.settings import Settings
    from rag_assets.reports import Report, Template

OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Where it goes: .md, .html, .csv or .xlsx; default: Markdown here.",
    ),
]


def report(
    template: Annotated[
        str,
        typer.Argument(help="A .md or .json file, or the name of a template in the data folder."),
    ],
    out: OutOption = None,
    model: ModelOption = None,
    data: DataOption = None,
    set_: SetOption = None,
) -> None:
    """Write the report of a template from the index as it is; the published reports stay.

    Example: rag-assets report overview -o overview.html

    Example: rag-assets report my_review.md -o review.html --model openai:gpt-5-mini
    """
    with reported():
        from rag_assets.reports import load_template

        settings = settings_of(data, set_, {"--model": ("answering.model", model)})
        _write(lambda: load_template(_file(template, settings)), settings, out)


def table(
    questions: Annotated[
        list[str],
        typer.Argument(
            metavar="QUESTION...", help="A column each: the question, or NAME=Question."
        ),
    ],
    where: WhereOption = None,
    out: OutOption = None,
    model: ModelOption = None,
    data: DataOption = None,
    set_: SetOption = None,
) -> None:
    """Ask questions of every paper: a row per paper, in each cell its answer with page and quote,
    or why there is none.

    Example: rag-assets table "Sample=How many people took part?" "What limits the results?" -o
    studies.xlsx

    Example: rag-assets table "BM25=Is BM25 a baseline?" --where "section:methods,results" -o
    baselines.csv
    """
    with reported():
        from rag_assets.reports.templates import columns_of, template_of_table

        settings = settings_of(data, set_, {"--model": ("answering.model", model)})
        try:
            columns = columns_of(questions)
        except InvalidTemplate as error:
            raise typer.BadParameter(str(error)) from error
        _write(lambda: template_of_table(columns, where), settings, out)


def cite(
    answers: Annotated[
        str | None,
        typer.Argument(
            metavar="ANSWERS",
            help="A qa.jsonl, or the name of a published report; default: the published answers.",
        ),
    ] = None,
    style: Annotated[
        str, typer.Option("--style", help="author-year, numeric, bibtex, ris or csl-json.")
    ] = "author-year",
    data: DataOption = None,
) -> None:
    """Print the papers that answers, or a report, cite as a list of references, or for a reference
    manager.

    Example: rag-assets cite --style bibtex > references.bib

    Example: rag-assets cite overview --style numeric
    """
    with reported():
        from rag_assets.corpus.records.citation_styles import bibliography
        from rag_assets.corpus.records.published import records_of

        settings = settings_of(data, None)
        cited = _papers_cited(answers, settings)
        for line in bibliography(records_of(settings.paths, cited), style).splitlines():
            rendering.print_plain(line)


def _papers_cited(answers: str | None, settings: "Settings") -> Sequence[str]:
    from rag_assets.answering.records import read_results
    from rag_assets.answering.wording import papers_cited

    read = settings.paths.qa if answers is None else Path(answers)
    if read.is_file() and read.suffix == ".jsonl":
        return papers_cited(read_results(read))
    if answers is None:
        raise MissingInput(f"There are no answers at {read}. Make them: rag-assets qa")
    from rag_assets.engine import open_engine
    from rag_assets.reports import load_template
    from rag_assets.reports.update import ReportFiles, ReportWriter

    template = load_template(_file(answers, settings))
    files = ReportFiles(_file(answers, settings), settings.paths.reports)
    if not files.answers.is_file():
        raise MissingInput(f"The report {template.name} is not published. Make it: rag-assets run")
    with open_engine(settings) as engine:
        return ReportWriter(engine, settings).published(template, files).papers


def _write(template: "Callable[[], Template]", settings: "Settings", out: Path | None) -> None:
    render = _rendering(out)
    if out is not None:
        _demand_place(out)
    from rag_assets.core.incremental import write_atomically
    from rag_assets.engine import open_engine
    from rag_assets.reports.update import ReportWriter

    loaded = template()
    with open_engine(settings) as engine:
        for where in {
            section.settings.where
            for section in loaded.sections
            if section.settings.papers == "all"
        }:
            if not engine.papers(where):
                raise InvalidFilter(f"No paper passes the filter {where}: there is nothing to ask.")
        written = ReportWriter(engine, settings).written(loaded, rendering.counting("questions"))
    content = render(written)
    if out is None:
        rendering.print_line(content.decode())
    else:
        write_atomically(out, content)
        rendering.print_line(f"{out}")


def _demand_place(out: Path) -> None:
    """A report is not written first, and paid for, to find that it can be put nowhere."""
    folder = next(parent for parent in out.absolute().parents if parent.exists())
    if out.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise typer.BadParameter(
            f"{out} cannot be written. Name a file in a folder that you can write to."
        )


def _rendering(out: Path | None) -> "Callable[[Report], bytes]":
    """What turns a report into the bytes of the file."""
    kind = ".md" if out is None else out.suffix.lower()
    if kind in (".csv", ".xlsx"):
        from rag_assets.reports.renderings import as_csv, as_xlsx

        return as_csv if kind == ".csv" else as_xlsx
    if kind == ".md":
        from rag_assets.reports.renderings import as_markdown

        return lambda report: as_markdown(report).encode()
    if kind == ".html":
        from rag_assets.reports.renderings import as_web_page

        return lambda report: as_web_page(report).encode()
    raise typer.BadParameter(
        f"A report is written as .md, .html, .csv or .xlsx, not as {kind or 'a file without suffix'}."
    )


def _file(template: str, settings: "Settings") -> Path:
    """The file of that name; else the template of that name in the data folder."""
    path = Path(template)
    if path.exists() or path.name != template:
        return path
    markdown = settings.paths.templates / f"{template.removesuffix('.md')}.md"
    named = (markdown, markdown.with_name(template), markdown.with_name(f"{template}.json"))
    return next((file for file in named if file.is_file()), markdown)
