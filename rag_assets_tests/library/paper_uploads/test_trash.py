"""Deleting a paper and taking it back."""

import json
from pathlib import Path

import pytest

from rag_assets.core.errors import CorpusConflict, NotFound
from rag_assets.core.settings import Settings
from rag_assets.library.paper_uploads import PaperTrash, PaperUploads, present_papers
from rag_assets_tests.library.paper_uploads.conftest import PDF, TEI, TEXT, tree, upload


@pytest.fixture
def papers(settings: Settings) -> Path:
    """One paper of three formats in a folder, beside the other."""
    folder = settings.paths.papers / "old"
    folder.mkdir()
    for name, content in (
        ("smith2020.tei.xml", TEI),
        ("smith2020.pdf", PDF),
        ("smith2020.txt", TEXT),
    ):
        (folder / name).write_bytes(content)
    return settings.paths.papers


def test_a_deleted_paper_goes_with_all_its_files_and_comes_back_as_it_was(
    settings: Settings, papers: Path
) -> None:
    """A text that stays behind would go on being cited; a deletion by mistake must cost nothing."""
    before = tree(papers)
    trash = PaperTrash(settings)

    trashed = trash.discard("smith2020")

    assert tree(papers) == {"jones2021.txt": TEXT}
    assert [paper.paper_id for paper in present_papers(settings)] == ["jones2021"]
    assert trashed.files == ("old/smith2020.pdf", "old/smith2020.tei.xml", "old/smith2020.txt")
    kept = settings.paths.trash / trashed.trash_id / "files" / "old"
    assert sorted(path.name for path in kept.iterdir()) == [
        "smith2020.pdf",
        "smith2020.tei.xml",
        "smith2020.txt",
    ]

    restored = trash.restore(trashed.trash_id)

    assert restored.paper_id == "smith2020"
    assert tree(papers) == before
    assert list(settings.paths.trash.iterdir()) == []


def test_all_papers_go_by_their_number_and_come_back_as_they_were(
    settings: Settings, papers: Path
) -> None:
    """A slip of the mouse would cost the whole library."""
    before, trash = tree(papers), PaperTrash(settings)
    for typed in ("", "delete all papers", "delete 1 paper"):
        with pytest.raises(CorpusConflict, match='confirm it with "delete 2 papers"'):
            trash.discard_all(typed)
    assert tree(papers) == before

    trashed = trash.discard_all("delete 2 papers")

    assert tree(papers) == {}
    assert trash.deletions() == [trashed]
    trash.restore(trashed.trash_id)
    assert tree(papers) == before


def test_deletions_are_listed_until_they_are_undone(settings: Settings, papers: Path) -> None:
    """Whoever closed the page after a deletion has nothing else to find it by."""
    trash = PaperTrash(settings)
    assert trash.deletions() == []
    first, second = trash.discard("smith2020"), trash.discard("jones2021")

    assert sorted(trash.deletions(), key=lambda one: one.paper_id) == [second, first]

    (settings.paths.trash / first.trash_id / "trash.json").write_text("{}")
    (settings.paths.trash / "notes").mkdir()
    assert trash.deletions() == [second]
    trash.restore(second.trash_id)
    assert trash.deletions() == []


@pytest.mark.parametrize(
    "paper_id", ["smith", "", "../jones2021", "old/smith2020", "*", "jones2021.txt"]
)
def test_only_papers_can_be_deleted(paper_id: str, settings: Settings, papers: Path) -> None:
    """An id is looked up among the papers, never made a path."""
    before = tree(settings.data_dir)

    with pytest.raises(NotFound, match="There is no paper"):
        PaperTrash(settings).discard(paper_id)

    assert tree(settings.data_dir) == before


def test_a_paper_that_was_uploaded_again_is_not_overwritten(
    settings: Settings, uploads: PaperUploads, papers: Path
) -> None:
    """Both are the user's; neither may be lost."""
    trash = PaperTrash(settings)
    trashed = trash.discard("jones2021")
    upload(uploads, "jones2021.pdf", PDF)
    before = tree(settings.data_dir)

    with pytest.raises(CorpusConflict, match="There is another paper"):
        trash.restore(trashed.trash_id)

    assert tree(settings.data_dir) == before


@pytest.mark.parametrize("n_moved", [0, 1, 2, 3])
def test_a_deletion_that_was_cut_short_is_completed(
    n_moved: int, settings: Settings, papers: Path
) -> None:
    """Between the first and the last file a paper would be half there."""
    trash = PaperTrash(settings)
    trashed = trash.discard("smith2020")
    folder = settings.paths.trash / trashed.trash_id
    for file in trashed.files[n_moved:]:
        (folder / "files" / file).rename(papers / file)
    _set_state(settings, trashed.trash_id, "discarding")

    assert [one.trash_id for one in PaperTrash(settings).finish_interrupted()] == [trashed.trash_id]

    assert set(tree(papers)) == {"jones2021.txt"}
    trash.restore(trashed.trash_id)
    assert len(tree(papers)) == 4


def _set_state(settings: Settings, trash_id: str, state: str) -> None:
    from rag_assets.core.incremental import sealed

    record = settings.paths.trash / trash_id / "trash.json"
    content = json.loads(record.read_text("utf-8")) | {"state": state}
    record.write_text(json.dumps(sealed(content)), "utf-8")
