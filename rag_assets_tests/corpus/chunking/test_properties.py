"""What holds of any paper, however odd."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.core.domain import BLOCK_SEPARATOR, Block, BlockKind, Cell, Span, Zone
from rag_assets.core.settings import PassageSettings
from rag_assets.core.text.tokens import TokenCounter, WordPieceCounter
from rag_assets.corpus.chunking.chunker import chunk_paper
from rag_assets.corpus.chunking.passages import cut_passages
from rag_assets.corpus.statements.making import statements_of
from rag_assets_tests.corpus.chunking.papers import (
    SMALL,
    WordCounter,
    chunked,
    document_text,
    words_and_two,
)

EVERYTHING = SMALL.model_copy(update={"min_tokens": 0, "min_chars": 0})
PASSAGES = PassageSettings(target_tokens=18)
MODEL_READS = 24
ODD_WORDS = (
    "漢字仮名交文。",
    "กขคงจฉชซ",
    "אבג",
    "कखग।",
    "🧪é́",
    "\u200b\u00ad\ufeff",
    "\x00\x7f\ufffd",
    "*`$&@^|",
)
VERBATIM = {"paragraph", "footnote", "formula", "list", "code"}

words = st.lists(
    st.sampled_from(
        ["iron", "Ferritin", "fell", "a", "12.5", "(n", "x)", "α", "i.e.", "<0.05", *ODD_WORDS]
    ),
    min_size=1,
)
sentences = st.builds(
    lambda parts, end: " ".join(parts) + end, words, st.sampled_from([".", "?", "", ":", ";"])
)
prose = st.lists(sentences, min_size=1, max_size=8).map(" ".join)
lines = st.lists(sentences, min_size=1, max_size=12).map("\n".join)
rows = st.lists(
    st.lists(st.sampled_from(["Group", "A", "12", "", "3.5", "iron fell"]), min_size=1, max_size=4),
    min_size=1,
)


def with_span(
    kind: BlockKind, text: str, path: tuple[str, ...], zone: Zone, title: str = ""
) -> Block:
    return Block(kind, text, path, zone, spans=(Span(0, len(text), 1, 2),), title=title)


@st.composite
def tables(draw: Callable[..., object], path: tuple[str, ...], zone: Zone) -> Block:
    grid = draw(rows)
    cells = tuple(Cell(r, c, text) for r, row in enumerate(grid) for c, text in enumerate(row))  # type: ignore[arg-type, var-annotated]
    text = "\n".join(" | ".join(row).strip() for row in grid)  # type: ignore[attr-defined]
    title = draw(
        st.sampled_from(["", "Table 1. Iron.", "Table 2. " + "Long caption of many words. " * 8])
    )
    block = with_span(BlockKind.TABLE, text, path, zone, str(title))
    return replace(block, cells=cells)


def blocks_in(path: tuple[str, ...], zone: Zone) -> st.SearchStrategy[Block]:
    return st.one_of(
        prose.map(lambda text: with_span(BlockKind.PARAGRAPH, text, path, zone)),
        prose.map(lambda text: with_span(BlockKind.FOOTNOTE, text, path, zone)),
        lines.map(lambda text: with_span(BlockKind.LIST, text, path, zone)),
        lines.map(lambda text: with_span(BlockKind.CODE, text, path, zone)),
        sentences.map(lambda text: with_span(BlockKind.FORMULA, text, path, zone)),
        tables(path, zone),
        prose.map(
            lambda text: Block(
                BlockKind.FIGURE, text, path, zone, title="Figure 1", is_generated=True
            )
        ),
        st.just(Block(BlockKind.HEADING, path[-1], path, zone)),
        st.just(Block(BlockKind.PARAGRAPH, "", path, zone)),
    )


sections = st.tuples(
    st.sampled_from([("A",), ("A", "B"), ("C",)]), st.sampled_from(list(Zone))
).flatmap(lambda where: st.lists(blocks_in(*where), min_size=1, max_size=5))
papers = st.lists(sections, max_size=4).map(
    lambda parts: [block for part in parts for block in part]
)


def is_indexed(block: Block) -> bool:
    return (
        block.kind is not BlockKind.HEADING
        and block.zone is not Zone.BACK
        and bool(block.text.strip())
    )


@settings(max_examples=70)
@given(papers)
@pytest.mark.parametrize("counter", [WordCounter(), WordPieceCounter()], ids=["words", "wordpiece"])
def test_chunks_of_any_paper(counter: TokenCounter, blocks: list[Block]) -> None:
    """Each of these broken once means a lost sentence, a wrong page, or an index that is
    refused."""
    text = document_text(blocks)

    chunks = chunk_paper(
        "smith", statements_of(blocks, counter), "smith.xml", "tei", EVERYTHING, counter, "f"
    )

    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert 1 <= chunk.n_tokens <= EVERYTHING.max_tokens
        assert chunk.n_tokens == counter.count(chunk.text)
        assert all(before.end <= after.start for before, after in pairwise(chunk.spans))
        assert all(0 <= span.start < span.end <= len(chunk.text) for span in chunk.spans)
        located = {at for span in chunk.spans for at in range(span.start, span.end)}
        quotable = {at for at, character in enumerate(chunk.text) if not character.isspace()}
        assert quotable <= located, "what can be quoted has a span"
        if chunk.chunk_type in VERBATIM:
            assert text[chunk.char_start : chunk.char_end] == chunk.text
            for span in chunk.spans:
                assert span.source_start is not None
                assert text[span.source_start :].startswith(chunk.text[span.start : span.end])
    covered = {at for chunk in chunks for at in range(chunk.char_start, chunk.char_end)}
    at = 0
    for block in blocks:
        places = {at + n for n, character in enumerate(block.text) if not character.isspace()}
        if is_indexed(block) and block.kind is not BlockKind.TABLE:
            assert places <= covered, "text of the paper is in no chunk"
        if not is_indexed(block):
            assert not places & covered, "a heading or back matter is in a chunk"
        at += len(block.text) + len(BLOCK_SEPARATOR)


@settings(max_examples=70)
@given(papers)
def test_every_cell_of_a_table_is_in_a_chunk(blocks: list[Block]) -> None:
    """A table is often the only place where a number stands, or the name of what was not
    measured."""
    chunks = chunked(blocks, EVERYTHING)

    everything = " ".join(" ".join(chunk.text for chunk in chunks).split())
    for block in blocks:
        if is_indexed(block):
            words_of_cells = {word for cell in block.cells for word in cell.text.split()}
            assert all(word in everything for word in words_of_cells)


@settings(max_examples=70)
@given(papers)
def test_passages_of_any_paper(blocks: list[Block]) -> None:
    """A passage the model cannot read in full is half lost; one that repeats another crowds it
    out."""
    text = document_text(blocks)
    chunks = chunked(blocks, EVERYTHING)
    by_id = {chunk.chunk_id: chunk for chunk in chunks}

    passages = cut_passages(chunks, PASSAGES, words_and_two, MODEL_READS)

    assert len({passage.passage_id for passage in passages}) == len(passages)
    assert {passage.chunk_id for passage in passages} == by_id.keys()
    read_until = 0
    for passage in passages:
        chunk = by_id[passage.chunk_id]
        assert passage.n_tokens == words_and_two([passage.text])[0] <= MODEL_READS
        assert read_until <= passage.char_start <= passage.char_end <= chunk.char_end
        read_until = passage.char_end
        if chunk.chunk_type in VERBATIM:
            assert text[passage.char_start : passage.char_end] == passage.text
            assert passage.text in chunk.text
    if all(chunk.chunk_type in VERBATIM for chunk in chunks):
        indexed = "".join("".join(block.text.split()) for block in blocks if is_indexed(block))
        assert "".join("".join(passage.text.split()) for passage in passages) == indexed
