"""Answers by a model behind an API. The model writes a proposal; nothing it says is believed here.

How a model is asked and a malformed reply repaired is in `hosted.structured`, the prompts are files beside this
module, and what becomes of a proposal is decided in `citations.verification`. No SDK is loaded before the first draft.
"""

from collections.abc import Sequence
from copy import copy
from itertools import islice
from typing import TYPE_CHECKING

from rag_assets.answering.drafts import (
    INSUFFICIENT,
    REFUSAL,
    Background,
    DraftAnswer,
    DraftCitation,
    DraftClaim,
    Reading,
)
from rag_assets.answering.model_replies.parsing import ModelReply, read_tolerantly
from rag_assets.answering.model_replies.texts import MAX_CLAIM_CHARS, claim_text, insufficient_notes, is_insufficient
from rag_assets.answering.prompt_injection.source_fences import SourcesBlock, sources_block
from rag_assets.domain import Context
from rag_assets.errors import ContextTooLong
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections
from rag_assets.hosted.lazy_model import LazyModel
from rag_assets.hosted.prompts import load_prompt
from rag_assets.incremental import fingerprint
from rag_assets.settings import AnsweringSettings

if TYPE_CHECKING:
    from rag_assets.hosted.structured import StructuredReply

HOSTED_VERSION = 2
"""Raise it when the code makes another prompt of the same sources, or another draft of the same reply."""
MAX_CLAIMS, MAX_CITATIONS, MAX_QUOTE_CHARS = 50, 20, 2_000
"""No answer has more; a reply that has would only cost time to verify."""
_MOST_HALVINGS = 2
_PACKAGE = "rag_assets.answering"
_INSTRUCTIONS = load_prompt(_PACKAGE, "answer", frozenset({"min_sources", "refusal", "insufficient"}))
_QUESTION = load_prompt(_PACKAGE, "question", frozenset({"sources", "question"}))
_QUESTION_WITHIN = load_prompt(_PACKAGE, "question_within", frozenset({"sources", "question", "background"}))


class HostedAnswerer:
    """Asks one model, each question once. Safe to use from several threads."""

    def __init__(self, name: ModelName, connections: Connections, settings: AnsweringSettings) -> None:
        """Raises MissingKey, InvalidSettings as `require_access`; nothing is opened yet."""
        self._model = LazyModel(
            name,
            connections,
            ModelReply,
            instructions=_INSTRUCTIONS.filled(
                min_sources=settings.min_sources, refusal=REFUSAL, insufficient=INSUFFICIENT
            ),
            max_output_tokens=settings.max_output_tokens,
        )
        self._background: Background | None = None

    @property
    def identity(self) -> str:
        """The model, readably, and a hash of the prompts, the reply's schema and the code between them."""
        within = (_QUESTION_WITHIN.text, self._background.part) if self._background else ()
        asked = fingerprint(_INSTRUCTIONS.text, _QUESTION.text, ModelReply.model_json_schema(), HOSTED_VERSION, *within)
        return f"{self._model.model_id} prompt-{asked[:8]}"

    def read(self, context: Context) -> Context:
        return context.words()

    def within(self, background: Background) -> "HostedAnswerer":
        """The same model, which is shown the outline of the text that the answer will stand in."""
        answerer = copy(self)
        answerer._background = background
        return answerer

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer:
        """Without contexts, a refusal for which no model is asked.

        Raises what `Connection.guarded` raises, also when that kept an unreadable reply from being mended.
        """
        if not contexts:
            return DraftAnswer()
        n_read, given, reply = self._asked(question, contexts, _MOST_HALVINGS)
        output, reading = _read(reply)
        if reading is Reading.UNREADABLE and reply.fault is not None:
            raise reply.fault
        return DraftAnswer(
            claims=_claims(output, given),
            unanswered=insufficient_notes(output, question),
            usage=reply.usage,
            reading=reading,
            n_hallucinated=_n_hallucinated(output, given),
            n_left_out=given.n_left_out,
            n_contexts_read=n_read if n_read < len(contexts) else None,
            seconds=reply.seconds,
            raw_reply="" if reading is Reading.STRUCTURED else "\n\n".join(reply.texts),
        )

    def _asked(
        self, question: str, contexts: Sequence[Context], n_halvings_left: int
    ) -> tuple[int, SourcesBlock, "StructuredReply[ModelReply]"]:
        """How many contexts were read, and the reply.

        They come best first: when they are more than the model reads, the better half is tried.
        """
        given = sources_block(contexts)
        try:
            return len(contexts), given, self._model.ask(self._prompt(question, given))
        except ContextTooLong:
            if n_halvings_left == 0 or len(contexts) == 1:
                raise
            return self._asked(question, contexts[: (len(contexts) + 1) // 2], n_halvings_left - 1)

    def _prompt(self, question: str, given: SourcesBlock) -> str:
        if self._background is None:
            return _QUESTION.filled(sources=given.text, question=question)
        background = f"{self._background.outline}\n\n{self._background.part}"
        return _QUESTION_WITHIN.filled(sources=given.text, question=question, background=background)


def _read(reply: "StructuredReply[ModelReply]") -> tuple[ModelReply, Reading]:
    """What the model proposes, in whatever form it came; nothing where nothing can be read."""
    if reply.output is not None:
        return reply.output, Reading.STRUCTURED if len(reply.texts) == 1 else Reading.REPAIRED
    nothing = ModelReply(answer="", claims=[])
    if reply.is_withheld:
        return nothing, Reading.WITHHELD
    for text in reversed(reply.texts):
        if (read := read_tolerantly(text)) is not None:
            return read, Reading.TOLERANT
    return nothing, Reading.UNREADABLE


def _claims(reply: ModelReply, given: SourcesBlock) -> tuple[DraftClaim, ...]:
    """At most MAX_CLAIMS different ones; a text or quote no claim could have is left out."""
    if reply.answer.strip() == REFUSAL:
        return ()
    claims = (
        DraftClaim(
            text,
            tuple(
                DraftCitation(given.sources[citation.source].chunk_id, citation.quote)
                for citation in claim.citations[:MAX_CITATIONS]
                if citation.source in given.sources and len(citation.quote) <= MAX_QUOTE_CHARS
            ),
        )
        for claim in reply.claims
        if not is_insufficient(claim.text[:MAX_CLAIM_CHARS]) and (text := claim_text(claim.text))
    )
    return tuple(islice(dict.fromkeys(claims), MAX_CLAIMS))


def _n_hallucinated(reply: ModelReply, given: SourcesBlock) -> int:
    return sum(citation.source not in given.sources for claim in reply.claims for citation in claim.citations)
