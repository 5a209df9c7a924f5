"""The rows both indexes are made from."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rag_assets import tables
from rag_assets.domain import Passage
from rag_assets.indexing.rows import index_rows
from rag_assets_tests.retrieval.corpus import Corpus, chunk_of, sentences_as_passages

CHUNK = chunk_of("iron", "Ferritin fell in all groups.", section="Results")
(PASSAGE,) = sentences_as_passages(CHUNK)


def mark_of(passage: Passage, section: str = "Results", mark: str = "paper") -> str:
    """Fingerprint of the index row of a passage whose chunk has that section title."""
    corpus = Corpus([replace(CHUNK, section_title=section)])
    passages = tables.to_table([tables.passage_row(passage, mark)], tables.PASSAGES)
    return index_rows(passages, corpus.chunk_table)[0].fingerprint


def test_a_row_carries_the_section_title_of_its_chunk() -> None:
    """Readers of the vector store filter by section."""
    corpus = Corpus([CHUNK])

    (row,) = index_rows(corpus.passage_table, corpus.chunk_table)

    assert (row.passage_id, row.section, row.page_start, row.text) == ("iron", "Results", 2, PASSAGE.text)


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda: mark_of(replace(PASSAGE, text="Ferritin rose.")), id="text"),
        pytest.param(lambda: mark_of(replace(PASSAGE, page_start=1)), id="first page"),
        pytest.param(lambda: mark_of(replace(PASSAGE, page_end=None)), id="last page"),
        pytest.param(lambda: mark_of(replace(PASSAGE, paper_id="jones2021")), id="paper"),
        pytest.param(lambda: mark_of(PASSAGE, section="Discussion"), id="section"),
    ],
)
def test_whatever_an_index_keeps_is_in_the_fingerprint(edit: Callable[[], str]) -> None:
    """What the fingerprint leaves out is never updated."""
    assert edit() != mark_of(PASSAGE)


def test_an_edit_elsewhere_in_the_paper_is_not() -> None:
    """Else one corrected comma would index a whole book anew."""
    assert mark_of(replace(PASSAGE, char_start=7), mark="paper, edited") == mark_of(PASSAGE)
