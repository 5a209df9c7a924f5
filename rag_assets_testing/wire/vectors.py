"""Vectors that depend on the words of a text only, so that ranking by them can be tested.

Texts that share words are near each other, others almost orthogonal; the same text has the same
vector in every process.
"""

import hashlib
import math
import re

WORD = re.compile(r"\w+")


def text_vector(text: str, n_dimensions: int) -> list[float]:
    """Unit vector of length `n_dimensions`: each word adds +1 or -1 at a place its hash names."""
    vector = [0.0] * n_dimensions
    for word in WORD.findall(text.casefold()) or [text]:
        number = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
        vector[(number >> 1) % n_dimensions] += 1.0 if number & 1 else -1.0
    length = math.sqrt(sum(x * x for x in vector))
    if length == 0.0:  # every word met its opposite
        vector[0] = length = 1.0
    return [x / length for x in vector]


def n_words(text: str) -> int:
    """A lower bound on any provider's token count: what is refused by it, the real service refuses
    too."""
    return len(WORD.findall(text))
