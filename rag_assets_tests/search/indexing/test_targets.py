"""What every place an index can be published in must do, be it files or a collection of a
server."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_assets.core.errors import GuardrailBroken
from rag_assets.core.settings import Settings
from rag_assets.search.indexing.folders import MANIFEST_FILE, FolderIndex, stage_index
from rag_assets.search.indexing.protocols import IndexFiles, IndexRow, Report, Scope, VectorStore
from rag_assets.search.indexing.stores import VECTOR_STORES, vector_index, word_index
from rag_assets_tests.search.indexing.folders import snapshot, update_index
from rag_assets_tests.search.indexing.qdrant_server import qdrant_server
from rag_assets_tests.search.indexing.rows import (
    bag_of_words,
    fingerprints_of,
    numbered_rows,
    row,
    vectors_of,
)

VECTOR_INDEXES = ["chroma", "chroma graph", "qdrant", "qdrant server"]


def settings_of(root: Path, store: str, url: str) -> Settings:
    """Of the store with that name; "qdrant server" is Qdrant by its address."""
    qdrant = {"url": url if store == "qdrant server" else ""}
    return Settings.model_validate(
        {"data_dir": root, "indexing": {"vector_store": store.partition(" ")[0], "qdrant": qdrant}}
    )


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    with qdrant_server() as server:
        yield server.url


@pytest.fixture(params=[*VECTOR_INDEXES, "tantivy"])
def index(
    request: pytest.FixtureRequest, server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> FolderIndex[Any]:
    store: str = request.param
    _search_the_graph(store, monkeypatch)
    if store == "tantivy":
        return word_index(Settings(data_dir=tmp_path))
    return vector_index(settings_of(tmp_path, store, server_url), "m", vectors_of)


def _search_the_graph(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if store == "chroma graph":
        monkeypatch.setattr("rag_assets.search.indexing.chroma.EXACT_UP_TO_BYTES", 0)


def asked(index: FolderIndex[Any], text: str) -> Any:
    """A question as this index takes it."""
    return bag_of_words(text) if index.identity.model_id else text


def test_every_store_is_held_to_this_contract() -> None:
    """A store that no test writes to loses passages for its users only."""
    assert set(VECTOR_STORES) == {"chroma", "qdrant"}


def test_an_open_index_answers_from_the_version_it_was_opened_on(index: FolderIndex[Any]) -> None:
    """A question that is being answered when a run publishes must not meet passages of two
    versions."""
    question = asked(index, "sample s3")
    update_index(index, numbered_rows(12))
    opened, before = index.open(), index.manifest()

    update_index(index, numbered_rows(12, start=100))

    after = index.manifest()
    assert {hit.passage_id for hit in opened.search(question, 12)} == set(
        fingerprints_of(numbered_rows(12))
    )
    assert after.version != before.version
    assert index.is_intact()
    opened.close()


def test_every_publication_changes_the_manifest_file(index: FolderIndex[Any]) -> None:
    """An open engine compares it to learn that a newer version was published."""
    seen = []
    for rows in (numbered_rows(12), numbered_rows(13), numbered_rows(12)):
        update_index(index, rows)
        found = (index.folder / MANIFEST_FILE).stat()
        seen.append((found.st_ino, found.st_mtime_ns))

    assert len(set(seen)) == 3


def test_an_unchanged_index_is_left_as_it_is(index: FolderIndex[Any]) -> None:
    """The nightly run over an unchanged corpus must cost nothing and change no byte."""
    update_index(index, numbered_rows(12))
    before = snapshot(index.folder)

    plan = update_index(index, numbered_rows(12)[::-1])

    assert plan.is_noop
    assert snapshot(index.folder) == before


def test_an_index_without_passages_is_valid_and_can_grow(index: FolderIndex[Any]) -> None:
    """A corpus of which every paper was quarantined still materializes, and the next paper is
    found."""
    question = asked(index, "sample s3")
    update_index(index, [])
    assert index.is_intact()
    assert index.open().search(question, 5) == []

    update_index(index, numbered_rows(12))

    assert index.open().search(question, 1)[0].passage_id == "c0003#0"


def test_a_search_keeps_to_its_scope(index: FolderIndex[Any]) -> None:
    """A question about one paper must not be answered from another."""
    question = asked(index, "sample degrees")
    update_index(index, numbered_rows(30))
    opened = index.open()

    def found(scope: Scope) -> set[str]:
        return {hit.passage_id for hit in opened.search(question, 30, scope)}

    assert found(Scope(paper_ids=("paper1",))) == set(fingerprints_of(numbered_rows(10, start=10)))
    assert found(Scope(paper_ids=("paper0", "nobody"))) == set(fingerprints_of(numbered_rows(10)))
    assert found(Scope(passage_ids=frozenset({"c0003#0", "c0027#0", "none"}))) == {
        "c0003#0",
        "c0027#0",
    }
    assert (
        found(Scope(paper_ids=()))
        == found(Scope(passage_ids=frozenset()))
        == found(Scope(("nobody",)))
        == set()
    )


@pytest.fixture(params=VECTOR_INDEXES)
def vector_settings(
    request: pytest.FixtureRequest, server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    _search_the_graph(request.param, monkeypatch)
    return settings_of(tmp_path, request.param, server_url)


THIRTY = [*numbered_rows(28), row("z#0", "the same words"), row("a#0", "the same words")]


@pytest.fixture
def vectors(vector_settings: Settings) -> FolderIndex[VectorStore]:
    """An index of thirty passages, of which two share one vector."""
    found = vector_index(vector_settings, "m", vectors_of)
    update_index(found, THIRTY)
    return found


def test_vectors_are_ranked_by_their_cosine_and_ties_by_id(
    vectors: FolderIndex[VectorStore],
) -> None:
    """Hits that change places between two stores, or two runs, cannot be compared or cited."""
    store, question = vectors.open(), bag_of_words("the same s3")
    cosines = {one.passage_id: float(bag_of_words(one.text) @ question) for one in THIRTY}

    found = store.search(question, 30)

    assert [hit.passage_id for hit in found[:2]] == ["a#0", "z#0"]
    assert [hit.passage_id for hit in store.search(question, 1)] == ["a#0"]
    assert {hit.passage_id: hit.score for hit in found} == pytest.approx(cosines, abs=1e-5)
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def test_cosines_are_those_of_the_passages_asked_for(vectors: FolderIndex[VectorStore]) -> None:
    """What only the words found is fused by its cosine, too."""
    question = bag_of_words("sample s3")

    found = vectors.open().cosines(question, ["c0003#0", "z#0", "unknown"])

    wanted_cosines = {
        "c0003#0": float(bag_of_words("Sample s3 was kept at 3 degrees.") @ question),
        "z#0": float(bag_of_words("the same words") @ question),
    }
    assert found == pytest.approx(wanted_cosines, abs=1e-5)
    assert vectors.open().cosines(question, []) == {}


def test_another_model_replaces_all_vectors(
    vectors: FolderIndex[VectorStore], vector_settings: Settings
) -> None:
    """Vectors of two models cannot be compared, and no error would say so."""
    question = np.ones(3, np.float32) / np.sqrt(np.float32(3))
    other = vector_index(vector_settings, "other", lambda rows: np.tile(question, (len(rows), 1)))

    plan = update_index(other, numbered_rows(12))

    assert len(plan.added) == 12
    assert set(other.fingerprints()) == {one.passage_id for one in numbered_rows(12)}
    assert [hit.score for hit in other.open().search(question, 30)] == pytest.approx([1.0] * 12)


def test_readers_see_the_published_version_until_the_next_is_published(
    index: FolderIndex[Any],
) -> None:
    """An answer made while an index is written must come from the last good one."""
    rows = numbered_rows(100)
    update_index(index, rows)

    staged = stage_index(index, rows[3:])

    assert index.is_intact(), "not a byte of the published version is changed"
    assert index.fingerprints() == fingerprints_of(rows)
    staged.publish()
    assert index.fingerprints() == fingerprints_of(rows[3:])


def test_versions_follow_each_other_by_difference(index: FolderIndex[Any]) -> None:
    """Counts in the UI and the content of the index must both be those of the passages, after any
    history."""
    rows = numbered_rows(12)
    edited = [*rows[2:], row(rows[1].passage_id, "an edited text")]
    update_index(index, rows)

    first = update_index(index, edited)
    second = update_index(index, rows)
    third = update_index(index, rows)

    assert first.counts() == {"n_added": 0, "n_changed": 1, "n_removed": 1, "n_unchanged": 10}
    assert second.counts() == {"n_added": 1, "n_changed": 1, "n_removed": 0, "n_unchanged": 10}
    assert third.is_noop
    assert index.fingerprints() == fingerprints_of(rows)


def test_the_version_of_what_is_published_follows_from_the_passages(
    index: FolderIndex[Any],
) -> None:
    """An open engine compares it to see whether the index was published anew."""
    rows = numbered_rows(12)
    seen = []
    for some in (rows, rows[1:], rows):
        update_index(index, some)
        manifest = index.published()
        seen.append(manifest.version)

    assert seen[0] == seen[2] != seen[1]


@dataclass(frozen=True)
class Losing:
    """Files that lose the last passage they are given, as a library with a bug might."""

    files: IndexFiles

    def __getattr__(self, name: str) -> object:
        return getattr(self.files, name)

    def write(self, folder: Path, rows: Mapping[str, IndexRow], report: Report) -> None:
        self.files.write(folder, {id_: rows[id_] for id_ in sorted(rows)[:-1]}, report)

    def faulty(self, folder: Path, sample: Sequence[IndexRow]) -> tuple[str, ...]:
        return tuple(
            id_
            for id_ in self.files.faulty(folder, sample)
            if id_ in self.files.fingerprints(folder)
        )


def test_a_version_that_lost_a_passage_is_withheld(index: FolderIndex[Any]) -> None:
    """A bad index in the place of the last good one is worse than no update."""
    rows = numbered_rows(12)
    update_index(index, rows)

    with pytest.raises(GuardrailBroken, match=r"was not replaced.*1 missing \(c0019#0\)"):
        update_index(replace(index, files=Losing(index.files)), numbered_rows(20))  # type: ignore[arg-type]

    assert index.fingerprints() == fingerprints_of(rows)
