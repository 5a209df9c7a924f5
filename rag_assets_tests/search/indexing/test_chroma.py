"""The vector store on disk."""

import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from rag_assets.search.indexing.chroma import DATABASE_FILE, ChromaFiles, ChromaStore
from rag_assets.search.indexing.exact_vectors import ExactVectors, write_vectors
from rag_assets.search.indexing.folders import FolderIndex
from rag_assets.search.indexing.protocols import Scope, VectorStore
from rag_assets_tests.search.indexing.folders import update_index
from rag_assets_tests.search.indexing.rows import bag_of_words, numbered_rows, row, vectors_of

TARGET = ChromaFiles("test-model", vectors_of)
ROWS = [
    row("a#0", "ferritin fell in all groups", paper_id="smith2020", page=3),
    row("a#1", "ferritin rose in one group", paper_id="smith2020"),
    row("b", "the bridge carries two lanes", paper_id="jones2021", page=1),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    update_index(FolderIndex(tmp_path / "chroma", TARGET), ROWS)
    return tmp_path / "chroma"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an index of 400 passages."""
    folder = tmp_path_factory.mktemp("many") / "chroma"
    update_index(FolderIndex(folder, TARGET), numbered_rows(400))
    return folder


@pytest.mark.parametrize("n_passages", [3, 200])
@pytest.mark.parametrize("open_store", [ChromaStore.open, ExactVectors.open])
def test_few_allowed_passages_are_all_found(
    many: Path, open_store: Callable[[Path], VectorStore], n_passages: int
) -> None:
    """A filter that is applied to the nearest of all passages leaves none of those asked for."""
    rows = numbered_rows(400)
    question = bag_of_words("Sample s3 was kept")
    allowed = {
        one.passage_id: float(bag_of_words(one.text) @ question) for one in rows[-n_passages:]
    }
    wanted = sorted(allowed, key=lambda id_: (-allowed[id_], id_))[:20]

    store = open_store(many)
    found = store.search(question, 20, Scope(passage_ids=frozenset(allowed)))
    none = store.search(question, 20, Scope(passage_ids=frozenset()))
    store.close()

    assert [round(hit.score, 4) for hit in found] == [round(allowed[id_], 4) for id_ in wanted]
    assert {hit.passage_id for hit in found} <= set(allowed)
    assert none == []


def test_nothing_is_sent_or_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Telemetry or a downloaded embedding function would leave the machine behind the user's
    back."""

    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)

    update_index(FolderIndex(tmp_path / "chroma", TARGET), ROWS)
    store = ChromaStore.open(tmp_path / "chroma")
    found = store.search(bag_of_words("ferritin"), 1)
    store.close()

    assert found


def test_a_deleted_passage_leaves_nothing_in_the_files(tmp_path: Path) -> None:
    """Who deletes a paper may have to: free pages of a database would keep it readable."""
    rows = [*numbered_rows(30), row("secret#0", "withdrawn text", paper_id="withdrawn1999")]
    update_index(FolderIndex(tmp_path / "chroma", TARGET), rows)
    assert _holds(tmp_path, b"withdrawn1999"), "else the test proves nothing"
    assert _holds(tmp_path, b"secret#0"), "else the test proves nothing"

    update_index(FolderIndex(tmp_path / "chroma", TARGET), rows[:-1])

    assert not _holds(tmp_path, b"withdrawn1999")
    assert not _holds(tmp_path, b"secret#0")


def test_a_wrong_vector_is_a_fault(folder: Path) -> None:
    """Above the size for exact search the database answers: it must hold the vectors that the exact
    search compares."""
    write_vectors(
        folder,
        {one.passage_id: one for one in ROWS},
        {one.passage_id: -bag_of_words(one.text) for one in ROWS},
    )

    assert TARGET.faulty(folder, ROWS) == ("a#0", "a#1", "b")


def test_a_graph_is_built_anew_when_a_twentieth_of_it_has_changed(tmp_path: Path) -> None:
    """Chroma keeps deleted vectors in the graph: its files would grow with every edit for ever, and
    it finds less."""
    target = FolderIndex(tmp_path / "chroma", TARGET)
    rows = numbered_rows(100)
    update_index(target, rows)
    n_changed = []

    for n_edits in (2, 4, 5, 6, 7):
        update_index(
            target, [row(one.passage_id, f"edit {n_edits}") for one in rows[:2]] + rows[2:]
        )
        manifest = target.published()
        n_changed.append(manifest.n_changed)

    assert n_changed == [2, 4, 0, 2, 4]


def test_an_edit_leaves_the_database_alone_until_its_turn(tmp_path: Path) -> None:
    """Copying, opening and saving Chroma's graph was the larger part of what an edit costs, and no
    search asks it."""
    target, rows = FolderIndex(tmp_path / "chroma", TARGET), numbered_rows(400)
    update_index(target, rows)
    database = tmp_path / "chroma" / DATABASE_FILE
    first = database.stat().st_ino

    update_index(target, [row(rows[0].passage_id, "gneiss folds"), *rows[1:]])

    with closing(target.open()) as store:
        (hit,) = store.search(bag_of_words("gneiss folds"), 1)
    assert (hit.passage_id, database.stat().st_ino) == (rows[0].passage_id, first)

    edited = [row(one.passage_id, f"edit {n}") for n, one in enumerate(rows[:5])]
    update_index(target, [*edited, *rows[5:]])

    assert database.stat().st_ino != first, "more than a hundredth differs"
    with closing(ChromaStore.open(tmp_path / "chroma")) as graph:
        assert (
            graph.cosines(bag_of_words("edit 3"), [rows[3].passage_id])[rows[3].passage_id] > 0.99
        )


def _holds(folder: Path, needle: bytes) -> bool:
    return any(needle in path.read_bytes() for path in folder.rglob("*") if path.is_file())
