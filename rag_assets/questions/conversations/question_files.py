"""Questions of a file that come after others: what they mean, once the questions before them are
answered."""

from collections.abc import Callable, Mapping
from typing import Any

from rag_assets.core.domain import EVERYTHING, Filter
from rag_assets.questions.conversations.follow_ups import (
    RewritingModel,
    Rewritten,
    Turn,
    standalone,
)
from rag_assets.questions.files import Question


def after_conversation(
    question: Question,
    answer: Callable[[Question], Mapping[str, Any]],
    open_model: Callable[[], RewritingModel | None],
) -> Question:
    """The question as it is understood after its `conversation`; without one, the question itself.

    answer: gives the row of qa.jsonl for each earlier question, which are asked in turn.
    open_model: gives the model that `standalone` asks.
    """
    if not question.conversation:
        return question
    model = open_model()
    turns: list[Turn] = []
    for said in question.conversation:
        meant = standalone(said, turns, model)
        turns.append(Turn(said, meant, answer(_meant(question, meant))))
    return _meant(question, standalone(question.question, turns, model))


def _meant(question: Question, meant: Rewritten) -> Question:
    papers = Filter.of_papers(meant.paper_ids) if meant.paper_ids else EVERYTHING
    changes = {
        "question": meant.question,
        "conversation": (),
        "where": (question.where or EVERYTHING) & papers,
    }
    return question.model_copy(update=changes)
