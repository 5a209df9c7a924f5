"""What Qdrant alone can do wrong: a server that fails half way, refuses, or is shared with
others."""

import logging
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import models

from rag_assets.core.errors import (
    RagAssetsError,
    StaleIndex,
    StoreRefused,
    StoreUnavailable,
)
from rag_assets.core.settings import Settings
from rag_assets.search.indexing.folders import FolderIndex
from rag_assets.search.indexing.protocols import VectorStore
from rag_assets.search.indexing.qdrant import store
from rag_assets.search.indexing.qdrant.files import collection_in
from rag_assets.search.indexing.stores import vector_index
from rag_assets_tests.search.indexing.folders import update_index
from rag_assets_tests.search.indexing.qdrant_server import QdrantServer, Reply, qdrant_server
from rag_assets_tests.search.indexing.rows import (
    bag_of_words,
    fingerprints_of,
    numbered_rows,
    vectors_of,
)

KEY = "a-key-that-nobody-may-see"
WITHOUT_SERVER = 'indexing.vector_store = "chroma" needs no server.'


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    with qdrant_server() as running:
        yield running


def index_of(data: Path, url: str, model: str = "m", **qdrant: Any) -> FolderIndex[VectorStore]:
    """As a process that has just begun would open it."""
    settings = {"vector_store": "qdrant", "qdrant": {"url": url, **qdrant}}
    return vector_index(
        Settings.model_validate({"data_dir": data, "indexing": settings}), model, vectors_of
    )


def collections(server: QdrantServer) -> list[str]:
    return sorted(one.name for one in server.stored.get_collections().collections)


def seen(index: FolderIndex[VectorStore]) -> set[str]:
    """Passages that a search finds."""
    return {hit.passage_id for hit in index.open().search(bag_of_words("sample"), 1000)}


def test_whichever_request_fails_readers_see_a_whole_version_and_the_next_run_completes(
    tmp_path: Path, server: QdrantServer
) -> None:
    """A run can be killed between any two requests, and a server can die at each."""
    old, new = numbered_rows(12), numbered_rows(12, start=6)
    before, index = index_of(tmp_path, server.url), index_of(tmp_path, server.url)
    update_index(before, numbered_rows(3))
    n_failures = 0
    while True:
        update_index(before, old)
        left = iter(range(n_failures))
        server.misbehave = lambda request, left=left: (
            None if next(left, None) is not None else (500, {})
        )
        try:
            update_index(index, new)
            break
        except StoreUnavailable:
            n_failures += 1
        finally:
            server.misbehave = lambda request: None
        assert seen(before) == set(fingerprints_of(old))
        update_index(index, new)
        assert seen(before) == set(fingerprints_of(new))
        assert index.is_intact()

    assert n_failures > 8
    assert seen(index_of(tmp_path, server.url)) == set(fingerprints_of(new))
    assert len(collections(server)) == 2


def test_two_data_folders_and_a_copy_do_not_meet_on_one_server(
    tmp_path: Path, server: QdrantServer
) -> None:
    """A corpus would answer from the passages of another one, and nothing would show it."""
    one, two, copy = (index_of(tmp_path / name, server.url) for name in ("one", "two", "copy"))
    update_index(one, numbered_rows(12))
    update_index(two, numbered_rows(5, start=50))
    shutil.copytree(tmp_path / "one", tmp_path / "copy")

    for index, n_rows in ((copy, 7), (copy, 8), (one, 14), (one, 13)):
        update_index(index, numbered_rows(n_rows))

    assert seen(one) == set(fingerprints_of(numbered_rows(13)))
    assert seen(two) == set(fingerprints_of(numbered_rows(5, start=50)))
    assert seen(copy) == set(fingerprints_of(numbered_rows(8)))


def test_versions_of_another_model_are_deleted_and_foreign_collections_stay(
    tmp_path: Path, server: QdrantServer
) -> None:
    """Old collections would fill the server; those of other programs must not be deleted."""
    server.stored.create_collection("rag_assets.other", vectors_config={})
    server.stored.create_collection("shop.000000000000.a", vectors_config={})
    index = index_of(tmp_path, server.url, prefix="shop2")
    update_index(index, numbered_rows(12))
    other = index_of(tmp_path, server.url, "other", prefix="shop2")

    update_index(other, numbered_rows(12))
    update_index(other, numbered_rows(13))

    assert collections(server)[:1] + collections(server)[-3:-2] == [
        "rag_assets.other",
        "shop.000000000000.a",
    ]
    assert len([name for name in collections(server) if name.startswith("shop2.")]) == 2


def test_a_collection_that_lost_points_or_is_gone_is_not_intact(
    tmp_path: Path, server: QdrantServer
) -> None:
    """A collection that lost points must be left out with a warning or made again; else answers
    miss papers."""
    index = index_of(tmp_path, server.url)
    update_index(index, numbered_rows(12))
    collection = collection_in(index.folder)
    assert index.is_intact()

    server.stored.delete(collection, models.PointIdsList(points=[store.point_id("c0003#0")]))
    assert not index.is_intact()

    opened = index.open()
    server.stored.delete_collection(collection)
    assert not index.is_intact()
    with pytest.raises(
        StaleIndex, match=r"is not there any more. Ask again; .* run rag-assets index build"
    ):
        opened.search(bag_of_words("sample"), 3)
    update_index(index_of(tmp_path, server.url), numbered_rows(12))
    assert index.is_intact()


