"""A run that is killed without warning: the next one finishes the work, repeats no finished batch
and ends the same.

The killed runs are real processes. When to kill is read from the files of the stage, many small
batches leave time for it, and a run that was faster than the test is started again on a fresh copy.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from rag_assets.core.incremental import LOCK_NAME, STAGED_SUFFIX
from rag_assets.search.embedding.missing_vectors import EMBEDDING_BATCH
from rag_assets_testing.world import QUESTIONS, TOPICS, World, made_once
from rag_assets_tests.end_to_end.damage import vectors
from rag_assets_tests.faces.cli.processes import DEADLINE_S, environment
from rag_assets_tests.kept_entries import contents
from rag_assets_tests.search.indexing.folders import indexed

CODE = """
from rag_assets.core import paper_tables
from rag_assets.search.embedding import missing_vectors
from rag_assets.search.indexing import chroma

chroma.BATCH = 1
paper_tables.SPLIT_AT = 2  # the run after the kill makes one file of each table again
missing_vectors.EMBEDDING_BATCH = {batch}
from rag_assets.faces.cli import app

app(prog_name="rag-assets")
"""
ROCKS = ("andesite", "chalk", "gneiss", "marble")
SMALL_BATCH = 2
TOKENIZER = {"tokenizer": "wordpiece"}
N_TRIES = 5


@pytest.fixture(scope="session")
def undisturbed(for_all_processes: Path, built_model: Path) -> World:
    """Seven papers and as many questions, materialized in one run of usual batches. Not to be
    changed."""
    rocks = {
        rock: (f"The weathering of {rock}", f"{rock.title()} turns red when it lies in wet sand.")
        for rock in ROCKS
    }
    asked = [
        {"id": rock, "question": f"When does {rock} turn red?", "paper_ids": [rock]}
        for rock in ROCKS
    ]

    def make(world: World) -> None:
        world.use_models(built_model)
        for paper_id, (title, fact) in {**TOPICS, **rocks}.items():
            world.write_paper(paper_id, title, fact)
        world.write_questions([*QUESTIONS, *asked])
        outcome = world.run(chunking=TOKENIZER)
        assert outcome.is_success, outcome.failures or outcome.broken
        assert [name for name, answer in world.answers().items() if answer["refused"]] == ["q3"]

    return made_once(for_all_processes / "undisturbed", make)


def test_a_run_killed_while_embedding_goes_on_with_the_next_batch(
    undisturbed: World, tmp_path: Path
) -> None:
    """Ten thousand papers are hours of embedding; a power cut must cost one batch of them."""
    world = killed_while_embedding(undisturbed, tmp_path)
    n_kept = n_vectors(world)

    outcome = world.run(chunking=TOKENIZER)

    assert outcome.is_success, outcome.failures or outcome.broken
    n_wanted = outcome.facts["embeddings"]["dagster/row_count"]
    assert 2 * SMALL_BATCH <= n_kept < n_wanted
    assert outcome.counts["embeddings"][0] == n_wanted - n_kept, "only what the kill left undone"
    assert_same_end(world, undisturbed)


def test_two_runs_over_one_data_folder_wait_for_each_other(
    undisturbed: World, tmp_path: Path
) -> None:
    """The nightly run and an impatient user; Chroma and the journal have room for one writer."""
    world = undisturbed.copy_to(tmp_path)
    world.write_paper("slate", "The weathering of slate", "Slate splits when it freezes.")
    logs = [tmp_path / f"{name}.log" for name in ("first", "second")]

    with FileLock(world.paths.data / LOCK_NAME):  # both must wait here, so that they surely meet
        runs = [started(world, log, "--select", "+chunks") for log in logs]
        try:
            wait_until(
                lambda: all("Another run is writing" in log.read_text() for log in logs), runs
            )
        except BaseException:
            end(runs)
            raise
    codes = [run.wait(DEADLINE_S) for run in runs]

    assert codes == [0, 0], [log.read_text() for log in logs]
    counts = sorted(
        asset_counts(tmp_path / f"{name}.out", "chunks") for name in ("first", "second")
    )
    n_papers = len(list(world.paths.papers.iterdir()))
    assert counts == [(0, n_papers), (1, n_papers - 1)], (
        "one did everything, the other found nothing to do"
    )


def killed_while_embedding(undisturbed: World, root: Path) -> World:
    """A world in which a run was killed when some vectors were made, and not all."""
    for number in range(N_TRIES):
        world = undisturbed.copy_to(root / f"try{number}")
        unmake_everything(world)
        run = started(world, root / f"try{number}.log", batch=SMALL_BATCH)
        try:
            wait_until(lambda: n_vectors(world) >= 2 * SMALL_BATCH, [run])  # noqa: B023 - called before the next round
        finally:
            end([run])
        if not world.paths.chroma.exists():
            return world
    pytest.fail(f"{N_TRIES} runs were all finished before they could be killed")


def unmake_everything(world: World) -> None:
    """Leave papers and questions, and the model that was built once for all tests."""
    for folder in ("index", "output", "logs"):
        shutil.rmtree(world.paths.data / folder)
    for path in world.paths.cache.iterdir():
        if path.is_file():
            path.unlink()
        elif path != world.paths.models:
            shutil.rmtree(path)


def started(
    world: World, log: Path, *arguments: str, batch: int = EMBEDDING_BATCH
) -> subprocess.Popen[bytes]:
    """`rag-assets run --json` on that world; stderr goes into `log`, stdout into a file .out beside
    it."""
    command = [sys.executable, "-c", CODE.format(batch=batch), "run", "--json", *arguments]
    home = {"DAGSTER_HOME": str(world.paths.data.parent / "home")}
    with log.open("wb") as err, log.with_suffix(".out").open("wb") as out:
        return subprocess.Popen(
            command,
            env=environment(world.paths.data, home),
            stdout=out,
            stderr=err,
            start_new_session=True,
        )


def wait_until(happened: Callable[[], bool], runs: list[subprocess.Popen[bytes]]) -> None:
    """Look until it happened; a run that ends before has nothing more to show."""
    deadline = time.monotonic() + DEADLINE_S
    while not happened():
        if any(run.poll() is not None for run in runs):
            return
        assert time.monotonic() < deadline, "the runs never came as far as this test needs them"
        time.sleep(0.01)


def end(runs: list[subprocess.Popen[bytes]]) -> None:
    """Kill the runs and the workers they started, without a chance to tidy up."""
    for run in runs:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
        run.wait(DEADLINE_S)


def assert_same_end(world: World, undisturbed: World) -> None:
    """Every file a run publishes is the same byte for byte, the indexes hold the same, and nothing
    is left over."""
    assert published(world) == published(undisturbed)
    for folder in ("chroma", "bm25"):
        entries = [indexed(getattr(one.paths, folder)) for one in (world, undisturbed)]
        assert entries[0] == entries[1], folder
    left_over = [
        path
        for path in world.paths.data.rglob("*")
        if STAGED_SUFFIX in path.suffixes or "pending" in path.name
    ]
    assert left_over == []


def published(world: World) -> dict[str, str]:
    paths = world.paths
    tables = [
        paths.parsed_index,
        paths.blocks,
        paths.chunks,
        paths.passages,
        paths.chunk_stats,
        paths.index_meta,
        paths.examples,
    ]
    files = world.bytes_of(*tables, paths.qa, paths.qa_meta)
    kept = {str(key): content for key, content in vectors(world).items()}
    replies = contents(paths.kept, "answers")
    return files | kept | {key: reply.hex() for key, reply in replies.items()}


def n_vectors(world: World) -> int:
    """Vectors that are saved; the run that is to be killed may be writing just now."""
    return sum(kind.startswith("vectors ") for kind, _ in vectors(world))


def asset_counts(report: Path, asset: str) -> tuple[int, int]:
    """Added and unchanged of one asset in the JSON report of a run."""
    facts = {one["asset"]: one["facts"] for one in json.loads(report.read_text())["assets"]}
    return facts[asset]["n_added"], facts[asset]["n_unchanged"]
