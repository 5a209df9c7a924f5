"""The papers that answers cite, for reference managers and in styles."""

from pathlib import Path

import bibtexparser
import pytest

from rag_assets.core.domain import Person, Record
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


@pytest.mark.parametrize(
    ("style", "name"), [("bibtex", "a.bib"), ("ris", "a.ris"), ("csl-json", "a.csl.json")]
)
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


def test_an_id_in_bibtex_cannot_add_a_field(tmp_path: Path) -> None:
    """DOIs come from files of strangers."""
    record = Record(title="Iron", doi="10.1234/iron},\nnote={forged", arxiv="2206.01062\\}")

    (tmp_path / "a.bib").write_text(bibliography({"iron": record}, "bibtex"))

    [entry] = bibtexparser.parse_file(str(tmp_path / "a.bib")).entries
    assert [field.key for field in entry.fields] == ["title", "doi", "eprint", "archiveprefix"]


def test_references_are_sorted_by_authors_or_numbered() -> None:
    """What is cited by authors and year is looked up by them."""
    lund = "Ada Lund, Bo van der Moe. Iron & {zinc} in 50% of sheep. Blood 3(2), 1-9, 2019. https://doi.org/10.1234/iron_7"
    group = "Winter Group. Notes. 2020."
    records = dict(reversed(RECORDS.items()))

    assert bibliography(records, "author-year").splitlines() == [lund, group]
    assert bibliography(records, "numeric").splitlines() == [f"[1] {group}", f"[2] {lund}"]


@pytest.mark.parametrize(
    "person", [Person("Lund", "Ada, Jr."), Person("Rock, Ex", "Bo"), Person("Salt and Sand", "C.")]
)
def test_a_name_with_a_comma_or_an_and_stays_one_name(person: Person) -> None:
    """BibTeX would read a third part of the name, or a further author."""
    written = bibliography({"a": Record(title="Iron in sheep", authors=(person,))}, "bibtex")

    [entry], _ = entries_in(("a.bib", written.encode()))

    assert entry.record.authors == (person,)
