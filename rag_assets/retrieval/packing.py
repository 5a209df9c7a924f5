"""Ranked passages become the contexts an answerer reads, within a budget of tokens.

Passages are taken whole. The best few bring their neighbours along, because an answer often runs over the edge of
what was found; further down, a new passage is worth more than a neighbour of an old one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from rag_assets.domain import Chunk, Context, Passage
from rag_assets.retrieval.library import Library
from rag_assets.settings import RetrievalSettings
from rag_assets.text.tokens import TokenCounter

_MOST_REPEATED_SHARE = 0.5


class PassageSizes:
    """Tokens of passages by the counter of a budget; each is counted once, however many questions find it."""

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
    settings: RetrievalSettings,
    *,
    budget_tokens: int,
) -> tuple[list[Context], dict[str, Chunk]]:
    """Contexts of at most `budget_tokens` tokens in all, by the counter of `sizes`, best first; and their chunks by id.

    ranking: places of passages and their scores, best first. The best one is packed whatever the budget: without it
    there is nothing to answer from, and a refusal would blame the corpus. Another that does not fit is passed over, so
    that a shorter one may; one of which more than half is packed already is left out. Passages that follow each other
    in a chunk become one context, scored as its best passage; a neighbour has the score of the hit that brought it.
    """
    scores: dict[int, float] = {}
    for place, score in _with_neighbours(ranking, library, settings):
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
        chosen.popitem()  # what stands between passages counts too
        contexts = _contexts(chosen, scores, chunks, sizes.counter)
    return contexts, chunks


def _with_neighbours(
    ranking: Sequence[tuple[int, float]], library: Library, settings: RetrievalSettings
) -> Iterator[tuple[int, float]]:
    for rank, (place, score) in enumerate(ranking):
        yield place, score
        if rank < settings.expanded_hits:
            for neighbour in library.neighbours(place, settings.neighbours):
                yield neighbour, score


def _is_repeated(passage: Passage, packed: Iterable[Passage]) -> bool:
    """Whether more than half of the passage's stretch of the paper is packed already, out of other chunks: passages of
    one chunk do not overlap."""
    length = passage.char_end - passage.char_start
    n_repeated = sum(
        max(0, min(passage.char_end, other.char_end) - max(passage.char_start, other.char_start))
        for other in packed
        if other.paper_id == passage.paper_id and other.chunk_id != passage.chunk_id
    )
    return length > 0 and n_repeated > _MOST_REPEATED_SHARE * length


def _contexts(
    chosen: Mapping[int, Passage], scores: Mapping[int, float], chunks: Mapping[str, Chunk], counter: TokenCounter
) -> list[Context]:
    """chosen: passages by place, best first."""
    order = {place: nth for nth, place in enumerate(chosen)}
    runs = sorted(_runs(chosen), key=lambda run: min(order[place] for place in run))
    firsts, lasts = [chosen[run[0]] for run in runs], [chosen[run[-1]] for run in runs]
    texts = [_text_of(first, last, chunks[first.chunk_id]) for first, last in zip(firsts, lasts, strict=True)]
    return [
        Context(
            paper_id=first.paper_id,
            chunk_id=first.chunk_id,
            page_start=first.page_start,
            page_end=last.page_end,
            n_tokens=n_tokens,
            text=text,
            score=max(scores[place] for place in run),
            is_generated=chunks[first.chunk_id].is_generated,
            section_title=first.section_title,
        )
        for run, first, last, text, n_tokens in zip(runs, firsts, lasts, texts, counter.count_all(texts), strict=True)
    ]


def _runs(chosen: Mapping[int, Passage]) -> list[list[int]]:
    """The places in runs that follow each other in one chunk."""
    runs: list[list[int]] = []
    for place in sorted(chosen):
        if runs and place == runs[-1][-1] + 1 and chosen[place].chunk_id == chosen[runs[-1][-1]].chunk_id:
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


def _text_of(first: Passage, last: Passage, chunk: Chunk) -> str:
    """The chunk's own text from the first passage to the last, so that quotes from it are found there again."""
    own = chunk.text[first.chunk_start : last.chunk_end]
    return f"{first.repeated_title}\n{own}" if first.repeated_title else own
