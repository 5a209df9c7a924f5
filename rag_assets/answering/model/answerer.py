"""Answers by a model behind an API: its reply becomes a draft, whose claims `verify.verification`
checks.

Every sentence, row and caption of a source has an id in the prompt, and a claim cites ids.
Requests and repairs of faulty replies are in `hosted.structured`, prompts are files beside this
module. No SDK is loaded before the first draft.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from rag_assets.answering.drafts import (
    FURTHER,
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
    ReplyClaim,
    claim_text,
    is_in_language_of,
    is_insufficient,
    missing_parts,
)
from rag_assets.core.domain import Context, StatementKind
from rag_assets.core.errors import ContextTooLong, UnreadableReply
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import AnsweringSettings
from rag_assets.core.text.terms import terms_of
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections, LazyModel
from rag_assets.hosted.prompts import load_prompt, neutral, sources_block

if TYPE_CHECKING:
    from rag_assets.hosted.structured import StructuredReply

HOSTED_VERSION = 6
"""Raise it when the code makes another prompt of the same sources, or another draft of the same
reply."""
MAX_CLAIMS, MAX_CITATIONS, MAX_CLAIM_CHARS = 24, 20, 1_000
"""Limits of what is verified of a reply; no real answer has more."""
_FURTHER = FURTHER + "{n} further statements of the reply."
_TOO_LONG = f"it has more than {MAX_CLAIM_CHARS:,} characters"
_MOST_HALVINGS, _MOST_TOLD = 2, 5
_ID = re.compile(r"\d{1,3}\.\d{1,4}")
_LIKE_AN_ID = re.compile(r"\[(?=\d{1,3}\.\d)")
_FEW_LETTERS = 12
"""Fewer letters beside an id are no copied words: "source 3.12"."""
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
_UNKNOWN = "The sources have no {ids}. Cite ids as they stand in front of sentences and rows."
_UNCITED = "Every claim needs at least one id in `cites`, or is left out."
_OTHER_LANGUAGE = "Write the claims in the language of the question."
_Reply: TypeAlias = "StructuredReply[ModelReply] | StructuredReply[MendedReply]"
_Asks = Callable[[str, None, Callable[[ModelReply], str]], _Reply]


@dataclass(frozen=True)
class NumberedSources:
    """The sources of a prompt, with ids in front of their sentences and rows."""

    text: str
    places: Mapping[str, DraftCitation]
    """By id, as "3.12": the twelfth of the third source."""


def numbered(contexts: Sequence[Context]) -> NumberedSources:
    """The contexts as a model reads them. What looks like an id in their text does not look like
    one any more."""
    places: dict[str, DraftCitation] = {}
    shown: list[Context] = []
    for source, context in enumerate(contexts, start=1):
        text, at = "", 0
        cited = (unit for unit in context.units if unit.kind is not StatementKind.HEADING)
        for nth, unit in enumerate(cited, start=1):
            quote = context.text[unit.start : unit.end]
            places[f"{source}.{nth}"] = DraftCitation(context.chunk_id, quote, unit.chunk_start)
            text += f"{_without_ids(context.text[at : unit.start])}[{source}.{nth}] {_without_ids(quote)}"
            at = unit.end
        shown.append(replace(context, text=text + _without_ids(context.text[at:])))
    return NumberedSources(sources_block(shown), places)


def _without_ids(text: str) -> str:
    return _LIKE_AN_ID.sub("[ ", text)


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
        return replace(context.words(), units=context.units)

    def within(self, background: Background) -> "HostedAnswerer":
        """The same model with the outline of the text that the answer belongs to in its prompt."""
        answerer = copy(self)
        answerer._background = background
        return answerer

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer:
        """A refusal without asking the model if there are no contexts.

        Raises what `Connection.guarded` raises, also when that interrupted the repair of a faulty
        reply, and UnreadableReply for a reply that is neither an answer nor a refusal, was cut, or
        is in another language than the question.
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
        cited = ", ".join(map(neutral, asked_to_mend.cited))
        parts = json.dumps(list(map(neutral, asked_to_mend.missing)), ensure_ascii=False)

        def prompt(given: NumberedSources) -> str:
            statements = [
                {
                    "number": number,
                    "statement": neutral(one.claim.text),
                    "cites": [
                        id_ for id_, place in given.places.items() if place in one.claim.citations
                    ],
                    "wrong": one.why,
                }
                for number, one in enumerate(asked_to_mend.objections, start=1)
            ]
            return _MEND_QUESTION.filled(
                sources=given.text,
                question=question,
                statements=json.dumps(statements, ensure_ascii=False),
                papers=_CITED_ALREADY.format(papers=cited) if cited else "",
                missing=_NOT_ANSWERED.format(parts=parts) if asked_to_mend.missing else "",
            )

        return self._drafted(question, contexts, self._mender.ask, prompt)

    def _drafted(
        self,
        question: str,
        contexts: Sequence[Context],
        ask: _Asks,
        prompt: Callable[[NumberedSources], str],
        n_halvings_left: int = _MOST_HALVINGS,
    ) -> DraftAnswer:
        """The draft of the contexts. Where they are too long, the better half is tried."""
        given = numbered(contexts)
        try:
            reply = ask(prompt(given), None, lambda output: fault_of(output, given, question))
        except ContextTooLong:
            if n_halvings_left == 0 or len(contexts) == 1:
                raise
            n_read = (len(contexts) + 1) // 2
            draft = self._drafted(question, contexts[:n_read], ask, prompt, n_halvings_left - 1)
            return replace(draft, n_contexts_read=draft.n_contexts_read or n_read)
        output = self._output(reply)
        reading = Reading.REPAIRED if len(reply.texts) > 1 else Reading.STRUCTURED
        if not is_in_language_of(question, output.claims):
            raise UnreadableReply.of(self._model.model_id, "other language")
        claims, n_further = _claims(output, given, question)
        return DraftAnswer(
            claims=claims,
            unanswered=(_FURTHER.format(n=n_further),) if n_further else (),
            missing=missing_parts(output, question),
            usage=reply.usage,
            reading=reading,
            n_hallucinated=sum(len(_unknown(claim, given)) for claim in output.claims),
            seconds=reply.seconds,
            raw_reply="" if reading is Reading.STRUCTURED else "\n\n".join(reply.texts),
        )

    def _prompt(self, question: str, given: NumberedSources) -> str:
        if self._background is None:
            return _QUESTION.filled(sources=given.text, question=question)
        background = f"{self._background.outline}\n\n{self._background.part}"
        return _QUESTION_WITHIN.filled(sources=given.text, question=question, background=background)

    def _output(self, reply: _Reply) -> ModelReply:
        """Raises for an unreadable reply, which is not a refusal."""
        if reply.output is not None:
            return reply.output
        if reply.fault is not None:
            raise reply.fault
        raise UnreadableReply.of(
            self._model.model_id, reply.ended, reply.texts[-1] if reply.texts else ""
        )


