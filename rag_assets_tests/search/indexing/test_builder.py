"""Both indexes are updated by difference, audited, and published whole."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from rag_assets.search.indexing.builder import stage_index, update_index
from rag_assets.search.indexing.chroma import ChromaFiles
from rag_assets.search.indexing.folders import FolderIndex, IndexFiles, read_manifest
from rag_assets.search.indexing.protocols import IndexRow, Report
from rag_assets.search.indexing.tantivy_index import TantivyFiles
from rag_assets_tests.search.indexing.folders import is_current, snapshot
from rag_assets_tests.search.indexing.rows import numbered_rows, row, vectors_of

CHROMA = ChromaFiles("test-model", vectors_of)
TARGETS = [pytest.param(CHROMA, id="chroma"), pytest.param(TantivyFiles(), id="tantivy")]
both_indexes = pytest.mark.parametrize("target", TARGETS)


def held(folder: Path, files: IndexFiles) -> dict[str, str]:
    return files.fingerprints(folder)


def wanted(rows: Sequence[IndexRow]) -> dict[str, str]:
    return {one.passage_id: one.fingerprint for one in rows}


@both_indexes
def test_only_the_difference_is_planned_and_the_index_ends_as_wanted(tmp_path: Path, target: IndexFiles) -> None:
    """A missed change answers from a text that is gone; a missed removal from a paper that was withdrawn."""
    rows = numbered_rows(30)
    update_index(FolderIndex(tmp_path / "index", target), rows)
    edited = [*rows[5:], row(rows[4].passage_id, "an edited text"), row("new", "a new text")]

    plan = update_index(FolderIndex(tmp_path / "index", target), edited)

    assert plan.counts() == {"n_added": 1, "n_changed": 1, "n_removed": 4, "n_unchanged": 25}
    assert held(tmp_path / "index", target) == wanted(edited)


@both_indexes
def test_an_unchanged_index_is_not_touched(tmp_path: Path, target: IndexFiles) -> None:
    """The nightly run over an unchanged corpus must cost nothing and change no byte."""
    rows = numbered_rows(10)
    update_index(FolderIndex(tmp_path / "index", target), rows)
    before = snapshot(tmp_path)

    plan = update_index(FolderIndex(tmp_path / "index", target), rows[::-1])

    assert plan.is_noop
    assert len(plan.unchanged) == 10
    assert snapshot(tmp_path) == before


@both_indexes
def test_an_index_of_no_passages_is_valid(tmp_path: Path, target: IndexFiles) -> None:
    """A corpus of which every paper was quarantined still materializes."""
    update_index(FolderIndex(tmp_path / "index", target), [])

    assert is_current(tmp_path / "index", target.identity, {})
    assert held(tmp_path / "index", target) == {}


@both_indexes
def test_progress_is_reported_up_to_the_last_passage(tmp_path: Path, target: IndexFiles) -> None:
    """A run that shows no progress for an hour is taken for hung and killed."""
    seen: list[tuple[int, int]] = []

    update_index(FolderIndex(tmp_path / "index", target), numbered_rows(12), report=lambda *at: seen.append(at))

    assert seen[-1] == (12, 12)


def test_another_model_replaces_the_whole_index(tmp_path: Path) -> None:
    """Vectors of two models cannot be compared, and no error would say so."""
    rows = numbered_rows(10)
    update_index(FolderIndex(tmp_path / "index", CHROMA), rows)
    other = ChromaFiles("other-model", lambda some: -vectors_of(some))

    plan = update_index(FolderIndex(tmp_path / "index", other), rows)

    assert len(plan.added) == 10
    manifest = read_manifest(tmp_path / "index")
    assert manifest is not None
    assert manifest.identity.model_id == "other-model"
    assert other.faulty(tmp_path / "index", rows) == ()


@both_indexes
def test_a_staged_index_is_not_seen_before_it_is_published(tmp_path: Path, target: IndexFiles) -> None:
    """Readers must see the last good index until the audit of the next one is through."""
    rows = numbered_rows(10)
    update_index(FolderIndex(tmp_path / "index", target), rows)
    before = snapshot(tmp_path / "index")

    staged = stage_index(FolderIndex(tmp_path / "index", target), rows[2:])

    assert staged.audit is not None
    assert staged.audit.holds
    assert snapshot(tmp_path / "index") == before
    staged.publish()
    assert held(tmp_path / "index", target) == wanted(rows[2:])


def test_a_damaged_published_index_is_built_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """After damage to the files the next run must rebuild the index by itself."""
    rows = numbered_rows(10)
    target = TantivyFiles()
    update_index(FolderIndex(tmp_path / "index", target), rows)
    (tmp_path / "index" / "meta.json").write_text("{")

    update_index(FolderIndex(tmp_path / "index", target), [*rows, row("new", "text")])

    assert len(held(tmp_path / "index", target)) == 11
    assert "is built anew" in caplog.text


def test_a_deleted_database_is_noticed(tmp_path: Path) -> None:
    """A manifest beside missing files must not count as an index."""
    rows = numbered_rows(4)
    update_index(FolderIndex(tmp_path / "index", CHROMA), rows)
    (tmp_path / "index" / "chroma.sqlite3").unlink()

    update_index(FolderIndex(tmp_path / "index", CHROMA), rows)

    assert held(tmp_path / "index", CHROMA) == wanted(rows)


_KILLED_RUN = """
import os, signal, sys
from pathlib import Path
from rag_assets_tests.search.indexing.rows import numbered_rows
from rag_assets_tests.search.indexing.test_builder import TARGETS
from rag_assets.search.indexing import folders
from rag_assets.search.indexing.builder import update_index
from rag_assets.search.indexing import chroma
from rag_assets.search.indexing.folders import FolderIndex

