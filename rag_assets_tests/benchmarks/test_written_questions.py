"""Written questions find their lines again by the words of the lines."""

import json
from pathlib import Path

import pytest

from benchmarks.reader_training import written
from benchmarks.reader_training.lines import BadFile, Line
from benchmarks.reader_training.written import hash_of_words, read_written

FOLDER = Path(written.__file__).with_name("written")
AGE = "The mean age of the men was 41 years."


def _line(number: int, text: str) -> Line:
    return Line("iron", number, "sentence", "Methods", "", text)


def _file(folder: Path, *rows: dict[str, object]) -> Path:
    file = folder / "questions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def test_a_line_is_found_again_by_its_words(tmp_path: Path) -> None:
    """Another version of the parsers numbers the lines anew and writes blanks and dashes anew."""
    asked = {"paper": "iron", "question": "age of the men?", "answers": [hash_of_words(AGE)]}
    again = _line(7, "The mean age  of the men was 41 years .")

    read = read_written(_file(tmp_path, asked), [_line(0, "Ten men took part."), again])

    assert [(one.text, one.answers) for one in read.questions] == [("age of the men?", (again,))]


def test_a_question_whose_line_is_gone_is_counted_and_left_out(tmp_path: Path) -> None:
    """Kept without its answer it would teach that nothing answers it."""
    lost = {"paper": "iron", "question": "age?", "answers": [hash_of_words(AGE)]}
    elsewhere = {"paper": "bog", "question": "depth?", "answers": []}

    read = read_written(_file(tmp_path, lost, elsewhere), [_line(0, "Ten men took part.")])

    assert (read.questions, read.n_lost, read.n_elsewhere) == ((), 1, 1)


def test_a_row_that_is_no_question_is_named(tmp_path: Path) -> None:
    """A file of thousands of rows is not searched by eye."""
    with pytest.raises(BadFile, match="line 1"):
        read_written(_file(tmp_path, {"question": "age?"}), [_line(0, AGE)])


@pytest.mark.parametrize("part", ["train", "check", "final"])
def test_papers_are_in_one_part_only_and_every_label_is_a_hash(part: str) -> None:
    """A paper in two parts would make a reader look better than it is; a text would be copied."""
    papers = json.loads((FOLDER / "papers.json").read_text("utf-8"))
    rows = [json.loads(row) for row in (FOLDER / f"{part}.jsonl").read_text("utf-8").splitlines()]

    assert {papers[row["paper"]]["split"] for row in rows} == {part}
    labels = [one for row in rows for kind in ("answers", "parts", "near") for one in row[kind]]
    assert all(len(one) == 12 and int(one, 16) >= 0 for one in labels)
    assert all(0 <= a < b <= len(row["question"]) for row in rows for a, b, _ in row["marks"])
