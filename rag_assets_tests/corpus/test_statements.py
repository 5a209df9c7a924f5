"""Blocks cut into statements: no letter is lost, and each keeps its place."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rag_assets.core.domain import Block, BlockKind, StatementKind, Zone
from rag_assets.core.promises import check_all
from rag_assets.core.tables import STATEMENTS
from rag_assets.corpus.statements import making
from rag_assets.corpus.statements.making import (
    STATEMENT_PROMISES,
    StatementsCandidate,
    statements_of,
    update_statements,
)
from rag_assets.corpus.statements.pieces import PlacedBlock
from rag_assets.parsing.shared.table_rows import table_block
from rag_assets_testing.in_place import in_place
from rag_assets_testing.paper_rows import InMemory, Updated, updated
from rag_assets_tests.corpus.chunking.papers import (
    WordCounter,
    blocks_table,
    cells_of,
    heading,
    paragraph,
)

PAPER = [
    heading("Results"),
    paragraph("Iron fell. It rose in none.", "Results", page=3),
    table_block(cells_of("Group | Iron\nA | 12\nB | 15\nLater | Iron"), "Table 1. Iron by group."),
    Block(BlockKind.LIST, "- wet soils\n- dry soils", ("Results",)),
    Block(BlockKind.CODE, "x = 1\n\ny = 2", ("Results",)),
    paragraph("Doe J. Iron. 2020.", "References", zone=Zone.BACK),
]


def made_of(*papers: Sequence[Block]) -> tuple[Updated, InMemory]:
    blocks = InMemory(blocks_table({f"paper{nth}": blocks for nth, blocks in enumerate(papers)}))
    return updated(
        lambda published: update_statements(published, blocks, WordCounter(), in_place), STATEMENTS
    ), blocks


def test_every_statement_has_its_kind_and_number() -> None:
    """What is quoted, marked and counted later is found by these."""
    statements = statements_of(PAPER, WordCounter())

    assert [(one.kind, one.text) for one in statements] == [
        (StatementKind.HEADING, "Results"),
        (StatementKind.SENTENCE, "Iron fell."),
        (StatementKind.SENTENCE, "It rose in none."),
        (StatementKind.CAPTION, "Table 1."),
        (StatementKind.CAPTION, "Iron by group."),
        (StatementKind.ROW, "Group: A | Iron: 12"),
        (StatementKind.ROW, "Group: B | Iron: 15"),
        (StatementKind.ROW, "Later | Iron"),
        (StatementKind.ITEM, "- wet soils"),
        (StatementKind.ITEM, "- dry soils"),
        (StatementKind.LINE, "x = 1"),
        (StatementKind.LINE, "y = 2"),
        (StatementKind.SENTENCE, "Doe J. Iron. 2020."),
    ]
    assert [one.number for one in statements] == list(range(len(statements)))


def test_no_letter_of_a_paper_is_lost_or_counted_twice() -> None:
    """A lost sentence can never be found, and no figure would say so."""
    made, blocks = made_of(PAPER, [paragraph("Basalt holds water.", "A", page=1)])

    checked = check_all(
        STATEMENT_PROMISES, StatementsCandidate(made.table, blocks.table, made.quarantined)
    )

    assert all(one.is_kept for one in checked)
    assert sum(made.table["n_chars"].to_pylist()) == sum(blocks.table["n_chars"].to_pylist()) > 0


@pytest.mark.parametrize(
    "careless",
    [lambda made: made[:-1], lambda made: [*made, *made[-1:]]],
    ids=["lost", "twice"],
)
def test_a_paper_with_a_lost_letter_is_left_out_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, careless: Callable[[Any], Any]
) -> None:
    """The other papers go on."""
    cut = making._CUTS[BlockKind.LIST]

    def carelessly(placed: PlacedBlock) -> Any:
        return careless(cut(placed))

    monkeypatch.setattr(making, "_CUTS", {**making._CUTS, BlockKind.LIST: carelessly})

    made, _ = made_of(PAPER, [paragraph("Basalt holds water.", "A", page=1)])

    assert set(made.table["paper_id"].to_pylist()) == {"paper1"}
    assert [one.error for one in made.quarantined] == [
        "paper0.txt has 9 characters in no statement, or in two (text_whole). "
        "Please report it with the file."
    ]


def test_a_statement_without_the_page_of_its_block_is_told() -> None:
    """A citation without a page sends the reader through the whole paper."""
    made, blocks = made_of([paragraph("Iron fell.", "A", page=2)])
    index = made.table.schema.get_field_index("page_start")
    without = made.table.set_column(index, "page_start", [[None]])

    checked = check_all(STATEMENT_PROMISES, StatementsCandidate(without, blocks.table, ()))

    assert [one.promise.name for one in checked if not one.is_kept] == ["pages_kept"]
