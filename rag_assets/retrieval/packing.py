"""Ranked passages become the contexts an answerer reads, within a budget of tokens.

Passages are taken whole. The best few bring their neighbours along, because an answer often runs over the edge of
what was found; further down, a new passage is worth more than a neighbour of an old one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_assets.domain import Chunk, Context, Passage
from rag_assets.retrieval.library import Library
from rag_assets.settings import RetrievalSettings
from rag_assets.text.tokens import TokenCounter

GENERATED_BEGINS, GENERATED_ENDS = "<AI_GENERATED>", "</AI_GENERATED>"
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
    """Whether more than half of the passage's stretch of the paper is packed already."""
    length = passage.char_end - passage.char_start
    n_repeated = sum(
        max(0, min(passage.char_end, other.char_end) - max(passage.char_start, other.char_start))
        for other in packed
        if other.paper_id == passage.paper_id
    )
    return length > 0 and n_repeated > _MOST_REPEATED_SHARE * length


def _contexts(chosen: Mapping[str, float], library: Library, counter: TokenCounter) -> list[Context]:
    order = {id_: nth for nth, id_ in enumerate(chosen)}
    runs = sorted(
        _runs(sorted(library.places[id_] for id_ in chosen), library),
        key=lambda run: min(order[passage.passage_id] for passage in run),
    )
    texts = [_labelled(_text_of(run, library.chunk_of(run[0])), library.chunk_of(run[0])) for run in runs]
    titles = [_section_title(run[0], library.chunk_of(run[0])) for run in runs]
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
            section_title=title,
        )
        for run, text, title, n_tokens in zip(runs, texts, titles, counter.count_all(texts), strict=True)
    ]


def _section_title(first: Passage, chunk: Chunk) -> str:
    """Title of the section that a context begins in; a chunk may hold several short ones."""
    place = _place_of(first.text, chunk.text, 0)
    return chunk.section_title_at(place.start) if place else chunk.section_title


def _labelled(text: str, chunk: Chunk) -> str:
    """Text that a model wrote (a figure's description) is said to be so, to whoever reads the context."""
    if not chunk.is_generated:
        return text
    return f"{GENERATED_BEGINS}\n{text.replace(GENERATED_ENDS, '')}\n{GENERATED_ENDS}"


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


@dataclass(frozen=True)
class _Place:
    """A passage in its chunk: `chunk.text[start:end]`, below a title it repeats or ""."""

    start: int
    end: int
    title: str


def _text_of(run: Sequence[Passage], chunk: Chunk) -> str:
    """The chunk's own text from the first passage to the last, so that quotes from it are found there again."""
    places: list[_Place] = []
    for passage in run:
        place = _place_of(passage.text, chunk.text, places[-1].end if places else 0)
        if place is None:
            return "\n".join(one.text for one in run)
        places.append(place)
    own = chunk.text[places[0].start : places[-1].end]
    return f"{places[0].title}\n{own}" if places[0].title else own


def _place_of(text: str, within: str, start: int) -> _Place | None:
    """Where a passage's text stands in its chunk; a passage may repeat a title above what is its own."""
    at = within.find(text, start)
    if at >= 0:
        return _Place(at, at + len(text), "")
    title, _, own = text.partition("\n")
    at = within.find(own, start) if own else -1
    return _Place(at, at + len(own), title) if at >= 0 else None
