"""Fingerprints, update plans and atomic publication."""

import os
from pathlib import Path

import pytest
from filelock import FileLock

from rag_assets.core.incremental import (
    LOCK_NAME,
    data_version,
    fingerprint,
    only_writer,
    plan_update,
    recover_folder,
    replace_folder,
    staging,
)


def test_a_plan_tells_added_changed_removed_and_unchanged_apart() -> None:
    """A key in the wrong list is work repeated, or stale rows that stay."""
    plan = plan_update({"a": "1", "b": "1", "c": "1"}, {"b": "2", "c": "1", "d": "1"})

    assert (plan.added, plan.changed, plan.removed, plan.unchanged) == (
        ("d",),
        ("b",),
        ("a",),
        ("c",),
    )
    assert plan.to_build == ("b", "d")
    assert plan.to_drop == ("a", "b")
    assert plan.counts() == {"n_added": 1, "n_changed": 1, "n_removed": 1, "n_unchanged": 1}
    assert not plan.is_noop
    assert plan_update({"a": "1"}, {"a": "1"}).is_noop


def test_a_fingerprint_depends_on_values_not_on_key_order() -> None:
    """An order-dependent fingerprint recomputes everything after a restart."""
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint("ab", "c") != fingerprint("a", "bc")
    assert data_version({"a": "1", "b": "2"}) == data_version({"b": "2", "a": "1"})


def test_an_error_while_writing_leaves_the_last_good_file(tmp_path: Path) -> None:
    """A crash half way through a file must not be seen by any reader."""
    final = tmp_path / "chunks.parquet"
    final.write_text("good")

    def write_half() -> None:
        with staging() as staged:
            staged.path(final).write_text("half")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_half()
    assert final.read_text() == "good"


def test_what_is_published_is_on_the_disk_before_it_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut after the move would leave an empty file in the place of yesterday's answers."""
    final, folder = tmp_path / "a.json", tmp_path / "index"
    final.write_text("old")
    folder.mkdir()
    (folder / "old").write_text("old")
    flushed: dict[int, bool] = {}
    monkeypatch.setattr(
        os,
        "fsync",
        lambda file: flushed.setdefault(os.fstat(file).st_ino, final.read_text() == "old"),
    )

    with staging() as staged:
        staged.path(folder).mkdir()
        (tmp_path / "index.staged" / "vectors").write_text("new")
        staged.path(final).write_text("new")
        staged.publish()

    assert final.read_text() == "new"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.json", "index", "vectors"]
    assert [flushed.get(path.stat().st_ino) for path in (final, folder, folder / "vectors")] == [
        True
    ] * 3


def test_a_kill_between_the_two_moves_of_a_folder_is_mended(tmp_path: Path) -> None:
    """Without this a kill at the wrong moment loses the whole index."""
    final = tmp_path / "index"
    final.mkdir()
    (final / "data").write_text("good")
    final.rename(tmp_path / "index.replaced")

    recover_folder(final)

    assert (final / "data").read_text() == "good"


def test_the_writer_of_a_data_folder_may_ask_again(tmp_path: Path) -> None:
    """A command holds the folder before its run begins, and the run asks for it: it would wait for
    itself."""
    with only_writer(tmp_path, patience_s=0), only_writer(tmp_path, patience_s=0):
        pass

    lock = FileLock(tmp_path / LOCK_NAME)
    with lock.acquire(timeout=0):
        assert lock.is_locked, "free again"


def test_a_folder_that_is_a_link_is_replaced_and_what_it_led_to_stays(tmp_path: Path) -> None:
    """Moved to a larger disk, a table or an index would be published once and end every run from
    then on."""
    elsewhere, new, final = (tmp_path / name for name in ("elsewhere", "new", "final"))
    for folder, content in ((elsewhere, "old"), (new, "new")):
        folder.mkdir()
        (folder / "file").write_text(content)
    final.symlink_to(elsewhere)

    replace_folder(new, final)
    recover_folder(final)

    assert [(folder / "file").read_text() for folder in (final, elsewhere)] == ["new", "old"]
    assert {path.name for path in tmp_path.iterdir()} == {"elsewhere", "final"}
