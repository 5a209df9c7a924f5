"""What assets say about themselves: casts, caps, tables and charts, put to Dagster itself where it
matters."""

import logging
from typing import Any

import dagster as dg
import numpy as np
import pytest

from rag_assets.pipeline.assets.previews import MOST_ROWS, markdown_table
from rag_assets.pipeline.assets.publishing import Made, materialized, progress

COUNTS = {"n_added": 1, "n_changed": 0, "n_removed": 0, "n_unchanged": 2}


def made(**told: Any) -> Made:
    """Three rows of which an asset tells something."""
    return Made("v", 3, [], dict, **told)


def metadata_in_the_history(result: dg.MaterializeResult[Any]) -> dict[str, Any]:
    """What Dagster keeps of a result that an asset returns."""

    @dg.asset
    def stage() -> dg.MaterializeResult[Any]:
        return result

    with dg.DagsterInstance.ephemeral() as instance:
        run = dg.materialize([stage], instance=instance)
        (event,) = run.get_asset_materialization_events()
        return {key: value.value for key, value in event.materialization.metadata.items()}


def test_numbers_of_numpy_reach_the_history_as_numbers() -> None:
    """Dagster refuses them, and the step fails after hours of work are done."""
    facts = {
        "median": np.float64(2.5),
        "n": np.int64(3),
        "share": np.float32(0.5),
        "is_new": np.bool_(True),
    }

    kept = metadata_in_the_history(materialized(made(facts=facts), COUNTS, {}))

    assert {name: kept[name] for name in facts} == {
        "median": 2.5,
        "n": 3,
        "share": 0.5,
        "is_new": True,
    }
    assert {type(kept[name]) for name in facts} <= {float, int, bool}


def test_a_page_ends_with_the_counts_that_are_not_zero() -> None:
    """Four rows of zeros hid what the page is opened for."""
    opening = {"cost_usd": 0.5, "changes": "added a", **COUNTS}
    told = {"facts": {"n_pages": 7}, "previews": {"rows": "*none*"}}

    kept = metadata_in_the_history(materialized(made(**told), opening, {"counted": "papers"}))

    assert list(kept) == [
        "cost_usd",
        "changes",
        "rows",
        "n_pages",
        "dagster/row_count",
        "counted",
        "n_added",
        "n_unchanged",
    ]


def test_a_table_shows_the_first_rows_and_how_many_more_there_are() -> None:
    """A sample must say that it is one, or it is taken for everything."""
    table = markdown_table([{"id": n, "text": f"row {n}"} for n in range(MOST_ROWS + 3)])

    lines = table.splitlines()
    assert lines[:3] == ["| id | text |", "| --- | --- |", "| 0 | row 0 |"]
    assert lines[-3:] == [f"| {MOST_ROWS - 1} | row {MOST_ROWS - 1} |", "", "… and 3 more"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a|b", "a\\|b"),
        ("a\\|b", "a\\\\\\|b"),
        ("two\nlines", "two lines"),
        ("two\r\nlines\rhere", "two lines here"),
        ("![x](http://a.example/p.png)", "!\\[x](http://a.example/p.png)"),
        ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
        (None, ""),
        (0, "0"),
        (["bm25", "review"], "bm25, review"),
        ({"name": "wordpiece", "reason": "set"}, "name: wordpiece, reason: set"),
    ],
)
def test_text_of_papers_breaks_no_table(value: Any, shown: str) -> None:
    """A bar or a line end in a title shifts every cell after it; markup from a paper must not run
    in the UI."""
    table = markdown_table([{"title": value, "n": 1}])

    assert table.splitlines()[2:] == [f"| {shown} | 1 |"]


def test_progress_is_logged_at_the_end_and_not_at_every_step(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """With one line per paper, important lines are lost among ten thousand."""
    report = progress("parsed_index", "papers")

    with caplog.at_level(logging.INFO, "rag_assets"):
        for done in range(1, 1001):
            report(done, 1000)

    assert caplog.messages == ["parsed_index: 1000 of 1000 papers"]
