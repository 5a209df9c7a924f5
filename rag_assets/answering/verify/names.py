"""Which words of a question or a claim are names, and which of these occur nowhere in what was
found for it.

Proper names, acronyms, codes, years, numbers and drugs count; papers use synonyms of ordinary
words. A name counts as found in another spelling: case, accents, hyphens, plurals and endings are
folded, an acronym may be written out, a written-out name may be an acronym, and a nationality
counts as its country where both begin alike.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from rapidfuzz.distance import OSA

from rag_assets.core.domain import Context
from rag_assets.core.text.folding import plain, plain_lower, scripts_as_plain
from rag_assets.core.text.names import capital_tells_a_name, has_words_before, is_in_title_case
from rag_assets.core.text.terms import QUESTION_WORDS, is_in_latin_script, may_be_english, stem_of
from rag_assets.questions.reading import STUDY

WORD = re.compile(r"[^\W_]+(?:[-‐‑–−.,/][^\W_]+)*")
"""A word, code or number; hyphens, points and slashes inside belong to it."""
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LEAST_NUMBER_CHARS = 2
_ACRONYM = re.compile(r"[A-Z]{2,8}s?")
_CODE = re.compile(r"(?=.*[^\W\d_])(?:[^\d\n]*+\d.*|[^\W_][^A-Z\n]*+[A-Z].*)")
"""Letters with a digit or with a capital behind the first."""
_SAID_OTHERWISE = re.compile(r"[FC]?Y\d{0,2}|[QH]\d{1,4}|\d[QH]|USD|EUR|GBP|JPY|CNY|CHF|FX")
"""Quarters, years of accounts, currencies: papers write them in words and signs."""
_FISCAL_YEAR_BEFORE = re.compile(r"\b(?:[FC]Y|Q[1-4]['’]?)(?=(?:19|20)\d\d\b)")
_LOOK_ROUND_CHARS = 80
_DRUG = re.compile(
    r"[a-z]{3,}(?:vir|mab|nib|cillin|mycin|azole|olol|pril|sartan|statin|gliptin|glutide|gliflozin|formin|caine|oxetine|"
    r"azepam|parin|floxacin|cycline|tidine|triptan|dronate|setron|lukast|platin|taxel)"
)
"""Ends in a stem of international nonproprietary names (World Health Organization, "The use of
stems")."""
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_DATES = re.compile(
    rf"\d+(?:st|nd|rd|th)|{_MONTH}|(?:mon|tues|wednes|thurs|fri|satur|sun)day",
    re.IGNORECASE,
)
"""Days and months are written in too many ways to say that they are missing."""
_STUDY_BEHIND = re.compile(rf"\)?,? (?:[\w-]+ ){{0,3}}?{STUDY}\b", re.IGNORECASE)
_WROTE = r"(?:propos|introduc|present|publish|appear|describ|develop|invent|wr[io]t)"
_PAPER_BEFORE = re.compile(
    rf"(?i:\b{STUDY} (?:of|from|in) |\b{_WROTE}\w*\b[^,;?]{{0,40}} in |[(\[]|\bet al\.?,? )$"
    rf"|\w (?!(?i:{_MONTH})\b)[A-Z]\w+,? $"
)
"""Text before the year in which a paper appeared: "the study of", "proposed in", "by Smith (",
"does Smith"."""
_PLACE = r"(?:pages?|pp?\.|sections?|chapters?|fig(?:ures?|\.)|tables?|appendix|lines?|parts?)"
_PLACE_WORD = re.compile(_PLACE, re.IGNORECASE)
"""Capitalised before a number, and no name."""
_PLACE_BEFORE = re.compile(rf"\b{_PLACE} $", re.IGNORECASE)


class NameKind(StrEnum):
    PROPER = "proper"
    CODE = "code"
    """Letters with digits or capitals inside: "BMS-986158", "YOLOv8", "RNaseL"."""
    ACRONYM = "acronym"
    DRUG = "drug"
    YEAR = "year"
    NUMBER = "number"


_IN_EVERY_LANGUAGE = (NameKind.CODE, NameKind.YEAR, NameKind.NUMBER)


@dataclass(frozen=True)
class Name:
    """A name in a question."""

    text: str
    """The name as written. Each word of "World Health Organization" is a name."""
    kind: NameKind
    run: tuple[str, ...]
    """The run of capitalised words that it belongs to; the name alone if there is no run."""
    is_loose: bool = False
    """Whether a paper may answer without it: the year in which the paper appeared stands in few of
    its sentences, the number of a page or section is no part of the text."""


def names_in(question: str) -> list[Name]:
    """The names of a question in order, each once.

    Proper names and acronyms are not read in a question in title case or in capitals, because every
    word has capitals there; nor in another language than English, because papers write these names
    otherwise, or the language writes all nouns with capitals.
    """
    if not is_in_latin_script(question):  # no blanks, or no capitals, tell names there
        return []
    question = unicodedata.normalize("NFC", scripts_as_plain(_FISCAL_YEAR_BEFORE.sub("", question)))
    told = question.lower() if is_in_title_case(question) else question
    is_english = "?" not in question or may_be_english(question)
    found: dict[str, Name] = {}
    for run in _runs(told):
        for word in run:
            kind = _kind(told, word)
            if kind is not None and (is_english or kind in _IN_EVERY_LANGUAGE):
                text, its_run = question[word.start() : word.end()], tuple(one[0] for one in run)
                name = Name(text, kind, its_run, _is_loose(question, word, kind))
                found.setdefault(word[0].casefold(), name)
    return list(found.values())


def _runs(question: str) -> Iterator[Sequence[re.Match[str]]]:
    """Yields the words of a question in order, grouped: neighbouring capitalised words with only
    white space between them are one group ("World Health Organization"), and every other word is a
    group of its own. The first word of a sentence does not count as capitalised."""
    run: list[re.Match[str]] = []
    for word in WORD.finditer(question):
        is_part = word[0][0].isupper() and capital_tells_a_name(question, *word.span())
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
    """The kind of name that a word is; None for ordinary words, dates, words such as "page",
    numbers of one digit, quarters and currencies. The order of the checks matters: "2019" is also a
    number, and "USD" also looks like an acronym. A question word in capitals is an acronym only
    behind other words of its sentence: "does the WHO", but not "WHO found"."""
    text = word[0]
    if _DATES.fullmatch(text) or _PLACE_WORD.fullmatch(text):
        return None
    if _YEAR.fullmatch(text):
        return NameKind.YEAR
    if _NUMBER.fullmatch(text):
        return NameKind.NUMBER if len(text) >= _LEAST_NUMBER_CHARS else None
    if _SAID_OTHERWISE.fullmatch(text):
        return None
    if _ACRONYM.fullmatch(text):
        is_shouted = text.casefold() in QUESTION_WORDS and not has_words_before(
            question, word.start()
        )
        return None if is_shouted else NameKind.ACRONYM
    if _CODE.fullmatch(text):
        return NameKind.CODE
    if _DRUG.fullmatch(text.casefold()):
        return NameKind.DRUG
    is_proper = (
        text[0].isupper() and text[1:2].isalpha() and capital_tells_a_name(question, *word.span())
    )
    return NameKind.PROPER if is_proper else None


def _is_loose(question: str, word: re.Match[str], kind: NameKind) -> bool:
    """Whether a paper may answer without this name: a year in which a paper appeared ("proposed in
    2019"), or the number of a page, section or table."""
    start, end = word.span()
    before, behind = (
        question[max(0, start - _LOOK_ROUND_CHARS) : start],
        question[end : end + _LOOK_ROUND_CHARS],
    )
    if kind is NameKind.YEAR:
        return bool(_STUDY_BEHIND.match(behind) or _PAPER_BEFORE.search(before))
    return _PLACE_BEFORE.search(before) is not None


_SEPARATORS = re.compile(r"[\W_]")
_LONGEST_JOINED = 3
"""Up to this many neighbouring words are also read as one: "YOLO v5" and "YOLOv5"."""
_FILLERS = frozenset("a an and by for in of on or the to with".split())
_SPELT_OUT = re.compile(r"([aou])e|(?<=a)a")
"""Umlauts as keyboards without them have them: "Muenster", "Aakesson", for what is plain "munster",
"akesson"."""
_MIN_COMMON_START = 4
"""Letters that a proper name and a word must begin with alike to count as one: "China" and
"Chinese"."""
_MIN_MISSPELT_CHARS = 8
"""Shorter names that differ in one letter are different names: "Ireland" and "Iceland"."""


@dataclass(frozen=True)
class MissingName:
    """A name that was not found."""

    text: str
    """The name as written, with all its words."""
    is_decisive: bool
    """Whether what was found must be about something else. Not where a paper may answer without the
    name, nor where part of the name was found, a word that differs in one letter or one that an
    acronym may be short for."""


def missing_names(question: str, contexts: Sequence[Context]) -> tuple[MissingName, ...]:
    """The names of the question that occur in no context, section title, paper id or record of a
    paper."""
    texts = (
        (
            one.text,
            one.section_title,
            one.paper_id,
            one.paper.title,
            one.paper.year,
            *one.paper.authors,
        )
        for one in contexts
    )
    return names_missing_in([text for some in texts for text in some], names_in(question))


def names_missing_in(texts: Sequence[str], names: Sequence[Name]) -> tuple[MissingName, ...]:
    """The names that occur in none of the texts, each once. A word of a longer name is returned as
    the whole name."""
    found = _FoundWords.of(texts) if names else None
    missing: dict[str, MissingName] = {}
    for name in names:
        if found is not None and not found.holds(name):
            text = " ".join(name.run)
            is_decisive = not (name.is_loose or found.has_similar(name))
            missing.setdefault(text, MissingName(text, is_decisive))
    return tuple(missing.values())


@dataclass(frozen=True)
class _FoundWords:
    """The words that were found."""

    words: tuple[str, ...]
    """In order, in small letters, compounds in parts."""
    capitalised: frozenset[str]
    """The words that are written with a capital somewhere, in small letters."""

    @classmethod
    def of(cls, texts: Sequence[str]) -> "_FoundWords":
        written = [word for text in texts for word in _words(text)]
        capitalised = frozenset(word.casefold() for word in written if word[0].isupper())
        return cls(tuple(word.casefold() for word in written), capitalised)

    @cached_property
    def _joined(self) -> frozenset[str]:
        """Each word, and each two or three neighbouring words written as one."""
        return frozenset(
            "".join(self.words[start : start + n])
            for start in range(len(self.words))
            for n in range(1, _LONGEST_JOINED + 1)
        )

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(stem_of(word) for word in set(self.words))

    @cached_property
    def _starts(self) -> frozenset[str]:
        return frozenset(word[:_MIN_COMMON_START] for word in self.capitalised)

    @cached_property
    def _initials(self) -> str:
        """The first letters of all words in order, once without words such as "of" and once with
        them, because an acronym may leave these out."""
        without = "".join(word[0] for word in self.words if word not in _FILLERS)
        return without + " " + "".join(word[0] for word in self.words)

    def holds(self, name: Name) -> bool:
        """Whether a name is among the words, in one of its spellings.

        Every name may be written in one piece or in up to three words ("YOLO v5"), in the singular
        or plural, or with another ending. A year may be inside a word; a number may not. The parts
        of a compound may occur apart. A proper name may have another ending ("China" and "Chinese")
        or umlauts with two letters ("Muenster"). An acronym may be written out, and a written-out
        name may be an acronym.
        """
        parts = [part.casefold() for part in _words(_without_ordinary_parts(name.text))]
        written = "".join(parts)
        if (
            any(
                form in self._joined for form in (written, written.removesuffix("s"), f"{written}s")
            )
            or stem_of(written) in self._stems
        ):
            return True
        if name.kind is NameKind.YEAR:
            return any(name.text in word for word in self.words)
        if name.kind is NameKind.NUMBER:
            return False
        # a compound, whose parts may occur apart
        if (
            len(parts) > 1
            and written.isalpha()
            and all(len(part) > 1 and part in self._joined for part in parts)
        ):
            return True
        if name.kind is NameKind.PROPER and (
            written[:_MIN_COMMON_START] in self._starts
            or _SPELT_OUT.sub(r"\1", written) in self.capitalised
        ):
            return True
        return self._holds_acronym(name, written)

    def has_similar(self, name: Name) -> bool:
        """Whether something like the name is among the words: another word of a name of several
        words, a word that differs from the name in one letter, or a word that an acronym may be
        short for."""
        if any(word != name.text and plain_lower(word) in self._joined for word in name.run):
            return True
        written = plain_lower(name.text)
        if name.kind is NameKind.ACRONYM:
            short = written.removesuffix("s")
            return any(
                word.endswith(short) or _may_be_short_for(short, word) for word in set(self.words)
            )
        return len(written) >= _MIN_MISSPELT_CHARS and any(
            OSA.distance(written, word, score_cutoff=1) <= 1
            for word in set(self.words)
            if word[0] == written[0]
        )

    def _holds_acronym(self, name: Name, written: str) -> bool:
        """Whether the words that an acronym abbreviates are there, or the acronym of a name of
        several words."""
        if name.kind is NameKind.ACRONYM and written.removesuffix("s") in self._initials:
            return True
        acronym = "".join(plain_lower(word[0]) for word in name.run)
        return len(acronym) > 1 and acronym in self._joined


def _may_be_short_for(acronym: str, word: str) -> bool:
    """Whether a word begins with the first letter of an acronym and has its other letters later, in
    order, no two of them side by side: "uv" and "ultraviolet"."""
    at = 0 if word[0] == acronym[0] else -1
    for letter in acronym[1:]:
        at = word.find(letter, at + 2) if at >= 0 else -1
    return at >= 0


def _without_ordinary_parts(text: str) -> str:
    """A compound without its parts in small letters: "anti-Salmonella" gives "Salmonella", and
    "IFN-defective" gives "IFN"."""
    parts = re.split(r"(?<=\w)[-‐‑–−](?=\w)", text)
    return "-".join(part for part in parts if not part.islower()) or text


def _words(text: str) -> list[str]:
    return [part for word in WORD.findall(plain(text)) for part in _SEPARATORS.split(word) if part]
