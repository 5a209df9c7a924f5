"""A guardrail that breaks says why; one about the whole publishes nothing and stops what follows.

Most are broken by damaging what an earlier run published, as a bug, a hand edit or a bad disk
would; the rest by replacing the one domain function whose mistakes they are there to catch.
"""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rag_assets.answering import pipeline
from rag_assets.answering.drafts import WITHHELD
from rag_assets.core.domain import Citation, Claim
from rag_assets.core.table_files import read_provenance, write_table
from rag_assets.parsing.store import DocumentStore
from rag_assets.search.embedding.vector_cache import VectorCache
from rag_assets.search.indexing.builder import StagedIndex
from rag_assets.search.indexing.chroma import ChromaFiles
from rag_assets.search.indexing.protocols import IndexRow, Report
from rag_assets.search.indexing.tantivy_index import TantivyFiles
from rag_assets_testing.world import QUESTIONS, World

ORDER = [
    "parsed_index", "papers", "blocks", "chunks", "summaries", "passages", "embeddings", "chroma_index", "index_meta",
    "qa", "smoke_eval",
]  # fmt: skip


def damage(
    path: Path, change: Callable[[dict[str, Any]], dict[str, Any]], *, repeat: bool = False
) -> None:
    """Change the first row of a published table, or add it a second time, and leave all
    fingerprints as they are."""
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows = [*rows, rows[0]] if repeat else [change(rows[0]), *rows[1:]]
    rewrite(path, rows, table.schema)


