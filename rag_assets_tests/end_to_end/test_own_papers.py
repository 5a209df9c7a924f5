"""What a new user meets who puts papers of their own in the place of the demo's, or beside them."""

import json

import pytest

from rag_assets_testing.world import QUESTIONS, World

OWN = ("Granite and heat", "Granite loses its water slowly when it is heated from below.")


def outcomes(world: World) -> dict[str, str]:
    latest = json.loads((world.paths.evaluation / "latest.json").read_text())
    return {row["question_id"]: row["outcome"] for row in latest["results"]}


def label(paper_id: str, question: dict[str, object]) -> dict[str, object]:
    return {**question, "expected": [{"paper_id": paper_id}]}


@pytest.fixture
def labelled(world: World) -> World:
    """Questions that say which papers answer them, as those of the demo do; floors as they are
    shipped."""
    ferritin, basalt, opera = (
        {k: v for k, v in one.items() if k != "paper_ids"} for one in QUESTIONS
    )
    world.write_questions([label("ferritin", ferritin), label("basalt", basalt), opera])
    return world


def test_own_papers_instead_of_the_demos_end_without_a_failure(labelled: World) -> None:
    """All of the demo's questions are refused, rightly; a red run would tell the user that their
    papers are bad."""
    for paper in labelled.paths.papers.iterdir():
        paper.unlink()
    labelled.write_paper("granite", *OWN)

    outcome = labelled.run(evaluation={}, execution={"allow_removal": True})

    assert outcome.is_success, outcome.broken or outcome.failures
    assert outcomes(labelled) == dict.fromkeys(["q1", "q2", "q3"], "not judged")
    assert "not in the corpus: ferritin" in outcome.warned["smoke_eval.questions_judged"]
    assert outcome.facts["smoke_eval"]["verdict"].startswith("nothing to judge")
    assert outcome.facts["smoke_eval"]["n_judged"] == 0


def test_a_question_file_that_was_named_and_is_missing_stops_the_run_before_its_first_asset(
    world: World,
) -> None:
    """A mistyped setting must not withdraw the published answers."""
    published = world.bytes_of(world.paths.qa)

    outcome = world.run(questions=str(world.paths.questions / "typo.jsonl"))

    assert not outcome.is_success
    assert not outcome.counts
    assert world.bytes_of(world.paths.qa) == published
