"""What the command line shows: records as tables or JSON on stdout, everything else on stderr."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rag_assets.answering.drafts import EXTRACTIVE
from rag_assets.answering.wording import claim_note, nearest_heading, place_of, told_beside
from rag_assets.core.domain import Citation, Claim, QAResult, page_numbers
from rag_assets.core.errors import data_option
from rag_assets.core.settings import Settings
from rag_assets.core.text.display import legible

if TYPE_CHECKING:  # runs import Dagster, which most commands do without
    from rag_assets.pipeline.runs.materialize import RunReport

COUNTS = ("n_added", "n_changed", "n_removed", "n_unchanged")
_NOT_WRITTEN = "These are sentences found in the papers, not a written answer; set answering.model for one."
_COUNTED_EVERY = 100
_NONE = "-"


def out() -> Console:
    """Data goes here."""
    return Console(markup=False, emoji=False, highlight=False)


def err() -> Console:
    """Progress, warnings and errors go here."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def print_json(records: Any) -> None:
    """Records as JSON on stdout, without colours and wrapping."""
    print(json.dumps(records, ensure_ascii=False, indent=2))  # noqa: T201 - stdout is this function's purpose


def print_line(text: str) -> None:
    """One line on stdout."""
    out().print(text, soft_wrap=True)


def print_table(rows: Sequence[Mapping[str, Any]], *, title: str) -> None:
    """Records as a table; its columns are the keys of the first record. Without records, stderr says so."""
    if not rows:
        err().print(f"{title}: none")
        return
    table = Table(title=title, title_justify="left", header_style="bold")
    for column in rows[0]:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*("" if value is None else legible(str(value)) for value in row.values()))
    out().print(table)


def print_run(report: "RunReport") -> None:
    """What every asset of a run did, and what stopped it."""
    rows = [
        {
            "asset": asset.asset,
            "rows": asset.facts.get("dagster/row_count"),
            **{count.removeprefix("n_"): asset.facts.get(count) for count in COUNTS},
            "seconds": f"{asset.seconds:.1f}",
        }
        for asset in report.assets
    ]
    print_table(rows, title=f"Run {report.run_id[:8]}")
    for check in report.broken:
        colour = "red" if check.is_blocking else "yellow"
        what = (
            f": {check.finding}" if check.finding else f" does not hold for {check.n_offenders} rows: {check.promise}"
        )
        err().print(Text.assemble((f"{check.asset} · {check.check}", colour), legible(what)), soft_wrap=True)
        if check.is_blocking and not check.finding:
            err().print(legible(check.offenders), soft_wrap=True)
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
    err().print(f"The run failed: {', '.join([*checks, *steps])} (see above).", style="red", soft_wrap=True)


def print_ended(report: "RunReport") -> None:
    """What a run that was ended by the user has done, and what the next one goes on with."""
    done = ", ".join(asset.asset for asset in report.assets) or "nothing yet"
    err().print(
        f"Ended before {report.left[0]} was finished. Done: {done}. Nothing half-made is published, and what "
        f"{report.left[0]} has saved so far is kept: the next run goes on with it.",
        soft_wrap=True,
    )


def print_answers(results: Sequence[QAResult]) -> None:
    """Questions and answers, if there are any; each claim ends with the place it is cited from."""
    if not results:
        return
    table = Table(show_lines=True, header_style="bold")
    table.add_column("question", overflow="fold", ratio=2)
    table.add_column("answer [paper, page]", overflow="fold", ratio=5)
    for result in results:
        table.add_row(legible(f"{result.question_id}  {result.question}"), legible(result.answer))
    out().print(table)


def print_places(settings: Settings) -> None:
    """Where everything lies, and how to look at it."""
    from rag_assets.search.indexing.stores import published_indexes  # Arrow, which most commands print without

    paths = settings.paths
    vectors, words = published_indexes(settings)
    err().print(
        f"\nAnswers   {paths.qa}\nReports   {paths.reports}\nAudit     {paths.qa_audit}\nChunks    {paths.chunks}\n"
        f"Indexes   {vectors} and {words}\nLineage, chunk statistics and plots: rag-assets ui"
        f"{data_option(paths.data)}, then open the address it prints.",
        soft_wrap=True,
    )


