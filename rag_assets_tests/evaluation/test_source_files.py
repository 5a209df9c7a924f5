"""Quotes looked up in the files of the papers."""

import json
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.settings import load_settings
from rag_assets.evaluation.cases import SourceFiles

SENTENCE = "The customary constant k is sixty, chosen in a pilot study of four runs."


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    (tmp_path / "papers").mkdir()
    return tmp_path / "papers"


def held(folder: Path, quotes: list[tuple[str, str]]) -> tuple[bool, ...]:
    with SourceFiles(load_settings({"data_dir": str(folder.parent)})) as files:
        return files.have_quotes(quotes)


def written(folder: Path, kind: str) -> str:
    name = f"paper.{kind}"
    if kind == "pdf":
        canvas = Canvas(str(folder / name))
        canvas.drawString(72, 700, "The customary constant k is sixty, cho-")
        canvas.drawString(72, 680, "sen in a pilot study of four runs.")
        canvas.save()
    texts = {
        "xml": "<TEI><p>The customary <hi>constant</hi> k is sixty,<note>12</note> chosen in a pilot study of four "
        "runs.</p></TEI>",
        "json": json.dumps({"texts": [{"text": SENTENCE}]}),
        "md": SENTENCE.replace(" is", "\n**is**"),
    }
    if kind in texts:
        (folder / name).write_text(texts[kind])
    return name


@pytest.mark.parametrize("kind", ["xml", "json", "md", "pdf"])
def test_a_quote_is_found_in_its_file_and_a_changed_one_is_not(papers: Path, kind: str) -> None:
    """The figure is only worth something if it does not trust what parsed and verified the
    quote."""
    name = written(papers, kind)
    quotes = [
        SENTENCE,
        SENTENCE.replace("sixty", "forty"),
        "Four runs chose a pilot constant of sixty.",
    ]

    assert held(papers, [(name, quote) for quote in quotes]) == (True, False, False)


def test_a_row_of_a_table_is_found_cell_by_cell(papers: Path) -> None:
    """A quoted row has the names of its columns before its cells, and that of its group before its
    own."""
    (papers / "t.md").write_text(
        "| run | 2021 |\n|---|---|\n| |recall|\n| Dense |  |\n| first | 0.91 |\n| next | 0.8 |\n"
    )

    rows = ["run: Dense / first | 2021 recall: 0.91", "run: Dense / first | 2021 recall: 0.19"]
    rows += [
        f"{rows[0]}\nrun: Dense / next | 2021 recall: 0.8",
        "run: Dense / last | 2021 recall: 0.91",
    ]

    assert held(papers, [("t.md", row) for row in rows]) == (True, False, True, False)
