"""The queries that are searched for a question: its parts, and if the settings ask for them, other
wordings of each part.

If several parts find a passage, its best score counts; the hits of the wordings of one part are
fused (`fusion`). A model that writes queries costs a request and may fail: then the question is
searched as it is, with a warning. The model's texts are only searched for. They are never quoted or
shown to an answerer.
"""

import json
import logging
from dataclasses import dataclass, field

from pydantic import BaseModel, Field

from rag_assets.core.domain import Query, QueryOrigin, Usage, summed
from rag_assets.core.errors import BudgetExhausted, InvalidSettings, ModelFault
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import KeptFile, kept_file
from rag_assets.core.settings import QuerySettings, Settings
from rag_assets.core.text.terms import terms_of
from rag_assets.hosted.access import PROVIDERS, ModelName, require_access
from rag_assets.hosted.budget import require_price
from rag_assets.hosted.connections import Connections, FaultPause, KeptReplies, LazyModel
from rag_assets.hosted.prompts import load_prompt
from rag_assets.questions import QuestionPart, ReadQuestion, has_words, read

WRITER_VERSION = 1
"""Raise it when the code makes other queries of the same replies."""
MAX_PARTS, MAX_QUERY_CHARS, MAX_PASSAGE_CHARS = 5, 500, 2_000
"""A longer reply is cut, since each query costs a search."""
_LEAST_OWN_TERMS = 2
"""Content words that a part which points back must have to be searched by its own words too: "how
was it chosen?" has only one."""
_MAX_OUTPUT_TOKENS = 2_048
_PACKAGE = "rag_assets.search.retrieval"
_PARTS = load_prompt(_PACKAGE, "parts", frozenset())
_WORDINGS = load_prompt(_PACKAGE, "wordings", frozenset({"wanted"}))
_VARIANTS = load_prompt(_PACKAGE, "variants", frozenset({"n_variants"}))
_PASSAGE = load_prompt(_PACKAGE, "passage", frozenset())


class Parts(BaseModel):
    """The questions inside a question."""

    questions: list[str] = Field(
        description="Each can be understood alone; empty if only one thing is asked."
    )


class Wordings(BaseModel):
    """Other texts to search for."""

    variants: list[str] = Field(description="The question in other words; empty if not wanted.")
    passage: str = Field(description="A passage that might answer it; empty if not wanted.")


class QueryWriter:
    """Asks a model for queries, and keeps its replies on disk. Safe to use from several threads."""

    def __init__(
        self,
        name: ModelName,
        connections: Connections,
        settings: QuerySettings,
        kept: KeptFile,
        *,
        timeout_s: float,
    ) -> None:
        """kept: the file that keeps the replies. timeout_s: how long to wait for a reply.

        Raises MissingKey and InvalidSettings as `require_access` does. No model is opened yet.
        """
        self._settings = settings
        of_parts = LazyModel(
            name,
            connections,
            Parts,
            instructions=_PARTS.filled(),
            max_output_tokens=_MAX_OUTPUT_TOKENS,
        )
        of_wordings = LazyModel(
            name,
            connections,
            Wordings,
            instructions=_instructions(settings),
            max_output_tokens=_MAX_OUTPUT_TOKENS,
        )
        version = fingerprint(_PARTS.text, _instructions(settings), WRITER_VERSION)[:8]
        self.identity = f"{of_parts.model_id} queries-{version}"
        """The model, readably, and a hash of the prompts."""
        kept_parts, kept_wordings = (
            kept.replies("queries/parts", Parts),
            kept.replies("queries/wordings", Wordings),
        )
        self._parts = KeptReplies(of_parts, kept_parts, Parts(questions=[]), timeout_s)
        self._wordings = KeptReplies(
            of_wordings, kept_wordings, Wordings(variants=[], passage=""), timeout_s
        )

    def parts(self, question: str) -> tuple[list[str], Usage]:
        """The questions inside a question, at most MAX_PARTS, and what the request cost. Empty if
        only one thing is asked.

        A kept reply costs nothing. Raises what `Connection.guarded` raises.
        """
        reply, usage = self._parts.to(_quoted(question))
        parts = _different(reply.questions, question)[:MAX_PARTS]
        return (parts if len(parts) > 1 else []), usage

    def wordings(self, question: str) -> tuple[list[str], str, Usage]:
        """Other wordings of a question, a passage that might answer it, and what the request cost.

        There are at most as many wordings as the settings ask for. The passage is empty if the
        settings ask for none or the model wrote none. Raises what `parts` raises.
        """
        reply, usage = self._wordings.to(_quoted(question))
        variants = _different(reply.variants, question)[: self._settings.variants]
        passage = (
            _cleaned(reply.passage, MAX_PASSAGE_CHARS)
            if self._settings.hypothetical_passage
            else ""
        )
        return variants, passage, usage


def _quoted(question: str) -> str:
    """The question as a JSON string, which escapes quotation marks and line breaks."""
    return json.dumps(question, ensure_ascii=False)


def _instructions(settings: QuerySettings) -> str:
    """The prompt for wordings. It asks only for what the settings want: variants, a passage, or
    both."""
    wanted = []
    if settings.variants:
        wanted.append(_VARIANTS.filled(n_variants=settings.variants))
    if settings.hypothetical_passage:
        wanted.append(_PASSAGE.filled())
    return _WORDINGS.filled(wanted="".join(wanted).strip())


