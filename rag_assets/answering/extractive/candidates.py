"""What an answer can be made of: statements that can be published as they stand, out of the contexts."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rag_assets.answering.boilerplate import states_only_formalities
from rag_assets.answering.extractive.words import terms_of, words_of
from rag_assets.domain import BLOCK_SEPARATOR, Context, UnitKind
from rag_assets.text.sentences import sentence_spans

MIN_WORDS, MAX_WORDS = 6, 90
_STATEMENT = re.compile(r"^[\"“'(\[]?[A-Z0-9].*[.!][\"”')\]]*(?:\s?\[?\d*\]?)?$", re.DOTALL)
_ANNOUNCEMENT = re.compile(
    r"^(?:this|the (?:present|following)) (?:paper|note|review|article|section|chapter|work|appendix) (?:\w+ )?"
    r"(?:introduces|describes|presents|discusses|reviews|outlines|summari[sz]es|explains|surveys|covers|lists)\b",
    re.IGNORECASE,
)


class CandidateKind(StrEnum):
    """What a candidate is in its paper."""

    SENTENCE = "sentence"
    ROW = "row"
    """A row of a table with its header."""


@dataclass(frozen=True)
class Candidate:
    """Something an answer can publish: `contexts[context].text[start:end]`."""

    text: str
    """Published as the claim and quoted as its evidence, so it stands in the chunk word for word."""
    paper_id: str
    chunk_id: str
    context: int
    """Its number among the contexts."""
    start: int
    end: int
    paragraph: tuple[str, int, int]
    """Chunk, number of the context, number of the paragraph in it."""
    terms: frozenset[str]
    """Stems of its content words."""
    kind: CandidateKind = CandidateKind.SENTENCE
    quote: str = ""
    """Quoted as its evidence where that is more than `text`: the whole row."""
    relevance: Mapping[str, float] | None = None
    """To each part of the question, by the part's text, where it is known; None: it is scored as sentences are."""


FindCandidates = Callable[[Sequence[Context], str], Sequence[Candidate]]
"""contexts, question -> the candidates of one kind, in the order of the contexts."""


def sentences(contexts: Sequence[Context], question: str) -> list[Candidate]:
    """Statements of the authors that can be read alone, each once; formalities only where the question asks for
    them. A caption says what a table or figure shows, not what is in it."""
    found: dict[tuple[str, str], Candidate] = {}
    for nth, context in enumerate(contexts):
        if context.is_generated:
            continue
        captions = [unit for unit in context.units if unit.kind is UnitKind.CAPTION]
        for start, end in sentence_spans(context.text):
            text = context.text[start:end]
            is_caption = any(unit.start <= start < unit.end for unit in captions)
            if not is_caption and _says_something(text) and not states_only_formalities(text, question):
                found.setdefault((context.paper_id, text), candidate(context, nth, start, end))
    return list(found.values())


def candidate(
    context: Context, nth: int, start: int, end: int, kind: CandidateKind = CandidateKind.SENTENCE
) -> Candidate:
    """`text[start:end]` of a context as a candidate. nth: number of the context among those given."""
    text = context.text[start:end]
    return Candidate(
        text=text,
        paper_id=context.paper_id,
        chunk_id=context.chunk_id,
        context=nth,
        start=start,
        end=end,
        paragraph=(context.chunk_id, nth, context.text.count(BLOCK_SEPARATOR, 0, start)),
        terms=terms_of(text),
        kind=kind,
    )


def _says_something(text: str) -> bool:
    """Whether a text is one statement in prose: no row, heading, question or announcement of what follows."""
    return (
        MIN_WORDS <= len(words_of(text)) <= MAX_WORDS
        and " | " not in text
        and "\n" not in text
        and _STATEMENT.match(text) is not None
        and _ANNOUNCEMENT.match(text) is None
    )
