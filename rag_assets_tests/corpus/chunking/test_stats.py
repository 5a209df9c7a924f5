"""Figures of the chunks, and the text of a paper counted from its source to its chunks, with what
was left out."""

import random
from dataclasses import replace

import pyarrow as pa

from rag_assets.core.domain import Block, BlockKind, Zone
from rag_assets.core.settings import ChunkingSettings
from rag_assets.core.tables import CHUNKS, PARSED_INDEX, to_table
from rag_assets.corpus.chunking.chunker import update_chunks
from rag_assets.corpus.chunking.promises import (
    lost_text,
    text_accounts,
)
from rag_assets_testing.in_place import in_place
from rag_assets_testing.paper_rows import InMemory, updated
from rag_assets_tests.corpus.chunking.papers import (
    SMALL,
    WordCounter,
    blocks_table,
    cells_of,
    heading,
    paragraph,
    paragraphs,
    sentence,
    statements_table,
)

TABLE = "Group | Ferritin | Dose\nA | 12 | 3\nB | 15 | 4"
PAPERS = {
    "a": [
        heading("Results"),
        *paragraphs(random.Random(1), 300, "Results"),
        Block(BlockKind.TABLE, TABLE, ("Results",), title="Table 1. Iron.", cells=cells_of(TABLE)),
        Block(BlockKind.TABLE, "", ("Results",), title="Table 2. Lost cells."),
        Block(BlockKind.FIGURE, "Figure 1. Iron by week.", ("Results",), title="Figure 1."),
        heading("Storage"),
        paragraph("At -80 degrees.", "Storage"),
        heading("References", zone=Zone.BACK),
        paragraph("Doe J. 2020.", "References", zone=Zone.BACK),
    ],
    "b": [
        paragraph("Iron fell.", "Results"),
        paragraph(sentence(random.Random(2), 120), "Results"),
    ],
}


def index_of(papers: dict[str, list[Block]], **n_more: int) -> pa.Table:
    """The index of papers whose sources have `n_more` characters more than their blocks."""
    n_chars = {
        paper: sum(one.n_chars for one in blocks if one.zone is not Zone.BACK)
        + n_more.get(paper, 0)
        for paper, blocks in papers.items()
    }
    return to_table(
        [
            {
                "paper_id": paper,
                "status": "parsed",
                "n_source_chars": n,
                "n_dropped_running": 2,
                "notes": [],
            }
            for paper, n in n_chars.items()
        ],
        PARSED_INDEX,
    )


def chunk_table(statements: pa.Table, settings: ChunkingSettings = SMALL) -> pa.Table:
    return updated(
        lambda published: update_chunks(
            published, InMemory(statements), settings, WordCounter(), in_place
        ),
        CHUNKS,
    ).table


def test_all_text_of_blocks_is_counted_in_chunks_and_the_rest_by_its_reason() -> None:
    """ "Methods" of a short note was missing from the index, and no figure said so."""
    statements = statements_table(blocks_table(PAPERS))

    accounts = text_accounts(chunk_table(statements), statements, index_of(PAPERS))

    of_a = next(row for row in accounts if row["paper_id"] == "a")
    assert of_a["n_in_chunks"] == of_a["n_in_blocks"] > 1000
    assert (of_a["n_heading"], of_a["n_back_matter"]) == (
        len("ResultsStorage"),
        len("ReferencesDoeJ.2020."),
    )
    assert (of_a["n_source"], of_a["n_running"]) == (of_a["n_in_blocks"] + of_a["n_heading"], 2)
    assert [row["n_lost"] for row in accounts] == [0, 0]


def test_text_that_the_parser_lost_is_named_from_a_share_on_that_a_reader_would_miss() -> None:
    """A check that fails over a few mended hyphens is not read when a table is missing."""
    statements = statements_table(blocks_table(PAPERS))
    chunks = chunk_table(statements)

    few = text_accounts(chunks, statements, index_of(PAPERS, a=30, b=15))
    many = text_accounts(chunks, statements, index_of(PAPERS, a=600))

    assert ([row["n_lost"] for row in few], lost_text(few)) == ([15, 30], [])
    assert [(row["paper_id"], row["n_lost"]) for row in lost_text(many)] == [("a", 600)]


def test_headers_and_groups_within_a_table_are_counted_with_the_rows_that_repeat_them() -> None:
    """They make no line of their own in a chunk, and every table with groups looked cut."""
    rows = "Group | Ferritin\nSheep\nA | 12\nB | 15\nGoats\nA | 13\nB | 16"
    cells = tuple(
        replace(cell, is_group=True, group=(cell.text,))
        if cell.text in ("Sheep", "Goats")
        else cell
        for cell in cells_of(rows)
    )
    papers = {
        "a": [
            paragraph("Iron fell.", "Results"),
            Block(BlockKind.TABLE, rows, ("Results",), cells=cells),
        ]
    }
    statements = statements_table(blocks_table(papers))

    (account,) = text_accounts(chunk_table(statements), statements, index_of(papers))

    assert account["n_lost"] == 0