def rewrite(path: Path, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    """Publish other rows as the pipeline would, checksum included: what is wrong with them is no
    damage to the file."""
    write_table(pa.Table.from_pylist(rows, schema), path, read_provenance(path))


def assert_withheld(world: World, check: str, *, published: dict[str, str], reason: str) -> None:
    """The check failed with a readable reason, nothing was published, nothing after it ran."""
    outcome = world.run()

    assert not outcome.is_success
    assert list(outcome.broken) == [check]
    assert reason in outcome.broken[check]
    asset = check.partition(".")[0]
    assert list(outcome.failures) == [asset]
    assert not {*ORDER[ORDER.index(asset) :]} & outcome.counts.keys(), (
        "neither it nor its children were materialized"
    )
    assert world.bytes_of(world.paths.qa) == published


def same(row: dict[str, Any]) -> dict[str, Any]:
    return row


@pytest.mark.parametrize(
    ("check", "table", "change", "reason"),
    [
        (
            "blocks.pages_within_document",
            "blocks",
            lambda row: row | {"page_start": 2, "page_end": 99},
            "99",
        ),
        ("chunks.token_bounds", "chunks", lambda row: row | {"n_tokens": 4321}, "4321"),
        ("passages.fit_the_model", "passages", lambda row: row | {"n_tokens": 999}, "999"),
    ],
)
def test_a_damaged_row_is_not_published_again(
    world: World,
    check: str,
    table: str,
    change: Callable[[dict[str, Any]], dict[str, Any]],
    reason: str,
) -> None:
    """Rows of unchanged papers are taken over; they are audited all the same."""
    published = world.bytes_of(world.paths.qa)
    damage(getattr(world.paths, table), change)

    assert_withheld(world, check, published=published, reason=reason)


@pytest.mark.parametrize(
    ("check", "table", "column"),
    [
        ("parsed_index.ids_unique", "parsed_index", "paper_id"),
        ("chunks.ids_unique", "chunks", "chunk_id"),
        ("passages.ids_unique", "passages", "passage_id"),
    ],
)
def test_a_repeated_id_is_not_published(world: World, check: str, table: str, column: str) -> None:
    """Two rows of one id overwrite each other in both indexes."""
    published = world.bytes_of(world.paths.qa)
    path: Path = getattr(world.paths, table)
    id_ = pq.read_table(path)[column][0].as_py()
    damage(path, same, repeat=True)

    assert_withheld(world, check, published=published, reason=id_)


def test_a_chunk_of_the_back_matter_is_not_published(world: World) -> None:
    """Reference lists match every question about their topics."""
    published = world.bytes_of(world.paths.qa)
    table = pq.read_table(world.paths.blocks)
    rows = table.to_pylist()
    paragraph = next(row for row in rows if row["kind"] == "paragraph")
    paragraph["zone"] = "back"
    rewrite(world.paths.blocks, rows, table.schema)

    assert_withheld(
        world, "chunks.no_back_matter", published=published, reason=paragraph["paper_id"]
    )


def test_a_vector_that_is_not_of_length_one_costs_its_paper(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cosine with everything would be wrong; one such passage kept all papers out of the
    index."""
    world.write_paper(
        "granite",
        "Granite and heat",
        "Granite loses its water slowly when it is heated from below.",
    )
    add = VectorCache.add
    monkeypatch.setattr(
        VectorCache,
        "add",
        lambda self, texts, vectors: add(self, texts, np.float32(3) * np.stack(vectors)),
    )

    outcome = world.run()

    assert outcome.is_success, outcome.failures or outcome.broken
    assert "granite" in outcome.warned["embeddings.none_quarantined"]
    assert "length 3.0000, not 1" in outcome.warned["embeddings.none_quarantined"]
    assert "12%" in world.answers()["q1"]["answer"], "the others are searched as before"
    monkeypatch.undo()
    assert "embeddings.none_quarantined" not in world.run().warned, (
        "made again as soon as they can be"
    )


@pytest.mark.parametrize(
    ("asset", "files"),
    [("chroma_index", ChromaFiles), ("bm25_index", TantivyFiles)],
    ids=["vectors", "words"],
)
def test_an_index_that_lost_a_passage_is_not_published(
    world: World, monkeypatch: pytest.MonkeyPatch, asset: str, files: Any
) -> None:
    """What is not indexed is never found, and nobody would notice."""
    folder = world.paths.chroma if asset == "chroma_index" else world.paths.bm25
    published = world.bytes_of(world.paths.qa, folder)
    world.write_paper(
        "granite",
        "Granite and heat",
        "Granite loses its water slowly when it is heated from below.",
    )
    write = files.write

    def write_fewer(self: Any, folder: Path, rows: dict[str, IndexRow], report: Report) -> int:
        n_dropped: int = write(self, folder, {id_: rows[id_] for id_ in sorted(rows)[1:]}, report)
        return n_dropped

    monkeypatch.setattr(files, "write", write_fewer)

    outcome = world.run()

    assert "missing" in outcome.broken[f"{asset}.ids_equal_passages"]
    assert not {asset, "index_meta", "qa", "smoke_eval"} & outcome.counts.keys()
    assert world.bytes_of(world.paths.qa, folder) == published, "the last good index stays"
    monkeypatch.undo()
    assert world.run().is_success, "nothing stands in the way of the next run"


def test_an_index_of_other_passages_stops_the_answers(world: World) -> None:
    """Somebody put an old index back."""
    published = world.bytes_of(world.paths.qa)
    world.write_paper(
        "granite",
        "Granite and heat",
        "Granite loses its water slowly when it is heated from below.",
    )
    manifest = world.paths.chroma / "manifest.json"

    old = json.loads(manifest.read_text()) | {"passages": "0" * 32}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StagedIndex, "publish", lambda _self: manifest.write_text(json.dumps(old)))

        assert_withheld(
            world, "index_meta.indexes_agree", published=published, reason="chroma_index"
        )


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


def with_citation(claim: Claim, **changes: Any) -> Claim:
    first: Citation = claim.citations[0]
    return replace(claim, citations=(replace(first, **changes),))


@pytest.mark.parametrize(
    ("check", "change", "reason"),
    [
        ("qa.claims_cited", lambda claim: replace(claim, citations=()), "Ferritin"),
        (
            "qa.quotes_in_source",
            lambda claim: with_citation(claim, quote="Ferritin doubled in all"),
            "doubled",
        ),
        (
            "qa.numbers_agree",
            lambda claim: replace(claim, text=claim.text.replace("12%", "21%")),
            "21%",
        ),
        ("qa.pages_hold_quotes", lambda claim: with_citation(claim, page_start=7, page_end=7), "7"),
    ],
)
def test_an_answer_that_breaks_a_promise_costs_no_other(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    check: str,
    change: Callable[[Claim], Claim],
    reason: str,
) -> None:
    """The promises must not rely on the verification they check. One answer kept all others
    back."""
    where = str(QUESTIONS[1]["question"])
    others = [QUESTIONS[1] | {"id": f"b{n}", "question": f"{where} ({n})"} for n in range(4)]
    world.write_questions([QUESTIONS[0], *others])
    sabotage_answers(monkeypatch, lambda claim: change(claim) if "erritin" in claim.text else claim)

    outcome = world.run()

    assert outcome.is_success, outcome.broken
    assert reason in outcome.warned[check]
    rows = world.answers()
    assert {row["withheld"] for name, row in rows.items() if name != "q1"} == {False}
    assert sum(bool(row["claims"]) for row in rows.values()) == len(others)
    withheld = rows["q1"]
    assert (withheld["withheld"], withheld["refused"], withheld["answer"]) == (
        True,
        False,
        WITHHELD,
    )
    assert {one["promise"] for one in withheld["left_out"]} == {check.removeprefix("qa.")}
    audited = list(csv.DictReader(world.paths.qa_audit.read_text().splitlines()))[-len(rows) :]
    assert [
        row["question_id"] for row in audited if "withheld" in (row["outcome"], row["verdict"])
    ] == ["q1"]
    assert [row["outcome"] for row in audited].count("withheld") == 1
    evaluated = json.loads((world.paths.evaluation / "latest.json").read_text())["results"]
    assert [row["question_id"] for row in evaluated if row["why"].startswith("withheld: ")] == [
        "q1"
    ]


def test_answers_that_are_mostly_withheld_do_not_take_the_place_of_good_ones(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the fault is in the code or the index, and yesterday's answers are better than none."""
    published = world.bytes_of(world.paths.qa)
    world.paths.qa_meta.unlink()
    build = pipeline.AnswerPipeline._result
    monkeypatch.setattr(
        pipeline.AnswerPipeline,
        "_result",
        lambda *arguments: replace(build(*arguments), single_source=False),
    )

    outcome = world.run()

    assert list(outcome.broken) == ["qa.few_withheld"]
    assert "basalt" in outcome.warned["qa.enough_sources"]
    assert not {"qa", "smoke_eval"} & outcome.counts.keys()
    assert world.bytes_of(world.paths.qa) == published


def test_a_metric_below_its_floor_warns_and_is_plotted_all_the_same(world: World) -> None:
    """A figure that is withheld leaves the last good one in the plot, beside a red badge that
    nobody can explain."""
    world.write_questions(
        [{"id": "q1", "question": "How much did ferritin fall?", "key_facts": [["99%"]]}]
    )

    outcome = world.run(evaluation={"floors": {"key_fact_recall": 0.9}})

    assert outcome.is_success, "an evaluation blocks nothing"
    assert "key_fact_recall" in outcome.warned["smoke_eval.above_floors"]
    assert outcome.facts["smoke_eval"]["key_fact_recall"] == 0.0
    assert outcome.facts["smoke_eval"]["verdict"] == "not accepted"
    latest = json.loads((world.paths.evaluation / "latest.json").read_text())
    assert [(row["question_id"], row["outcome"]) for row in latest["results"]] == [("q1", "wrong")]
    history = [
        json.loads(line)
        for line in (world.paths.evaluation / "history.jsonl").read_text().splitlines()
    ]
    assert [entry["accepted"] for entry in history] == [True, False]


def test_a_check_says_which_evaluation_it_is_about(world: World) -> None:
    """The second run checks the figures of the first again: both must be told apart, and the newest
    be named so."""
    floors = {"evaluation": {"floors": {"key_fact_recall": 0.9}}}
    world.write_questions(
        [{"id": "q1", "question": "How much did ferritin fall?", "key_facts": [["99%"]]}]
    )

    none = {"key_fact_recall": 0, "answer_in_context": 0}
    first, second = world.run(**floors), world.run(**floors)
    lowered = world.run(evaluation={"floors": none})

    [of_first, of_second, of_lowered] = [
        outcome.facts["smoke_eval"]["evaluated"] for outcome in (first, second, lowered)
    ]
    assert of_first == of_second != of_lowered
    history = [
        json.loads(line)
        for line in (world.paths.evaluation / "history.jsonl").read_text().splitlines()
    ]
    assert [entry["accepted"] for entry in history] == [True, False, True], (
        "a lower floor is a new verdict"
    )
    assert of_lowered == f"{history[-1]['timestamp']} in run {history[-1]['run_id']}"
    _, *evaluations = (
        lowered.facts["smoke_eval"]["history"].splitlines()[0].strip("| ").split(" | ")
    )
    told = [
        f"{entry['timestamp'][:19].replace('T', ' ')}, run {entry['run_id'][:8]}"
        for entry in history
    ]
    assert evaluations == told[::-1], "newest first"
    key = dg.AssetCheckKey(dg.AssetKey("smoke_eval"), "above_floors")
    record = world.instance.get_latest_asset_check_evaluation_record(key)
    assert record is not None
    assert record.event is not None
    evaluation = record.event.asset_check_evaluation  # type: ignore[union-attr]
    checked = evaluation.metadata
    target = evaluation.target_materialization_data
    assert target is not None
    assert target.run_id == record.run_id, "Dagster shows it beside the figures of its own run"
    assert str(checked["evaluated"].value) == of_lowered
    assert record.run_id in str(checked["checked"].value)


def test_an_unmounted_papers_folder_empties_nothing(world: World) -> None:
    """All papers, vectors and answers would be lost, with "success" as the last word."""
    papers, away = world.paths.papers, world.paths.data / "away"
    readings = DocumentStore(world.paths.kept).readings
    sha256 = pq.read_table(world.paths.parsed_index, columns=["sha256"])["sha256"][0].as_py()
    readings.put_all({f"{sha256}.of-a-service": b"x", "of-a-pdf-that-is-gone.of-a-service": b"x"})
    assert world.run("parsed_index").is_success
    assert readings.keys() == {f"{sha256}.of-a-service"}
    papers.rename(away)
    papers.mkdir()
    published = world.bytes_of(world.paths.qa)

    assert_withheld(world, "parsed_index.most_papers_stay", published=published, reason="ferritin")
    confirmed = world.run(*ORDER[:7], execution={"allow_removal": True})
    papers.rmdir()
    away.rename(papers)
    back = world.run()

    assert confirmed.facts["embeddings"]["dagster/row_count"] == 0
    assert back.is_success, back.broken
    assert back.facts["embeddings"]["n_embedded"] == 0, (
        "vectors of vanished papers are kept for a while"
    )
    assert world.bytes_of(world.paths.qa) == published
    assert readings.keys() == {f"{sha256}.of-a-service"}
