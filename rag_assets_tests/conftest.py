"""What every test may rely on: no network, no settings but the test's own."""

import gc
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from filelock import FileLock

from rag_assets.core.settings import EmbeddingSettings
from rag_assets.questions import ReadQuestion, read
from rag_assets.search.embedding.providers import open_embedder
from rag_assets.search.reranking.trained_reader import PrecededText, TrainedReader
from rag_assets.search.retrieval.question_reader import open_question_reader
from rag_assets_testing.wire import ProtocolName, Wire, WireServer, use_wire_environment

_OBJECTS_BETWEEN_COLLECTIONS = 50_000


def pytest_configure() -> None:
    """Python looks for garbage more seldom than after each 700 objects: looking took a tenth of the
    processor time. Random examples have no limit of time, which a busy machine would exceed."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    hypothesis.settings.register_profile("untimed", deadline=None)
    hypothesis.settings.load_profile("untimed")


def pytest_collection_finish() -> None:
    """Thousands of collected tests stay to the end: they need not be looked through again."""
    gc.freeze()


class NetworkRefused(AssertionError):
    """A test tried to leave the machine."""


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only local sockets may connect, so that no test depends on, or leaks to, anything outside."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in {"127.0.0.1", "::1", "localhost"}:
            raise NetworkRefused(f"a test tried to connect to {address!r}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(scope="session")
def no_settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty rag_assets.toml. Not to be changed."""
    config = tmp_path_factory.mktemp("settings") / "none.toml"
    config.touch()
    return config


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, no_settings: Path) -> None:
    """Neither the developer's environment nor a rag_assets.toml beside the project reaches a
    test."""
    for name in ("RAG_ASSETS_DATA_DIR", "RAG_ASSETS_CONFIG", "DAGSTER_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RAG_ASSETS_CONFIG", str(no_settings))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(autouse=True)
def _own_log_level() -> None:
    """Dagster sets the level of our loggers when a run begins, and leaves it so for the tests that
    follow."""
    logging.getLogger("rag_assets").setLevel(logging.NOTSET)


@pytest.fixture(scope="session")
def for_all_processes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this test run share, when tests run side by side."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def reading(built_model: Path) -> ReadQuestion:
    """Reads questions as an engine does, with the trained network."""
    return partial(read, model=open_question_reader(built_model).asked)


@pytest.fixture(scope="session")
def built_model(for_all_processes: Path) -> Path:
    """The models folder of a data folder, with the default models in it. Not to be changed."""
    folder = for_all_processes / "built model"
    with FileLock(for_all_processes / "built model.lock"):
        open_embedder(EmbeddingSettings(), folder, n_threads=1).embed_query("ferritin")
        TrainedReader(folder, n_threads=1).scores("ferritin?", [PrecededText("ferritin")])
    return folder


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """Begins a server that speaks the protocol of a provider, and points the provider's SDK to it
    until the test is over."""
    with ExitStack() as stack:
        servers: list[WireServer] = []

        def begin(provider: ProtocolName = "openai", **how: Any) -> WireServer:
            servers.append(stack.enter_context(WireServer(provider, **how)))
            use_wire_environment(monkeypatch, *servers)
            return servers[-1]

        yield begin
