import pyarrow as pa
import pytest

from rag_assets.core.domain import Zone
from rag_assets.core.settings import ChunkingSettings
from rag_assets.core.tables import CHUNKS, PARSED_INDEX, PASSAGES, schema_problems, to_table
from rag_assets.corpus.chunking.chunker import update_chunks
from rag_assets.corpus.chunking.promises import (
    chunk_stats,
    from_back_matter,
    longer_than_model_reads,
    outside_token_bounds,
    reading_as_references,
    repeated_ids,
    with_half_a_page_range,
    without_page,
)
from rag_assets_testing.in_place import in_place
from rag_assets_testing.paper_rows import InMemory, updated
from rag_assets_tests.corpus.chunking.papers import (
    SMALL,
    WordCounter,
    blocks_table,
    heading,
    paragraph,
    statements_table,
)

BLOCKS_OF = {
    "a": [
        heading("Results"),
        paragraph("Ferritin fell in all groups.", "Results", page=3),
        paragraph("Doe J. Iron and ferritin. 2020.", "References", zone=Zone.BACK),
        paragraph("Iron rose in none of the groups.", "Annex", zone=Zone.ANNEX),
    ],
    "b": [paragraph("Iron fell in all of the groups.", "Results", page=1)],
}


@pytest.fixture
def statements() -> pa.Table:
    return statements_table(blocks_table(BLOCKS_OF))


@pytest.fixture
def chunks(statements: pa.Table) -> pa.Table:
    return updated(
        lambda published: update_chunks(
            published, InMemory(statements), SMALL, WordCounter(), in_place
        ),
        CHUNKS,
    ).table


def changed(table: pa.Table, column: str, values: list[object]) -> pa.Table:
    index = table.schema.get_field_index(column)
    return table.set_column(
        index, table.schema.field(column), pa.array(values, table.schema.field(column).type)
    )


def ids(table: pa.Table) -> list[str]:
    found: list[str] = table["chunk_id"].to_pylist()
    return found


def test_good_chunks_pass_every_audit(chunks: pa.Table, statements: pa.Table) -> None:
    """A false alarm withholds the whole corpus."""
    assert chunks.num_rows == 3
    assert repeated_ids(chunks, "chunk_id").num_rows == 0
    assert outside_token_bounds(chunks, SMALL).num_rows == 0
    assert from_back_matter(chunks, statements).num_rows == 0
    assert schema_problems(chunks.schema, CHUNKS) == []


def test_repeated_ids_are_found(chunks: pa.Table) -> None:
    """One of two chunks of an id is lost without a word when they are indexed."""
    first, _, third = ids(chunks)

    assert ids(repeated_ids(changed(chunks, "chunk_id", [first, third, third]), "chunk_id")) == [
        third,
        third,
    ]


def test_chunks_outside_the_bounds_are_found(chunks: pa.Table) -> None:
    """A chunk over the bound overruns the budget of an answer."""
    broken = changed(chunks, "n_tokens", [0, 51, 50])

    assert outside_token_bounds(broken, SMALL)["n_tokens"].to_pylist() == [0, 51]


def test_chunks_that_reach_into_back_matter_are_found(
    chunks: pa.Table, statements: pa.Table
) -> None:
    """One character into the references is one too many; the end of the chunk before them is
    not."""
    reference = statements["char_start"][2].as_py()
    ends = chunks["char_end"].to_pylist()

    at_its_edge = changed(chunks, "char_end", [reference, *ends[1:]])
    inside = changed(chunks, "char_end", [reference + 1, *ends[1:]])

    assert from_back_matter(at_its_edge, statements).num_rows == 0
    assert ids(from_back_matter(inside, statements)) == ids(chunks)[:1]


def test_chunks_that_read_as_references_are_found(chunks: pa.Table) -> None:
    """Where no heading names the list, the titles in it are quoted as findings of this paper."""
    cited = "Doe J, Roe K. Iron and ferritin. J Iron 2020; 12: 33-39.\nLund A. Sheep. J Wool 2011; 3: 1-9."
    prose = "Doe J. and Roe K. measured iron in 2020.\nIt fell in all groups.\nNo one knows why."

    assert (
        ids(reading_as_references(changed(chunks, "text", [cited, prose, "Iron."])))
        == ids(chunks)[:1]
    )


def test_chunks_with_half_a_page_range_are_found(chunks: pa.Table) -> None:
    """A citation with one end of its pages is "p. 3-None"."""
    _, second, third = ids(chunks)
    halves = changed(changed(chunks, "page_start", [3, 3, None]), "page_end", [3, None, 4])

    assert ids(with_half_a_page_range(halves)) == [second, third]


def test_chunks_without_a_page_are_found(chunks: pa.Table) -> None:
    """They are cited without a page; many of them mean that GROBID was not asked for
    coordinates."""
    assert without_page(chunks)["section_title"].to_pylist() == ["Annex"]


def test_passages_longer_than_the_model_reads_are_found() -> None:
    """The rest of such a passage is in no vector."""
    rows = [{"passage_id": "p#0", "n_tokens": 256}, {"passage_id": "p#1", "n_tokens": 257}]

    assert longer_than_model_reads(to_table(rows, PASSAGES), 256)["passage_id"].to_pylist() == [
        "p#1"
    ]


def test_the_statistics_count_chunks_by_source_and_section(chunks: pa.Table) -> None:
    """The first place to look when answers have no pages or papers came from a fallback."""
    index = to_table(
        [{"paper_id": "a", "used_fallback": False}, {"paper_id": "b", "used_fallback": True}],
        PARSED_INDEX,
    )

    stats = chunk_stats(chunks, index, ChunkingSettings(tokenizer="wordpiece"))

    everything = {
        "n_chunks": 3,
        "n_tokens": {"min": 5, "median": 7.0, "p95": 7.0, "max": 7},
        "share_fallback_used": pytest.approx(1 / 3),
        "share_missing_pages": pytest.approx(1 / 3),
    }
    assert stats["tokenizer"] == "wordpiece"
    assert stats["n_papers"] == 2
    assert {key: stats[key] for key in everything} == everything
    assert stats["by_source"] == {"text": everything}
    assert {title: figures["n_chunks"] for title, figures in stats["by_section_title"].items()} == {
        "Results": 2,
        "Annex": 1,
    }
    assert stats["by_section_title"]["Annex"]["share_missing_pages"] == 1.0


def test_the_statistics_of_an_empty_corpus_have_no_invented_numbers() -> None:
    """A share of nothing is not 0."""
    stats = chunk_stats(CHUNKS.empty_table(), PARSED_INDEX.empty_table(), ChunkingSettings())

    assert (stats["n_chunks"], stats["n_tokens"], stats["share_missing_pages"]) == (0, None, None)
