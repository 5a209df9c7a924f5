"""The evaluation as the Dagster UI shows it."""

from rag_assets.pipeline.assets.evaluation import (
    results_table,
    worse_table,
)


def test_answers_that_got_worse_are_shown_from_where_they_differ() -> None:
    """Both were cut at the end of a cell, and looked the same."""
    common = "The customary constant is sixty. [Fusion (2021), p. 2] " * 20
    row = {
        "question": "Which k?",
        "before": f"{common}It is 60.",
        "now": f"{common}It is 61.",
        "worse": "key_facts",
    }

    shown = worse_table([row, {**row, "before": "It is 60.", "now": "It is 61."}]).splitlines()[2:]

    cited = r"… \[Fusion (2021), p. 2] It is"
    assert shown[0] == f"| Which k? | {cited} 60. | {cited} 61. | key_facts |", (
        "a citation is not cut"
    )
    assert shown[1] == "| Which k? | It is 60. | It is 61. | key_facts |"


def test_questions_that_need_a_look_come_first() -> None:
    """In a file of a thousand questions the wrong answers must come first to be seen."""
    outcomes = ["right", "unlabelled", "wrong", "not judged"]
    rows = [{"question": str(n), "outcome": outcome} for n, outcome in enumerate(outcomes)]

    shown = [
        line.split(" | ")[1].removesuffix(" |") for line in results_table(rows).splitlines()[2:]
    ]

    assert shown == ["wrong", "not judged", "unlabelled", "right"]


def test_the_table_of_questions_begins_with_the_question() -> None:
    """A reader looks for the question that went wrong, and an id does not tell it."""
    rows = [{"question_id": "q1", "question": "Why?", "outcome": "right"}]
    rows += [{"question_id": "q2", "question": "How?", "outcome": "wrong"}]

    lines = results_table(rows).splitlines()

    assert lines[0] == "| question | outcome | why | got | expected | question_id |"
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| How?", "| Why?"]
