"""Pages and boxes of a block, from where its words stand in the PDF.

Words that were not found lie between what stands around them, or have no page.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rag_assets.core.domain import Block, Box, Span
from rag_assets.parsing.formats.pdf.layout import Line
from rag_assets.parsing.places.matching import Mapping1to1, open_runs
from rag_assets.parsing.places.words import PdfWords, Words

_NEAR_EDGE_WORDS = 12
_MAX_LONE_OPEN_WORDS = 4
"""So many words that were not found are taken to stand beside those that were; more must be seen there."""
_MAX_OPEN_WORDS = 40
_MIN_OPEN_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class _Run:
    """Words [start, end) of a block with the pages they may stand on."""

    start: int
    end: int
    page_start: int | None
    page_end: int | None


def spans_of(block: Block, own: Words, mapping: Mapping1to1, pdf: PdfWords) -> tuple[Span, ...]:
    """Runs over the whole text of a block; `mapping` says which of its words are which words of the PDF.

    Where a run of `block.spans` begins, a new one begins here too.
    """
    if not block.text:
        return ()
    if not mapping:
        return (Span(0, len(block.text), None, None),)
    begins = {bisect_left(own.starts, span.start): span.start for span in block.spans[1:]}
    runs = _runs(own.words, mapping, pdf, sorted(begins))
    cuts = [0, *(begins.get(run.start, own.starts[run.start]) for run in runs[1:]), len(block.text)]
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


def _runs(words: Sequence[str], mapping: Mapping1to1, pdf: PdfWords, begins: Sequence[int]) -> list[_Run]:
    """Words of one page together; words that were not found lie between what stands around them."""
    pieces = [_Run(here, here + 1, pdf.page(there), pdf.page(there)) for here, there in mapping.items()]
    for start, end in open_runs(mapping, len(words)):
        pieces += _parted(_open_run(words, mapping, pdf, start, end), begins)
    runs: list[_Run] = []
    for piece in sorted(pieces, key=lambda run: run.start):
        last = runs[-1] if runs and piece.start not in begins else None
        if last and (last.page_start, last.page_end) == (piece.page_start, piece.page_end):
            runs[-1] = replace(last, end=piece.end)
        else:
            runs.append(piece)
    return runs


def _parted(run: _Run, begins: Sequence[int]) -> list[_Run]:
    edges = [run.start, *(begin for begin in begins if run.start < begin < run.end), run.end]
    return [replace(run, start=start, end=end) for start, end in pairwise(edges)]


def _open_run(words: Sequence[str], mapping: Mapping1to1, pdf: PdfWords, start: int, end: int) -> _Run:
    """Where words [start, end), which were not found one by one, may stand: no page unless they are seen around there.

    Formulas and tables are read differently by every program; words that are not even near come from elsewhere.
    """
    n_open = end - start
    before, after = mapping.get(start - 1), mapping.get(end)
    first = before if before is not None else max((after or 0) - n_open - _NEAR_EDGE_WORDS, 0)
    last = after if after is not None else min((before or 0) + n_open + _NEAR_EDGE_WORDS, len(pdf.words) - 1)
    first, last = min(first, last), max(first, last)
    pages = sorted((pdf.page(first), pdf.page(last)))
    if n_open > _MAX_OPEN_WORDS or pages[1] - pages[0] > 1 or last - first > 4 * n_open + _MAX_OPEN_WORDS:
        return _Run(start, end, None, None)
    if n_open > _MAX_LONE_OPEN_WORDS:
        around = Counter(pdf.words[first : last + 1])
        n_seen = (Counter(words[start:end]) & around).total()
        if n_seen < _MIN_OPEN_SHARE * n_open:
            return _Run(start, end, None, None)
    return _Run(start, end, pages[0], pages[1])


def _confidence(run: _Run, mapping: Mapping1to1) -> float | None:
    """Share of the run's words that were found; a run between two pages has what bounds it and no more."""
    if run.page_start is None:
        return None
    n_found = sum(word in mapping for word in range(run.start, run.end))
    return round(n_found / max(run.end - run.start, 1), 3)


def _boxes(run: _Run, mapping: Mapping1to1, pdf: PdfWords) -> tuple[Box, ...]:
    """One box around the lines of each column the run's words stand in."""
    lines = dict.fromkeys(pdf.lines[mapping[word]] for word in range(run.start, run.end) if word in mapping)
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
