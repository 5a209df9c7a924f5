"""What the command line shows of an answer."""

import pytest

from rag_assets.answering.drafts import REFUSAL, SINGLE_SOURCE_NOTE
from rag_assets.answering.wording import NEAR_A_REFUSAL, NEAR_AN_ANSWER
from rag_assets.core.domain import Citation, Claim, QAResult, Verification
from rag_assets.faces.cli.rendering import print_answer

LONG = "Ferritin fell by 12% in all groups of runners, " + "as it had done in every earlier season, " * 12 + "and rose."
TITLES = {"smith2020": "Ferritin in athletes"}


def claim(text: str, quote: str, paper_id: str = "smith2020") -> Claim:
    return Claim(
        text, (Citation(paper_id, f"{paper_id}:1", 3, 4, quote, (), Verification.EXACT, start=0, end=len(quote)),)
    )


def answer(*claims: Claim, model: str) -> QAResult:
    return QAResult("q1", "Why?", "as worded", claims, False, True, ("smith2020",), (), model, ("c",), "f")


def shown(result: QAResult, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Lines as printed, without the blanks around them."""
    print_answer(result, TITLES)
    return [line.strip() for line in capsys.readouterr().out.splitlines()]


def test_a_refusal_is_shown_with_what_the_model_found_nothing_about(capsys: pytest.CaptureFixture[str]) -> None:
    """The fixed sentence alone would silently replace what was marked."""
    part = "[INSUFFICIENT DATA] hyphens kept"
    refused = QAResult("q1", "Why?", REFUSAL, (), True, False, (), (part,), "m", ("c",), "f")

    text = " ".join(shown(refused, capsys))

    assert REFUSAL in text
    assert part in text


def test_a_refusal_is_shown_with_the_names_that_were_not_found(capsys: pytest.CaptureFixture[str]) -> None:
    """A reader sees whether the corpus or the spelling is to blame."""
    names = ("Chinese", "2019")
    refused = QAResult("q1", "Why?", REFUSAL, (), True, False, (), (), "m", ("c",), "f", missing_names=names)

    assert shown(refused, capsys)[-1] == 'No passage that was found names "Chinese" or "2019".'


@pytest.mark.parametrize("refused", [True, False])
def test_what_came_near_is_shown_last_with_its_place(refused: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Above the answer it would be taken for one."""
    near = claim("It rose in May.", "It rose in May.")
    claims = () if refused else (claim("It fell.", "It fell."),)
    text = REFUSAL if refused else "as worded"
    result = QAResult("q1", "Why?", text, claims, refused, False, (), (), "extractive-v1", ("c",), "f", nearest=(near,))

    heading = NEAR_A_REFUSAL if refused else NEAR_AN_ANSWER
    assert shown(result, capsys)[-3:] == [heading, "It rose in May.", "Ferritin in athletes, pp. 3-4 [smith2020]"]


def test_a_sentence_of_a_paper_is_shown_once_and_whole_with_its_title_and_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Shown as a claim and again as a cut quote, every answer was twice as long and half of it useless."""
    lines = shown(answer(claim(LONG, LONG), claim("It rose later.", "It rose later."), model="extractive-v1"), capsys)

    assert " ".join(lines).count(LONG) == 1
    places = [at for at, line in enumerate(lines) if line == "Ferritin in athletes, pp. 3-4 [smith2020]"]
    assert len(places) == 2
    assert lines[places[0] + 1] == "", "a blank line between claims"
    assert lines[places[1] + 2] == SINGLE_SOURCE_NOTE
    assert " ".join(lines[places[1] + 3 :]) == (
        "These are sentences found in the papers, not a written answer; set answering.model for one."
    )


def test_what_a_model_wrote_is_shown_with_its_quotes(capsys: pytest.CaptureFixture[str]) -> None:
    """The quote is what a reader holds the claim against."""
    lines = shown(answer(claim("Ferritin sank.", "Ferritin fell."), model="google:m"), capsys)

    assert lines[:3] == ["Ferritin sank.", "“Ferritin fell.”", "Ferritin in athletes, pp. 3-4 [smith2020]"]
    assert "sentences found" not in " ".join(lines)


def test_a_paper_without_a_title_is_named_by_its_id(capsys: pytest.CaptureFixture[str]) -> None:
    """Text files have none."""
    lines = shown(answer(claim("It fell.", "It fell.", paper_id="u"), model="extractive-v1"), capsys)

    assert lines[1] == "u, pp. 3-4"


def test_text_of_papers_neither_colours_nor_moves_anything(capsys: pytest.CaptureFixture[str]) -> None:
    """Papers are full of brackets, and some hold escape sequences."""
    hostile = claim("[red]It fell \x1b[2J.", "quote \x1b]0;title\x07 [bold]")

    text = " ".join(shown(answer(hostile, model="google:m"), capsys))

    assert "[red]It fell" in text
    assert "[bold]" in text
    assert "\x1b" not in text