def print_facts(facts: Mapping[str, Any], *, title: str) -> None:
    """One fact per line, for people: shares and scores with three decimals, what is missing as a dash."""
    table = Table(title=title, title_justify="left", show_header=False)
    for name, value in facts.items():
        within = value.items() if isinstance(value, Mapping) else [("", value)]
        for part, one in within:
            table.add_row(f"{name} {part}".strip(), legible(_readable(one)))
    out().print(table)


def print_hits(record: Mapping[str, Any]) -> None:
    """The hits of one question, with the best passage of each and where it stands; and which of the queries found it,
    where there are several."""
    queries = record["queries"] if len(record["queries"]) > 1 else []
    has_bands = any(hit["band"] for hit in record["hits"])
    for number, query in enumerate(queries, start=1):
        print_line(legible(f"query {number} ({query['origin']}): {query['text']}"))
    rows = [
        {
            "rank": hit["rank"],
            "score": _readable(hit["score"]),
            "similarity": _readable(hit["similarity"]),
            **({"band": hit["band"]} if has_bands else {}),
            **({"query": ", ".join(str(number + 1) for number in hit["found_by"])} if queries else {}),
            "stands in": _place_of_hit(hit),
            "best passage": hit["passage"],
        }
        for hit in record["hits"]
    ]
    print_table(rows, title=str(record["id"]))


def _place_of_hit(hit: Mapping[str, Any]) -> str:
    """Paper, section, page and number of boxes of the passage, one per line, as far as they are known."""
    pages = page_numbers(hit["passage_page_start"], hit["passage_page_end"], hit["passage_page_label"])
    n_boxes = len(hit["boxes"])
    boxes = f"{n_boxes} box{'' if n_boxes == 1 else 'es'}" if n_boxes else ""
    place = ", ".join(part for part in (f"p. {pages}" if pages else "", boxes) if part)
    return "\n".join(part for part in (hit["paper_id"], hit["section"], place) if part)


def counting(what: str) -> Callable[[int, int], None]:
    """A `report(done, total)` that counts on stderr every hundred and at the end."""

    def report(done: int, total: int) -> None:
        if done == total or done % _COUNTED_EVERY == 0:
            err().print(f"{done} of {total} {what}")

    return report


def print_answer(result: QAResult, titles: Mapping[str, str]) -> None:
    """One answer: each claim once with its quotes and places, then what else must be known.

    titles: titles of papers by id. An extractive claim is its own quote, so it is not quoted again.
    """
    console = out()
    if result.refused:
        console.print(legible(result.answer), soft_wrap=False)
    for claim in result.claims:
        _print_claim(console, claim, titles)
    for remark in told_beside(result):
        console.print(legible(f"  {remark}" if result.refused else remark))
    if result.model.startswith(EXTRACTIVE) and not result.refused:
        console.print(_NOT_WRITTEN)
    if result.nearest:
        console.print(f"\n{nearest_heading(result)}")
    for claim in result.nearest:
        _print_indented(console, claim.text, 2)
        for citation in claim.citations:
            _print_indented(console, _source_of(citation, titles))


def _print_claim(console: Console, claim: Claim, titles: Mapping[str, str]) -> None:
    console.print(legible(claim.text))
    if note := claim_note(claim):
        _print_indented(console, note)
    for citation in claim.citations:
        if citation.quote != claim.text:
            _print_indented(console, f"“{citation.quote}”")
        _print_indented(console, _source_of(citation, titles))
    console.print()


def _print_indented(console: Console, text: str, n_blanks: int = 4) -> None:
    console.print(Padding(legible(text), (0, 0, 0, n_blanks), expand=False))


def _source_of(citation: Citation, titles: Mapping[str, str]) -> str:
    """ "Reciprocal rank fusion, p. 2 [rank_fusion]"; the id alone where the paper has no title."""
    title = titles.get(citation.paper_id, "").strip()
    place = place_of(citation)
    return f"{title}{place.removeprefix(citation.paper_id)} [{citation.paper_id}]" if title else place


def _readable(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ", ".join(map(_readable, value)) or _NONE
    return _NONE if value is None else str(value)
