"""Which sentences of a chunk report other works, and which of these are papers of the corpus."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.domain import ChunkUnit, PaperFacts, StatementKind
from rag_assets.core.table_files import OpenTable, write_table
from rag_assets.core.tables import REFERENCES, to_table
from rag_assets.search.retrieval.cited_works import CitedWorks
from rag_assets.search.retrieval.known_papers import KnownPapers
from rag_assets_tests.search.retrieval.corpus import chunk_of

ENTRY = "Lund, A. Iron in Wintér Soils: a Survey. J Soil, 2019."


def row(number: int, text: str, *mentions: tuple[int, bool]) -> dict[str, Any]:
    places = [dict(zip(("statement", "is_reported"), mention, strict=True)) for mention in mentions]
    return {
        "paper_id": "smith2020",
        "number": number,
        "text": text,
        "mentions": places,
        "fingerprint": "1",
    }


def test_a_reporting_sentence_is_found_at_its_place_in_the_chunk(tmp_path: Path) -> None:
    """The table has numbers of the paper's statements; a chunk has some of them, and repeats
    some."""
    text = "Snow lay. Iron falls [1]. We saw it [1]."
    units = (
        ChunkUnit(0, 9, StatementKind.SENTENCE, 20, 0, 500, 509),
        ChunkUnit(10, 25, StatementKind.SENTENCE, 21, 0, 510, 525),
        ChunkUnit(26, 40, StatementKind.SENTENCE, 22, 0, 526, 540),
    )
    chunk = replace(chunk_of("c1", text), units=units)
    table = to_table(
        [
            row(1, ENTRY, (21, True), (22, False)),
            row(2, "Moe, B. 2020.", (90, True)),
        ],
        REFERENCES,
    )
    papers = {
        "lund2019": PaperFacts("Iron in winter soils: A survey"),
        "smith2020": PaperFacts("Iron in winter soils: a survey again"),
    }

    write_table(table, tmp_path / "references.parquet", {})
    works = CitedWorks(OpenTable(tmp_path / "references.parquet"), KnownPapers(papers))

    found = works.reports_in({"c1": chunk, "c2": chunk_of("c2", "Rain.", paper_id="moe2020")})

    assert works.entries_naming("IN wintér soils") == {ENTRY: "smith2020"}
    assert works.entries_by("Ada Lund") == works.entries_by("lund") == {ENTRY: "smith2020"}
    assert (
        works.entries_by("Bo Lund")
        == works.entries_by("Ada Soils")
        == works.entries_by("J Wint")
        == {}
    )
    [report] = found.pop("c1")
    assert text[report.start : report.end] == "Iron falls [1]."
    assert [(work.text, work.paper_id) for work in report.works] == [(ENTRY, "lund2019")]
    assert found == {}


@pytest.mark.parametrize(
    ("titles", "paper"),
    [
        ({"lund": "Iron in winter soils: a survey"}, "lund"),
        ({"lund": "Iron in winter soils: a survey of all"}, None),
        ({"lund": "Iron in winter soils", "moe": "Iron in winter soils: a survey"}, "moe"),
        ({"lund": "Iron in winter soils", "preprint": "Iron in winter soils"}, None),
        ({"lund": "Iron in winter"}, None),
        ({"smith2020": "Iron in winter soils: a survey"}, None),
    ],
)
def test_an_entry_is_the_paper_whose_whole_title_it_holds(
    titles: dict[str, str], paper: str | None
) -> None:
    """Short titles, titles of two papers and the citing paper itself are no sure sign."""
    papers = {paper_id: PaperFacts(title) for paper_id, title in titles.items()}

    assert KnownPapers(papers).paper_of(ENTRY, besides="smith2020") == paper


@pytest.mark.parametrize(
    ("stated", "paper"),
    [
        ("10.1234/IRON.7", "lund"),
        ("10.1234/iron.8", None),
        ("10.1234/iron.77", None),
        ("10.1234/own", None),
        ("10.1234/twice", None),
    ],
)
def test_a_doi_tells_the_paper_whatever_its_title(stated: str, paper: str | None) -> None:
    """Titles are read wrong more often than DOIs, and two works may share one."""
    papers = {
        "lund": PaperFacts("Iron in winter research-article2019", doi="10.1234/iron.7"),
        "moe": PaperFacts("Iron in winter soils: a survey", doi="10.1234/iron.9"),
        "smith2020": PaperFacts("Own", doi="10.1234/own"),
        "a": PaperFacts("A", doi="10.1234/twice"),
        "b": PaperFacts("B", doi="10.1234/twice"),
    }

    assert KnownPapers(papers).paper_of(f"{ENTRY} doi:{stated}.", besides="smith2020") == paper
