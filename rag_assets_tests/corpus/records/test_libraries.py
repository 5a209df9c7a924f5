"""Bibliographies beside the papers."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.domain import Person, Record
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.corpus.records.libraries import Libraries, read_retractions
from rag_assets.parsing.bibliographies import Entry, entries_in
from rag_assets_testing.in_place import in_place

BIB = r"""@article{lund2019, title = {Iron in {DNA} of {\"u}ber-sheep}, author = {Lund, Ada and van der Moe, Bo and
 {Winter Group}},
 journal = {Blood}, year = 2019, volume = {3}, number = 2, pages = {1--9}, doi = {https://doi.org/10.1234/IRON.7},
 file = {Full Text:files/1/iron.pdf:application/pdf}}
@article{broken, title = {never closed, year = 2018
@book{ek, title = "Copper", date = {2020-05}}
"""
RIS = "TY  - JOUR\nAU  - Lund, Ada\nTI  - Iron\nPY  - 2019///\nDO  - 10.1234/iron.7\nSP  - 1\nEP  - 9\nER  - \n"
CSL = """[{"id": "lund2019", "type": "article-journal", "title": "Iron", "issued": {"date-parts": [[2019, 5]]},
"author": [{"family": "Lund", "given": "Ada"}, {"literal": "Winter Group"}], "DOI": "10.1234/IRON.7"}, 7]"""


def read(name: str, text: str) -> tuple[list[Entry], list[str]]:
    return entries_in((name, text.encode()))


def test_bibtex_is_read_and_a_broken_entry_is_told_with_its_line() -> None:
    """One missing brace must not cost a user the whole library."""
    entries, problems = read("library.bib", BIB)

    assert [entry.key for entry in entries] == ["lund2019", "ek"]
    assert entries[0].files == ("files/1/iron.pdf",)
    assert entries[0].record == Record(
        title="Iron in DNA of über-sheep",
        authors=(Person("Lund", "Ada"), Person("van der Moe", "Bo"), Person("Winter Group")),
        year=2019,
        venue="Blood",
        volume="3",
        issue="2",
        pages="1-9",
        doi="10.1234/iron.7",
        type="article-journal",
    )
    (problem,) = problems
    assert problem.startswith("Line 5: the entry cannot be read (")


def test_ris_and_csl_json_say_the_same_as_bibtex() -> None:
    """Users keep their libraries in all three."""
    (ris,), _ = read("a.ris", RIS)
    (csl,), problems = read("a.csl.json", CSL)

    assert (ris.record.title, ris.record.authors, ris.record.year) == (
        "Iron",
        (Person("Lund", "Ada"),),
        2019,
    )
    assert (ris.record.doi, ris.record.pages, ris.record.type) == (
        "10.1234/iron.7",
        "1-9",
        "article-journal",
    )
    assert csl.record.authors == (Person("Lund", "Ada"), Person("Winter Group"))
    assert (csl.record.year, csl.record.doi) == (2019, "10.1234/iron.7")
    assert problems == ["Entry 2 is no object of CSL-JSON."]


def test_hostile_files_end_as_problems() -> None:
    """A library may come from anywhere."""
    nested = "@article{a, title = {" + "{" * 20_000 + r"\a" + "}" * 20_000 + "}}"
    for name, text in (
        ("a.csl.json", "[" * 100_000),
        ("b.ris", "no tags"),
        ("c.bib", "@article{" * 2_000),
    ):
        assert read(name, text)[1]
    assert len(read("d.bib", nested)[0]) == 1
    assert entries_in(("e.bib", b"@article{a, title = {\xff}}"))[1] == [
        "It is not UTF-8 (byte 21). Export it as UTF-8."
    ]


def test_a_library_that_passes_the_limits_is_told_and_the_others_are_used(tmp_path: Path) -> None:
    """A file that is taken apart for hours would hold up every run."""
    (tmp_path / "bad.bib").write_text(BIB)
    (tmp_path / "good.bib").write_text(BIB)

    def limited(work: Any, items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        for item, made in in_place(work, items):
            yield (
                item,
                Failure("took too long", is_worker_lost=True) if item[0] == "bad.bib" else made,
            )

    found = Libraries.of(tmp_path, limited)

    assert {entry.library for entry in found.entries} == {"good.bib"}
    assert found.problems[0] == {"file": "bad.bib", "problem": "It took too long."}


RETRACTED = "10.1234/a"


@pytest.mark.parametrize(
    "table",
    [
        "RetractionDOI;OriginalPaperDOI;RetractionNature\n10.1/r;10.1234/a;Retraction\n-;10.1234/b;Correction\n",
        "RetractionDOI, OriginalPaperDOI, RetractionNature\n10.1/r, 10.1234/a, Retraction\n",
        "OriginalPaperDOI|RetractionNature\n10.1234/a|Retraction\n",
        "DOI,Title\n10.1234/a,Iron\n",
        'Title,Retracted DOI,Notice DOI\n"Iron, in ""winter""",https://doi.org/10.1234/A,10.1/r\nZinc,,\n',
        "10.1234/a,Iron\n",
        "10.1234/a;Iron in winter\n",
        "doi\ttitle\n10.1234/a\tIron\n",
        "Article DOI,Update type\n10.1234/a,retraction\n10.1234/b,Expression of concern\n",
        "paper\ndoi:10.1234/a\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le"])
def test_a_list_of_retractions_is_read_as_programs_save_it(
    tmp_path: Path, table: str, encoding: str
) -> None:
    """A list that is misread without a word leaves retracted papers unmarked."""
    (tmp_path / "retracted.csv").write_bytes(table.encode(encoding))

    assert read_retractions(tmp_path / "retracted.csv") == ({RETRACTED}, [])


@pytest.mark.parametrize(
    "content", [b"Title;PMID\nIron in winter;123456\n", b"", b"\x00\x01PK\x03"]
)
def test_a_list_without_a_doi_is_told_by_its_name(tmp_path: Path, content: bytes) -> None:
    """It marks nothing, and its owner believes that it does."""
    (tmp_path / "retracted.csv").write_bytes(content)

    found = Libraries.of(tmp_path, in_place)

    assert found.retracted == {}
    assert [problem["file"] for problem in found.problems] == ["retracted.csv"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.bib", "@article{a, title = {\x1b[2JIron}, author = {\x1b[2JLund, Ada}}"),
        (
            "a.csl.json",
            r'{"title": "\u001b[2JIron\r\n", "author": [{"family": "\u001b[2JLund", "given": "Ada"}]}',
        ),
        ("a.ris", "TY  - JOUR\nTI  - \x1b[2JIron\nAU  - \nAU  - \x1b[2JLund, Ada\nER  - \n"),
    ],
)
def test_control_characters_and_nameless_authors_do_not_enter_a_record(
    name: str, text: str
) -> None:
    """Titles and names are shown in terminals, and written into lists of references."""
    [entry], _ = read(name, text)

    assert (entry.record.title, entry.record.authors) == (
        "\ufffd[2JIron",
        (Person("\ufffd[2JLund", "Ada"),),
    )
