"""What the command line shows: records as text or JSON on stdout, everything else on stderr.

Answers are printed by `printed_answers`, which needs more than the help of a command should wait
for.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from rag_assets.core.domain import cost_words, page_words
from rag_assets.core.errors import Unanswered, data_option
from rag_assets.core.text.display import legible

if TYPE_CHECKING:  # settings take .3 s, Dagster a second, which help does without
    from rag_assets.core.settings import Settings
    from rag_assets.pipeline.runs.materialize import RunReport

COUNTS = ("n_added", "n_changed", "n_removed", "n_unchanged")
_COUNTED_EVERY = 100
_NONE = "-"
_CONTROLS_IN_JSON = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}
"""Control characters that JSON leaves as they are, and some terminals obey."""


class _LegibleConsole(Console):
    """Shows no control character of what is printed: names of files, questions and papers may hold
    commands to a terminal."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=legible(segment.text))


def out() -> Console:
    """Data goes here."""
    return _LegibleConsole(markup=False, emoji=False, highlight=False)


def err() -> Console:
    """Progress, warnings and errors go here."""
    return _LegibleConsole(stderr=True, highlight=False, markup=False, emoji=False)


def print_json(records: Any, *, indent: int | None = 2) -> None:
    """Records as JSON on stdout, without colours and wrapping. indent: None for one line."""
    text = json.dumps(records, ensure_ascii=False, indent=indent)
    print(text.translate(_CONTROLS_IN_JSON))  # noqa: T201 - stdout is this function's purpose


def print_line(text: str) -> None:
    """One line on stdout."""
    out().print(text, soft_wrap=True)


def print_plain(line: str) -> None:
    """One line of another program's format on stdout, without markup; control characters become
    visible."""
    print(legible(line))  # noqa: T201 - stdout is this function's purpose


def print_error(error: Exception) -> None:
    """What went wrong, as one message, and what was spent in vain."""
    err().print(f"Error: {error}", style="red", soft_wrap=True)
    spent = error.spent if isinstance(error, Unanswered) else None
    if isinstance(error, Unanswered) and spent and (cost := cost_words(spent, error.seconds)):
        err().print(f"Spent on it: {cost}.", soft_wrap=True)


def print_columns(rows: Sequence[Sequence[Any]], *, title: str) -> None:
    """Rows of equal length, numbers below a heading to the right. Nothing is wrapped or cut, so an
    id can be copied."""
    console = out()
    console.print(Text(legible(title), "bold"), soft_wrap=True)
    columns = []
    for column in zip(*rows, strict=True):
        texts = [legible(_readable(value)) for value in column]
        width = max(map(cell_len, texts))
        is_text = any(isinstance(value, str) for value in column[1:])
        columns.append(
            [set_cell_size(text, width) if is_text else text.rjust(width) for text in texts]
        )
    for row in zip(*columns, strict=True):
        console.print("  ".join(row).rstrip(), soft_wrap=True)


def print_run(report: "RunReport") -> None:
    """What every asset of a run did, and what stopped it."""
    counts = [count.removeprefix("n_") for count in COUNTS]
    rows = [
        [
            asset.asset,
            asset.facts.get("counted", ""),
            *map(asset.facts.get, COUNTS),
            f"{asset.seconds:7.1f}",
        ]
        for asset in report.assets
    ]
    if rows:
        print_columns(
            [["asset", "counted", *counts, "seconds"], *rows], title=f"Run {report.run_id[:8]}"
        )
    for check in report.broken:
        colour = "red" if check.is_blocking else "yellow"
        what = (
            f": {check.finding}"
            if check.finding
            else f" does not hold for {check.n_offenders} rows: {check.promise}"
        )
        err().print(
            Text.assemble((f"{check.asset} · {check.check}", colour), legible(what)), soft_wrap=True
        )
        for row in check.offenders if check.is_blocking and not check.finding else ():
            offender = ", ".join(f"{name}: {value}" for name, value in row.items())
            err().print(legible(f"  - {offender}"), soft_wrap=True)
    for message in report.errors:
        place, colon, problem = message.partition(":")
        err().print(Text.assemble((place, "red"), colon, problem), soft_wrap=True)


def print_notices(report: "RunReport", advice: str) -> None:
    """Why assets were skipped, and what can be done all the same."""
    for notice in report.notices:
        err().print(legible(notice), soft_wrap=True)
    err().print(advice, soft_wrap=True)