def _different(texts: list[str], question: str) -> list[str]:
    """The texts, cleaned, without empty ones, repetitions and the question itself."""
    seen = {"", question.casefold()}
    different = []
    for text in (_cleaned(one, MAX_QUERY_CHARS) for one in texts):
        if text.casefold() not in seen:
            different.append(text)
            seen.add(text.casefold())
    return different


def _cleaned(text: str, max_chars: int) -> str:
    """One line without control characters, cut at a word."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= max_chars else line[:max_chars].rpartition(" ")[0]


logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class QueryPlan:
    """What is searched for."""

    parts: tuple[tuple[Query, ...], ...]
    """For each part of the question the part itself, then its other wordings."""
    usage: Usage = field(default_factory=Usage)
    """What the model's queries cost; replies that were kept cost nothing."""

    @property
    def queries(self) -> tuple[Query, ...]:
        """All of them, in order."""
        return tuple(query for part in self.parts for query in part)

    @property
    def question(self) -> str:
        """The words of all parts."""
        return " ".join(queries[0].text for queries in self.parts)


class QueryPlanner:
    """Makes the queries of a question; safe to use from several threads."""

    def __init__(
        self, settings: QuerySettings, writer: QueryWriter | None, read: ReadQuestion = read
    ) -> None:
        """writer: required if the settings ask a model for queries. read: reads what a question
        asks for."""
        self._settings = settings
        self._read = read
        self._writer = writer
        self._pause = FaultPause()
        self.identity = writer.identity if writer else ""
        """Identity of the model and its prompts; empty where no model is asked."""

    def plan(self, question: str) -> QueryPlan:
        """The queries of a question; none for a question without words.

        If the model cannot be asked, the queries are made by rules. After a fault that is not
        caused by this question, the model is not asked for a while.
        """
        if not has_words(question):
            return QueryPlan(())
        if self._writer is None:
            return self._without_model(question)
        try:
            return self._with_model(question, self._writer)
        except (ModelFault, BudgetExhausted) as fault:
            if self._pause.failed(fault):
                logger.warning(
                    "%r is searched as it is, without queries by a model: %s", question, fault
                )
            return self._without_model(question)

    def _without_model(self, question: str) -> QueryPlan:
        """The parts of a question by rules, one query each; the question alone if the settings do
        not split it."""
        if self._settings.decomposition == "none":
            parts = [question]
        else:
            parts = [text for part in self._read(question).parts for text in _texts_of(part)]
        return QueryPlan(tuple((query,) for query in _as_parts(parts, question, QueryOrigin.PART)))

    def _with_model(self, question: str, writer: QueryWriter) -> QueryPlan:
        self._pause.check()
        parts, usages = self._without_model(question).queries, []
        if self._settings.decomposition == "model":
            texts, usage = writer.parts(question)
            parts = _as_parts(texts or [question], question, QueryOrigin.MODEL_PART)
            usages.append(usage)
        planned = []
        for part in parts:
            others: list[Query] = []
            if self._settings.variants or self._settings.hypothetical_passage:
                variants, passage, usage = writer.wordings(part.text)
                others = [Query(text, QueryOrigin.VARIANT) for text in variants]
                others += [Query(passage, QueryOrigin.PASSAGE)] if passage else []
                usages.append(usage)
            planned.append((part, *others))
        return QueryPlan(tuple(planned), summed(usages))


def open_query_planner(
    settings: Settings, connections: Connections, read: ReadQuestion = read
) -> QueryPlanner:
    """The planner that the settings ask for; no model is opened yet. read: reads what a question
    asks for.

    Raises InvalidSettings for a model that does not exist, MissingKey.
    """
    wanted = settings.retrieval.queries
    if not wanted.asks_model:
        return QueryPlanner(wanted, None, read)
    timeout_s = settings.model_access.query_timeout_s
    return QueryPlanner(
        wanted,
        QueryWriter(
            _model(settings), connections, wanted, kept_file(settings), timeout_s=timeout_s
        ),
        read,
    )


def require_query_model(settings: Settings) -> None:
    """If the settings ask for queries by a model, check that this model exists and can be asked.

    To be called before any work is done. Raises InvalidSettings, MissingKey.
    """
    if settings.retrieval.queries.asks_model:
        name = _model(settings)
        access = require_access(name.provider)
        if settings.model_access.budget_usd is not None:
            require_price(name, access)


def _model(settings: Settings) -> ModelName:
    """The model that writes queries, which is the one that writes answers."""
    writes_answers = settings.answering.model
    if writes_answers.partition(":")[0] not in PROVIDERS:
        raise InvalidSettings(
            f"retrieval.queries asks for queries by a model, and answering.model = {writes_answers!r} is no model. Set "
            "answering.model to one behind an API, for example google:gemini-2.5-flash."
        )
    return ModelName.parse(writes_answers, setting="answering.model", instead="extractive")


def _texts_of(part: QuestionPart) -> list[str]:
    """The texts that are searched for a part of a question.

    For a part that points back, `searched` is the whole question. If the part has a subject of its
    own, its own words are searched too: the whole of "Which viruses cause colds, and does zinc
    shorten them?" finds passages on viruses only, and none on zinc.
    """
    has_subject = part.text != part.searched and len(terms_of(part.text)) >= _LEAST_OWN_TERMS
    return [part.searched, part.text] if has_subject else [part.searched]


def _as_parts(texts: list[str], question: str, origin: QueryOrigin) -> tuple[Query, ...]:
    """A query for each distinct text. A text that is the question itself has the origin QUESTION,
    any other has `origin`."""
    return tuple(
        Query(text, QueryOrigin.QUESTION if text == question else origin)
        for text in dict.fromkeys(texts)
    )
