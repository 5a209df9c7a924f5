"""What must hold of the vectors before they are published."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

import numpy as np

from rag_assets.core.promises import Promise
from rag_assets.search.embedding.vector_cache import VectorCache

_LENGTH_TOLERANCE = 1e-3


@dataclass(frozen=True)
class VectorProblem:
    """A passage and what is wrong with its vector."""

    passage_id: str
    problem: str


def without_unit_vector(cache: VectorCache, keys: Mapping[str, str]) -> list[VectorProblem]:
    """Passages whose vector is missing (or was refused as damaged), not finite, or not of length 1.

    keys: passage_id -> key of its vector. In the order given. Looks at unpublished vectors too; holds one shard in
    memory at a time.
    """
    missing = set(cache.missing(keys.values()))
    problems = dict.fromkeys(missing, "no vector") | _wrong_lengths(cache, sorted(set(keys.values()) - missing))
    return [VectorProblem(passage_id, problems[key]) for passage_id, key in keys.items() if key in problems]


def _wrong_lengths(cache: VectorCache, keys: Sequence[str]) -> dict[str, str]:
    problems: dict[str, str] = {}
    for _, group in groupby(keys, key=lambda key: key[0]):
        of_shard = list(group)
        lengths = np.linalg.norm(cache.load(of_shard), axis=1)
        for at in np.flatnonzero(~(np.abs(lengths - 1.0) <= _LENGTH_TOLERANCE)):  # NaN is not <= either
            problems[of_shard[at]] = f"length {lengths[at]:.4f}, not 1"
    return problems


EMBEDDING_PROMISES: list[Promise[Sequence[VectorProblem]]] = [
    Promise(
        "unit_vectors",
        "Every passage has one vector of length 1.",
        lambda problems: [asdict(problem) for problem in problems],
    ),
]
