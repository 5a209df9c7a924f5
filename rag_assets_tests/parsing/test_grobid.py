"""PDFs that GROBID reads: what is sent, what is kept, and what happens when the server fails."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.errors import ServiceUnavailable
from rag_assets.core.incremental import UpdatePlan
from rag_assets.core.settings import ParseLimits
from rag_assets.parsing import grobid
from rag_assets_testing.listening import free_port
from rag_assets_testing.papers.pdf import page_of, prose
from rag_assets_testing.papers.tei import tei
from rag_assets_tests.kept_entries import contents
from rag_assets_tests.parsing.papers_folder import PapersFolder
from rag_assets_tests.parsing.reading_server import PROSE, ReadingServer, Said, reading_server


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_assets.parsing.grobid._WAIT_S", 0.0)


@dataclass
class Corpus(PapersFolder):
    """Its PDFs are read by a server."""

    server: ReadingServer = field(default_factory=ReadingServer)

    def put_pdfs(self, *names: str) -> None:
        for name in names:
            self.put_pdf(name, page_of(*prose(name, 8)), page_of(PROSE))

    def read(self, **settings: Any) -> UpdatePlan:
        return self.update(**{"grobid": self.server.address} | settings)

    def readings(self) -> dict[str, bytes]:
        return contents(self.store.path, "readings")


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    with reading_server() as server:
        corpus = Corpus(tmp_path, server=server)
        corpus.put_pdfs("a")
        yield corpus


def test_grobid_reads_a_pdf_and_its_coordinates_are_pages(
    corpus: Corpus, caplog: pytest.LogCaptureFixture
) -> None:
    """Users have PDFs; the better reader must be one setting away, and its quotes must have their
    page."""
    caplog.set_level("INFO")

    corpus.read()

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
    [form] = corpus.server.forms
    wanted = "p s head ref figure formula note biblStruct persName title".split()
    assert [value.decode() for value in form["teiCoordinates"]] == wanted
    assert form["input"] == [(corpus.papers / "a.pdf").read_bytes()]
    assert "GROBID: 1 of 1 PDFs" in caplog.messages


def test_grobid_is_told_to_look_nothing_up_elsewhere(corpus: Corpus) -> None:
    """Unless told, GROBID sends titles and authors to CrossRef."""
    corpus.read()

    [form] = corpus.server.forms
    assert [form[f"consolidate{what}"] for what in ("Header", "Citations", "Funders")] == [
        [b"0"]
    ] * 3


def test_nothing_is_sent_without_the_setting_nor_beside_a_better_file(corpus: Corpus) -> None:
    """Papers may be confidential."""
    corpus.update(grobid="")
    corpus.put(a__tei__xml=tei(f"<p>{PROSE}</p>"))
    corpus.read()
    assert corpus.row()["file_path"] == "a.tei.xml"
    (corpus.papers / "a.tei.xml").unlink()
    corpus.read(source_order=("pdf", "tei"))

    assert (corpus.server.asked, corpus.row()["source"]) == ([], "pdf")


def test_an_unchanged_run_sends_no_pdf_and_changes_nothing(corpus: Corpus) -> None:
    """An hour of a server for nothing, each night."""
    corpus.read()
    before = corpus.index

    plan = corpus.read(grobid=f"{corpus.server.address}/")

    assert plan.is_noop, "where the server is changes no paper"
    assert corpus.server.n_pdfs == 1
    assert corpus.index.equals(before)


def test_readings_go_with_their_pdf_and_not_with_the_setting(corpus: Corpus) -> None:
    """What is deleted must be gone; what was only switched off need not be paid for again."""
    corpus.put_pdfs("b")
    corpus.read()
    corpus.update(grobid="")
    assert (corpus.row()["source"], len(corpus.readings())) == ("pdf", 2)
    (corpus.papers / "b.pdf").unlink()

    corpus.read()
    corpus.store.forget_readings_but(corpus.index["sha256"].to_pylist())

    assert (corpus.row()["source"], corpus.server.n_pdfs, len(corpus.readings())) == ("tei", 2, 1)


@pytest.mark.parametrize("status", [503, 429])
def test_a_full_server_is_asked_again(corpus: Corpus, status: int) -> None:
    """GROBID answers 503 whenever all its threads are busy, which is usual."""
    corpus.server.says.extend([Said(status, b"busy")] * 2)

    corpus.read()

    assert (corpus.row()["source"], corpus.server.n_pdfs) == ("tei", 3)


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
    said: Said,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One odd PDF must cost neither the paper nor the run; and the next run may have more luck."""
    if said.slow_s:
        monkeypatch.setattr(grobid, "TIMEOUT_S", 0.1)
    corpus.server.says.append(said)

    corpus.read(limits=ParseLimits(max_file_mb=2))

    assert (corpus.row()["source"], corpus.row()["used_fallback"]) == ("pdf", True)
    assert (
        corpus.row()["notes"][0]
        == f"a.pdf was not read by GROBID: {told}. The next run asks again."
    )
    assert corpus.readings() == {}
    corpus.read(limits=ParseLimits(max_file_mb=2))
    assert corpus.row()["source"] == "tei"


