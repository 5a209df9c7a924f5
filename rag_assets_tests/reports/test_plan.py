"""What a template asks, question by question."""

from pathlib import Path

from rag_assets.core.domain import PaperPoint, Point
from rag_assets.reports.plan import PlannedQuestion, Summaries, plan_report
from rag_assets.reports.templates import parse_template

SUMMARIES = {paper: {point: PaperPoint(paper, point, (), "m") for point in Point} for paper in ("iron", "steel")}


def planned(text: str, summaries: Summaries = SUMMARIES) -> list[PlannedQuestion]:
    template = parse_template(f"# Iron\n{text}", Path("iron.md"))
    return list(plan_report(template, lambda _section: ["found"], summaries).questions)


def background(one: PlannedQuestion) -> str:
    assert one.manner.background is not None
    return one.manner.background.part


def test_a_table_of_all_papers_asks_of_each_that_passes_its_filter() -> None:
    """Nobody lists a hundred papers by hand."""
    questions = planned('## Table\n```toml\npapers = "all"\nwhere = "section:results"\ncolumns = { A = "b?" }\n```\n')

    assert [(one.paper_id, one.question.paper_ids, str(one.question.where)) for one in questions] == [
        ("found", ("found",), "section:results")
    ]


def test_a_question_is_asked_as_it_stands_and_anything_else_with_its_heading() -> None:
    """Words of the heading would be looked for too, and sentences chosen for holding them."""
    questions = planned("## What is lost\n- How much iron is lost in winter?\n- The role of sweat\n")

    asked = [one.question.question for one in questions]
    assert asked == ["How much iron is lost in winter?", "What is lost: The role of sweat"]
    assert all("This part: What is lost" in background(one) for one in questions)


def test_guidance_is_searched_with_its_heading() -> None:
    """ "What was the dose?" below "Melatonin" asks of melatonin; without it, of any drug."""
    (question,) = planned("## Melatonin\nWhat was the dose?\n")

    assert question.question.question == "Melatonin: What was the dose?"


def test_guidance_above_a_list_is_shown_to_a_model() -> None:
    """What the author wrote of all questions would be read over."""
    (question,) = planned("## Losses\nOnly what concerns adults.\n\n- How much iron is lost in winter?\n")

    assert "Only what concerns adults." in background(question)


def test_a_section_may_tell_some_points_of_its_papers() -> None:
    """A section on limits would repeat what each paper found."""
    questions = planned('## Limits\n```toml\npapers = ["iron", "steel"]\nsummaries = ["limits"]\n```\n')

    assert [one.told for one in questions] == [SUMMARIES["iron"][Point.LIMITS], SUMMARIES["steel"][Point.LIMITS]]


def test_without_summaries_by_a_model_each_paper_is_asked_for_its_own() -> None:
    """Four gaps per paper, and nothing else, would stand where a summary is expected."""
    questions = planned('## All\n```toml\npapers = ["iron", "steel"]\nsummaries = true\n```\n', {})

    assert [(one.question.question, one.question.paper_ids) for one in questions] == [
        ("Summarise this paper.", ("iron",)),
        ("Summarise this paper.", ("steel",)),
    ]
    assert all(one.told is None for one in questions)


def test_a_paper_that_the_model_left_out_is_asked_for_the_same_points() -> None:
    """The rows of a section would tell different things."""
    questions = planned('## Limits\n```toml\npapers = ["iron", "new"]\nsummaries = ["limits"]\n```\n')

    assert [(one.paper_id, one.asks, one.told is None) for one in questions] == [
        ("iron", "What limits it", False),
        ("new", "What limits it", True),
    ]
