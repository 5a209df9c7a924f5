"""A writer of the Chroma index is killed at many moments, and the next update always ends right."""

from pathlib import Path
from random import Random

import pytest

from rag_assets.search.indexing.builder import update_index
from rag_assets.search.indexing.folders import FolderIndex
from rag_assets_tests.search.indexing.folders import is_current
from rag_assets_tests.search.indexing.rows import numbered_rows
from rag_assets_tests.search.indexing.test_torn_folders import (
    N_PASSAGES,
    TARGET,
    WANTED,
    kill_while_updating,
)

N_ROUNDS, LONGEST_S = 40, 0.6


@pytest.mark.whole
def test_a_kill_at_any_moment_costs_one_update(tmp_path: Path) -> None:
    """A moment that leaves an index which cannot be updated stops every later run."""
    random, n_staged = Random(0), 0
    for number in range(N_ROUNDS):
        folder = tmp_path / str(number) / "index"
        update_index(FolderIndex(folder, TARGET), numbered_rows(N_PASSAGES))
        kill_while_updating(folder, random.uniform(0, LONGEST_S))
        n_staged += folder.with_name("index.staged").exists()

        update_index(FolderIndex(folder, TARGET), numbered_rows(N_PASSAGES, start=5))

        assert is_current(folder, TARGET.identity, WANTED), number
    assert n_staged, "no kill came in the middle of an update"
