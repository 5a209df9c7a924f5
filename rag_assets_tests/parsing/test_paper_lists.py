"""A list of papers at the place of the published index is kept where later runs find it."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rag_assets.core.errors import MissingInput
from rag_assets.core.settings import ParseLimits, Paths
from rag_assets.core.table_files import write_table
from rag_assets.core.tables import PARSED_INDEX
from rag_assets.parsing.paper_lists import adopt_list, find_papers, list_to_adopt

COLUMNS = ("paper_id", "parsed_xml_path", "parsed_txt_path")


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    paths = Paths(tmp_path / "project" / "data")
    paths.cache.mkdir(parents=True)
    return paths


def write_list(path: Path, *rows: tuple[str, str | None, str | None]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = pa.schema([(name, pa.string()) for name in COLUMNS])
    pq.write_table(
        pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in rows], schema), path
    )


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("A paper.", "utf-8")
    return path


def test_a_table_in_the_folder_names_the_papers_instead_of_the_sweep(paths: Paths) -> None:
    """Teams that already have a parsed index must not have to rename their files."""
    for name in ("x/one.xml", "x/one.txt", "two.txt", "unlisted.txt"):
        put(paths.papers / name)
    write_list(
        paths.papers / "parsed_index.parquet",
        ("first", "x/one.xml", "x/one.txt"),
        ("second", None, "two.txt"),
        ("third", "gone.xml", None),
        ("second", None, "x/one.txt"),
        ("fifth", None, None),
    )

    found = find_papers(paths.papers, None, ParseLimits())

    by_id = {paper.paper_id: paper for paper in found}
    assert [file.relative for file in by_id["first"].files] == ["x/one.xml", "x/one.txt"]
    assert by_id["first"].problem == by_id["second"].problem == ""
    assert by_id["third"].files[0].problem.startswith("does not exist")
    assert (
        by_id["fifth"].problem
        == "parsed_index.parquet names no file for fifth. Fill in parsed_xml_path or parsed_txt_path."
    )
    (repeated,) = [paper for paper in found if "names paper_id second 2 times" in paper.problem]
    assert repeated.paper_id not in ("second", "fifth")
    assert len(found) == 5


def test_a_table_that_is_none_says_so(paths: Paths) -> None:
    """A wrong file must not read as an empty corpus."""
    paths.papers.mkdir(parents=True)
    (paths.papers / "other.parquet").write_text("no parquet", "utf-8")
    pq.write_table(pa.table({"paper_id": ["a"]}), paths.papers / "poor.parquet")

    with pytest.raises(MissingInput, match=r"other\.parquet cannot be read as a parquet file"):
        find_papers(paths.papers, paths.papers / "other.parquet", ParseLimits())
    with pytest.raises(
        MissingInput, match=r"poor\.parquet has no column parsed_xml_path, parsed_txt_path"
    ):
        find_papers(paths.papers, paths.papers / "poor.parquet", ParseLimits())
    with pytest.raises(
        MissingInput, match=r"absent\.parquet, which the setting paper_list names, does not exist"
    ):
        find_papers(paths.papers, paths.papers / "absent.parquet", ParseLimits())


def test_the_papers_of_the_moved_list_are_those_of_the_list(
    paths: Paths, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The first run writes its own index over the list; kept nowhere else, the second would see
    other papers."""
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

    assert not paths.parsed_index.exists(), (
        "nothing is left there that would be taken for a damaged index"
    )
    found = find_papers(paths.papers, None, ParseLimits())
    assert [paper.paper_id for paper in found] == ["a", "b", "c", "d", "e"]
    assert [paper.files[0].path.resolve() for paper in found[:4]] == files
    assert found[4].files[0].problem.startswith("does not exist")
    assert "is a list of papers and was moved to" in caplog.text


def test_a_published_index_is_no_list(paths: Paths) -> None:
    """Taken for one, it would name the papers of yesterday for ever."""
    write_table(PARSED_INDEX.empty_table(), paths.parsed_index, {})
    assert list_to_adopt(paths.parsed_index, paths.papers, None) is None

    pq.write_table(PARSED_INDEX.empty_table().drop_columns(["title"]), paths.parsed_index)
    assert list_to_adopt(paths.parsed_index, paths.papers, None) is None, (
        "an older one, saved by another tool"
    )

    paths.parsed_index.write_text("garbage")
    assert list_to_adopt(paths.parsed_index, paths.papers, None) is None
