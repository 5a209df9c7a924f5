"""A data folder of an older version, or with damaged tables: a run makes them anew and says so."""

import logging

import pyarrow.parquet as pq
import pytest

from rag_assets_testing.world import World


def test_tables_of_an_older_version_or_damaged_are_made_anew(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """An upgrade must not end every later run in an error of the parquet library, nor cost the
    vectors."""
    paths = world.paths
    tables = [paths.parsed_index, paths.blocks, paths.chunks, paths.passages, paths.profiles]
    before = world.bytes_of(*tables, paths.vectors, paths.qa)
    for path, column in ((paths.parsed_index, "title"), (paths.chunks, "boxes")):
        pq.write_table(pq.read_table(path).drop_columns([column]), path)
    for path in (paths.blocks, paths.passages, paths.profiles):
        path.write_bytes(path.read_bytes()[:100])

    with caplog.at_level(logging.WARNING):
        outcome = world.run()

    assert outcome.is_success, outcome.failures or outcome.broken
    assert world.bytes_of(*tables, paths.vectors, paths.qa) == before
    assert outcome.facts["embeddings"]["n_embedded"] == 0
    for path in tables:
        lines = [line for line in caplog.messages if line.startswith(str(path))]
        assert len(lines) == 1, "one line says which table is made anew"
