"""The update of parsed index and blocks: only what changed is parsed, and nothing is lost without a
word."""

import re
import shutil
import sys
import unicodedata
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from rag_assets.core import tables
from rag_assets.core.domain import SourceFormat
from rag_assets.core.settings import ParseLimits
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.parsing import registry
from rag_assets.parsing.attempts import parse_papers
from rag_assets.parsing.corpus import PARSED_INDEX_PROMISES, update_blocks
from rag_assets.parsing.discovery import discover
from rag_assets.parsing.known_files import KnownFiles, examined
from rag_assets.parsing.store import packed_document
from rag_assets_testing.in_place import Item, Result, in_place
from rag_assets_testing.paper_rows import Updated, updated
from rag_assets_testing.papers.pdf import Draw, page_of, picture, prose
from rag_assets_tests.kept_entries import contents, damage
from rag_assets_tests.parsing.papers_folder import PapersFolder

TEXT = "Ferritin in Mountain Sheep\n\nIron is scarce at altitude, and {} follows it.\n"
TEI = (
    '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>{}</title></titleStmt>'
    "</fileDesc></teiHeader><text><body><div><head>Results</head><p>Ferritin fell in all groups of sheep.</p></div>"
    "</body></text></TEI>"
)
DESERT = page_of(*prose("desert", 8))
EMPTY_TEI = '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text><body/></text></TEI>'


class Corpus(PapersFolder):
    def blocks(self) -> pa.Table:
        return self.published_blocks().table

    def published_blocks(self, before: Updated | None = None) -> Updated:
        kept_as = tables.fingerprints_by_paper(
            self.index.filter(pc.equal(self.index["status"], "parsed"))
        )
        return updated(
            lambda published: update_blocks(published, kept_as, self.store, in_place, {}),
            tables.BLOCKS,
            before,
        )


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path)


def test_only_what_changed_is_parsed(corpus: Corpus) -> None:
    """Parsing 10,000 papers again for one edit costs a night, and moves nothing."""
    corpus.put(
        a__txt=TEXT.format("ferritin"), b__txt=TEXT.format("copper"), c__txt=TEXT.format("zinc")
    )
    first = corpus.update()
    before = corpus.index

    second = corpus.update()
    assert second.is_noop
    assert corpus.n_reported == 0
    assert corpus.index.equals(before)

    corpus.put(b__txt=TEXT.format("selenium"), d__txt=TEXT.format("iodine"))
    (corpus.papers / "c.txt").unlink()
    third = corpus.update()

    assert first.added == ("a", "b", "c")
    assert (third.added, third.changed, third.removed, third.unchanged) == (
        ("d",),
        ("b",),
        ("c",),
        ("a",),
    )
    assert corpus.n_reported == 2
    assert corpus.index["paper_id"].to_pylist() == ["a", "b", "d"]
    assert "selenium" in corpus.store.get(str(corpus.row("b")["fingerprint"])).text


def test_a_row_names_all_files_of_the_paper_relative_to_the_folder(corpus: Corpus) -> None:
    """A path of one machine in the index breaks it on the next."""
    corpus.put(a__tei__xml=TEI.format("Sheep"), a__txt=TEXT.format("x"))

    corpus.update()

    row = corpus.row()
    assert row["source"] == "tei"
    assert row["title"] == "Sheep"
    assert (row["file_path"], row["linked_paths"]) == ("a.tei.xml", ["a.txt"])
    assert (row["parsed_xml_path"], row["parsed_txt_path"], row["pdf_path"]) == (
        "a.tei.xml",
        "a.txt",
        None,
    )
    assert (row["status"], row["error"], row["used_fallback"], row["notes"]) == (
        "parsed",
        None,
        False,
        [],
    )
    assert str(corpus.papers) not in str(corpus.index.to_pylist())


