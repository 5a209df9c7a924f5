"""The figures of a sentence that can be compared with those of another: value or range, and the words around it.

Test statistics, sample sizes, p values, years and standard deviations belong to one analysis and are left out.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from rag_assets.answering.agreement.terms import content_terms
from rag_assets.answering.citations.number_agreement import may_be_same
from rag_assets.answering.citations.quantities import DECADE, P_VALUE, PLAIN, YEAR, Quantity, placed_quantities

_NUMBER = r"[-+]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)"
_STATISTIC = re.compile(
    rf"(?:(?<![\w'])(?:F|t|z|r|b|g|d|p|ps|U|W|N|n|df|SD|SDs|SE|SEM|OP|OR|RR|HR|IRR|BF|ICC|ACME|ADE|EMM|R ?\^?2|"
    rf"ηp?|η ?p? ?\^?2?|β|γ|α|χ ?\^?2?|κ|τ ?\^?2?|Δ\w*|Cohen's d|moi|Ct)(?: \d\d)?"
    rf"\s?(?:\([^()]{{0,20}}\)?)?\s?[=<>≤≥]{{1,2}}\s?{_NUMBER}(?: ?[×x] ?10\^?{_NUMBER})?|\bF\(\d+,?\s?\d*\)?)"
)
_INTERVAL = re.compile(
    rf"[(\[,;]?\s?(?:(?:90|95|99) ?% ?)?(?:\(?(?:CI|CrI|confidence interval|credible interval|range|IQR)\)?s?)\s?"
    rf"(?:of|=|:|from|,)?\s?[\[(]?\s?(?P<low>{_NUMBER})\s?%?\s?(?:-|–|to|,|;)\s?(?P<high>{_NUMBER})\s?%?\s?[\])]*",
    re.IGNORECASE,
)
_BRACKETED = re.compile(rf"[\[(]\s?(?P<low>{_NUMBER})\s?%?\s?(?:-|–|;|to)\s?(?P<high>{_NUMBER})\s?%?\s?[\])]")
_RANGE = re.compile(r"\s?(?:-|–|to|and)\s?")
_REACH_CHARS = 70
_FAR = Decimal("1.25")
_SAMPLE_AFTER = re.compile(
    r"\s(?:\w+ ){0,2}(?:participants|patients|subjects|volunteers|respondents|observers|students|children|"
    r"adults|infants|women|men|females?|males?|trials|specimens|samples|articles|studies)\b",
    re.IGNORECASE,
)
_CONFIDENCE_AFTER = re.compile(r"\s?(?:confidence|credible|CI\b|CrI\b|(?:were )?(?:fe)?male\b)", re.IGNORECASE)
_TAKEN_PART = re.compile(
    r"\s[^.;]{0,60}\b(?:were|was|had been|have been) (?:\w+ )?(?:test|examin|includ|enrol|recruit|exclud|stud|assess|"
    r"remov|collect|survey|interview)\w*",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\s(?:[a-z-]+ )?[a-z]{2,}s\b")
_AGE_BEFORE = re.compile(
    r"(?:\bage\w* (?:of|was|=|:)? ?|\bM ?= ?|\b(?:mean|median|average) age\b[^.;,]{0,60})$", re.IGNORECASE
)
"""Who was studied: every paper has figures of its own there, and none contradicts another's."""
_KINDS_LEFT_OUT = frozenset((YEAR, P_VALUE, DECADE))


