"""Which words of a question or a claim are names: proper names, acronyms, codes, years, numbers, drugs.

Ordinary words do not count: papers use synonyms of them. Whether a paper has a name is decided in `missing_names`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rag_assets.questions.reading import STUDY

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
_LOOK_ROUND_CHARS = 80
_TITLE_CASE_SHARE, _TITLE_CASE_WORDS = 0.6, 4
"""From this share of capitalised words on, and in so many words, capitals tell no names apart."""
_DRUG = re.compile(
    r"[a-z]{3,}(?:vir|mab|nib|cillin|mycin|azole|olol|pril|sartan|statin|gliptin|glutide|gliflozin|formin|caine|oxetine|"
    r"azepam|parin|floxacin|cycline|tidine|triptan|dronate|setron|lukast|platin|taxel)"
)
"""Ends in a stem of international nonproprietary names (World Health Organization, "The use of stems")."""
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_DATES = re.compile(
    rf"\d+(?:st|nd|rd|th)|{_MONTH}|(?:mon|tues|wednes|thurs|fri|satur|sun)day",
    re.IGNORECASE,
)
"""Days and months are written in too many ways to say that they are missing."""
_MONTH_BEFORE = re.compile(rf"\b{_MONTH}\.? $", re.IGNORECASE)
_MONTH_BEHIND = re.compile(rf" (?:of )?{_MONTH}\b", re.IGNORECASE)
_DAY = re.compile(r"[0-3]?\d")
_STUDY_BEHIND = re.compile(rf"\)?,? (?:[\w-]+ ){{0,3}}?{STUDY}\b", re.IGNORECASE)
_WROTE = r"(?:propos|introduc|present|publish|appear|describ|develop|invent|wr[io]t)"
_PAPER_BEFORE = re.compile(
    rf"(?i:\b{STUDY} (?:of|from|in) |\b{_WROTE}\w*\b[^,;?]{{0,40}} in |[(\[]|\bet al\.?,? )$"
    rf"|\w (?!(?i:{_MONTH})\b)[A-Z]\w+,? $"
)
"""Text before the year in which a paper appeared: "the study of", "proposed in", "by Smith (", "does Smith"."""
_SHARE_BEHIND = re.compile(r"\s?(?:%|per ?cent\b|thousand\b|million\b|billion\b|times\b|-?fold\b)", re.IGNORECASE)
_PLACE = r"(?:pages?|pp?\.|sections?|chapters?|fig(?:ures?|\.)|tables?|appendix|lines?|parts?)"
_PLACE_WORD = re.compile(_PLACE, re.IGNORECASE)
"""Capitalised before a number, and no name."""
_PLACE_BEFORE = re.compile(rf"\b{_PLACE} $", re.IGNORECASE)


class NameKind(StrEnum):
    """Kinds of names."""

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
    """The name as written. Each word of "World Health Organization" is a name."""
    kind: NameKind
    run: tuple[str, ...]
    """The run of capitalised words that it belongs to; the name alone if there is no run."""
    is_loose: bool = False
    """Whether a paper may answer without it: the year in which the paper appeared stands in few of its sentences,
    shares and large amounts are rounded and written out, the number of a page or section is no part of the text."""


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
                text, its_run = question[word.start() : word.end()], tuple(one[0] for one in run)
                name = Name(text, kind, its_run, _is_loose(question, word, kind))
                found.setdefault(word[0].casefold(), name)
    return list(found.values())


def _tells_names_by_capitals(question: str) -> bool:
    words = [word for word in question.split() if word[0].isalpha()]
    n_capitalised = sum(word[0].isupper() for word in words)
    return len(words) < _TITLE_CASE_WORDS or n_capitalised < _TITLE_CASE_SHARE * len(words)


def _runs(question: str) -> Iterator[Sequence[re.Match[str]]]:
    """The words one by one; adjacent capitalised words together."""
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
    if _DATES.fullmatch(text) or _PLACE_WORD.fullmatch(text):
        return None
    if _YEAR.fullmatch(text):
        return NameKind.YEAR
    if _NUMBER.fullmatch(text):
        is_told = len(text) >= _LEAST_NUMBER_CHARS and not _is_day(question, word)
        return NameKind.NUMBER if is_told else None
    if _SAID_OTHERWISE.fullmatch(text):
        return None
    if _ACRONYM.fullmatch(text):
        return None if _is_explained(question, word) else NameKind.ACRONYM
    if _CODE.fullmatch(text):
        return NameKind.CODE
    if _DRUG.fullmatch(text.casefold()):
        return NameKind.DRUG
    return NameKind.PROPER if _CAPITALISED.match(text) and not _begins_sentence(question, word) else None


def _is_day(question: str, word: re.Match[str]) -> bool:
    """Whether a number is the day of a date: "27 February", "June 30, 2023"."""
    before, behind = _around(question, word)
    has_month = _MONTH_BEFORE.search(before) or _MONTH_BEHIND.match(behind)
    return _DAY.fullmatch(word[0]) is not None and has_month is not None


def _is_loose(question: str, word: re.Match[str], kind: NameKind) -> bool:
    before, behind = _around(question, word)
    if kind is NameKind.YEAR:
        return bool(_STUDY_BEHIND.match(behind) or _PAPER_BEFORE.search(before))
    return bool(_SHARE_BEHIND.match(behind) or _PLACE_BEFORE.search(before))


def _around(question: str, word: re.Match[str]) -> tuple[str, str]:
    """The text right before and after a word."""
    start, end = word.span()
    return question[max(0, start - _LOOK_ROUND_CHARS) : start], question[end : end + _LOOK_ROUND_CHARS]


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
