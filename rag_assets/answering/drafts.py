"""Drafts, which answerers propose before anything is verified, and the interfaces of answerers and
their models.

Answerers are adapters: they see a question and contexts, and return claims that point at contexts.
Whether a quote really occurs there, and on which page, is decided in `verify.verification`, never
by the answerer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rag_assets.core.domain import Context, Usage
from rag_assets.core.kept import Kept, KeptFile
from rag_assets.core.settings import Effort
from rag_assets.search.embedding.local_model import TokenScale
from rag_assets.search.embedding.token_vectors import TokenVectors
from rag_assets.search.reranking.trained_reader import PrecededText

EXTRACTIVE = "extractive"
"""Name of the answerer that needs no model; the model of its results begins with it."""
REFUSAL = "The papers in this corpus do not contain enough information to answer this question."
"""The one sentence that says so; a model is told to write it, and every refusal is published as
it."""
UNVERIFIED = "The model's reply could not be verified: "
"""Begins what stands in place of an answer of which no claim is carried by its sources. It says
nothing about the papers."""
FURTHER = "Not verified: "
"""Begins the note on claims beyond those that are verified of one reply."""
WITHHELD = "An answer was made and is withheld, because what it says could not be proven."
"""Published in place of an answer of which no claim keeps the promises. It says nothing about the
papers."""
SINGLE_SOURCE_NOTE = "Only one paper of the corpus supports this answer."
FEW_SOURCES_NOTE = "papers of the corpus support this answer."
"""Behind their number, where more than one was found and `answering.min_sources` asks for more."""
NOT_READ = (
    "Without a model only sentences in English are judged, and the question or a paper that was found for it is in "
    "another language: no sentence came near enough to the question to be quoted as an answer."
)
"""In place of the refusal: whether the papers answer is not known."""
NOT_JUDGED = (
    "These sentences came nearest to the question in meaning or words; without a model only English ones are judged, "
    "and the question or their paper is in another language."
)
"""Beside claims of such a question."""
FIXED_SENTENCES = (
    REFUSAL,
    UNVERIFIED,
    FURTHER,
    NOT_READ,
    NOT_JUDGED,
    WITHHELD,
    SINGLE_SOURCE_NOTE,
    FEW_SOURCES_NOTE,
)
"""Sentences that only the pipeline writes."""
MOST_NEAREST = 3
"""Sentences beside an answer that came near the question."""
OF_OTHERS = "What was found is of "
"""Begins the note on what answers another question: one about another year or place, for
example."""
OF_OTHERS_NOTE = OF_OTHERS + "{others}, not of {asked}."
NOT_ASKED = "Not asked to the end: "
"""Begins the note on a part of the question that a limit, or a fault, kept from being asked as
planned."""
INSUFFICIENT = "[INSUFFICIENT DATA]"
"""Begins a model's sentence about a part of the question that the sources do not answer; never
replaced by anything."""


@dataclass(frozen=True)
class DraftCitation:
    """A quote and the chunk that it comes from."""

    chunk_id: str
    """Empty where a model copied words: it is looked for in all that was read."""
    quote: str
    start: int | None = None
    """Offset in the chunk's text where it is known; else the quote is searched."""


@dataclass(frozen=True)
class DraftClaim:
    """A statement with the citations that are said to carry it."""

    text: str
    citations: tuple[DraftCitation, ...]
    relevance: float | None = None
    """Likeness to the question, 0 to 1, where sentences are chosen by it; None where a model
    writes."""
    mends: int = 0
    """In a second draft, the number of the objection that the claim answers, from 1; 0 for a
    further claim."""
    fault: str = ""
    """Why it cannot be verified, where that is known before; empty where it can be."""


@dataclass(frozen=True)
class ObjectedClaim:
    """A claim of a first draft that was objected to."""

    claim: DraftClaim
    why: str
    """The objection in words for the model: "15.9 stands in none of its quotes"."""


@dataclass(frozen=True)
class MendRequest:
    """The request for a second draft: claims to mend, other papers to cite, and parts to answer."""

    objections: tuple[ObjectedClaim, ...] = ()
    cited: tuple[str, ...] = ()
    """Papers that are cited already, where others are asked for; empty where none are."""
    missing: tuple[str, ...] = ()
    """Parts of the question for which further sources were found."""


class Reading(StrEnum):
    """How a reply was understood."""

    STRUCTURED = "structured"
    """The first reply had the requested form (always so without a model)."""
    REPAIRED = "repaired"
    """The model was shown what was wrong and replied again."""


