"""Plans thorough answers, by rules or a model: the parts of a question, and other words for an
unanswered part.

A planner only decides what to search for. Verified claims decide whether a part is answered, never
a model.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Protocol

from pydantic import BaseModel, Field

from rag_assets.core.domain import Context, Usage
from rag_assets.core.errors import RequestRejected
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import KeptFile, kept_file
from rag_assets.core.settings import Settings, ThoroughSettings
from rag_assets.core.text.terms import QUESTION_WORDS
from rag_assets.hosted.access import PROVIDERS, ModelName
from rag_assets.hosted.connections import Connections, KeptReplies, LazyModel
from rag_assets.hosted.prompts import load_prompt, sources_block
from rag_assets.questions import read

MAX_QUERIES = 2
"""Other wordings of an open part in each iteration."""
PLANNER_VERSION = 11
"""Raise it when the same replies, or the rules for the same question, give other plans."""
_STEM_CHARS = 5
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


@dataclass(frozen=True)
class PlannedPart:
    """One thing that a question asks."""

    question: str
    enough: str = ""
    """What would count as an answer, in a model's words; empty without a model. Used for searching
    only."""

    @property
    def described(self) -> str:
        """Text for the record of the steps."""
        return f"{self.question} ({self.enough})" if self.enough else self.question


@dataclass(frozen=True)
class Plan:
    """The parts of a question, in order."""

    parts: tuple[PlannedPart, ...]
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class OtherWords:
    """What else to search for."""

    queries: tuple[str, ...]
    usage: Usage = field(default_factory=Usage)


class Planner(Protocol):
    """Plans the steps of an answer."""

    @property
    def identity(self) -> str:
        """Names the model and its prompts, or the rules; part of the fingerprints of answers."""
        ...

    def plan(self, question: str) -> Plan:
        """At most `max_parts` parts; the question itself if it asks one thing."""
        ...

    def other_words(
        self, part: PlannedPart, read: Sequence[Context], searched: Sequence[str], /
    ) -> OtherWords:
        """Up to `MAX_QUERIES` alternative queries. read: contexts already retrieved without
        success, best first; searched: queries already tried."""
        ...


class RulePlanner:
    """Plans without a model: parts by conjunctions, other words by leaving out what every question
    has."""

    def __init__(self, settings: ThoroughSettings) -> None:
        self._settings = settings

    @property
    def identity(self) -> str:
        return f"rules-v{PLANNER_VERSION}"

    def plan(self, question: str) -> Plan:
        first, *others = read(question).parts
        before = first.text.rstrip(" ?")
        # a part that means nothing without the rest is joined to the first
        texts = [first.text] + [
            f"{before}, and {part.text}" if part.searched == question else part.searched
            for part in others
        ]
        parts = list(dict.fromkeys(f"{text[:1].upper()}{text[1:]}" for text in texts))
        fits = len(parts) <= self._settings.max_parts
        return Plan(tuple(map(PlannedPart, parts if fits else [question])))

    def other_words(
        self, part: PlannedPart, _read: Sequence[Context], searched: Sequence[str], /
    ) -> OtherWords:
        """All words that carry meaning, then the longer half of them: long words are rarer."""
        words = [
            word for word in _WORD.findall(part.question) if word.lower() not in QUESTION_WORDS
        ]
        longest = sorted(words, key=len, reverse=True)[: max(2, len(words) // 2)]
        queries = (" ".join(words), " ".join(word for word in words if word in longest))
        different = other_than([part.question, *searched], queries)
        return OtherWords(different[:MAX_QUERIES])


def is_about(part: str, question: str) -> bool:
    """Whether a part shares the beginning of a word that carries meaning with the question."""
    of_part, of_question = (
        {word[:_STEM_CHARS] for word in _WORD.findall(text.lower()) if word not in QUESTION_WORDS}
        for text in (part, question)
    )
    return not of_part.isdisjoint(of_question)


def other_than(searched: Sequence[str], queries: Sequence[str]) -> tuple[str, ...]:
    """The queries that are not empty and were not tried before, each once."""
    return tuple(query for query in dict.fromkeys(queries) if query and query not in searched)


MAX_PART_CHARS, MAX_ENOUGH_CHARS, MAX_QUERY_CHARS = 500, 300, 500
MAX_CONTEXT_TOKENS = 2_000
"""Limit of the contexts that a model sees when it is asked for other words."""
_MAX_OUTPUT_TOKENS = 2_048
_PACKAGE = "rag_assets.answering.model"
_PLAN = load_prompt(_PACKAGE, "plan", frozenset({"max_parts"}))
_OTHER_WORDS = load_prompt(_PACKAGE, "other_words", frozenset({"max_queries"}))


class PartReply(BaseModel):
    """One thing that the question asks."""

    question: str = Field(description="Can be understood alone.")
    enough: str = Field(description="What an answer to it must hold, in a few words.")


class PlanReply(BaseModel):
    """The parts of a question."""

    parts: list[PartReply]


class OtherWordsReply(BaseModel):
    """What else to search for."""

    queries: list[str]


class ModelPlanner:
    """Plans by the model that writes answers. Safe to use from several threads."""

    def __init__(
        self, name: ModelName, connections: Connections, settings: ThoroughSettings, kept: KeptFile
    ) -> None:
        """kept: keeps the replies. Raises MissingKey, InvalidSettings as `require_access`; nothing
        is opened yet."""
        self._settings = settings
        self._rules = RulePlanner(settings)
        plans = LazyModel(
            name,
            connections,
            PlanReply,
            instructions=_PLAN.filled(max_parts=settings.max_parts),
            max_output_tokens=_MAX_OUTPUT_TOKENS,
        )
        words = LazyModel(
            name,
            connections,
            OtherWordsReply,
            instructions=_OTHER_WORDS.filled(max_queries=MAX_QUERIES),
            max_output_tokens=_MAX_OUTPUT_TOKENS,
        )
        kept_plans = kept.replies("plans/plans", PlanReply)
        kept_words = kept.replies("plans/other_words", OtherWordsReply)
        self._plans = KeptReplies(plans, kept_plans, PlanReply(parts=[]))
        self._words = KeptReplies(words, kept_words, OtherWordsReply(queries=[]))
        prompts = fingerprint(plans.instructions, words.instructions, PLANNER_VERSION)
        self.identity = f"{plans.model_id} plan-{prompts[:8]}"
        """The model, readably, and a hash of the prompts."""

    def plan(self, question: str) -> Plan:
        """Plans by rules if the request is rejected, or no part of the reply is about the question.
        Raises the other errors of `Connection.guarded`.
        """
        if self._settings.max_parts == 1:
            return Plan((PlannedPart(question),))
        try:
            reply, usage = self._plans.to(json.dumps(question, ensure_ascii=False))
        except RequestRejected:
            return self._rules.plan(question)
        parts = {
            text: PlannedPart(text, _line(one.enough, MAX_ENOUGH_CHARS))
            for one in reply.parts
            if (text := _line(one.question, MAX_PART_CHARS)) and is_about(text, question)
        }
        if not parts:
            return replace(self._rules.plan(question), usage=usage)
        if len(parts) == 1:  # one thing is asked: use the words of the question
            (only,) = parts.values()
            return Plan((PlannedPart(question, only.enough),), usage)
        return Plan(tuple(parts.values())[: self._settings.max_parts], usage)

    def other_words(
        self, part: PlannedPart, read: Sequence[Context], searched: Sequence[str], /
    ) -> OtherWords:
        """Finds other words by rules if the request is rejected or the reply has nothing new.
        Raises as `plan`."""
        asked = {"question": part.question, "enough": part.enough, "searched": list(searched)}
        n_tokens = accumulate(context.n_tokens for context in read)
        shown = [
            context for context, n in zip(read, n_tokens, strict=True) if n <= MAX_CONTEXT_TOKENS
        ]
        prompt = f"{sources_block(shown)}\n\n{json.dumps(asked, ensure_ascii=False)}"
        try:
            reply, usage = self._words.to(prompt)
        except RequestRejected:
            return self._rules.other_words(part, (), searched)
        queries = [_line(query, MAX_QUERY_CHARS) for query in reply.queries]
        different = other_than([part.question, *searched], queries)
        if not different:
            return replace(self._rules.other_words(part, (), searched), usage=usage)
        return OtherWords(different[:MAX_QUERIES], usage)


def open_planner(settings: Settings, connections: Connections) -> Planner:
    """The planner that uses the model of `answering.model`, or rules without one. Raises as
    `ModelPlanner`."""
    wanted = settings.answering.thorough
    if settings.answering.model.partition(":")[0] not in PROVIDERS:
        return RulePlanner(wanted)
    name = ModelName.of_answers(settings.answering.model)
    return ModelPlanner(name, connections, wanted, kept_file(settings))


def _line(text: str, max_chars: int) -> str:
    looked_at = text[: 2 * max_chars]  # a reply may be very long
    line = " ".join("".join(char if char.isprintable() else " " for char in looked_at).split())
    return line if len(line) <= max_chars else line[:max_chars].rpartition(" ")[0]
