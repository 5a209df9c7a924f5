"""A report as Markdown. Text of papers and models is escaped: it makes no heading, link, image or HTML."""

from collections.abc import Iterator, Sequence

from rag_assets.answering.wording import place_of
from rag_assets.core.text.display import markdown_text
from rag_assets.reports.report import NOTHING_HOLDS, Answered, Evidence, Gap, Report, Row, Statement, WrittenSection
from rag_assets.reports.templates import Section
from rag_assets.reports.wording import EVIDENCE, GAPS, PAPERS, gap_sentence, made_by, named, page_of


def as_markdown(report: Report) -> str:
    """The report; the last line ends with a line break."""
    template = report.template
    parts = [f"# {markdown_text(template.title)}"]
    parts += [markdown_text(template.introduction)] if template.introduction else []
    parts += [part for section in report.sections for part in _section(section, report)]
    if report.evidence:
        parts += [f"## {EVIDENCE}", "\n".join(map(_evidence, report.evidence))]
        parts += [f"## {PAPERS}", "\n".join(_paper(paper, report.titles[paper]) for paper in report.papers)]
    parts.append(f"*{markdown_text(made_by(report))}*")
    return "\n\n".join(parts) + "\n"


def _section(written: WrittenSection, report: Report) -> Iterator[str]:
    section = written.section
    yield f"{'#' * section.level} {markdown_text(section.heading)}"
    if section.guidance and (section.items or written.rows):
        yield markdown_text(section.guidance)
    if written.is_table and written.rows:
        yield _table(written, report)
    elif written.rows:
        yield from (part for row in written.rows for part in _summary(row, written.labels, report))
    elif not written.answers and section.asks:
        yield _nothing()
    yield from (part for answered in written.answers for part in _answer(answered, section))
    if written.gaps:
        yield f"**{GAPS}**"
        yield "\n".join(f"- {_gap(gap)}" for gap in written.gaps)


def _answer(answered: Answered, section: Section) -> Iterator[str]:
    asked = f"**{markdown_text(answered.asks)}** " if section.items else ""
    yield f"{asked}{_text(answered.statements) if answered.statements else _nothing()}"
    yield from (f"*{markdown_text(remark)}*" for remark in answered.remarks)


def _text(statements: Sequence[Statement]) -> str:
    return " ".join(f"{markdown_text(one.said)} {''.join(map(_mark, one.evidence))}" for one in statements)


def _cell(statements: Sequence[Statement]) -> str:
    return " ".join(f"{markdown_text(one.said)} {''.join(map(_mark_with_page, one.evidence))}" for one in statements)


def _mark(one: Evidence) -> str:
    return f"\\[{one.number}\\]"


def _mark_with_page(one: Evidence) -> str:
    return f"\\[{one.number}{markdown_text(page_of(one))}\\]"


def _nothing() -> str:
    return f"**{markdown_text(NOTHING_HOLDS)}**"


def _table(written: WrittenSection, report: Report) -> str:
    lines = [_line("Paper", *map(markdown_text, written.labels)), _line(*["---"] * (len(written.labels) + 1))]
    lines += [
        _line(_title(row.paper_id, report), *(_cell(cell) if cell else _nothing() for cell in row.cells))
        for row in written.rows
    ]
    return "\n".join(lines)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _summary(row: Row, labels: Sequence[str], report: Report) -> Iterator[str]:
    """The paper's title, and below it what is told; what is not stands among the gaps."""
    told = [(label, cell) for label, cell in zip(labels, row.cells, strict=True) if cell]
    yield f"**{_title(row.paper_id, report)}**" + ("" if told else f" {_nothing()}")
    if told:
        yield "\n".join(f"- {markdown_text(named(label, labels))}{_cell(cell)}" for label, cell in told)


def _title(paper_id: str, report: Report) -> str:
    return markdown_text(report.titles.get(paper_id, paper_id))


def _gap(gap: Gap) -> str:
    return markdown_text(gap_sentence(gap))


def _evidence(one: Evidence) -> str:
    return f"{one.number}. “{markdown_text(one.citation.quote)}” — {markdown_text(place_of(one.citation))}"


def _paper(paper_id: str, title: str) -> str:
    return (
        f"- {markdown_text(paper_id)}: {markdown_text(title)}" if title != paper_id else f"- {markdown_text(paper_id)}"
    )
