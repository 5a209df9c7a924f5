"""The folder one stands in is somebody else's: what its `.env` and `rag_assets.toml` may do with
the user's keys."""

import logging
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import (
    EmbeddingSettings,
    ModelAccessSettings,
    Settings,
    addresses,
    load_settings,
)
from rag_assets.core.workforce.cluster import DaskCluster
from rag_assets.hosted.access import PROVIDERS, require_access
from rag_assets.hosted.connections import Connections
from rag_assets.parsing import grobid
from rag_assets.pipeline.assets.automation import failure_sensors
from rag_assets.search.embedding.providers import open_embedder
from rag_assets.search.indexing.qdrant.connection import connect
from rag_assets_testing.listening import free_port
from rag_assets_testing.wire import ProtocolName, WireServer, use_wire_environment
from rag_assets_tests.search.indexing.qdrant_server import qdrant_server

MODELS: dict[ProtocolName, str] = {
    "google": "google:gemini-embedding-001",
    "openai": "openai:text-embedding-3-small",
    "ollama": "ollama:nomic-embed-text",
}


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where one stands; no provider has a key or an address in the environment, and nothing was
    told yet."""
    use_wire_environment(monkeypatch)
    for name in ("OLLAMA_API_KEY", "QDRANT_API_KEY", "RAG_ASSETS_CONFIG", "SMTP_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    addresses._warn_once.cache_clear()
    return tmp_path


@pytest.fixture(params=MODELS)
def server(request: pytest.FixtureRequest) -> Iterator[WireServer]:
    with WireServer(request.param) as server:
        yield server


def ask_for_a_vector(server: WireServer, folder: Path) -> None:
    settings = EmbeddingSettings(model=MODELS[server.protocol_name])
    with Connections(ModelAccessSettings()) as connections:
        open_embedder(settings, folder, n_threads=1, connections=connections).embed_query("iron")


def test_a_key_of_the_environment_never_goes_to_an_address_of_a_file_in_the_folder(
    server: WireServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who unpacks an archive and asks a question in it gave away the key, and the papers, without a
    word."""
    address, key = server.protocol.base_url_variable, server.protocol.key_variable
    (folder / ".env").write_text(f"{address}={server.base_url}\n")
    monkeypatch.setenv(key, "of-the-user")

    with pytest.raises(InvalidSettings) as raised:
        ask_for_a_vector(server, folder)

    assert not server.requests
    names = " or ".join(PROVIDERS[server.protocol_name].key_variables)
    assert str(raised.value) == (
        f"{folder}/.env sets {address} to {server.base_url.split('/')[2]}, and {names} is in the environment. Nothing "
        "was sent: a key goes only to an address from the same place. If you trust the address, "
        f"write the key for it into {folder}/.env, or move the address to the environment; if not, delete it."
    )


