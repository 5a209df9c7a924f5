"""The words of questions and sentences, their stems, and the weight of each word of a question."""

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
"""With these values, .7 % of 6,000 English questions do not count as English, and 4 % of 6,000
questions in other languages do."""
_LEAST_COMMON_START = 5
"""If a stem of at least this length is the beginning of another, they are one word: "params" and
"parameters"."""
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
    """The words of a text in `plain` letters; a hyphenated word counts as one. In Chinese, Japanese
    and Korean script, every pair of neighbouring characters counts as a word."""
    return [piece for word in WORD.findall(plain(text)) for piece in pairs_in(word) or [word]]


def pairs_in(word: str) -> list[str]:
    """The pairs of neighbouring characters in a word in Chinese, Japanese or Korean script; its
    other parts, such as numbers, are whole. Empty for a word without such script."""
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
    """Whether a text is probably English: enough of its words are usual words of questions or in an
    English vocabulary. Single words prove nothing, because "a" and "do" are also Portuguese."""
    words = [word.lower() for word in words_of(text) if word.isalpha()]
    small = sum(word in QUESTION_WORDS for word in words)
    known = sum(map(is_frequent_word, words))
    return _WEIGHT_OF_SMALL_WORDS * small + known >= _LEAST_ENGLISH * len(words)


@lru_cache(maxsize=2**15)
def stem_of(word: str) -> str:
    """The English stem of a word, which is in small letters."""
    return str(_STEMMER.stem_word(word))


@lru_cache(maxsize=2**12)
def terms_of(text: str) -> frozenset[str]:
    """The stems of the content words of a text; a hyphenated word gives its own stem and those of
    its parts.

    Cached for 4,096 texts (about 6 MB), because an answer needs the terms of each sentence several
    times.
    """
    words = [word.casefold() for word in words_of(text)]
    parts = [part for word in words if "-" in word for part in word.split("-")]
    return frozenset(stem_of(word) for word in (*words, *parts) if word not in QUESTION_WORDS)


def placed_stems(text: str) -> list[tuple[int, str]]:
    """Offset and stem of each content word, in order. A word may give several stems, as in
    `terms_of`."""
    return [
        (match.start(), stem)
        for match in WORD.finditer(text)
        for stem in sorted(terms_of(match[0]))
    ]


def term_weights(question: str, texts: Sequence[Set[str]]) -> dict[str, float]:
    """Term of the question -> its weight; the weights sum to 1. A rare term weighs more: log(1 + N
    / (1 + n)) for a term that occurs in n of N texts, before scaling. texts: terms of each text."""
    n_texts_with = Counter(term for terms in texts for term in terms)
    raw = {term: math.log1p(len(texts) / (1 + n_texts_with[term])) for term in terms_of(question)}
    total = sum(raw.values())
    return {term: weight / total for term, weight in sorted(raw.items())} if total else {}


def covered_weight(terms: Set[str], weights: Mapping[str, float]) -> float:
    """The sum of the weights of the terms that a text contains; 0 to 1 if all weights sum to 1."""
    return sum(weight for term, weight in weights.items() if term in terms)


def has_term(terms: Set[str], term: str) -> bool:
    """Whether a text with these terms contains a term, in full or as an abbreviation ("params")."""
    if term in terms or len(term) < _LEAST_COMMON_START:
        return term in terms
    longer = (other for other in terms if len(other) >= _LEAST_COMMON_START)
    return any(other.startswith(term) or term.startswith(other) for other in longer)
