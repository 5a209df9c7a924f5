"""Tables with rows of papers in any number of files: the same rows, whatever happened before."""

import random
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from rag_assets.core import paper_tables
from rag_assets.core.errors import MissingInput
from rag_assets.core.incremental import REPLACED_SUFFIX, plan_update, staging
from rag_assets.core.paper_tables import (
    Made,
    Manifest,
    PapersUpdate,
    PaperTable,
    QuarantinedPaper,
    drafted,
    is_current,
    manifest_file,
    shard_of,
)
from rag_assets.core.table_files import OpenTable, read_columns, rows_of_any_version, write_table
from rag_assets.core.tables import PASSAGES, to_table

PROVENANCE = {"settings": "s"}
EMPTY, BROKEN = "no rows", "broken"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "passages.parquet"


@pytest.fixture(
    params=[2_000, 20, 1], ids=["one file", "folder of 16 or one file", "folder of 256"]
)
def split_at(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    at = int(request.param)
    monkeypatch.setattr(paper_tables, "SPLIT_AT", at)
    return at


def rows_of_paper(paper: str, content: str) -> pa.Table:
    texts = [f"{content} {nth}" for nth in range(3)]
    return to_table(
        [
            {
                "passage_id": f"{paper}#{nth}",
                "chunk_id": paper,
                "paper_id": paper,
                "text": text,
                "fingerprint": content,
            }
            for nth, text in enumerate(texts)
        ],
        PASSAGES,
    )


def update_to(
    table: PaperTable, corpus: dict[str, str], made: list[str] | None = None
) -> PapersUpdate:
    """Each paper is made of its text, in any order; `made` is told of each."""
    plan = plan_update(table.known, corpus)

    def make() -> Generator[tuple[str, Made]]:
        for paper in random.Random(len(corpus)).sample(plan.to_build, len(plan.to_build)):
            if made is not None:
                made.append(paper)
            if corpus[paper] == BROKEN:
                yield paper, QuarantinedPaper(paper, f"{paper}.txt", "It is broken.", BROKEN)
            else:
                yield (
                    paper,
                    PASSAGES.empty_table()
                    if corpus[paper] == EMPTY
                    else rows_of_paper(paper, corpus[paper]),
                )

    return PapersUpdate(plan, corpus, make())


def publish(path: Path, corpus: dict[str, str], made: list[str] | None = None) -> PaperTable:
    table = PaperTable.published(path, PASSAGES)
    with staging() as staged:
        drafted(table, update_to(table, corpus, made), PROVENANCE, staged)
        staged.publish()
    return PaperTable.published(path, PASSAGES)


def contents(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else sorted(path.iterdir())
    return {file.name: file.read_bytes() for file in files}


def corpus_of(n: int) -> dict[str, str]:
    return {f"p{number}": f"text {number}" for number in range(n)}


@pytest.mark.parametrize("seed", range(4))
def test_any_history_ends_in_the_files_of_a_fresh_build(
    tmp_path: Path, path: Path, split_at: int, seed: int
) -> None:
    """Rows of a deleted paper, or of a paper twice, would be searched and cited."""
    draw, corpus = random.Random(seed), corpus_of(12)
    for _ in range(6):
        for paper in draw.sample(range(40), 9):
            what = draw.choice(["delete", "edit", "edit", EMPTY, BROKEN])
            if what == "delete":
                corpus.pop(f"p{paper}", None)
            else:
                corpus[f"p{paper}"] = f"text {draw.random()}" if what == "edit" else what
        if draw.random() < 0.3:
            manifest_file(path).unlink(missing_ok=True)
        if draw.random() < 0.3 and path.is_dir():
            draw.choice(sorted(path.iterdir())).write_bytes(b"damaged")
        table = publish(path, corpus)

    fresh = publish(tmp_path / "fresh" / path.name, corpus)

    assert contents(path) == contents(fresh.path)
    assert table.known == fresh.known == corpus
    assert table.manifest.quarantined == fresh.manifest.quarantined
    assert is_current(table, update_to(table, corpus), PROVENANCE)


def test_an_edit_writes_one_file_and_makes_one_paper(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 128,000 chunks in one file, one edited sentence would cost 4 seconds for each table."""
    monkeypatch.setattr(paper_tables, "SPLIT_AT", 10)
    before, made = publish(path, corpus_of(60)), list[str]()
    inodes = {file.name: file.stat().st_ino for file in path.iterdir()}

    publish(path, corpus_of(60) | {"p7": "another text"}, made)

    written = [file for file in path.iterdir() if inodes[file.name] != file.stat().st_ino]
    assert made == ["p7"]
    assert len(before.files) == 16
    assert [{"another text"}] == [
        set(pq.read_table(file, filters=[("paper_id", "=", "p7")])["fingerprint"].to_pylist())
        for file in written
    ]


def test_an_unchanged_table_is_not_opened(
    path: Path, split_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a minute of each night, and a gigabyte read, when nothing happened."""
    publish(path, corpus_of(30))

    def unread(*_: object) -> None:
        raise AssertionError("a table was read")

    monkeypatch.setattr(pq, "ParquetFile", unread)
    monkeypatch.setattr(paper_tables, "file_sha256", unread)
    table = PaperTable.published(path, PASSAGES)

    assert is_current(table, update_to(table, corpus_of(30)), PROVENANCE)


OTHER_READERS: dict[str, Callable[[Path], list[str]]] = {
    "pandas": lambda path: pd.read_parquet(path)["text"].tolist(),
    "pyarrow": lambda path: pq.read_table(path, columns=["text"])["text"].to_pylist(),
    "pyarrow.dataset": lambda path: (
        ds.dataset(path, format="parquet").to_table(["text"])["text"].to_pylist()
    ),
    "DuckDB": lambda path: [
        text for (text,) in duckdb.read_parquet(str(path)).project("text").fetchall()
    ],
    "Polars": lambda path: pl.read_parquet(path)["text"].to_list(),
}
"""The texts that other programs find in a table."""


def found_by_readers(path: Path) -> Iterator[list[str]]:
    """The texts that each way to open a table finds, sorted."""
    ours = (
        lambda table: read_columns(table, ["text"])["text"].to_pylist(),
        lambda table: OpenTable(table).columns(["text"])["text"].to_pylist(),
    )
    return (sorted(read(path)) for read in (*OTHER_READERS.values(), *ours))


def texts_of(corpus: dict[str, str]) -> list[str]:
    return sorted(f"{text} {nth}" for text in corpus.values() for nth in range(3))


def test_all_readers_open_every_layout_and_an_open_table_keeps_its_version(
    path: Path, split_at: int
) -> None:
    """Users read the tables with their own tools, by the name that the documentation gives."""
    corpus = corpus_of(30)
    publish(path, corpus)
    opened = OpenTable(path)
    assert all(found == texts_of(corpus) for found in found_by_readers(path))

    publish(path, edited := corpus_of(4) | {"p2": "new"})

    assert all(found == texts_of(edited) for found in found_by_readers(path))
    assert sorted(
        opened.values(range(90), lambda rows: list(rows["text"].to_pylist()))
    ) == texts_of(corpus)


@pytest.mark.parametrize("reader", OTHER_READERS)
def test_another_program_finds_one_version_or_no_table(
    path: Path, monkeypatch: pytest.MonkeyPatch, reader: str
) -> None:
    """A notebook must not count a part of the old papers and a part of the new ones."""
    monkeypatch.setattr(paper_tables, "SPLIT_AT", 10)
    corpus = corpus_of(30)
    publish(path, corpus)
    before, after = texts_of(corpus), texts_of(corpus | {"p7": "new"})
    rename, seen = Path.rename, list[list[str] | None]()

    def look() -> None:
        try:
            seen.append(sorted(OTHER_READERS[reader](path)))
        except (OSError, duckdb.IOException):
            seen.append(None)

    def watched_rename(source: Path, target: Path) -> Path:
        look()
        moved = rename(source, target)
        look()
        return moved

    monkeypatch.setattr(Path, "rename", watched_rename)
    publish(path, corpus | {"p7": "new"})

    assert seen == [before, None, None, after], "before and after each of the two renames"


def test_a_kill_between_two_renames_loses_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that is gone would be made anew: hours of a cluster; and who asks meanwhile would get
    no answer."""
    monkeypatch.setattr(paper_tables, "SPLIT_AT", 10)
    before = publish(path, corpus_of(30))
    path.rename(path.with_name(path.name + REPLACED_SUFFIX))

    assert len(read_columns(path, ["paper_id"])) == len(OpenTable(path).columns(["paper_id"])) == 90
    made: list[str] = []
    after = publish(path, corpus_of(30), made)

    assert (made, after.manifest) == ([], before.manifest)
    assert all(found == texts_of(corpus_of(30)) for found in found_by_readers(path))


def test_a_folder_that_lost_a_file_is_refused_by_readers_and_mended_by_an_update(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers from fifteen of sixteen parts of a corpus would say that the papers do not tell."""
    monkeypatch.setattr(paper_tables, "SPLIT_AT", 10)
    whole = publish(path, corpus_of(30))
    key, shard = max(whole.manifest.shards.items(), key=lambda item: len(item[1].papers))
    before = contents(path)
    whole.files[key].unlink()

    with pytest.raises(
        MissingInput,
        match=r"is a folder with 15 of 16 files\. .*rag-assets run --select \+passages",
    ):
        read_columns(path, ["paper_id"])
    made: list[str] = []
    publish(path, corpus_of(30), made)

    assert set(made) == shard.papers.keys()
    assert contents(path) == before


def test_a_table_of_another_version_counts_as_absent(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its manifest fits, so that no file was opened; then each run failed when it read the rows."""
    rows = rows_of_paper("a", "one").drop_columns(["summary"])
    write_table(rows, path, PROVENANCE)
    shard = shard_of(path, {"a": "one"}, {}, len(rows), PROVENANCE)
    for columns in ("", "of another version"):
        manifest_file(path).write_bytes(Manifest({"": shard}, columns=columns).to_bytes())

        assert PaperTable.published(path, PASSAGES).papers == {}

    assert "is a table of another version (column summary is missing)" in caplog.text
    assert [row["paper_id"] for row in rows_of_any_version(path, ["paper_id"])] == ["a"] * 3
