"""Renders a report as Markdown, as one HTML file without scripts (made from the Markdown), and its
tables as spreadsheets.

Text of papers, templates and models is escaped, so that it cannot become a heading, link, image or
HTML. The only links of the web page lead from the number of a quote to the quote. A spreadsheet has
one row per paper; next to each answer are its page and its quote.
"""

from collections.abc import Callable, Iterator, Sequence
from html import escape
from io import BytesIO

from markdown_it import MarkdownIt
from openpyxl import Workbook

from rag_assets.answering.drafts import WITHHELD
from rag_assets.answering.wording import place_of
from rag_assets.core.text.display import csv_bytes, legible, markdown_text, no_formula
from rag_assets.reports.report import (
    NOTHING_HOLDS,
    AnsweredQuestion,
    CitedClaim,
    Gap,
    NumberedQuote,
    PaperRow,
    Report,
    WrittenSection,
)

EVIDENCE = "Evidence"
PAPERS = "Papers used"
GAPS = "What is missing"
_MOST_PAPERS_NAMED = 20
_NOTHING = f"**{markdown_text(NOTHING_HOLDS)}**"
_STYLE = """
body { font: 1.05rem/1.6 Georgia, "Times New Roman", serif; max-width: 46rem; margin: 3rem auto; padding: 0 1.2rem;
  color: #1c1c1c; background: #fff }
h1, h2, h3, h4, th, .gaps, body > p:last-child { font-family: system-ui, sans-serif; line-height: 1.25 }
table { border-collapse: collapse; width: 100%; font-size: .92em } th, td { border-bottom: 1px solid #ccc;
  padding: .4rem .6rem; text-align: left; vertical-align: top } td:first-child { font-weight: 600 }
.gaps { border-left: 3px solid #b26a00; font-size: .88em; margin: 0 }
p.gaps { padding-left: 1rem } ul.gaps { padding-left: 2.2rem } .gap { color: #8a5200 }
p:has(+ ul) { margin-bottom: .2rem } p + ul { margin-top: .2rem } a[href^="#evidence"] { font-size: .75em;
  line-height: 1; vertical-align: super; white-space: nowrap; text-decoration: none }
body > p:last-child { color: #666; font-size: .8em; font-style: normal; margin-top: 3rem }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #161616 } a { color: #8ab4f8 }
  th, td { border-color: #444 } .gap { color: #e0a458 } }
"""
_HEAD = (
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
)
Mark = Callable[[NumberedQuote, str], str]
"""Function that turns a quote and the text of its mark, "[7]", into Markdown."""


def as_markdown(report: Report) -> str:
    """The report as Markdown; the last line ends with a line break."""
    return _markdown(report, lambda _quote, text: markdown_text(text))


