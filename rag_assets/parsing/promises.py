"""What must hold of every parsed document, of the parsed index and of the blocks.

Those of a document are checked in the worker before it is kept; one that breaks a promise is quarantined, and the
other papers go on.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets import tables
from rag_assets.domain import Document, Span, Zone, all_boxes
from rag_assets.errors import UnreadableDocument
from rag_assets.promises import Offenders, Promise, check_all

PARSED = "parsed"
QUARANTINED = "quarantined"
_LEAST_KEPT_SHARE = 0.98
_NEGLIGIBLE_LOSS_CHARS = 20


def demand_promises(document: Document) -> None:
    """Raise UnreadableDocument with the promise that the document breaks, if it breaks one."""
    for checked in check_all(DOCUMENT_PROMISES, document):
        if not checked.is_kept:
            problem = checked.offenders[0]["problem"]
            raise UnreadableDocument(f"{problem}. Write the file again with the tool that made it, or remove it.")


def _page_problems(document: Document) -> Iterator[str]:
    """Phrases that can follow the name of the file, as those of the other functions."""
    for block in document.blocks:
        yield from _span_problems(block.text, block.spans, document.n_pages)
        yield from _span_problems(block.title, block.title_spans, document.n_pages)


def _span_problems(text: str, spans: Sequence[Span], n_pages: int | None) -> Iterator[str]:
    at = 0
    for span in spans:
        if not at <= span.start <= span.end <= len(text):
            yield f"gives a place from {span.start} to {span.end} in a text of {len(text)} characters"
        at = span.end
        first, last = span.page_start, span.page_end
        if first is None or last is None:
            if first != last:
                yield f"gives only one end of the pages of a text ({first} to {last})"
            continue
        if not 1 <= first <= last:
            yield f"puts a text on pages {first} to {last}"
        elif n_pages is not None and last > n_pages:
            yield f"puts a text on page {last}, but the document has {n_pages} pages (pages_within_document)"


def _box_problems(document: Document) -> Iterator[str]:
    for block in document.blocks:
        boxes = [*block.boxes, *all_boxes(block.title_spans), *(box for cell in block.cells for box in cell.boxes)]
        edges = (edge for box in boxes for edge in (box.left, box.top, box.right, box.bottom))
        if not all(map(math.isfinite, edges)):
            yield "gives a box whose edge is no number"


def _storage_problems(document: Document) -> Iterator[str]:
    row = {
        "title": document.title,
        "n_pages": document.n_pages,
        "page_labels": list(document.page_labels),
        "n_source_chars": document.n_source_chars,
        "n_dropped_running": document.n_dropped_running,
        "notes": list(document.notes),
    }
    try:
        tables.to_table([row], tables.PARSED_INDEX)
        tables.to_table(tables.block_rows(document.blocks, {}, document.block_starts), tables.BLOCKS)
    except (pa.ArrowException, OverflowError, UnicodeError) as error:
        yield f"holds a number or a text that no table can hold ({error})"


def repeated_paper_ids(index: pa.Table) -> pa.Table:
    """(paper_id, n_rows) of each paper_id that is there more than once."""
    counts = index.group_by("paper_id").aggregate([([], "count_all")]).rename_columns(["paper_id", "n_rows"])
    return counts.filter(pc.greater(counts["n_rows"], 1)).sort_by("paper_id")


def quarantined(index: pa.Table) -> pa.Table:
    """(paper_id, error) of each paper that could not be used."""
    return index.filter(pc.equal(index["status"], QUARANTINED)).select(["paper_id", "error"])


def pages_outside(blocks: pa.Table, index: pa.Table) -> pa.Table:
    """(paper_id, ordinal, page_start, page_end, n_pages) of blocks on pages that their document does not have."""
    placed = blocks.select(["paper_id", "ordinal", "page_start", "page_end"])
    joined = placed.join(index.select(["paper_id", "n_pages"]), "paper_id")
    is_outside = pc.or_kleene(
        pc.or_kleene(pc.less(joined["page_start"], 1), pc.less(joined["page_end"], joined["page_start"])),
        pc.greater(joined["page_end"], joined["n_pages"]),
    )
    return joined.filter(pc.fill_null(is_outside, fill_value=False)).sort_by(
        [("paper_id", "ascending"), ("ordinal", "ascending")]
    )


def text_lost(blocks: pa.Table, index: pa.Table) -> pa.Table:
    """(paper_id, n_source_chars, n_block_chars) of papers whose blocks hold less than 98 % of the source's text.

    Back matter counts on neither side; a table's or figure's caption counts with its text. In a paper of a few words a
    hyphen that was mended is 2 % already, so a few characters are never a loss.
    """
    read = blocks.filter(pc.not_equal(blocks["zone"], str(Zone.BACK))).select(["paper_id", "text", "title"])
    n_chars = pc.add(pc.add(pc.utf8_length(read["text"]), pc.utf8_length(read["title"])), 1)
    by_paper = pa.table({"paper_id": read["paper_id"], "n": n_chars}).group_by("paper_id").aggregate([("n", "sum")])
    parsed = index.filter(pc.equal(index["status"], PARSED)).select(["paper_id", "n_source_chars"])
    joined = parsed.join(by_paper.rename_columns(["paper_id", "n_block_chars"]), "paper_id")
    n_kept = pc.fill_null(joined["n_block_chars"], 0)
    n_lost = pc.subtract(joined["n_source_chars"], n_kept)
    is_lost = pc.and_(
        pc.less(n_kept, pc.multiply(joined["n_source_chars"], _LEAST_KEPT_SHARE)),
        pc.greater(n_lost, _NEGLIGIBLE_LOSS_CHARS),
    )
    return joined.set_column(2, "n_block_chars", n_kept).filter(is_lost).sort_by("paper_id")


@dataclass(frozen=True)
class BlocksCandidate:
    """Blocks that wait for publication, and the index of the papers they are of."""

    blocks: pa.Table
    index: pa.Table


def _as_rows(find: Callable[[Document], Iterable[str]]) -> Callable[[Document], Offenders]:
    return lambda document: [{"problem": problem} for problem in find(document)]


DOCUMENT_PROMISES: list[Promise[Document]] = [
    Promise("pages_of_the_document", "Every text is on pages that the document has.", _as_rows(_page_problems)),
    Promise("boxes_are_finite", "Every edge of a box is a number.", _as_rows(_box_problems)),
    Promise("fits_the_tables", "Every text and number can be written to a table.", _as_rows(_storage_problems)),
]
PARSED_INDEX_PROMISES: list[Promise[pa.Table]] = [
    Promise("ids_unique", "Every paper_id occurs once.", lambda index: repeated_paper_ids(index).to_pylist()),
    Promise(
        "none_quarantined",
        "Every file can be read. Each that cannot is listed with its reason and the remedy; the others go on.",
        lambda index: quarantined(index).to_pylist(),
        "warning",
    ),
]
BLOCK_PROMISES: list[Promise[BlocksCandidate]] = [
    Promise(
        "pages_within_document",
        "Every page of a block is a page of its document.",
        lambda candidate: pages_outside(candidate.blocks, candidate.index).to_pylist(),
    ),
]
