"""Whether what a citation would quote stands on the page it would name, on the PDFs of a data
folder.

    python -m benchmarks.page_truth --data FOLDER [--quotes N]

FOLDER holds chunks (rag-assets run --select +chunks). Of each chunk, and of N sentences, rows,
items and captions, the first and the last words are looked for, as PDFium reads them, on the first
and on the last page that their runs of text name; of a table row, every cell. Nothing of the
product but the published places is used. Printed: shares by format and kind, then every miss. What
`benchmarks.quote_places` tells of boxes, this tells of pages. Printed text is third parties', keep
it out of files.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from benchmarks.quote_places import drawn
from rag_assets.core.domain import Chunk, StatementKind, spans_between
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import required_table
from rag_assets.core.tables import chunks_from
from rag_assets.evaluation.cases import letters, pdf_pages
from rag_assets.library.reading.papers import Papers
from rag_assets.library.reading.pdfs import PdfFiles, PdfWorkers

N_WORDS = 4
MIN_LETTERS = 8
"""Fewer stand on any page."""


@dataclass(frozen=True)
class Place:
    """A text, its pages as published, and what was looked for where."""

    source: str
    kind: str
    paper_id: str
    text: str
    pages: tuple[int, int] | None
    missed: tuple[str, ...] = ()


def places(settings: Settings, n_quotes: int) -> Iterator[Place]:
    """Every chunk, and the quotes drawn, of papers that have a PDF."""
    papers = Papers(settings)
    workers = PdfWorkers(settings)
    files = PdfFiles(settings, papers)
    try:
        quotes = drawn(settings, papers, n_quotes)
        for chunk in chunks_from(required_table(settings.paths.chunks)):
            if not chunk.is_generated and files.of(chunk.paper_id):
                yield _placed(
                    chunk, "chunk", chunk.own_start, len(chunk.text), _pages_of(files, chunk)
                )
        for chunk, kind, start, end in quotes:
            yield _placed(chunk, str(kind), start, end, _pages_of(files, chunk))
    finally:
        workers.close()


def _placed(chunk: Chunk, kind: str, start: int, end: int, pdf: Sequence[str]) -> Place:
    text = chunk.text[start:end]
    spans = [
        one for one in spans_between(chunk.spans, start, end) if one.page_start and one.page_end
    ]
    if not spans:
        return Place(chunk.source, kind, chunk.paper_id, text, None)
    first, last = spans[0], spans[-1]
    on_first_page = chunk.text[max(first.start, start) : min(first.end, end)]
    on_last_page = chunk.text[max(last.start, start) : min(last.end, end)]
    pages = (first.page_start or 1, last.page_end or 1)
    on_first = "".join(pdf[pages[0] - 1 : first.page_end])
    on_last = "".join(pdf[(last.page_start or 1) - 1 : pages[1]])
    if kind == str(StatementKind.ROW):
        wanted = [(letters(one), on_first + on_last) for one in _values(text)]
    else:
        opening, ending = (
            _values(on_first_page)[0].split()[:N_WORDS],
            _values(on_last_page)[-1].split()[-N_WORDS:],
        )
        wanted = [(letters("".join(opening)), on_first), (letters("".join(ending)), on_last)]
    missed = tuple(one for one, page in wanted if len(one) >= MIN_LETTERS and one not in page)
    return Place(chunk.source, kind, chunk.paper_id, text, pages, missed)


def _values(text: str) -> list[str]:
    """Lines and cells, without the labels that chunking writes before the value of a cell or of the
    front matter."""
    return [re.split(r": | / ", cell)[-1] for cell in re.split(r"\n| \| ", text.strip())]


def _pages_of(files: PdfFiles, chunk: Chunk) -> Sequence[str]:
    pdf = files.of(chunk.paper_id)
    return _letters_of(pdf.path) if pdf else ()


@lru_cache(maxsize=4)
def _letters_of(path: Path) -> tuple[str, ...]:
    return tuple(letters(page) for page in pdf_pages(path))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--quotes", type=int, default=600)
    arguments = parser.parse_args()
    found = list(places(Settings(data_dir=arguments.data), arguments.quotes))
    for group in sorted({(one.source, one.kind) for one in found}):
        own = [one for one in found if (one.source, one.kind) == group]
        known = [one for one in own if one.pages]
        right = sum(not one.missed for one in known)
        share = f"{right / len(known):.1%}" if known else "-"
        print(
            f"{' '.join(group)}: {len(own)}, page known {len(known)}, on that page {right} ({share})"
        )
    for one in found:
        if one.missed:
            print(
                f"\n{one.paper_id} {one.kind} pages {one.pages}: {', '.join(one.missed)}\n  {one.text[:200]!r}"
            )


if __name__ == "__main__":
    main()
