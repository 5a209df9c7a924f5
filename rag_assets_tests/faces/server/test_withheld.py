"""An answer that breaks a promise, as those who ask see it: told in words, and never as a fault of
the server."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from rag_assets.answering.drafts import WITHHELD
from rag_assets.core.domain import Claim
from rag_assets.faces.cli.main import app
from rag_assets_testing.world import QUESTIONS, World
from rag_assets_tests.end_to_end.test_guardrails import sabotage_answers
from rag_assets_tests.faces.server.live import served

FERRITIN, BASALT = (str(one["question"]) for one in QUESTIONS[:2])
WHY = "21% stands in none of its quotes"


def with_another_number(claim: Claim) -> Claim:
    """The claim about ferritin made false; all others of it are dropped with their numbers."""
    return (
        replace(claim, text=f"{claim.text} It fell by 21%.") if "erritin" in claim.text else claim
    )


def test_a_withheld_answer_is_told_in_words_by_page_and_command(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page showed "The request failed on the server", and the turn was gone from its
    history."""
    sabotage_answers(monkeypatch, with_another_number)
    with served(world.paths.data) as live:
        reply = live.ask(FERRITIN)
        kept = reply.json()["conversation_id"]
        stream = live.ask(FERRITIN, as_events=True, conversation_id=kept).text
        turns = live.client.get(f"/api/conversations/{kept}").json()["turns"]
        table = live.client.post(
            "/api/tables", json={"columns": {"Fall": FERRITIN, "Water": BASALT}}
        ).json()

    answer = reply.json()["answer"]
    assert (reply.status_code, answer["answer"], answer["withheld"], answer["refused"]) == (
        200,
        WITHHELD,
        True,
        False,
    )
    assert {(one["reason"], one["message"]) for one in reply.json()["dropped"]} == {
        ("numbers_agree", WHY)
    }
    assert any(WHY in note for note in reply.json()["notes"])
    assert ("event: done" in stream, "event: error" in stream) == (True, False)
    assert "event: claim" not in stream, "nor is it shown as verified on the way"
    assert [turn["answer"]["answer"] for turn in turns] == [WITHHELD, WITHHELD]
    cells = {
        row["paper_id"]: [cell["text"] or cell["reason"] for cell in row["cells"]]
        for row in table["rows"]
    }
    assert cells["ferritin"][0] == WITHHELD.rstrip("."), "the papers may say it"
    assert "cracks" in cells["basalt"][1], "one bad cell costs no other"

    shown = CliRunner().invoke(app, ["ask", FERRITIN, "--data", str(world.paths.data)])
    assert (shown.exit_code, shown.stdout.startswith(WITHHELD)) == (0, True)
    assert WHY in " ".join(shown.stdout.split())
    assert json.dumps(turns).count("numbers_agree") >= 2, "the reasons are kept with the turns"
