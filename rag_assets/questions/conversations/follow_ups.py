"""Rewrites a follow-up question so that it can be understood without the conversation before it. A
model does this, or two rules.

A follow-up about papers that an answer cites ("that paper", "the second study", "who wrote it")
keeps its words, and only those papers are searched. A follow-up with few words of its own ("Why?",
"And for children?") is asked together with the question before it. The answer before it is not
added: its words would find the sentences again that were just quoted.
"""

import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field

from rag_assets.core.domain import EVERYTHING, Filter
from rag_assets.core.errors import BudgetExhausted, ModelFault
from rag_assets.core.settings import Settings
from rag_assets.core.text.names import words_written_as_names
from rag_assets.core.text.terms import terms_of
from rag_assets.hosted.access import PROVIDERS, ModelName
from rag_assets.hosted.connections import Connections, FaultPause, LazyModel
from rag_assets.hosted.prompts import load_prompt
from rag_assets.questions.files import Question

PAPERS = (
    "paper papers study studies article articles trial trials review reviews report reports publication publications "
    "preprint preprints survey surveys".split()
)
_PAPER = f"(?:{'|'.join(sorted(PAPERS, reverse=True))})"
_ONE_PAPER = f"(?:{'|'.join(sorted(word for word in PAPERS if not word.endswith('s')))})"
_NOT_DESCRIBED = (
    r"(?!\s+(?:by|of|on|about|from|titled|called|named|that|which|who|where|published|in\s+\d)\b)"
)
"""Not before words that say which paper is meant: "the study by Lund" is not one of the
conversation."""
_ONE = re.compile(rf"\b(?:this|that|the|the same)\s+{_ONE_PAPER}\b{_NOT_DESCRIBED}", re.IGNORECASE)
_AUTHORS = re.compile(rf"\b(?:the|its|their)\s+authors\b{_NOT_DESCRIBED}", re.IGNORECASE)
_WRITTEN = re.compile(
    r"\b(?:wrote|published|authored|conducted|authors?\s+of)\s+(?:it|this|that|them|these|those)\b"
    r"|\b(?:was|were)\s+(?:it|this|that|they|these|those)\s+(?:written|published|authored)\b",
    re.IGNORECASE,
)
"""Questions like "Who wrote it?", about the last papers that were cited."""
_SEVERAL = re.compile(
    rf"\b(?:these|those|both|the two|both of these)\s+{_PAPER}\b{_NOT_DESCRIBED}", re.IGNORECASE
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_NUMBERED = re.compile(
    rf"\bthe\s+({'|'.join(_ORDINALS)}|former|latter|last|other)\s+(?:one|{_PAPER})\b{_NOT_DESCRIBED}",
    re.IGNORECASE,
)
_NOTHING_ELSE = re.compile(
    r"(?:(?:and|but|or|what|how)\b\W*)*(?:about\s+)?(?:(?:in|for|of|with|according to)\s+)?",
    re.IGNORECASE,
)
MAX_OWN_WORDS = 2
"""A follow-up with more content words may be about something else, and is asked unchanged."""
_LEANS = re.compile(
    r"^\W*(?:and|but|or|so|what about|how about)\b"
    r"|\b(?:it|its|they|them|their|this|that|these|those|there|he|she|his|her|same)\b",
    re.IGNORECASE,
)
_ASKS_IN_GENERAL = re.compile(
    r"^\W*(?:what|how|why|who|which|when|where)\b(?!.*\bthe\b).*\b(?:is|are|do|does)\b",
    re.IGNORECASE,
)
"""A question in the present tense without "the". "Which doses were given?" is none: it asks about a
study that was mentioned before."""
_HAS_VERB = re.compile(
    r"^\W*who\b|\b(?:is|are|was|were|do|does|did|has|have|can|could|should)\b", re.IGNORECASE
)
_MAX_BEFORE_CHARS = 300
_PARTS_A_QUESTION = re.compile(r"[?,;:()]+")
"""Punctuation that would split the question into several parts."""
_REASON = "Asked together with the question before it, which stands in brackets."


@dataclass(frozen=True)
class Rewritten:
    """The question that is searched and answered in place of the user's."""

    question: str
    """Can be understood without the conversation; the question itself where nothing was
    rewritten."""
    is_rewritten: bool
    """The question was changed, or restricted to papers."""
    reason: str = ""
    """Why, as a sentence for the user; empty where nothing was rewritten."""
    paper_ids: tuple[str, ...] = ()
    """Papers that the question means ("that paper"). Only these are searched; empty for all."""

    @classmethod
    def as_it_stands(cls, question: str) -> "Rewritten":
        return cls(question, is_rewritten=False)


@dataclass(frozen=True)
class Turn:
    """A question and its answer."""

    question: str
    """The words of the user."""
    asked: Rewritten
    """The question that was searched and answered."""
    answer: Mapping[str, Any]
    """The row of qa.jsonl, as JSON values."""
    contexts: Sequence[Mapping[str, Any]] = ()
    """The contexts of the answer with chunk, place and band of each; empty in older turns."""
    dropped: Sequence[Mapping[str, Any]] = ()
    """Claims that failed verification: reason, message and count; empty in older turns."""
    at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    """When it was answered; ISO 8601 in UTC."""

    @property
    def cited_papers(self) -> tuple[str, ...]:
        """Distinct papers that the answer cites, in order of first citation."""
        return tuple(self.answer.get("sources_used") or ())

    @property
    def claims(self) -> tuple[str, ...]:
        """Texts of the answer's claims, in order."""
        return tuple(claim["text"] for claim in self.answer.get("claims") or ())


def about_papers(question: str, turns: Sequence[Turn]) -> Rewritten | None:
    """The question, restricted to the cited papers that it refers to.

    A question that only names the papers ("and in the other paper?") becomes the question before
    it. None if it refers to no paper. If it is not clear to which papers it refers, it is returned
    unchanged.
    """
    for pattern, find in (
        (_SEVERAL, _all),
        (_NUMBERED, _numbered),
        (_ONE, _only),
        (_AUTHORS, _only),
        (_WRITTEN, _last),
    ):
        match = pattern.search(question)
        if match is None:
            continue
        papers = find(match, turns)
        if not papers:
            return Rewritten.as_it_stands(question)
        rest = question[match.end() :].strip(" ?.!")
        only_names_papers = _NOTHING_ELSE.fullmatch(question[: match.start()]) and not rest
        text = question
        # "Who wrote it?" and "the authors" ask something of their own, unlike "and that paper?".
        if only_names_papers and pattern not in (_AUTHORS, _WRITTEN):
            text = turns[-1].asked.question
        reason = f'"{match.group()}" is read as {" and ".join(papers)}, cited by the answer before.'
        return Rewritten(text, is_rewritten=True, reason=reason, paper_ids=papers)
    return None


def _only(_match: re.Match[str], turns: Sequence[Turn]) -> tuple[str, ...]:
    """The paper of "that paper": the last answer must cite exactly one."""
    cited = turns[-1].cited_papers
    return cited if len(cited) == 1 else ()


def _last(_match: re.Match[str], turns: Sequence[Turn]) -> tuple[str, ...]:
    """All papers that the last answer with citations cites: "who wrote it?" after an answer from two
    papers asks for the authors of both."""
    return next((turn.cited_papers for turn in reversed(turns) if turn.cited_papers), ())


def _all(match: re.Match[str], turns: Sequence[Turn]) -> tuple[str, ...]:
    """The papers of "these papers": all that are cited, at least two; for "both papers" exactly
    two."""
    cited = _pool(turns)
    says_two = match.group().lower().startswith(("both", "the two"))
    return cited if len(cited) == 2 or (len(cited) > 2 and not says_two) else ()


def _numbered(match: re.Match[str], turns: Sequence[Turn]) -> tuple[str, ...]:
    """The paper of "the second study" or "the other paper" among those that are cited; empty if the
    citations do not decide which paper that is."""
    which, cited = match.group(1).lower(), _pool(turns)
    if which == "other":
        # The one of two papers that the last question was not restricted to.
        rest = tuple(paper for paper in cited if paper not in turns[-1].asked.paper_ids)
        return rest if len(cited) == 2 and len(rest) == 1 else ()
    if which in ("former", "latter"):
        return (cited[0 if which == "former" else 1],) if len(cited) == 2 else ()
    if which == "last":
        return cited[-1:] if len(cited) > 1 else ()
    index = _ORDINALS.index(which)
    return cited[index : index + 1] if len(cited) > 1 else ()


def _pool(turns: Sequence[Turn]) -> tuple[str, ...]:
    """The papers that "the second study" counts: those cited by the last answer to a question that
    was not restricted to papers."""
    for turn in reversed(turns):
        if not turn.asked.paper_ids:
            return turn.cited_papers
    return ()


def with_the_question_before(question: str, before: Turn) -> Rewritten | None:
    """The follow-up with the question before it in brackets: "And for children? (What is the dose of
    zinc)". None if it can be understood alone."""
    if (
        len(terms_of(question)) > MAX_OWN_WORDS
        or _stands_alone(question)
        or not terms_of(before.asked.question)
    ):
        return None
    earlier = " ".join(
        _PARTS_A_QUESTION.sub(" ", before.asked.question[:_MAX_BEFORE_CHARS]).split()
    )
    text = f"{question.strip().rstrip('?. ')}? ({earlier})"
    return Rewritten(text, is_rewritten=True, reason=_REASON, paper_ids=before.asked.paper_ids)


def _stands_alone(question: str) -> bool:
    """Whether a short question can be understood alone: "What is ColBERT?" and "When was HNSW
    introduced?" can, but "What is the dose?" and "Which doses were given?" cannot, because they ask
    about something that was mentioned before."""
    if _LEANS.search(question) or not terms_of(question):
        return False
    names_something = (
        bool(words_written_as_names(question)) and _HAS_VERB.search(question) is not None
    )
    return names_something or _ASKS_IN_GENERAL.search(question) is not None


logger = logging.getLogger(__name__)
N_READ = 3
"""Number of last turns that are used to understand a follow-up."""
_MAX_QUESTION_CHARS, _MAX_ANSWER_CHARS = 1_000, 2_000
_MAX_OUTPUT_TOKENS = 1_024
_PROMPT = load_prompt("rag_assets.questions.conversations", "standalone", frozenset())
_NAME = re.compile(r"(?<!\w)\w*(?:\d|[A-Z]\w*[A-Z])\w*")
"""A word with a digit or with two capitals. A model must not add such words to a question."""


class StandaloneQuestion(BaseModel):
    """The reply of the model."""

    question: str = Field(
        description="The question, so that it can be understood alone; unchanged if it can be."
    )
    paper_ids: list[str] = Field(
        description="Papers of the last answers that it is only about; empty if it is not."
    )


class RewritingModel:
    """Asks the model that writes answers to rewrite follow-ups; safe to use from several threads."""

    def __init__(self, name: ModelName, connections: Connections, *, timeout_s: float) -> None:
        """timeout_s: how long to wait for a reply. Raises MissingKey, InvalidSettings. No model is
        opened yet."""
        self._model = LazyModel(
            name,
            connections,
            StandaloneQuestion,
            instructions=_PROMPT.filled(),
            max_output_tokens=_MAX_OUTPUT_TOKENS,
        )
        self._timeout_s = timeout_s
        self._pause = FaultPause()

    def standalone(self, question: str, turns: Sequence[Turn]) -> Rewritten | None:
        """The question as the model rewrites it; None if the model cannot be asked or its reply
        cannot be used.

        After a fault that is not caused by this question, the model is not asked for a while.
        """
        try:
            self._pause.check()
            prompt = {"conversation": [_for_prompt(turn) for turn in turns], "question": question}
            reply = self._model.ask(json.dumps(prompt, ensure_ascii=False), self._timeout_s)
        except (ModelFault, BudgetExhausted) as fault:
            if self._pause.failed(fault):
                logger.warning("Follow-up questions are read by rules for now: %s", fault)
            return None
        return _checked(reply.output, question, turns) if reply.output else None


def open_rewriting_model(settings: Settings, connections: Connections) -> RewritingModel | None:
    """The model of `answering.model`, to rewrite follow-ups; None if no model writes answers.

    Raises InvalidSettings for a model that does not exist, MissingKey.
    """
    if settings.answering.model.partition(":")[0] not in PROVIDERS:
        return None
    name = ModelName.of_answers(settings.answering.model)
    return RewritingModel(name, connections, timeout_s=settings.model_access.query_timeout_s)


def standalone(
    question: str, turns: Sequence[Turn], model: RewritingModel | None = None
) -> Rewritten:
    """What to search and answer for a question after `turns` (oldest first).

    model: None, or if it cannot be asked: the question is rewritten by the rules.
    """
    last = list(turns)[-N_READ:]
    if not last or not question.strip():
        return Rewritten.as_it_stands(question)
    return (
        (model.standalone(question, last) if model else None)
        or about_papers(question, last)
        or with_the_question_before(question, last[-1])
        or Rewritten.as_it_stands(question)
    )


def _for_prompt(turn: Turn) -> dict[str, Any]:
    answer = str(turn.answer.get("answer", ""))[:_MAX_ANSWER_CHARS]
    return {"question": turn.asked.question, "answer": answer, "paper_ids": list(turn.cited_papers)}


def _checked(reply: StandaloneQuestion, question: str, turns: Sequence[Turn]) -> Rewritten | None:
    """The model's question. None if it is empty or too long, has names that nobody mentioned, or is
    restricted to papers that were not cited."""
    text = " ".join("".join(char if char.isprintable() else " " for char in reply.question).split())
    cited = {paper for turn in turns for paper in turn.cited_papers}
    conversation = " ".join(
        [
            question,
            *(f"{turn.asked.question} {turn.answer.get('answer', '')}" for turn in turns),
            *cited,
        ]
    )
    known = {name.casefold() for name in _NAME.findall(conversation)}
    is_known = all(name.casefold() in known for name in _NAME.findall(text))
    if (
        not text
        or len(text) > max(_MAX_QUESTION_CHARS, len(question))
        or not is_known
        or set(reply.paper_ids) - cited
    ):
        logger.warning(
            "A model's wording of a follow-up question is not used: it adds to what was said."
        )
        return None
    papers = tuple(dict.fromkeys(reply.paper_ids))
    if text == " ".join(question.split()) and not papers:
        return Rewritten.as_it_stands(question)
    return Rewritten(
        text, is_rewritten=True, reason="Read together with what was said before.", paper_ids=papers
    )


def after_conversation(
    question: Question,
    answer: Callable[[Question], Mapping[str, Any]],
    open_model: Callable[[], RewritingModel | None],
) -> Question:
    """The question, rewritten so that it can be understood without its `conversation`; unchanged if
    it has none.

    The earlier questions are answered one after the other, because a follow-up may refer to the
    papers of their answers. answer: returns the row of qa.jsonl of a question. open_model: returns
    the model that `standalone` asks.
    """
    if not question.conversation:
        return question
    model = open_model()
    turns: list[Turn] = []
    for text in question.conversation:
        rewritten = standalone(text, turns, model)
        turns.append(Turn(text, rewritten, answer(_replaced(question, rewritten))))
    return _replaced(question, standalone(question.question, turns, model))


def _replaced(question: Question, rewritten: Rewritten) -> Question:
    """A question with the rewritten words and without a conversation. Its filter also restricts it
    to the papers that the rewritten question means."""
    papers = Filter.of_papers(rewritten.paper_ids) if rewritten.paper_ids else EVERYTHING
    changes = {
        "question": rewritten.question,
        "conversation": (),
        "where": (question.where or EVERYTHING) & papers,
    }
    return question.model_copy(update=changes)
