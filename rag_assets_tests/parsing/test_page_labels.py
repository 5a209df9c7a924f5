from rag_assets.core.domain import Block, BlockKind, Document, SourceFormat, Span
from rag_assets.parsing.corpus import labelled_blocks


def document(labels: tuple[str | None, ...], *spans: Span) -> Document:
    block = Block(
        BlockKind.PARAGRAPH, "Iron fell in all groups.", spans=spans, title_spans=spans[:1]
    )
    return Document("a", "A", SourceFormat.TEI, "a.xml", (block,), page_labels=labels)


def labels_of(paper: Document) -> list[tuple[str | None, str | None]]:
    (block,) = labelled_blocks(paper)
    assert [(s.label_start, s.label_end) for s in block.title_spans] == [
        (s.label_start, s.label_end) for s in block.spans[:1]
    ]
    return [(span.label_start, span.label_end) for span in block.spans]


def test_every_run_has_the_labels_of_its_first_and_last_page() -> None:
    """A reader looks for page 118 of the volume, not for the second page of the file."""
    paper = document(
        ("xii", "118", "120"), Span(0, 4, 1, 1), Span(4, 9, 2, 3), Span(9, 24, None, None)
    )

    assert labels_of(paper) == [("xii", "xii"), ("118", "120"), (None, None)]


def test_pages_without_a_label_and_labels_that_are_none_stay_without() -> None:
    """Files hold whole sentences, control characters and nothing at all in this place."""
    paper = document(
        ("", "x" * 21, "a\x1b[2Jb", None), *(Span(n, n + 1, n + 1, n + 1) for n in range(5))
    )

    assert labels_of(paper) == [(None, None)] * 5


def test_a_label_is_one_line() -> None:
    """It stands inside brackets of an answer."""
    assert labels_of(document((" S.\n 118 ",), Span(0, 24, 1, 1))) == [("S. 118", "S. 118")]
