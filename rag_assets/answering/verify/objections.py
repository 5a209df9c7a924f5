"""Objections to a claim, found by rules: numbers, direction, certainty and names that its quotes do
not have.

The first objection found is reported. A claim without objections may still be unsupported: what
only the meaning of sentences shows is left to a second look by a model.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rag_assets.answering.verify.claim_numbers import NumberCheck, check_numbers
from rag_assets.answering.verify.misplaced_numbers import misplaced_numbers
from rag_assets.answering.verify.names import NameKind, names_in, names_missing_in
from rag_assets.answering.verify.polarity import is_surer, turned_round
from rag_assets.answering.verify.quoted_text import QuotedRows, QuotedText
from rag_assets.answering.verify.table_numbers import states_a_row
from rag_assets.answering.verify.years import are_in, asked_years, listed, years_in, years_of
from rag_assets.core.text.display import addresses_missing_in
from rag_assets.core.text.terms import may_be_english, terms_of, words_of
from rag_assets.questions import read

MIN_SHARED = 0.1
"""Share of a claim's words that its quotes, or the text around them, must have; see
benchmarks/README.md."""
_POSSESSIVE = re.compile(r"['’]s\b")
_MOST_TOLD, _LEAST_WORDS = 3, 5
_READ_IN_TABLE = "whose values the quoted row holds is not certain: read it in the table"


class Reason(StrEnum):
    """Why a citation or a claim that was proposed is not in the answer."""

    NO_CITATION = "no citation"
    """The claim has none, or none that held."""
    NO_TEXT = "no text"
    """The claim says nothing."""
    UNUSABLE = "unusable"
    """The claim is too long to be one, or cites what was not given."""
    NUMBER_MISSING = "number missing"
    """A number of the claim is in no quote and does not follow from them."""
    NUMBER_CONTRADICTED = "number contradicted"
    """The quotes give a number of the claim otherwise."""
    NUMBER_UNPROVEN = "number unproven"
    """A number of the claim may be right: it stands around the quotes, or counts what they list."""
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
    ADDRESS_MISSING = "address missing"
    """A web address of the claim is in no quote."""
    UNRELATED = "unrelated"
    """The claim shares next to nothing with its quotes."""
    NOT_SUPPORTED = "not supported"
    """A model that looked at claim and quotes found that they do not carry it."""


_PROVEN = frozenset(
    {
        Reason.NO_CITATION,
        Reason.NO_TEXT,
        Reason.NUMBER_MISSING,
        Reason.NUMBER_MISPLACED,
        Reason.OTHER_YEAR,
        Reason.ADDRESS_MISSING,
        Reason.NOT_SUPPORTED,
    }
)
"""Objections that nothing overrules. The others are about words, for which there may be synonyms,
or about numbers that the quotes may mean otherwise."""


@dataclass(frozen=True)
class Objection:
    """What speaks against a claim."""

    reason: Reason
    why: str
    """For a reader, and for a model that is asked to mend the claim."""

    def withholds(self, judged: float | None) -> bool:
        """Whether the claim is left out. Any other is published with the reason beside it, unless a
        second look removes the doubt. judged: its verdict; None without one, where a number that
        the quotes contradict is left out too."""
        is_contradicted = self.reason is Reason.NUMBER_CONTRADICTED
        return self.reason in _PROVEN or (is_contradicted and judged is None)


_FOREIGN_ADDRESS = Objection(
    Reason.ADDRESS_MISSING, "it names a web address that stands in none of its quotes"
)


@dataclass(frozen=True)
class CheckedClaim:
    """The result of the rules for one claim."""

    objection: Objection | None
    computed: tuple[str, ...] = ()
    """Computations of numbers that follow from those of the quotes."""


def checked_claim(claim: str, quotes: Sequence[QuotedText], question: str) -> CheckedClaim:
    """Checks a claim by all rules, and returns the first objection and the computations of its
    numbers. A claim that repeats a quote or a row word for word is not checked further than its
    year and its rows. quotes: the quotes of the claim that were found; at least one."""
    rows = [some for one in quotes for some in one.rows]
    if years := _other_years(claim, quotes, question):
        return CheckedClaim(Objection(Reason.OTHER_YEAR, f"its quotes are of {listed(years)}"))
    uncertain = (
        Objection(Reason.ROW_UNCERTAIN, _READ_IN_TABLE)
        if _rests_on_uncertain_rows(claim, quotes)
        else None
    )
    if any(claim == one.quote for one in quotes) or any(states_a_row(claim, some) for some in rows):
        return CheckedClaim(uncertain)
    if any(addresses_missing_in(claim, [question, *(one.sentence or one.quote for one in quotes)])):
        return CheckedClaim(_FOREIGN_ADDRESS)
    numbers = check_numbers(claim, quotes, question)
    objection = (
        _against_numbers(claim, numbers, rows)
        or _against_words(claim, quotes, question, is_computed=bool(numbers.computed))
        or uncertain
    )
    return CheckedClaim(objection, numbers.computed)


def _against_numbers(
    claim: str, numbers: NumberCheck, rows: Sequence[QuotedRows]
) -> Objection | None:
    """Returns the objection to the numbers of a claim; None if there is none. Missing and misplaced
    numbers come before the others, because they are proven errors; an unproven number, the last, is
    only a doubt."""
    if numbers.missing:
        return _objection(Reason.NUMBER_MISSING, numbers.missing, "stands in none of its quotes")
    if misplaced := misplaced_numbers(claim, rows):
        what = "belongs to another row or column of the table"
        return _objection(Reason.NUMBER_MISPLACED, misplaced, what)
    if numbers.contradicted:
        what = "is not what its quotes give there"
        return _objection(Reason.NUMBER_CONTRADICTED, numbers.contradicted, what)
    if numbers.unproven:
        what = "stands in none of its quotes, and may follow from them"
        return _objection(Reason.NUMBER_UNPROVEN, numbers.unproven, what)
    return None


def _against_words(
    claim: str, quotes: Sequence[QuotedText], question: str, *, is_computed: bool
) -> Objection | None:
    """Returns the first doubt about the words of a claim; None if there is none. A claim in another
    language than its quotes is checked only for names that all languages write alike. Directions
    and hedges are checked only in English, and not for rows of tables."""
    texts = [one.quote for one in quotes]
    is_foreign, are_foreign = _is_foreign(claim), _is_foreign(" ".join(texts))
    is_translated = is_foreign != are_foreign
    if names := _missing_names(claim, quotes, question, is_english=not (is_foreign or are_foreign)):
        return _objection(Reason.NAME_MISSING, names, "stands nowhere around its quotes")
    if not is_translated and _shares_nothing(claim, quotes):
        return Objection(Reason.UNRELATED, "its quotes speak of something else")
    if is_foreign or are_foreign or any(one.rows for one in quotes):
        return None
    if not is_computed and (word := turned_round(claim, texts)):
        return Objection(Reason.TURNED_ROUND, f"its quotes say the opposite of '{word}'")
    if is_surer(claim, texts):
        return Objection(Reason.SURER, "its quotes call possible what it tells as a fact")
    return None


def _objection(reason: Reason, written: Sequence[str], what: str) -> Objection:
    return Objection(reason, f"{', '.join(dict.fromkeys(written[:_MOST_TOLD]))} {what}")


def _is_foreign(text: str) -> bool:
    """Whether a text is in another language than English. Always False for fewer than five words,
    because so few do not show the language."""
    return len(words_of(text)) >= _LEAST_WORDS and not may_be_english(text)


def _missing_names(
    claim: str, quotes: Sequence[QuotedText], question: str, *, is_english: bool
) -> list[str]:
    """The names of a claim, as written, that occur neither in the question nor in or around the
    quotes. Proper names and acronyms are looked for only if claim and quotes are in English; codes
    such as "BMS-986158" always. Years and numbers are left to `check_numbers`. A name that has
    something similar in the texts is not returned."""
    names = [
        name
        for name in names_in(_POSSESSIVE.sub("", claim))
        if name.kind is NameKind.CODE
        or (is_english and name.kind not in (NameKind.YEAR, NameKind.NUMBER))
    ]  # years and numbers are looked for as numbers
    texts = [text for one in quotes for text in (one.chunk_text, one.byline, *one.frame)]
    missing = names_missing_in([question, *texts], names)
    return [name.text for name in missing if name.is_decisive]


def _rests_on_uncertain_rows(claim: str, quotes: Sequence[QuotedText]) -> bool:
    """Whether all quotes have rows of which it is not certain whose values they are, and the claim
    uses words of their cells. Words that are also in the title, caption or headers do not count:
    naming the table says nothing about its rows."""
    if any(one.is_certain for one in quotes):
        return False
    named = terms_of(" ".join(text for one in quotes for text in one.frame))
    held = terms_of(
        " ".join(cell.text for one in quotes for some in one.rows for _, cell in some.cells)
    )
    return not terms_of(claim).isdisjoint(held - named)


def _other_years(claim: str, quotes: Sequence[QuotedText], question: str) -> frozenset[int]:
    """Returns the years of the quotes if the question asks for a year and every quote is of other
    years; else an empty set. The claim must name the year that is asked for, or name no year where
    the question has a single part. A claim that names the year of its quotes misleads nobody."""
    asked, said = asked_years(question), years_in(claim)
    if not asked or not (are_in(asked, said) or (not said and len(read(question).parts) == 1)):
        return frozenset()
    told = [years_of(one, asked) for one in quotes]
    is_of_others = not any(are_in(asked, years) or not years for years in told)
    return frozenset[int]().union(*told) if is_of_others else frozenset()


def _shares_nothing(claim: str, quotes: Sequence[QuotedText]) -> bool:
    """Whether fewer than a tenth of the words of the claim are in its quotes or in the text around
    them (MIN_SHARED)."""
    own = terms_of(claim)
    held = frozenset[str]().union(
        *(terms_of(text) for one in quotes for text in (one.quote, *one.frame))
    )
    return bool(own) and len(own & held) < MIN_SHARED * len(own)
