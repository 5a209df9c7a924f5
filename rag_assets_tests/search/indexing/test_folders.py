"""Both indexes are updated by difference, audited, and published whole."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rag_assets.search.indexing.chroma import ChromaFiles
from rag_assets.search.indexing.folders import FolderIndex, stage_index
from rag_assets.search.indexing.protocols import IndexFiles
from rag_assets.search.indexing.tantivy_index import TantivyFiles
from rag_assets_tests.search.indexing.folders import update_index
from rag_assets_tests.search.indexing.rows import fingerprints_of, numbered_rows, vectors_of

CHROMA = ChromaFiles("test-model", vectors_of)
TARGETS = [pytest.param(CHROMA, id="chroma"), pytest.param(TantivyFiles(), id="tantivy")]


def held(folder: Path, files: IndexFiles) -> dict[str, str]:
    return files.fingerprints(folder)


_KILLED_RUN = """
import os, signal, sys
from pathlib import Path
from rag_assets_tests.search.indexing.rows import numbered_rows, fingerprints_of
from rag_assets_tests.search.indexing.test_folders import TARGETS
from rag_assets.core import incremental
from rag_assets.search.indexing import chroma
from rag_assets.search.indexing.folders import FolderIndex, stage_index

folder, nth, stop = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def report(done, total):
    if stop == "last batch" and done == total:
        die()

if stop == "replace_folder":
    incremental.replace_folder = die
if stop == "between the renames":
    Path.rename = lambda self, target, rename=Path.rename: die() if self.suffix == ".staged" else rename(self, target)
chroma.BATCH = 10
stage_index(FolderIndex(folder, TARGETS[nth].values[0]), numbered_rows(40, start=10), report=report).publish()
"""


def run_until_killed(folder: Path, nth: int, stop: str) -> None:
    """Update the index `TARGETS[nth]` in a process that kills itself after `stop` passages, or on
    entering `stop`."""
    command = [sys.executable, "-c", _KILLED_RUN, str(folder), str(nth), stop]
    killed = subprocess.run(
        command, capture_output=True, cwd=Path(__file__).parents[3], check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()


@pytest.mark.parametrize(
    ("nth", "stop"),
    [(0, "last batch"), (0, "between the renames"), (1, "last batch"), (1, "replace_folder")],
)
def test_a_killed_run_is_completed_by_the_next(tmp_path: Path, stop: str, nth: int) -> None:
    """Power cuts and out-of-memory kills must neither lose the last good index nor leave half of a
    new one."""
    target: IndexFiles = TARGETS[nth].values[0]  # type: ignore[assignment]
    folder = tmp_path / "index"
    update_index(FolderIndex(folder, target), numbered_rows(20))

    run_until_killed(folder, nth, stop)
    plan = update_index(FolderIndex(folder, target), numbered_rows(40, start=10))

    assert plan.counts() == {"n_added": 30, "n_changed": 0, "n_removed": 10, "n_unchanged": 10}
    assert held(folder, target) == fingerprints_of(numbered_rows(40, start=10))
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


class OftenAnew(TantivyFiles):
    """Is built from nothing as early as the vectors are, and faster than they."""

    most_changed = CHROMA.most_changed


def test_many_small_updates_count_as_a_large_one(tmp_path: Path) -> None:
    """Each leaves deleted vectors in the graph: after a year of single papers, the nearest are not
    found any more."""
    index, at_once = FolderIndex(tmp_path / "index", OftenAnew()), 3
    update_index(index, numbered_rows(100))
    n_changed = []

    for n_updates in range(1, 4):
        staged = stage_index(index, numbered_rows(100 + at_once * n_updates))
        staged.publish()
        n_changed.append(staged.manifest.n_changed)

    assert at_once < OftenAnew.most_changed * 103 < 2 * at_once
    assert n_changed == [3, 0, 3], "the second is built from nothing"
