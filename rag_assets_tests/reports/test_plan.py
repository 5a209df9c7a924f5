"""What a template asks, question by question."""

from pathlib import Path

from rag_assets.reports.templates import PlannedQuestion, parse_template, plan_report


def planned(text: str) -> list[PlannedQuestion]:
    template = parse_template(f"# Iron\n{text}", Path("iron.md"))
    return list(plan_report(template, lambda _section: ["found"]).questions)


def background(one: PlannedQuestion) -> str:
    assert one.options.background is not None
    return one.options.background.part


def test_a_table_of_all_papers_asks_of_each_that_passes_its_filter() -> None:
    """Nobody lists a hundred papers by hand."""
    questions = planned(
        '## Table\n```toml\npapers = "all"\nwhere = "section:results"\ncolumns = { A = "b?" }\n```\n'
    )

    assert [
        (one.paper_id, one.question.paper_ids, str(one.question.where)) for one in questions
    ] == [("found", ("found",), "section:results")]


def test_a_question_is_asked_as_it_stands_and_anything_else_with_its_heading() -> None:
    """Words of the heading would be looked for too, and sentences chosen for holding them."""
    questions = planned(
        "## What is lost\n- How much iron is lost in winter?\n- The role of sweat\n"
    )

    asked = [one.question.question for one in questions]
    assert asked == ["How much iron is lost in winter?", "What is lost: The role of sweat"]
    assert all("This part: What is lost" in background(one) for one in questions)


def test_guidance_is_searched_with_its_heading() -> None:
    """ "What was the dose?" below "Melatonin" asks of melatonin; without it, of any drug."""
    (question,) = planned("## Melatonin\nWhat was the dose?\n")

    assert question.question.question == "Melatonin: What was the dose?"


def test_guidance_above_a_list_is_shown_to_a_model() -> None:
    """What the author wrote of all questions would be read over."""
    (question,) = planned(
        "## Losses\nOnly what concerns adults.\n\n- How much iron is lost in winter?\n"
    )

    assert "Only what concerns adults." in background(question)
