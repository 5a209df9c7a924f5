"""The library of a reference manager as a list of papers."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from rag_assets.core.domain import Person, Record
from rag_assets.core.errors import MissingInput
from rag_assets.core.settings import ParseLimits
from rag_assets.parsing.discovery import Paper
from rag_assets.parsing.paper_lists import find_papers
from rag_assets.parsing.reference_libraries import entries_of

SCHEMA = """
CREATE TABLE itemTypes (itemTypeID INTEGER PRIMARY KEY, typeName TEXT, templateItemTypeID INT, display INT DEFAULT 1);
CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT, fieldFormatID INT);
CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
CREATE TABLE items (itemID INTEGER PRIMARY KEY, itemTypeID INT NOT NULL, libraryID INT NOT NULL, key TEXT NOT NULL);
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value UNIQUE);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID, PRIMARY KEY (itemID, fieldID));
CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT, contentType TEXT, path TEXT);
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT);
CREATE TABLE itemCreators (itemID INT NOT NULL, creatorID INT NOT NULL, creatorTypeID INT NOT NULL, orderIndex INT);
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY, dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL);
INSERT INTO itemTypes VALUES (1, 'attachment', NULL, 1), (2, 'journalArticle', NULL, 1);
INSERT INTO creatorTypes VALUES (1, 'author'), (2, 'editor');
INSERT INTO fields VALUES (1, 'title', NULL), (2, 'date', NULL), (3, 'DOI', NULL), (4, 'publicationTitle', NULL);
"""
"""The tables and columns of Zotero's own schema that are read."""


class Zotero:
    """A small Zotero data folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        with closing(self.opened()) as database:
            database.executescript(SCHEMA)

    def opened(self) -> sqlite3.Connection:
        return sqlite3.connect(self.folder / "zotero.sqlite", isolation_level=None)

    def item(self, number: int, key: str, values: Mapping[int, str], *authors: tuple[str, str]) -> None:
        with closing(self.opened()) as database:
            database.execute("INSERT INTO items VALUES (?, 2, 1, ?)", (number, key))
            for field, value in values.items():
                database.execute("INSERT INTO itemDataValues VALUES (NULL, ?)", (value,))
                database.execute("INSERT INTO itemData VALUES (?, ?, last_insert_rowid())", (number, field))
            for order, (given, family) in enumerate(authors):
                database.execute("INSERT INTO creators VALUES (NULL, ?, ?, ?)", (given, family, int(not given)))
                database.execute("INSERT INTO itemCreators VALUES (?, last_insert_rowid(), 1, ?)", (number, order))

    def attach(self, number: int, parent: int | None, key: str, path: str, mode: int = 0) -> None:
        """A file of that path lies below storage/, if it is one of Zotero's own."""
        with closing(self.opened()) as database:
            database.execute("INSERT INTO items VALUES (?, 1, 1, ?)", (number, key))
            database.execute(
                "INSERT INTO itemAttachments VALUES (?, ?, ?, 'application/pdf', ?)", (number, parent, mode, path)
            )
        name = path.removeprefix("storage:")
        if path.startswith("storage:") and "/" not in name:
            (self.folder / "storage" / key).mkdir(parents=True, exist_ok=True)
            (self.folder / "storage" / key / name).write_text("A paper.", "utf-8")

    def papers(self) -> dict[str, Paper]:
        found = find_papers(self.folder.parent / "data/papers", self.folder, ParseLimits())
        return {paper.paper_id: paper for paper in found}


@pytest.fixture
def zotero(tmp_path: Path) -> Zotero:
    """One article with its PDF and a snapshot of its web page."""
    made = Zotero(tmp_path / "Zotero ?#%")
    values = {1: "Iron in mountain sheep", 2: "2019-05-00 May 2019", 3: "10.1234/IRON.7", 4: "Blood"}
    made.item(1, "ITEM0001", values, ("Ada B.", "Lund"), ("", "Winter Group"))
    made.attach(2, 1, "FILE0001", "storage:Lund 2019 - Iron.pdf")
    made.attach(3, 1, "FILE0002", "storage:page.html", mode=1)
    return made


def test_an_item_with_its_file_is_a_paper_with_its_record(zotero: Zotero) -> None:
    """Whoever has entered a record with care must not enter it again."""
    papers = zotero.papers()

    assert list(papers) == ["Lund 2019 - Iron"]
    [file] = papers["Lund 2019 - Iron"].files
    assert (file.problem, file.path.read_text("utf-8")) == ("", "A paper.")
    [entry], problems = entries_of(zotero.folder, zotero.folder.parent / "data/papers", ParseLimits())
    assert (entry.files[0], problems) == (file.relative, [])
    assert entry.record == Record(
        title="Iron in mountain sheep",
        authors=(Person("Lund", "Ada B."), Person("Winter Group")),
        year=2019,
        venue="Blood",
        doi="10.1234/iron.7",
        type="article-journal",
    )


def test_nothing_of_the_library_is_written(zotero: Zotero) -> None:
    """Zotero may be open, and syncs what changes."""
    before = {path: path.stat().st_mtime_ns for path in zotero.folder.rglob("*")}
    with closing(zotero.opened()) as writing:
        writing.execute("BEGIN EXCLUSIVE")  # as Zotero keeps it while it runs

        assert zotero.papers()

    assert {path: path.stat().st_mtime_ns for path in zotero.folder.rglob("*")} == before


