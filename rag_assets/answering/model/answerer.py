"""Answers by a model behind an API: its reply becomes a draft, whose claims `verify.verification`
checks.

Requests and repairs of malformed replies are in `hosted.structured`, prompts are files beside this
module. No SDK is loaded before the first draft.
"""

import json
from collections.abc import Callable, Sequence
from copy import copy
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from rag_assets.answering.drafts import (
    Background,
    DraftAnswer,
    DraftCitation,
    DraftClaim,
    MendRequest,
    Reading,
)
from rag_assets.answering.model.replies import (
    MendedReply,
    ModelReply,
    claim_text,
    is_insufficient,
    missing_parts,
    read_tolerantly,
)
from rag_assets.core.domain import Context
from rag_assets.core.errors import ContextTooLong, UnreadableReply
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import AnsweringSettings
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections, LazyModel
from rag_assets.hosted.prompts import SourcesBlock, load_prompt, neutral, sources_block

if TYPE_CHECKING:
    from rag_assets.hosted.structured import StructuredReply

HOSTED_VERSION = 4
"""Raise it when the code makes another prompt of the same sources, or another draft of the same
reply."""
MAX_CLAIMS, MAX_CITATIONS, MAX_QUOTE_CHARS = 50, 20, 2_000
"""Limits of what is verified of a reply; no real answer has more."""
_MOST_HALVINGS = 2
_PACKAGE = "rag_assets.answering.model"
_INSTRUCTIONS = load_prompt(_PACKAGE, "answer", frozenset())
_MEND = load_prompt(_PACKAGE, "mend", frozenset())
_QUESTION = load_prompt(_PACKAGE, "question", frozenset({"sources", "question"}))
_QUESTION_WITHIN = load_prompt(
    _PACKAGE, "question_within", frozenset({"sources", "question", "background"})
)
_MEND_QUESTION = load_prompt(
    _PACKAGE, "mend_question", frozenset({"sources", "question", "statements", "papers", "missing"})
)
_CITED_ALREADY = "Papers that are cited already: {papers}"
_NOT_ANSWERED = "Parts that are not answered yet: {parts}"
_Reply: TypeAlias = "StructuredReply[ModelReply] | StructuredReply[MendedReply]"
_Asks = Callable[[str], _Reply]
_Prompts = Callable[[SourcesBlock], str]


