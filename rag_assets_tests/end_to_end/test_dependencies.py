"""Every table that an asset reads is a dependency of it in Dagster's graph."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from rag_assets.core import table_files
from rag_assets.core.paper_tables import Manifest
from rag_assets.pipeline.definitions import ASSETS, build_defs
from rag_assets_testing.world import TOKENIZER, World

TABLES = {
    "papers",
    "parsed_index",
    "blocks",
    "statements",
    "chunks",
    "summaries",
    "passages",
    "embeddings",
    "profiles",
    "references",
}
NOT_SEEN_HERE = {
    "index_meta": {"chunks", "papers"},
    "summaries": {"papers", "chunks"},
    "examples": {"passages"},
}
"""Of the first, only the provenance is read, and files are linked; the second reads them when a model is to write
summaries, the third when a heading or table can be asked about."""
GRAPH = build_defs().resolve_asset_graph()
PARENTS = {
    asset.key.to_user_string(): {
        parent.to_user_string() for parent in GRAPH.get(asset.key).parent_keys
    }
    for asset in ASSETS
}


@pytest.mark.parametrize("asset", [asset.key.to_user_string() for asset in ASSETS])
def test_every_table_that_an_asset_reads_is_declared(
    world: World, monkeypatch: pytest.MonkeyPatch, asset: str
) -> None:
    """What is read and not declared changes an asset that the graph shows as up to date."""
    read: set[str] = set()

    def watched(before: Callable[..., Any]) -> Callable[..., Any]:
        def noted(path: Path, *arguments: Any) -> Any:
            read.add("embeddings" if path.stem == world.paths.vectors.stem else path.stem)
            return before(path, *arguments)

        return noted

    monkeypatch.setattr(table_files, "_opened", watched(table_files._opened))
    monkeypatch.setattr(Manifest, "of", watched(Manifest.of))  # an unchanged table is not opened
    definitions = build_defs(overrides={"data_dir": str(world.paths.data), **TOKENIZER})
    world.paths.templates.mkdir()
    (world.paths.templates / "review.md").write_text(
        "# Review\n## Rocks\nWhere does basalt take up water?\n"
    )
    for made in (
        world.paths.examples,
        world.paths.qa_meta,
        world.paths.evaluation / "latest.json",
    ):
        made.unlink()  # so that questions are asked

    result = definitions.resolve_job_def("everything").execute_in_process(
        instance=world.instance,
        asset_selection=[dg.AssetKey(asset)],
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
    )

    parents = PARENTS[asset]
    assert result.success
    assert (read - {asset}) | NOT_SEEN_HERE.get(asset, set()) == parents & TABLES
