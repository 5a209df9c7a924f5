"""Whether the boxes of a cited sentence lie on exactly its words, on the PDFs of a data folder.

    python -m benchmarks.quote_places --data FOLDER [--quotes N]

FOLDER holds chunks (rag-assets run --select +chunks). N sentences and rows of chunks whose papers
have a PDF are drawn with a fixed seed, as many of each paper as of any other, and looked up as
citations are. PDFium then reads the words under the boxes; the letters and digits of both must be
the same. Printed: how many were found in the PDF's text, how many of these read back the same, by
format, and those that are worst. Printed text is third parties', keep it out of files.
"""

import argparse
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rapidfuzz import fuzz

from rag_assets.core.domain import Chunk, StatementKind
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import required_table
from rag_assets.core.tables import chunks_from
from rag_assets.library.reading.papers import Papers
from rag_assets.library.reading.pdfs import PagePlace, PdfFiles, PdfWorkers, Places, wordings
from rag_assets_testing.reading_back import letters, words_under

SEED = 13
MIN_CHARS = 40
KINDS = frozenset(
    {StatementKind.SENTENCE, StatementKind.ROW, StatementKind.ITEM, StatementKind.CAPTION}
)
N_WORST, SHOWN_CHARS = 12, 300


@dataclass(frozen=True)
class Case:
    """A citation and what became of it."""

    chunk: Chunk
    quote: str
    wordings: tuple[str, ...]
    """As the page may have it: a row without the names of its columns."""
    kind: StatementKind
    pages: tuple[PagePlace, ...]
    read_back: str

    @property
    def ending(self) -> str:
        if not self.pages:
            return "page unknown"
        if not self.pages[0].is_exact:
            return "block"
        return "same" if letters(self.read_back) in map(letters, self.wordings) else "differs"

    @property
    def likeness(self) -> float:
        return float(
            max(fuzz.ratio(letters(self.read_back), letters(wording)) for wording in self.wordings)
        )


def cases(settings: Settings, n_quotes: int) -> Iterator[Case]:
    papers, workers = Papers(settings), PdfWorkers(settings)
    pdfs = PdfFiles(settings, papers)
    places = Places(pdfs, workers)
    try:
        for chunk, kind, start, end in drawn(settings, papers, n_quotes):
            pages = places.of(chunk, start, end)
            pdf = pdfs.of(chunk.paper_id)
            boxes = [box for page in pages for box in page.boxes if page.is_exact]
            read_back = words_under(pdf.path, boxes) if pdf else ""
            yield Case(
                chunk,
                chunk.text[start:end],
                wordings(chunk.text, start, end),
                kind,
                pages,
                read_back,
            )
    finally:
        workers.close()


def drawn(
    settings: Settings, papers: Papers, n_quotes: int
) -> list[tuple[Chunk, StatementKind, int, int]]:
    """Sentences, rows, items and captions of the papers that have a PDF."""
    by_paper: dict[str, list[tuple[Chunk, StatementKind, int, int]]] = defaultdict(list)
    with_pdf = {paper.paper_id for paper in papers.all() if paper.has_pages}
    for chunk in chunks_from(required_table(settings.paths.chunks)):
        if chunk.paper_id in with_pdf and not chunk.is_generated:
            by_paper[chunk.paper_id] += [
                (chunk, unit.kind, unit.start, unit.end)
                for unit in chunk.units
                if unit.kind in KINDS and unit.end - unit.start >= MIN_CHARS
            ]
    shuffled = random.Random(SEED)
    for found in by_paper.values():
        shuffled.shuffle(found)
    share = -(-n_quotes // max(1, len(by_paper)))
    return [one for _, found in sorted(by_paper.items()) for one in found[:share]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--quotes", type=int, default=600)
    arguments = parser.parse_args()
    begun = time.perf_counter()
    found = list(cases(Settings(data_dir=arguments.data), arguments.quotes))
    seconds = time.perf_counter() - begun
    print(
        f"{len(found)} quotes of {len({one.chunk.paper_id for one in found})} papers, {seconds:.0f} s"
    )
    for name, group in (
        ("source", lambda one: one.chunk.source),
        ("kind", lambda one: str(one.kind)),
    ):
        for value in sorted({group(one) for one in found}):
            own = [one for one in found if group(one) == value]
            endings = Counter(one.ending for one in own)
            n_exact = endings["same"] + endings["differs"]
            print(
                f"{name} {value}: {len(own)} quotes, {n_exact} found in the PDF ({n_exact / len(own):.1%}), read back "
                f"the same {endings['same']} ({endings['same'] / max(n_exact, 1):.1%} of these), block "
                f"{endings['block']}, page unknown {endings['page unknown']}"
            )
    for ending in ("differs", "block"):
        for one in sorted(
            (one for one in found if one.ending == ending), key=lambda one: one.likeness
        )[:N_WORST]:
            print(
                f"\n{ending} {one.likeness:.0f} {one.chunk.paper_id} {one.kind} pages {[p.page for p in one.pages]}"
            )
            print(f"  quote: {one.quote[:SHOWN_CHARS]!r}\n  under: {one.read_back[:SHOWN_CHARS]!r}")


if __name__ == "__main__":
    main()
