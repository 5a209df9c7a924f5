"""Years and quarters as people and file names write them: "FY2018", "FY18", "Q2 2023", "2023Q2", "2Q23", "Q22023"."""

import re

_YEAR = r"(?:19|20)\d\d"
_SHORT_YEAR = r"\d\d"
_FISCAL = r"(?:FY|fiscal(?:[\s-]+year)?)"
_FISCAL_YEAR = re.compile(rf"\b{_FISCAL}[\s-]*['’]?({_YEAR}|{_SHORT_YEAR})(?!\d)", re.IGNORECASE)
_ANY_YEAR = re.compile(rf"(?<!\d)({_YEAR})(?!\d)")
_QUARTER = re.compile(
    rf"(?<![^\W\d_])Q([1-4])(?:({_YEAR})(?!\d)|(?!\d)(?:\s*(?:of\s+)?(?:{_FISCAL}\s*['’]?|['’])({_SHORT_YEAR})(?!\d))?)",
    re.IGNORECASE,
)
_COUNTED_QUARTER = re.compile(rf"\b([1-4])Q(?:['’]?({_YEAR}|{_SHORT_YEAR})(?!\d)|(?!\d))", re.IGNORECASE)
_SPELT_QUARTER = re.compile(
    r"\b(first|second|third|fourth|1st|2nd|3rd|4th)[\s-]+(?:fiscal[\s-]+)?quarter\b", re.IGNORECASE
)
_ORDINALS = {"first": "1", "second": "2", "third": "3", "fourth": "4", "1st": "1", "2nd": "2", "3rd": "3", "4th": "4"}


def periods_in(text: str) -> frozenset[str]:
    """The years ("2023") and quarters ("q2") that a text names; of a year in two digits, that of this century."""
    quarters = [match.groups() for pattern in (_QUARTER, _COUNTED_QUARTER) for match in pattern.finditer(text)]
    of_quarters = [year for _, *stated in quarters for year in stated if year]
    years = [*_FISCAL_YEAR.findall(text), *_ANY_YEAR.findall(text), *of_quarters]
    numbers = [number for number, *_ in quarters]
    numbers += [_ORDINALS[match[1].casefold()] for match in _SPELT_QUARTER.finditer(text)]
    return frozenset(year if len(year) == 4 else f"20{year}" for year in years) | {f"q{number}" for number in numbers}
