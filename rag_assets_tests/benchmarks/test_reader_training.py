"""Training of the sentence reader: lines, question files, wrong lines beside right ones, and the
file that is read."""

import hashlib
import importlib.util
import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.reader_training.groups import GROUP_SIZE, drawn, passes
from benchmarks.reader_training.lines import BadFile, Line, lines_of, read_lines, write_lines
from benchmarks.reader_training.measures import auc, candidates_of, measured
from benchmarks.reader_training.nearness import Compared, NearLines
from benchmarks.reader_training.questions import Question, read_questions
from benchmarks.reader_training.weights_file import write_weights
from rag_assets.search.reranking.trained_reader import (
    FILE,
    MAX_BEFORE,
    MAX_QUESTION,
    MAX_SENTENCE,
    head_of,
    joined,
    merged,
    trained,
)
from rag_assets_testing.numpy_bert import NumpyReader
from rag_assets_tests.answering.builders import WordEncoder, chunk

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


def questions_in(tmp_path: Path, text: str) -> list[Question]:
    file = tmp_path / "questions.tsv"
    file.write_text(text, "utf-8")
    return read_questions([file], LINES)


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


def test_what_a_paper_says_twice_is_one_line_and_what_a_model_wrote_is_none() -> None:
    """Of two equal lines one would be trained as wrong beside the right one."""
    twice = [replace(CHUNKS[0], ordinal=1, chunk_id="again"), CHUNKS[0]]
    generated = replace(CHUNKS[1], is_generated=True)

    assert list(lines_of([*twice, generated])) == list(lines_of(CHUNKS[:1]))


def test_lines_are_numbered_in_the_order_of_the_paper() -> None:
    """Who writes questions reads the paper from its beginning to its end."""
    later = replace(
        CHUNKS[0], text="Nobody paid for the study of these clubs.", chunk_id="later", ordinal=1
    )

    lines = list(lines_of([later, CHUNKS[0]]))

    assert [one.number for one in lines] == list(range(6))
    assert lines[-1].text == later.text


def test_lines_are_read_as_they_were_written_and_shown_to_those_who_write_questions(
    tmp_path: Path,
) -> None:
    """Numbers in question files would point at other lines than the writer saw."""
    lines = list(lines_of(CHUNKS))

    assert write_lines(lines, tmp_path / "out") == 2

    assert read_lines(tmp_path / "out" / "lines.jsonl") == lines
    shown = (tmp_path / "out" / "papers" / "iron.txt").read_text("utf-8").splitlines()
    assert shown[:2] == ["## Results", "0 Runners ate iron tablets for a month."]
    assert shown[-1] == "4 [row] Table 1: Ferritin by group | Group: placebo | Ferritin: 22"


def test_lines_are_never_written_over_others(tmp_path: Path) -> None:
    """Questions that were written for the old ones would be answered by other lines, without a
    word."""
    write_lines(LINES, tmp_path)

    with pytest.raises(BadFile, match=r"lines\.jsonl is there already"):
        write_lines(LINES[:1], tmp_path)


@pytest.mark.parametrize(
    "changed",
    [{"number": 3}, {"kind": "heading"}, {"text": ""}, {"before": None}, {"another": "key"}],
)
def test_a_line_that_is_not_as_written_is_named_by_file_and_number(
    tmp_path: Path, changed: dict[str, Any]
) -> None:
    """A file that was cut or sorted by hand would train on wrong answers."""
    write_lines(LINES, tmp_path)
    file = tmp_path / "lines.jsonl"
    rows = file.read_text().splitlines()
    rows[1] = json.dumps(json.loads(rows[1]) | changed)
    file.write_text("\n".join(rows))

    with pytest.raises(BadFile) as refused:
        read_lines(file)

    assert (
        str(refused.value)
        == f"{file}, line 2 is not a line as the command `lines` writes it, in its order."
    )


