"""Where each block of a document stands in the PDF: which of its words are which words there.

Each block is placed by itself: first where it has word runs that occur once in the document and once in the PDF, then,
for what is left, in the window between its placed neighbours. What could stand on two pages is not placed.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.core.domain import Block, BlockKind
from rag_assets.parsing.places.matching import (
    Mapping1to1,
    Shingles,
    longest_chain,
    matched,
    occurrences,
    open_runs,
)
from rag_assets.parsing.places.words import PdfWords, Words

MIN_BLOCK_SHARE = 0.5
"""Share of a block's words that must be found; with fewer, its page would be a guess."""
_SEED_WORDS = 4
_WINDOW_SEED_WORDS = 3
_MIN_LONE_WORDS = 4
_MIN_DISPLACED_WORDS = 8


def placed(blocks: Sequence[Block], words: Sequence[Words], pdf: PdfWords) -> list[Mapping1to1]:
    """For each block, which of its words stand where in the PDF; empty where that is not clear."""
    mappings = _placed_by_unique_runs(words, pdf)
    order = _main_flow(mappings)
    for index, (block, own) in enumerate(zip(blocks, words, strict=True)):
        if own.words and not mappings[index]:
            mappings[index] = _placed_in_window(block, own.words, pdf, _window(order, index, len(pdf.words)))
    return mappings


def _placed_by_unique_runs(words: Sequence[Words], pdf: PdfWords) -> list[Mapping1to1]:
    everything = [word for own in words for word in own.words]
    in_pdf, in_document = Shingles.of(pdf.words, _SEED_WORDS), Shingles.of(everything, _SEED_WORDS)
    starts, at = [], 0
    for own in words:
        starts.append(at)
        at += len(own.words)
    seeds: dict[int, list[tuple[int, int]]] = defaultdict(list)
    block = 0
    for here, there in in_document.shared_with(in_pdf):
        while block + 1 < len(starts) and starts[block + 1] <= here:
            block += 1
        if here + _SEED_WORDS <= starts[block] + len(words[block].words):
            seeds[block].append((here - starts[block], there))
    return [
        _sure(_grown(own.words, pdf.words, seeds[index]), len(own.words)) if seeds[index] else {}
        for index, own in enumerate(words)
    ]


def _grown(block: Sequence[str], pdf: Sequence[str], seeds: Sequence[tuple[int, int]]) -> Mapping1to1:
    """The words of a block that follow one another in the PDF, and longer pieces of it that stand elsewhere there.

    A source that mixed up the columns of a page has such pieces in the middle of its paragraphs.
    """
    mapping = matched(block, pdf, seeds, _SEED_WORDS)
    for start, end in open_runs(mapping, len(block)):
        inside = [(here - start, there) for here, there in seeds if start <= here <= end - _SEED_WORDS]
        if end - start < _MIN_DISPLACED_WORDS or not inside:
            continue
        piece = matched(block[start:end], pdf, inside, _SEED_WORDS)
        if len(piece) >= max(_MIN_DISPLACED_WORDS, MIN_BLOCK_SHARE * (end - start)):
            mapping |= {start + here: there for here, there in piece.items()}
    return dict(sorted(mapping.items()))


def _sure(mapping: Mapping1to1, n_words: int) -> Mapping1to1:
    return mapping if len(mapping) >= MIN_BLOCK_SHARE * n_words else {}


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A placed block of the main flow: where it begins and ends in the PDF."""

    block: int
    start: int
    end: int


def _main_flow(mappings: Sequence[Mapping1to1]) -> list[_Anchor]:
    """The placed blocks that follow one another in the PDF as in the document; floats and notes fall out."""
    placed = {index: list(mapping.values()) for index, mapping in enumerate(mappings) if mapping}
    chain = longest_chain((index, places[0]) for index, places in placed.items())
    return [_Anchor(index, start, placed[index][-1]) for index, start in chain]


def _window(flow: Sequence[_Anchor], block: int, n_words: int) -> tuple[int, int]:
    """The words of the PDF between the placed neighbours of a block: [start, end)."""
    before = [anchor.end for anchor in flow if anchor.block < block]
    after = [anchor.start for anchor in flow if anchor.block > block]
    start, end = (max(before) + 1 if before else 0), (min(after) if after else n_words)
    return (start, end) if start <= end else (end, start)


def _placed_in_window(block: Block, words: Sequence[str], pdf: PdfWords, window: tuple[int, int]) -> Mapping1to1:
    """A block without unique runs: one whole occurrence, or runs that are unique between its neighbours."""
    start, end = window
    found = _only_place(block, words, pdf, occurrences(words, pdf.words, start, end))
    if found is None and len(words) >= _MIN_LONE_WORDS:
        found = _only_place(block, words, pdf, occurrences(words, pdf.words, 0, len(pdf.words)))
    if found is not None:
        return {step: found + step for step in range(len(words))}
    here = Shingles.of(words, _WINDOW_SEED_WORDS)
    there = Shingles.of(pdf.words, _WINDOW_SEED_WORDS, start, end)
    seeds = here.shared_with(there)
    return _sure(matched(words, pdf.words, seeds, _WINDOW_SEED_WORDS), len(words)) if seeds else {}


def _only_place(block: Block, words: Sequence[str], pdf: PdfWords, places: Sequence[int]) -> int | None:
    """The place a block stands at, if all candidates agree on the page. A heading begins and fills its line."""
    if block.kind is BlockKind.HEADING:
        own_lines = [at for at in places if pdf.starts_line[at] and _ends_line(pdf, at + len(words) - 1)]
        places = own_lines or [at for at in places if len(words) >= _MIN_LONE_WORDS or pdf.starts_line[at]]
    elif len(words) < 2:
        places = [at for at in places if pdf.starts_line[at] and _ends_line(pdf, at)]
    return places[0] if len({pdf.page(at) for at in places}) == 1 else None


def _ends_line(pdf: PdfWords, index: int) -> bool:
    return index + 1 == len(pdf.words) or pdf.starts_line[index + 1]