def print_failure(report: "RunReport") -> None:
    """One closing line: what made the run fail, said above, may be far up."""
    checks = [f"{check.asset} · {check.check}" for check in report.broken if check.is_blocking]
    steps = [message.partition(":")[0] for message in report.errors]
    err().print(
        f"The run failed: {', '.join([*checks, *steps])} (see above).", style="red", soft_wrap=True
    )


def print_ended(report: "RunReport") -> None:
    """What a run that was ended by the user has done, and what the next one goes on with."""
    done = ", ".join(asset.asset for asset in report.assets) or "nothing yet"
    err().print(
        f"Ended before {report.left[0]} was finished. Done: {done}. Nothing half-made is published, and what "
        f"{report.left[0]} has saved so far is kept: the next run goes on with it.",
        soft_wrap=True,
    )


def print_places(settings: "Settings") -> None:
    """Where everything lies, and how to look at it."""
    from rag_assets.search.indexing.stores import (
        published_indexes,
    )  # Arrow, which most commands print without

    paths = settings.paths
    vectors, words = published_indexes(settings)
    err().print(
        f"\nAnswers   {paths.qa}\nReports   {paths.reports}\nAudit     {paths.qa_audit}\nChunks    {paths.chunks}\n"
        f"Indexes   {vectors} and {words}\nLineage, chunk statistics and plots: rag-assets ui"
        f"{data_option(paths.data)}, then open the address it prints.",
        soft_wrap=True,
    )


def print_facts(facts: Mapping[str, Any], *, title: str) -> None:
    """One fact per line, for people: shares and scores with three decimals, what is missing as a
    dash."""
    rows = [
        (f"{name} {part}".strip().replace("_", " "), fact)
        for name, value in facts.items()
        for part, fact in (value.items() if isinstance(value, Mapping) else [("", value)])
    ]
    print_columns(rows, title=title)


def print_paragraphs(title: str, rows: Iterable[tuple[str, str, *tuple[str, ...]]]) -> None:
    """What is told of some papers. rows: a heading, the id of the paper if it is to be copied, then
    paragraphs."""
    print_line(legible(title))
    for heading, paper_id, *paragraphs in rows:
        out().print()
        print_indented(heading, 0, paper_id)
        for paragraph in filter(None, paragraphs):
            print_indented(paragraph)


def print_hits(record: Mapping[str, Any], titles: Mapping[str, str]) -> None:
    """The best passage of each hit as an answer shows a quote, and how well it matches the
    question; and which of the queries found it, where there are several."""
    queries = record["queries"] if len(record["queries"]) > 1 else []
    for number, query in enumerate(queries, start=1):
        print_line(legible(f"query {number} ({query['origin']}): {query['text']}"))
    for hit in record["hits"]:
        out().print(legible(f"{hit['rank']}. {hit['passage']}"))
        placed = (hit["passage_page_start"], hit["passage_page_end"], hit["passage_page_label"])
        place = filter(
            None, (titles.get(hit["paper_id"]), page_words(*placed, is_by_ocr=hit["is_by_ocr"]))
        )
        print_indented(", ".join(place), paper_id=hit["paper_id"])
        found_by = ", ".join(str(number + 1) for number in hit["found_by"])
        facts = [
            f"“{hit['section']}”" if hit["section"] else "",
            f"{hit['band']} search match" if hit["band"] else "",
            f"score {_readable(hit['score'])}",
            f"similarity {_readable(hit['similarity'])}",
            f"found by query {found_by}" if queries else "",
        ]
        print_indented(", ".join(filter(None, facts)))
        out().print()


def counting(what: str) -> Callable[[int, int], None]:
    """A `report(done, total)` that counts on stderr every hundred and at the end."""

    def report(done: int, total: int) -> None:
        if done == total or done % _COUNTED_EVERY == 0:
            err().print(f"{done} of {total} {what}")

    return report


def print_heading(text: str) -> None:
    """A question above its answer."""
    out().print(Text(legible(f"\n{text}\n"), "bold"))


def print_indented(text: str, n_blanks: int = 4, paper_id: str = "") -> None:
    """A text, and the id of its paper, which is never broken over lines: it is there to be
    copied."""
    console = out()
    lines = [
        line.plain.rstrip() for line in Text(legible(text)).wrap(console, console.width - n_blanks)
    ]
    if paper_id:
        mark = f"[{legible(paper_id)}]"
        if lines and n_blanks + cell_len(f"{lines[-1]} {mark}") <= console.width:
            mark = f"{lines.pop()} {mark}"
        lines.append(mark)
    for line in lines:
        console.print(f"{' ' * n_blanks}{line}".rstrip(), soft_wrap=True)


def _readable(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ", ".join(map(_readable, value)) or _NONE
    return _NONE if value is None else str(value)
