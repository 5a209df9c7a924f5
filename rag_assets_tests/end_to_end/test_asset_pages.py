"""What the pages of assets show without a click, and when Dagster shows an asset as out of date."""

import base64
import os
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest
from PIL import Image

from rag_assets.core.settings import load_settings
from rag_assets.pipeline.assets.previews import bars, histogram, lines
from rag_assets.pipeline.assets.resources import run_settings
from rag_assets.pipeline.definitions import build_defs
from rag_assets_testing.world import World

SHOWN_WITHOUT_A_CLICK = 1000
"""Dagster's UI shows a Markdown text on the page if it has fewer characters."""
PAGE = Path(__file__).parents[2] / "docs" / "dagster.md"


def picture(markdown: str) -> Any:
    encoded = re.fullmatch(r"!\[.*\]\(data:image/webp;base64,(.*)\)", markdown)
    assert encoded, markdown
    return Image.open(BytesIO(base64.b64decode(encoded[1])))


def test_pictures_are_small_enough_to_be_seen_without_a_click() -> None:
    """A picture behind a link is no glance."""
    names = ["1 Introduction", "$k$ and $b$", "方法と結果", *(f"Section {n}" for n in range(60))]
    drawn = [
        histogram(
            [n * n % 1100 for n in range(5000)], {"min": 40, "target": 1000, "max": 1200}, "tokens"
        ),
        bars({name: 100 - place for place, name in enumerate(names)}, "chunks per section"),
        lines({"mrr": [0.5, None, *[n % 7 / 7 for n in range(48)]]}, "evaluations", {"mrr": 0.6}),
    ]

    assert [picture(each).size for each in drawn] == [(330, 120)] * 3
    assert max(map(len, drawn)) < SHOWN_WITHOUT_A_CLICK * 1.5
    assert len(drawn[0]) < SHOWN_WITHOUT_A_CLICK
    assert histogram([], {}, "tokens") == bars({}, "chunks") == "*none*"


def test_the_page_of_chunk_stats_opens_with_what_is_asked_first(world: World) -> None:
    """How many chunks have no page, and which paper is the largest, stood below 27 rows."""
    (world.paths.papers / "plain.txt").write_text("Rocks\n\n" + "Basalt is a dark rock. " * 400)

    facts = world.run(
        "parsed_index", "papers", "blocks", "statements", "chunks", "chunk_stats"
    ).facts

    page = facts["chunk_stats"]
    chunks = world.table(world.paths.chunks)
    assert list(page)[:3] == ["n_chunks", "n_without_page", "largest_paper"]
    assert page["n_chunks"] == len(chunks)
    assert page["n_without_page"] == chunks["page_start"].null_count > 0
    assert page["largest_paper"].startswith("plain: ")
    assert len(page["token_lengths"]) < SHOWN_WITHOUT_A_CLICK
    assert picture(page["pages"])
    assert page["papers"].records[0].data["paper_id"] == "plain"
    assert facts["parsed_index"]["changes"] == "added plain"


def test_pages_open_with_what_is_asked_first(world: World) -> None:
    """What changed, what failed and what it cost stood below settings, or below all columns."""
    facts = world.run().facts

    assert {asset: list(page)[:3] for asset, page in facts.items() if asset in OPENINGS} == OPENINGS
    assert facts["parsed_index"]["changes"] == "nothing"
    assert "dagster/column_schema" not in facts["parsed_index"], "Dagster shows it above all else"
    (run,) = world.instance.get_runs()
    assert run.tags["rag_assets/cost_usd"] == "0.0000"


OPENINGS = {
    "parsed_index": ["changes", "not_read", "papers"],
    "embeddings": ["cost_usd", "megabytes", "model"],
    "chroma_index": ["megabytes", "megabytes_written", "store"],
    "bm25_index": ["megabytes", "megabytes_written", "store"],
    "qa": ["cost_usd", "changes", "answers"],
    "smoke_eval": ["cost_usd", "not_right", "history"],
}


def test_every_asset_says_what_it_is_for_whose_it_is_and_where_its_code_is() -> None:
    """A newcomer who stands before a box in the graph would have to search the code."""
    graph = build_defs().resolve_asset_graph()
    for node in map(graph.get, graph.materializable_asset_keys):
        assert node.description, node.key
        assert node.owners == ["team:rag_assets"], node.key
        assert node.kinds, node.key
        assert "dagster/code_references" in node.metadata, node.key


def stale(world: World) -> list[str]:
    graph = build_defs(overrides={"data_dir": str(world.paths.data)}).resolve_asset_graph()
    loading = LoadingContextForTest(world.instance)
    resolver = CachingStaleStatusResolver(world.instance, graph, loading)
    return [
        key.to_user_string()
        for key in sorted(graph.materializable_asset_keys)
        if resolver.get_status(key) is not StaleStatus.FRESH
    ]


def test_nothing_is_out_of_date_that_is_current(world: World) -> None:
    """A question file that was only copied or saved again made `qa` look out of date."""
    world.run()
    assert stale(world) == []

    os.utime(world.paths.questions / "smoke.jsonl", (1, 1))
    world.run("chunks")
    assert stale(world) == []

    world.write_questions([{"id": "q1", "question": "Where does basalt take up water?"}])
    world.run("chunks")
    assert stale(world) == ["qa", "smoke_eval"]


def test_the_asset_of_the_docs_runs(world: World) -> None:
    """An example that fails when it is copied is worse than none."""
    (code,) = re.findall(
        r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    names: dict[str, Any] = {"__name__": "claims_by_year"}
    exec(code, names)
    settings = run_settings(load_settings(), {"data_dir": str(world.paths.data)})

    result = dg.materialize(
        [names["claims_by_year"]], resources={"settings": settings}, instance=world.instance
    )

    (made,) = result.asset_materializations_for_node("claims_by_year")
    (check,) = result.get_asset_check_evaluations()
    assert world.table(world.paths.data / "output" / "claims_by_year.parquet")[
        "n_claims"
    ].to_pylist() == [2]
    assert made.metadata["claims"].value
    assert not check.passed, "these papers tell no year"
