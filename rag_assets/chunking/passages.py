"""Chunks become passages: what is searched.

A passage is a run of whole sentences, rows, items or lines that the embedding model reads in full. The text a chunk
repeats from the one before belongs to that one's passages. Works on finished chunks alone; how chunks are cut lives
in `chunker`, the choice of cuts in `cuts`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rag_assets.chunking.cuts import Item, Rank, Window, boundary_cost, choose_cuts
from rag_assets.chunking.oversize import CountAll, fitting_pieces, leading_piece
from rag_assets.chunking.units import PROSE, line_spans
from rag_assets.domain import (
    BLOCK_SEPARATOR,
    BlockKind,
    Chunk,
    Passage,
    SectionPart,
    first_page,
    known_spans,
    last_page,
    spans_between,
)
from rag_assets.settings import PassageSettings
from rag_assets.text.sentences import sentence_spans

PASSAGER_VERSION = 4
"""Raise it when the same chunks and settings give other passages than before."""
_SENTENCE_TYPES = frozenset(str(kind) for kind in (*PROSE, BlockKind.FIGURE))


@dataclass(frozen=True, slots=True)
class Stretch:
    """A sentence, row, item or line of a chunk: `chunk.text[start:end]`."""

    start: int
    end: int
    rank: Rank
    """Of the boundary before it."""
    prefix: str = ""
    """Title that a passage beginning here repeats."""


@dataclass(frozen=True)
class Reader:
    """What the embedding model can read."""

    count_tokens: CountAll
    n_special: int
    """Tokens the model adds to every text."""
    window: Window
    """Sizes a passage should have, special tokens aside."""
    longest: int
    """Most tokens it reads, special tokens aside."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special ones aside."""
        return [n_tokens - self.n_special for n_tokens in self.count_tokens(texts)]


