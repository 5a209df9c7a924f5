"""The nearest vectors, found by comparing approximations and reading only those that may be among
them."""

import os
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest

from rag_assets.search.indexing.exact_vectors import VECTORS_FILE, ExactVectors, write_vectors
from rag_assets.search.indexing.protocols import Scope, Vectors
from rag_assets_tests.search.indexing.rows import numbered_rows

N, DIMENSION = 3000, 48


def unit(vectors: Vectors) -> Vectors:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def scattered(draw: np.random.Generator) -> Vectors:
    return unit(draw.standard_normal((N, DIMENSION)))


def crowded(draw: np.random.Generator) -> Vectors:
    """Nearly alike, and some of them the same: the approximations cannot tell them apart."""
    vectors = unit(
        draw.standard_normal((1, DIMENSION)) + 1e-3 * draw.standard_normal((N, DIMENSION))
    )
    vectors[::7] = vectors[0]
    return vectors


def of_one_word(draw: np.random.Generator) -> Vectors:
    """Vectors with a single large number: the scale of their approximation is coarse for all other
    numbers."""
    vectors = 1e-4 * draw.standard_normal((N, DIMENSION))
    vectors[np.arange(N), draw.integers(0, 4, N)] = 1.0
    return unit(vectors)


@pytest.mark.parametrize("made", [scattered, crowded, of_one_word], ids=lambda made: made.__name__)
@pytest.mark.parametrize("limit", [1, 50])
def test_the_nearest_are_those_that_comparing_all_finds(
    made: Callable[[np.random.Generator], Vectors], limit: int, tmp_path: Path
) -> None:
    """A passage that an approximation ruled out by mistake is found by no question."""
    draw = np.random.default_rng(11)
    vectors, rows = made(draw), sorted(numbered_rows(N), key=lambda row: row.passage_id)
    ids = [row.passage_id for row in rows]
    write_vectors(
        tmp_path, {row.passage_id: row for row in rows}, dict(zip(ids, vectors, strict=True))
    )
    store = ExactVectors.open(tmp_path)
    some = Scope(passage_ids=frozenset(ids[::3]))

    for question in (*unit(vectors[:5] + vectors[5:10]), vectors[0]):
        cosines = np.einsum("ij,j->i", vectors, question)
        wanted = sorted(range(N), key=lambda place: (-cosines[place], ids[place]))
        assert [hit.passage_id for hit in store.search(question, limit)] == [
            ids[place] for place in wanted[:limit]
        ]
        allowed = [ids[place] for place in wanted if place % 3 == 0]
        assert [hit.passage_id for hit in store.search(question, limit, some)] == allowed[:limit]
    store.close()


def test_opening_reads_no_vectors_and_a_file_cut_short_later_is_an_error(tmp_path: Path) -> None:
    """Half a gigabyte read at once for 310,000 passages; and a map of a file that was cut short
    ends the process."""
    rows = {row.passage_id: row for row in numbered_rows(20)}
    write_vectors(tmp_path, rows, dict.fromkeys(rows, np.ones(50_000, np.float32)))
    tracemalloc.start()
    try:
        store = ExactVectors.open(tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 1e6
    finally:
        tracemalloc.stop()
    os.truncate(tmp_path / VECTORS_FILE, 1000)

    assert set(store.fingerprints()) == set(rows)
    with pytest.raises(OSError, match="cut short"):
        store.vectors(sorted(rows))
    store.close()


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        (range(2, 6), range(6)),
        (range(4), range(6)),
        ([0, 3, 5], range(6)),
        (range(6), [1, 2, 5]),
        ([1], [1]),
    ],
    ids=["before", "behind", "between", "fewer", "the same"],
)
def test_an_update_puts_each_vector_in_its_place(
    held: Iterable[int], wanted: Iterable[int], tmp_path: Path
) -> None:
    """The vector of another passage brings wrong hits, and nothing would show it."""
    rows = {row.passage_id: row for row in numbered_rows(6)}
    vectors = dict(
        zip(rows, unit(np.random.default_rng(11).standard_normal((6, DIMENSION))), strict=True)
    )
    before, after = ([list(rows)[number] for number in numbers] for numbers in (held, wanted))
    write_vectors(
        tmp_path, {id_: rows[id_] for id_ in before}, {id_: vectors[id_] for id_ in before}
    )

    write_vectors(
        tmp_path,
        {id_: rows[id_] for id_ in after},
        {id_: vectors[id_] for id_ in set(after) - set(before)},
    )

    store = ExactVectors.open(tmp_path)
    assert list(store.fingerprints()) == after
    assert np.array_equal(store.vectors(after), np.stack([vectors[id_] for id_ in after]))
    store.close()
