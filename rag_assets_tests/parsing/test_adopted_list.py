"""A list of papers at the place of the published index is kept where later runs find it."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rag_assets.errors import MissingInput
from rag_assets.parsing.adopted_list import adopt_list, list_to_adopt
from rag_assets.parsing.paper_list import find_papers
from rag_assets.settings import ParseLimits, Paths
from rag_assets.table_files import write_table
from rag_assets.tables import PARSED_INDEX

COLUMNS = ("paper_id", "parsed_xml_path", "parsed_txt_path")


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    paths = Paths(tmp_path / "project" / "data")
    paths.cache.mkdir(parents=True)
    return paths


def write_list(path: Path, *rows: tuple[str, str | None, str | None]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = pa.schema([(name, pa.string()) for name in COLUMNS])
    pq.write_table(pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in rows], schema), path)


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("A paper.", "utf-8")
    return path


def test_the_papers_of_the_moved_list_are_those_of_the_list(
    paths: Paths, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The first run writes its own index over the list; kept nowhere else, the second would see other papers."""
    files = [
        put(paths.cache / "tei" / "a.xml"),
        put(paths.data / "parsed" / "b.xml"),
        put(paths.data.parent / "texts" / "c.txt"),
        put(tmp_path / "elsewhere" / "d.txt"),
    ]
    write_list(
        paths.parsed_index,
        ("a", "tei/a.xml", ""),
        ("b", "parsed/b.xml", None),
        ("c", None, "texts/c.txt"),
        ("d", None, str(files[3])),
        ("e", "gone.xml", None),
    )

    assert list_to_adopt(paths.parsed_index, paths.papers, None) == paths.parsed_index
    adopt_list(paths.parsed_index, paths.papers)

    assert not paths.parsed_index.exists(), "nothing is left there that would be taken for a damaged index"
    found = find_papers(paths.papers, None, ParseLimits())
    assert [paper.paper_id for paper in found] == ["a", "b", "c", "d", "e"]
    assert [paper.files[0].path.resolve() for paper in found[:4]] == files
    assert (found[4].files[0].problem or "").startswith("does not exist")
    assert "is a list of papers and was moved to" in caplog.text


def test_a_new_list_takes_the_place_of_an_earlier_one(paths: Paths) -> None:
    """Whoever writes the list anew each week must not end with the papers of the first week."""
    for paper in ("a", "b"):
        put(paths.cache / f"{paper}.txt")
        write_list(paths.parsed_index, (paper, None, f"{paper}.txt"))
        assert list_to_adopt(paths.parsed_index, paths.papers, None)
        adopt_list(paths.parsed_index, paths.papers)

    assert [paper.paper_id for paper in find_papers(paths.papers, None, ParseLimits())] == ["b"]


def test_a_published_index_is_no_list(paths: Paths) -> None:
    """Taken for one, it would name the papers of yesterday for ever."""
    write_table(PARSED_INDEX.empty_table(), paths.parsed_index, {})
    assert list_to_adopt(paths.parsed_index, paths.papers, None) is None

    pq.write_table(PARSED_INDEX.empty_table().drop_columns(["title"]), paths.parsed_index)
    assert list_to_adopt(paths.parsed_index, paths.papers, None) is None, "an older one, saved by another tool"

    paths.parsed_index.write_text("garbage")
    assert list_to_adopt(paths.parsed_index, paths.papers, None) is None


@pytest.mark.parametrize("is_named", [True, False], ids=["named by the settings", "in the papers folder"])
def test_two_lists_are_refused_before_one_is_lost(paths: Paths, tmp_path: Path, is_named: bool) -> None:
    """The published index is about to be written over one of them."""
    write_list(paths.parsed_index, ("a", None, "a.txt"))
    other = tmp_path / "list.parquet" if is_named else paths.papers / "parsed_index.parquet"
    write_list(other, ("b", None, "b.txt"))

    with pytest.raises(MissingInput, match="There are two lists of papers") as raised:
        list_to_adopt(paths.parsed_index, paths.papers, other if is_named else None)
    assert str(other) in str(raised.value)