def as_web_page(report: Report) -> str:
    """The report as a complete HTML document. A content security policy in its head forbids scripts
    and external resources."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(
        _markdown(report, lambda quote, text: f"[{markdown_text(text)}](#evidence-{quote.number})")
    )
    in_gaps = False
    for token, next_token in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "list_item_open" and token.info:  # only the evidence is a numbered list
            token.attrSet("id", f"evidence-{token.info}")
        if token.type == "paragraph_open" and next_token and next_token.content == f"**{GAPS}**":
            in_gaps = True
            token.attrSet("class", "gaps")
        if token.type == "bullet_list_open" and in_gaps:
            in_gaps = False
            token.attrSet("class", "gaps")
        for child, inner in zip(token.children or (), (token.children or ())[1:], strict=False):
            if child.type == "strong_open" and inner.content == NOTHING_HOLDS:
                child.attrSet("class", "gap")
    body = parser.renderer.render(tokens, parser.options, {})
    title = escape(legible(report.template.title))
    head = f"{_HEAD}<title>{title}</title><style>{_STYLE}</style>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n{body}</body></html>\n'


def gap_sentence(gap: Gap) -> str:
    """A gap in words: what is missing, what was searched, and how many chunks were read."""
    about = f", of {_listed(gap.about)}" if gap.about else ""
    end = "" if f"{gap.missing}{about}".endswith((".", "?", "!")) else "."
    read = "nothing was found"
    if gap.n_chunks:
        if not gap.about:
            papers = _listed(gap.papers)
        else:
            papers = "it" if len(gap.about) == 1 else "them"
        read = f"{gap.n_chunks} chunk{'' if gap.n_chunks == 1 else 's'} of {papers}"
    return f"{gap.missing}{about}{end} {searched_in_vain(gap)}: {read}."


def searched_in_vain(gap: Gap) -> str:
    """Why there is no answer: what was searched, and where; or that the answer is withheld."""
    if gap.is_withheld:
        return WITHHELD.rstrip(".")
    searched = f' for "{gap.searched}"' if gap.searched != gap.missing else ""
    where = f" in {gap.where}" if gap.where else ""
    return f"Searched in vain{searched}{where}"


def counts_sentence(written: WrittenSection) -> str:
    """The number of papers in a table that have an answer, for each column, in words."""
    columns = zip(
        written.labels, zip(*(row.cells for row in written.rows), strict=True), strict=True
    )
    counts = "; ".join(f"{label}: {sum(map(bool, cells))}" for label, cells in columns)
    return f"Papers with an answer, of {len(written.rows)}: {counts}."


def mark_of(quote: NumberedQuote, report: Report, *, in_table: bool = False) -> str:
    """The mark of a quote after a claim: its number, "[7]", in a table with its page; or, in a style
    with references, the place of the quote."""
    if report.references:
        place = place_of(quote.citation)
        return place if place.endswith((")", "]")) else f"[{place}]"
    pages = quote.citation.page_words if in_table else ""
    return f"[{quote.number}, {pages}]" if pages else f"[{quote.number}]"


def papers_listed(report: Report) -> Sequence[str]:
    """The cited papers: the references of the style, or else each id with its title."""
    titles = ((paper, report.titles[paper]) for paper in report.papers)
    return report.references or [
        f"{paper}: {title}" if title != paper else paper for paper, title in titles
    ]


def made_by(report: Report) -> str:
    """The last line of a report, which names the models."""
    by = f" Answers by {' and '.join(report.models)}." if report.models else ""
    return f"Every sentence was checked against the quotes in “{EVIDENCE}”.{by}"


def _listed(papers: Sequence[str]) -> str:
    more = (
        f" and {len(papers) - _MOST_PAPERS_NAMED} more" if len(papers) > _MOST_PAPERS_NAMED else ""
    )
    return f"{', '.join(papers[:_MOST_PAPERS_NAMED])}{more}"


def _markdown(report: Report, mark: Mark) -> str:
    template = report.template
    parts = [f"# {markdown_text(template.title)}"]
    parts += [markdown_text(template.introduction)] if template.introduction else []
    parts += [part for section in report.sections for part in _section(section, report, mark)]
    if report.evidence:
        parts += [f"## {EVIDENCE}", "\n".join(map(_evidence, report.evidence))]
        parts += [
            f"## {PAPERS}",
            "\n".join(f"- {markdown_text(paper)}" for paper in papers_listed(report)),
        ]
    parts.append(f"*{markdown_text(made_by(report))}*")
    return "\n\n".join(parts) + "\n"


def _section(written: WrittenSection, report: Report, mark: Mark) -> Iterator[str]:
    section = written.section
    yield f"{'#' * section.level} {markdown_text(section.heading)}"
    if section.guidance and (section.items or written.rows):
        yield markdown_text(section.guidance)
    if written.is_table and written.rows:
        yield _table(written, report, mark)
        yield markdown_text(counts_sentence(written))
    elif not written.answers and section.asks:
        yield _NOTHING
    for answered in written.answers:
        yield from _answer(answered, report, mark, has_question=bool(section.items))
    if written.gaps:
        yield f"**{GAPS}**"
        yield "\n".join(f"- {markdown_text(gap_sentence(gap))}" for gap in written.gaps)


def _answer(
    answered: AnsweredQuestion, report: Report, mark: Mark, *, has_question: bool
) -> Iterator[str]:
    question = f"**{markdown_text(answered.asks)}** " if has_question else ""
    lead = _claims(answered.lead, report, mark)
    statements = _claims(answered.statements, report, mark)
    paragraphs = [part for part in (lead, statements) if part] or [_NOTHING]
    yield f"{question}{paragraphs[0]}"
    yield from paragraphs[1:]
    yield from (f"*{markdown_text(remark)}*" for remark in answered.remarks)


def _claims(
    claims: Sequence[CitedClaim], report: Report, mark: Mark, *, in_table: bool = False
) -> str:
    """Claims with the marks of their quotes; empty without claims."""
    return " ".join(
        f"{markdown_text(claim.said)} "
        + "".join(
            mark(quote, mark_of(quote, report, in_table=in_table)) for quote in claim.evidence
        )
        for claim in claims
    )


def _table(written: WrittenSection, report: Report, mark: Mark) -> str:
    lines = [
        _line("Paper", *map(markdown_text, written.labels)),
        _line(*["---"] * (len(written.labels) + 1)),
    ]
    lines += [
        _line(
            markdown_text(report.titles.get(row.paper_id, row.paper_id)),
            *(_claims(cell, report, mark, in_table=True) or _NOTHING for cell in row.cells),
        )
        for row in written.rows
    ]
    return "\n".join(lines)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _evidence(quote: NumberedQuote) -> str:
    text, place = markdown_text(quote.citation.quote), markdown_text(place_of(quote.citation))
    return f"{quote.number}. “{text}” — {place}"


_MAX_CELL_CHARS = 32_767
"""Excel's limit: https://support.microsoft.com/office/excel-specifications-and-limits."""
_MAX_SHEET_NAME_CHARS = 31
_NOT_IN_SHEET_NAMES = str.maketrans(dict.fromkeys("[]:*?/\\", " "))


