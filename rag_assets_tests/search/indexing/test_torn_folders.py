"""What a killed writer or a power cut leaves is noticed before Chroma's native code opens it."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from rag_assets.core.incremental import STAGED_SUFFIX
from rag_assets.search.indexing.chroma import ChromaFiles
from rag_assets.search.indexing.folders import FolderIndex, is_intact
from rag_assets.search.indexing.protocols import IndexRow, Report
from rag_assets_tests.search.indexing.folders import is_current, update_index
from rag_assets_tests.search.indexing.rows import fingerprints_of, numbered_rows, vectors_of

N_PASSAGES = 60


class OpensIntactFolders(ChromaFiles):
    """Fails where a published folder is opened that is not as it was published: opened for real, it
    may hang."""

    def fingerprints(self, folder: Path) -> dict[str, str]:
        assert is_intact(folder) or folder.name.endswith(STAGED_SUFFIX)
        return super().fingerprints(folder)

    def write(self, folder: Path, rows: Mapping[str, IndexRow], report: Report) -> None:
        assert not (folder / "torn").exists()
        super().write(folder, rows, report)


TARGET = OpensIntactFolders("test-model", vectors_of)
ROWS = numbered_rows(N_PASSAGES)
WANTED = fingerprints_of(numbered_rows(N_PASSAGES, start=5))


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder with a published index in `index`, and another build of as many other passages."""
    root = tmp_path_factory.mktemp("builds")
    update_index(FolderIndex(root / "one" / "index", TARGET), ROWS)
    update_index(
        FolderIndex(root / "other" / "index", TARGET), numbered_rows(N_PASSAGES, start=40)[::-1]
    )
    return root / "one", root / "other"


@pytest.mark.parametrize("name", ["data_level0.bin", "header.bin"])
def test_a_torn_published_folder_is_built_anew_without_being_opened(
    builds: tuple[Path, Path], tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Opened as it is, such a folder hangs or crashes every later run: the pipeline never ends
    again by itself."""
    folder = _copy(builds[0], tmp_path) / "index"
    tear(folder, builds[1] / "index", name)

    update_index(FolderIndex(folder, TARGET), numbered_rows(N_PASSAGES, start=5))

    assert is_current(folder, TARGET.identity, WANTED)
    assert "is damaged or unfinished; the index is built anew" in caplog.text


def test_a_torn_staged_folder_is_deleted_without_being_opened(
    builds: tuple[Path, Path], tmp_path: Path
) -> None:
    """A staged folder that was not closed was neither flushed nor audited: opening it can crash or
    hang."""
    root = _copy(builds[0], tmp_path / "root")
    staged = _copy(builds[0], tmp_path / "another") / "index"
    tear(staged, builds[1] / "index", "header.bin")
    (staged / "torn").touch()
    staged.rename(root / "index.staged")

    update_index(FolderIndex(root / "index", TARGET), numbered_rows(N_PASSAGES, start=5))

    assert is_current(root / "index", TARGET.identity, WANTED)
    assert [path.name for path in root.iterdir()] == ["index"]


def _copy(world: Path, root: Path) -> Path:
    """A copy of the folder that has the index in it."""
    shutil.copytree(world, root, dirs_exist_ok=True)
    return root


_PAGE_BYTES = 64
"""Small, so that the files of small graphs have several pages too."""


def tear(folder: Path, other: Path, name: str) -> None:
    """Put every second page of the file `name` of `other`'s graph into that of `folder`, in place.

    Both are folders of Chroma. The size of the file stays as it is.
    """
    torn, newer = _graph_file(folder, name), _graph_file(other, name).read_bytes()
    content = bytearray(torn.read_bytes())
    for start in range(0, len(content), 2 * _PAGE_BYTES):
        page = newer[start : start + _PAGE_BYTES][: len(content) - start]
        content[start : start + len(page)] = page
    if (
        content == torn.read_bytes()
    ):  # both builds have the same pages: then a page of something else
        content[:_PAGE_BYTES] = b"\xff" * len(content[:_PAGE_BYTES])
    torn.write_bytes(content)


def _graph_file(folder: Path, name: str) -> Path:
    (found,) = folder.glob(f"*/{name}")
    return found
