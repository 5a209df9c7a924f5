"""A search finds what a filter lets through and nothing else, over real tables and indexes."""

import logging
import time
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from rag_assets.core import tables
from rag_assets.core.domain import Filter, PaperFacts
from rag_assets.core.settings import RetrievalSettings
from rag_assets.questions import Question
from rag_assets.search.retrieval.filtering import PassageFilters
from rag_assets_tests.search.retrieval.corpus import Corpus, chunk_of, library_of

SECTIONS = ("Methods", "Results > Iron", "Results and discussion", "Weather")
CORPUS = Corpus(
    [
        replace(
            chunk_of(
                f"{paper}-{nth}",
                f"Ferritin fell {nth} times. Iron rose.",
                paper_id=paper,
                ordinal=nth,
            ),
            section_id=f"s{nth}",
            section_title=section,
            source=source,
        )
        for paper, source in (("smith2020", "tei"), ("jones2021", "pdf"))
        for nth, section in enumerate(SECTIONS)
    ]
)


@pytest.fixture(autouse=True)
def few_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """A filter that is applied to what was found, not to what is searched, would leave too few."""
    monkeypatch.setattr("rag_assets.search.retrieval.ranking.CANDIDATES", 3)


def found(folder: Path, where: str, indexes: str = "both") -> list[str]:
    with CORPUS.searcher(folder, RetrievalSettings(), indexes) as searcher:
        ranking = searcher.rank("Ferritin fell", Filter.parse(where))
        return sorted(searcher.library.passage_ids([one.place for one in ranking]))


ALL = {passage.passage_id for passage in CORPUS.passages}


@pytest.mark.parametrize("indexes", ["both", "words", "vectors"])
@pytest.mark.parametrize(
    ("where", "passages"),
    [
        ("paper:smith2020 section:methods", ["smith2020-0#0", "smith2020-0#1"]),
        ("source:pdf section:discussion", ["jones2021-2#0", "jones2021-2#1"]),
        ("section:results -section:discussion page:2", ["jones2021-1#0", "smith2020-1#0"]),
        ("section:other -paper:smith2020 page:3-", ["jones2021-3#1"]),
        ("page:4", []),
        ("paper:smith2020 -paper:smith2020", []),
    ],
)
def test_all_conditions_hold_and_the_list_is_filled(
    folder: Path, where: str, passages: list[str], indexes: str
) -> None:
    """Three candidates of sixteen passages: a filter behind the search would find less than there
    is."""
    wanted = [
        one for one in passages if indexes != "words" or one.endswith("#0")
    ]  # "Iron rose." shares no word

    assert found(folder, where, indexes) == wanted


def test_a_passage_without_a_page_is_on_none() -> None:
    """A page that nothing proves is never invented, by a filter neither."""
    table = CORPUS.passage_table
    for name in ("page_start", "page_end"):
        table = table.set_column(
            table.schema.get_field_index(name), name, pa.nulls(len(table), pa.int32())
        )
    filters = PassageFilters(library_of(CORPUS.chunk_table, table))

    on_pages, elsewhere = (
        filters.scope(Filter.parse("page:1-")),
        filters.scope(Filter.parse("-page:1-")),
    )
    assert on_pages.passage_ids == frozenset()
    assert elsewhere.passage_ids == ALL


def test_neighbours_of_a_hit_pass_the_filter_too(folder: Path) -> None:
    """An answer that was asked for from page 2 must not quote page 3 because it stands beside."""
    with CORPUS.searcher(folder, RetrievalSettings()) as searcher:
        question = Question(id="q", question="Ferritin fell", paper_ids=("smith2020",))
        anywhere = searcher.evidence(question, 1)
        narrowed = searcher.evidence(
            question.model_copy(update={"where": Filter.parse("page:2")}), 1
        )

    assert (2, 3) in {(one.page_start, one.page_end) for one in anywhere.contexts}
    assert {(one.page_start, one.page_end) for one in narrowed.contexts} == {(2, 2)}


def test_an_unknown_paper_is_told_with_the_nearest_name(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing found because of a typo looks like nothing written."""
    with caplog.at_level(logging.WARNING):
        nothing = found(folder, "paper:smith202,zzz")

    assert nothing == []
    assert caplog.messages == [
        "No paper of the corpus has the id smith202; is smith2020 meant?",
        "No paper of the corpus has the id zzz",
    ]


RECORDS = {
    "smith2020": PaperFacts(
        authors=("Ada Paré", "Bo Smith"),
        year="2020",
        venue="Nature Communications",
        type="article-journal",
        language="en",
    ),
    "jones2021": PaperFacts(authors=("Smith Jones",), year="2021"),
}


def papers_passing(where: str) -> tuple[str, ...]:
    library = library_of(CORPUS.chunk_table, CORPUS.passage_table)
    library.facts = RECORDS
    scope = PassageFilters(library).scope(Filter.parse(where))
    if scope.paper_ids is not None:
        return scope.paper_ids
    return tuple(sorted({id_.split("-")[0] for id_ in scope.passage_ids or ()}))


@pytest.mark.parametrize(
    ("where", "papers"),
    [
        ("author:smith", ("smith2020",)),
        ('author:"smith jones",pare', ("jones2021", "smith2020")),
        ("year:2020", ("smith2020",)),
        ("year:2021-", ("jones2021",)),
        ("year:2019-2021 -author:Jones", ("smith2020",)),
        ("venue:nature type:article-journal language:EN", ("smith2020",)),
        ("venue:nat", ()),
        ("-venue:nature", ("jones2021",)),
        ("author:Smith section:methods", ("smith2020",)),
        ("author:Jones source:tei", ()),
    ],
)
def test_papers_are_chosen_by_their_records(where: str, papers: tuple[str, ...]) -> None:
    """A forename is no author, and what a record does not say passes only where it is excluded."""
    assert papers_passing(where) == papers


@pytest.mark.parametrize(
    ("pages", "is_on"), [("2", True), ("3", True), ("1-2", True), ("3-", True), ("4-", False)]
)
def test_a_passage_that_runs_over_the_edge_of_a_page_is_on_both(pages: str, is_on: bool) -> None:
    """The sentence that answers may begin at the foot of the page that is asked for, or end at its
    head."""
    chunk = chunk_of("smith2020-0", "Ferritin fell.")
    over_the_edge = replace(Corpus([chunk]).passages[0], page_start=2, page_end=3)
    table = tables.to_table([tables.passage_row(over_the_edge, "f")], tables.PASSAGES)

    passing = PassageFilters(library_of(Corpus([chunk]).chunk_table, table)).passing(
        Filter.parse(f"page:{pages}")
    )

    assert passing.tolist() == [is_on]


def test_a_filter_of_many_unknown_names_costs_little_and_fills_no_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A request of 10 kB kept a server over 300 papers busy for minutes."""
    library = library_of(CORPUS.chunk_table, CORPUS.passage_table)
    ids = [f"paper{n}" for n in range(300)]
    library.__dict__["papers"] = frozenset(ids)  # instead of those in the tables
    library.facts = {
        paper: PaperFacts(authors=tuple(f"Ada Paré {paper}{n}" for n in range(5))) for paper in ids
    }
    where = Filter.parse("author:" + ",".join(f"{n:03x}" for n in range(200)))

    begun_s = time.process_time()
    scope = PassageFilters(library).scope(where)
    took_s = time.process_time() - begun_s

    assert scope.paper_ids == ()
    assert len(caplog.messages) == 20
    assert took_s < 2
