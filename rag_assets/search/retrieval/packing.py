"""Ranked passages become the contexts an answerer reads, within a budget of tokens.

Passages are never cut. The best few are packed together with their neighbours, because an answer
often continues in the next passage. Further down in the ranking, another passage is more useful
than the neighbour of one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_assets.core.domain import Chunk, Context, ContextPassage, ContextUnit, Passage
from rag_assets.core.text.tokens import TokenCounter
from rag_assets.search.retrieval.filtering import Mask
from rag_assets.search.retrieval.library import Library

_MOST_REPEATED_SHARE = 0.5
"""A passage is left out if more than this share of its text is packed already."""


class PassageSizes:
    """The number of tokens of each passage. It is counted when it is first needed, and kept for
    later questions."""

    def __init__(self, counter: TokenCounter, n_passages: int) -> None:
        self.counter = counter
        self._sizes = np.full(n_passages, -1, np.int32)

    def of(self, place: int, passage: Passage) -> int:
        if self._sizes[place] < 0:
            self._sizes[place] = self.counter.count(passage.text)
        return int(self._sizes[place])


def pack_contexts(
    ranking: Sequence[tuple[int, float]],
    library: Library,
    sizes: PassageSizes,
    *,
    budget_tokens: int,
    expanded_hits: int,
    n_neighbours: int,
    passing: Mask | None = None,
) -> tuple[list[Context], dict[str, Chunk]]:
    """Contexts of at most `budget_tokens` tokens in all, best first, and their chunks by id.

    The best passage is always packed, whatever its size: without it there is nothing to answer
    from, and the refusal would sound as if the corpus had no answer. Any other passage that does
    not fit is skipped, so that a shorter one after it can be packed. A passage is also skipped if
    more than half of it is packed already. Passages that follow each other in a chunk become one
    context with the score of the best of them.

    ranking: places of passages and their scores, best first. sizes: counts the tokens.
    expanded_hits: the number of top passages that are packed with their neighbours, which get the
    same score: up to `n_neighbours` passages of the same section on each side. passing: which
    places a filter lets through, None for all; other neighbours are not added.
    """
    scores: dict[int, float] = {}
    for place, score in _with_neighbours(ranking, library, expanded_hits, n_neighbours, passing):
        scores.setdefault(place, score)
    passages = dict(zip(scores, library.passages(list(scores)), strict=True))
    chosen: dict[int, Passage] = {}
    n_left = budget_tokens
    for place, passage in passages.items():
        if _is_repeated(passage, chosen.values()):
            continue
        n_tokens = sizes.of(place, passage)
        if n_tokens <= n_left or not chosen:
            chosen[place] = passage
            n_left -= n_tokens
    chunks = library.chunks({passage.chunk_id for passage in chosen.values()})
    contexts = _contexts(chosen, scores, chunks, sizes.counter)
    while len(chosen) > 1 and sum(context.n_tokens for context in contexts) > budget_tokens:
        # Text between passages has tokens too, so the contexts may be larger than their passages.
        chosen.popitem()
        contexts = _contexts(chosen, scores, chunks, sizes.counter)
    return contexts, chunks


def _with_neighbours(
    ranking: Sequence[tuple[int, float]],
    library: Library,
    expanded_hits: int,
    n_neighbours: int,
    passing: Mask | None,
) -> Iterator[tuple[int, float]]:
    """The ranking with the neighbours of each top hit behind it; places may be repeated."""
    for rank, (place, score) in enumerate(ranking):
        yield place, score
        if rank < expanded_hits:
            for neighbour in library.neighbours(place, n_neighbours):
                if passing is None or passing[neighbour]:
                    yield neighbour, score


def _is_repeated(passage: Passage, packed: Iterable[Passage]) -> bool:
    """Whether more than half of a passage is packed already. Only passages of other chunks are
    compared: chunks may overlap, passages of one chunk do not."""
    length = passage.char_end - passage.char_start
    n_repeated = sum(
        max(0, min(passage.char_end, other.char_end) - max(passage.char_start, other.char_start))
        for other in packed
        if other.paper_id == passage.paper_id and other.chunk_id != passage.chunk_id
    )
    return length > 0 and n_repeated > _MOST_REPEATED_SHARE * length


def _contexts(
    chosen: Mapping[int, Passage],
    scores: Mapping[int, float],
    chunks: Mapping[str, Chunk],
    counter: TokenCounter,
) -> list[Context]:
    """One context for each run of passages, the one with the best passage first. chosen: passages
    by place, best first."""
    ranks = {place: rank for rank, place in enumerate(chosen)}
    ranked = sorted(_runs(chosen), key=lambda run: min(ranks[place] for place in run))
    runs = [
        _PassageRun(
            [chosen[place] for place in run],
            [scores[place] for place in run],
            chunks[chosen[run[0]].chunk_id],
        )
        for run in ranked
    ]
    sizes = counter.count_all([run.text for run in runs])
    return [run.context(n_tokens) for run, n_tokens in zip(runs, sizes, strict=True)]


@dataclass(frozen=True)
class _PassageRun:
    """Passages that follow each other in a chunk."""

    passages: Sequence[Passage]
    scores: Sequence[float]
    chunk: Chunk

    @property
    def text(self) -> str:
        """The chunk's text from the first passage to the last, unchanged so that a quote from the
        context is found in the chunk. The title that the first passage repeats comes before it."""
        return (
            self._title_line
            + self.chunk.text[self.passages[0].chunk_start : self.passages[-1].chunk_end]
        )

    def context(self, n_tokens: int) -> Context:
        first, last = self.passages[0], self.passages[-1]
        return Context(
            paper_id=first.paper_id,
            chunk_id=first.chunk_id,
            page_start=first.page_start,
            page_end=last.page_end,
            n_tokens=n_tokens,
            text=self.text,
            score=max(self.scores),
            is_generated=self.chunk.is_generated,
            section_title=first.section_title,
            passages=tuple(self._passages()),
            units=tuple(self._units()),
            sections=tuple(self._sections()),
        )

    @property
    def _title_line(self) -> str:
        title = self.passages[0].repeated_title
        return f"{title}\n" if title else ""

    @property
    def _shift(self) -> int:
        """What must be added to an offset in the chunk's text to get the offset in the context."""
        return len(self._title_line) - self.passages[0].chunk_start

    def _passages(self) -> Iterator[ContextPassage]:
        for passage, score in zip(self.passages, self.scores, strict=True):
            start, end = passage.chunk_start + self._shift, passage.chunk_end + self._shift
            yield ContextPassage(passage.passage_id, start, end, passage.text, score)

    def _units(self) -> Iterator[ContextUnit]:
        """The chunk's units in this run, cut at its ends, with offsets in the context and blocks
        numbered from 0."""
        start, end = self.passages[0].chunk_start, self.passages[-1].chunk_end
        inside = [unit for unit in self.chunk.units if start < unit.end and unit.start < end]
        blocks = {
            block: nth for nth, block in enumerate(dict.fromkeys(unit.block for unit in inside))
        }
        for unit in inside:
            unit_start = max(unit.start, start)
            span = unit_start + self._shift, min(unit.end, end) + self._shift
            yield ContextUnit(*span, unit.kind, blocks[unit.block], unit_start)

    def _sections(self) -> Iterator[tuple[int, str]]:
        """For each section in this run its offset in the context and its headings."""
        start, end = self.passages[0].chunk_start, self.passages[-1].chunk_end
        for section in self.chunk.sections:
            if section.start < end and start < section.end:
                yield max(section.start, start) + self._shift, section.section_path


def _runs(chosen: Mapping[int, Passage]) -> list[list[int]]:
    """The places in groups of consecutive places of one chunk: 4, 5, 7 become [4, 5] and [7]."""
    runs: list[list[int]] = []
    for place in sorted(chosen):
        before = place - 1
        if runs and runs[-1][-1] == before and chosen[before].chunk_id == chosen[place].chunk_id:
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs
