"""Figures of the chunks, as a reader of the asset page sees them."""

from rag_assets.core.tables import CHUNKS, chunk_row, to_table
from rag_assets.corpus.chunking.stats import paper_stats
from rag_assets_tests.corpus.chunking.papers import chunked, paragraph


def test_every_paper_has_a_row_with_its_sizes_and_the_share_of_its_chunks_with_a_page() -> None:
    """A paper without pages, or cut into crumbs, is found in no average over the corpus."""
    blocks = [
        paragraph(" ".join(f"word{n}" for n in range(30)) + ".", "A", page=2),
        paragraph(" ".join(f"word{n}" for n in range(20)) + ".", "B"),
        paragraph(" ".join(f"word{n}" for n in range(25)) + ".", "C"),
    ]
    rows = [chunk_row(chunk) for chunk in chunked(blocks)]
    other = rows[0] | {"paper_id": "zeta2021", "source": "pdf"}

    table = paper_stats(to_table([*rows, other], CHUNKS))

    assert table == [
        {
            "paper_id": "smith2020",
            "source": "tei",
            "n_chunks": 3,
            "n_tokens_min": 20,
            "n_tokens_median": 25,
            "n_tokens_max": 30,
            "share_with_page": 1 / 3,
        },
        {
            "paper_id": "zeta2021",
            "source": "pdf",
            "n_chunks": 1,
            "n_tokens_min": 30,
            "n_tokens_median": 30,
            "n_tokens_max": 30,
            "share_with_page": 1.0,
        },
    ]
    assert paper_stats(CHUNKS.empty_table()) == []