def cut_passages(
    chunks: Sequence[Chunk], settings: PassageSettings, count_tokens: CountAll, max_tokens: int
) -> list[Passage]:
    """The passages of one paper's chunks, in order.

    `chunks`: all chunks of the paper, in order. `count_tokens`: the embedding model's own tokenizer, special tokens
    included, not truncated. `max_tokens`: what the model reads; no passage is longer. Of linearised table rows the
    offsets are those of the rows' lines.
    """
    n_special = count_tokens([""])[0]
    high = max(1, min(settings.target_tokens, max_tokens) - n_special)
    reader = Reader(count_tokens, n_special, Window(max(1, 2 * high // 3), high), max(1, max_tokens - n_special))
    return [passage for chunk in chunks for passage in _passages_of(chunk, reader)]


def _passages_of(chunk: Chunk, reader: Reader) -> list[Passage]:
    stretches = _fitting(chunk, _stretches(chunk, reader), reader)
    parts, texts, counts = _packed(chunk, stretches, reader)
    passages = []
    for nth, (part, text, n_tokens) in enumerate(zip(parts, texts, counts, strict=True)):
        is_first, is_last = nth == 0 and _own_begin(chunk) == 0, nth == len(parts) - 1
        start, end = part[0].start, part[-1].end
        located = known_spans(spans_between(chunk.spans, start, end))
        char_start, char_end = _source_range(chunk, start, end)
        passages.append(
            Passage(
                passage_id=chunk.chunk_id if len(parts) == 1 else f"{chunk.chunk_id}#{nth}",
                chunk_id=chunk.chunk_id,
                paper_id=chunk.paper_id,
                text=text,
                n_tokens=n_tokens + reader.n_special,
                char_start=chunk.char_start if is_first else char_start,
                char_end=chunk.char_end if is_last else char_end,
                page_start=first_page(located),
                page_end=last_page(located),
            )
        )
    return passages


def _own_begin(chunk: Chunk) -> int:
    """Where its own text begins, after sentences it repeats; a title it repeats counts as its own."""
    repeats_title = bool(chunk.spans) and chunk.spans[0].source_start is None
    return 0 if repeats_title else chunk.own_start


def _stretches(chunk: Chunk, reader: Reader) -> list[Stretch]:
    """The chunk's own stretches: without what it repeats of the chunk before, or of its table's title."""
    stretches: list[Stretch] = []
    ranks = _section_ranks(chunk.sections)
    for start, end in _blocks(chunk.text, _own_begin(chunk)):
        title = _title_at(chunk, start, end)
        body_start = start + len(title)
        body = chunk.text[body_start:end]
        own: list[Stretch] = []
        if title and start >= chunk.own_start:
            own += _placed(sentence_spans(title), start, "")
        is_lines = chunk.chunk_type not in _SENTENCE_TYPES and (bool(title) or "\n" in body)
        spans = line_spans(body) if is_lines else sentence_spans(body)
        prefix = leading_piece(title, reader.window.high // 4, reader.count) if title else ""
        own += _placed(spans, body_start, prefix)
        stretches += _ranked(own, chunk.text, stretches, ranks)
    return stretches


def _section_ranks(sections: Sequence[SectionPart]) -> dict[int, Rank]:
    """Ranks of the boundaries that sections make: before a section's heading, and between it and its text."""
    ranks: dict[int, Rank] = {}
    for before, part in pairwise(sections):
        ranks[part.start] = Rank.SECTION_END if before.body_start < before.end else Rank.HELD_TOGETHER
    held = {part.body_start: Rank.HELD_TOGETHER for part in sections if part.start < part.body_start < part.end}
    return ranks | held


def _title_at(chunk: Chunk, start: int, end: int) -> str:
    """The title that the block at `start` begins with: what stands there before any text of the document."""
    located = (max(start, span.start) for span in chunk.spans if span.source_start is not None and span.end > start)
    return chunk.text[start : min(next(located, end), end)].rstrip()


def _placed(spans: Sequence[tuple[int, int]], offset: int, prefix: str) -> list[Stretch]:
    return [Stretch(offset + start, offset + end, Rank.UNIT_END, prefix) for start, end in spans]


def _ranked(
    own: Sequence[Stretch], text: str, before: Sequence[Stretch], ranks: Mapping[int, Rank]
) -> Iterator[Stretch]:
    """The stretches of one block with the rank of the boundary before each; `ranks` has those of sections."""
    announced = bool(before) and text[: before[-1].end].endswith(":")
    for nth, stretch in enumerate(own):
        if nth == 0:
            rank = ranks.get(stretch.start, Rank.BLOCK_END)
            yield replace(stretch, rank=Rank.HELD_TOGETHER if announced else rank)
        elif own[nth - 1].prefix != stretch.prefix:  # between a title and what it names
            yield replace(stretch, rank=Rank.HELD_TOGETHER)
        else:
            yield stretch


def _blocks(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Offsets of the parts of `text[start:]` between blank lines."""
    while start < len(text):
        end = text.find(BLOCK_SEPARATOR, start)
        end = len(text) if end < 0 else end
        if text[start:end].strip():
            yield start + len(text[start:end]) - len(text[start:end].lstrip("\n")), end
        start = end + len(BLOCK_SEPARATOR)


def _fitting(chunk: Chunk, stretches: Sequence[Stretch], reader: Reader) -> list[Stretch]:
    """The stretches, those the model cannot read in full cut at sentences, and these at clauses or words."""
    texts = [chunk.text[one.start : one.end] for one in stretches]
    leads = _leads(stretches, reader)
    fitting: list[Stretch] = []
    for stretch, text, size in zip(stretches, texts, reader.count(texts), strict=True):
        budget = max(1, reader.longest - leads[stretch.prefix])
        if size <= budget:
            fitting.append(stretch)
            continue
        first, *others = [
            replace(stretch, start=stretch.start + start + a, end=stretch.start + start + b)
            for start, end in sentence_spans(text)
            for a, b in fitting_pieces(text[start:end], budget, reader.count)
        ]
        fitting += [first, *(replace(other, rank=Rank.HELD_TOGETHER) for other in others)]
    return fitting


def _leads(stretches: Sequence[Stretch], reader: Reader) -> dict[str, int]:
    """Tokens of each title that a passage of the stretches may repeat, line end included."""
    titles = sorted({stretch.prefix for stretch in stretches} - {""})
    return {"": 0} | dict(zip(titles, reader.count([f"{title}\n" for title in titles]), strict=True))


def _packed(
    chunk: Chunk, stretches: Sequence[Stretch], reader: Reader
) -> tuple[list[Sequence[Stretch]], list[str], list[int]]:
    """The stretches of each passage, its text and its exact size without special tokens.

    As with chunks, a text may have more tokens than its parts: then it is packed again with a tighter limit.
    """
    ends = [0, *(one.end for one in stretches)]
    sizes = reader.count(
        [chunk.text[max(end, one.start - 2) : one.end] for end, one in zip(ends, stretches, strict=False)]
    )
    leads = _leads(stretches, reader)
    items = [
        Item(size + (leads[one.prefix] if at == 0 else 0), leads[one.prefix], _cost_before(chunk.text, stretches, at))
        for at, (one, size) in enumerate(zip(stretches, sizes, strict=True))
    ]
    window = reader.window
    while True:
        parts = [stretches[first:last] for first, last in choose_cuts(items, window)]
        texts = [_rendered(chunk.text, part) for part in parts]
        counts = reader.count(texts)
        excess = max(counts) - max(reader.longest, window.high)
        if excess <= 0 or len(parts) == len(stretches):
            return parts, texts, counts
        window = Window(min(window.low, max(1, window.high - excess)), window.high - excess)


def _cost_before(text: str, stretches: Sequence[Stretch], at: int) -> float:
    if at == 0:
        return 0.0
    before, after = stretches[at - 1], stretches[at]
    return boundary_cost(text[before.start : before.end], text[after.start : after.end], after.rank)


def _rendered(text: str, part: Sequence[Stretch]) -> str:
    own = text[part[0].start : part[-1].end]
    return f"{part[0].prefix}\n{own}" if part[0].prefix else own


def _source_range(chunk: Chunk, start: int, end: int) -> tuple[int, int]:
    """Where `chunk.text[start:end]` stands in the document; a title alone is the empty range before what it names.

    A linearised row may be longer than its line, but it ends before the next one begins.
    """
    located = [(span, span.source_start) for span in chunk.spans if span.source_start is not None]
    limits = [*(source for _, source in located[1:]), chunk.char_end][: len(located)]
    first, last = chunk.char_end, chunk.char_start
    for (span, source), limit in zip(located, limits, strict=True):
        if span.end > start:
            first = min(first, limit, source + max(0, start - span.start))
        if span.start < end:
            last = min(limit, source + min(end, span.end) - span.start)
    first = min(max(first, chunk.char_start), chunk.char_end)  # pieces of a row that was cut say where all of it stands
    return first, min(max(first, last), chunk.char_end)
