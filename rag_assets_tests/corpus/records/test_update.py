"""The table of papers: incremental, and completed by bibliographies."""

from collections.abc import Callable, Collection, Generator, Iterable
from dataclasses import replace
from typing import Any

import pytest

from rag_assets.core.domain import Block, BlockKind, Document, Person, Record, SourceFormat
from rag_assets.core.promises import check_all
from rag_assets.core.tables import records_from
from rag_assets.core.text.works import same_works
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.corpus.records.libraries import Libraries
from rag_assets.corpus.records.published import title_page
from rag_assets.corpus.records.registries import Registered
from rag_assets.corpus.records.update import PAPERS_PROMISES, PapersCandidate
from rag_assets.parsing.store import packed_document
from rag_assets_testing.in_place import in_place
from rag_assets_tests.corpus.records.conftest import RECORDS, Corpus


@pytest.mark.parametrize(
    ("paper", "key", "entry"),
    [
        ("lund", "x", "doi = {10.1234/IRON.7}, year = 2020"),
        ("ek", "x", "eprint = {2206.01062v3}, archiveprefix = {arXiv}, year = 2020"),
        ("moe", "x", "file = {:storage/moe.pdf:PDF}, year = 2020"),
        ("moe", "Moe", "year = 2020"),
        ("moe", "x", "title = {{Copper} in Valley Goats}, year = 2020"),
    ],
)
def test_an_entry_is_matched_and_wins(corpus: Corpus, paper: str, key: str, entry: str) -> None:
    """What a user keeps in a library is right; what a parser read may not be."""
    corpus.library(**{key: entry})

    corpus.update()

    assert corpus.record(paper).year == 2020
    assert [corpus.record(other).year for other in RECORDS if other != paper].count(2020) == 0


def test_a_correction_wins_over_libraries_and_leaves_them_the_other_fields(corpus: Corpus) -> None:
    """A library that is exported anew would bring the wrong year back."""
    corpus.library(lund="doi = {10.1234/iron.7}, year = 2020, journal = {Winter}")
    corpus.update()
    (corpus.papers / "corrections.csl.json").write_text(
        '[{"id": "lund", "issued": {"date-parts": [[2022]]}, "DOI": "10.9999/other"}]'
    )

    corpus.update()

    assert (corpus.record("lund").year, corpus.record("lund").venue) == (2022, "Winter")
    assert [corpus.record(other).year for other in ("moe", "ek")] == [None, None]


def test_registries_are_asked_about_the_doi_that_a_correction_states(corpus: Corpus) -> None:
    """The registry would fill the record with what it has of the wrong work, again and again."""
    asked = list[set[str]]()

    def look_up(dois: Collection[str]) -> dict[str, Registered]:
        asked.append(set(dois))
        return {doi: Registered("crossref", Record(venue=f"Journal of {doi}")) for doi in dois}

    corpus.update(look_up)
    (corpus.papers / "corrections.csl.json").write_text('[{"id": "lund", "DOI": "10.9999/right"}]')
    corpus.update(look_up)

    assert asked == [{"10.1234/iron.7"}, {"10.9999/right"}]
    assert corpus.record("lund").venue == "Journal of 10.9999/right"


def test_an_entry_with_another_doi_is_another_work(corpus: Corpus) -> None:
    """The published version of a preprint has its title."""
    corpus.library(x="title = {Iron in mountain sheep}, doi = {10.9999/published}, year = 2021")

    corpus.update()

    assert corpus.record("lund").year == 2019


def test_a_file_beside_a_paper_is_its_record(corpus: Corpus) -> None:
    """One file per paper needs no key."""
    (corpus.papers / "moe.ris").write_text("TY  - JOUR\nPY  - 2021\nER  - \n")

    corpus.update()

    assert corpus.record("moe").year == 2021


