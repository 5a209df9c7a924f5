"""BM25 as sparse vectors: one number per term of a passage, with the analyser of the word index.

The server multiplies with the inverse document frequency of a term (its `idf` modifier), so that the stored numbers
depend on the passage alone: an edit changes no other point. BM25 also wants the average length of a passage; passages
are cut to one size, so a constant stands for it. Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance
Framework: BM25 and Beyond".
"""

import hashlib
from collections import Counter, defaultdict
from functools import lru_cache

from rag_assets.core.domain import SparseVector
from rag_assets.search.indexing.protocols import IndexRow
from rag_assets.search.indexing.tantivy_index import Analyser

WORDS_VERSION = 1
"""Part of the identity of an index: raise it when other numbers are stored."""
_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75
"""k1 and b, as in the word index."""
_AVERAGE_TERMS = 75
"""Terms of a passage and the headings above it: 58 to 66 of the passage alone in three corpora."""


class WordWeights:
    """Passages and questions as sparse vectors of their words, headings included."""

    def __init__(self) -> None:
        self._analyser = Analyser()

    def of_passage(self, row: IndexRow) -> SparseVector:
        terms = [*self._analyser.terms(f"{row.heading_text}\n{row.summary}"), *self._analyser.terms(row.text)]
        shortness = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * len(terms) / _AVERAGE_TERMS)
        return _summed({term: n * (_SATURATION + 1) / (n + shortness) for term, n in Counter(terms).items()})

    def of_question(self, text: str) -> SparseVector:
        """Each term as often as the question has it; empty for a question without terms."""
        return _summed({term: float(n) for term, n in Counter(self._analyser.terms(text)).items()})


def _summed(weights: dict[str, float]) -> SparseVector:
    """Terms that share a number are one: 100,000 terms have one such pair."""
    numbers: defaultdict[int, float] = defaultdict(float)
    for term, weight in weights.items():
        numbers[_number_of(term)] += weight
    places = sorted(numbers)
    return SparseVector(tuple(places), tuple(numbers[place] for place in places))


@lru_cache(maxsize=200_000)
def _number_of(term: str) -> int:
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "little")
