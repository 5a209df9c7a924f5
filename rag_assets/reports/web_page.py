"""A report as one HTML file without scripts: numbers are links to the quotes they stand for."""

from collections.abc import Iterator, Sequence
from html import escape

from rag_assets.answering.wording import place_of
from rag_assets.core.text.display import legible
from rag_assets.reports.report import NOTHING_HOLDS, Answered, Evidence, Report, Row, Statement, WrittenSection
from rag_assets.reports.templates import Section
from rag_assets.reports.wording import EVIDENCE, GAPS, PAPERS, gap_sentence, made_by, named, page_of

_STYLE = """
body { font: 1.05rem/1.6 Georgia, "Times New Roman", serif; max-width: 46rem; margin: 3rem auto; padding: 0 1.2rem;
  color: #1c1c1c; background: #fff }
h1, h2, h3, h4, th, .gaps, footer { font-family: system-ui, sans-serif; line-height: 1.25 }
table { border-collapse: collapse; width: 100%; font-size: .92em } th, td { border-bottom: 1px solid #ccc;
  padding: .4rem .6rem; text-align: left; vertical-align: top }
.gaps { border-left: 3px solid #b26a00; padding-left: 1rem; font-size: .88em } .gap { color: #8a5200 }
p:has(+ ul) { margin-bottom: .2rem } p + ul { margin-top: .2rem } sup { white-space: nowrap }
sup a { text-decoration: none } footer { color: #666; font-size: .8em; margin-top: 3rem }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #161616 } a { color: #8ab4f8 }
  th, td { border-color: #444 } .gap { color: #e0a458 } }
"""


def as_web_page(report: Report) -> str:
    """A complete HTML document. All text is escaped, and a policy in its head lets nothing in it run or be loaded."""
    title = _text(report.template.title)
    body = [f"<h1>{title}</h1>"]
    body += [f"<p>{_text(report.template.introduction)}</p>"] if report.template.introduction else []
    body += [part for section in report.sections for part in _section(section, report)]
    if report.evidence:
        body += [
            f"<h2>{EVIDENCE}</h2>",
            "<ol>",
            *map(_evidence, report.evidence),
            "</ol>",
            f"<h2>{PAPERS}</h2>",
            "<ul>",
        ]
        body += [f"<li><b>{_text(paper)}</b>: {_text(report.titles[paper])}</li>" for paper in report.papers]
        body.append("</ul>")
    body.append(f"<footer>{_text(made_by(report))}</footer>")
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{title}</title><style>{_STYLE}</style>"
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(body) + "\n</body></html>\n"


def _section(written: WrittenSection, report: Report) -> Iterator[str]:
    section = written.section
    yield f"<h{section.level}>{_text(section.heading)}</h{section.level}>"
    if section.guidance and (section.items or written.rows):
        yield f"<p>{_text(section.guidance)}</p>"
    if written.is_table and written.rows:
        yield _table(written, report)
    elif written.rows:
        yield from (_summary(row, written.labels, report) for row in written.rows)
    elif not written.answers and section.asks:
        yield f"<p>{_nothing()}</p>"
    yield from (part for answered in written.answers for part in _answer(answered, section))
    if written.gaps:
        items = "".join(f"<li>{_text(gap_sentence(gap))}</li>" for gap in written.gaps)
        yield f'<div class="gaps"><b>{GAPS}</b><ul>{items}</ul></div>'


def _answer(answered: Answered, section: Section) -> Iterator[str]:
    asked = f"<b>{_text(answered.asks)}</b> " if section.items else ""
    yield f"<p>{asked}{_said(answered.statements) if answered.statements else _nothing()}</p>"
    yield from (f"<p><em>{_text(remark)}</em></p>" for remark in answered.remarks)


def _said(statements: Sequence[Statement]) -> str:
    return " ".join(f"{_text(one.said)}{''.join(_mark(of, '') for of in one.evidence)}" for one in statements)


def _said_in_cell(statements: Sequence[Statement]) -> str:
    return " ".join(f"{_text(one.said)}{''.join(_mark(of, page_of(of)) for of in one.evidence)}" for one in statements)


def _mark(one: Evidence, page: str) -> str:
    return f'<sup><a href="#evidence-{one.number}">[{one.number}{_text(page)}]</a></sup>'


def _nothing() -> str:
    return f'<b class="gap">{_text(NOTHING_HOLDS)}</b>'


def _table(written: WrittenSection, report: Report) -> str:
    heads = "".join(f"<th>{_text(name)}</th>" for name in ("Paper", *written.labels))
    rows = "".join(f"<tr><th>{_title(row, report)}</th>{_cells(row)}</tr>" for row in written.rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _cells(row: Row) -> str:
    return "".join(f"<td>{_said_in_cell(cell) if cell else _nothing()}</td>" for cell in row.cells)


def _summary(row: Row, labels: Sequence[str], report: Report) -> str:
    """The paper's title, and below it what is told; what is not stands among the gaps."""
    told = [(label, cell) for label, cell in zip(labels, row.cells, strict=True) if cell]
    if not told:
        return f"<p><b>{_title(row, report)}</b> {_nothing()}</p>"
    items = "".join(f"<li>{_text(named(label, labels))}{_said_in_cell(cell)}</li>" for label, cell in told)
    return f"<p><b>{_title(row, report)}</b></p><ul>{items}</ul>"


def _title(row: Row, report: Report) -> str:
    return _text(report.titles.get(row.paper_id, row.paper_id))


def _evidence(one: Evidence) -> str:
    return f'<li id="evidence-{one.number}">“{_text(one.citation.quote)}” — {_text(place_of(one.citation))}</li>'


def _text(text: str) -> str:
    return escape(legible(text))
