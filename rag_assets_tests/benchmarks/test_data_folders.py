"""Which variants share a data folder, and what a new one begins with."""

from pathlib import Path

from benchmarks.quality.data_folders import STAMP, data_folder, prepared, stamp_of
from benchmarks.quality.questions import QuestionSet
from rag_assets.core.settings import load_settings


def one_paper(folder: Path) -> None:
    (folder / "iron.txt").write_text("Iron and endurance.", "utf-8")


SET = QuestionSet("tiny", "answer", 1, one_paper, ())


def test_variants_of_search_and_answers_share_the_indexes(tmp_path: Path) -> None:
    """Each variant would embed every paper again."""
    default = data_folder("tiny", tmp_path, load_settings())
    search = load_settings({"retrieval": {"dense_weight": 0.3}, "answering": {"k": 3}})
    passages = load_settings({"passages": {"target_tokens": 100}})

    assert data_folder("tiny", tmp_path, search) == default
    assert data_folder("tiny", tmp_path, passages) != default


def test_a_setting_of_retrieval_asks_for_an_update_of_the_folder() -> None:
    """What some of them keep with the index would be missing, and the variant would be measured
    without it."""
    answers = load_settings({"answering": {"k": 3}})
    other = load_settings({"retrieval": {"fusion": "server_rrf"}})

    assert stamp_of(answers) == stamp_of(load_settings())
    assert stamp_of(other) != stamp_of(load_settings())


def test_a_new_folder_begins_as_a_copy_of_the_newest_one(tmp_path: Path) -> None:
    """Vectors that were made once are kept; but what it was built with is not known of the copy."""
    first, second = tmp_path / "data" / "tiny" / "a", tmp_path / "data" / "tiny" / "b"

    assert prepared(SET, first)
    assert [path.name for path in (first / "papers").iterdir()] == ["iron.txt"]
    (first / "cache").mkdir()
    (first / "cache" / "vectors").write_bytes(b"1")
    (first / STAMP).write_text("{}")

    assert not prepared(SET, second)
    assert (second / "cache" / "vectors").read_bytes() == b"1"
    assert not (second / STAMP).exists()
    assert not prepared(SET, first), "a folder that is there is kept"
