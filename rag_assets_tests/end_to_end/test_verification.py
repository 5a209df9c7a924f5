"""Damage that leaves size and time of a file as they are: runs trust it, `verify` names it and what
mends it."""

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest
from filelock import FileLock

from rag_assets.core import paper_tables
from rag_assets.core.errors import BusyDataFolder
from rag_assets.core.incremental import LOCK_NAME
from rag_assets.core.settings import Settings
from rag_assets.library.verification import damages
from rag_assets.parsing.known_files import KnownFiles
from rag_assets.pipeline.definitions import build_defs
from rag_assets_testing.world import World
from rag_assets_tests.end_to_end.damage import made_files, state


@pytest.fixture
def sharded(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose tables are folders of 16 files."""
    monkeypatch.setattr(paper_tables, "SPLIT_AT", 2)
    outcome = world.run()
    assert outcome.is_success, outcome.failures or outcome.broken
    assert world.paths.passages.is_dir()
    return world


def flipped(path: Path) -> None:
    """One bit is another one, and nothing else tells of it."""
    before, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def largest(folder: Path) -> Path:
    return max(
        (path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size
    )


def an_entry_lost(path: Path) -> None:
    before = path.stat()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "UPDATE entries SET content = zeroblob(1536) WHERE key = (SELECT MAX(key) FROM entries)"
        )
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def problems(world: World) -> dict[str, str]:
    found = damages(Settings(data_dir=world.paths.data))
    return {str(one.path.relative_to(world.paths.data)): one.remedy for one in found}


def follow(world: World, name: str, remedy: str) -> None:
    path = world.paths.data / name
    if remedy.startswith("Delete it"):
        path.unlink()
    else:
        assert remedy.startswith("Run: rag-assets run --data ")


@pytest.mark.parametrize(
    ("place", "damage"),
    [
        (lambda paths: largest(paths.blocks), flipped),
        (lambda paths: largest(paths.bm25), flipped),
        (lambda paths: paths.vectors, an_entry_lost),
        (lambda paths: paths.kept, an_entry_lost),
    ],
    ids=["blocks", "words", "vectors", "kept"],
)
def test_the_damaged_file_is_named_and_its_remedy_mends_it(
    sharded: World, place: Callable[[object], Path], damage: Callable[[Path], None]
) -> None:
    """A bit that a disk lost is cited as what the paper says, until somebody looks."""
    before = state(sharded)
    assert problems(sharded) == {}
    path = place(sharded.paths)
    damage(path)

    (item,) = problems(sharded).items()
    follow(sharded, *item)
    outcome = sharded.run()

    assert item[0] in (
        str(path.relative_to(sharded.paths.data)),
        str(path.parent.relative_to(sharded.paths.data)),
    )
    assert outcome.is_success, outcome.failures or outcome.broken
    assert problems(sharded) == {}
    assert state(sharded) == before


def test_one_lost_bit_in_any_made_file_is_told(world: World) -> None:
    """What is not looked at may be wrong for years: answers, what they were made from, manifests,
    models, figures."""
    (world.paths.templates).mkdir()
    (world.paths.templates / "iron.md").write_text(
        "# Iron\n\n## Women\n\nWhat did women take?\n", "utf-8"
    )
    assert world.run().is_success
    assert problems(world) == {}
    unnoticed, misnamed = [], []
    made = [world.paths.data / name for name in made_files(world)]
    # databases have unused space, where a lost bit changes nothing, and tests of their own
    files = [file for file in made if file.stat().st_size and file.suffix != ".sqlite3"]

    for file in files:
        before = file.read_bytes()
        flipped(file)
        found = [world.paths.data / name for name in problems(world)]
        unnoticed += [] if found else [file]
        # a link of the published set is named by what it links to
        is_named = any(file.is_relative_to(one) or one.samefile(file) for one in found)
        misnamed += [] if is_named else [file]
        file.write_bytes(before)

    assert len(files) > 40
    assert unnoticed == []
    assert misnamed == []


def test_the_weekly_job_fails_with_the_name_of_the_file(world: World) -> None:
    """Nobody looks by hand: the failed run tells those who are told of failures."""
    definitions = build_defs(overrides={"data_dir": str(world.paths.data)})
    schedule, job = (
        definitions.resolve_schedule_def("weekly_verification"),
        definitions.resolve_job_def("verify"),
    )
    assert job.execute_in_process().success

    flipped(world.paths.chunks)
    result = job.execute_in_process(raise_on_error=False)

    (failure,) = [event for event in result.all_events if event.is_step_failure]
    assert str(world.paths.chunks) in str(failure.step_failure_data.user_failure_data)
    assert schedule.job_name == "verify"
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING


def test_a_file_that_the_disk_cannot_read_is_named_beside_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bad sector is what is looked for; it would end the look at its file, or pass as sound."""
    assert world.run().is_success
    paper, known_files = world.paths.papers / "basalt.tei.xml", KnownFiles()
    monkeypatch.setattr("rag_assets.parsing.known_files._SETTLED_AFTER_NS", -1_000_000_000)
    known_files.read(paper)
    known_files.keep_at(world.paths.known_files)

    def on_bad_disk(file: Path) -> str:
        raise OSError(errno.EIO, os.strerror(errno.EIO), file)

    monkeypatch.setattr("rag_assets.parsing.known_files.file_sha256", on_bad_disk)
    monkeypatch.setattr("rag_assets.library.verification.file_sha256", on_bad_disk)

    found = problems(world)

    assert found["papers/basalt.tei.xml"].startswith("Put the paper there again")
    assert found["cache/chunks.parquet"].startswith("Delete it, then run: ")


def test_files_that_a_run_replaces_are_not_called_damaged(world: World) -> None:
    """The remedy says to delete them, and the weekly job would tell of a broken disk."""
    assert world.run().is_success
    flipped(world.paths.chunks)

    with FileLock(world.paths.data / LOCK_NAME), pytest.raises(BusyDataFolder):
        problems(world)