def test_text_stands_in_for_a_tei_that_cannot_be_used_and_the_row_says_so(corpus: Corpus) -> None:
    """A silent fallback hides that half of the corpus lost its pages."""
    corpus.put(
        a__xml="<svg/>",
        a__txt=TEXT.format("x"),
        b__tei__xml=EMPTY_TEI,
        b__txt=TEXT.format("y"),
        c__xml="",
        c__txt="Iron.",
    )

    corpus.update()

    rows = [corpus.row(paper_id) for paper_id in "abc"]
    assert [row["source"] for row in rows] == ["text"] * 3
    assert [row["used_fallback"] for row in rows] == [True] * 3
    assert rows[0]["notes"] == [
        "a.xml is XML with the root element <svg>, not TEI. Convert it to TEI or remove it."
    ]
    assert "b.tei.xml" in str(rows[1]["notes"])
    assert "c.xml is empty (0 bytes)" in str(rows[2]["notes"])
    assert str(corpus.papers) not in str(rows), "a reason must read the same on every machine"


@pytest.mark.parametrize(
    ("read", "second"),
    [
        ("case.MD", "case.md"),
        ("x.markdown", "x.md"),
        (unicodedata.normalize("NFD", "Größe.txt"), unicodedata.normalize("NFC", "Größe.txt")),
        ("x.pdf", "x.txt"),
    ],
    ids=["case", "suffix", "unicode form", "content"],
)
def test_a_second_file_of_one_name_and_format_is_quarantined_and_the_first_is_read(
    corpus: Corpus, read: str, second: str
) -> None:
    """Dropped without a word, a paper is missing from every answer and no list says why."""
    for name in (read, second):
        (corpus.papers / name).write_text(
            TEI.format("x") if read == "x.pdf" else TEXT.format(name), "utf-8"
        )

    first = corpus.update()
    again = corpus.update()

    quarantined_row, parsed = sorted(
        corpus.index.to_pylist(), key=lambda row: row["status"], reverse=True
    )
    assert (parsed["status"], parsed["file_path"], parsed["linked_paths"]) == ("parsed", read, [])
    assert (quarantined_row["status"], quarantined_row["file_path"]) == ("quarantined", second)
    assert quarantined_row["error"] == (
        f"{second} is not read: {read} has the same name and the same format. Remove one of them, or rename it if it "
        "is another paper."
    )
    assert len(first.added) == 2
    assert again.is_noop

    (corpus.papers / read).unlink()
    corpus.update()

    (alone,) = corpus.index.to_pylist()
    assert (alone["paper_id"], alone["status"], alone["file_path"]) == (
        parsed["paper_id"],
        "parsed",
        second,
    )


