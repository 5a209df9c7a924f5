"""Uploaded files: which become papers, under which names, and what is refused; deleting a paper and
taking it back."""

import json
import os
import signal
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest

from rag_assets.core.errors import (
    CorpusConflict,
    MissingInput,
    NotFound,
    UploadRefused,
    UploadTooLarge,
)
from rag_assets.core.settings import Settings
from rag_assets.library.paper_uploads import PaperTrash, PaperUploads, UploadedPaper, present_papers
from rag_assets_tests.library.paper_uploads.conftest import PDF, TEI, TEXT, tree, upload

NAMES = [
    ("smith2020.pdf", PDF, "smith2020.pdf"),
    ("smith2020.tei.xml", TEI, "smith2020.tei.xml"),
    ("smith2020.PDF", PDF, "smith2020.pdf"),
    ("notes.txt", TEXT, "notes.txt"),
    ("notes.md", TEXT, "notes.md"),
    ("2301.00001", PDF, "2301.00001.pdf"),
    ("paper.txt", PDF, "paper.pdf"),
    ("download.bin", TEI, "download.bin.grobid.tei.xml"),
    ("Müller & Söhne (2020).pdf", PDF, "Müller & Söhne (2020).pdf"),
    (unicodedata.normalize("NFD", "Müller.pdf"), PDF, unicodedata.normalize("NFC", "Müller.pdf")),
    ("../../etc/passwd.pdf", PDF, "passwd.pdf"),
    ("C:\\papers\\smith.pdf", PDF, "smith.pdf"),
    ("/etc/cron.d/x.txt", TEXT, "x.txt"),
]


def test_a_file_is_told_by_its_content_and_kept_under_a_safe_name(
    settings: Settings, uploads: PaperUploads
) -> None:
    """Browsers send any name; the corpus must find the paper under the id that was told."""
    for name, content, kept in NAMES:
        uploaded = upload(uploads, name, content)

        assert (uploaded.file_name, uploaded.is_new) == (kept, True)
        assert (settings.paths.papers / kept).read_bytes() == content
        assert uploaded.paper_id in {paper.paper_id for paper in present_papers(settings)}
        assert set(tree(settings.data_dir)) == {"papers/jones2021.txt", f"papers/{kept}"}
        (settings.paths.papers / kept).unlink()


def test_unusual_names_become_ids_that_lead_to_the_paper(
    settings: Settings, uploads: PaperUploads
) -> None:
    """An id with a slash, a line end or 400 characters breaks links, logs and file systems."""
    for name in (
        "a#b?c.pdf",
        "a\x00b.pdf",
        "a\u202eb.pdf",
        "a\nb: c.pdf",
        "x" * 400 + ".pdf",
        "論文" * 90 + ".pdf",
    ):
        uploaded = upload(uploads, name, PDF)

        assert uploaded.paper_id in {paper.paper_id for paper in present_papers(settings)}
        assert len(uploaded.file_name.encode()) < 230
        assert uploaded.paper_id.isprintable()


NO_PAPERS = [
    ("x.pdf", b"", '"x.pdf" is empty (0 bytes). Upload the paper again.'),
    (
        "x.pdf",
        b"PK\x03\x04rest",
        '"x.pdf" is a ZIP archive or an Office file. Export the paper as PDF.',
    ),
    ("x.txt", b"\x00\x01\x02\xff" * 500, "binary data in no known format"),
    ("x.pdf", b"<html><body>404 Not Found</body></html>", '"x.pdf" is a .html file by content.'),
    ("x.pdf", b"404 Not Found", '"x.pdf" is no PDF: it has no %PDF- header but holds plain text.'),
    (
        "x.csv",
        b"a,b\n1,2\n",
        '"x.csv" holds plain text. If it is the paper, give its name the ending .txt or .md.',
    ),
    ("x.json", b'{"a": 1}', "neither a DoclingDocument nor an ADE export"),
    (
        "x.html",
        b"<!DOCTYPE html><html><body>Ferritin</body></html>",
        "pip install 'rag_assets[docling]'",
    ),
    ("x.exe", b"MZ\x90\x00" + bytes(500), "binary data"),
]


def test_what_cannot_be_a_paper_is_refused_with_the_reason(
    settings: Settings, uploads: PaperUploads
) -> None:
    """The user must learn at once what is wrong, and nothing may be left of the file."""
    before = tree(settings.data_dir)
    for name, content, reason in NO_PAPERS:
        with pytest.raises(UploadRefused) as refused:
            upload(uploads, name, content)

        assert reason in str(refused.value)
        assert tree(settings.data_dir) == before