def fault_of(reply: ModelReply, given: NumberedSources, question: str) -> str:
    """What is wrong with a reply, for the model to repair it; empty where nothing is."""
    claims = [claim for claim in reply.claims if not is_insufficient(claim.text)]
    unknown = dict.fromkeys(id_ for claim in claims for id_ in _unknown(claim, given))
    if unknown:
        return _UNKNOWN.format(ids=", ".join([*unknown][:_MOST_TOLD]))
    if not all(claim.cites for claim in claims):
        return _UNCITED
    return "" if is_in_language_of(question, claims) else _OTHER_LANGUAGE


def _claims(
    reply: ModelReply, given: NumberedSources, question: str
) -> tuple[tuple[DraftClaim, ...], int]:
    """The claims of a reply, each once; where they are too many, those with most words of the
    question. And how many others there are."""
    claims = dict.fromkeys(
        _claim(claim, text, given)
        for claim in reply.claims
        if not is_insufficient(claim.text) and (text := claim_text(claim.text))
    )
    asked = terms_of(question)
    best = sorted(claims, key=lambda one: -len(asked & terms_of(one.text)))[:MAX_CLAIMS]
    return tuple(one for one in claims if one in best), len(claims) - len(best)


def _claim(claim: ReplyClaim, text: str, given: NumberedSources) -> DraftClaim:
    mends = max(0, getattr(claim, "replaces", 0))
    if len(text) > MAX_CLAIM_CHARS:
        return DraftClaim(f"{text[:MAX_CLAIM_CHARS]} …", (), mends=mends, fault=_TOO_LONG)
    cited = chain.from_iterable(_citations(cite, given) for cite in claim.cites[:MAX_CITATIONS])
    return DraftClaim(text, tuple(dict.fromkeys(cited)), mends=mends)


def _citations(cite: str, given: NumberedSources) -> list[DraftCitation]:
    """The places of ids, or words that were copied in their place."""
    if _is_copied(cite):
        return [DraftCitation("", cite)]
    return [given.places[id_] for id_ in _ID.findall(cite) if id_ in given.places]


def _unknown(claim: ReplyClaim, given: NumberedSources) -> list[str]:
    """What a claim cites that is neither an id of the sources nor copied words."""
    return [
        id_
        for cite in claim.cites
        if not _is_copied(cite)
        for id_ in _ID.findall(cite) or [cite]
        if id_ not in given.places
    ]


def _is_copied(cite: str) -> bool:
    return sum(map(str.isalpha, cite)) >= _FEW_LETTERS