def test_a_search_takes_one_request(tmp_path: Path, server: QdrantServer) -> None:
    """Each request is a trip over the network."""
    update_index(index_of(tmp_path, server.url), numbered_rows(30))
    opened = index_of(tmp_path, server.url).open()
    n_before = len(server.requests)

    opened.search(bag_of_words("sample s3"), 5)

    assert [request.rpartition("/points")[2] for request in server.requests[n_before:]] == [
        "/query/batch"
    ]


def test_what_a_collection_holds_is_read_page_by_page(
    tmp_path: Path, server: QdrantServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All payloads of a large corpus in one reply would not fit into memory."""
    update_index(index_of(tmp_path, server.url), numbered_rows(12))
    monkeypatch.setattr(store, "_PAGE", 5)
    n_before = len(server.requests)

    assert index_of(tmp_path, server.url).fingerprints() == fingerprints_of(numbered_rows(12))

    pages = [
        body
        for request, body in list(zip(server.requests, server.bodies, strict=True))[n_before:]
        if "scroll" in request
    ]
    assert [page["limit"] for page in pages] == [5, 5, 5]
    assert not any(page.get("with_vector") for page in pages)


def message_of(index: FolderIndex[VectorStore]) -> str:
    with pytest.raises(RagAssetsError) as caught:
        update_index(index, numbered_rows(3))
    return str(caught.value)


def test_a_server_that_is_down_is_named_with_the_remedy(tmp_path: Path) -> None:
    """A server that is not running is the most frequent fault; the message must name its
    address."""
    with qdrant_server() as server:
        url = server.url
    message = message_of(index_of(tmp_path, url))

    assert message.startswith(f"Qdrant at {url} cannot be reached (")
    assert message.endswith(f"Start it, or correct indexing.qdrant.url; {WITHOUT_SERVER}")


def test_a_server_that_hangs_is_given_up(
    tmp_path: Path, server: QdrantServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that waits for ever holds the data folder."""

    def wait(request: str) -> Reply | None:
        time.sleep(1.5)
        return None

    server.misbehave = wait

    monkeypatch.setattr("rag_assets.search.indexing.qdrant.connection._TIMEOUT_S", 1)

    message = message_of(index_of(tmp_path, server.url))

    assert (
        message
        == f"Qdrant at {server.url} did not answer within 1 s. Run again later; see its log."
    )


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        ((500, {"status": {"error": "disk full"}}), StoreUnavailable, "failed (500: "),
        ((429, {"status": {"error": "slow down"}}), StoreUnavailable, "failed (429: "),
        (
            (400, {"status": {"error": f"no {KEY}"}}),
            StoreRefused,
            'refused a request (400: {"status": {"error": "no [key]"}})',
        ),
        ((200, b"<html>a router</html>"), StoreRefused, "is not Qdrant, or a version that this"),
        ((200, {"result": {"unknown": 1}}), StoreRefused, "is not Qdrant, or a version that this"),
        ((302, b""), StoreRefused, "refused a request (302: "),
    ],
)
def test_what_a_server_says_becomes_an_error_of_ours(
    reply: Reply,
    kind: type[Exception],
    said: str,
    tmp_path: Path,
    server: QdrantServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A traceback of a library says neither which server nor what to do."""
    monkeypatch.setenv("QDRANT_API_KEY", KEY)
    server.misbehave = lambda request: reply

    with pytest.raises(kind) as caught:
        update_index(index_of(tmp_path, server.url), numbered_rows(3))

    assert said in str(caught.value)
    assert KEY not in str(caught.value)


def test_the_key_is_sent_and_shown_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Logs and data folders are passed on, so the key must be in neither."""
    with qdrant_server(KEY) as server, caplog.at_level(logging.DEBUG):
        without = message_of(index_of(tmp_path, server.url))
        monkeypatch.setenv("QDRANT_API_KEY", "a-wrong-key")
        wrong = message_of(index_of(tmp_path, server.url))
        monkeypatch.setenv("QDRANT_API_KEY", KEY)
        index = index_of(tmp_path, server.url)
        update_index(index, numbered_rows(3))
        found = seen(index_of(tmp_path, server.url))

    remedy = "Set QDRANT_API_KEY in the environment or in .env to a key that may write."
    assert without == f"Qdrant at {server.url} asks for a key. {remedy}"
    assert wrong == f"Qdrant at {server.url} refuses the key in QDRANT_API_KEY. {remedy}"
    assert found == set(fingerprints_of(numbered_rows(3)))
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert KEY.encode() not in kept
    assert KEY not in caplog.text
    assert KEY not in repr(index)