@dataclass(frozen=True)
class Figure:
    """A number, a range, or a number with its interval, and what it measures."""

    quantity: Quantity
    low: Decimal
    high: Decimal
    """`low` to `high` is what the sentence allows: the value alone, a range, or an interval around the value."""
    terms: frozenset[str]
    """Stems of the content words around it."""
    is_count: bool
    """It counts things: "300 cases". Counts differ with the day and the place, so they contradict nothing."""

    def agrees(self, other: "Figure") -> bool:
        """Whether both may be the same: equal as written or rounded, or each within what the other allows."""
        if self.is_limit or other.is_limit:
            return self.is_comparable(other) and self.low == other.low
        if may_be_same(self.quantity, other.quantity) or may_be_same(other.quantity, self.quantity):
            return True
        return self.is_comparable(other) and self.low <= other.high and other.low <= self.high

    @property
    def is_limit(self) -> bool:
        """Whether it says how much at most or at least: "under 15 years"."""
        return self.quantity.bound in ("more", "less")

    def is_far_from(self, other: "Figure") -> bool:
        """Whether both are measured, and one is more than a quarter larger than the other."""
        if self.is_count or other.is_count or self.is_limit or other.is_limit:
            return False
        low, high = sorted((abs(self.quantity.value), abs(other.quantity.value)))
        return high > low * _FAR

    def is_comparable(self, other: "Figure") -> bool:
        """Whether they are of one kind: 5 mg says nothing of 5 ml."""
        return self.quantity.kind == other.quantity.kind


def without_statistics(text: str) -> str:
    """The text with test statistics blanked out, offsets kept."""
    return _STATISTIC.sub(lambda match: " " * len(match[0]), text)


def figures_of(text: str) -> tuple[Figure, ...]:
    """The figures of a text from `normalized_numbers` and `without_statistics`, in order."""
    intervals = [*_INTERVAL.finditer(text), *_BRACKETED.finditer(text)]
    found = [
        item
        for item in placed_quantities(text)
        if not _is_left_out(item, intervals) and not _describes_sample(text, item)
    ]
    return tuple(_figure(text, run, intervals) for run in _runs(text, found))


def _is_left_out(item: tuple[int, int, Quantity], intervals: Iterable[re.Match[str]]) -> bool:
    start, _, quantity = item
    is_inside = any(interval.start() <= start < interval.end() for interval in intervals)
    return is_inside or quantity.is_vague or quantity.kind in _KINDS_LEFT_OUT


def _describes_sample(text: str, item: tuple[int, int, Quantity]) -> bool:
    start, end, quantity = item
    is_confidence = _CONFIDENCE_AFTER.match(text, end) is not None
    if is_confidence or (quantity.kind == PLAIN and (_SAMPLE_AFTER.match(text, end) or _TAKEN_PART.match(text, end))):
        return True
    return _AGE_BEFORE.search(text, max(0, start - _REACH_CHARS), start) is not None


def _runs(text: str, found: Sequence[tuple[int, int, Quantity]]) -> list[list[tuple[int, int, Quantity]]]:
    """Numbers joined by a dash or "to" together: "5-6 days" is one figure."""
    runs: list[list[tuple[int, int, Quantity]]] = []
    for item in found:
        last = runs[-1][-1] if runs else None
        if last and last[2].kind == item[2].kind and len(runs[-1]) == 1 and _is_range(text, last, item):
            runs[-1].append(item)
        else:
            runs.append([item])
    return runs


def _is_range(text: str, one: tuple[int, int, Quantity], other: tuple[int, int, Quantity]) -> bool:
    between = _RANGE.fullmatch(text, one[1], other[0])
    if between is None or one[2].value >= other[2].value:
        return False
    return "and" not in between[0] or text[: one[0]].rstrip().endswith("between")


def _figure(text: str, run: Sequence[tuple[int, int, Quantity]], intervals: Iterable[re.Match[str]]) -> Figure:
    (start, _, first), (_, end, last) = run[0], run[-1]
    low, high = first.value, last.value
    for interval in intervals:
        if 0 <= interval.start() - end <= 3:
            low, high = sorted(Decimal(interval[side].replace(",", "")) * first.unit_scale for side in ("low", "high"))
            break
    is_count = last.kind == PLAIN and _COUNTED.match(text, end) is not None
    return Figure(first, low, high, _terms_around(text, start, end), is_count)


def _terms_around(text: str, start: int, end: int) -> frozenset[str]:
    return content_terms(text[max(0, start - _REACH_CHARS) : start] + " " + text[end : end + _REACH_CHARS // 2])
