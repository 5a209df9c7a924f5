"""A guardrail that breaks says why; one about the whole publishes nothing and stops what follows.

Most are broken by damaging what an earlier run published, as a bug, a hand edit or a bad disk
would; the rest by replacing the one domain function whose mistakes they are there to catch.
"""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rag_assets.answering import pipeline
from rag_assets.answering.drafts import WITHHELD
from rag_assets.core.domain import Claim
from rag_assets.core.table_files import read_provenance, write_table
from rag_assets_testing.world import QUESTIONS, World


def test_a_damaged_row_is_not_published_again(world: World) -> None:
    """Rows of unchanged papers are taken over; they are audited all the same."""
    published = world.bytes_of(world.paths.qa)
    path = world.paths.passages
    table = pq.read_table(path)
    rows = [table.to_pylist()[0] | {"n_tokens": 999}, *table.to_pylist()[1:]]
    write_table(pa.Table.from_pylist(rows, table.schema), path, read_provenance(path))

    outcome = world.run()

    assert not outcome.is_success
    assert list(outcome.broken) == ["passages.fit_the_model"]
    assert "999" in outcome.broken["passages.fit_the_model"]
    assert list(outcome.failures) == ["passages"]
    assert outcome.counts.keys().isdisjoint({"passages", "embeddings", "chroma_index", "qa"}), (
        "neither it nor its children were materialized"
    )
    assert world.bytes_of(world.paths.qa) == published


def sabotage_answers(monkeypatch: pytest.MonkeyPatch, change: Callable[[Claim], Claim]) -> None:
    """Let the engine's own verification pass everything through, changed."""
    verify = pipeline.verify

    def careless(*arguments: Any) -> Any:
        verified = verify(*arguments)
        outcomes = [
            replace(one, claim=change(one.claim)) if one.claim else one for one in verified.outcomes
        ]
        return replace(verified, outcomes=tuple(outcomes))

    monkeypatch.setattr(pipeline, "verify", careless)


def test_an_answer_that_breaks_a_promise_costs_no_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The promises must not rely on the verification they check. One answer kept all others
    back."""
    where = str(QUESTIONS[1]["question"])
    others = [QUESTIONS[1] | {"id": f"b{n}", "question": f"{where} ({n})"} for n in range(4)]
    world.write_questions([QUESTIONS[0], *others])
    sabotage_answers(
        monkeypatch, lambda claim: replace(claim, text=claim.text.replace("12%", "21%"))
    )

    outcome = world.run()

    assert outcome.is_success, outcome.broken
    assert "21%" in outcome.warned["qa.numbers_agree"]
    rows = world.answers()
    assert {row["withheld"] for name, row in rows.items() if name != "q1"} == {False}
    assert sum(bool(row["claims"]) for row in rows.values()) == len(others)
    withheld = rows["q1"]
    assert (withheld["withheld"], withheld["refused"], withheld["answer"]) == (
        True,
        False,
        WITHHELD,
    )
    assert {one["promise"] for one in withheld["left_out"]} == {"numbers_agree"}
    audited = list(csv.DictReader(world.paths.qa_audit.read_text().splitlines()))[-len(rows) :]
    assert [
        row["question_id"] for row in audited if "withheld" in (row["outcome"], row["verdict"])
    ] == ["q1"]
    assert [row["outcome"] for row in audited].count("withheld") == 1
    evaluated = json.loads((world.paths.evaluation / "latest.json").read_text())["results"]
    assert [row["question_id"] for row in evaluated if row["why"].startswith("withheld: ")] == [
        "q1"
    ]