def test_files_that_lead_out_or_are_no_papers_are_refused_with_a_reason(zotero: Zotero, tmp_path: Path) -> None:
    """A library synced from a group is made by others: it must not read any file of this disk."""
    secret = tmp_path / "secret.txt"
    secret.write_text("A secret.", "utf-8")
    for number, (key, path, mode) in enumerate(
        [
            ("UP000001", "storage:../../../secret.txt", 0),
            ("LINKED01", str(secret), 2),
            ("LINK0001", "storage:link.txt", 0),
            ("EPUB0001", "storage:book.epub", 0),
            ("GONE0001", "storage:gone.pdf", 0),
        ],
        start=10,
    ):
        zotero.attach(number, None, key, path, mode)
    (zotero.folder / "storage/LINK0001/link.txt").unlink()
    (zotero.folder / "storage/LINK0001/link.txt").symlink_to(secret)
    (zotero.folder / "storage/GONE0001/gone.pdf").unlink()

    problems = {paper_id: paper.files[0].problem for paper_id, paper in zotero.papers().items()}

    outside = "lies outside of the library's folder"
    assert all(problems.pop(name).startswith(outside) for name in ("secret-UP000001", "secret-LINKED01", "link"))
    assert problems.pop("book.epub").startswith("is of no kind that is read")
    assert problems.pop("gone").startswith("does not exist")
    assert list(problems.values()) == [""]


def test_items_in_the_bin_are_no_papers_and_equal_names_keep_apart(zotero: Zotero) -> None:
    """Half of all attachments are called article.pdf; one id for two papers would lose one."""
    for number, key in ((20, "ITEM0002"), (22, "ITEM0003"), (24, "ITEM0004")):
        zotero.item(number, key, {1: f"Article {number}"})
        zotero.attach(number + 1, number, f"FILE{number}", "storage:article.pdf")
    with closing(zotero.opened()) as database:
        database.execute("INSERT INTO deletedItems (itemID) VALUES (24)")

    assert set(zotero.papers()) == {"Lund 2019 - Iron", "article-ITEM0002", "article-ITEM0003"}


def test_a_database_that_never_ends_is_given_up(zotero: Zotero, monkeypatch: pytest.MonkeyPatch) -> None:
    """A view in the place of a table can be endless, and would hold up every run."""
    monkeypatch.setattr("rag_assets.parsing.zotero._TIMEOUT_S", 0.01)
    with closing(zotero.opened()) as database:
        database.execute("DROP TABLE fields")
        database.execute(
            "CREATE VIEW fields AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
            "SELECT -i AS fieldID, 'title' AS fieldName FROM n"
        )

    with pytest.raises(MissingInput, match="interrupted"):
        zotero.papers()


def test_a_file_that_is_no_library_says_so(tmp_path: Path) -> None:
    """A wrong folder must not read as an empty corpus."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other/zotero.sqlite").write_text("no database", "utf-8")

    with pytest.raises(MissingInput, match=r"has no zotero\.sqlite"):
        find_papers(tmp_path, tmp_path / "empty", ParseLimits())
    with pytest.raises(MissingInput, match="cannot be read as a Zotero library"):
        find_papers(tmp_path, tmp_path / "other", ParseLimits())
    with pytest.raises(MissingInput, match=r"gone\.bib, which the setting paper_list names, does not exist"):
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


@pytest.mark.parametrize("content", [b"@article{a, title = {" + b"{" * 300_000 + b"}" * 300_002, b"@book{\xff}"])
def test_a_bibtex_export_that_cannot_be_read_stops_the_run_and_takes_no_paper_away(
    tmp_path: Path, content: bytes
) -> None:
    """It is taken apart where it can be stopped; an empty list in its place would remove all papers."""
    (tmp_path / "library.bib").write_bytes(content)

    with pytest.raises(MissingInput, match=r"library.bib, which the setting paper_list names, cannot be read. It "):
        find_papers(tmp_path, tmp_path / "library.bib", ParseLimits(timeout_s=0.3))


def test_a_library_that_multiplies_its_rows_is_refused(zotero: Zotero, monkeypatch: pytest.MonkeyPatch) -> None:
    """A view without end, or many rows with one id, could fill the memory within the time limit."""
    monkeypatch.setattr("rag_assets.parsing.zotero._MAX_CHARS", 100_000)
    with closing(zotero.opened()) as database:
        database.execute("DROP TABLE itemData")
        database.execute(
            "CREATE VIEW itemData AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 10000) "
            "SELECT 1 AS itemID, 1 AS fieldID, 1 AS valueID FROM n"
        )

    with pytest.raises(MissingInput, match="more than it may"):
        zotero.papers()


def test_a_damaged_text_costs_its_letters_not_the_library(zotero: Zotero) -> None:
    """One of ten thousand titles may be spoiled."""
    with closing(zotero.opened()) as database:
        database.execute("UPDATE itemDataValues SET value = CAST(x'49ff6e' AS TEXT) WHERE value LIKE 'Iron%'")

    [entry], _ = entries_of(zotero.folder, zotero.folder.parent / "data/papers", ParseLimits())

    assert entry.record.title == "I\ufffdn"
