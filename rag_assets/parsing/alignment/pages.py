"""Pages for a document that has none, taken from the text layer of the PDF of the same paper.

Each block is placed by itself: first where it has word runs that occur once in the document and once in the PDF, then,
for what is left, in the window between its placed neighbours. What does not align, or could stand on two pages, keeps
no page. Reading the PDF is `words`' business, matching words `matching`'s.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from rag_assets.model import Block, BlockKind, Box, Document, PageSource, Span
from rag_assets.parsing.alignment.matching import Mapping1to1, Shingles, longest_chain, matched, occurrences
from rag_assets.parsing.alignment.words import PdfWords, Words, pdf_words
from rag_assets.parsing.pdf.layout import Line
from rag_assets.settings import ParseLimits

_SEED_WORDS = 4
_WINDOW_SEED_WORDS = 3
MIN_BLOCK_SHARE = 0.5
"""Share of a block's words that must be found; with fewer, its page would be a guess."""
MIN_DOCUMENT_SHARE = 0.3
"""Share of a document's words that must be found; with fewer, the PDF is another paper or another version."""
_MIN_LONE_WORDS = 4
_NEAR_EDGE_WORDS = 12
_MAX_LONE_OPEN_WORDS = 4
"""So many words that were not found are taken to stand beside those that were; more must be seen there."""
_MAX_OPEN_WORDS = 40
_MIN_OPEN_SHARE = 0.5
_MIN_DISPLACED_WORDS = 8
_MAX_NAMED = 5
_NAMED_CHARS = 50


def align_to_pdf(document: Document, pdf_path: Path, limits: ParseLimits) -> Document:
    """`document` with pages and boxes from the PDF at `pdf_path`, and how sure each page is.

    Blocks that do not align keep page None; a note counts and names them. When little aligns at all, the document
    comes back as it was, with a note. Raises UnreadableDocument when the PDF cannot be opened or has no text layer.
    """
    pdf = pdf_words(pdf_path, limits)
    if not pdf.n_chars:
        return _with_note(document, f"No pages from {pdf_path.name}: it has no text layer. Run OCR on it first.")
    words = [Words.of("" if block.is_generated else block.text) for block in document.blocks]
    mappings = _placed(document.blocks, words, pdf)
    n_words, n_found = sum(len(own.words) for own in words), sum(len(mapping) for mapping in mappings)
    if n_found < MIN_DOCUMENT_SHARE * max(n_words, 1):
        return _with_note(
            document,
            f"No pages from {pdf_path.name}: only {n_found} of {n_words} words were found in it in their order. "
            "It is probably another paper or another version.",
        )
    blocks = tuple(
        replace(block, spans=_spans(block, own, mapping, pdf))
        for block, own, mapping in zip(document.blocks, words, mappings, strict=True)
    )
    return replace(
        document,
        blocks=blocks,
        n_pages=pdf.n_pages,
        page_source=PageSource.ALIGNED,
        notes=(*document.notes, *_notes(blocks, pdf_path)),
    )


def _with_note(document: Document, note: str) -> Document:
    return replace(document, notes=(*document.notes, note))


def _placed(blocks: Sequence[Block], words: Sequence[Words], pdf: PdfWords) -> list[Mapping1to1]:
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
    for start, end in _open_runs(mapping, len(block)):
        inside = [(here - start, there) for here, there in seeds if start <= here <= end - _SEED_WORDS]
        if end - start < _MIN_DISPLACED_WORDS or not inside:
            continue
        piece = matched(block[start:end], pdf, inside, _SEED_WORDS)
        if len(piece) >= max(_MIN_DISPLACED_WORDS, MIN_BLOCK_SHARE * (end - start)):
            mapping |= {start + here: there for here, there in piece.items()}
    return dict(sorted(mapping.items()))


def _open_runs(mapping: Mapping1to1, n_words: int) -> list[tuple[int, int]]:
    """The runs [start, end) of words that were not found."""
    edges = [-1, *sorted(mapping), n_words]
    return [(before + 1, after) for before, after in pairwise(edges) if after - before > 1]


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


@dataclass(frozen=True, slots=True)
class _Run:
    """Words [start, end) of a block with the pages they may stand on."""

    start: int
    end: int
    page_start: int | None
    page_end: int | None


def _spans(block: Block, own: Words, mapping: Mapping1to1, pdf: PdfWords) -> tuple[Span, ...]:
    if not block.text:
        return ()
    if not mapping:
        return (Span(0, len(block.text), None, None),)
    runs = _runs(own.words, mapping, pdf)
    cuts = [0, *(own.starts[run.start] for run in runs[1:]), len(block.text)]
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


def _runs(words: Sequence[str], mapping: Mapping1to1, pdf: PdfWords) -> list[_Run]:
    """Words of one page together; words that were not found lie between what stands around them."""
    pieces = [_Run(here, here + 1, pdf.page(there), pdf.page(there)) for here, there in mapping.items()]
    pieces += [_open_run(words, mapping, pdf, start, end) for start, end in _open_runs(mapping, len(words))]
    runs: list[_Run] = []
    for piece in sorted(pieces, key=lambda run: run.start):
        last = runs[-1] if runs else None
        if last and (last.page_start, last.page_end) == (piece.page_start, piece.page_end):
            runs[-1] = replace(last, end=piece.end)
        else:
            runs.append(piece)
    return runs


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


def _notes(blocks: Sequence[Block], pdf_path: Path) -> list[str]:
    lost = [block for block in blocks if block.text and all(span.page_start is None for span in block.spans)]
    if not lost:
        return []
    named = "; ".join(f'"{block.text[:_NAMED_CHARS].strip()}"' for block in lost[:_MAX_NAMED])
    more = f" and {len(lost) - _MAX_NAMED} more" if len(lost) > _MAX_NAMED else ""
    return [
        f"{len(lost)} of {len(blocks)} blocks have no page: fewer than {MIN_BLOCK_SHARE:.0%} of their words were found "
        f"in {pdf_path.name}, or on two pages alike: {named}{more}."
    ]