folder, nth, stop = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def report(done, total):
    if stop == "last batch" and done == total:
        die()

if stop in ("write_manifest", "replace_folder"):
    setattr(folders, stop, die)
if stop == "between the renames":
    Path.rename = lambda self, target, rename=Path.rename: die() if self.suffix == ".staged" else rename(self, target)
chroma.BATCH = 10
update_index(FolderIndex(folder, TARGETS[nth].values[0]), numbered_rows(40, start=10), report=report)
"""


def run_until_killed(folder: Path, nth: int, stop: str) -> None:
    """Update the index `TARGETS[nth]` in a process that kills itself after `stop` passages, or on entering `stop`."""
    command = [sys.executable, "-c", _KILLED_RUN, str(folder), str(nth), stop]
    killed = subprocess.run(command, capture_output=True, cwd=Path(__file__).parents[3], check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()


@pytest.mark.parametrize("nth", [0, 1], ids=["chroma", "tantivy"])
@pytest.mark.parametrize("stop", ["last batch", "write_manifest", "replace_folder", "between the renames"])
def test_a_killed_run_is_completed_by_the_next(tmp_path: Path, stop: str, nth: int) -> None:
    """Power cuts and out-of-memory kills must neither lose the last good index nor leave half of a new one."""
    target: IndexFiles = TARGETS[nth].values[0]  # type: ignore[assignment]
    folder = tmp_path / "index"
    update_index(FolderIndex(folder, target), numbered_rows(20))

    run_until_killed(folder, nth, stop)
    plan = update_index(FolderIndex(folder, target), numbered_rows(40, start=10))

    assert plan.counts() == {"n_added": 30, "n_changed": 0, "n_removed": 10, "n_unchanged": 10}
    assert held(folder, target) == wanted(numbered_rows(40, start=10))
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_a_staged_folder_that_was_left_behind_is_not_opened(tmp_path: Path) -> None:
    """A writer that was killed leaves files that crash, hang or fill the disk of whoever opens them."""
    folder, opened = tmp_path / "index", []
    update_index(FolderIndex(folder, CHROMA), numbered_rows(20))
    shutil.copytree(folder, tmp_path / "index.staged")
    (tmp_path / "index.staged" / "left by a killed run").touch()

    class Watched(ChromaFiles):
        def write(self, folder: Path, rows: Mapping[str, IndexRow], report: Report) -> None:
            opened.append(sorted(path.name for path in folder.iterdir()))
            super().write(folder, rows, report)

    update_index(FolderIndex(folder, Watched(CHROMA.model_id, vectors_of)), numbered_rows(30))

    assert len(opened) == 1
    assert not any("left by a killed run" in names for names in opened)
    assert not (folder / "left by a killed run").exists()
