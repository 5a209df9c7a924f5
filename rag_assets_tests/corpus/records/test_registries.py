"""What Crossref and OpenAlex say of DOIs, and lists of retracted papers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.domain import Person, Record
from rag_assets.core.kept import KeptFile
from rag_assets.core.promises import check_all
from rag_assets.corpus.records import registries as module
from rag_assets.corpus.records.libraries import Libraries, filled
from rag_assets.corpus.records.published import title_page
from rag_assets.corpus.records.registries import Registries
from rag_assets.corpus.records.update import PAPERS_PROMISES, PapersCandidate
from rag_assets_testing.in_place import in_place
from rag_assets_tests.corpus.records.conftest import RECORDS, Corpus
from rag_assets_tests.corpus.records.registry_server import (
    CROSSREF_WORK,
    OPENALEX_WORK,
    RegistryServer,
    registry_server,
)

DOI = "10.1234/iron.7"
DAY_S = 24 * 3600.0


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BETWEEN_S", 0.0)


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with registry_server() as state:
        yield state


@dataclass
class Asked:
    """Looks DOIs up in a folder, on a day."""

    server: RegistryServer
    folder: Path

    def on_day(self, day: float, contact: str = "ada@example.org") -> Registries:
        kept = KeptFile(self.folder / "kept.sqlite3")
        return Registries(contact, kept, self.server.registries, now=lambda: day * DAY_S)


@pytest.fixture
def asked(server: RegistryServer, tmp_path: Path) -> Asked:
    return Asked(server, tmp_path)


def of_crossref(**changes: Any) -> dict[str, dict[str, Any]]:
    return {DOI: CROSSREF_WORK | changes}


def test_nothing_is_asked_without_an_address(asked: Asked) -> None:
    asked.server.crossref = of_crossref()

    assert asked.on_day(1, contact="")({DOI}) == {}
    assert not asked.server.asked


def test_crossref_fills_what_is_not_known(corpus: Corpus, asked: Asked) -> None:
    """The paper's own title, authors and year stay, though Crossref has others."""
    asked.server.crossref = of_crossref()

    corpus.update(asked.on_day(1))

    assert corpus.record("lund") == Record(
        title="Iron in mountain sheep",
        authors=(Person("Lund", "Ada"),),
        year=2019,
        venue="Sheep & Goats",
        volume="12",
        pages="3-9",
        doi=DOI,
        type="article-journal",
        retracted="Crossref",
    )
    assert {"field": "venue", "source": "Crossref"} in corpus.table["sources"].to_pylist()[1]
    assert asked.server.asked == ["/crossref/10.1234%2Firon.7?mailto=ada%40example.org"]


def test_openalex_is_asked_what_crossref_does_not_know(asked: Asked) -> None:
    asked.server.openalex = {DOI: OPENALEX_WORK}

    (found,) = asked.on_day(1)({DOI}).values()

    assert found.registry == "OpenAlex"
    assert found.record == Record(
        title="Iron in mountain sheep",
        authors=(Person("Lund", "Ada B."), Person("van Moe", "Bo")),
        year=2019,
        venue="Sheep Letters",
        volume="4",
        pages="10-12",
        doi=DOI,
        type="article-journal",
        retracted="OpenAlex",
    )


def test_a_doi_of_another_work_fills_nothing(corpus: Corpus, asked: Asked) -> None:
    """Some papers print the DOI of a template or of a paper they cite."""
    asked.server.crossref = of_crossref(title=["How to write papers in our journal"])

    corpus.update(asked.on_day(1))

    assert corpus.record("lund") == RECORDS["lund"]


@pytest.mark.parametrize("kind", ["correction", "expression_of_concern"])
def test_a_correction_is_no_retraction(asked: Asked, kind: str) -> None:
    asked.server.crossref = of_crossref(**{"updated-by": [{"type": kind}]})

    assert asked.on_day(1)({DOI})[DOI].record.retracted is None


