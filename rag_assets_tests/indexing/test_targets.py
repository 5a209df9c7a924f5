"""What every place an index can be published in must do, be it a folder or a server with an alias."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rag_assets.errors import GuardrailBroken
from rag_assets.indexing.builder import stage_index, update_index
from rag_assets.indexing.protocols import Examination, IndexManifest, IndexRow, IndexTarget, IndexVersion, Report
from rag_assets.indexing.stores import VECTOR_STORES, WORD_INDEXES, vector_index, word_index
from rag_assets.settings import Settings
from rag_assets_tests.indexing.alias_store import AliasTarget
from rag_assets_tests.indexing.rows import bag_of_words, numbered_rows, row, vectors_of

MakeTarget = Callable[[Path], IndexTarget]
every_target = pytest.mark.parametrize(
    "make_target",
    [
        pytest.param(lambda root: VECTOR_STORES["chroma"](Settings(data_dir=root), "m", vectors_of), id="chroma"),
        pytest.param(lambda root: WORD_INDEXES["tantivy"](Settings(data_dir=root)), id="tantivy"),
        pytest.param(lambda root: AliasTarget(root / "server"), id="alias"),
    ],
)


def test_every_store_is_held_to_this_contract() -> None:
    """A store that no test writes to loses passages for its users only."""
    assert set(VECTOR_STORES) | set(WORD_INDEXES) == {"chroma", "tantivy"}


@pytest.mark.parametrize("index", [vector_index, word_index])
def test_an_open_index_answers_from_the_version_it_was_opened_on(index: Callable[..., Any], tmp_path: Path) -> None:
    """A question that is being answered when a run publishes must not meet passages of two versions."""
    settings = Settings(data_dir=tmp_path)
    more = ["m", vectors_of] if index is vector_index else []
    question = bag_of_words("sample s3") if index is vector_index else "sample s3"
    target = index(settings, *more)
    update_index(target, numbered_rows(12))
    opened, version = target.open(), target.manifest().version

    update_index(target, numbered_rows(12, start=100))

    assert {hit.passage_id for hit in opened.search(question, 12)} == set(wanted(numbered_rows(12)))
    assert target.manifest().version != version
    assert target.is_intact()


def wanted(rows: Sequence[IndexRow]) -> dict[str, str]:
    return {one.passage_id: one.fingerprint for one in rows}


@every_target
def test_readers_see_the_published_version_until_the_next_is_published(tmp_path: Path, make_target: MakeTarget) -> None:
    """An answer made while an index is written must come from the last good one."""
    target, rows = make_target(tmp_path), numbered_rows(12)
    update_index(target, rows)

    staged = stage_index(target, rows[3:])

    assert target.fingerprints() == wanted(rows)
    staged.publish()
    assert target.fingerprints() == wanted(rows[3:])


@every_target
def test_versions_follow_each_other_by_difference(tmp_path: Path, make_target: MakeTarget) -> None:
    """Counts in the UI and the content of the index must both be those of the passages, after any history."""
    target, rows = make_target(tmp_path), numbered_rows(12)
    edited = [*rows[2:], row(rows[1].passage_id, "an edited text")]
    update_index(target, rows)

    first = update_index(target, edited)
    second = update_index(target, rows)
    third = update_index(target, rows)

    assert first.counts() == {"n_added": 0, "n_changed": 1, "n_removed": 1, "n_unchanged": 10}
    assert second.counts() == {"n_added": 1, "n_changed": 1, "n_removed": 0, "n_unchanged": 10}
    assert third.is_noop
    assert target.fingerprints() == wanted(rows)


@every_target
def test_the_version_of_what_is_published_follows_from_the_passages(tmp_path: Path, make_target: MakeTarget) -> None:
    """An open engine compares it to see whether the index was published anew."""
    target, rows = make_target(tmp_path), numbered_rows(12)
    seen = []
    for some in (rows, rows[1:], rows):
        update_index(target, some)
        manifest = target.published()
        assert manifest is not None
        seen.append(manifest.version)

    assert seen[0] == seen[2] != seen[1]


@dataclass(frozen=True)
class Losing:
    """A target whose versions lose the last passage they are given, as a library with a bug might."""

    target: IndexTarget

    @property
    def identity(self) -> object:
        return self.target.identity

    def __getattr__(self, name: str) -> object:
        return getattr(self.target, name)

    def stage(self) -> "LosingVersion":
        return LosingVersion(self.target.stage())

    def stage_empty(self) -> "LosingVersion":
        return LosingVersion(self.target.stage_empty())


@dataclass(frozen=True)
class LosingVersion:
    version: IndexVersion

    def fingerprints(self) -> dict[str, str]:
        return self.version.fingerprints()

    def write(self, rows: Mapping[str, IndexRow], report: Report) -> None:
        self.version.write({id_: rows[id_] for id_ in sorted(rows)[:-1]}, report)

    def examined(self, sample: Sequence[IndexRow]) -> Examination:
        return Examination(tuple(id_ for id_ in self.version.examined(sample).faulty if id_ in self.fingerprints()))

    def publish(self, manifest: IndexManifest) -> None:
        self.version.publish(manifest)

    def discard(self) -> None:
        self.version.discard()


@every_target
def test_a_version_that_lost_a_passage_is_withheld(tmp_path: Path, make_target: MakeTarget) -> None:
    """A bad index in the place of the last good one is worse than no update."""
    target, rows = make_target(tmp_path), numbered_rows(12)
    update_index(target, rows)

    with pytest.raises(GuardrailBroken, match=r"was not replaced.*1 missing \(c0019#0\)"):
        update_index(Losing(target), numbered_rows(20))  # type: ignore[arg-type]

    assert target.fingerprints() == wanted(rows)
