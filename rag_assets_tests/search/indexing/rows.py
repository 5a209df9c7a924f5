"""Index rows and vectors that tell texts apart, made without a model."""

import hashlib
import re
from collections.abc import Sequence
from functools import cache

import numpy as np

from rag_assets.search.indexing.protocols import IndexRow, Vectors

DIMENSION = 64


def row(
    passage_id: str, text: str, *, paper_id: str = "smith2020", page: int | None = None
) -> IndexRow:
    """A passage of its own chunk; its fingerprint follows from its text."""
    digest = hashlib.sha256(f"{passage_id} {text} {paper_id} {page}".encode()).hexdigest()
    return IndexRow(
        passage_id, passage_id.partition("#")[0], paper_id, "Methods", page, page, digest[:32], text
    )


def numbered_rows(n_rows: int, start: int = 0) -> list[IndexRow]:
    """Passages that differ in one word each, ten to a paper."""
    return [
        row(f"c{n:04d}#0", f"Sample s{n} was kept at {n % 7} degrees.", paper_id=f"paper{n // 10}")
        for n in range(start, start + n_rows)
    ]


@cache
def _vector_of_word(word: str) -> Vectors:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "little")
    return np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)


def bag_of_words(text: str) -> Vectors:
    """A unit vector of hashed words: texts that share words are near each other."""
    vector = np.zeros(DIMENSION, np.float32)
    for word in re.findall(r"\w+", text.lower()):
        vector += _vector_of_word(word)
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


def vectors_of(rows: Sequence[IndexRow]) -> Vectors:
    return np.stack([bag_of_words(one.text) for one in rows])


def fingerprints_of(rows: Sequence[IndexRow]) -> dict[str, str]:
    return {one.passage_id: one.fingerprint for one in rows}