def test_a_failure_told_in_other_words_is_no_change(corpus: Corpus) -> None:
    """Messages of servers hold times and numbers: each run would read the paper anew, and cut it
    anew."""
    corpus.server.says.extend([Said(500, b"at 09:00"), Said(500, b"at 09:05")])
    corpus.read()

    assert corpus.read().is_noop


def test_a_reading_of_another_paper_leaves_the_pdf(corpus: Corpus) -> None:
    """A server that mixes up its answers would put one paper's findings under the name of
    another."""
    other = "Zebrafish larvae swam toward dim lamps. Their speed doubled within six days. Nobody fed them by hand."
    corpus.server.by_default = Said(body=tei(f"<p>{other}</p>").encode())

    corpus.read()

    assert (corpus.row()["source"], corpus.row()["used_fallback"]) == ("pdf", True)
    assert "GROBID 0.9.1's reading of a.pdf is of another paper" in str(corpus.row()["notes"])


def test_several_pdfs_are_sent_at_once_but_no_more_than_it_takes(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other takes a night; all at once only fills the corpus.server."""
    corpus.put_pdfs(*"bcdefg")
    corpus.server.n_together = 3
    monkeypatch.setattr(grobid, "MAX_CONCURRENT", 3)

    corpus.read()

    assert (corpus.server.n_pdfs, corpus.server.most_at_once) == (7, 3)


def test_a_server_that_dies_costs_no_finished_paper_and_not_the_time_of_all_others(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand papers would each wait for their time-out; and those that were read must not be
    read again."""
    corpus.put_pdfs(*"bcdefghij")
    corpus.server.says.extend([Said()] * 2)
    corpus.server.by_default = Said(is_cut_off=True)

    monkeypatch.setattr(grobid, "MAX_CONCURRENT", 1)
    corpus.read()

    assert sorted(corpus.index["source"].to_pylist()) == ["pdf"] * 8 + ["tei"] * 2
    assert corpus.server.n_pdfs == 2 + 5
    corpus.server.by_default = Said()
    corpus.read()
    assert (set(corpus.index["source"].to_pylist()), corpus.server.n_pdfs) == ({"tei"}, 2 + 5 + 8)


def test_a_server_that_is_down_is_named_with_its_setting_and_the_remedy(corpus: Corpus) -> None:
    """All papers would be read by the lesser reader, and nobody would know."""
    address = f"http://127.0.0.1:{free_port()}"

    with pytest.raises(ServiceUnavailable) as raised:
        corpus.read(grobid=address)

    assert str(raised.value) == (
        f"GROBID does not answer at {address} (parsing.grobid): it cannot be reached. Start it (docker compose "
        "--profile grobid up -d), correct the address, or delete the setting; then our own reader reads the PDFs."
    )


def test_a_server_that_is_down_is_not_missed_where_all_readings_are_kept(
    corpus: Corpus, caplog: pytest.LogCaptureFixture
) -> None:
    """A user who stops it to have the memory back goes on working."""
    corpus.read()
    corpus.server.is_alive = False

    assert corpus.read().is_noop

    assert "what it read before is used" in caplog.text
    corpus.put_pdfs("b")
    with pytest.raises(ServiceUnavailable):
        corpus.read()


def test_pdfs_go_through_no_proxy_of_the_environment(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A paper on the way to this machine has no business on another one."""
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")

    corpus.read()

    assert corpus.row()["source"] == "tei"
