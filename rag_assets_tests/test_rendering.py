"""What the command line shows of an answer."""

import pytest

from rag_assets.answering.drafts import REFUSAL
from rag_assets.model import QAResult
from rag_assets.rendering import print_answer


def test_a_refusal_is_shown_with_what_the_model_found_nothing_about(capsys: pytest.CaptureFixture[str]) -> None:
    """The fixed sentence alone would silently replace what was marked."""
    part = "[INSUFFICIENT DATA] hyphens kept"
    refused = QAResult("q1", "Why?", REFUSAL, (), True, False, (), (part,), "m", ("c",), "f")

    print_answer(refused)

    shown = " ".join(capsys.readouterr().out.split())
    assert REFUSAL in shown
    assert part in shown
