"""Which papers there are, and what becomes of files that cannot be used."""

import os
import unicodedata
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rag_assets.errors import MissingInput
from rag_assets.parsing.discovery import PaperFiles, discover, manifest_hash, safe_id
from rag_assets.parsing.paper_list import find_papers
from rag_assets.settings import ParseLimits

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


def files_by_id(found: list[PaperFiles]) -> dict[str, list[str]]:
    return {paper.paper_id: [file.relative for file in paper.files] for paper in found}


def test_the_files_of_a_paper_are_found_together(papers: Path) -> None:
    """A TEI and its PDF taken for two papers answer every question twice and count as two sources."""
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
    assert all(paper.problem is None for paper in found)


def test_a_file_of_unknown_suffix_is_named_in_the_log(papers: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A paper dropped in as .odt would be missed in silence."""
    put(papers, "a.odt", "sub/b.rtf", "c.txt", ".hidden.odt", "README.md")

    discover(papers, LIMITS)

    [told] = caplog.messages
    assert "of no known suffix: a.odt, sub/b.rtf. Known are .ade.json, .docling.json, .docx" in told


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


def test_papers_of_one_stem_in_different_folders_get_ids_by_path(papers: Path) -> None:
    """A download of arXiv has a folder per paper and `main.pdf` in each; all but one would be missing."""
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
    assert all(paper.problem is None for paper in found)


def test_a_paper_in_a_subfolder_takes_no_id_away(papers: Path) -> None:
    """`u` is asked for by name in questions; a file added below must not answer in its place."""
    put(papers, "u.txt")
    before = files_by_id(discover(papers, LIMITS))

    put(papers, "sub/u.txt")

    assert before == {"u": ["u.txt"]}
    assert files_by_id(discover(papers, LIMITS)) == {"u": ["u.txt"], "sub__u": ["sub/u.txt"]}


def test_ids_by_path_are_apart_from_each_other_and_from_stems(papers: Path) -> None:
    """Two papers under one id overwrite each other's chunks."""
    put(papers, "a/b__c.txt", "a__b/c.txt", "x/c.txt", "y/b__c.txt", "x__c.txt", "z/main#.txt", "z#/main#.txt")

    found = files_by_id(discover(papers, LIMITS))

    assert sorted(name for names in found.values() for name in names) == [
        "a/b__c.txt",
        "a__b/c.txt",
        "x/c.txt",
        "x__c.txt",
        "y/b__c.txt",
        "z#/main#.txt",
        "z/main#.txt",
    ], "one file each, none lost"
    assert found["x__c"] == ["x__c.txt"], "a file of the papers folder itself keeps its stem"
    assert not any(character in "".join(found) for character in "#:\n/")


def test_files_of_one_stem_and_different_formats_in_different_folders_are_pointed_out(
    papers: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """TEI in one folder and PDF in another are probably one paper, which would count as two sources."""
    put(papers, "pdf/lund.pdf", "tei/lund.tei.xml", "2301/main.pdf", "2302/main.pdf")

    discover(papers, LIMITS)

    assert caplog.messages == [
        "Taken for different papers, because their files lie in different folders: lund (pdf__lund, tei__lund). Put "
        "the files of one paper into one folder."
    ]


def test_ids_are_safe_readable_and_apart(papers: Path) -> None:
    """An id goes into passage ids and file names; a "#" or a line break in it breaks both."""
    composed, decomposed = (unicodedata.normalize(form, "Größe") for form in ("NFC", "NFD"))

    ids = [safe_id(stem) for stem in ("Lund & Moe (2001)", "a#b", "a_b", "a:b", "x\ny", composed, decomposed, "..")]

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

    problems = {file.relative: file.problem for paper in discover(papers, LIMITS) for file in paper.files}

    leads_out = "is a link that leads out of the papers folder. Put the file itself here."
    assert problems == {
        "alias.txt": None,
        "folder": leads_out,
        "leak.txt": leads_out,
        "loop.txt": "is a link that leads nowhere. Put the file itself here.",
        "real.txt": None,
    }


def test_files_that_cannot_be_read_are_named_with_their_reason(papers: Path) -> None:
    """A pipe would hang the run for ever, a huge file eat its memory, an empty one vanish without a word."""
    put(papers, "fine.txt", "large.txt")
    (papers / "empty.pdf").touch()
    (papers / "large.txt").write_bytes(b"x" * 2_000_000)
    os.mkfifo(papers / "pipe.txt")
    (papers / b"bad\xff.txt".decode("utf-8", "surrogateescape")).write_text("text", "utf-8")

    found = discover(papers, ParseLimits(max_file_mb=1))

    problems = {file.relative: file.problem or "" for paper in found for file in paper.files}
    assert problems["fine.txt"] == ""
    assert problems["empty.pdf"].startswith("is empty (0 bytes)")
    assert problems["large.txt"].startswith("has 2.0 MB, more than the 1 MB of parsing.limits.max_file_mb")
    assert problems["pipe.txt"].startswith("is not a regular file")
    assert problems["bad?.txt"].startswith("has a name that is not valid UTF-8")


def test_a_missing_folder_is_an_error_and_an_empty_one_is_not(tmp_path: Path, papers: Path) -> None:
    """An unmounted disk read as "all papers were deleted" would empty both indexes."""
    with pytest.raises(MissingInput, match=r"nowhere does not exist\. Create it .* mount the disk"):
        discover(tmp_path / "nowhere", LIMITS)

    assert discover(papers, LIMITS) == []


def test_the_manifest_hash_moves_with_any_candidate_and_with_nothing_else(papers: Path) -> None:
    """A sensor that misses an edit leaves old answers; one that wakes for nothing runs all night."""
    put(papers, "a.txt", "sub/b.pdf")
    before = manifest_hash(papers)

    put(papers, "notes.bib", ".hidden.txt")
    assert manifest_hash(papers) == before

    os.utime(papers / "a.txt", ns=(1, 1))
    touched = manifest_hash(papers)
    (papers / "sub/b.pdf").unlink()
    removed = manifest_hash(papers)
    assert len({before, touched, removed}) == 3


def test_a_table_in_the_folder_names_the_papers_instead_of_the_sweep(papers: Path) -> None:
    """Teams that already have a parsed index must not have to rename their files."""
    put(papers, "x/one.xml", "x/one.txt", "two.txt", "unlisted.txt")
    write_index(
        papers / "parsed_index.parquet",
        [
            ("first", "x/one.xml", "x/one.txt"),
            ("second", None, "two.txt"),
            ("third", "gone.xml", None),
            ("second", None, "x/one.txt"),
            ("fifth", None, None),
        ],
    )

    found = find_papers(papers, None, LIMITS)

    by_id = {paper.paper_id: paper for paper in found}
    assert files_by_id(found)["first"] == ["x/one.xml", "x/one.txt"]
    assert by_id["first"].problem is by_id["second"].problem is None
    assert (by_id["third"].files[0].problem or "").startswith("does not exist")
    assert (
        by_id["fifth"].problem
        == "parsed_index.parquet names no file for fifth. Fill in parsed_xml_path or parsed_txt_path."
    )
    (repeated,) = [paper for paper in found if "names paper_id second 2 times" in (paper.problem or "")]
    assert repeated.paper_id not in ("second", "fifth")
    assert len(found) == 5


def test_paths_in_a_table_elsewhere_count_from_its_folder(papers: Path, tmp_path: Path) -> None:
    """A row must name its file the same on every machine: relative, with forward slashes."""
    put(tmp_path, "export/tei/one.xml")
    write_index(tmp_path / "export" / "index.parquet", [("one", "tei/one.xml", None)])

    (paper,) = find_papers(papers, tmp_path / "export" / "index.parquet", LIMITS)

    assert paper.files[0].relative == "../export/tei/one.xml"
    assert paper.files[0].problem is None


def test_a_table_that_is_none_says_so(papers: Path) -> None:
    """A wrong file must not read as an empty corpus."""
    (papers / "other.parquet").write_text("no parquet", "utf-8")
    pq.write_table(pa.table({"paper_id": ["a"]}), papers / "poor.parquet")

    with pytest.raises(MissingInput, match=r"other\.parquet cannot be read as a parquet file"):
        find_papers(papers, papers / "other.parquet", LIMITS)
    with pytest.raises(MissingInput, match=r"poor\.parquet has no column parsed_xml_path, parsed_txt_path"):
        find_papers(papers, papers / "poor.parquet", LIMITS)
    with pytest.raises(MissingInput, match=r"absent\.parquet, which the setting paper_list names, does not exist"):
        find_papers(papers, papers / "absent.parquet", LIMITS)


def write_index(path: Path, rows: list[tuple[str, str | None, str | None]]) -> None:
    columns = ("paper_id", "parsed_xml_path", "parsed_txt_path")
    schema = pa.schema([(name, pa.string()) for name in columns])
    pq.write_table(pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows], schema), path)
