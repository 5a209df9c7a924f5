"""Training of the sentence reader: lines, question files, wrong lines beside right ones, and the
file that is read."""

import hashlib
import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.reader_training.lines import Line, lines_of, write_lines
from benchmarks.reader_training.weights_file import write_weights
from rag_assets.search.reranking.trained_reader import (
    MAX_BEFORE,
    MAX_QUESTION,
    MAX_SENTENCE,
    head_of,
    joined,
    merged,
    trained,
)
from rag_assets_testing.numpy_bert import NumpyReader
from rag_assets_tests.answering.builders import chunk

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)
IRON = """Iron and endurance

Runners ate iron tablets for a month. They were forty women from two clubs. Ferritin fell by 12 % in all groups.

Table 1: Ferritin by group
Group: tablets | Ferritin: 31
Group: placebo | Ferritin: 22"""
BASALT = """Basalt takes up water where faults run deep. Magma came from below the old crust of the island.
The samples were cut from eleven cores of two holes."""
CHUNKS = [chunk("iron", IRON), chunk("basalt", BASALT.replace("\n", " "))]


def line(number: int, text: str, paper: str = "iron") -> Line:
    return Line(paper, number, "sentence", "", "", text)


LINES = [
    line(0, "Runners ate iron tablets for a month."),
    line(1, "Ferritin fell by 12 % in all groups of runners."),
    line(2, "In all groups of runners, ferritin fell by 12 %, as expected."),
    line(3, "The tablets were white and round."),
    line(4, "All groups of women ran in the morning, and some of them in the evening."),
    line(0, "Basalt takes up water where faults run deep.", "basalt"),
    line(1, "Ferritin fell by 12 % in all groups of runners.", "basalt"),
]


def test_the_lines_of_a_paper_are_the_sentences_and_rows_that_an_answer_can_publish() -> None:
    """The reader would be trained on texts that it is never asked about: headings, captions,
    halves."""
    lines = list(lines_of(CHUNKS))

    iron = [one for one in lines if one.paper == "iron"]
    assert [(one.number, one.kind, one.before, one.text) for one in iron] == [
        (0, "sentence", "", "Runners ate iron tablets for a month."),
        (
            1,
            "sentence",
            "Runners ate iron tablets for a month. ",
            "They were forty women from two clubs.",
        ),
        (
            2,
            "sentence",
            "Runners ate iron tablets for a month. They were forty women from two clubs. ",
            "Ferritin fell by 12 % in all groups.",
        ),
        (3, "row", "", "Table 1: Ferritin by group | Group: tablets | Ferritin: 31"),
        (4, "row", "", "Table 1: Ferritin by group | Group: placebo | Ferritin: 22"),
    ]
    assert [one.paper for one in lines[:3]] == ["basalt"] * 3, (
        "papers stand in the order of their ids"
    )


def test_of_long_texts_training_and_product_read_the_same_parts() -> None:
    """What stands right before a sentence tells what "they" are; its distant beginning does not."""
    ids, segments = joined(range(1000, 1100), range(2000, 2100), range(3000, 3100))

    assert ids[segments == 0].tolist()[1:-1] == list(range(1000, 1000 + MAX_QUESTION))
    assert ids[segments == 1].tolist() == list(range(2100 - MAX_BEFORE, 2100))
    assert ids[segments == 2].tolist()[:-1] == list(range(3000, 3000 + MAX_SENTENCE))


@needs_torch
def test_the_product_reads_what_a_short_training_wrote(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Weights that cannot be loaded, or are others at each training, cannot be published with
    figures."""
    from benchmarks.reader_training.__main__ import main

    write_lines(list(lines_of(CHUNKS)), tmp_path)
    questions = tmp_path / "questions.tsv"
    questions.write_text(
        "# iron\n0\tWhat did they eat?\n2,3\tdid ferritin fall\n-\tWho paid?\n", "utf-8"
    )
    held_out = tmp_path / "held_out.tsv"
    held_out.write_text("# basalt\n1\tWhere did magma come from?\n-\tWho cut them?\n", "utf-8")
    digests = []
    for name in ("first", "second"):
        out = tmp_path / f"{name}.safetensors"
        given = [
            "train",
            tmp_path / "lines.jsonl",
            questions,
            "--steps",
            3,
            "--threads",
            1,
            "--out",
            out,
        ]
        monkeypatch.setattr(
            "sys.argv", ["reader_training", *map(str, given), "--held-out", str(held_out)]
        )
        main()
        digests.append(hashlib.sha256(out.read_bytes()).hexdigest())

    assert digests[0] == digests[1]
    said = capsys.readouterr().out
    assert f"SHA-256 {digests[0]}" in said
    assert "step 3: loss" in said
    assert said.count("1 answerable questions") == 4, "before and after, twice"
    tensors = trained(tmp_path / "first.safetensors", digests[0])
    assert {name: values.shape for name, values in tensors.items()} == {
        name: values.shape for name, values in trained().items()
    }
    assert all(np.isfinite(values).all() for values in merged(tensors).values())
    assert tensors["encoder.layer.0.attention.self.query.up"].any(), "something was learned"
    assert head_of(tensors).nearness != 5


@needs_torch
def test_training_scores_a_line_as_the_product_does(tmp_path: Path) -> None:
    """What was trained would not be what is run: another mask, another mean, a factor that the file
    lacks."""
    import torch

    from benchmarks.reader_training.model import ReaderInTraining

    torch.manual_seed(0)
    reader = ReaderInTraining(4, torch.float32)
    with torch.no_grad():
        for value in reader.trained.values():
            value += torch.randn_like(value) * 0.03
    file = tmp_path / "weights.safetensors"
    write_weights(reader.tensors(), file)
    product = NumpyReader(file)  # which the scores of the product are tested against
    asked = "How far did it fall?"
    lines = [
        replace(LINES[0], before="Before it stands this. " * 9),
        replace(LINES[3], text="Iron. " * 90),
        LINES[3],
    ]

    with torch.inference_mode():
        scores = reader.scores(asked, lines).numpy()

    assert np.ptp(scores) > 0.3, "equal scores would prove nothing"
    assert np.allclose(
        scores, [product.score(asked, one.before, one.text) for one in lines], atol=0.02
    )
