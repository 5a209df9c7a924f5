"""A paper whose worker is lost is left out of a table, with the reason; the others go on."""

from collections.abc import Callable, Generator, Iterable
from typing import Any

import pyarrow as pa
import pytest

from rag_assets.core.paper_tables import PapersUpdate, PaperTable
from rag_assets.core.promises import Promise, check_all, nothing_withholds
from rag_assets.core.tables import PROFILES, REFERENCES
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.corpus.each_paper import EachPaperCandidate
from rag_assets.corpus.profiles import PROFILE_PROMISES, update_profiles
from rag_assets.corpus.references import (
    REFERENCE_PROMISES,
    update_references,
)
from rag_assets_testing.in_place import in_place
from rag_assets_testing.paper_rows import InMemory, updated
from rag_assets_tests.corpus.chunking.papers import blocks_table, paragraph, statements_table

_BLOCKS = blocks_table({"a": [paragraph("One.", "A")], "b": [paragraph("Two.", "A")]})
BLOCKS, STATEMENTS = InMemory(_BLOCKS), InMemory(statements_table(_BLOCKS))


def deadly(work: Callable[[Any], Any], papers: Iterable[Any]) -> Generator[tuple[Any, Any]]:
    """The worker of paper b is lost."""
    for paper in papers:
        lost = Failure("crashed.", is_worker_lost=True)
        yield next(in_place(work, [paper])) if paper.paper_id != "b" else (paper, lost)


@pytest.mark.parametrize(
    ("update", "schema", "promises"),
    [
        (
            lambda published: update_profiles(published, BLOCKS, {}, deadly),
            PROFILES,
            PROFILE_PROMISES,
        ),
        (
            lambda published: update_references(published, STATEMENTS, deadly),
            REFERENCES,
            REFERENCE_PROMISES,
        ),
    ],
    ids=["profiles", "references"],
)
def test_a_lost_task_costs_its_paper_and_no_other(
    update: Callable[[PaperTable], PapersUpdate],
    schema: pa.Schema,
    promises: list[Promise[Any]],
) -> None:
    """One machine of a cluster that breaks down would end a run of ten thousand papers."""
    made = updated(update, schema)

    papers = made.table["paper_id"].to_pylist()
    checked = check_all(promises, EachPaperCandidate(papers, BLOCKS.papers, made.quarantined))

    assert papers == ["a"]
    assert [one.error for one in made.quarantined] == ["b.txt crashed."]
    assert nothing_withholds(checked)
    assert [one.promise.name for one in checked if not one.is_kept] == ["none_quarantined"]
