"""Values and names: what the text of a cell says about the cell."""

import re

_SAMPLE_SIZE = re.compile(r"\bn\s*=\s*[\d,]+", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\w.,$€£-])(?:19|20)\d\d(?:[-–/](?:(?:19|20)?\d\d))?(?![\d%]|[.,]\d)")
_STATISTIC = re.compile(r"[^\W\d_]{1,3}²?\([\d.,=nN]+\)")
"""A statistic with its degrees of freedom, "F(1, 194)", without a result."""
_CODE = re.compile(r"[^\W\d_][\w-]*\d[\w-]*")
_MOST_LETTERS_IN_VALUE = 0.34
_BRACKET = r"\([^()]*\)|\[[^\[\]]*\]"
_VALUE = r"(?:[<>≤≥=]\s?)?[-−–+]?\s?[$€£]?\.?\d[\d.,]*%?(?:\s?[*†‡]+)?"
_VALUES = (re.compile(rf"{_VALUE}(?:\s*(?:{_BRACKET}))?"), re.compile(rf"{_VALUE}|{_BRACKET}"))
"""A value with the bracket that follows it, "0.12 (0.04)", or a value or a bracket by itself."""
_ASIDE = re.compile(rf"(?:{_BRACKET}|\s)+")
_MARKS = re.compile(r"[%±/×]|[(\[](?=.*\d)|\.\d|(?<=\d)[-–]\d")
_DIGITS = re.compile(r"\d+")


def is_value(text: str) -> bool:
    """Whether a cell holds a value rather than a name: digits and few letters; no years ("2018 vs
    2017"), "n = 20", "F(1, 194)" or code such as "BMS-986158"."""
    bare = "".join(_YEAR.sub("", _SAMPLE_SIZE.sub("", text)).split()).replace("()", "")
    is_name = _STATISTIC.fullmatch(bare) or _CODE.fullmatch(text.strip())
    if is_name or bare.endswith(",") or not any(map(str.isdecimal, bare)):
        return False
    return sum(map(str.isalpha, bare)) < _MOST_LETTERS_IN_VALUE * len(bare)


def is_aside(text: str) -> bool:
    """Whether a cell holds brackets only, as what is printed below a value or a name does:
    "(0.03)"."""
    return _ASIDE.fullmatch(text) is not None


def kind_of(text: str) -> str:
    """What cells of one kind have in common: words, or the marks of their values, as "%" and
    brackets. Empty for a cell that says nothing, as "-" does."""
    if not is_value(text):
        return "words" if any(map(str.isalnum, text)) else ""
    return "value" + "".join(sorted({_DIGITS.sub("0", mark) for mark in _MARKS.findall(text)}))


def shape_of(text: str) -> str:
    """The text with one digit for each number: names that differ in their numbers only have one
    shape."""
    return _DIGITS.sub("0", text).replace(",0", "")


def values_in(text: str, n_columns: int) -> list[str] | None:
    """One value for each column, the first of which may be the row's name; None for other text:
    "May 31, 2018"."""
    for pattern in _VALUES:
        values = list(pattern.finditer(text))
        if not all(is_value(value[0]) for value in values):
            continue
        between = pattern.sub("", text).strip()
        if len(values) == n_columns and not between:
            return [value[0].strip() for value in values]
        if (
            len(values) == n_columns - 1 > 1
            and text.startswith(between)
            and not between[:1].isdigit()
        ):
            return [between, *(value[0].strip() for value in values)]
    return None


def repeats_in(text: str, n_columns: int) -> list[str] | None:
    """One label for each column; they differ in their numbers only: "Age 23 (n = 12) Age 33 (n =
    14)"."""
    words = text.split()
    each, rest = divmod(len(words), n_columns)
    labels = (
        [" ".join(words[at : at + each]) for at in range(0, len(words), each)]
        if each and not rest
        else []
    )
    is_alike = len(set(map(shape_of, labels))) == 1 and _DIGITS.search(text) is not None
    return labels if is_alike and len(set(labels)) == n_columns else None
