"""PDFs that GROBID reads: what is sent, what is kept, and what happens when the server fails."""

import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rag_assets.core import tables
from rag_assets.core.errors import ServiceUnavailable
from rag_assets.core.incremental import UpdatePlan
from rag_assets.core.settings import ParseLimits, ParsingSettings
from rag_assets.parsing import grobid
from rag_assets.parsing.attempts import ParseJob
from rag_assets.parsing.corpus import update_parsed_index
from rag_assets.parsing.discovery import discover
from rag_assets.parsing.store import DocumentStore
from rag_assets_testing.in_place import in_place
from rag_assets_testing.papers.pdf import page_of, prose, write_pdf
from rag_assets_testing.papers.tei import tei
from rag_assets_tests.kept_entries import contents
from rag_assets_tests.parsing.reading_server import PROSE, ReadingServer, Said, reading_server


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_assets.parsing.grobid._WAIT_S", 0.0)


@pytest.fixture
def server() -> Iterator[ReadingServer]:
    with reading_server() as state:
        yield state


@dataclass
class Corpus:
    """A papers folder, and the index made of it with the settings."""

    folder: Path
    index: pa.Table = field(default_factory=tables.PARSED_INDEX.empty_table)

    @property
    def papers(self) -> Path:
        return self.folder / "papers"

    @property
    def store(self) -> DocumentStore:
        return DocumentStore(self.folder / "kept.sqlite3")

    def put_pdf(self, name: str = "a", topic: str = "desert") -> None:
        self.papers.mkdir(exist_ok=True)
        write_pdf(self.papers / f"{name}.pdf", [page_of(*prose(topic, 8)), page_of(PROSE)])

    def run(self, **settings: Any) -> UpdatePlan:
        job = ParseJob(ParsingSettings(**settings), self.store, in_place)
        self.index, plan = update_parsed_index(
            discover(self.papers, job.settings.limits), self.index, job
        )
        return plan

    def row(self, paper_id: str = "a") -> dict[str, Any]:
        (row,) = (row for row in self.index.to_pylist() if row["paper_id"] == paper_id)
        return dict(row)

    def notes(self, paper_id: str = "a") -> str:
        return " ".join(self.row(paper_id)["notes"])

    def readings(self) -> dict[str, bytes]:
        return contents(self.store.path, "readings")


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    corpus = Corpus(tmp_path)
    corpus.put_pdf()
    return corpus


