"""A report as Markdown, as one HTML file without scripts that is made from the Markdown, and its
tables for spreadsheets.

Text of papers, templates and models is escaped: it makes no heading, link, image or HTML. The only
links of the web page lead from the number of a quote to the quote. A spreadsheet has one row per
paper; beside each answer its page and the quote it rests on.
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
"""quote, text behind a claim -> Markdown."""


def as_markdown(report: Report) -> str:
    """The report; the last line ends with a line break."""
    return _markdown(report, lambda _quote, text: markdown_text(text))


def as_web_page(report: Report) -> str:
    """A complete HTML document. A policy in its head lets nothing in it run or be loaded."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(
        _markdown(report, lambda quote, text: f"[{markdown_text(text)}](#evidence-{quote.number})")
    )
    in_gaps = False
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "list_item_open" and token.info:  # only the evidence is a numbered list
            token.attrSet("id", f"evidence-{token.info}")
        if token.type == "paragraph_open" and following and following.content == f"**{GAPS}**":
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
    """What is missing, and what was searched in vain, or read for an answer that is withheld."""
    about = f", of {_listed(gap.about)}" if gap.about else ""
    end = "" if f"{gap.missing}{about}".endswith((".", "?", "!")) else "."
    read = "nothing was found"
    if gap.n_chunks:
        of = _listed(gap.papers) if not gap.about else "it" if len(gap.about) == 1 else "them"
        read = f"{gap.n_chunks} chunk{'' if gap.n_chunks == 1 else 's'} of {of}"
    return f"{gap.missing}{about}{end} {searched_in_vain(gap)}: {read}."


def searched_in_vain(gap: Gap) -> str:
    """What was searched for and where, without what was read; or that the answer is withheld."""
    if gap.is_withheld:
        return WITHHELD.rstrip(".")
    searched = f' for "{gap.searched}"' if gap.searched != gap.missing else ""
    where = f" in {gap.where}" if gap.where else ""
    return f"Searched in vain{searched}{where}"


def counts_sentence(written: WrittenSection) -> str:
    """How many papers of a table have an answer in each column."""
    columns = zip(
        written.labels, zip(*(row.cells for row in written.rows), strict=True), strict=True
    )
    counts = "; ".join(f"{label}: {sum(map(bool, cells))}" for label, cells in columns)
    return f"Papers with an answer, of {len(written.rows)}: {counts}."


def mark_of(one: NumberedQuote, report: Report, *, in_table: bool = False) -> str:
    """What follows a claim: "[7]", the number of its quote, in a table with its page; or the place
    of the quote, as the style cites it."""
    if report.references:
        return place if (place := place_of(one.citation)).endswith((")", "]")) else f"[{place}]"
    pages = one.citation.page_words if in_table else ""
    return f"[{one.number}, {pages}]" if pages else f"[{one.number}]"


def papers_listed(report: Report) -> Sequence[str]:
    """The papers that are cited: the list of references of the style, or each id with its title."""
    titles = ((paper, report.titles[paper]) for paper in report.papers)
    return report.references or [
        f"{paper}: {title}" if title != paper else paper for paper, title in titles
    ]


def made_by(report: Report) -> str:
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
            "\n".join(f"- {markdown_text(one)}" for one in papers_listed(report)),
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
    asked = f"**{markdown_text(answered.asks)}** " if has_question else ""
    lead, claims = (
        " ".join(
            f"{markdown_text(one.said)} {''.join(mark(quote, mark_of(quote, report)) for quote in one.evidence)}"
            for one in told
        )
        for told in (answered.lead, answered.statements)
    )
    paragraphs = [part for part in (lead, claims) if part] or [_NOTHING]
    yield f"{asked}{paragraphs[0]}"
    yield from paragraphs[1:]
    yield from (f"*{markdown_text(remark)}*" for remark in answered.remarks)


def _cell(claims: Sequence[CitedClaim], report: Report, mark: Mark) -> str:
    return " ".join(
        f"{markdown_text(one.said)} "
        + "".join(mark(quote, mark_of(quote, report, in_table=True)) for quote in one.evidence)
        for one in claims
    )


def _table(written: WrittenSection, report: Report, mark: Mark) -> str:
    lines = [
        _line("Paper", *map(markdown_text, written.labels)),
        _line(*["---"] * (len(written.labels) + 1)),
    ]
    lines += [
        _line(
            markdown_text(report.titles.get(row.paper_id, row.paper_id)),
            *(_cell(cell, report, mark) or _NOTHING for cell in row.cells),
        )
        for row in written.rows
    ]
    return "\n".join(lines)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _evidence(one: NumberedQuote) -> str:
    return f"{one.number}. “{markdown_text(one.citation.quote)}” — {markdown_text(place_of(one.citation))}"


_MAX_CELL_CHARS = 32_767
"""Excel's limit: https://support.microsoft.com/office/excel-specifications-and-limits."""
_MAX_SHEET_NAME_CHARS = 31
_NOT_IN_SHEET_NAMES = str.maketrans(dict.fromkeys("[]:*?/\\", " "))


def as_csv(report: Report) -> bytes:
    """The tables of a report one below the other, each with its header."""
    return csv_bytes(row for section in _tables(report) for row in _rows(section, report))


def as_xlsx(report: Report) -> bytes:
    """The bytes of a workbook with a sheet for each table."""
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
    """A header, then the papers. An answer that is missing has the reason in the column of its
    quote."""
    beside = (
        name
        for label in section.labels
        for name in (label, f"{label}: page", f"{label}: quote, or why none")
    )
    yield [*map(_text, ("paper", "title", *beside))]
    for row in section.rows:
        cells = zip(row.cells, reasons_of(row, section), strict=True)
        answers: list[str] = []
        for claims, reason in cells:
            quotes = [one.citation for claim in claims for one in claim.evidence]
            pages = dict.fromkeys(one.page_words for one in quotes if one.page_words)
            quoted = " | ".join(one.quote for one in quotes) or reason
            answers += (" ".join(claim.said for claim in claims), "; ".join(pages), quoted)
        yield [*map(_text, (row.paper_id, report.titles.get(row.paper_id, ""), *answers))]


def reasons_of(row: PaperRow, section: WrittenSection) -> list[str]:
    """Why each cell of a row has no answer; empty for those that have one."""
    reasons = {
        gap.missing: searched_in_vain(gap) for gap in section.gaps if row.paper_id in gap.about
    }
    return [reasons.get(label, "") for label in section.labels]


def _text(value: str) -> str:
    return no_formula(legible(value))
