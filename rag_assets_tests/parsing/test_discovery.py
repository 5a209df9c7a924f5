"""Which papers there are, and what becomes of files that cannot be used."""

import os
import unicodedata
from pathlib import Path

import pytest

from rag_assets.core.errors import MissingInput
from rag_assets.core.settings import ParseLimits
from rag_assets.parsing.discovery import (
    Paper,
    discover,
    folders_passed_over,
    library_files,
    manifest_hash,
    safe_id,
)

LIMITS = ParseLimits()


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    return folder


def put(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {name}", "utf-8")


def files_by_id(found: list[Paper]) -> dict[str, list[str]]:
    return {paper.paper_id: [file.relative for file in paper.files] for paper in found}


def test_the_files_of_a_paper_are_found_together(papers: Path) -> None:
    """A TEI and its PDF taken for two papers answer every question twice and count as two
    sources."""
    put(
        papers,
        "b/lund.2001.grobid.tei.xml",
        "b/lund.2001.pdf",
        "b/lund.2001.txt",
        "moe.TEI.XML",
        "zoe.ade.json",
        "zoe.md",
    )

    found = discover(papers, LIMITS)

    assert files_by_id(found) == {
        "lund.2001": ["b/lund.2001.grobid.tei.xml", "b/lund.2001.pdf", "b/lund.2001.txt"],
        "moe": ["moe.TEI.XML"],
        "zoe": ["zoe.ade.json", "zoe.md"],
    }
    assert all(not paper.problem for paper in found)


def test_what_is_no_paper_is_passed_over(papers: Path) -> None:
    """A half-written draft or a note of the user would be parsed, embedded and cited."""
    put(
        papers,
        ".hidden.txt",
        ".git/x.txt",
        "README.md",
        "readme.TXT",
        "a.txt.staged",
        "a.txt~",
        "~a.txt",
        "a.bib",
        ".txt",
    )

    assert discover(papers, LIMITS) == []


def test_bins_and_older_versions_that_a_system_keeps_are_no_papers(papers: Path) -> None:
    """A version that the user deleted would answer beside the one that replaced it."""
    folders = ("#recycle", "@eaDir", "__MACOSX", "$RECYCLE.BIN", ".stversions", "2019/@Recycle")
    put(papers, "a.txt", "2019/b.txt", *(f"{folder}/a~old.txt" for folder in folders))
    put(papers, *(f"{folder}/refs.bib" for folder in folders))

    assert sorted(files_by_id(discover(papers, LIMITS))) == ["a", "b"]
    assert library_files(papers) == []
    assert folders_passed_over(papers) == sorted(folders)


def test_papers_of_one_stem_in_different_folders_get_ids_by_path(papers: Path) -> None:
    """A download of arXiv has a folder per paper and `main.pdf` in each; all but one would be
    missing."""
    put(
        papers,
        "2301.00001/main.pdf",
        "2301.00002/main.pdf",
        "2301.00002/main.tei.xml",
        "by year/2023/main.pdf",
        "a.txt",
    )

    found = discover(papers, LIMITS)

    assert files_by_id(found) == {
        "2301.00001__main": ["2301.00001/main.pdf"],
        "2301.00002__main": ["2301.00002/main.pdf", "2301.00002/main.tei.xml"],
        "a": ["a.txt"],
        "by year__2023__main": ["by year/2023/main.pdf"],
    }
    assert all(not paper.problem for paper in found)


def test_ids_by_path_are_apart_from_each_other_and_from_stems(papers: Path) -> None:
    """Two papers under one id overwrite each other's chunks."""
    put(
        papers,
        "a/b__c.txt",
        "a__b/c.txt",
        "x/c.txt",
        "y/b__c.txt",
        "c.txt",
        "x__c.txt",
        "z/main#.txt",
        "z#/main#.txt",
    )

    found = files_by_id(discover(papers, LIMITS))

    assert sorted(name for names in found.values() for name in names) == [
        "a/b__c.txt",
        "a__b/c.txt",
        "c.txt",
        "x/c.txt",
        "x__c.txt",
        "y/b__c.txt",
        "z#/main#.txt",
        "z/main#.txt",
    ], "one file each, none lost"
    for stem in ("c", "x__c"):
        assert found[stem] == [f"{stem}.txt"], "a file of the papers folder itself keeps its stem"
    assert not any(character in "".join(found) for character in "#:\n/")


def test_ids_are_safe_readable_and_apart(papers: Path) -> None:
    """An id goes into passage ids and file names; a "#" or a line break in it breaks both."""
    composed, decomposed = (unicodedata.normalize(form, "Größe") for form in ("NFC", "NFD"))

    ids = [
        safe_id(stem)
        for stem in ("Lund & Moe (2001)", "a#b", "a_b", "a:b", "x\ny", composed, decomposed, "..")
    ]

    assert ids[0] == "Lund & Moe (2001)"
    assert ids[2] == "a_b"
    assert ids[5] == ids[6] == "Größe"
    assert len(set(ids[:6])) == 6
    assert not any(character in "".join(ids) for character in "#:\n/")


def test_links_out_of_the_folder_and_dead_ends_are_refused(papers: Path, tmp_path: Path) -> None:
    """A link in an uploaded archive must not put the machine's own files into the answers."""
    put(tmp_path, "secret/key.txt", "papers/real.txt")
    (papers / "leak.txt").symlink_to(tmp_path / "secret" / "key.txt")
    (papers / "folder").symlink_to(tmp_path / "secret")
    (papers / "loop.txt").symlink_to(papers / "loop.txt")
    (papers / "inner").symlink_to(papers)
    (papers / "alias.txt").symlink_to(papers / "real.txt")

    problems = {
        file.relative: file.problem for paper in discover(papers, LIMITS) for file in paper.files
    }

    leads_out = "is a link that leads out of the papers folder. Put the file itself here."
    assert problems == {
        "alias.txt": "",
        "folder": leads_out,
        "leak.txt": leads_out,
        "loop.txt": "is a link that leads nowhere. Put the file itself here.",
        "real.txt": "",
    }


def test_files_that_cannot_be_read_are_named_with_their_reason(papers: Path) -> None:
    """A pipe would hang the run for ever, a huge file eat its memory, an empty one vanish without a
    word."""
    put(papers, "fine.txt", "large.txt")
    (papers / "empty.pdf").touch()
    (papers / "large.txt").write_bytes(b"x" * 2_000_000)
    os.mkfifo(papers / "pipe.txt")
    (papers / b"bad\xff.txt".decode("utf-8", "surrogateescape")).write_text("text", "utf-8")

    found = discover(papers, ParseLimits(max_file_mb=1))

    problems = {file.relative: file.problem for paper in found for file in paper.files}
    assert problems["fine.txt"] == ""
    assert problems["empty.pdf"].startswith("is empty (0 bytes)")
    assert problems["large.txt"].startswith(
        "has 2.0 MB, more than the 1 MB of parsing.limits.max_file_mb"
    )
    assert problems["pipe.txt"].startswith("is not a regular file")
    assert problems["bad?.txt"].startswith("has a name that is not valid UTF-8")


def test_a_missing_folder_is_an_error_and_an_empty_one_is_not(tmp_path: Path, papers: Path) -> None:
    """An unmounted disk read as "all papers were deleted" would empty both indexes."""
    with pytest.raises(MissingInput, match=r"nowhere does not exist\. Create it .* mount the disk"):
        discover(tmp_path / "nowhere", LIMITS)

    assert discover(papers, LIMITS) == []


def test_the_manifest_hash_moves_with_any_candidate_and_with_nothing_else(papers: Path) -> None:
    """A sensor that misses an edit leaves old answers; one that wakes for nothing runs all
    night."""
    put(papers, "a.txt", "sub/b.pdf")
    before = manifest_hash(papers)

    put(papers, "notes.log", ".hidden.txt")
    assert manifest_hash(papers) == before

    os.utime(papers / "a.txt", ns=(1, 1))
    touched = manifest_hash(papers)
    (papers / "sub/b.pdf").unlink()
    removed = manifest_hash(papers)
    assert len({before, touched, removed}) == 3
