"""The papers that answers cite, for reference managers and in CSL styles."""

import json
from pathlib import Path

import bibtexparser
import pytest
from citeproc.source.bibtex import BibTeX

from rag_assets.core.domain import Person, Record
from rag_assets.core.errors import InvalidSelection
from rag_assets.corpus.records.citation_styles import bibliography
from rag_assets.parsing.bibliographies import entries_in

RECORDS = {
    "lund 2019": Record(
        title="Iron & {zinc} in 50% of sheep",
        authors=(Person("Lund", "Ada"), Person("van der Moe", "Bo")),
        year=2019,
        venue="Blood",
        volume="3",
        issue="2",
        pages="1-9",
        doi="10.1234/iron_7",
        type="article-journal",
    ),
    "group": Record(title="Notes", authors=(Person("Winter Group"),), year=2020),
}


@pytest.mark.parametrize(("style", "name"), [("bibtex", "a.bib"), ("ris", "a.ris"), ("csl-json", "a.csl.json")])
def test_what_is_exported_reads_back_the_same(style: str, name: str) -> None:
    """A reference manager must get what the record says."""
    entries, problems = entries_in((name, bibliography(RECORDS, style).encode()))

    assert not problems
    first, second = (entry.record for entry in entries)
    expected = RECORDS["lund 2019"]
    for field in ("title", "authors", "year", "venue", "volume", "issue", "pages", "doi", "type"):
        if field == "title" and style == "bibtex":
            assert first.title == "Iron & zinc in 50% of sheep", "readers fail on braces"
        else:
            assert getattr(first, field) == getattr(expected, field), field
    assert second.authors == (Person("Winter Group"),)


def test_bibtex_is_accepted_by_two_readers(tmp_path: Path) -> None:
    """What one reader forgives breaks another."""
    (tmp_path / "a.bib").write_text(bibliography(RECORDS, "bibtex"))

    assert [one.key for one in bibtexparser.parse_file(str(tmp_path / "a.bib")).entries] == ["lund_2019", "group"]
    assert set(BibTeX(str(tmp_path / "a.bib"))) == {"lund_2019", "group"}


def test_an_id_in_bibtex_cannot_add_a_field(tmp_path: Path) -> None:
    """DOIs come from files of strangers."""
    record = Record(title="Iron", doi="10.1234/iron},\nnote={forged", arxiv="2206.01062\\}")

    (tmp_path / "a.bib").write_text(bibliography({"iron": record}, "bibtex"))

    [entry] = bibtexparser.parse_file(str(tmp_path / "a.bib")).entries
    assert [field.key for field in entry.fields] == ["title", "doi", "eprint", "archiveprefix"]


@pytest.mark.parametrize(
    ("style", "first"),
    [
        ("apa", "Lund, A., & van der Moe, B. (2019). Iron & {zinc} in 50% of sheep. Blood, 3(2), 1–9."),
        ("nature", "1. Lund, A. & van der Moe, B. Iron & {zinc} in 50% of sheep. Blood 3, 1–9 (2019)."),
        ("vancouver", "[1] Lund A, van der Moe B. Iron & {zinc} in 50% of sheep. Blood 2019;3:1–9."),
    ],
)
def test_references_are_written_in_a_style(style: str, first: str) -> None:
    """Every journal asks for another one."""
    assert bibliography(RECORDS, style).startswith(first)


@pytest.mark.parametrize("style", ["no-such-style", "../../etc/passwd", "missing.csl"])
def test_an_unknown_style_is_refused(style: str) -> None:
    """A name of a style is no path into the file system."""
    with pytest.raises(InvalidSelection, match="style"):
        bibliography(RECORDS, style)


@pytest.mark.parametrize(
    "person", [Person("Lund", "Ada, Jr."), Person("Rock, Ex", "Bo"), Person("Salt and Sand", "C.")]
)
def test_a_name_with_a_comma_or_an_and_stays_one_name(person: Person) -> None:
    """BibTeX would read a third part of the name, or a further author."""
    written = bibliography({"a": Record(title="Iron in sheep", authors=(person,))}, "bibtex")

    [entry], _ = entries_in(("a.bib", written.encode()))

    assert entry.record.authors == (person,)


def test_csl_json_is_json() -> None:
    """Zotero imports it."""
    assert json.loads(bibliography(RECORDS, "csl-json"))[1]["author"] == [{"literal": "Winter Group"}]


def test_a_title_in_the_place_of_authors_is_told_once() -> None:
    """citeproc-py told it again: "Iron. (2020). Iron. Blood"."""
    records = {"iron": Record("Iron in winter", year=2020, venue="Blood")}

    assert bibliography(records, "apa") == "Iron in winter. (2020). Blood.\n"


def test_papers_whose_ids_differ_in_case_alone_are_all_in_the_list() -> None:
    """Each is cited by the answers."""
    records = {"Lund": Record("Iron", (Person("Lund", "Ada"),)), "lund": Record("Zinc", (Person("Moe", "Bo"),))}

    assert bibliography(records, "apa").splitlines() == ["Lund, A. (n.d.). Iron.", "Moe, B. (n.d.). Zinc."]
