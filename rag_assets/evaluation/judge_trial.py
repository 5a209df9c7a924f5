"""Measures the judge of claims on the user's own answers: `rag-assets judge test`.

False siblings are made of published claims: one thing of each is changed, so that its quotes carry
it no more. The judge is asked about claims and siblings, mixed, as answering asks it. A sibling
that it calls carried leaked; a published claim that it does not call carried is lost.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rag_assets.answering.drafts import EXTRACTIVE, DraftClaim
from rag_assets.answering.model.judges import ClaimVerdicts, open_judge, verdicts_key
from rag_assets.answering.opening import NO_JUDGE, SAME_MODEL
from rag_assets.answering.verify.names import NameKind, names_in
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.answering.verify.verification import ClaimOutcome
from rag_assets.core.domain import FULL_SUPPORT_FROM, Chunk, Claim, QAResult, Usage, summed
from rag_assets.core.errors import InvalidSettings
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import kept_file
from rag_assets.core.settings import Settings
from rag_assets.hosted.connections import Connections

_MOST_AT_ONCE = 12
"""Statements in one request, about as many as an answer has."""
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
"""By kind, patterns and what takes their place; the first that is found counts."""


@dataclass(frozen=True)
class KindFigures:
    """What a judge said of one kind of false siblings, and of the claims that they were made of."""

    kind: str
    n_false: int
    n_leaked: int
    n_claims: int
    n_lost: int


@dataclass(frozen=True)
class JudgeTest:
    judge: str
    kinds: tuple[KindFigures, ...]
    """Of each kind, then of all; statements without a verdict count as not carried."""
    usage: Usage
    """What the verdicts cost, now or earlier."""


def false_siblings(claim: Claim, quotes: Sequence[QuotedText]) -> Iterator[tuple[str, str]]:
    """Kind and text of the false siblings of a claim: at most one of each kind."""
    text = claim.text
    made = {
        "arms": _exchanged(text),
        **{kind: _replaced(text, patterns) for kind, patterns in _REPLACED.items()},
        "generality": _LIMITED.sub("all", text, count=1),
        "cited as own": f"{claim.citations[0].cited_as} found in a trial of their own: {text}"
        if claim.reported
        else text,
        "row": _of_other_row(text, quotes),
        "year": _YEAR.sub(lambda year: str(int(year[0]) - 3), text, count=1),
    }
    if made["generality"] == text:
        made["generality"] = f"In every study to date, {text[:1].lower()}{text[1:]}"
    yield from ((kind, sibling) for kind, sibling in made.items() if sibling != text)


def _exchanged(text: str) -> str:
    """The text with two numbers, or else two names, in each other's places."""
    numbers = [match[0] for match in _NUMBER.finditer(_YEAR.sub("", text))]
    names = [one.text for one in names_in(text) if one.kind is not NameKind.YEAR]
    for words in (numbers, names):
        first, other = (*dict.fromkeys(words), "", "")[:2]
        if other:
            parts = re.split(rf"(?<!\w)({re.escape(first)}|{re.escape(other)})(?!\w)", text)
            return "".join({first: other, other: first}.get(part, part) for part in parts)
    return text


def _replaced(text: str, patterns: Sequence[tuple[str, str]]) -> str:
    changed = (re.sub(pattern, there, text, count=1) for pattern, there in patterns)
    return next((one for one in changed if one != text), text)


def _of_other_row(text: str, quotes: Sequence[QuotedText]) -> str:
    """The text with the value of another row of the quoted table."""
    for some in (rows for quote in quotes for rows in quote.rows):
        quoted = {nth for nth, _ in some.cells}
        for _, cell in some.cells:
            others = (
                other.text
                for nth, row in enumerate(some.table.rows)
                for other in row.cells
                if nth not in quoted and other.position == cell.position and other.is_value
            )
            there = next((other for other in others if other not in text), None)
            if cell.is_value and there and cell.text in text:
                return text.replace(cell.text, there, 1)
    return text


def judge_test(
    settings: Settings,
    connections: Connections,
    results: Sequence[QAResult],
    chunks: Mapping[str, Chunk],
    n: int,
) -> JudgeTest:
    """Test the judge that the settings name on the first `n` claims of answers.

    chunks: those that they cite. Raises InvalidSettings where there is no judge or no claim, and
    as `ClaimJudge.verdicts`.
    """
    named = settings.answering.judge.model
    named = settings.answering.model if named == SAME_MODEL else named
    if named in (NO_JUDGE, EXTRACTIVE):
        raise InvalidSettings(
            "There is no judge to test. Name one: --set answering.judge.model=provider:model."
        )
    claims = [one for result in results for one in result.claims][:n]
    if not claims:
        raise InvalidSettings("No answer has a claim yet. Ask first: rag-assets qa.")
    judge = open_judge(named, settings, connections)
    kept = kept_file(settings).replies("verdicts", ClaimVerdicts)
    asked = sorted(
        (one for nth, claim in enumerate(claims) for one in _statements(nth, claim, chunks)),
        key=lambda one: fingerprint(one[1], one[2].proposed.text),
    )  # so that no sibling stands beside its claim
    carried: dict[tuple[int, str], bool] = {}
    cost = []
    for start in range(0, len(asked), _MOST_AT_ONCE):
        some = asked[start : start + _MOST_AT_ONCE]
        outcomes = [outcome for *_, outcome in some]
        said, _ = kept.once(verdicts_key(judge, outcomes), partial(judge.verdicts, outcomes))
        cost.append(said.usage)
        for (nth, kind, _), support in zip(some, said.supports, strict=True):
            carried[nth, kind] = (support or 0.0) >= FULL_SUPPORT_FROM
    return JudgeTest(judge.identity, tuple(_figures(carried)), summed(cost))


_CLAIM, _ALL = "", "all"


def _statements(
    nth: int, claim: Claim, chunks: Mapping[str, Chunk]
) -> Iterator[tuple[int, str, ClaimOutcome]]:
    """A claim and its false siblings, with number and kind; none where a chunk is gone."""
    cited = [(one, chunks[one.chunk_id]) for one in claim.citations if one.chunk_id in chunks]
    quotes = tuple(
        QuotedText(of.text, one.start, one.end, of.section_at(one.start)[1], byline=one.cited_as)
        for one, of in cited
    )
    if quotes:
        for kind, text in ((_CLAIM, claim.text), *false_siblings(claim, quotes)):
            yield nth, kind, ClaimOutcome(DraftClaim(text, ()), claim, quotes=quotes)


def _figures(carried: Mapping[tuple[int, str], bool]) -> Iterator[KindFigures]:
    kinds = dict.fromkeys(kind for _, kind in carried if kind != _CLAIM)
    for kind in (*sorted(kinds), _ALL):
        false = [key for key in carried if key[1] in (kinds if kind == _ALL else {kind})]
        claims = {nth for nth, _ in false}
        lost = sum(not carried[nth, _CLAIM] for nth in claims)
        yield KindFigures(kind, len(false), sum(carried[key] for key in false), len(claims), lost)
