"""A judge model compares an answer with its contexts and its reference, in one request; and
`rag-assets judge test` measures the judge of claims on the user's own answers.

The judge must be of another family than the model that answers. Its replies are stored by the
content of the request, so that the same answer is judged only once. The definitions are those of
RAGAS (see `metrics`); if the judge cannot tell something, this is counted and not guessed.

For the measurement, false siblings are made from each published claim: one thing in the claim is
changed, so that its quotes no longer support it. The judge is asked about claims and siblings,
mixed, in the same way as in answering. A sibling that the judge calls supported has leaked; a
published claim that it does not call supported is lost.
"""

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from pydantic import BaseModel, Field

from rag_assets.answering.drafts import EXTRACTIVE, DraftClaim
from rag_assets.answering.model.judges import ClaimJudge, ClaimVerdicts, judge_name, verdicts_key
from rag_assets.answering.opening import NO_JUDGE, SAME_MODEL
from rag_assets.answering.verify.names import NameKind, names_in
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.answering.verify.verification import ClaimOutcome
from rag_assets.core.domain import FULL_SUPPORT_FROM, Chunk, Claim, Context, QAResult, Usage, summed
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


_BATCH_SIZE = 12
"""Number of statements in one request, about as many as an answer has."""
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w,]|\.\d)")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_LIMITED = re.compile(r"\b(?:some|many|most|several|few)\b", re.IGNORECASE)
_REPLACED: Mapping[str, Sequence[tuple[str, str]]] = {
    "hedge": (
        (r"\b(?:may|might|could)\b", "will"),
        (r"\b(suggest|indicate)(s?)\b", r"prove\2"),
        (r"\b(?:perhaps|possibly|probably|likely) ", ""),
    ),
    "population": (
        (r"\badults\b", "children"),
        (r"\bchildren\b", "adults"),
        (r"\bwomen\b", "men"),
        (r"\bmen\b", "women"),
        (r"\bpatients\b", "healthy volunteers"),
        (r"\bmice\b", "humans"),
        (r"\b(?:students|participants)\b", "retired nurses"),
    ),
    "unit": (
        (r"(?<=\d) ?(?:%|per ?cent\b)", " per mille"),
        (r"(?<=\d )(?:milli)?seconds\b", "minutes"),
        (r"(?<=\d )(?:minutes|hours)\b", "days"),
        (r"(?<=\d )days\b", "weeks"),
        (r"(?<=\d )(?:weeks|months)\b", "years"),
        (r"(?<=\d )(?:mg|kg)\b", "g"),
        (r"(?<=\d )(?:mm|cm|km)\b", "m"),
    ),
}
"""Kind of sibling -> patterns and their replacements; the first pattern that occurs is replaced."""


@dataclass(frozen=True)
class KindFigures:
    """The verdicts of a judge on one kind of false siblings, and on the claims from which they were
    made."""

    kind: str
    n_false: int
    n_leaked: int
    n_claims: int
    n_lost: int


@dataclass(frozen=True)
class JudgeTest:
    """The result of testing a judge."""

    judge: str
    kinds: tuple[KindFigures, ...]
    """The figures of each kind, and at the end those of all. A statement without a verdict counts
    as not supported."""
    usage: Usage
    """The cost of the verdicts, now or when they were stored."""


def false_siblings(claim: Claim, quotes: Sequence[QuotedText]) -> Iterator[tuple[str, str]]:
    """Kind and text of the false siblings of a claim, at most one of each kind."""
    text = claim.text
    siblings = {
        "arms": _exchanged(text),
        **{kind: _replaced(text, patterns) for kind, patterns in _REPLACED.items()},
        "generality": _LIMITED.sub("all", text, count=1),
        "cited as own": f"{claim.citations[0].cited_as} found in a trial of their own: {text}"
        if claim.reported
        else text,
        "row": _with_value_of_other_row(text, quotes),
        "year": _YEAR.sub(lambda year: str(int(year[0]) - 3), text, count=1),
    }
    if siblings["generality"] == text:
        siblings["generality"] = f"In every study to date, {text[:1].lower()}{text[1:]}"
    yield from ((kind, sibling) for kind, sibling in siblings.items() if sibling != text)


def _exchanged(text: str) -> str:
    """The text with its first two different numbers exchanged, or else its first two names;
    unchanged if there are none."""
    numbers = [match[0] for match in _NUMBER.finditer(_YEAR.sub("", text))]
    names = [name.text for name in names_in(text) if name.kind is not NameKind.YEAR]
    for words in (numbers, names):
        first, other = (*dict.fromkeys(words), "", "")[:2]
        if other:
            parts = re.split(rf"(?<!\w)({re.escape(first)}|{re.escape(other)})(?!\w)", text)
            return "".join({first: other, other: first}.get(part, part) for part in parts)
    return text


