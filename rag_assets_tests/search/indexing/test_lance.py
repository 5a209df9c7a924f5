"""What only the datasets of Lance can do wrong; the contract of all stores is in `test_targets`."""

import sys
from pathlib import Path

import numpy as np
import pytest

from rag_assets.core.errors import MissingExtra
from rag_assets.search.indexing import lance_index
from rag_assets.search.indexing.builder import stage_index, update_index
from rag_assets.search.indexing.lance_index import LanceIndex
from rag_assets.search.indexing.protocols import Scope, VectorSource
from rag_assets_tests.search.indexing.folders import snapshot
from rag_assets_tests.search.indexing.rows import bag_of_words, numbered_rows, row, vectors_of


def index_below(folder: Path) -> LanceIndex:
    return LanceIndex(folder / "lance", VectorSource("m", vectors_of))


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LanceIndex:
    """An approximate index over sixty passages."""
    monkeypatch.setattr(lance_index, "EXACT_UP_TO", 5)
    found = index_below(tmp_path)
    update_index(found, numbered_rows(60))
    return found


def test_what_a_killed_run_wrote_is_in_no_later_version(index: LanceIndex) -> None:
    """Passages of a run that never passed its audit must not come back with the next one."""
    stage_index(index, [*numbered_rows(60), row("lost#0", "never published")])
    rows = [*numbered_rows(60), row("next#0", "published")]

    update_index(index_below(index.folder.parent), rows)

    assert set(index.fingerprints()) == {one.passage_id for one in rows}


def test_an_update_rewrites_no_file(index: LanceIndex) -> None:
    """Rewriting all vectors for one paper costs more with every paper there is."""
    before = snapshot(index.folder)

    update_index(index, [*numbered_rows(60)[1:], row("new#0", "another passage")])

    after = snapshot(index.folder)
    data = {path for path in before if path.endswith(".lance")}
    assert data
    assert {path: before[path] for path in data} == {path: after.get(path) for path in data}


def test_passages_join_the_approximate_index_when_there_are_many(index: LanceIndex) -> None:
    """Comparing each new passage one by one would make searches slower with every update."""

    def n_outside() -> int:
        return int(index.dataset().stats.index_stats("vector_idx")["num_unindexed_rows"])

    seen = []
    for n_rows in (64, 67, 70):
        update_index(index, numbered_rows(n_rows))
        seen.append(n_outside())

    assert seen == [4, 0, 3]
    assert index.open().search(bag_of_words(numbered_rows(66)[65].text), 1)[0].passage_id == "c0065#0"


def test_a_version_with_a_file_missing_or_cut_short_is_built_anew(index: LanceIndex) -> None:
    """A store that lost a file would answer without the passages in it."""
    for damage in (Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-1])):
        damage(sorted(index.folder.rglob("data/*.lance"))[0])
        assert not index.is_intact()

        update_index(index, numbered_rows(60))

        assert index.is_intact()
        assert len(index.open().search(bag_of_words("sample"), 100)) == 60


def test_a_reader_keeps_its_version_until_the_second_publication_after_it(index: LanceIndex) -> None:
    """An engine that is answering must not lose its files under its hands."""
    opened = index.open()

    update_index(index, numbered_rows(61))

    assert len(opened.search(bag_of_words("sample"), 100)) == 60


def test_a_quote_in_an_id_is_no_syntax(tmp_path: Path) -> None:
    """Ids follow from names of files, which may hold anything."""
    index, rows = index_below(tmp_path), [row("o'brien' OR 1=1 --#0", "text", paper_id="o'brien"), row("b#0", "text")]
    update_index(index, rows)
    store, question = index.open(), bag_of_words("text")

    assert [hit.passage_id for hit in store.search(question, 5, Scope(paper_ids=("o'brien",)))] == [rows[0].passage_id]
    assert set(store.cosines(question, [rows[0].passage_id])) == {rows[0].passage_id}
    assert store.search(question, 5, Scope(paper_ids=("' OR '1'='1",))) == []


def test_vectors_of_any_length_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The approximate index takes multiples of eight only, models make others."""
    monkeypatch.setattr(lance_index, "EXACT_UP_TO", 1)
    index = LanceIndex(tmp_path, VectorSource("m", lambda rows: np.tile(np.float32([0.6, 0.8]), (len(rows), 1))))

    update_index(index, numbered_rows(12))

    assert len(index.open().search(np.float32([0.6, 0.8]), 20)) == 12


def test_without_the_package_the_install_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import error of a package nobody asked for by name helps nobody."""
    monkeypatch.setitem(sys.modules, "lance", None)

    with pytest.raises(MissingExtra, match=r"pip install 'rag_assets\[lance\]'"):
        index_below(tmp_path)
