"""A document that breaks a promise is quarantined with it, before anything of it is kept."""

from dataclasses import replace

import pytest

from rag_assets.core.domain import Block, BlockKind, Box, Cell, Document, SourceFormat, Span
from rag_assets.core.errors import UnreadableDocument
from rag_assets.parsing.store import demand_promises

TEXT = "Iron is scarce."
GOOD = Document(
    "a",
    "A",
    SourceFormat.TEI,
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