def test_grobid_reads_a_pdf_and_its_coordinates_are_pages(
    corpus: Corpus, server: ReadingServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Users have PDFs; the better reader must be one setting away, and its quotes must have their
    page."""
    caplog.set_level("INFO")

    corpus.run(grobid=server.address)

    row = corpus.row()
    assert (
        row["source"],
        row["file_path"],
        row["pdf_path"],
        row["parsed_xml_path"],
        row["linked_paths"],
    ) == (
        "tei",
        "a.pdf",
        "a.pdf",
        None,
        [],
    )
    assert (row["title"], row["page_source"], row["used_fallback"]) == (
        "Iron in Winter",
        "coords",
        False,
    )
    assert "Read by GROBID 0.9.1." in row["notes"]
    [kept_as] = corpus.index["fingerprint"].to_pylist()
    document = corpus.store.get(kept_as)
    assert [(block.text, block.page_start) for block in document.blocks if block.text == PROSE] == [
        (PROSE, 2)
    ]
    [form] = server.forms
    wanted = "p s head ref figure formula note biblStruct persName title".split()
    assert [value.decode() for value in form["teiCoordinates"]] == wanted
    assert form["input"] == [(corpus.papers / "a.pdf").read_bytes()]
    assert "GROBID: 1 of 1 PDFs" in caplog.messages


def test_grobid_is_told_to_look_nothing_up_elsewhere(corpus: Corpus, server: ReadingServer) -> None:
    """Unless told, GROBID sends titles and authors to CrossRef."""
    corpus.run(grobid=server.address)

    [form] = server.forms
    assert [form[f"consolidate{what}"] for what in ("Header", "Citations", "Funders")] == [
        [b"0"]
    ] * 3


def test_nothing_is_sent_without_the_setting_nor_beside_a_better_file(
    corpus: Corpus, server: ReadingServer
) -> None:
    """Papers may be confidential."""
    corpus.run()
    (corpus.papers / "a.tei.xml").write_text(tei(f"<p>{PROSE}</p>"), "utf-8")
    corpus.run(grobid=server.address)
    assert corpus.row()["file_path"] == "a.tei.xml"
    (corpus.papers / "a.tei.xml").unlink()
    corpus.run(grobid=server.address, source_order=("pdf", "tei"))

    assert (server.asked, corpus.row()["source"]) == ([], "pdf")


def test_an_unchanged_run_sends_no_pdf_and_changes_nothing(
    corpus: Corpus, server: ReadingServer
) -> None:
    """An hour of a server for nothing, each night."""
    corpus.run(grobid=server.address)
    before = corpus.index

    plan = corpus.run(grobid=f"{server.address}/")

    assert plan.is_noop, "where the server is changes no paper"
    assert server.n_pdfs == 1
    assert corpus.index.equals(before)


def test_readings_go_with_their_pdf_and_not_with_the_setting(
    corpus: Corpus, server: ReadingServer
) -> None:
    """What is deleted must be gone; what was only switched off need not be paid for again."""
    corpus.put_pdf("b", "forest")
    corpus.run(grobid=server.address)
    corpus.run()
    assert (corpus.row()["source"], len(corpus.readings())) == ("pdf", 2)
    (corpus.papers / "b.pdf").unlink()

    corpus.run(grobid=server.address)
    corpus.store.forget_readings_but(corpus.index["sha256"].to_pylist())

    assert (corpus.row()["source"], server.n_pdfs, len(corpus.readings())) == ("tei", 2, 1)


@pytest.mark.parametrize("status", [503, 429])
def test_a_full_server_is_asked_again(corpus: Corpus, server: ReadingServer, status: int) -> None:
    """GROBID answers 503 whenever all its threads are busy, which is usual."""
    server.says.extend([Said(status, b"busy")] * 2)

    corpus.run(grobid=server.address)

    assert (corpus.row()["source"], server.n_pdfs) == ("tei", 3)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            Said(500, b"[NO_BLOCKS] PDF has\n no text"),
            "it answered with HTTP 500: [NO_BLOCKS] PDF has no text",
        ),
        (Said(204, b""), "it answered with HTTP 204"),
        (Said(307, b""), "it answered with HTTP 307"),
        (Said(body=b"<html>Welcome to nginx</html>"), "its reply is no tei"),
        (Said(body=b" " * 2_100_000), "its reply has more than 2 MB (parsing.limits.max_file_mb)"),
        (Said(is_cut_off=True), "the connection broke before it had answered"),
        (Said(slow_s=0.5), "it did not answer within 0.1 s"),
    ],
)
def test_where_the_service_fails_our_reader_reads_and_the_paper_says_so(
    corpus: Corpus,
    server: ReadingServer,
    said: Said,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One odd PDF must cost neither the paper nor the run; and the next run may have more luck."""
    if said.slow_s:
        monkeypatch.setattr(grobid, "TIMEOUT_S", 0.1)
    server.says.append(said)

    corpus.run(grobid=server.address, limits=ParseLimits(max_file_mb=2))

    assert (corpus.row()["source"], corpus.row()["used_fallback"]) == ("pdf", True)
    assert (
        corpus.row()["notes"][0]
        == f"a.pdf was not read by GROBID: {told}. The next run asks again."
    )
    assert corpus.readings() == {}
    corpus.run(grobid=server.address, limits=ParseLimits(max_file_mb=2))
    assert corpus.row()["source"] == "tei"


def test_a_failure_told_in_other_words_is_no_change(corpus: Corpus, server: ReadingServer) -> None:
    """Messages of servers hold times and numbers: each run would read the paper anew, and cut it
    anew."""
    server.says.extend([Said(500, b"at 09:00"), Said(500, b"at 09:05")])
    corpus.run(grobid=server.address)

    assert corpus.run(grobid=server.address).is_noop


def test_a_reading_of_another_paper_leaves_the_pdf(corpus: Corpus, server: ReadingServer) -> None:
    """A server that mixes up its answers would put one paper's findings under the name of
    another."""
    corpus.put_pdf()
    other = "Zebrafish larvae swam toward dim lamps. Their speed doubled within six days. Nobody fed them by hand."
    server.by_default = Said(body=tei(f"<p>{other}</p>").encode())

    corpus.run(grobid=server.address)

    assert (corpus.row()["source"], corpus.row()["used_fallback"]) == ("pdf", True)
    assert "GROBID 0.9.1's reading of a.pdf is of another paper" in corpus.notes()


def test_several_pdfs_are_sent_at_once_but_no_more_than_it_takes(
    corpus: Corpus, server: ReadingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other takes a night; all at once only fills the server."""
    for number in range(6):
        corpus.put_pdf(f"p{number}", f"topic{number}")
    server.n_together = 3
    monkeypatch.setattr(grobid, "MAX_CONCURRENT", 3)

    corpus.run(grobid=server.address)

    assert (server.n_pdfs, server.most_at_once) == (7, 3)


def test_a_server_that_dies_costs_no_finished_paper_and_not_the_time_of_all_others(
    corpus: Corpus, server: ReadingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand papers would each wait for their time-out; and those that were read must not be
    read again."""
    for number in range(9):
        corpus.put_pdf(f"p{number}", f"topic{number}")
    server.says.extend([Said()] * 2)
    server.by_default = Said(is_cut_off=True)

    monkeypatch.setattr(grobid, "MAX_CONCURRENT", 1)
    corpus.run(grobid=server.address)

    assert sorted(corpus.index["source"].to_pylist()) == ["pdf"] * 8 + ["tei"] * 2
    assert server.n_pdfs == 2 + 5
    server.by_default = Said()
    corpus.run(grobid=server.address)
    assert (set(corpus.index["source"].to_pylist()), server.n_pdfs) == ({"tei"}, 2 + 5 + 8)


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def test_a_server_that_is_down_is_named_with_its_setting_and_the_remedy(corpus: Corpus) -> None:
    """All papers would be read by the lesser reader, and nobody would know."""
    address = f"http://127.0.0.1:{closed_port()}"

    with pytest.raises(ServiceUnavailable) as raised:
        corpus.run(grobid=address)

    assert str(raised.value) == (
        f"GROBID does not answer at {address} (parsing.grobid): it cannot be reached. Start it (docker compose "
        "--profile grobid up -d), correct the address, or delete the setting; then our own reader reads the PDFs."
    )


def test_a_server_that_is_down_is_not_missed_where_all_readings_are_kept(
    corpus: Corpus, server: ReadingServer, caplog: pytest.LogCaptureFixture
) -> None:
    """A user who stops it to have the memory back goes on working."""
    corpus.run(grobid=server.address)
    server.is_alive = False

    assert corpus.run(grobid=server.address).is_noop

    assert "what it read before is used" in caplog.text
    corpus.put_pdf("b", "forest")
    with pytest.raises(ServiceUnavailable):
        corpus.run(grobid=server.address)


def test_pdfs_go_through_no_proxy_of_the_environment(
    corpus: Corpus, server: ReadingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A paper on the way to this machine has no business on another one."""
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed_port()}")

    corpus.run(grobid=server.address)

    assert corpus.row()["source"] == "tei"
