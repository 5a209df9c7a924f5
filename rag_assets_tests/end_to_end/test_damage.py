"""What was made here and is damaged at rest is noticed by the next run and made anew from what is
whole."""

import csv
import logging
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rag_assets.core.errors import MissingInput
from rag_assets.core.settings import Settings
from rag_assets.evaluation.history import append_history, read_history
from rag_assets.faces.cli.folder_facts import status_facts
from rag_assets.hosted.connections import Connections
from rag_assets.search.retrieval.opening import open_searcher
from rag_assets_testing.world import TOKENIZER, World
from rag_assets_tests.end_to_end.damage import KINDS, deleted, made_files, state
from rag_assets_tests.rounds import first_of


@pytest.mark.parametrize("turn", first_of(range(len(KINDS))))
def test_one_run_mends_every_kind_of_damage(
    built: World, tmp_path: Path, turn: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Half a table stops every later run, and a flipped bit in an index is searched as it is.

    Each run finds all files damaged, one after the other in another way, and five turns give each
    file each damage.
    """
    world = built.copy_to(tmp_path)
    for nth, name in enumerate(made_files(world)):
        KINDS[(nth + turn) % len(KINDS)](world.paths.data / name)

    with caplog.at_level(logging.WARNING, "rag_assets"):
        outcome = world.run()

    assert outcome.is_success, outcome.failures or outcome.broken
    assert state(world) == state(built)
    assert "damaged" in caplog.text


def test_searching_beside_damage_goes_on_or_says_what_to_run(
    built: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A Rust backtrace, or an answer from garbled bytes, is what a user would get instead."""
    world = built.copy_to(tmp_path)
    settings = Settings.model_validate({"data_dir": world.paths.data, **TOKENIZER})
    for nth, name in enumerate(made_files(world)):
        path = world.paths.data / name
        whole = path.read_bytes()
        KINDS[nth % len(KINDS)](path)
        if (
            path.exists() and path.read_bytes() == whole
        ):  # an empty file, or one of zeros that was zeroed
            deleted(path)
        caplog.clear()

        try:
            with (
                Connections(settings.model_access) as models,
                open_searcher(settings, models) as searcher,
            ):
                passages = searcher.library.passages(range(searcher.library.n_passages))
                searcher.library.chunks(passage.chunk_id for passage in passages)
                says = caplog.text
        except MissingInput as error:
            says = str(error)
        status_facts(settings)

        in_set = name.removeprefix("index/published_set/")
        if in_set == name or in_set == "index_meta.json":
            assert says == "", name
        elif "/" in in_set:
            assert "rag-assets" in says, name
        else:
            assert "rag-assets" in says or pq.read_table(path).equals(
                pq.read_table(pa.BufferReader(whole))
            ), name
        path.write_bytes(whole)


def test_all_logs_name_a_question_file_alike(built: World) -> None:
    """The rows of one file are joined by its name."""
    logs = (built.paths.qa_audit, built.paths.evaluation_audit)
    for log in logs:
        rows = csv.DictReader(log.read_text("utf-8-sig").splitlines())
        assert {row["question_file"] for row in rows} == {"questions/smoke.jsonl"}, log


def test_a_damaged_line_of_a_log_costs_none_of_the_others(built: World, tmp_path: Path) -> None:
    """Logs cannot be made anew: what is whole stays, and what is not is kept for whoever can read
    it."""
    world = built.copy_to(tmp_path)
    history, audit = world.paths.evaluation / "history.jsonl", world.paths.qa_audit
    metrics = world.paths.evaluation_audit
    append_history(history, read_history(history)[0] | {"run_id": "another"})
    before = audit.read_bytes().splitlines()
    for path, line in ((history, 0), (audit, 2), (metrics, 2)):
        lines = path.read_bytes().splitlines()
        lines[line] = lines[line].replace(b"0", b"1", 1)
        path.write_bytes(b"\n".join(lines) + b"\n")

    assert world.run().is_success

    assert [entry["run_id"] for entry in read_history(history)] == ["another"]
    assert history.with_name("history.damaged.jsonl").read_bytes().count(b"\n") == 1
    after = audit.read_bytes().splitlines()
    assert [line in after for line in before] == [nth != 2 for nth in range(len(before))]
    assert audit.with_name("qa_audit.damaged.csv").read_bytes().count(b"\n") == 1
    assert metrics.with_name("eval_audit.damaged.csv").read_bytes().count(b"\n") == 1