def test_a_reply_is_used_for_thirty_days(corpus: Corpus, asked: Asked) -> None:
    """A second run asks nothing and changes nothing; a paper that is retracted later is found
    later."""
    asked.server.crossref = of_crossref(**{"updated-by": []})
    corpus.update(asked.on_day(1))
    before = corpus.table

    asked.server.crossref = of_crossref()
    assert corpus.update(asked.on_day(30)).is_noop
    assert corpus.table.equals(before)
    assert len(asked.server.asked) == 1

    assert corpus.update(asked.on_day(32)).to_build == ("lund",)
    assert corpus.record("lund").retracted == "Crossref"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, b"{}"),
        (429, b"{}"),
        (200, b"no JSON"),
        (200, b"[" * 100_000),
        (200, b'{"message": ["a list"]}'),
        (200, b'{"message": {"author": [7], "DOI": "10.1234/iron.7"}}'),
        (200, b"[1]"),
        (200, json.dumps({"message": CROSSREF_WORK | {"abstract": "a" * 5_000_001}}).encode()),
    ],
)
def test_a_failing_service_costs_a_warning_and_no_value(
    asked: Asked, status: int, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """What it said before is used, though it is old."""
    asked.server.crossref = of_crossref()
    before = asked.on_day(1)({DOI})
    asked.server.status, asked.server.body = status, body

    assert asked.on_day(40)({DOI}) == before
    assert "could not be looked up" in caplog.text


def test_no_redirect_is_followed(asked: Asked) -> None:
    asked.server.crossref, asked.server.status = of_crossref(), 302

    assert asked.on_day(1)({DOI}) == {}
    assert [path.split("/")[1] for path in asked.server.asked] == ["crossref", "openalex"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("retracted.txt", "# withdrawn\nhttps://doi.org/10.1234/IRON.7\n10.1234/iron.70\n"),
        (
            "retracted.csv",
            'Title,OriginalPaperDOI,RetractionNature\n"Iron\nsheep",10.1234/iron.7,Retraction\n',
        ),
    ],
)
def test_a_list_beside_the_papers_marks_a_paper(corpus: Corpus, name: str, text: str) -> None:
    """Its title page says so, so that a question about it finds it; a check lists it."""
    (corpus.papers / name).write_text(text)

    corpus.update()

    record = corpus.record("lund")
    assert record.retracted == name
    assert f"Retracted: yes, by {name}" in title_page(record, {})
    libraries = Libraries.of(corpus.papers, in_place)
    checked = check_all(PAPERS_PROMISES, PapersCandidate(corpus.table, [*RECORDS], libraries))
    found = {one.promise.name: list(one.offenders) for one in checked}
    assert found["none_retracted"] == [{"paper_id": "lund", "doi": DOI, "retracted": name}]

    (corpus.papers / name).unlink()
    assert corpus.update().to_build == ("lund",)
    assert corpus.record("lund").retracted is None


@pytest.mark.parametrize("nature", ["Correction", "Reinstatement", "Expression of concern"])
def test_other_rows_of_retraction_watch_mark_nothing(corpus: Corpus, nature: str) -> None:
    (corpus.papers / "retracted.csv").write_text(
        f"OriginalPaperDOI,RetractionNature\n10.1234/iron.7,{nature}\n"
    )

    corpus.update()

    assert corpus.record("lund").retracted is None


def test_a_service_that_is_gone_is_not_asked_about_every_paper(asked: Asked) -> None:
    dois = {f"10.1234/iron.{number}" for number in range(9)}
    asked.server.crossref = {doi: CROSSREF_WORK | {"DOI": doi} for doi in dois}
    asked.server.status = 503

    assert asked.on_day(1)(dois) == {}
    assert len(asked.server.asked) == 3


def test_what_a_registry_says_otherwise_is_told_and_the_page_wins() -> None:
    """A preprint has another year than the journal: nobody saw that the two differ."""
    own = Record(title="Iron in mountain sheep", year=2019)

    record, sources = filled(
        own, {"year": "first page"}, replace(own, year=2021, venue="Winter"), "Crossref"
    )

    assert (record.year, record.venue) == (2019, "Winter")
    assert sources == {"year": "first page; Crossref has 2021", "venue": "Crossref"}