def test_checks_list_what_is_missing_unreadable_or_there_twice(corpus: Corpus) -> None:
    """Nobody looks at ten thousand records by hand."""
    copy = replace(RECORDS["moe"], authors=(Person("Moe", "Bo"),))
    corpus.store.put(
        "of ek",
        packed_document(
            Document(
                "ek",
                "",
                SourceFormat.TEI,
                "ek.xml",
                (),
                header=replace(copy, title="Copper in Valley Goats"),
            )
        ),
    )
    corpus.store.put(
        "of moe", packed_document(Document("moe", "", SourceFormat.TEI, "moe.xml", (), header=copy))
    )
    (corpus.papers / "b.bib").write_text("@article{")
    corpus.update()

    checked = check_all(
        PAPERS_PROMISES,
        PapersCandidate(corpus.table, list(RECORDS), Libraries.of(corpus.papers, in_place)),
    )

    found = {one.promise.name: list(one.offenders) for one in checked}
    assert not found["one_per_paper"]
    assert {"paper_id": "moe", "missing": "year"} in found["records_complete"]
    assert [row["file"] for row in found["libraries_readable"]] == ["b.bib"]
    assert found["no_work_twice"] == [{"paper_id": "moe", "same_work_as": "ek"}]


def test_a_copy_of_a_file_is_the_same_work(corpus: Corpus) -> None:
    """What a cloud leaves beside a paper ("lund (1)") would be a second source of all it says."""
    for paper in ("moe", "ek"):
        block = Block(BlockKind.PARAGRAPH, f"Goats hold copper.{'' if paper == 'ek' else ' '}")
        document = Document(paper, "", SourceFormat.MARKDOWN, f"{paper}.md", (block,))
        corpus.store.put(f"of {paper}", packed_document(document))
    corpus.update()

    assert same_works(records_from(corpus.table)) == {"moe": "ek"}


def test_a_title_page_says_where_its_statements_come_from(corpus: Corpus) -> None:
    """A claim that quotes it can be checked: in the paper, or in the library."""
    corpus.library(lund="author = {Lund, Ada and Moe, Bo}")
    corpus.update()
    row = corpus.table.to_pylist()[1]

    text = title_page(
        corpus.record("lund"), {one["field"]: one["source"] for one in row["sources"]}
    )

    assert text.split("\n") == [
        "Title: Iron in mountain sheep",
        "Authors: Ada Lund; Bo Moe",
        "Publication date: 2019",
        "DOI: 10.1234/iron.7",
        "Read from: header (title, date, DOI); library.bib (authors)",
    ]
    assert title_page(Record(title="Iron"), {"title": "header"}) == ""


def test_a_null_says_where_it_was_looked_for(corpus: Corpus) -> None:
    """A user who is not told takes a null for a fault of the run, and does not name the year."""
    corpus.update()

    rows = {row["paper_id"]: row for row in corpus.table.to_pylist()}

    sources = {one["field"]: one["source"] for one in rows["moe"]["sources"]}
    assert rows["moe"]["year"] is None
    assert sources["year"] == "not printed where it was looked for: header"


def _deadly(work: Callable[[Any], Any], papers: Iterable[Any]) -> Generator[tuple[Any, Any]]:
    """The worker that reads the paper "lund" is lost."""
    for paper in papers:
        lost = Failure("was stopped after 120 s.", is_worker_lost=True)
        yield (paper, lost) if paper[0] == "lund" else next(in_place(work, [paper]))


def test_a_record_that_takes_too_long_says_so_and_the_others_are_made(corpus: Corpus) -> None:
    """One word of 200,000 letters would keep every paper from its record, for ever."""
    corpus.update(spread=_deadly)

    sources = {row["paper_id"]: row["sources"] for row in corpus.table.to_pylist()}
    assert sources["lund"] == [
        {"field": "title", "source": "not read: the file was stopped after 120 s."}
    ]
    assert corpus.record("lund").title is None
    assert corpus.record("moe").title == "Copper in valley goats"


def test_a_lost_record_is_completed_by_a_library_and_not_tried_each_night(corpus: Corpus) -> None:
    """Each run would spend the whole limit on it again, and what the user states would be lost."""
    corpus.update(spread=_deadly)
    assert corpus.update().is_noop
    corpus.library(lund="title = {Iron}, year = 2020")

    corpus.update(spread=_deadly)

    assert (corpus.record("lund").title, corpus.record("lund").year) == ("Iron", 2020)
