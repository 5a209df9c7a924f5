"""Answers by a model behind an API. The model writes a proposal; nothing it says is believed here.

How a model is asked and a malformed reply repaired is in `hosted.structured`, the prompts are files beside this
module, and what becomes of a proposal is decided in `citations.verification`. No SDK is loaded before the first draft.
"""

import json
from collections.abc import Callable, Sequence
from copy import copy
from itertools import islice
from typing import TYPE_CHECKING

from rag_assets.answering.drafts import Background, DraftAnswer, DraftCitation, DraftClaim, Reading, Unmet
from rag_assets.answering.model.replies.parsing import MendedReply, ModelReply, ReplyClaim, read_tolerantly
from rag_assets.answering.model.replies.texts import claim_text, is_insufficient, missing_notes
from rag_assets.core.domain import Context
from rag_assets.core.errors import ContextTooLong, UnreadableReply
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import AnsweringSettings
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections
from rag_assets.hosted.fences import SourcesBlock, neutral, sources_block
from rag_assets.hosted.lazy_model import LazyModel
from rag_assets.hosted.prompts import load_prompt

if TYPE_CHECKING:
    from rag_assets.hosted.structured import StructuredReply

HOSTED_VERSION = 3
"""Raise it when the code makes another prompt of the same sources, or another draft of the same reply."""
MAX_CLAIMS, MAX_CITATIONS, MAX_QUOTE_CHARS = 50, 20, 2_000
"""No answer has more; a reply that has would only cost time to verify."""
_MOST_HALVINGS = 2
_PACKAGE = "rag_assets.answering.model"
_INSTRUCTIONS = load_prompt(_PACKAGE, "answer", frozenset())
_MEND = load_prompt(_PACKAGE, "mend", frozenset())
_QUESTION = load_prompt(_PACKAGE, "question", frozenset({"sources", "question"}))
_QUESTION_WITHIN = load_prompt(_PACKAGE, "question_within", frozenset({"sources", "question", "background"}))
_MEND_QUESTION = load_prompt(_PACKAGE, "mend_question", frozenset({"sources", "question", "statements", "papers"}))
_CITED_ALREADY = "Papers that are cited already: {papers}"
_Asks = Callable[[str], "StructuredReply[ModelReply] | StructuredReply[MendedReply]"]
_Prompts = Callable[[SourcesBlock], str]


