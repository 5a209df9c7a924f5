"""Ranked passages become the contexts an answerer reads, within a budget of tokens.

Passages are taken whole. The best few bring their neighbours along, because an answer often runs
over the edge of what was found; further down, a new passage is worth more than a neighbour of an
old one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_assets.core.domain import Chunk, Context, ContextPassage, ContextUnit, Passage
from rag_assets.core.text.tokens import TokenCounter
from rag_assets.search.retrieval.filtering import Mask
from rag_assets.search.retrieval.library import Library

_MOST_REPEATED_SHARE = 0.5


class PassageSizes:
    """Tokens of passages by the counter of a budget; each is counted once, however many questions
    find it."""

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
    """Contexts of at most `budget_tokens` tokens in all, by the counter of `sizes`, best first; and
    their chunks by id.

    ranking: places of passages and their scores, best first. The best one is packed whatever the
    budget: without it there is nothing to answer from, and a refusal would blame the corpus.
    Another that does not fit is passed over, so that a shorter one may; one of which more than half
    is packed already is left out. Passages that follow each other in a chunk become one context,
    scored as its best passage; a neighbour has the score of the hit that brought it. expanded_hits:
    top hits that bring along `n_neighbours` passages of their section before and after. passing:
    places that a filter lets through, None for all; no other neighbour is added.
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
        chosen.popitem()  # separators between passages count too
        contexts = _contexts(chosen, scores, chunks, sizes.counter)
    return contexts, chunks


def _with_neighbours(
    ranking: Sequence[tuple[int, float]],
    library: Library,
    expanded_hits: int,
    n_neighbours: int,
    passing: Mask | None,
) -> Iterator[tuple[int, float]]:
    for rank, (place, score) in enumerate(ranking):
        yield place, score
        if rank < expanded_hits:
            for neighbour in library.neighbours(place, n_neighbours):
                if passing is None or passing[neighbour]:
                    yield neighbour, score


def _is_repeated(passage: Passage, packed: Iterable[Passage]) -> bool:
    """Whether more than half of the passage's stretch of the paper is packed already, out of other
    chunks: passages of one chunk do not overlap."""
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
    """chosen: passages by place, best first."""
    order = {place: nth for nth, place in enumerate(chosen)}
    ranked = sorted(_runs(chosen), key=lambda run: min(order[place] for place in run))
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
        """The chunk's own text from the first passage to the last, so that quotes from it are found
        there again; above it the title that the first one repeats."""
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
        """From an offset in the chunk to the same in the context."""
        return len(self._title_line) - self.passages[0].chunk_start

    def _passages(self) -> Iterator[ContextPassage]:
        for passage, score in zip(self.passages, self.scores, strict=True):
            start, end = passage.chunk_start + self._shift, passage.chunk_end + self._shift
            yield ContextPassage(passage.passage_id, start, end, passage.text, score)

    def _units(self) -> Iterator[ContextUnit]:
        start, end = self.passages[0].chunk_start, self.passages[-1].chunk_end
        inside = [unit for unit in self.chunk.units if start < unit.end and unit.start < end]
        blocks = {
            block: nth for nth, block in enumerate(dict.fromkeys(unit.block for unit in inside))
        }
        for unit in inside:
            first = max(unit.start, start)
            span = first + self._shift, min(unit.end, end) + self._shift
            yield ContextUnit(*span, unit.kind, blocks[unit.block], first)

    def _sections(self) -> Iterator[tuple[int, str]]:
        start, end = self.passages[0].chunk_start, self.passages[-1].chunk_end
        for part in self.chunk.sections:
            if part.start < end and start < part.end:
                yield max(part.start, start) + self._shift, part.section_path


def _runs(chosen: Mapping[int, Passage]) -> list[list[int]]:
    """The places in runs that follow each other in one chunk."""
    runs: list[list[int]] = []
    for place in sorted(chosen):
        if (
            runs
            and place == runs[-1][-1] + 1
            and chosen[place].chunk_id == chosen[runs[-1][-1]].chunk_id
        ):
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs
