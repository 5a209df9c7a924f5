"""The graph in the UI names the files that an asset really reads."""

from pathlib import Path

import dagster as dg
import pyarrow as pa
import pytest

from rag_assets import table_files
from rag_assets.definitions import ASSETS, build_defs
from rag_assets_testing.world import FLOORS_OFF, TOKENIZER, World

TABLES = {"parsed_index", "blocks", "chunks", "summaries", "passages", "profiles", "paper_summaries"}
NOT_SEEN_HERE = {"index_meta": {"chunks"}, "summaries": {"parsed_index", "chunks"}}
"""Of the first, only the provenance is read; the second reads when a model is to write summaries."""


@pytest.mark.parametrize("asset", [asset.key.to_user_string() for asset in ASSETS])
def test_every_table_that_an_asset_reads_is_declared(world: World, monkeypatch: pytest.MonkeyPatch, asset: str) -> None:
    """What is read and not declared changes an asset that the graph shows as up to date."""
    read: set[str] = set()
    before = table_files._read

    def watched(path: Path, *arguments: object) -> pa.Table:
        read.add(path.stem)
        return before(path, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(table_files, "_read", watched)
    definitions = build_defs(overrides={"data_dir": str(world.paths.data), **TOKENIZER, **FLOORS_OFF})
    world.paths.templates.mkdir()
    (world.paths.templates / "review.md").write_text("# Review\n## Rocks\nWhere does basalt take up water?\n")
    for made in (world.paths.qa_meta, world.paths.evaluation / "latest.json"):
        made.unlink()  # so that questions are asked

    result = definitions.resolve_job_def("everything").execute_in_process(
        instance=world.instance,
        asset_selection=[dg.AssetKey(asset)],
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
    )

    graph = definitions.resolve_asset_graph()
    declared = {parent.to_user_string() for parent in graph.get(dg.AssetKey(asset)).parent_keys}
    assert result.success
    assert (read - {asset}) | NOT_SEEN_HERE.get(asset, set()) == declared & TABLES
