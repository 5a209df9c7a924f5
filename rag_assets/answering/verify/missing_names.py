"""Finds the names of a question, or of a claim, that occur nowhere in what was found for it.

A name counts as found in another spelling: case, hyphens, plurals and endings are folded, numbers may
be words, an acronym may be written out, a written-out name may be an acronym, a nationality counts as its country.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz.distance import OSA

from rag_assets.answering.verify.names import WORD, Name, NameKind, names_in
from rag_assets.core.domain import Context
from rag_assets.core.text.numbers.spelling import IN_WORDS
from rag_assets.core.text.terms import stem_of

_SEPARATORS = re.compile(r"[\W_]")
_LONGEST_JOINED = 3
"""Up to this many neighbouring words are also read as one: "YOLO v5" and "YOLOv5"."""
_MIN_COMMON_START = 4
"""Letters that a proper name and a word must begin with alike to count as one: "China" and "Chinese"."""
_MIN_MISSPELT_CHARS = 8
"""Shorter names that differ in one letter are different names: "Ireland" and "Iceland"."""
_FILLERS = frozenset("a an and by for in of on or the to with".split())
_SAME = (
    frozenset("french france".split()),
    frozenset("spanish spain spaniards".split()),
    frozenset("dutch netherlands holland".split()),
    frozenset("british britain uk gb england english scotland scottish wales welsh unitedkingdom greatbritain".split()),
    frozenset("american americans america us usa unitedstates".split()),
    frozenset("polish poland poles".split()),
    frozenset("danish denmark danes".split()),
    frozenset("greek greeks greece".split()),
    frozenset("turkish turkey turks".split()),
    frozenset("thai thailand".split()),
    frozenset("swiss switzerland".split()),
    frozenset("swedish sweden swedes".split()),
    frozenset("irish ireland".split()),
    frozenset("peruvian peru".split()),
    frozenset("iraqi iraq".split()),
    frozenset("cuban cuba".split()),
    frozenset("eu europe european europeans europeanunion".split()),
)
"""Countries and their people whose names do not begin with four equal letters."""


@dataclass(frozen=True, slots=True)
class MissingName:
    """A name that was not found."""

    text: str
    """The name as written, with all its words."""
    is_decisive: bool
    """Whether what was found must be about something else. Not where a paper may answer without the name, nor where
    part of the name was found, a word that differs in one letter or one that an acronym may be short for."""


def missing_names(question: str, contexts: Sequence[Context]) -> tuple[MissingName, ...]:
    """The names of the question that occur in no context, section title or paper id."""
    texts = [text for one in contexts for text in (one.text, one.section_title, one.paper_id.replace("_", " "))]
    return names_missing_in(texts, names_in(question))


def names_missing_in(texts: Sequence[str], names: Sequence[Name]) -> tuple[MissingName, ...]:
    """The names that occur in none of the texts."""
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
        """Every word, and up to `_LONGEST_JOINED` neighbours as one."""
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
        """First letters of all words, with and without those that an acronym leaves out."""
        without = "".join(word[0] for word in self.words if word not in _FILLERS)
        return without + " " + "".join(word[0] for word in self.words)

    def holds(self, name: Name) -> bool:
        parts = [part.casefold() for part in _words(_without_ordinary_parts(name.text))]
        written = "".join(parts)
        if any(form in self._joined for form in _forms(written)) or stem_of(written) in self._stems:
            return True
        if name.kind is NameKind.YEAR:
            return any(name.text in word for word in self.words)
        if name.kind is NameKind.NUMBER:
            return False
        if len(parts) > 1 and written.isalpha() and all(len(part) > 1 and part in self._joined for part in parts):
            return True
        return self._holds_kin(name, written) or self._holds_acronym(name, written)

    def has_similar(self, name: Name) -> bool:
        """Whether another word of a name of several words is there, a word that differs from it in one letter, or one
        that an acronym may be short for."""
        if any(word != name.text and word.casefold() in self._joined for word in name.run):
            return True
        written = name.text.casefold()
        if name.kind is NameKind.ACRONYM:
            short = written.removesuffix("s")
            return any(word.endswith(short) or _may_be_short_for(short, word) for word in set(self.words))
        return len(written) >= _MIN_MISSPELT_CHARS and any(
            OSA.distance(written, word, score_cutoff=1) <= 1 for word in set(self.words) if word[0] == written[0]
        )

    def _holds_kin(self, name: Name, written: str) -> bool:
        """Whether a word that begins alike is there, or the country of a nationality."""
        if name.kind is NameKind.PROPER and written[:_MIN_COMMON_START] in self._starts:
            return True
        names = {written, "".join(name.run).casefold()}
        return any(not same.isdisjoint(names) and not same.isdisjoint(self._joined) for same in _SAME)

    def _holds_acronym(self, name: Name, written: str) -> bool:
        """Whether the words that an acronym stands for are there, or the acronym of a name of several words."""
        if name.kind is NameKind.ACRONYM and written.removesuffix("s") in self._initials:
            return True
        acronym = "".join(word[0].casefold() for word in name.run)
        return len(acronym) > 1 and acronym in self._joined


def _may_be_short_for(acronym: str, word: str) -> bool:
    """Whether a word begins with the first letter of an acronym and has the others in order, all apart: "uv" and
    "ultraviolet"."""
    at = 0 if word[0] == acronym[0] else -1
    for letter in acronym[1:]:
        at = word.find(letter, at + 2) if at >= 0 else -1
    return at >= 0


def _without_ordinary_parts(text: str) -> str:
    """A compound without its parts in small letters: of "anti-Salmonella" and "IFN-defective" only the name."""
    parts = re.split(r"(?<=\w)[-‐‑–−](?=\w)", text)
    return "-".join(part for part in parts if not part.islower()) or text


def _words(text: str) -> list[str]:
    """The words; a number without separators, any other compound in its parts."""
    found: list[str] = []
    for match in WORD.finditer(text):
        is_number = match[0][0].isdigit() and match[0].replace(",", "").replace(".", "").isdigit()
        found += [_SEPARATORS.sub("", match[0])] if is_number else _SEPARATORS.split(match[0])
    return [word for word in found if word]


def _forms(written: str) -> tuple[str, ...]:
    """A word and its singular; a number and its word."""
    return tuple(dict.fromkeys((written, written.removesuffix("s"), f"{written}s", IN_WORDS.get(written, written))))
