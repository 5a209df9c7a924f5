"""Data folders that earlier versions made are run by this one; those of newer versions are left
alone."""

import csv
import json
import tarfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.settings import load_settings
from rag_assets.evaluation.history import read_history
from rag_assets.library.verification import damages
from rag_assets.pipeline.runs.materialize import materialize
from rag_assets.questions.conversations import Conversations
from rag_assets_testing.wire import Reply, Step
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.quoting_model import Prompt, quoting_model
from rag_assets_testing.world import World
from rag_assets_tests.parsing.reading_server import reading_server
from rag_assets_tests.rounds import first_of

FOLDERS = Path(__file__).with_name("earlier_versions")
MODEL = {"model": "openai:gpt-5-mini"}
QUESTIONS = {
    "How much did ferritin fall in runners within a month?",
    "Who composed the opera about the queen?",
}
"""Questions of the question file that the template does not ask, too."""


def unpacked(commit: str, root: Path, models: Path) -> World:
    with tarfile.open(FOLDERS / f"{commit}.tar.xz") as archive:
        archive.extractall(root, filter="data")
    world = World(root)
    with suppress(FileNotFoundError):
        world.paths.models.rename(root / "models")
    world.use_models(models)
    for folder in (root / "models").glob("*"):
        folder.rename(world.paths.models / folder.name)
    return world


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def a_model(request: WireRequest) -> Step:
    is_question = "Question: " in request.prompt
    return quoting_model(request) if is_question else Reply(json.dumps({"summary": "On stones."}))


def rows_of(log: Path) -> list[list[str]]:
    return list(csv.reader(log.read_text("utf-8-sig").splitlines()))


@pytest.mark.parametrize(
    ("commit", "port", "asked_again"),
    first_of(
        [
            ("95c75ce3", 28510, QUESTIONS),
            ("5fd45a1f", 28520, QUESTIONS),
            ("da618dae", 28530, QUESTIONS),
            ("fa7945fb", 28540, set()),
        ]
    ),
)
def test_the_folder_of_an_earlier_version_is_run_and_nothing_paid_for_is_lost(
    commit: str,
    port: int,
    asked_again: set[str],
    built: World,
    built_model: Path,
    tmp_path: Path,
    wire: Callable[..., Any],
) -> None:
    """An upgrade that needs `clear` costs all replies, vectors, readings and the history.

    asked_again: questions whose prompt is another one since then, so that no reply to it is known.
    """
    world = unpacked(commit, tmp_path, built_model)
    paths = world.paths
    history, audited = paths.evaluation_history.read_bytes(), rows_of(paths.qa_audit)
    runs = sorted((paths.evaluation / "runs").glob("*"))
    trash = sorted(path for path in paths.trash.rglob("*") if path.is_file())

    server = wire("openai", port=port)
    server.answer_by(a_model)
    with reading_server(port + 1) as reader:
        settings: dict[str, Any] = {
            "data_dir": str(paths.data),
            "embedding": {"model": "openai:text-embedding-3-small", "dimensions": 16},
            "answering": MODEL,
            "summaries": MODEL,
            "chunking": {"tokenizer": "wordpiece"},
            "parsing": {"grobid": reader.address},
        }
        report = materialize(None, settings)

    assert report.is_success, report.errors
    assert reader.n_pdfs == 0, "the PDF was read by GROBID"
    facts = {one.asset: one.facts for one in report.assets}
    assert facts["embeddings"]["n_added"] == 0, "vectors were kept"
    chats = [request for request in server.requests if request.kind == "chat"]
    assert all("Question: " in request.prompt for request in chats), "summaries were kept"
    assert {Prompt.of(request).question for request in chats} & QUESTIONS == asked_again
    assert list(damages(load_settings(settings))) == []
    # a log with other columns is kept under another name
    logs = [rows_of(file) for file in paths.qa_audit.parent.glob(f"{paths.qa_audit.stem}*")]
    assert any(rows[: len(audited)] == audited for rows in logs)
    assert paths.evaluation_history.read_bytes().startswith(history)
    assert len(read_history(paths.evaluation_history)) > len(history.splitlines())
    assert sorted((paths.evaluation / "runs").glob("*")) == runs != []
    assert sorted(path for path in paths.trash.rglob("*") if path.is_file()) == trash != []
    with Conversations(paths.conversations) as conversations:
        (winter,) = conversations.list()
        assert len(conversations.get(winter.conversation_id).turns) == 2
    assert names(paths.cache) <= names(built.paths.cache) | {paths.version.name}
    assert names(paths.models) == names(built.paths.models)
    assert "## Clay" in (paths.reports / "overview.md").read_text("utf-8")