@dataclass(frozen=True)
class DraftAnswer:
    """An answerer's proposal; without claims it is a refusal."""

    claims: tuple[DraftClaim, ...] = ()
    unanswered: tuple[str, ...] = ()
    """Parts of a compound question that no claim answers."""
    missing: tuple[str, ...] = ()
    """Parts of the question that a model found nothing about, in its own words; an empty text where
    these have nothing of the question. Only determined if a model writes."""
    missing_names: tuple[str, ...] = ()
    """Names of the question that occur in no context; only determined if no model writes."""
    nearest: tuple[DraftClaim, ...] = ()
    """Sentences that are related to the question but not sure enough to be claims, best first; only
    determined if no model writes."""
    is_unread: bool = False
    """A refusal because of the language of the question or of a paper; only determined if no model
    writes."""
    usage: Usage = field(default_factory=Usage)
    reading: Reading = Reading.STRUCTURED
    n_hallucinated: int = 0
    """Citations of ids that do not exist; they are not among the claims."""
    n_contexts_read: int | None = None
    """The best so many were read, where all of them were more than the model reads; None is all."""
    seconds: float = 0.0
    """How long the provider took over its replies."""
    raw_reply: str = ""
    """The reply as the model wrote it, if it did not have the requested form."""

    @property
    def chunk_ids(self) -> set[str]:
        """The chunks it quotes; those of copied words are not known."""
        return {
            citation.chunk_id
            for claim in (*self.claims, *self.nearest)
            for citation in claim.citations
            if citation.chunk_id
        }


class SentenceEncoder(Protocol):
    """The part of an `Embedder` that answering needs; unit vectors. Tests embed words by their
    hashes."""

    @property
    def identity(self) -> str: ...

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]: ...

    def embed_query(self, text: str) -> NDArray[np.float32]: ...


class TokenReader(Protocol):
    """Gives the token vectors of texts; a text that was read lately is not encoded again.
    `PassageTokens`; tests put hashed words in its place."""

    @property
    def identity(self) -> str: ...

    @property
    def scale(self) -> TokenScale: ...

    def of(self, passages: Sequence[str]) -> Sequence[TokenVectors]:
        """Tokens of corpus passages, whose vectors may be stored; to be compared with those of
        other texts only."""
        ...

    def of_texts(self, texts: Sequence[str]) -> Sequence[TokenVectors]: ...


class SentenceReader(Protocol):
    """Reads question and sentence together. `TrainedReader`; tests give scores of their own."""

    @property
    def identity(self) -> str: ...

    def scores(self, question: str, sentences: Sequence[PrecededText]) -> NDArray[np.float32]:
        """For each sentence the logarithm of the odds that it answers the question, shape
        (len(sentences),)."""
        ...


@dataclass(frozen=True)
class Readers:
    """The models that compare texts with a question and find those that answer it."""

    tokens: TokenReader
    sentences: SentenceReader


@dataclass(frozen=True)
class Background:
    """The larger text that an answer will be part of. A model that writes reads it; it is not used
    in the search."""

    outline: str
    """A change in it asks for no draft again: it does not decide what this part says."""
    part: str
    """Purpose of the whole and the part of it that the answer is; a change in it asks for a new
    draft."""


@dataclass(frozen=True)
class AnswerOptions:
    """How one question is answered, where that differs from the settings; None: as set."""

    k: int | None = None
    """Chunks that are read, in place of `answering.k`."""
    background: Background | None = None
    """The larger text that the answer belongs to; None: it stands alone."""
    effort: Effort | None = None
    """The effort in place of `answering.effort`."""
    is_led: bool = True
    """Whether a paragraph may open the answer; a cell of a table has no place for one."""
    again: bool = False
    """Asks the model anew, also where its draft is kept."""
    max_tries: int | None = None
    """After so many replies that could not be used, the model is not asked the same once more;
    None: always."""


DEFAULT_OPTIONS = AnswerOptions()
MAX_TRIES = 3
"""Of runs, which would else pay for the same fault every night."""


class Answerer(Protocol):
    """Writes a draft answer from contexts."""

    @property
    def identity(self) -> str:
        """Model, prompt and settings; part of the keys of cached and published answers. Loads no
        model."""
        ...

    def read(self, context: Context) -> Context:
        """The fields of a context that a draft depends on; others may change without a new
        draft."""
        ...

    def within(self, background: Background) -> "Answerer":
        """The same, writing for a larger text; see `AnswerOptions.background`."""
        ...

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer: ...


@runtime_checkable
class MendingAnswerer(Answerer, Protocol):
    """One that can be asked to mend single claims, and to look for further papers."""

    def mended(
        self, question: str, contexts: Sequence[Context], asked_to_mend: MendRequest
    ) -> DraftAnswer:
        """The claims that take the place of those objected to, and further ones; the others are not
        repeated."""
        ...

    def within(self, background: Background) -> "MendingAnswerer": ...


def kept_drafts(kept: KeptFile) -> Kept[DraftAnswer]:
    """Drafts by fingerprint of question, contexts, prompt and model."""
    return kept.replies("answers", DraftAnswer)
