"""Files of papers are read again only when they changed."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.parsing import known_files
from rag_assets.parsing.known_files import KnownFiles


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text("Iron fell.")
    return path


def kept(paper: Path, to: Path) -> KnownFiles:
    """What a run that read the paper leaves to the next one."""
    files = KnownFiles()
    files.read(paper)
    files.keep_at(to)
    return KnownFiles.kept_at(to)


def test_a_file_is_read_once_and_again_when_only_its_bytes_changed(
    paper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifty thousand PDFs are hashed in minutes; an edit that keeps size and time would never be
    seen."""
    monkeypatch.setattr(known_files, "_SETTLED_AFTER_NS", -(10**12))
    before, n_read = paper.stat(), []
    read = known_files.head_and_sha256
    monkeypatch.setattr(
        known_files, "head_and_sha256", lambda path: n_read.append(path) or read(path)
    )
    files = kept(paper, tmp_path / "kept.json")

    same = files.read(paper)
    paper.write_text("Iron rose.")
    os.utime(paper, ns=(before.st_atime_ns, before.st_mtime_ns))
    changed = files.read(paper)

    assert len(n_read) == 2
    assert same.sha256 != changed.sha256


def test_a_file_that_changed_just_now_is_read_again(paper: Path, tmp_path: Path) -> None:
    """Another edit within the same tick of the clock leaves size and times as they are."""
    files = kept(paper, tmp_path / "kept.json")

    assert list(files.altered()) == []
    assert '"files": {}' in (tmp_path / "kept.json").read_text()


def test_a_file_that_was_copied_just_now_with_its_old_time_is_read_again(
    paper: Path, tmp_path: Path
) -> None:
    """A copy that keeps the times looks old from its first moment on, and may be half there."""
    os.utime(paper, (0, 0))

    kept(paper, tmp_path / "kept.json")

    assert '"files": {}' in (tmp_path / "kept.json").read_text()


def test_bytes_that_a_disk_lost_are_found(
    paper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next parser version would read the damaged paper, and cite what is left of it."""
    monkeypatch.setattr(known_files, "_SETTLED_AFTER_NS", -(10**12))
    known = kept(paper, tmp_path / "kept.json").read(paper)

    files = KnownFiles(
        {str(paper): replace(known, sha256="of other bytes"), str(tmp_path / "gone"): known}
    )

    assert list(files.altered()) == [paper]
