"""A judge model compares an answer with its contexts and its reference, in one request.

It must be of another family than the model that answers. Its replies are stored by the content of
the request, so that the same answer is judged only once. The definitions are those of RAGAS (see
`metrics`); if the judge cannot tell something, this is counted and not guessed.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from pydantic import BaseModel, Field

from rag_assets.core.domain import Context
from rag_assets.core.errors import BudgetExhausted, InvalidSettings, ModelFault
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import kept_file
from rag_assets.core.settings import Settings
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.evaluation.cases import AnswerVerdict, Case
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections, KeptReplies, LazyModel
from rag_assets.hosted.prompts import load_prompt, neutral, sources_block
from rag_assets.search.embedding.base import Vectors

logger = logging.getLogger(__name__)
SETTING, NONE = "evaluation.judge", "none"
_MAX_OUTPUT_TOKENS = 4096
_INSTRUCTIONS = load_prompt("rag_assets.evaluation", "judge", frozenset())
_ASKED = load_prompt(
    "rag_assets.evaluation",
    "judged_answer",
    frozenset({"question", "sources", "statements", "reference"}),
)
_CORRECTNESS = {"correct": 1.0, "partly": 0.5, "wrong": 0.0}
Told = Literal["yes", "no", "cannot_tell"]


class Numbered(BaseModel):
    """What is thought of one numbered text."""

    number: int
    told: Told


class JudgedAnswer(BaseModel):
    """The reply of the judge."""

    statements: list[Numbered] = []
    sources: list[Numbered] = []
    reference: list[Numbered] = []
    correctness: Literal["correct", "partly", "wrong", "cannot_tell"] = "cannot_tell"
    questions: list[str] = Field([], max_length=5)
    evasive: bool = False


class AnswerJudge:
    """Judges the answers of cases. Safe for several threads."""

    def __init__(
        self,
        name: ModelName,
        settings: Settings,
        connections: Connections,
        embed: Callable[[str], Vectors] | None,
    ):
        """embed: returns the unit vector of a question; None: relevance is not measured. Raises
        MissingKey and InvalidSettings like `require_access`."""
        model = LazyModel(
            name,
            connections,
            JudgedAnswer,
            instructions=_INSTRUCTIONS.text,
            max_output_tokens=_MAX_OUTPUT_TOKENS,
        )
        self.identity = f"{model.model_id} {fingerprint(_INSTRUCTIONS.text, _ASKED.text)[:8]}"
        self._model = KeptReplies(
            model, kept_file(settings).replies("judged_answers", JudgedAnswer), JudgedAnswer()
        )
        self._embed = embed

    def __call__(self, case: Case) -> AnswerVerdict | None:
        """The verdict on the answer of a case; None if the judge cannot be asked."""
        statements = [claim.text for claim in case.result.claims]
        text = case.question.reference or ""
        reference = [text[start:end] for start, end in sentence_spans(text)]
        contexts = [
            Context(found.paper_id, found.chunk_id, None, None, 0, found.text)
            for found in case.contexts
        ]
        try:
            reply = self._reply(case.result.question, contexts, statements, reference)
        except (ModelFault, BudgetExhausted) as fault:
            logger.warning("The answer to %r is not judged: %s", case.result.question, fault)
            return None
        supported = _in_order(reply.statements, len(statements))
        useful = _in_order(reply.sources, len(contexts))
        covered = _in_order(reply.reference, len(reference))
        correctness = _CORRECTNESS.get(reply.correctness) if reference else None
        abstained = (*supported, *useful, *covered).count(None) + (
            bool(reference) and correctness is None
        )
        relevance = self._relevance(case.result.question, reply)
        return AnswerVerdict(supported, useful, covered, correctness, relevance, abstained)

    def supports(self, question: str, quotes: Sequence[str], statement: str) -> bool | None:
        """Whether the quotes say the statement; None if the judge cannot tell. Raises ModelFault,
        BudgetExhausted."""
        contexts = [
            Context("quoted", str(number), None, None, 0, quote)
            for number, quote in enumerate(quotes)
        ]
        return _in_order(self._reply(question, contexts, [statement], ()).statements, 1)[0]

    def _reply(
        self,
        question: str,
        contexts: Sequence[Context],
        statements: Sequence[str],
        reference: Sequence[str],
    ) -> JudgedAnswer:
        prompt = _ASKED.filled(
            question=neutral(question),
            sources=sources_block(contexts),
            statements=_numbered(statements),
            reference=_numbered(reference) or "none",
        )
        return self._model.to(prompt)[0]

    def _relevance(self, question: str, reply: JudgedAnswer) -> float | None:
        """The mean cosine of the question and of the questions in the reply, which the answer would
        answer."""
        if reply.evasive:
            return 0.0
        asked = [text for text in reply.questions if text.strip()]
        if not asked or self._embed is None:
            return None
        vectors = np.array([self._embed(text) for text in asked])
        return float(np.clip(vectors @ self._embed(question), 0, 1).mean())


def open_judge(
    settings: Settings, connections: Connections, embed: Callable[[str], Vectors] | None = None
) -> AnswerJudge | None:
    """The judge that the setting `evaluation.judge` names; None without one. No request is sent.
    embed: see `AnswerJudge`.

    Raises InvalidSettings if it is no model, or of the same family as the model that answers;
    MissingKey.
    """
    named, writer = settings.evaluation.judge, settings.answering.model
    if named == NONE:
        return None
    name = ModelName.parse(named, setting=SETTING, instead=NONE)
    if _family(named) == _family(writer):
        raise InvalidSettings(
            f"{SETTING} = {named} is of the family that answers ({writer}), and would pass its own errors. Name a "
            "model of another family, or none."
        )
    return AnswerJudge(name, settings, connections, embed)


def _family(model: str) -> str:
    """The provider of a model; for Ollama, which has models of many makers, the letters at the
    start of the model's name."""
    provider, _, name = model.partition(":")
    letters = next((n for n, character in enumerate(name) if not character.isalpha()), len(name))
    return name[:letters].casefold() if provider == "ollama" else provider


def _numbered(texts: Sequence[str]) -> str:
    return "\n".join(
        f"{number}. {neutral(' '.join(text.split()))}" for number, text in enumerate(texts, start=1)
    )


def _in_order(verdicts: Sequence[Numbered], n: int) -> tuple[bool | None, ...]:
    """The verdicts on the texts 1 to n, in this order; None for "cannot_tell" and for a text
    without a verdict."""
    by_number = {verdict.number: verdict.told for verdict in verdicts}
    return tuple(
        {"yes": True, "no": False}.get(by_number.get(number, "")) for number in range(1, n + 1)
    )
