"""Tells which row or column of a table a text names.

Names are compared by the stems of their words; a stem weighs more the fewer rows (or columns) have it. Words in
brackets may be left out, and common abbreviations of statistics are read as what they stand for.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from py_rust_stemmers import SnowballStemmer
from rapidfuzz.distance import Prefix

from rag_assets.text.numbers.spelling import normalized_numbers

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*(?:\d+(?:\.\d+)*)?|%")
_IN_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_STEMMER = SnowballStemmer("english")
_PHRASES = tuple(
    (re.compile(rf"\b(?:{pattern})", re.IGNORECASE), short)
    for pattern, short in (
        (r"standard deviations?\b", "sd"),
        (r"standard errors?\b", "se"),
        (r"s\.d\.", "sd"),
        (r"confidence intervals?\b", "ci"),
        (r"p[- ]values?\b", "p"),
        (r"sample sizes?\b", "n"),
    )
)
_SAME = {
    "m": "mean",
    "avg": "mean",
    "averag": "mean",
    "%": "percent",
    "percentag": "percent",
    "pct": "percent",
    "no": "n",
    "number": "n",
    "count": "n",
    "old": "age",
    "yr": "year",
    "std": "sd",
}
"""Stems with the same meaning; the second is used for both."""
_STOP = frozenset(
    "a an the of in on at for and or to by from as is are was were be been had has have it its this that each "
    "than".split()
)
_MIN_PREFIX_CHARS, _MIN_COMMON_CHARS, _MAX_ENDING_CHARS = 4, 6, 2


@dataclass(frozen=True, slots=True)
class Word:
    """A stem of a text."""

    stem: str
    at: int
    """Offset in the text it was read from."""
    end: int


def words_of(text: str) -> list[Word]:
    """The words of a text that can name something, in order, with their offsets in it."""
    return [Word(_stem(match[0]), *match.span()) for match in _WORD.finditer(text) if match[0].lower() not in _STOP]


@lru_cache(maxsize=256)
def abbreviated(text: str) -> str:
    """A text with its numbers in one writing and phrases as the abbreviations that tables use."""
    plain = normalized_numbers(text)
    for pattern, short in _PHRASES:
        plain = pattern.sub(short, plain)
    return plain


@lru_cache(maxsize=8192)
def name_stems(name: str) -> frozenset[str]:
    """The stems of a row's or column's name without its brackets, unless all of it is in brackets."""
    plain = abbreviated(name)
    outside = frozenset(word.stem for word in words_of(_IN_BRACKETS.sub(" ", plain)))
    return outside or all_stems(name)


@lru_cache(maxsize=8192)
def all_stems(name: str) -> frozenset[str]:
    """The stems of a text."""
    return frozenset(word.stem for word in words_of(abbreviated(name)))


@dataclass(frozen=True)
class Names:
    """The names of all rows, or of all columns, of a table."""

    stems: tuple[tuple[frozenset[str], ...], ...]
    """For each, the stems of its names."""
    weights: Mapping[str, float]
    """Of each stem: 0 when every row (or column) has it."""

    @classmethod
    def of(cls, names: Sequence[Sequence[str]]) -> "Names":
        stems = tuple(tuple(name_stems(one) for one in some) for some in names)
        n_with = Counter(stem for some in stems for stem in frozenset().union(*some))
        weights = {stem: math.log(len(stems) / n) if len(stems) > 1 else 1.0 for stem, n in n_with.items()}
        return cls(stems, weights)

    def naming(self, nth: int, said: Iterable[str]) -> "Naming":
        """How well a text with the stems `said` names this one rather than all of them."""
        told = frozenset(said)
        by_stem = {
            stem: _matching_stems(stem, told) for stem in frozenset().union(*self.stems[nth]) if self.weights[stem] > 0
        }
        shares = []
        for stems in self.stems[nth]:
            total = sum(self.weights[stem] for stem in stems)
            held = sum(self.weights[stem] for stem in stems if by_stem.get(stem))
            shares.append(held / total if total else 0.0)
        return Naming(frozenset().union(*by_stem.values()), max(shares, default=0.0), bool(by_stem))

    def best(self, said: frozenset[str]) -> "Naming":
        """The naming of the one that a text names best."""
        namings = [self.naming(nth, said) for nth in range(len(self.stems))]
        return max(namings, key=lambda one: (len(one.words), one.coverage), default=UNNAMED)


@dataclass(frozen=True, slots=True)
class Naming:
    """How well a text names a row or column."""

    words: frozenset[str]
    """The stems of the text that name it."""
    coverage: float
    """The share of its best named name, 0 to 1."""
    can_be_told: bool
    """Whether it has a name of its own."""

    def is_better_than(self, other: "Naming") -> bool:
        """Whether it uses all words the other uses and more, or the same for a larger share of its name."""
        return other.words < self.words or (other.words == self.words and other.coverage < self.coverage)


UNNAMED = Naming(frozenset(), 0.0, can_be_told=False)


def _matching_stems(stem: str, told: frozenset[str]) -> frozenset[str]:
    """The stems of a text that stand for a stem of a name: itself, or else those that begin alike."""
    return frozenset({stem}) if stem in told else frozenset(one for one in told if are_one_word(stem, one))


def are_one_word(one: str, other: str) -> bool:
    """ "perenn" and "perennial", "respons" and "respond": they begin alike and differ in their ending."""
    short, long = sorted((one, other), key=len)
    if short == long or len(short) < _MIN_PREFIX_CHARS or not (short + long).isalpha() or short == "with":
        return short == long
    n_common = Prefix.similarity(short, long)
    return n_common == len(short) or (n_common >= _MIN_COMMON_CHARS and len(long) - n_common <= _MAX_ENDING_CHARS)


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    bare = word.lower().replace("’", "'").removesuffix("'s").replace(",", "")
    stem: str = _STEMMER.stem_word(bare)
    return _SAME.get(stem, stem)
