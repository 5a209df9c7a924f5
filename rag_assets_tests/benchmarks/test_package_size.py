"""The size of the package grows only where a commit says so."""

from pathlib import Path

from benchmarks.package_size import differences, sizes


def test_tokens_and_patterns_are_counted_whatever_their_lines(tmp_path: Path) -> None:
    """Packed lines and comments would hide a growth, or make one."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "a.py").write_text('"""Text."""\nimport re\nONE = re.compile("x")  # why\n')
    (tmp_path / "inner" / "b.py").write_text("import re; TWO = re.compile(\n    'y'\n)\n")

    found = sizes(tmp_path)

    assert found == {"tokens": 22, "re.compile": 2}


def test_a_figure_that_is_not_the_kept_one_is_told() -> None:
    """A package that grows by a little each time grows by much."""
    kept = {"tokens": 1_200, "re.compile": 3}

    assert differences(kept, kept) == []
    assert differences(kept, {"tokens": 1_250, "re.compile": 2}) == [
        "tokens: 1,250, kept are 1,200 (+50).",
        "re.compile: 2, kept are 3 (-1).",
    ]
