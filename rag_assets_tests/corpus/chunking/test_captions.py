"""Captions of tables and figures have pages like any other text that can be quoted."""

from dataclasses import replace

from rag_assets.core.domain import Block, BlockKind, Chunk, Span, StatementKind, span_at
from rag_assets.core.settings import ChunkingSettings, PassageSettings
from rag_assets.corpus.chunking.passages import cut_passages
from rag_assets_tests.corpus.chunking.papers import box, cells_of, chunked, words_and_two

ROWS = "Group | Ferritin\nA | 12\nB | 15"
TITLE = "Table 1. Iron by group. Values are means."


def table(*spans: Span, title_spans: tuple[Span, ...] = ()) -> Block:
    return Block(
        BlockKind.TABLE,
        ROWS,
        ("Results",),
        spans=spans,
        title=TITLE,
        title_spans=title_spans,
        cells=cells_of(ROWS),
    )


def page_of(chunk: Chunk, quote: str) -> tuple[int | None, int | None]:
    """As a citation of the quote gets it."""
    at = chunk.text.index(quote)
    first, last = span_at(chunk.spans, at), span_at(chunk.spans, at + len(quote) - 1)
    return first.page_start, last.page_end


def test_a_caption_has_the_page_of_its_table() -> None:
    """A claim from a caption was cited as [attention] where [attention, p. 8] was known."""
    (chunk,) = chunked([table(Span(0, len(ROWS), 8, 8, (box(8, 0.2),)))])

    assert page_of(chunk, "Values are means.") == (8, 8)
    assert span_at(chunk.spans, 0).boxes == ()  # type: ignore[union-attr]
    assert (chunk.page_start, chunk.page_end) == (8, 8)


def test_a_caption_of_a_table_over_two_pages_has_no_page_unless_the_parser_knows_it() -> None:
    """A page that nothing proves is worse than none."""
    half = len(ROWS) // 2
    rows = (Span(0, half, 8, 8), Span(half, len(ROWS), 9, 9))

    (unknown,) = chunked([table(*rows)])
    (known,) = chunked([table(*rows, title_spans=(Span(0, len(TITLE), 8, 8, (box(8, 0.1),)),))])

    assert page_of(unknown, "Values are means.") == (None, None)
    assert page_of(known, "Values are means.") == (8, 8)
    assert span_at(known.spans, 0).boxes == (box(8, 0.1),)  # type: ignore[union-attr]


def test_the_text_of_a_figure_without_a_title_is_its_caption() -> None:
    """Taken for sentences of the text, "Error bars are standard errors." was an answer."""
    text = "Figure 2. Iron by week. Error bars are standard errors."
    figure = Block(BlockKind.FIGURE, text, ("Results",), spans=(Span(0, len(text), 8, 8),))

    (captioned,), (described,) = chunked([figure]), chunked([replace(figure, title="Figure 2.")])

    assert {unit.kind for unit in captioned.units} == {StatementKind.CAPTION}
    assert {unit.kind for unit in described.units} == {StatementKind.SENTENCE}


def test_a_passage_of_the_caption_alone_has_its_page() -> None:
    """Passages carry the pages that a context shows to a model."""
    long = replace(
        table(Span(0, len(ROWS), 8, 8)), title="Table 1. " + "Values are means of all groups. " * 8
    )
    (chunk,) = chunked([long], ChunkingSettings())

    passages = cut_passages([chunk], PassageSettings(target_tokens=18), words_and_two, 24)

    assert len(passages) > 2
    assert {(passage.page_start, passage.page_end) for passage in passages} == {(8, 8)}