def as_csv(report: Report) -> bytes:
    """The tables of a report as CSV, one below the other, each with its header."""
    return csv_bytes(row for section in _tables(report) for row in _rows(section, report))


def as_xlsx(report: Report) -> bytes:
    """The tables of a report as the bytes of an Excel workbook, one sheet per table."""
    book = Workbook(write_only=True)
    for number, section in enumerate(_tables(report), start=1):
        name = f"{number} {legible(section.section.heading).translate(_NOT_IN_SHEET_NAMES)}"
        sheet = book.create_sheet(name[:_MAX_SHEET_NAME_CHARS])
        sheet.freeze_panes = "C2"
        for row in _rows(section, report):
            sheet.append([cell[:_MAX_CELL_CHARS] for cell in row])
    written = BytesIO()
    book.save(written)
    return written.getvalue()


def _tables(report: Report) -> list[WrittenSection]:
    return [section for section in report.sections if section.is_table]


def _rows(section: WrittenSection, report: Report) -> Iterator[list[str]]:
    """The rows of a table: a header, then one row per paper, with three columns per question:
    answer, pages and quote. If there is no answer, the reason is in the column of the quote."""
    names = (
        name
        for label in section.labels
        for name in (label, f"{label}: page", f"{label}: quote, or why none")
    )
    yield [*map(_text, ("paper", "title", *names))]
    for row in section.rows:
        cells = zip(row.cells, reasons_of(row, section), strict=True)
        answers: list[str] = []
        for claims, reason in cells:
            citations = [quote.citation for claim in claims for quote in claim.evidence]
            pages = dict.fromkeys(filter(None, (each.page_words for each in citations)))
            quotes = " | ".join(citation.quote for citation in citations) or reason
            answers += (" ".join(claim.said for claim in claims), "; ".join(pages), quotes)
        yield [*map(_text, (row.paper_id, report.titles.get(row.paper_id, ""), *answers))]


def reasons_of(row: PaperRow, section: WrittenSection) -> list[str]:
    """For each cell of a row, why it has no answer; empty for a cell with an answer."""
    reasons = {
        gap.missing: searched_in_vain(gap) for gap in section.gaps if row.paper_id in gap.about
    }
    return [reasons.get(label, "") for label in section.labels]


def _text(value: str) -> str:
    return no_formula(legible(value))