def _replaced(text: str, patterns: Sequence[tuple[str, str]]) -> str:
    """The text with the first pattern that occurs in it replaced once; unchanged if none does."""
    changed = (re.sub(pattern, replacement, text, count=1) for pattern, replacement in patterns)
    return next((sibling for sibling in changed if sibling != text), text)


def _with_value_of_other_row(text: str, quotes: Sequence[QuotedText]) -> str:
    """The text with a value of the quoted table row replaced by the value that another row has in
    the same column; unchanged if there is none."""
    for quoted_rows in (rows for quote in quotes for rows in quote.rows):
        quoted = {nth for nth, _ in quoted_rows.cells}
        for _, cell in quoted_rows.cells:
            others = (
                other.text
                for nth, row in enumerate(quoted_rows.table.rows)
                for other in row.cells
                if nth not in quoted and other.position == cell.position and other.is_value
            )
            other_value = next((other for other in others if other not in text), None)
            if cell.is_value and other_value and cell.text in text:
                return text.replace(cell.text, other_value, 1)
    return text


def judge_test(
    settings: Settings,
    connections: Connections,
    results: Sequence[QAResult],
    chunks: Mapping[str, Chunk],
    n: int,
) -> JudgeTest:
    """Test the judge that the settings name on the first `n` claims of the answers.

    chunks: the chunks that they cite, by id. Raises InvalidSettings if there is no judge or no
    claim, and the errors of `ClaimJudge.verdicts`.
    """
    named = settings.answering.judge.model
    named = settings.answering.model if named == SAME_MODEL else named
    if named in (NO_JUDGE, EXTRACTIVE):
        raise InvalidSettings(
            "There is no judge to test. Name one: --set answering.judge.model=provider:model."
        )
    claims = [claim for result in results for claim in result.claims][:n]
    if not claims:
        raise InvalidSettings("No answer has a claim yet. Ask first: rag-assets qa.")
    judge = ClaimJudge(judge_name(named), connections)
    kept = kept_file(settings).replies("verdicts", ClaimVerdicts)
    statements = [
        statement
        for nth, claim in enumerate(claims)
        for statement in _statements(nth, claim, chunks)
    ]
    # in a random but fixed order, so that siblings are not next to their claims
    statements.sort(key=lambda statement: fingerprint(statement[1], statement[2].proposed.text))
    is_supported: dict[tuple[int, str], bool] = {}
    usages = []
    for start in range(0, len(statements), _BATCH_SIZE):
        batch = statements[start : start + _BATCH_SIZE]
        outcomes = [outcome for *_, outcome in batch]
        verdicts, _ = kept.once(verdicts_key(judge, outcomes), partial(judge.verdicts, outcomes))
        usages.append(verdicts.usage)
        for (nth, kind, _), support in zip(batch, verdicts.supports, strict=True):
            is_supported[nth, kind] = (support or 0.0) >= FULL_SUPPORT_FROM
    return JudgeTest(judge.identity, tuple(_figures(is_supported)), summed(usages))


_CLAIM, _ALL = "", "all"


def _statements(
    nth: int, claim: Claim, chunks: Mapping[str, Chunk]
) -> Iterator[tuple[int, str, ClaimOutcome]]:
    """A claim and its false siblings, each with the number of the claim and its kind; nothing if
    none of the cited chunks exists any more."""
    quotes = tuple(
        QuotedText(
            chunk.text,
            citation.start,
            citation.end,
            chunk.section_at(citation.start)[1],
            byline=citation.cited_as,
        )
        for citation in claim.citations
        if (chunk := chunks.get(citation.chunk_id))
    )
    if quotes:
        for kind, text in ((_CLAIM, claim.text), *false_siblings(claim, quotes)):
            yield nth, kind, ClaimOutcome(DraftClaim(text, ()), claim, quotes=quotes)


def _figures(is_supported: Mapping[tuple[int, str], bool]) -> Iterator[KindFigures]:
    """The figures of each kind, then of all. is_supported: number of a claim and kind of the
    statement -> verdict."""
    kinds = {kind for _, kind in is_supported if kind != _CLAIM}
    for kind in (*sorted(kinds), _ALL):
        siblings = [key for key in is_supported if key[1] in (kinds if kind == _ALL else {kind})]
        claims = {nth for nth, _ in siblings}
        n_leaked = sum(is_supported[key] for key in siblings)
        n_lost = sum(not is_supported[nth, _CLAIM] for nth in claims)
        yield KindFigures(kind, len(siblings), n_leaked, len(claims), n_lost)