def test_a_question_file_names_the_lines_that_answer_the_best_one_first(tmp_path: Path) -> None:
    """The best one is trained most often."""
    text = "\ufeff# iron\r\n2, 1\tDid ferritin fall?\n\n-\tWho paid?\n# basalt\n0\twhat takes up water\n"

    assert questions_in(tmp_path, text) == [
        Question("Did ferritin fall?", "iron", (LINES[2], LINES[1])),
        Question("Who paid?", "iron", ()),
        Question("what takes up water", "basalt", (LINES[5],)),
    ]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("7\tWhy?", "the paper has no line 7; its lines are numbered 0 to 4."),
        ("x\tWhy?", '"x" is no number of a line; expected numbers with commas, or -.'),
        ("1,\tWhy?", '"" is no number of a line; expected numbers with commas, or -.'),
        ("-1\tWhy?", '"-1" is no number of a line; expected numbers with commas, or -.'),
        ("1 Why?", "expected the numbers of lines, one tab and a question."),
        ("1\t", "expected the numbers of lines, one tab and a question."),
        ("1\tWhy?\tmore", "expected the numbers of lines, one tab and a question."),
        ("# copper", 'no paper "copper" is among the lines.'),
    ],
)
def test_a_line_of_a_question_file_that_cannot_be_used_is_named(
    tmp_path: Path, row: str, problem: str
) -> None:
    """One wrong line in thousands must be found without reading them all."""
    with pytest.raises(BadFile) as refused:
        questions_in(tmp_path, f"# iron\n1\tDid it fall?\n{row}\n")

    assert str(refused.value) == f"{tmp_path / 'questions.tsv'}, line 3: {problem}"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"1\tWhy?", ", line 1: a line `# PAPER` must stand before the first question."),
        (b"# iron\n", " holds no questions."),
        (b"# iron\n1\tna\xefve?", " is not UTF-8 at byte 11."),
    ],
)
def test_a_question_file_that_cannot_be_used_says_why(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    """An hour of training would begin without these questions."""
    file = tmp_path / "questions.tsv"
    file.write_bytes(content)

    with pytest.raises(BadFile) as refused:
        read_questions([file], LINES)

    assert str(refused.value) == f"{file}{problem}"


def test_wrong_lines_are_the_nearest_of_the_paper_and_none_that_says_the_answer_again() -> None:
    """Far lines alone teach the subject; a second right line, trained as wrong, teaches against the
    first."""
    again = line(5, "“Ferritin fell by 12 % in all groups of runners,” it says.")
    near = NearLines([*LINES[:5], again, *LINES[5:]], WordEncoder())

    compared = near.compared(
        Question("How far did ferritin of all groups of runners fall?", "iron", (LINES[1],))
    )

    assert compared.near[:2] == (LINES[2], LINES[4])
    assert set(compared.near) == {LINES[0], LINES[2], LINES[3], LINES[4]}
    assert compared.far == (LINES[5],), (
        "the other paper's line in the same words is no wrong answer"
    )


def test_a_line_that_has_the_words_of_a_question_in_another_form_is_near_it() -> None:
    """It looks right to whoever goes by words, so it is what the reader has to see through."""
    lines = [line(0, "They swam in the lake."), line(1, "She jumps over hedges.")]

    assert (
        NearLines(lines, WordEncoder()).nearest(Question("Who jumped?", "iron", ()), 1) == lines[1:]
    )


def test_lines_of_other_fields_are_the_nearest_of_papers_on_other_subjects() -> None:
    """A reader that never saw them answers what no paper is about."""
    own = [line(0, "Ferritin fell in runners."), line(1, "Runners ate iron.")]
    alike = [line(0, "Iron and ferritin of runners rose.", "ferritin")]
    other = [
        line(0, "Sonnets fell out of use.", "sonnets"),
        line(1, "Poets wrote odes.", "sonnets"),
    ]
    near = NearLines([*own, *alike, *other], WordEncoder())

    compared = near.compared(Question("How far fell ferritin?", "iron", (own[0],)))

    assert compared.strange == tuple(other)


def test_a_single_paper_can_be_trained_on() -> None:
    """There are no lines of others to draw from."""
    near = NearLines(LINES[:5], WordEncoder())

    compared = near.compared(Question("Who paid for the tablets?", "iron", ()))

    assert len(compared.near) == 5
    assert compared.far == compared.strange == ()
    assert {one.text for one in drawn(compared, random.Random(0)).lines} <= {
        one.text for one in LINES
    }


def compared_with(n_answers: int) -> Compared:
    answers = tuple(line(number, f"answer {number}") for number in range(n_answers))
    near = tuple(line(100 + number, f"near {number}") for number in range(40))
    far = tuple(line(number, f"far {number}", "basalt") for number in range(16))
    strange = tuple(line(number, f"strange {number}", "sonnets") for number in range(16))
    return Compared(Question("How many?", "iron", answers), near, far, strange)


def test_a_group_holds_one_answer_at_most_among_near_and_far_lines() -> None:
    """Two right lines in one group would be trained against each other."""
    chance = random.Random(0)

    groups = [drawn(compared_with(3), chance) for _ in range(400)]

    for group in groups:
        assert len(set(group.lines)) == GROUP_SIZE
        assert [one.text.startswith("answer") for one in group.lines] == [group.has_answer] + [
            False
        ] * (GROUP_SIZE - 1)
    first = [group.lines[0].number for group in groups if group.has_answer]
    assert first.count(0) > first.count(1) > 0 < first.count(2), "the best answer is drawn most"
    without = [group for group in groups if not group.has_answer]
    assert 50 < len(without) < 110
    papers = [{one.paper for one in group.lines} for group in without]
    assert papers.count({"basalt"}) + papers.count({"sonnets"}) == len(without), (
        "lines of the own paper may answer"
    )
    assert papers.count({"basalt"}) > 10 < papers.count({"sonnets"})


def test_a_question_without_an_answer_is_trained_on_the_lines_that_look_most_like_one() -> None:
    """The reader is to refuse where a paper is near and silent."""
    group = drawn(compared_with(0), random.Random(0))

    assert not group.has_answer
    assert [one.text for one in group.lines[:4]] == ["near 0", "near 1", "near 2", "near 3"]
    assert len(group.lines) == GROUP_SIZE


def test_every_question_is_trained_as_often_as_any_other() -> None:
    """Some would never be seen in a short training."""
    compared = [
        replace(compared_with(1), question=Question(str(nth), "iron", ())) for nth in range(5)
    ]
    endless = passes(compared, random.Random(0))

    seen = [[next(endless).question.text for _ in compared] for _ in range(2)]

    assert sorted(seen[0]) == sorted(seen[1]) == list("01234")
    assert seen[0] != seen[1]


def test_held_out_questions_tell_how_often_the_best_line_answers_and_a_refusal_is_due() -> None:
    """Weights are kept or thrown away by these figures."""
    near = NearLines(LINES, WordEncoder())
    asked = [
        Question("Did ferritin fall in all groups of runners?", "iron", (LINES[1],)),
        Question("What did runners eat?", "iron", (LINES[3],)),
        Question("Who paid for the tablets of runners?", "iron", ()),
    ]
    by_question = {asked[0].text: 3.0, asked[1].text: 1.0, asked[2].text: 2.0}

    def score(question: str, lines: Any) -> Any:
        return np.array([by_question[question] - (one != LINES[1]) for one in lines], np.float32)

    found = measured(candidates_of(asked, near), score)

    assert (found.n_answerable, found.n_unanswerable) == (2, 1)
    assert (found.best_right, found.any_right, found.auc) == (0.5, 1.0, 0.5)
    assert auc([1.0, 2.0], [1.0]) == 0.75
    assert np.isnan(auc([1.0], []))


def test_the_file_has_the_names_and_types_of_the_one_that_the_product_ships(tmp_path: Path) -> None:
    """The product would refuse the trained weights, or read them as others."""
    shipped = trained()
    file = tmp_path / "weights.safetensors"

    sha256 = write_weights(shipped, file)

    assert sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert written_types(file) == written_types(FILE)
    again = trained(file, sha256)
    assert all(np.array_equal(again[name], values) for name, values in shipped.items())


def written_types(file: Path) -> dict[str, tuple[str, list[int]]]:
    """Name -> type and shape, from the header (8 bytes of length, then JSON)."""
    content = file.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return {
        name: (entry["dtype"], entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def test_training_without_torch_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A traceback about a missing module says nothing about which version was tried."""
    from benchmarks.reader_training.__main__ import main

    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    out = ["--steps", "1", "--out", str(tmp_path / "w.safetensors")]
    monkeypatch.setattr(
        "sys.argv", ["reader_training", "train", "lines.jsonl", "questions.tsv", *out]
    )

    with pytest.raises(SystemExit, match=re.escape("pip install torch==2.13.0")):
        main()


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