class HostedAnswerer:
    """Asks one model, each question once, and once more to mend what did not hold. Safe to use from several threads."""

    def __init__(self, name: ModelName, connections: Connections, settings: AnsweringSettings) -> None:
        """Raises MissingKey, InvalidSettings as `require_access`; nothing is opened yet."""
        tokens = settings.max_output_tokens
        self._model = LazyModel(
            name, connections, ModelReply, instructions=_INSTRUCTIONS.text, max_output_tokens=tokens
        )
        self._mender = LazyModel(
            name, connections, MendedReply, instructions=_INSTRUCTIONS.text + _MEND.text, max_output_tokens=tokens
        )
        self._background: Background | None = None

    @property
    def identity(self) -> str:
        """The model, readably, and a hash of the prompts, the reply's schema and the code between them."""
        within = (_QUESTION_WITHIN.text, self._background.part) if self._background else ()
        prompts = (_INSTRUCTIONS.text, _MEND.text, _QUESTION.text, _MEND_QUESTION.text)
        schemas = (ModelReply.model_json_schema(), MendedReply.model_json_schema())
        return f"{self._model.model_id} prompt-{fingerprint(prompts, schemas, HOSTED_VERSION, *within)[:8]}"

    def read(self, context: Context) -> Context:
        return context.words()

    def within(self, background: Background) -> "HostedAnswerer":
        """The same model, which is shown the outline of the text that the answer will stand in."""
        answerer = copy(self)
        answerer._background = background
        return answerer

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer:
        """Without contexts, a refusal for which no model is asked.

        Raises what `Connection.guarded` raises, also when that kept a malformed reply from being mended, and
        UnreadableReply for a reply that is neither an answer nor a refusal.
        """
        if not contexts:
            return DraftAnswer()
        return self._drafted(question, contexts, self._model.ask, lambda given: self._prompt(question, given))

    def mended(self, question: str, contexts: Sequence[Context], unmet: Unmet) -> DraftAnswer:
        """Raises as `draft`."""
        statements = [
            {
                "number": number,
                "statement": neutral(one.claim.text),
                "quotes": [neutral(citation.quote) for citation in one.claim.citations],
                "wrong": one.why,
            }
            for number, one in enumerate(unmet.objections, start=1)
        ]
        papers = _CITED_ALREADY.format(papers=", ".join(map(neutral, unmet.cited))) if unmet.cited else ""
        told = json.dumps(statements, ensure_ascii=False)
        return self._drafted(
            question,
            contexts,
            self._mender.ask,
            lambda given: _MEND_QUESTION.filled(sources=given.text, question=question, statements=told, papers=papers),
        )

    def _drafted(self, question: str, contexts: Sequence[Context], ask: _Asks, prompt: _Prompts) -> DraftAnswer:
        n_read, given, reply = self._asked(contexts, ask, prompt, _MOST_HALVINGS)
        output, reading = self._read(reply)
        return DraftAnswer(
            claims=_claims(output, given),
            unanswered=missing_notes(output, question),
            usage=reply.usage,
            reading=reading,
            n_hallucinated=_n_hallucinated(output, given),
            n_contexts_read=n_read if n_read < len(contexts) else None,
            seconds=reply.seconds,
            raw_reply="" if reading is Reading.STRUCTURED else "\n\n".join(reply.texts),
        )

    def _asked(
        self, contexts: Sequence[Context], ask: _Asks, prompt: _Prompts, n_halvings_left: int
    ) -> "tuple[int, SourcesBlock, StructuredReply[ModelReply] | StructuredReply[MendedReply]]":
        """How many contexts were read, and the reply.

        They come best first: when they are more than the model reads, the better half is tried.
        """
        given = sources_block(contexts)
        try:
            return len(contexts), given, ask(prompt(given))
        except ContextTooLong:
            if n_halvings_left == 0 or len(contexts) == 1:
                raise
            return self._asked(contexts[: (len(contexts) + 1) // 2], ask, prompt, n_halvings_left - 1)

    def _prompt(self, question: str, given: SourcesBlock) -> str:
        if self._background is None:
            return _QUESTION.filled(sources=given.text, question=question)
        background = f"{self._background.outline}\n\n{self._background.part}"
        return _QUESTION_WITHIN.filled(sources=given.text, question=question, background=background)

    def _read(self, reply: "StructuredReply[ModelReply] | StructuredReply[MendedReply]") -> tuple[ModelReply, Reading]:
        """What the reply says, and how it was understood. A reply that says nothing is no refusal."""
        if reply.output is not None:
            return reply.output, Reading.REPAIRED if len(reply.texts) > 1 else Reading.STRUCTURED
        if reply.is_withheld:
            raise UnreadableReply.withheld(self._model.model_id)
        for text in reversed(reply.texts):
            if (read := read_tolerantly(text)) is not None:
                return read, Reading.TOLERANT
        if reply.fault is not None:
            raise reply.fault
        raise UnreadableReply.of(self._model.model_id, reply.texts[-1] if reply.texts else "")


def _claims(reply: ModelReply, given: SourcesBlock) -> tuple[DraftClaim, ...]:
    """At most MAX_CLAIMS different ones; a text or quote no claim could have is left out."""
    claims = (
        DraftClaim(
            text,
            tuple(
                DraftCitation(given.sources[citation.source].chunk_id, citation.quote)
                for citation in claim.citations[:MAX_CITATIONS]
                if citation.source in given.sources and len(citation.quote) <= MAX_QUOTE_CHARS
            ),
            mends=_mends(claim),
        )
        for claim in reply.claims
        if not is_insufficient(claim.text) and (text := claim_text(claim.text))
    )
    return tuple(islice(dict.fromkeys(claims), MAX_CLAIMS))


def _mends(claim: ReplyClaim) -> int:
    return max(0, getattr(claim, "replaces", 0))


def _n_hallucinated(reply: ModelReply, given: SourcesBlock) -> int:
    return sum(citation.source not in given.sources for claim in reply.claims for citation in claim.citations)