def test_an_address_of_the_folder_gets_the_key_beside_it_and_is_told_once(
    server: WireServer,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A server of one's own in the `.env` of the project works as before, whatever key the shell
    has; and nobody's papers go anywhere in silence."""
    address, key = server.protocol.base_url_variable, server.protocol.key_variable
    (folder / ".env").write_text(f"{address}={server.base_url}\n{key}={server.key}\n")
    monkeypatch.setenv(key, "of-the-user")

    ask_for_a_vector(server, folder)
    ask_for_a_vector(server, folder)

    assert {request.key for request in server.requests} == {server.key}
    where = server.base_url.split("/")[2]
    assert [line for line in caplog.messages if "sets" in line] == [
        f"{folder}/.env sets {address} to {where}. Delete it if it is not yours."
    ]


def test_what_dagster_takes_from_the_folder_into_the_environment_is_still_of_the_folder(
    server: WireServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does so with each line of a `.env`, in the processes of its UI, where runs are made."""
    address, key = server.protocol.base_url_variable, server.protocol.key_variable
    (folder / ".env").write_text(f"{address}={server.base_url}\n")
    monkeypatch.setenv(address, server.base_url)
    monkeypatch.setenv(key, server.key)

    with pytest.raises(InvalidSettings, match="Nothing was sent"):
        ask_for_a_vector(server, folder)

    assert not server.requests


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_providers_own_address_may_stand_anywhere(
    provider: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Templates of `.env` files list it, and the key goes there in any case."""
    facts = PROVIDERS[provider]
    (folder / ".env").write_text(f"{facts.base_url_variable}={facts.base_url}/\n")
    monkeypatch.setenv(facts.key_variables[0], "of-the-user")

    key = require_access(provider).key

    assert key is not None
    assert key.get_secret_value() == "of-the-user"


@pytest.mark.parametrize(
    ("file", "written"),
    [
        (".env", "RAG_ASSETS_INDEXING__QDRANT__URL={}"),
        (".env", 'RAG_ASSETS_INDEXING=\'{{"qdrant": {{"url": "{}"}}}}\''),
        ("rag_assets.toml", 'indexing.qdrant.url = "{}"'),
    ],
)
def test_the_key_of_a_vector_store_stays_with_the_user_too(
    file: str, written: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same by way of the settings, in each way to write them."""
    monkeypatch.setenv("QDRANT_API_KEY", "of-the-user")
    with qdrant_server() as server:
        (folder / file).write_text(written.format(server.url))
        qdrant = load_settings().indexing.qdrant

        with pytest.raises(InvalidSettings, match=r"indexing.qdrant.url to .*Nothing was sent"):
            connect(qdrant, folder)

        (folder / ".env").unlink(missing_ok=True)
        monkeypatch.setenv("RAG_ASSETS_INDEXING__QDRANT__URL", server.url)
        assert connect(load_settings().indexing.qdrant, folder)._key == "of-the-user"


def test_a_settings_file_that_the_environment_names_is_the_users_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Servers keep their settings in a file and their keys in the environment."""
    (folder / "rag_assets.toml").write_text('indexing.qdrant.url = "http://127.0.0.1:1"')
    monkeypatch.setenv("RAG_ASSETS_CONFIG", "rag_assets.toml")
    monkeypatch.setenv("QDRANT_API_KEY", "of-the-user")

    assert connect(load_settings().indexing.qdrant, folder)._key == "of-the-user"


def test_an_address_for_one_run_is_the_users_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who types an address means it, whatever the folder says."""
    (folder / "rag_assets.toml").write_text('indexing.qdrant.url = "http://127.0.0.1:1"')
    monkeypatch.setenv("QDRANT_API_KEY", "of-the-user")

    settings = load_settings({"indexing": {"qdrant": {"url": "http://127.0.0.1:2"}}})

    assert connect(settings.indexing.qdrant, folder)._key == "of-the-user"


def ask_grobid(settings: Settings) -> None:
    async def connected() -> None:
        async with grobid._connected(settings.parsing):
            pass

    anyio.run(connected)


def ask_the_cluster(settings: Settings) -> None:
    with pytest.raises(Exception, match="does not answer"):
        DaskCluster(settings.execution.cluster, patience_s=0.2)._connected()


@pytest.mark.parametrize(
    ("written", "use", "told"),
    [
        ('parsing.grobid = "http://{}"', ask_grobid, "parsing.grobid to {}."),
        (
            'execution.cluster = "tcp://{}"',
            ask_the_cluster,
            "execution.cluster to {}.",
        ),
        (
            'automation.notify = ["email:a@{}"]',
            lambda settings: failure_sensors(settings.automation.notify),
            "automation.notify to ['email:a@{}'].",
        ),
    ],
)
def test_other_addresses_of_the_folder_are_told_before_they_are_used(
    written: str,
    use: "object",
    told: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """They need no key, and get papers all the same."""
    monkeypatch.setenv("SMTP_URL", "smtps://me:secret-word@mail.example.org")
    where = f"127.0.0.1:{free_port()}"
    (folder / "rag_assets.toml").write_text(written.format(where))
    caplog.set_level(logging.WARNING)

    use(load_settings())

    assert (
        f"{folder}/rag_assets.toml sets {told.format(where)} Delete it if it is not yours."
        in caplog.messages
    )


def test_a_mail_server_of_the_folder_is_told_without_its_password(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It would read why runs fail, and be nobody's."""
    (folder / ".env").write_text("SMTP_URL=smtps://me:secret-word@mail.example.org:465\n")

    failure_sensors(["email:lab@example.org"])

    assert (
        f"{folder}/.env sets SMTP_URL to mail.example.org:465. Delete it if it is not yours."
        in caplog.messages
    )
    assert "secret-word" not in caplog.text
