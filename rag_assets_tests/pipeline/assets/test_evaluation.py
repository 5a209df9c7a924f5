"""The evaluation as the Dagster UI shows it."""

from rag_assets.evaluation.metrics import METRICS
from rag_assets.pipeline.assets.evaluation import history_table, results_table, slices_table


def entry(day: int, mrr: float | None, *, accepted: bool = True) -> dict[str, object]:
    return {
        "timestamp": f"2026-01-{day:02}T02:00:00+00:00",
        "run_id": f"{day:08}-abcd",
        "accepted": accepted,
        "metrics": {"paper_mrr": mrr},
    }


def test_the_history_begins_with_the_newest_and_says_which_were_accepted() -> None:
    """A reader took the oldest run for the newest, and a rejected figure for a good one."""
    history = [entry(day, 0.5) for day in range(1, 11)] + [entry(11, None), entry(12, 0.25, accepted=False)]

    rows = [line.split(" | ") for line in history_table(history).splitlines()[2:]]

    assert [row[0].removeprefix("| ") for row in rows[:3]] == [
        "2026-01-12T02:00:00+00:00 (newest)",
        "2026-01-11T02:00:00+00:00",
        "2026-01-10T02:00:00+00:00",
    ]
    column = 3 + [metric.name for metric in METRICS].index("paper_mrr")
    assert [row[1] for row in rows[:2]] == ["00000012", "00000011"]
    assert [row[2] for row in rows[:2]] == ["not accepted", "accepted"]
    assert [row[column] for row in rows[:3]] == ["0.250", "", "0.500"], "a metric that was not measured is no zero"
    assert len(rows) == 10


def test_an_entry_of_an_earlier_version_is_shown_without_its_time() -> None:
    """The history may hold entries of an earlier version."""
    old = {"accepted": True, "metrics": {"paper_mrr": 0.5}}

    assert "time not recorded (newest)" in history_table([old])


def test_questions_that_need_a_look_come_first() -> None:
    """In a file of a thousand questions the wrong answers must come first to be seen."""
    outcomes = ["right", "unlabelled", "wrong", "not judged"]
    rows = [{"question": str(n), "outcome": outcome} for n, outcome in enumerate(outcomes)]

    shown = [line.split(" | ")[1].removesuffix(" |") for line in results_table(rows).splitlines()[2:]]

    assert shown == ["wrong", "not judged", "unlabelled", "right"]


def test_the_table_of_questions_begins_with_the_question() -> None:
    """A reader looks for the question that went wrong, and an id does not tell it."""
    rows = [{"question_id": "q1", "question": "Why?", "outcome": "right"}]
    rows += [{"question_id": "q2", "question": "How?", "outcome": "wrong"}]

    lines = results_table(rows).splitlines()

    assert lines[0] == "| question | outcome | why | got | expected | question_id |"
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| How?", "| Why?"]


def test_slices_are_shown_with_their_past() -> None:
    """A tag that fell shows in its own row, where the mean over all hides it."""
    past = [{"slices": {"tables": {"n": 2, "paper_mrr": value}}} for value in (1.0, None, 0.5)]

    assert slices_table(past).splitlines()[2] == "| tables | 2 | 1.000 → – → 0.500 |"