def test_a_file_that_needs_an_extra_names_it_and_is_read_once_it_is_there(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash would stop the other papers; a reason that stays after the install would never be
    tried again."""
    monkeypatch.setattr(
        sys, "path", [entry for entry in sys.path if not Path(entry, "docling").exists()]
    )
    corpus.put(a__html="<html><body><p>Ferritin fell.</p></body></html>", b__txt=TEXT.format("x"))

    corpus.update()
    again = corpus.update()

    assert corpus.row("b")["status"] == "parsed"
    assert corpus.row()["error"] == (
        "a.html needs an optional dependency. Install it with: pip install 'rag_assets[docling]'"
    )
    assert again.is_noop

    package = tmp_path / "site" / "docling"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    with patch.dict(sys.modules):  # other tests must not find the imported package
        once_there = corpus.update()

    assert once_there.changed == ("a",)


@pytest.mark.parametrize(
    ("bad", "counts"),
    [
        (picture, [1, 0, 0, 0, 1]),
        (page_of("Shippin g compan y, containe r, ocea n."), [0, 1, 0, 0, 2]),
    ],
)
def test_a_pdf_with_a_page_that_ocr_did_not_read_is_read_again_when_it_may_do_better(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, bad: Draw, counts: list[int]
) -> None:
    """The rest of the paper was read well, so nothing else would ever make it be read again."""
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    corpus.put_pdf("a", page_of("Ferritin fell in all of them."), bad)

    corpus.update()
    names = ("n_pages_unread", "n_pages_cut", "n_headings", "n_tables", "n_blocks")
    assert [corpus.row()[name] for name in names] == counts
    assert corpus.update().is_noop

    assert corpus.update(limits=ParseLimits(timeout_s=240)).changed == ("a",)


def test_a_quarantined_paper_is_tried_again_when_a_limit_is_raised_and_only_then(
    corpus: Corpus,
) -> None:
    """Tried every night it costs the limit every night; never tried again, raising the limit does
    nothing."""
    corpus.put(a__txt="Iron is scarce.\fSheep know.", b__txt=TEXT.format("x"))
    corpus.update(limits=ParseLimits(max_pages=1))
    assert "parsing.limits.max_pages" in str(corpus.row()["error"])

    again = corpus.update()
    assert again.is_noop
    assert corpus.n_reported == 0

    raised = corpus.update(limits=ParseLimits(max_pages=2))

    assert (raised.changed, raised.unchanged) == (("a",), ("b",))
    assert corpus.row()["n_pages"] == 2


def raise_version(monkeypatch: pytest.MonkeyPatch, source: SourceFormat) -> None:
    """As a new release with a better parser of that format would."""
    formats = [
        replace(known, version=99) if known.source is source else known
        for known in registry.FORMATS
    ]
    monkeypatch.setattr(registry, "FORMATS", tuple(formats))


def put_one_paper_of_each_kind(corpus: Corpus) -> None:
    corpus.put(
        text__txt=TEXT.format("x"),
        notes__md="# Notes\n\nSheep climb.\n",
        tei__tei__xml=TEI.format("Sheep"),
        tei__md="# Sheep\n\nSheep climb.\n",
        fallen__tei__xml=EMPTY_TEI,
        fallen__md="# Fallen\n\nSheep climb.\n",
    )
    corpus.put_pdf("pdf", page_of(*prose("glacier", 8)))
    corpus.put_pdf("tei", DESERT)


@pytest.fixture(scope="module")
def parsed_once(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Those papers, parsed. Not to be changed."""
    corpus = Corpus(tmp_path_factory.mktemp("one of each kind"))
    put_one_paper_of_each_kind(corpus)
    corpus.update()
    return corpus


@pytest.fixture
def one_of_each_kind(parsed_once: Corpus, tmp_path: Path) -> Corpus:
    """A copy of them, to be changed."""
    shutil.copytree(parsed_once.folder, tmp_path, dirs_exist_ok=True)
    return Corpus(tmp_path, parsed_once.index)


@pytest.mark.parametrize(
    ("source", "reparsed"),
    [
        (SourceFormat.TEXT, ("text",)),
        (SourceFormat.MARKDOWN, ("fallen", "notes", "tei")),
        (SourceFormat.TEI, ("fallen", "tei")),
        (SourceFormat.PDF, ("pdf", "tei")),
        (SourceFormat.ADE, ()),
    ],
)
def test_a_new_version_of_one_parser_parses_the_papers_that_have_a_file_of_its_format_anew(
    one_of_each_kind: Corpus,
    monkeypatch: pytest.MonkeyPatch,
    source: SourceFormat,
    reparsed: tuple[str, ...],
) -> None:
    """A better reader of Markdown must not cost the parsing, chunks and answers of 10,000 TEI
    papers.

    `tei` has a PDF and Markdown beside it, `fallen` a TEI that failed before its Markdown was read.
    """
    corpus = one_of_each_kind
    raise_version(monkeypatch, source)

    plan = corpus.update()

    assert plan.changed == reparsed
    assert corpus.n_reported == len(reparsed)
    assert corpus.update().is_noop


def test_a_run_that_was_killed_before_it_published_repeats_no_finished_file(corpus: Corpus) -> None:
    """A night's work must not be lost to a restart."""
    corpus.put(a__txt=TEXT.format("x"), b__xml=EMPTY_TEI)
    corpus.update()
    store, kept_as = corpus.store, str(corpus.row()["fingerprint"])
    store.put(kept_as, packed_document(replace(store.get(kept_as), title="from the cache")))
    corpus.index = tables.PARSED_INDEX.empty_table()

    corpus.update()

    assert corpus.row()["title"] == "from the cache"
    assert corpus.row("b")["status"] == "quarantined"


def test_a_damaged_document_is_parsed_again_and_the_log_says_so(
    corpus: Corpus, caplog: pytest.LogCaptureFixture
) -> None:
    """It is read only when its blocks are made again, at the worst time to find out."""
    corpus.put(a__txt=TEXT.format("x"), b__txt=TEXT.format("y"))
    corpus.update()
    before = corpus.index
    whole = contents(corpus.store.path, "documents")
    damaged = damage(corpus.store.path, "documents")

    plan = corpus.update()

    assert plan.is_noop
    assert corpus.n_reported == len(damaged) == 2
    for key in damaged:
        assert (
            f"{corpus.store.path}: the entry {key} of documents is damaged and is made anew."
            in caplog.messages
        )
    assert contents(corpus.store.path, "documents") == whole
    assert corpus.index.equals(before)


@pytest.mark.parametrize("changed", ["a.tei.xml", "a.pdf"])
def test_a_file_that_changes_after_it_was_hashed_is_not_parsed(
    corpus: Corpus, changed: str
) -> None:
    """Half a file, still being copied, would be kept under the hash of another content for ever."""
    corpus.put(a__tei__xml=TEI.format("Sheep"))
    corpus.put_pdf("a", DESERT)
    (found,) = discover(corpus.papers, corpus.settings.limits)
    (paper,) = examined(found, corpus.settings, KnownFiles())
    with (corpus.papers / changed).open("ab") as file:
        file.write(b"\n")

    (outcome,) = parse_papers([paper], corpus.job(), corpus.count)

    problem = str(outcome.summary and outcome.summary.notes)
    assert "changed while it was read. Run again when it is complete." in problem


@pytest.mark.parametrize(
    ("killer", "source", "page_source", "note"),
    [
        ("a.pdf", "tei", "none", "No pages could be taken from the PDF: a.pdf took too long"),
        ("a.tei.xml", "markdown", "aligned", "a.tei.xml took too long"),
    ],
)
def test_a_file_that_ends_its_worker_is_read_once_and_costs_only_what_it_would_have_given(
    corpus: Corpus, killer: str, source: str, page_source: str, note: str
) -> None:
    """Read twice, each such file costs two time limits; blamed for each other, a good PDF is lost
    with a bad TEI, or a good TEI with a bad PDF."""
    order = (SourceFormat.TEI, SourceFormat.MARKDOWN, SourceFormat.PDF)
    words = " ".join(prose("desert", 8))
    corpus.put(a__tei__xml=TEI.format("Sheep"), a__md=f"# Sheep\n\n{words}\n")
    corpus.put_pdf("a", DESERT)
    read: list[str] = []

    def work_is_lost(
        work: Callable[[Item], Result], items: Iterable[Item]
    ) -> Generator[tuple[Item, Result | Failure]]:
        for item, result in in_place(work, items):
            read.append(item.raw.path)
            lost = Failure("took too long", is_worker_lost=True)
            yield item, lost if item.raw.path == killer else result

    corpus.spread = work_is_lost
    corpus.update(source_order=order)

    row = corpus.row()
    assert (row["source"], row["page_source"], row["notes"][0]) == (source, page_source, note)
    assert read.count(killer) == 1
    assert corpus.update().is_noop
    assert corpus.update(source_order=order, limits=ParseLimits(timeout_s=240)).changed == ("a",)


FOUND = [f"Flock {n} of the upper valley lost {n + 3} lambs in its spring." for n in range(40)]


def tei_of(sentences: Sequence[str]) -> str:
    return TEI.format("Sheep").replace("Ferritin fell in all groups of sheep.", " ".join(sentences))


def lost_of(corpus: Corpus) -> list[dict[str, Any]]:
    (broken,) = (one for one in PARSED_INDEX_PROMISES if one.name == "files_whole")
    return list(broken.offenders(corpus.index))


def test_a_tei_that_ends_in_the_middle_is_not_the_source_when_the_text_is_whole(
    corpus: Corpus,
) -> None:
    """A download that broke off: half of the paper would be searched as if it were all of it."""
    whole = tei_of(FOUND)
    corpus.put(a__tei__xml=whole[: len(whole) * 3 // 5], a__txt="\n\n".join(["Sheep", *FOUND]))

    corpus.update()

    row = corpus.row()
    assert (row["source"], row["used_fallback"], row["is_cut_off"]) == ("text", True, False)
    assert re.fullmatch(
        r"a.tei.xml is damaged: it ends in the middle and lacks (3|4)\d% of the text that a.txt "
        "has. Write it again, or remove it.",
        row["notes"][0],
    )
    assert lost_of(corpus) == [
        {
            "paper_id": "a",
            "used_fallback": True,
            "is_cut_off": False,
            "notes": row["notes"],
        }
    ]


def test_a_tei_that_ends_in_the_middle_and_is_alone_is_read_and_told(corpus: Corpus) -> None:
    """Half a paper is better than none, if it is not taken for the whole one."""
    whole = tei_of(FOUND)
    corpus.put(a__tei__xml=whole[: len(whole) // 2], b__tei__xml=whole)

    corpus.update()

    assert (corpus.row()["source"], corpus.row()["is_cut_off"]) == ("tei", True)
    assert "its end is missing; it was read in recovery mode." in corpus.row()["notes"][0]
    assert [row["paper_id"] for row in lost_of(corpus)] == ["a"]


def test_a_slip_in_the_markup_of_a_whole_tei_costs_nothing(corpus: Corpus) -> None:
    """One in four of GROBID's training files is not well-formed and has all its text."""
    corpus.put(a__tei__xml=tei_of(["Rams & ewes.", *FOUND]), a__txt="\n\n".join(["Sheep", *FOUND]))

    corpus.update()

    assert (corpus.row()["source"], lost_of(corpus)) == ("tei", [])


@pytest.mark.parametrize("beside", ["md", "txt", "pdf"])
def test_the_text_that_a_file_beside_has_and_the_document_lacks_is_counted(
    corpus: Corpus, beside: str
) -> None:
    """A reader that drops every second page loses half a paper, and the paper's PDF shows it."""
    corpus.put(a__tei__xml=tei_of(FOUND[:20]))
    if beside == "pdf":
        corpus.put_pdf("a", page_of(*FOUND))
    else:
        (corpus.papers / f"a.{beside}").write_text("\n\n".join(FOUND), "utf-8")

    corpus.update()

    row = corpus.row()
    assert row["source"] == "tei"
    assert any(re.match(rf"a.tei.xml lacks (4|5)\d% .* a.{beside} has", n) for n in row["notes"])
    n_kept = len("".join(FOUND[:20]).replace(" ", ""))
    assert row["n_source_chars"] == pytest.approx(2 * n_kept, rel=0.2)


def test_blocks_follow_the_index_paper_by_paper(corpus: Corpus) -> None:
    """Blocks of a deleted or quarantined paper would go on being cited."""
    corpus.put(a__txt=TEXT.format("x"), b__txt=TEXT.format("y"), c__txt=TEXT.format("z"))
    corpus.update()
    blocks = corpus.published_blocks()
    corpus.put(b__txt="Only one line about sheep.", c__txt="\0\0\0binary\0\0")
    corpus.update()

    made = corpus.published_blocks(blocks)

    assert (made.plan.changed, made.plan.removed, made.plan.unchanged) == (("b",), ("c",), ("a",))
    assert made.table["paper_id"].to_pylist() == ["a", "a", "b"]
    assert made.table["ordinal"].to_pylist() == [0, 1, 0]
    assert made.table.schema.equals(tables.BLOCKS)
    assert made.table.equals(corpus.blocks())


def test_a_paper_without_pages_gets_them_from_its_pdf(corpus: Corpus) -> None:
    """Without them a quote is cited without a page although the PDF lies beside the text."""
    corpus.put(a__tei__xml=TEI.format("Sheep"), a__txt="x")
    (corpus.papers / "a.pdf").write_bytes(b"%PDF-1.4\nbroken")

    corpus.update()

    row = corpus.row()
    assert (row["source"], row["page_source"], row["pdf_path"]) == ("tei", "none", "a.pdf")
    assert "No pages could be taken from the PDF: a.pdf" in str(row["notes"])
    assert row["used_fallback"] is False
