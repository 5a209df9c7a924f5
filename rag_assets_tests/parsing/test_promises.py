"""A document that breaks a promise is quarantined with it, before anything of it is kept."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from rag_assets.core import tables
from rag_assets.core.domain import Block, BlockKind, Box, Cell, Document, Source, Span
from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.attempts import ParseJob
from rag_assets.parsing.corpus import update_blocks, update_parsed_index
from rag_assets.parsing.discovery import discover
from rag_assets.parsing.promises import quarantined
from rag_assets.parsing.store import DocumentStore, demand_promises
from rag_assets_testing.fuzzing.samples import TEI_BEYOND_ITS_PAGES, ade_v1, ade_v2, docling
from rag_assets_testing.in_place import in_place
from rag_assets_testing.paper_rows import updated

TEXT = "Iron is scarce."
GOOD = Document(
    "a",
    "A",
    Source.TEI,
    "a.xml",
    (
        Block(
            BlockKind.TABLE,
            TEXT,
            spans=(Span(0, 4, 1, 2, (Box(1, 0.1, 0.1, 0.9, 0.2),)), Span(4, len(TEXT), None, None)),
            cells=(Cell(0, 0, TEXT),),
        ),
    ),
    n_pages=2,
)


def with_block(**changes: object) -> Document:
    return replace(GOOD, blocks=(replace(GOOD.blocks[0], **changes),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (
            with_block(spans=(Span(0, 4, 1, 9),)),
            "puts a text on page 9, but the document has 2 pages",
        ),
        (with_block(spans=(Span(0, 4, 0, 1),)), "puts a text on pages 0 to 1"),
        (with_block(spans=(Span(0, 4, 2, 1),)), "puts a text on pages 2 to 1"),
        (with_block(spans=(Span(0, 4, None, 1),)), "gives only one end of the pages of a text"),
        (
            with_block(spans=(Span(0, 99, 1, 1),)),
            "gives a place from 0 to 99 in a text of 15 characters",
        ),
        (with_block(spans=(Span(0, 9, 1, 1), Span(4, 15, 1, 1))), "gives a place from 4 to 15"),
        (
            with_block(spans=(Span(0, 4, 1, 1, (Box(1, float("nan"), 0, 1, 1),)),)),
            "gives a box whose edge is no number",
        ),
        (
            with_block(cells=(Cell(0, 0, "x", boxes=(Box(1, 0, 0, 1, float("inf")),)),)),
            "gives a box whose edge",
        ),
        (
            with_block(cells=(Cell(2**31, 0, "x"),)),
            "holds a number or a text that no table can hold",
        ),
        (with_block(text="\ud800" + TEXT), "holds a number or a text that no table can hold"),
        (replace(GOOD, n_pages=2**31), "holds a number or a text that no table can hold"),
        (replace(GOOD, title="\ud800"), "holds a number or a text that no table can hold"),
    ],
)
def test_a_document_that_breaks_a_promise_is_refused(document: Document, problem: str) -> None:
    """Kept, it would stop the table of every paper, in a process that has no limits."""
    with pytest.raises(UnreadableDocument, match="^" + problem) as raised:
        demand_promises(document)
    assert str(raised.value).endswith("or remove it.")


def test_a_document_that_keeps_them_is_let_through() -> None:
    """A promise that is too strict loses papers."""
    demand_promises(GOOD)


def test_one_bad_paper_of_each_kind_leaves_the_others_alone(tmp_path: Path) -> None:
    """Each of these files stopped the publication of every other paper, or the whole process."""
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "page_9_of_2.tei.xml").write_text(TEI_BEYOND_ITS_PAGES, "utf-8")
    ade, cells = ade_v2(), docling()
    ade["structure"]["children"][0]["children"][-1]["children"][0]["col"] = 2**31
    cells["tables"][0]["data"]["table_cells"][0]["start_col_offset_idx"] = 2**31
    (papers / "row.ade.json").write_text(json.dumps(ade), "utf-8")
    (papers / "cell.docling.json").write_text(json.dumps(cells), "utf-8")
    (papers / "fine.ade.json").write_text(json.dumps(ade_v1()), "utf-8")
    store = DocumentStore(tmp_path / "kept.sqlite3")
    job = ParseJob(ParsingSettings(), store, in_place)

    index, _ = update_parsed_index(
        discover(papers, job.settings.limits), tables.PARSED_INDEX.empty_table(), job
    )
    kept_as = tables.fingerprints_by(
        index.filter(pa.array([one == "parsed" for one in index["status"].to_pylist()])), "paper_id"
    )
    blocks = updated(
        lambda published: update_blocks(published, kept_as, store, in_place, {}), tables.BLOCKS
    ).table

    errors = dict(
        zip(
            *(quarantined(index)[column].to_pylist() for column in ("paper_id", "error")),
            strict=True,
        )
    )
    assert set(errors) == {"page_9_of_2", "row", "cell"}
    assert (
        "puts a text on page 9, but the document has 2 pages (pages_within_document)"
        in errors["page_9_of_2"]
    )
    assert all("no table can hold" in errors[paper_id] for paper_id in ("row", "cell"))
    assert set(blocks["paper_id"].to_pylist()) == {"fine"}
    again, plan = update_parsed_index(discover(papers, job.settings.limits), index, job)
    assert plan.is_noop
    assert again.equals(index)
