"""Rows of a run on disk: kept, resumed, compared."""

from pathlib import Path

import pytest

from benchmarks.quality.runs import Row, Run, write_row

VARIANT = {"settings": [], "code": "a"}


def row(id_: str, hit: float, half: str = "tuning") -> Row:
    measures = {"document hit@1": hit, "document nDCG@10": hit}
    return Row(id_, f"Question\u2028{id_}?", id_, half, measures, {"clock": 0.02, "cpu": 0.01})


def run_of(folder: Path, *rows: Row) -> Run:
    run = Run(folder)
    run.begin(VARIANT, anew=False)
    with run.open_rows("cranfield") as lines:
        for one in rows:
            write_row(lines, one)
    return run


def test_a_run_that_was_stopped_goes_on_after_its_last_whole_row(tmp_path: Path) -> None:
    """A row cut off in the middle would end every later reading, or be counted as asked."""
    run = run_of(tmp_path / "run", row("1", 1), row("2", 0))
    path = run.folder / "cranfield.jsonl"
    path.write_bytes(path.read_bytes()[:-20])

    assert list(run.rows("cranfield")) == ["1"]
    with run.open_rows("cranfield") as lines:
        write_row(lines, row("3", 1))

    assert run.rows("cranfield") == {"1": row("1", 1), "3": row("3", 1)}


def test_rows_of_two_variants_are_never_mixed(tmp_path: Path) -> None:
    """Half the rows of other code make a figure of neither."""
    run = run_of(tmp_path / "run", row("1", 1))

    with pytest.raises(SystemExit, match="holds rows of other code"):
        run.begin(VARIANT | {"code": "b"}, anew=False)
    assert list(run.rows("cranfield")) == ["1"]

    run.begin(VARIANT | {"code": "b"}, anew=True)

    assert run.rows("cranfield") == {}
