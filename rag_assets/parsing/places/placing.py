"""Finds each block of a document in the PDF: which of its words are which words of the PDF, and its
pages and boxes.

Each block is placed separately. First, blocks with runs of words that occur once in the document
and once in the PDF are placed; then each remaining block is searched between its placed neighbours.
A block that could be on two pages is not placed. Words that were not found get the pages of the
words around them, or no page.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from rag_assets.core.domain import Block, BlockKind, Box, Span
from rag_assets.core.settings import ParsingSettings
from rag_assets.core.text.folding import Folded
from rag_assets.parsing.formats.pdf.document import read_pages, without_running_text
from rag_assets.parsing.formats.pdf.file import opened_pdf
from rag_assets.parsing.formats.pdf.layout import Line, lines_in_reading_order
from rag_assets.parsing.formats.pdf.text import PageText
from rag_assets.parsing.places.matching import (
    Mapping1to1,
    Shingles,
    longest_chain,
    matched,
    occurrences,
    open_runs,
)
from rag_assets.parsing.shared.files import RawFile

_WORD = re.compile(
    r"[^\W\d_]+|\d+"
)  # letters and digits apart: note marks stick to words in one source only


@dataclass(frozen=True)
class LocatedWords:
    """The words of a text in order, and the offsets at which each starts and ends."""

    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> "LocatedWords":
        folded = Folded.of(text)
        matches = list(_WORD.finditer(folded.text))
        return cls(
            words=tuple(match.group() for match in matches),
            starts=tuple(folded.origins[match.start()] for match in matches),
            ends=tuple(folded.origins[match.end() - 1] + 1 for match in matches),
        )


@dataclass(frozen=True)
class PdfWords:
    """The words of a PDF in reading order, without running headers and footers."""

    words: tuple[str, ...]
    lines: tuple[Line, ...]
    """The line on which each word starts; its page is `line.frame.page`."""
    starts_line: tuple[bool, ...]
    """Whether each word is the first of its line."""
    n_pages: int
    n_chars: int
    """Number of characters of the whole text layer; 0 for a scan."""

    def page(self, index: int) -> int:
        """The page of a word."""
        return self.lines[index].frame.page


def _plain_lines(page: PageText) -> list[list[Line]]:
    return [lines_in_reading_order(layer) for layer in page.layers]


def pdf_words(file: RawFile, settings: ParsingSettings) -> PdfWords:
    """Read the words of a PDF. Raises UnreadableDocument when it cannot be opened."""
    with opened_pdf(file.content, settings.limits.max_pages) as pdf:
        pages, page_lines = read_pages(pdf, file.path, _plain_lines)
    kept, _ = without_running_text(page_lines)
    lines = [
        line
        for page in kept
        for layer in (page.upright, *page.asides)
        for line in layer
        if line.text
    ]
    line_starts = [0, *accumulate(len(line.text) + 1 for line in lines)]
    # all lines as one text, so that a word with a hyphen at a line end is one word
    found = LocatedWords.of("\n".join(line.text for line in lines))
    line_of_word = [bisect_right(line_starts, start) - 1 for start in found.starts]
    starts_line = [
        index == 0 or line_of_word[index] != line_of_word[index - 1]
        for index in range(len(line_of_word))
    ]
    return PdfWords(
        words=found.words,
        lines=tuple(lines[index] for index in line_of_word),
        starts_line=tuple(starts_line),
        n_pages=len(pages),
        n_chars=sum(page.n_chars for page in pages),
    )


MIN_BLOCK_SHARE = 0.5
"""Least share of a block's words that must be found; with fewer, its page would be a guess."""
_SEED_WORDS = 4
_WINDOW_SEED_WORDS = 3
_MIN_LONE_WORDS = 4
_MIN_DISPLACED_WORDS = 8


def placed(
    blocks: Sequence[Block], words: Sequence[LocatedWords], pdf: PdfWords
) -> list[Mapping1to1]:
    """For each block, which of its words is which word of the PDF; empty if the block is not found
    or its page is not clear. words: of each block."""
    mappings = _placed_by_unique_runs(words, pdf)
    flow = _main_flow(mappings)
    for index, (block, block_words) in enumerate(zip(blocks, words, strict=True)):
        if block_words.words and not mappings[index]:
            window = _window(flow, index, len(pdf.words))
            mappings[index] = _placed_in_window(block, block_words.words, pdf, window)
    return mappings


def _placed_by_unique_runs(words: Sequence[LocatedWords], pdf: PdfWords) -> list[Mapping1to1]:
    """`placed`, only for blocks with runs of words that are unique in the document and in the
    PDF."""
    all_words = [word for block_words in words for word in block_words.words]
    in_pdf, in_document = Shingles.of(pdf.words, _SEED_WORDS), Shingles.of(all_words, _SEED_WORDS)
    starts = [0, *accumulate(len(block_words.words) for block_words in words)]
    """Index in `all_words` of the first word of each block, and the number of all words."""
    seeds: dict[int, list[tuple[int, int]]] = defaultdict(list)
    """Block -> positions of the runs within it: index in the block, index in the PDF."""
    for position, there in in_document.shared_with(in_pdf):
        block = bisect_right(starts, position) - 1
        if position + _SEED_WORDS <= starts[block + 1]:  # the run is within one block
            seeds[block].append((position - starts[block], there))
    return [
        _if_enough(_grown(block_words.words, pdf.words, seeds[index]), len(block_words.words))
        if seeds[index]
        else {}
        for index, block_words in enumerate(words)
    ]


