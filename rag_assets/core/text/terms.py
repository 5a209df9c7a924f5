"""Words of questions and sentences: their stems, and how much each word of a question weighs."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache

from py_rust_stemmers import SnowballStemmer

from rag_assets.core.text.folding import plain
from rag_assets.core.text.tokens import is_frequent_word

WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_EAST_ASIAN = re.compile("([\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+)")
_BEHIND_LATIN = "\u0250"
_WEIGHT_OF_SMALL_WORDS, _LEAST_ENGLISH = 1.5, 0.85
"""Of 6,000 English questions .7 % have fewer words that are known, of 6,000 in other languages 4 %
have as many."""
_LEAST_COMMON_START = 5
"""Stems that begin alike with so many letters are one word: "params" and "parameters"."""
_STEMMER = SnowballStemmer("english")
QUESTION_WORDS = frozenset(
    "a about according an and any are as at be been between but by can could did do does "
    "during each either for from get give given had has have hello hey hi how if in into is "
    "it its kind list many may me mean means might most much must name of on one or paper "
    "papers please report reported say says shall should show some such tell than that the "
    "their them then there these they this those to two under up use used uses using was were "
    "what when where which while who whom whose why will with would you your".split()
)


def words_of(text: str) -> list[str]:
    """The words of a text in `plain` letters; a hyphenated word is one. In Chinese, Japanese and
    Korean script every two characters that stand side by side are one."""
    return [piece for word in WORD.findall(plain(text)) for piece in pairs_in(word) or [word]]


def pairs_in(word: str) -> list[str]:
    """The pairs of neighbouring characters of a word in Chinese, Japanese or Korean script, and
    what else is in it, a number for example; empty for any other word."""
    if word.isascii() or not _EAST_ASIAN.search(word):
        return []
    runs = [(run, _EAST_ASIAN.match(run)) for run in _EAST_ASIAN.split(word) if run]
    return [
        run[at : at + 2] if east else run
        for run, east in runs
        for at in range(max(1, len(run) - 1) if east else 1)
    ]


def is_in_latin_script(text: str) -> bool:
    """Whether most letters of a text are Latin ones."""
    letters = [character for character in text if character.isalpha()]
    return 2 * sum(character < _BEHIND_LATIN for character in letters) >= len(letters)


def may_be_english(text: str) -> bool:
    """Whether the words of a text are English: its small ones, and those that an English vocabulary
    has. Each alone may be of another language, as "a" and "do" are Portuguese words, too."""
    words = [word.lower() for word in words_of(text) if word.isalpha()]
    small = sum(word in QUESTION_WORDS for word in words)
    known = sum(map(is_frequent_word, words))
    return _WEIGHT_OF_SMALL_WORDS * small + known >= _LEAST_ENGLISH * len(words)


@lru_cache(maxsize=2**15)
def stem_of(word: str) -> str:
    """The stem of a word in small letters."""
    return str(_STEMMER.stem_word(word))


@lru_cache(maxsize=2**12)
def terms_of(text: str) -> frozenset[str]:
    """Stems of the content words; a hyphenated word counts as itself and as its parts.

    Kept for some thousand texts, about 6 MB: an answer compares each sentence with the next, and
    reads it again where it asks for more chunks.
    """
    words = [word.casefold() for word in words_of(text)]
    parts = [part for word in words if "-" in word for part in word.split("-")]
    return frozenset(stem_of(word) for word in (*words, *parts) if word not in QUESTION_WORDS)


def placed_stems(text: str) -> list[tuple[int, str]]:
    """The stems of the content words with the offsets of their words, in order, as `terms_of`."""
    return [
        (match.start(), stem)
        for match in WORD.finditer(text)
        for stem in sorted(terms_of(match[0]))
    ]


def term_weights(question: str, texts: Sequence[Set[str]]) -> dict[str, float]:
    """Weight of each question term, summing to 1: log(1 + N / (1 + df)) over the terms of N
    texts."""
    occurrences = Counter(term for terms in texts for term in terms)
    raw = {term: math.log1p(len(texts) / (1 + occurrences[term])) for term in terms_of(question)}
    total = sum(raw.values())
    return {term: weight / total for term, weight in sorted(raw.items())} if total else {}


def held(terms: Set[str], weights: Mapping[str, float]) -> float:
    """The weight of the terms that a text holds, 0 to 1 when the weights sum to 1."""
    return sum(weight for term, weight in weights.items() if term in terms)


def holds(terms: Set[str], term: str) -> bool:
    """Whether a term is there, in full or shortened."""
    if term in terms or len(term) < _LEAST_COMMON_START:
        return term in terms
    longer = (other for other in terms if len(other) >= _LEAST_COMMON_START)
    return any(other.startswith(term) or term.startswith(other) for other in longer)
