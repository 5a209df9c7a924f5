"""A follow-up question becomes one that can be understood alone: by a model where one answers, else by two rules.

What is rewritten is only asked of the corpus; its answer is verified as any other. `follow_ups` reads "that
paper", `together` adds the question before to a follow-up with few words of its own.
"""

import json
import logging
import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field

from rag_assets.core.errors import BudgetExhausted, ModelFault
from rag_assets.core.settings import Settings
from rag_assets.hosted.access import PROVIDERS, ModelName
from rag_assets.hosted.connections import Connections, FaultPause, LazyModel
from rag_assets.hosted.prompts import load_prompt
from rag_assets.questions.conversations.follow_ups import Rewritten, Turn, about_papers, with_the_question_before

logger = logging.getLogger(__name__)
N_READ = 3
"""Turns that a follow-up is read after."""
_MAX_QUESTION_CHARS, _MAX_ANSWER_CHARS = 1_000, 2_000
_MAX_OUTPUT_TOKENS = 1_024
_PROMPT = load_prompt("rag_assets.questions.conversations", "standalone", frozenset())
_NAME = re.compile(r"\w*(?:\d|[A-Z]\w*[A-Z])\w*")
"""A word with a digit or two capitals, which a model must not add to a question."""


class StandaloneQuestion(BaseModel):
    """The reply of the model."""

    question: str = Field(description="The question, so that it can be understood alone; unchanged if it can be.")
    paper_ids: list[str] = Field(description="Papers of the last answers that it is only about; empty if it is not.")


class RewritingModel:
    """Asks the model that writes answers; safe to use from several threads."""

    def __init__(self, name: ModelName, connections: Connections, *, timeout_s: float) -> None:
        """timeout_s: how long a reply is waited for. Raises MissingKey, InvalidSettings; nothing is opened yet."""
        self._model = LazyModel(
            name, connections, StandaloneQuestion, instructions=_PROMPT.filled(), max_output_tokens=_MAX_OUTPUT_TOKENS
        )
        self._timeout_s = timeout_s
        self._pause = FaultPause()

    def standalone(self, question: str, turns: Sequence[Turn]) -> Rewritten | None:
        """None where the model cannot be asked or its reply cannot be used.

        After a fault that is not this question's own, the model is left alone for a while.
        """
        try:
            self._pause.check()
            prompt = {"conversation": [_read(turn) for turn in turns], "question": question}
            reply = self._model.ask(json.dumps(prompt, ensure_ascii=False), self._timeout_s)
        except (ModelFault, BudgetExhausted) as fault:
            if self._pause.failed(fault):
                logger.warning("Follow-up questions are read by rules for now: %s", fault)
            return None
        return _checked(reply.output, question, turns) if reply.output else None


def open_rewriting_model(settings: Settings, connections: Connections) -> RewritingModel | None:
    """The model of `answering.model`, to rewrite follow-ups; None where answers need no model.

    Raises InvalidSettings for a model that does not exist, MissingKey.
    """
    if settings.answering.model.partition(":")[0] not in PROVIDERS:
        return None
    name = ModelName.parse(settings.answering.model, setting="answering.model", instead="extractive")
    return RewritingModel(name, connections, timeout_s=settings.model_access.query_timeout_s)


def standalone(question: str, turns: Sequence[Turn], model: RewritingModel | None = None) -> Rewritten:
    """What to ask of the corpus for a question after `turns` (oldest first).

    model: asked where there is one; where it cannot be, and without one, the rules decide.
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


def _read(turn: Turn) -> dict[str, Any]:
    answer = str(turn.answer.get("answer", ""))[:_MAX_ANSWER_CHARS]
    return {"question": turn.asked.question, "answer": answer, "paper_ids": list(turn.cited_papers)}


def _checked(reply: StandaloneQuestion, question: str, turns: Sequence[Turn]) -> Rewritten | None:
    """The reply, if it brings no names, numbers or papers into the question that the conversation does not hold."""
    text = " ".join("".join(char if char.isprintable() else " " for char in reply.question).split())
    cited = {paper for turn in turns for paper in turn.cited_papers}
    said = " ".join([question, *(f"{turn.asked.question} {turn.answer.get('answer', '')}" for turn in turns), *cited])
    known = {name.casefold() for name in _NAME.findall(said)}
    is_known = all(name.casefold() in known for name in _NAME.findall(text))
    if not text or len(text) > max(_MAX_QUESTION_CHARS, len(question)) or not is_known or set(reply.paper_ids) - cited:
        logger.warning("A model's wording of a follow-up question is not used: it adds to what was said.")
        return None
    papers = tuple(dict.fromkeys(reply.paper_ids))
    if text == " ".join(question.split()) and not papers:
        return Rewritten.as_it_stands(question)
    return Rewritten(text, is_rewritten=True, reason="Read together with what was said before.", paper_ids=papers)