def _grown(
    block: Sequence[str], pdf: Sequence[str], seeds: Sequence[tuple[int, int]]
) -> Mapping1to1:
    """Which word of a block is which word of the PDF: the longest chain in which both ascend, and
    then longer pieces of the block that are elsewhere in the PDF.

    Such pieces are in the middle of a paragraph if the source mixed up the columns of a page.
    """
    mapping = matched(block, pdf, seeds, _SEED_WORDS)
    for start, end in open_runs(mapping, len(block)):
        inside = [
            (here - start, there) for here, there in seeds if start <= here <= end - _SEED_WORDS
        ]
        if end - start < _MIN_DISPLACED_WORDS or not inside:
            continue
        piece = matched(block[start:end], pdf, inside, _SEED_WORDS)
        if len(piece) >= max(_MIN_DISPLACED_WORDS, MIN_BLOCK_SHARE * (end - start)):
            mapping |= {start + here: there for here, there in piece.items()}
    return dict(sorted(mapping.items()))


def _if_enough(mapping: Mapping1to1, n_words: int) -> Mapping1to1:
    """The mapping if it has at least half of the words; else empty."""
    return mapping if len(mapping) >= MIN_BLOCK_SHARE * n_words else {}


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A placed block of the main flow: its index, and its first and last word in the PDF."""

    block: int
    start: int
    end: int


def _main_flow(mappings: Sequence[Mapping1to1]) -> list[_Anchor]:
    """The placed blocks whose order is the same in the PDF and in the document. Figures, tables and
    notes drop out, because the PDF has them elsewhere."""
    placed = {index: list(mapping.values()) for index, mapping in enumerate(mappings) if mapping}
    chain = longest_chain((index, places[0]) for index, places in placed.items())
    return [_Anchor(index, start, placed[index][-1]) for index, start in chain]


def _window(flow: Sequence[_Anchor], block: int, n_words: int) -> tuple[int, int]:
    """The range [start, end) of words of the PDF between the placed neighbours of a block. n_words:
    of the PDF."""
    before = [anchor.end for anchor in flow if anchor.block < block]
    after = [anchor.start for anchor in flow if anchor.block > block]
    start, end = (max(before) + 1 if before else 0), (min(after) if after else n_words)
    return (start, end) if start <= end else (end, start)


def _placed_in_window(
    block: Block, words: Sequence[str], pdf: PdfWords, window: tuple[int, int]
) -> Mapping1to1:
    """Place a block without unique runs.

    First the whole text of the block is searched in the window, then, if it has four words or more,
    in the whole PDF. If it is not found there, runs of words are used that are unique in the
    window.
    """
    start, end = window
    found = _only_position(block, words, pdf, occurrences(words, pdf.words, start, end))
    if found is None and len(words) >= _MIN_LONE_WORDS:
        found = _only_position(block, words, pdf, occurrences(words, pdf.words, 0, len(pdf.words)))
    if found is not None:
        return {step: found + step for step in range(len(words))}
    here = Shingles.of(words, _WINDOW_SEED_WORDS)
    there = Shingles.of(pdf.words, _WINDOW_SEED_WORDS, start, end)
    seeds = here.shared_with(there)
    if not seeds:
        return {}
    return _if_enough(matched(words, pdf.words, seeds, _WINDOW_SEED_WORDS), len(words))


def _only_position(
    block: Block, words: Sequence[str], pdf: PdfWords, positions: Sequence[int]
) -> int | None:
    """The first of the positions at which a block may begin in the PDF, if all are on the same
    page; else None.

    Positions where a heading has a line of its own are preferred to others; a block of one word
    must have a line of its own.
    """
    if block.kind is BlockKind.HEADING:
        own_lines = [
            at for at in positions if pdf.starts_line[at] and _ends_line(pdf, at + len(words) - 1)
        ]
        positions = own_lines or [
            at for at in positions if len(words) >= _MIN_LONE_WORDS or pdf.starts_line[at]
        ]
    elif len(words) < 2:
        positions = [at for at in positions if pdf.starts_line[at] and _ends_line(pdf, at)]
    return positions[0] if len({pdf.page(at) for at in positions}) == 1 else None


def _ends_line(pdf: PdfWords, index: int) -> bool:
    """Whether a word of the PDF is the last of its line."""
    return index + 1 == len(pdf.words) or pdf.starts_line[index + 1]


_NEAR_EDGE_WORDS = 12
_MAX_LONE_OPEN_WORDS = 4
"""A run of up to this many words that were not found gets the page of the words around it; of a
longer run, some words must occur on that page."""
_MAX_OPEN_WORDS = 40
_MIN_OPEN_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class _PagedWords:
    """Words [start, end) of a block with the pages they may be on."""

    start: int
    end: int
    page_start: int | None
    page_end: int | None


def spans_of(
    block: Block, block_words: LocatedWords, mapping: Mapping1to1, pdf: PdfWords
) -> tuple[Span, ...]:
    """The spans of a block, without gap over its whole text. mapping: which of its words is which
    word of the PDF.

    A new span begins where the page changes, and where one of the spans of the block begins.
    """
    if not block.text:
        return ()
    if not mapping:
        return (Span(0, len(block.text), None, None),)
    starts = block_words.starts
    begins = {bisect_left(starts, span.start): span.start for span in block.spans[1:]}
    """Word at which a span of the block begins -> offset of that span."""
    runs = _runs(block_words.words, mapping, pdf, sorted(begins))
    cuts = [0, *(begins.get(run.start, starts[run.start]) for run in runs[1:]), len(block.text)]
    return tuple(
        Span(
            start=cuts[index],
            end=cuts[index + 1],
            page_start=run.page_start,
            page_end=run.page_end,
            boxes=_boxes(run, mapping, pdf),
            page_confidence=_confidence(run, mapping),
        )
        for index, run in enumerate(runs)
        if cuts[index + 1] > cuts[index]
    )


def _runs(
    words: Sequence[str], mapping: Mapping1to1, pdf: PdfWords, begins: Sequence[int]
) -> list[_PagedWords]:
    """The words of a block in runs, each with the same pages. begins: words at which a new run must
    begin."""
    pieces = [
        _PagedWords(here, here + 1, pdf.page(there), pdf.page(there))
        for here, there in mapping.items()
    ]
    for start, end in open_runs(mapping, len(words)):
        edges = [start, *(begin for begin in begins if start < begin < end), end]
        whole = _open_run(words, mapping, pdf, start, end)
        pieces += [replace(whole, start=first, end=last) for first, last in pairwise(edges)]
    runs: list[_PagedWords] = []
    for piece in sorted(pieces, key=lambda run: run.start):
        last = runs[-1] if runs and piece.start not in begins else None
        if last and (last.page_start, last.page_end) == (piece.page_start, piece.page_end):
            runs[-1] = replace(last, end=piece.end)
        else:
            runs.append(piece)
    return runs


def _open_run(
    words: Sequence[str], mapping: Mapping1to1, pdf: PdfWords, start: int, end: int
) -> _PagedWords:
    """The pages of the words [start, end) of a block, which were not found in the PDF: those of the
    found words before and after them.

    Programs read formulas and tables differently, so a few such words are normal. A longer run gets
    no page, unless half of its words occur in the PDF between the found words.
    """
    n_open = end - start
    before, after = mapping.get(start - 1), mapping.get(end)
    first = before if before is not None else max((after or 0) - n_open - _NEAR_EDGE_WORDS, 0)
    last = (
        after
        if after is not None
        else min((before or 0) + n_open + _NEAR_EDGE_WORDS, len(pdf.words) - 1)
    )
    first, last = min(first, last), max(first, last)
    pages = sorted((pdf.page(first), pdf.page(last)))
    if (
        n_open > _MAX_OPEN_WORDS
        or pages[1] - pages[0] > 1
        or last - first > 4 * n_open + _MAX_OPEN_WORDS
    ):
        return _PagedWords(start, end, None, None)
    if n_open > _MAX_LONE_OPEN_WORDS:
        around = Counter(pdf.words[first : last + 1])
        n_seen = (Counter(words[start:end]) & around).total()
        if n_seen < _MIN_OPEN_SHARE * n_open:
            return _PagedWords(start, end, None, None)
    return _PagedWords(start, end, pages[0], pages[1])


def _confidence(run: _PagedWords, mapping: Mapping1to1) -> float | None:
    """Share of the words of a run that were found; None if it has no page."""
    if run.page_start is None:
        return None
    n_found = sum(word in mapping for word in range(run.start, run.end))
    return round(n_found / max(run.end - run.start, 1), 3)


def _boxes(run: _PagedWords, mapping: Mapping1to1, pdf: PdfWords) -> tuple[Box, ...]:
    """One box for each column with words of the run, around its lines with such words."""
    lines = dict.fromkeys(
        pdf.lines[mapping[word]] for word in range(run.start, run.end) if word in mapping
    )
    groups: dict[tuple[int, float, float], list[Line]] = defaultdict(list)
    for line in lines:
        groups[line.frame.page, line.column.left, line.column.right].append(line)
    return tuple(
        column[0].frame.box(
            min(line.left for line in column),
            min(line.top for line in column),
            max(line.right for line in column),
            max(line.bottom for line in column),
        )
        for column in groups.values()
    )