class HostedAnswerer:
    """Asks one model once per question, and again to mend claims that do not hold. Safe to use from
    several threads."""

    def __init__(
        self, name: ModelName, connections: Connections, settings: AnsweringSettings
    ) -> None:
        """Raises MissingKey, InvalidSettings as `require_access`; nothing is opened yet."""
        tokens = settings.max_output_tokens
        self._model = LazyModel(
            name, connections, ModelReply, instructions=_INSTRUCTIONS.text, max_output_tokens=tokens
        )
        self._mender = LazyModel(
            name,
            connections,
            MendedReply,
            instructions=_INSTRUCTIONS.text + _MEND.text,
            max_output_tokens=tokens,
        )
        self._background: Background | None = None

    @property
    def identity(self) -> str:
        """The model, readably, and a hash of the prompts, the reply's schema and the code between
        them."""
        within = (_QUESTION_WITHIN.text, self._background.part) if self._background else ()
        prompts = (_INSTRUCTIONS.text, _MEND.text, _QUESTION.text, _MEND_QUESTION.text)
        schemas = (ModelReply.model_json_schema(), MendedReply.model_json_schema())
        return f"{self._model.model_id} prompt-{fingerprint(prompts, schemas, HOSTED_VERSION, *within)[:8]}"

    def read(self, context: Context) -> Context:
        return context.words()

    def within(self, background: Background) -> "HostedAnswerer":
        """The same model with the outline of the text that the answer belongs to in its prompt."""
        answerer = copy(self)
        answerer._background = background
        return answerer

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer:
        """A refusal without asking the model if there are no contexts.

        Raises what `Connection.guarded` raises, also when that interrupted the repair of an
        unreadable reply, and UnreadableReply for a reply that is neither an answer nor a refusal.
        """
        if not contexts:
            return DraftAnswer()
        return self._drafted(
            question, contexts, self._model.ask, lambda given: self._prompt(question, given)
        )

    def mended(
        self, question: str, contexts: Sequence[Context], asked_to_mend: MendRequest
    ) -> DraftAnswer:
        """Raises as `draft`."""
        statements = [
            {
                "number": number,
                "statement": neutral(one.claim.text),
                "quotes": [neutral(citation.quote) for citation in one.claim.citations],
                "wrong": one.why,
            }
            for number, one in enumerate(asked_to_mend.objections, start=1)
        ]
        papers = (
            _CITED_ALREADY.format(papers=", ".join(map(neutral, asked_to_mend.cited)))
            if asked_to_mend.cited
            else ""
        )
        parts = json.dumps(list(map(neutral, asked_to_mend.missing)), ensure_ascii=False)
        missing = _NOT_ANSWERED.format(parts=parts) if asked_to_mend.missing else ""
        written = json.dumps(statements, ensure_ascii=False)
        return self._drafted(
            question,
            contexts,
            self._mender.ask,
            lambda given: _MEND_QUESTION.filled(
                sources=given.text,
                question=question,
                statements=written,
                papers=papers,
                missing=missing,
            ),
        )

    def _drafted(
        self, question: str, contexts: Sequence[Context], ask: _Asks, prompt: _Prompts
    ) -> DraftAnswer:
        n_read, given, reply = self._asked(contexts, ask, prompt, _MOST_HALVINGS)
        output, reading = self._read(reply)
        return DraftAnswer(
            claims=_claims(output, given),
            missing=missing_parts(output, question),
            usage=reply.usage,
            reading=reading,
            n_hallucinated=sum(
                one.source not in given.sources
                for claim in output.claims
                for one in claim.citations
            ),
            n_contexts_read=n_read if n_read < len(contexts) else None,
            seconds=reply.seconds,
            raw_reply="" if reading is Reading.STRUCTURED else "\n\n".join(reply.texts),
        )

    def _asked(
        self, contexts: Sequence[Context], ask: _Asks, prompt: _Prompts, n_halvings_left: int
    ) -> tuple[int, SourcesBlock, _Reply]:
        """How many contexts were read, their block, the reply. Where they are too long, the better
        half is tried."""
        given = sources_block(contexts)
        try:
            return len(contexts), given, ask(prompt(given))
        except ContextTooLong:
            if n_halvings_left == 0 or len(contexts) == 1:
                raise
            return self._asked(
                contexts[: (len(contexts) + 1) // 2], ask, prompt, n_halvings_left - 1
            )

    def _prompt(self, question: str, given: SourcesBlock) -> str:
        if self._background is None:
            return _QUESTION.filled(sources=given.text, question=question)
        background = f"{self._background.outline}\n\n{self._background.part}"
        return _QUESTION_WITHIN.filled(sources=given.text, question=question, background=background)

    def _read(self, reply: _Reply) -> tuple[ModelReply, Reading]:
        """The reply, and how it was understood. Raises for an unreadable reply, which is not a
        refusal."""
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
    claims = (
        DraftClaim(
            text,
            tuple(
                DraftCitation(given.sources[citation.source].chunk_id, citation.quote)
                for citation in claim.citations[:MAX_CITATIONS]
                if citation.source in given.sources and len(citation.quote) <= MAX_QUOTE_CHARS
            ),
            mends=max(0, getattr(claim, "replaces", 0)),
        )
        for claim in reply.claims
        if not is_insufficient(claim.text) and (text := claim_text(claim.text))
    )
    return tuple(islice(dict.fromkeys(claims), MAX_CLAIMS))
