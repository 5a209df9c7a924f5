"""Which words of a question are names: proper names, acronyms, codes, years, numbers, drugs.

Ordinary words are no names: papers say them in other words. Whether a paper holds a name is found in `missing_names`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

WORD = re.compile(r"[^\W_]+(?:[-‐‑–−.,/][^\W_]+)*")
"""A word, code or number; hyphens, points and slashes inside belong to it."""
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LEAST_NUMBER_CHARS = 2
_ACRONYM = re.compile(r"[A-Z]{2,8}s?")
_CODE = re.compile(r"(?=.*[^\W\d_])(?:.*\d.*|[^\W_]+.*[A-Z].*)")
"""Letters with a digit or with a capital behind the first."""
_SAID_OTHERWISE = re.compile(r"[FC]?Y\d{0,2}|[QH]\d{1,4}|\d[QH]|USD|EUR|GBP|JPY|CNY|CHF|FX")
"""Quarters, years of accounts, currencies: papers write them in words and signs."""
_FISCAL_YEAR_BEFORE = re.compile(r"\b(?:[FC]Y|Q[1-4]['’]?)(?=(?:19|20)\d\d\b)")
_CAPITALISED = re.compile(r"[A-Z][^\W\d_]+")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s)[\W_]*$")
_LOOK_BACK_CHARS = 8
_TITLE_CASE_SHARE, _TITLE_CASE_WORDS = 0.6, 4
"""From this share of capitalised words on, and in so many words, capitals tell no names apart."""
_DRUG = re.compile(
    r"[a-z]{3,}(?:vir|mab|nib|cillin|mycin|azole|olol|pril|sartan|statin|gliptin|glutide|gliflozin|formin|caine|oxetine|"
    r"azepam|parin|floxacin|cycline|tidine|triptan|dronate|setron|lukast|platin|taxel)"
)
"""Ends in a stem of international nonproprietary names (World Health Organization, "The use of stems")."""
_DATES = re.compile(
    r"\d+(?:st|nd|rd|th)|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day",
    re.IGNORECASE,
)
"""Days and months are written in too many ways to say that they are missing."""


class NameKind(StrEnum):
    """What kind of name it is."""

    PROPER = "proper"
    CODE = "code"
    """Letters with digits or capitals inside: "BMS-986158", "YOLOv8", "RNaseL"."""
    ACRONYM = "acronym"
    DRUG = "drug"
    YEAR = "year"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a question."""

    text: str
    """As it was written. Each word of "World Health Organization" is a name."""
    kind: NameKind
    run: tuple[str, ...]
    """The capitalised words it stands among, itself included; it alone where there are none."""


def names_in(question: str) -> list[Name]:
    """The names of a question in order, each once.

    The first word of a sentence is a name only if it is a code. A question in title case or in capitals has no proper
    names and no acronyms.
    """
    question = _FISCAL_YEAR_BEFORE.sub("", question)
    told = question if _tells_names_by_capitals(question) else question.casefold()
    found: dict[str, Name] = {}
    for run in _runs(told):
        for word in run:
            kind = _kind(told, word)
            if kind is not None:
                name = Name(question[word.start() : word.end()], kind, tuple(one[0] for one in run))
                found.setdefault(word[0].casefold(), name)
    return list(found.values())


def _tells_names_by_capitals(question: str) -> bool:
    words = [word for word in question.split() if word[0].isalpha()]
    n_capitalised = sum(word[0].isupper() for word in words)
    return len(words) < _TITLE_CASE_WORDS or n_capitalised < _TITLE_CASE_SHARE * len(words)


def _runs(question: str) -> Iterator[Sequence[re.Match[str]]]:
    """The words one by one; capitalised words that stand side by side together."""
    run: list[re.Match[str]] = []
    for word in WORD.finditer(question):
        is_part = word[0][0].isupper() and not _begins_sentence(question, word)
        if run and not (is_part and question[run[-1].end() : word.start()].isspace()):
            yield run
            run = []
        if is_part:
            run.append(word)
        else:
            yield [word]
    if run:
        yield run


def _kind(question: str, word: re.Match[str]) -> NameKind | None:
    text = word[0]
    if _DATES.fullmatch(text):
        return None
    if _YEAR.fullmatch(text):
        return NameKind.YEAR
    if _NUMBER.fullmatch(text):
        return NameKind.NUMBER if len(text) >= _LEAST_NUMBER_CHARS else None
    if _SAID_OTHERWISE.fullmatch(text):
        return None
    if _ACRONYM.fullmatch(text):
        return None if _is_explained(question, word) else NameKind.ACRONYM
    if _CODE.fullmatch(text):
        return NameKind.CODE
    if _DRUG.fullmatch(text.casefold()):
        return NameKind.DRUG
    return NameKind.PROPER if _CAPITALISED.match(text) and not _begins_sentence(question, word) else None


def _begins_sentence(question: str, word: re.Match[str]) -> bool:
    start = word.start()
    return _SENTENCE_START.search(question, max(0, start - _LOOK_BACK_CHARS), start) is not None


def _is_explained(question: str, word: re.Match[str]) -> bool:
    """Whether an acronym in brackets follows the words it stands for: "days payable outstanding (DPO)"."""
    before = question[: word.start()].rstrip()
    if not before.endswith("("):
        return False
    initials = "".join(one[0][0] for one in WORD.finditer(before)).casefold()
    return initials.endswith(word[0].removesuffix("s").casefold())