def test_a_file_above_the_limit_is_refused_while_it_is_read(settings: Settings) -> None:
    """The disk must not fill before the size is known."""
    limited = settings.model_copy(
        update={"server": settings.server.model_copy(update={"max_upload_mb": 0.5})}
    )
    before = tree(settings.data_dir)

    class Endless:
        n_read = 0

        def read(self, n: int) -> bytes:
            self.n_read += n
            return b"%PDF" + bytes(n - 4)

    endless = Endless()
    uploads = PaperUploads(limited)
    with pytest.raises(
        UploadTooLarge, match=r'"x\.pdf" has more than 0\.5 MB \(server\.max_upload_mb\)'
    ):
        uploads.add("x.pdf", endless)  # type: ignore[arg-type]
    uploads.close()

    assert endless.n_read < 1_000_000
    assert tree(settings.data_dir) == before


def test_a_paper_that_is_there_is_not_overwritten(
    settings: Settings, uploads: PaperUploads
) -> None:
    """Another paper of the same name must not replace what answers cite."""
    before = tree(settings.data_dir)
    for name in ("jones2021.txt", "JONES2021.txt", "jones2021.TXT", "Jones2021.pdf"):
        with pytest.raises(
            CorpusConflict, match=r"already\. Delete it first, or give the file another name"
        ):
            upload(uploads, name, PDF if name.endswith("pdf") else b"Other text of another paper.")

        assert tree(settings.data_dir) == before


def test_a_pdf_joins_the_text_of_its_paper(settings: Settings, uploads: PaperUploads) -> None:
    """The PDF beside it gives a text its pages."""
    assert upload(uploads, "jones2021.pdf", PDF) == UploadedPaper(
        "jones2021", "jones2021.pdf", is_new=False
    )

    (paper,) = present_papers(settings)
    assert [file.relative for file in paper.files] == ["jones2021.pdf", "jones2021.txt"]


def test_a_mistyped_data_folder_is_not_made(tmp_path: Path) -> None:
    """A new folder would hide that the right one is elsewhere."""
    settings = Settings.model_validate({"data_dir": str(tmp_path / "none")})
    uploads = PaperUploads(settings)

    with pytest.raises(MissingInput):
        upload(uploads, "x.pdf", PDF)

    uploads.close()
    assert not (tmp_path / "none").exists()


_UPLOADING = """
import sys
from io import BytesIO
from pathlib import Path
from rag_assets.library.paper_uploads import PaperUploads
from rag_assets.core.settings import Settings

uploads = PaperUploads(Settings.model_validate({"data_dir": sys.argv[1]}))
for number in range(1000):
    uploads.add(f"paper{number}.pdf", BytesIO(b"%PDF-1.4" + bytes(2_000_000)))
    print(number, flush=True)
"""


def test_a_kill_leaves_whole_papers_only(settings: Settings) -> None:
    """Half a file would be parsed as a paper that ends in the middle."""
    process = subprocess.Popen(
        [sys.executable, "-c", _UPLOADING, str(settings.data_dir)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for _ in range(5):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()

    added = [paper for paper in present_papers(settings) if paper.paper_id != "jones2021"]
    assert len(added) >= 5
    assert {file.path.stat().st_size for paper in added for file in paper.files} == {2_000_008}


def test_what_a_kill_left_half_received_is_removed_later(settings: Settings) -> None:
    """Hidden folders of lost uploads must not pile up; that of another process at work stays."""
    old, young = (settings.paths.papers / f".receiving-{name}" for name in ("old", "young"))
    for folder in (old, young):
        folder.mkdir()
        (folder / "file").write_bytes(PDF)
    long_ago = time.time() - 7200
    os.utime(old, (long_ago, long_ago))

    PaperUploads(settings).close()

    assert not old.exists()
    assert young.exists()


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


def test_a_paper_whose_name_came_back_in_other_letters_is_not_restored_beside_it(
    settings: Settings, uploads: PaperUploads, papers: Path
) -> None:
    """On a disk that does not tell capitals apart, the two would be one file; elsewhere no run
    would accept them."""
    trash = PaperTrash(settings)
    upload(uploads, "Lee2024.pdf", PDF)
    trashed = trash.discard("Lee2024")
    upload(uploads, "lee2024.txt", TEXT)
    before = tree(settings.data_dir)

    with pytest.raises(CorpusConflict, match='There is another paper "Lee2024" now'):
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
