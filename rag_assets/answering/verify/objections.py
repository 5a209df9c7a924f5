"""Objections to a claim, found by rules: numbers, direction, certainty and names that its quotes do
not have.

The first objection found is reported. A claim without objections may still be unsupported: what
only the meaning of sentences shows is left to a second look by a model.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rag_assets.answering.verify.claim_numbers import check_numbers, misplaced_numbers
from rag_assets.answering.verify.names import NameKind, names_in, names_missing_in
from rag_assets.answering.verify.polarity import is_surer, turned_round
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.answering.verify.table_numbers import states_a_row
from rag_assets.answering.verify.years import are_in, asked_years, listed, years_in, years_of
from rag_assets.core.text.terms import terms_of
from rag_assets.questions import read

MIN_SHARED = 0.1
"""Share of a claim's words that its quotes, or the text around them, must have; see
benchmarks/README.md."""
_POSSESSIVE = re.compile(r"['’]s\b")
_MOST_TOLD = 3
_READ_IN_TABLE = "whose values the quoted row holds is not certain: read it in the table"


class Reason(StrEnum):
    """Why a citation or a claim that was proposed is not in the answer."""

    SOURCE_NOT_GIVEN = "source not given"
    """The citation names a chunk that the answerer did not read."""
    QUOTE_NOT_FOUND = "quote not found"
    """The quote is not in the chunk it cites."""
    NO_CITATION = "no citation"
    """The claim has none, or none that held."""
    NO_TEXT = "no text"
    """The claim says nothing."""
    NUMBER_MISSING = "number missing"
    """A number of the claim is in no quote and does not follow from them."""
    NUMBER_MISPLACED = "number misplaced"
    """A number of the claim belongs to another row or column of the quoted table."""
    ROW_UNCERTAIN = "row uncertain"
    """The claim rests only on table rows, and it is not certain whose values these rows hold."""
    OTHER_YEAR = "other year"
    """The question asks for one year, and the places of its quotes name others."""
    TURNED_ROUND = "turned round"
    """The quotes say the opposite of a word of the claim, or deny what it tells."""
    SURER = "surer"
    """The quotes call possible what the claim tells as a fact."""
    NAME_MISSING = "name missing"
    """A name of the claim is neither in nor around its quotes."""
    UNRELATED = "unrelated"
    """The claim shares next to nothing with its quotes."""
    NOT_SUPPORTED = "not supported"
    """A model that looked at claim and quotes found that they do not carry it."""


_DOUBTS = frozenset({Reason.TURNED_ROUND, Reason.SURER, Reason.NAME_MISSING, Reason.UNRELATED})
"""Objections about words, for which there may be synonyms: a second look that finds the claim
supported overrules them. Numbers are computed, and are not overruled."""


@dataclass(frozen=True)
class Objection:
    """A reason not to publish a claim."""

    reason: Reason
    why: str
    """For a reader, and for a model that is asked to mend the claim."""

    @property
    def is_doubt(self) -> bool:
        """Whether a second look may overrule it."""
        return self.reason in _DOUBTS


@dataclass(frozen=True)
class CheckedClaim:
    """The result of the rules for one claim."""

    objection: Objection | None
    computed: tuple[str, ...] = ()
    """Computations of numbers that follow from those of the quotes."""


def checked_claim(claim: str, quotes: Sequence[QuotedText], question: str) -> CheckedClaim:
    """quotes: those of the claim that were found; at least one."""
    rows = [some for one in quotes for some in one.rows]
    if _rests_on_uncertain_rows(claim, quotes):
        return CheckedClaim(Objection(Reason.ROW_UNCERTAIN, _READ_IN_TABLE))
    if years := _other_years(claim, quotes, question):
        return CheckedClaim(Objection(Reason.OTHER_YEAR, f"its quotes are of {listed(years)}"))
    if any(claim == one.quote for one in quotes) or any(states_a_row(claim, some) for some in rows):
        return CheckedClaim(None)
    numbers = check_numbers(claim, quotes, question)
    texts = [one.quote for one in quotes]
    is_prose = not rows
    if numbers.missing:
        objection = _objection(
            Reason.NUMBER_MISSING, numbers.missing, "stands in none of its quotes"
        )
    elif misplaced := misplaced_numbers(claim, rows):
        objection = _objection(
            Reason.NUMBER_MISPLACED, misplaced, "belongs to another row or column of the table"
        )
    elif names := _missing_names(claim, quotes):
        objection = _objection(Reason.NAME_MISSING, names, "stands nowhere around its quotes")
    elif _shares_nothing(claim, quotes):
        objection = Objection(Reason.UNRELATED, "its quotes speak of something else")
    elif is_prose and not numbers.computed and (word := turned_round(claim, texts)):
        objection = Objection(Reason.TURNED_ROUND, f"its quotes say the opposite of '{word}'")
    elif is_prose and is_surer(claim, texts):
        objection = Objection(Reason.SURER, "its quotes call possible what it tells as a fact")
    else:
        objection = None
    return CheckedClaim(objection, numbers.computed)


def _objection(reason: Reason, written: Sequence[str], what: str) -> Objection:
    return Objection(reason, f"{', '.join(dict.fromkeys(written[:_MOST_TOLD]))} {what}")


def _missing_names(claim: str, quotes: Sequence[QuotedText]) -> list[str]:
    names = [
        name
        for name in names_in(_POSSESSIVE.sub("", claim))
        if name.kind not in (NameKind.YEAR, NameKind.NUMBER)  # these are looked for as numbers
    ]
    texts = [text for one in quotes for text in (one.chunk_text, *one.frame)]
    return [name.text for name in names_missing_in(texts, names) if name.is_decisive]


def _rests_on_uncertain_rows(claim: str, quotes: Sequence[QuotedText]) -> bool:
    """Whether a claim says what the cells of rows say that are not certain, and nothing else
    carries it. Naming their table says nothing of the rows."""
    if any(one.is_certain for one in quotes):
        return False
    named = terms_of(" ".join(text for one in quotes for text in one.frame))
    held = terms_of(
        " ".join(cell.text for one in quotes for some in one.rows for _, cell in some.cells)
    )
    return not terms_of(claim).isdisjoint(held - named)


def _other_years(claim: str, quotes: Sequence[QuotedText], question: str) -> frozenset[int]:
    """The years of the quotes of a claim that says, or is taken to say, something of a year that is
    asked for and that none of them is of. A claim that names the year of its quotes misleads
    nobody."""
    asked, said = asked_years(question), years_in(claim)
    if not asked or not (are_in(asked, said) or (not said and len(read(question).parts) == 1)):
        return frozenset()
    told = [years_of(one, asked) for one in quotes]
    is_of_others = not any(are_in(asked, years) or not years for years in told)
    return frozenset[int]().union(*told) if is_of_others else frozenset()


def _shares_nothing(claim: str, quotes: Sequence[QuotedText]) -> bool:
    own = terms_of(claim)
    held = frozenset[str]().union(
        *(terms_of(text) for one in quotes for text in (one.quote, *one.frame))
    )
    return bool(own) and len(own & held) < MIN_SHARED * len(own)
