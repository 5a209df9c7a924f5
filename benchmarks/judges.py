"""How far judges of claims agree with people: the same labelled claims are put to each.

    python -m benchmarks.judges LABELLED.jsonl [--set evaluation.judge=google:gemini-2.5-flash ...]

A line of the file is {"question": ..., "claim": ..., "quotes": [...], "carried": true or false}.
Printed are, for the rules alone, for the second look at answers (`answering.judge.model`) and for
the judge of evaluations: share of equal verdicts with its interval, kappa, wrong claims passed,
right claims lost, claims it cannot tell. A model is asked once per claim.

Kappa is Cohen's (1960, "A Coefficient of Agreement for Nominal Scales"): agreement beyond that of
two who say "carried" as often, but at random.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag_assets.answering.drafts import EXTRACTIVE, DraftClaim
from rag_assets.answering.model.judges import ClaimJudge, judge_name
from rag_assets.answering.opening import NO_JUDGE, SAME_MODEL
from rag_assets.answering.verify.objections import checked_claim
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.answering.verify.verification import ClaimOutcome
from rag_assets.core.domain.answers import FULL_SUPPORT_FROM
from rag_assets.core.errors import InvalidQuestions, MissingInput
from rag_assets.core.settings import Settings, load_settings
from rag_assets.evaluation.judge import open_judge
from rag_assets.evaluation.runs import Estimate, estimate
from rag_assets.faces.cli.options import overrides_of
from rag_assets.hosted.connections import Connections
from rag_assets.questions.files import NonEmpty


class LabelledClaim(BaseModel):
    """One line of a file of pairs: a claim, its quotes, and what a person thinks of them."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    question: NonEmpty
    claim: NonEmpty
    quotes: tuple[NonEmpty, ...] = Field(min_length=1)
    carried: bool
    """Whether the quotes, taken alone, say all of the claim."""

    @property
    def quoted(self) -> tuple[QuotedText, ...]:
        return tuple(QuotedText(quote, 0, len(quote)) for quote in self.quotes)


Opinion = Callable[[LabelledClaim], bool | None]
"""Whether a judge calls the claim carried; None: it cannot tell."""


@dataclass(frozen=True)
class Agreement:
    """One judge against the labels; claims that it cannot tell are counted and left out of the
    rest."""

    judge: str
    agreement: Estimate
    """Share of equal verdicts; claims with the same quotes are drawn together."""
    kappa: float
    """1 always equal, 0 as by chance."""
    n_wrong_passed: int
    """Claims that are not carried and that it calls carried."""
    n_right_lost: int
    """Claims that are carried and that it calls not carried."""
    n_untold: int


def read_labelled_claims(path: Path) -> list[LabelledClaim]:
    """Raises MissingInput, or InvalidQuestions naming all lines that cannot be used."""
    if not path.is_file():
        raise MissingInput(
            f"There is no file {path}. benchmarks/judges.py says what a line of it looks like."
        )
    found: list[LabelledClaim] = []
    problems: list[str] = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        try:
            found += [LabelledClaim.model_validate_json(line)] if line.strip() else []
        except ValidationError as error:
            told = "; ".join(
                f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()
            )
            problems.append(f"line {number}: {told}")
    if problems:
        raise InvalidQuestions("\n".join([f"Lines of {path} are no labelled claims:", *problems]))
    if not found:
        raise InvalidQuestions(f"{path} holds no labelled claims.")
    return found


def open_judges(settings: Settings, connections: Connections) -> list[tuple[str, Opinion]]:
    """The rules, the second look that `answering.judge.model` names, and the judge of
    `evaluation.judge`, as far as there are such. Nothing is sent. Raises InvalidSettings,
    MissingKey."""
    judges: list[tuple[str, Opinion]] = [("rules", _by_rules)]
    second = settings.answering.judge.model
    second = settings.answering.model if second == SAME_MODEL else second
    if second not in (NO_JUDGE, EXTRACTIVE):
        judges.append(
            (
                f"second look by {second}",
                _by_second_look(ClaimJudge(judge_name(second), connections)),
            )
        )
    judge = open_judge(settings, connections)
    if judge is not None:
        judges.append(
            (
                settings.evaluation.judge,
                lambda one: judge.supports(one.question, one.quotes, one.claim),
            )
        )
    return judges


def _by_rules(one: LabelledClaim) -> bool:
    """What is published without a second look."""
    return checked_claim(one.claim, one.quoted, one.question).objection is None


def _by_second_look(judge: ClaimJudge) -> Opinion:
    """What is published without a mark after a second look."""

    def opinion(one: LabelledClaim) -> bool | None:
        (support,) = judge.verdicts(
            [ClaimOutcome(DraftClaim(one.claim, ()), None, quotes=one.quoted)]
        ).supports
        return None if support is None else support >= FULL_SUPPORT_FROM

    return opinion


def agreements(
    claims: Sequence[LabelledClaim], judges: Sequence[tuple[str, Opinion]]
) -> Iterator[Agreement]:
    """One record for each judge that can tell at least one claim; a model is asked claim by claim.

    Raises ModelFault, BudgetExhausted or MissingModel: half of a file would be another measure.
    """
    for name, opinion in judges:
        told = [(one, verdict) for one in claims if (verdict := opinion(one)) is not None]
        if not told:
            continue
        equal = [float(one.carried == verdict) for one, verdict in told]
        labels, verdicts = (
            sum(column) / len(told)
            for column in zip(*((a.carried, v) for a, v in told), strict=True)
        )
        chance = labels * verdicts + (1 - labels) * (1 - verdicts)
        shared = estimate(equal, ["\n".join(one.quotes) for one, _ in told])
        yield Agreement(
            name,
            shared,
            (shared.mean - chance) / (1 - chance) if chance < 1 else 1.0,
            sum(verdict and not one.carried for one, verdict in told),
            sum(one.carried and not verdict for one, verdict in told),
            len(claims) - len(told),
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("labelled", type=Path)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting")
    given = parser.parse_args()
    claims, settings = (
        read_labelled_claims(given.labelled),
        load_settings(overrides_of(None, given.set)),
    )
    with Connections(settings.model_access) as connections:
        for one in agreements(claims, open_judges(settings, connections)):
            shared = one.agreement
            print(
                f"{one.judge}: agreement {shared.mean:.3f} ({shared.low:.3f} to {shared.high:.3f}), "
                f"kappa {one.kappa:.2f}, {one.n_wrong_passed} wrong passed, {one.n_right_lost} right lost, "
                f"{one.n_untold} untold"
            )


if __name__ == "__main__":
    main()
