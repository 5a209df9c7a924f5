"""Prints the PDFs of the demo corpus from its TEI files: `python -m rag_assets_tests.demo_pdfs`.
Needs Chromium.

Each page of a PDF holds the words that the TEI file puts on that page, so both name the same pages.
To be run again when one of the TEI files changes.
"""

from collections.abc import Iterator
from html import escape
from pathlib import Path

from lxml import etree
from playwright.sync_api import sync_playwright

from rag_assets.core.domain import Block, BlockKind, Document, Zone
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.formats.tei.document import parse_tei
from rag_assets.parsing.shared.files import RawFile
from rag_assets_tests.demo_papers import FOLDER

WITH_PDF = {
    "evaluation/retrieval_metrics.tei.xml": "evaluation/retrieval_metrics.pdf",
    "rank_fusion.tei.xml": "rank_fusion.pdf",
    "chunking_passages.grobid.tei.xml": "chunking_passages.pdf",
}
CHROMIUM = "/usr/bin/chromium"
_STYLE = """
@page { size: A4; margin: 2.2cm 2.4cm }
body { font: 10.5pt/1.42 "Liberation Serif", serif; margin: 0; text-align: justify }
section { break-after: page }
section:last-child { break-after: auto }
h1 { font-size: 17pt; line-height: 1.2; text-align: left }
h2 { font-size: 11.5pt; margin: 1em 0 .3em; text-align: left }
p { margin: 0 0 .55em }
.formula { font: 10pt "DejaVu Sans Mono", monospace; text-align: center; margin: .6em 0 }
.small { font-size: 9pt }
table { border-collapse: collapse; margin: .6em 0 }
td { border-bottom: .5pt solid #999; padding: 2pt 6pt; text-align: left }
.label { font-size: 9pt; text-align: center }
"""


def main() -> None:
    """Write every PDF beside its TEI file."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        for tei, pdf in WITH_PDF.items():
            document = _parsed(FOLDER / tei)
            page.set_content(_html(document, _references(FOLDER / tei)))
            page.pdf(path=FOLDER / pdf, prefer_css_page_size=True, tagged=False, outline=False)
            print(f"{pdf}: {document.n_pages} pages in the TEI file")  # noqa: T201
        browser.close()


def _parsed(path: Path) -> Document:
    return parse_tei(
        RawFile(path.stem.partition(".")[0], path.name, path.read_bytes()), ParsingSettings()
    )


def _references(path: Path) -> list[str]:
    """The reference list, which no block of a document holds."""
    found = etree.parse(path).xpath("//*[local-name() = 'listBibl']/*")
    return [" ".join(" ".join(str(part) for part in one.itertext()).split()) for one in found]


def _html(document: Document, references: list[str]) -> str:
    n_pages = document.n_pages or 1
    pages: dict[int, list[str]] = {number: [] for number in range(1, n_pages + 1)}
    pages[1].append(f"<h1>{escape(document.title)}</h1>")
    for block in document.blocks:
        if block.zone is not Zone.TITLE_PAGE:
            for page, text in _parts(block):
                pages[page].append(_element(block, text))
    pages[n_pages] += [
        "<h2>References</h2>",
        *(f'<p class="small">{escape(one)}</p>' for one in references),
    ]
    labels = document.page_labels or (None,) * n_pages
    shown = [
        "".join(pages[number]) + (f'<p class="label">{escape(label)}</p>' if label else "")
        for number, label in zip(sorted(pages), labels, strict=True)
    ]
    sections = "".join(f"<section>{page}</section>" for page in shown)
    head = f"<head><title>{escape(document.title)}</title><style>{_STYLE}</style></head>"
    return f"<html>{head}<body>{sections}</body></html>"


def _parts(block: Block) -> Iterator[tuple[int, str]]:
    """The text of a block by the page it stands on."""
    by_page: dict[int, str] = {}
    for span in block.spans:
        page = span.page_start or 1
        by_page[page] = by_page.get(page, "") + block.text[span.start : span.end]
    yield from (by_page or {1: block.text}).items()


def _element(block: Block, text: str) -> str:
    match block.kind:
        case BlockKind.HEADING:
            return f"<h2>{escape(text)}</h2>"
        case BlockKind.FORMULA:
            return f'<p class="formula">{escape(text)}</p>'
        case BlockKind.LIST:
            return "".join(f"<p>{escape(line)}</p>" for line in text.splitlines())
        case BlockKind.TABLE:
            lines = [line.split(" | ") for line in text.splitlines()]
            rows = "".join(
                f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in lines
            )
            return f'<p class="small">{escape(block.caption)}</p><table>{rows}</table>'
        case BlockKind.FOOTNOTE:
            return f'<p class="small">{escape(text)}</p>'
        case _:
            return f"<p>{escape(text)}</p>"


if __name__ == "__main__":
    main()
