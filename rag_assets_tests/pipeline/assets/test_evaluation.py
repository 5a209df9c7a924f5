"""The evaluation as the Dagster UI shows it."""

from rag_assets.pipeline.assets.evaluation import (
    history_table,
    results_table,
    worse_table,
)


def entry(day: int, mrr: float | None, *, accepted: bool = True) -> dict[str, object]:
    return {
        "timestamp": f"2026-01-{day:02}T02:00:00+00:00",
        "run_id": f"{day:08}-abcd",
        "accepted": accepted,
        "metrics": {"paper_mrr": mrr},
    }


def test_the_history_begins_with_the_newest_and_says_which_were_accepted() -> None:
    """A reader took the oldest run for the newest, and a rejected figure for a good one. A row per
    evaluation is cut off in the window, with two thirds of its metrics."""
    history = [entry(day, 0.5) for day in range(1, 11)] + [
        entry(11, None),
        entry(12, 0.25, accepted=False),
    ]

    heading, _, *rows = [
        line.strip("| ").split(" | ") for line in history_table(history).splitlines()
    ]

    assert heading[:3] == [
        "metric",
        "2026-01-12 02:00:00, run 00000012",
        "2026-01-11 02:00:00, run 00000011",
    ]
    assert len(heading) == 7
    assert rows[0][:3] == ["verdict", "not accepted", "accepted"]
    assert rows[1][:4] == ["paper_mrr", "0.250", "", "0.500"], (
        "a metric that was not measured is no zero"
    )
    assert len(rows) == 2, "nor a row"


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
