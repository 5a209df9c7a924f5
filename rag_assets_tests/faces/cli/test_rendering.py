"""What the command line shows of an answer."""

import logging

import pytest
from rich.logging import RichHandler

from rag_assets.answering.drafts import REFUSAL, SINGLE_SOURCE_NOTE
from rag_assets.answering.wording import NEAR_A_REFUSAL, NEAR_AN_ANSWER, Shown
from rag_assets.core.domain import Claim, QAResult
from rag_assets.faces.cli import rendering
from rag_assets.faces.cli.printed_answers import print_answer, print_answers
from rag_assets.faces.cli.rendering import print_hits, print_run
from rag_assets.pipeline.runs.materialize import AssetReport, CheckReport, RunReport
from rag_assets_testing.citations import answer_of, cited

LONG = (
    "Ferritin fell by 12% in all groups of runners, "
    + "as it had done in every earlier season, " * 12
    + "and rose."
)
TITLES = {"smith2020": "Ferritin in athletes"}
NOT_WRITTEN = (
    "These are sentences found in the papers, not a written answer; set answering.model for one."
)
LONG_ID = "reports of many years/" * 5 + "smith 2020"


def claim(text: str, quote: str, paper_id: str = "smith2020") -> Claim:
    return Claim(text, (cited(quote, paper_id, 3, page_end=4),))


def answer(*claims: Claim) -> QAResult:
    return answer_of(*claims, single_source=True, model="extractive-v1")


def shown(result: QAResult, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Lines as printed, without the blanks around them."""
    print_answer(Shown((result,), ()), TITLES)
    return [line.strip() for line in capsys.readouterr().out.splitlines()]


def test_no_name_of_a_file_sends_commands_to_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A paper from the web is named by a stranger, and its name is shown in errors, logs and
    tables."""
    name = "smith\x1b]0;owned\x07\x9b2J.pdf"
    handler = RichHandler(console=rendering.err())
    handler.emit(
        logging.LogRecord("rag_assets", logging.WARNING, "", 0, "Passed over: %s", (name,), None)
    )
    rendering.err().print(f"Error: {name} is empty", style="red")
    rendering.print_line(name)
    rendering.print_json({"file": name})

    shown = "".join(capsys.readouterr())
    assert shown.count("smith") == 4
    assert not set(shown) & {"\x1b", "\x07", "\x9b"}


def test_a_refusal_is_shown_with_what_the_model_found_nothing_about(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The fixed sentence alone would silently replace what was marked."""
    part = "[INSUFFICIENT DATA] hyphens kept"

    text = " ".join(shown(answer_of(unanswered=(part,)), capsys))

    assert REFUSAL in text
    assert part in text


@pytest.mark.parametrize("refused", [True, False])
def test_what_came_near_is_shown_last_with_its_place(
    refused: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Above the answer it would be taken for one."""
    near = claim("It rose in May.", "It rose in May.")
    claims = () if refused else (claim("It fell.", "It fell."),)
    result = answer_of(*claims, model="extractive-v1", nearest=(near,))

    heading = NEAR_A_REFUSAL if refused else NEAR_AN_ANSWER
    expected = [heading, "It rose in May.", "Ferritin in athletes, pp. 3-4 [smith2020]"]
    assert shown(result, capsys)[-3 if refused else -6 :][:3] == expected


def test_a_sentence_of_a_paper_is_shown_once_and_whole_with_its_title_and_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Shown as a claim and again as a cut quote, every answer was twice as long and half of it
    useless."""
    lines = shown(
        answer(claim(LONG, LONG), claim("It rose later.", "It rose later.")),
        capsys,
    )

    assert " ".join(lines).count(LONG) == 1
    places = [
        at for at, line in enumerate(lines) if line == "Ferritin in athletes, pp. 3-4 [smith2020]"
    ]
    assert len(places) == 2
    assert lines[places[0] + 1] == "", "a blank line between claims"
    assert lines[places[1] + 2] == SINGLE_SOURCE_NOTE
    assert " ".join(lines[places[1] + 4 :]) == NOT_WRITTEN


def test_answers_of_a_run_are_shown_as_one_that_was_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In the cells of a table, claims and places ran together, and one answer took the height of
    the screen."""
    fell, rose = (answer(claim(text, text)) for text in ("It fell.", "It rose."))
    alone = shown(fell, capsys)

    print_answers(Shown((fell, rose), ()), TITLES)

    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    body = alone[: alone.index("")]
    assert body[0] == "It fell."
    start = lines.index("q1  Why?") + 2
    assert lines[start : start + len(body)] == body
    assert " ".join(lines).count(NOT_WRITTEN) == 1, "said once, below all of them"
    assert " ".join(lines).endswith(NOT_WRITTEN)


def hit(**other: object) -> dict[str, object]:
    place = {
        "passage_page_start": 2,
        "passage_page_end": 2,
        "passage_page_label": None,
        "is_by_ocr": False,
    }
    found = {
        "rank": 1,
        "score": 1.0,
        "similarity": 0.5,
        "band": "weak",
        "found_by": [0],
        "section": "Results",
    }
    return {**found, **place, "paper_id": "smith2020", "passage": "Ferritin fell.", **other}


def test_what_was_found_is_shown_as_an_answer_is(capsys: pytest.CaptureFixture[str]) -> None:
    """In six columns, a passage was a strip of three words."""
    print_hits({"id": "Why?", "queries": [{}], "hits": [hit(is_by_ocr=True)]}, TITLES)

    assert capsys.readouterr().out.splitlines() == [
        "1. Ferritin fell.",
        "    Ferritin in athletes, p. 2, read by OCR [smith2020]",
        "    “Results”, weak search match, score 1.000, similarity 0.500",
        "",
    ]


def test_the_table_of_a_run_fits_a_terminal_and_says_what_it_counts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Passages below papers in one column look as if 155 papers had been added."""
    counts = {"n_added": 10_000, "n_changed": 10_000, "n_removed": 10_000, "n_unchanged": 10_000}
    facts = [{**counts, "counted": unit, "dagster/row_count": 7} for unit in ("papers", "passages")]
    made = tuple(
        AssetReport(name, one, 12.7)
        for name, one in zip(("chunks", "chroma_index"), facts, strict=True)
    )

    print_run(RunReport("5e65d6d6-0", True, made, (), ()))

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Run 5e65d6d6"
    assert lines[1].split() == [
        "asset",
        "counted",
        "added",
        "changed",
        "removed",
        "unchanged",
        "seconds",
    ]
    assert lines[2].split() == ["chunks", "papers", *["10000"] * 4, "12.7"]
    assert lines[3].split()[:2] == ["chroma_index", "passages"]
    assert all(len(line) <= 80 for line in lines)


def test_what_breaks_a_promise_is_told_row_by_row(capsys: pytest.CaptureFixture[str]) -> None:
    """A table that is wider than the terminal is a heap of bars, in which nobody finds the id of
    the paper."""
    rows = (
        {"paper_id": LONG_ID, "text": "Ferritin fell."},
        {"paper_id": "kelp", "text": "It grew."},
    )
    broken = CheckReport("chunks", "pages_known", "Each page is in its paper.", True, 2, rows)

    print_run(RunReport("5e65d6d6-0", False, (), (broken,), ()))

    assert capsys.readouterr().err.splitlines() == [
        "chunks · pages_known does not hold for 2 rows: Each page is in its paper.",
        f"  - paper_id: {LONG_ID}, text: Ferritin fell.",
        "  - paper_id: kelp, text: It grew.",
    ]
