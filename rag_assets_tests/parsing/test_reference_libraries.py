"""The library of a reference manager as a list of papers."""

from pathlib import Path

import pytest

from rag_assets.core.domain import Person, Record
from rag_assets.core.errors import MissingInput
from rag_assets.core.settings import ParseLimits
from rag_assets.parsing.bibliographies import entries_of
from rag_assets.parsing.paper_lists import find_papers


def test_an_item_with_its_file_is_a_paper_with_its_record(tmp_path: Path) -> None:
    """Whoever has entered a record with care must not enter it again; a snapshot of a web page is
    no paper."""
    library = tmp_path / "export/library.bib"
    (tmp_path / "export/files").mkdir(parents=True)
    for name in ("Lund 2019 - Iron.pdf", "page.html"):
        (tmp_path / "export/files" / name).write_text("A paper.", "utf-8")
    library.write_text(
        "@article{lund, title={Iron in mountain sheep}, author={Lund, Ada B. and {Winter Group}}, year={2019}, "
        "journal={Blood}, doi={10.1234/IRON.7}, file={files/Lund 2019 - Iron.pdf;files/page.html}}",
        "utf-8",
    )

    [paper] = find_papers(tmp_path / "data/papers", library, ParseLimits())

    assert paper.paper_id == "Lund 2019 - Iron"
    [file] = paper.files
    assert (file.problem, file.path.read_text("utf-8")) == ("", "A paper.")
    [entry], problems = entries_of(library, tmp_path / "data/papers", ParseLimits())
    assert (entry.files[0], problems) == (file.relative, [])
    assert entry.record == Record(
        title="Iron in mountain sheep",
        authors=(Person("Lund", "Ada B."), Person("Winter Group")),
        year=2019,
        venue="Blood",
        doi="10.1234/iron.7",
        type="article-journal",
    )


def test_files_that_lead_out_or_are_no_papers_are_refused_with_a_reason(tmp_path: Path) -> None:
    """A library of a group is made by others: it must not read any file of this disk. One id for
    two papers that are both called article.pdf would lose one."""
    secret = tmp_path / "secret.txt"
    secret.write_text("A secret.", "utf-8")
    folder = tmp_path / "export"
    for item in ("a", "b"):
        (folder / item).mkdir(parents=True)
        (folder / item / "article.pdf").write_text("A paper.", "utf-8")
    (folder / "link.txt").symlink_to(secret)
    (folder / "book.epub").write_text("A book.", "utf-8")
    files = ["../secret.txt", "link.txt", "book.epub", "gone.pdf", "a/article.pdf", "b/article.pdf"]
    items = [
        f"@article{{item{nth}, title={{T{nth}}}, file={{{file}}}}}"
        for nth, file in enumerate(files)
    ]
    (folder / "library.bib").write_text("\n".join(items), "utf-8")

    papers = find_papers(tmp_path / "data/papers", folder / "library.bib", ParseLimits())

    problems = {paper.paper_id: paper.files[0].problem for paper in papers}
    assert all(
        problems.pop(name).startswith("lies outside of the library's folder")
        for name in ("secret", "link")
    )
    assert problems.pop("book.epub").startswith("is of no kind that is read")
    assert problems.pop("gone").startswith("does not exist")
    assert problems == {"article-item4": "", "article-item5": ""}


def test_a_file_that_is_no_library_says_so(tmp_path: Path) -> None:
    """A wrong name must not read as an empty corpus."""
    with pytest.raises(
        MissingInput, match=r"gone\.bib, which the setting paper_list names, does not exist"
    ):
        find_papers(tmp_path, tmp_path / "gone.bib", ParseLimits())


def test_a_bibtex_export_names_the_papers_by_its_attachments(tmp_path: Path) -> None:
    """Better BibTeX writes absolute paths, and relative ones where it exports the files."""
    (tmp_path / "export/files").mkdir(parents=True)
    for name in ("iron.pdf", "copper.pdf"):
        (tmp_path / "export/files" / name).write_text("A paper.", "utf-8")
    (tmp_path / "outside.pdf").write_text("A secret.", "utf-8")
    (tmp_path / "export/library.bib").write_text(
        f"@article{{lund, title={{Iron}}, file={{PDF:files/iron.pdf:application/pdf}}}}"
        f"@article{{ek, title={{Copper}}, file={{{tmp_path / 'export/files/copper.pdf'}}}}}"
        f"@article{{up, title={{Up}}, file={{files/../../outside.pdf}}}} @article{{none, title={{No file}}}}",
        "utf-8",
    )

    papers = find_papers(tmp_path / "data/papers", tmp_path / "export/library.bib", ParseLimits())

    problems = {paper.paper_id: paper.files[0].problem for paper in papers}
    assert problems.pop("outside").startswith("lies outside of the library's folder")
    assert problems == {"iron": "", "copper": ""}


@pytest.mark.parametrize(
    "content", [b"@article{a, title = {" + b"{" * 3_000_000 + b"}" * 3_000_002, b"@book{\xff}"]
)
def test_a_bibtex_export_that_cannot_be_read_stops_the_run_and_takes_no_paper_away(
    tmp_path: Path, content: bytes
) -> None:
    """It is taken apart where it can be stopped; an empty list in its place would remove all
    papers."""
    (tmp_path / "library.bib").write_bytes(content)

    with pytest.raises(
        MissingInput, match=r"library.bib, which the setting paper_list names, cannot be read. It "
    ):
        find_papers(tmp_path, tmp_path / "library.bib", ParseLimits(timeout_s=0.3))
