"""Ranked passages become the contexts an answerer reads, within a budget of tokens.

Passages are taken whole. The best few bring their neighbours along, because an answer often runs over the edge of
what was found; further down, a new passage is worth more than a neighbour of an old one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rag_assets.domain import Chunk, Context, Passage
from rag_assets.retrieval.library import Library
from rag_assets.settings import RetrievalSettings
from rag_assets.text.tokens import TokenCounter

_MOST_REPEATED_SHARE = 0.5


class PassageSizes:
    """Tokens of passages by the counter of a budget; each is counted once, however many questions find it."""

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter
        self._sizes: dict[str, int] = {}

    def of(self, passage: Passage) -> int:
        if passage.passage_id not in self._sizes:
            self._sizes[passage.passage_id] = self.counter.count(passage.text)
        return self._sizes[passage.passage_id]


def pack_contexts(
    ranking: Sequence[tuple[Passage, float]],
    library: Library,
    sizes: PassageSizes,
    settings: RetrievalSettings,
    *,
    budget_tokens: int,
) -> list[Context]:
    """Contexts of at most `budget_tokens` tokens in all, by the counter of `sizes`, best first.

    ranking: passages and their scores, best first. The best one is packed whatever the budget: without it there is
    nothing to answer from, and a refusal would blame the corpus. Another that does not fit is passed over, so that a
    shorter one may; one of which more than half is packed already is left out. Passages that follow each other in a
    chunk become one context, scored as its best passage; a neighbour has the score of the hit that brought it.
    """
    chosen: dict[str, float] = {}
    packed: list[Passage] = []
    n_left = budget_tokens
    for passage, score in _with_neighbours(ranking, library, settings):
        if passage.passage_id in chosen or _is_repeated(passage, packed):
            continue
        n_tokens = sizes.of(passage)
        if n_tokens <= n_left or not packed:
            chosen[passage.passage_id] = score
            packed.append(passage)
            n_left -= n_tokens
    contexts = _contexts(chosen, library, sizes.counter)
    while (
        len(chosen) > 1 and sum(context.n_tokens for context in contexts) > budget_tokens
    ):  # what stands between passages counts too
        chosen.popitem()
        contexts = _contexts(chosen, library, sizes.counter)
    return contexts


def _with_neighbours(
    ranking: Sequence[tuple[Passage, float]], library: Library, settings: RetrievalSettings
) -> Iterator[tuple[Passage, float]]:
    for rank, (passage, score) in enumerate(ranking):
        yield passage, score
        if rank < settings.expanded_hits:
            for neighbour in library.neighbours(passage, settings.neighbours):
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


def _contexts(chosen: Mapping[str, float], library: Library, counter: TokenCounter) -> list[Context]:
    order = {id_: nth for nth, id_ in enumerate(chosen)}
    runs = sorted(
        _runs(sorted(library.places[id_] for id_ in chosen), library),
        key=lambda run: min(order[passage.passage_id] for passage in run),
    )
    texts = [_text_of(run, library.chunk_of(run[0])) for run in runs]
    return [
        Context(
            paper_id=run[0].paper_id,
            chunk_id=run[0].chunk_id,
            page_start=run[0].page_start,
            page_end=run[-1].page_end,
            n_tokens=n_tokens,
            text=text,
            score=max(chosen[passage.passage_id] for passage in run),
            is_generated=library.chunk_of(run[0]).is_generated,
            section_title=run[0].section_title,
        )
        for run, text, n_tokens in zip(runs, texts, counter.count_all(texts), strict=True)
    ]


def _runs(places: Sequence[int], library: Library) -> Iterator[list[Passage]]:
    """Passages at those (ascending) places, in runs that follow each other in one chunk."""
    run: list[Passage] = []
    for at, place in enumerate(places):
        passage = library.passages[place]
        if run and (place != places[at - 1] + 1 or passage.chunk_id != run[0].chunk_id):
            yield run
            run = []
        run.append(passage)
    if run:
        yield run


def _text_of(run: Sequence[Passage], chunk: Chunk) -> str:
    """The chunk's own text from the first passage to the last, so that quotes from it are found there again."""
    own = chunk.text[run[0].chunk_start : run[-1].chunk_end]
    title = run[0].repeated_title
    return f"{title}\n{own}" if title else own
