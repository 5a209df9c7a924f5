"""Which questions can be judged on a corpus."""

from typing import Any

from rag_assets.evaluation.metrics import judgeable
from rag_assets.questions import Question


def question(id_: str, *papers: str, **more: Any) -> Question:
    line = {
        "id": id_,
        "question": "Why?",
        "expected": [{"paper_id": paper} for paper in papers],
        **more,
    }
    return Question.model_validate(line)


def test_only_questions_about_papers_of_the_corpus_are_judged() -> None:
    """Whoever puts a paper of the demo away would see an evaluation fail that has nothing to do
    with their corpus."""
    here, half, gone = question("here", "a"), question("half", "a", "b"), question("gone", "b")

    found = judgeable([here, half, gone], {"a", "own"})

    assert found.judged == (here,)
    assert [(asked.id, why) for asked, why in found.not_judged] == [
        ("half", "not in the corpus: b"),
        ("gone", "not in the corpus: b"),
    ]


def test_questions_written_for_another_corpus_are_not_judged_at_all() -> None:
    """That no paper answers a question was said of other papers; one's own may answer it well."""
    demo = [
        question("q1", "demo"),
        question("q2", answerable=False),
        question("q3", key_facts=[["60"]]),
    ]

    found = judgeable(demo, {"own"})

    assert found.judged == ()
    assert [asked.id for asked, _ in found.not_judged] == ["q1", "q2", "q3"]


def test_a_question_without_a_label_is_not_judged() -> None:
    """A refusal of it is no mistake: its author never said that the papers answer it."""
    unlabelled, right_away = question("q1"), question("q2", answerable=True)

    found = judgeable([unlabelled, right_away], {"own"})

    assert (found.judged, found.unlabelled) == ((right_away,), (unlabelled,))


def test_a_question_restricted_to_papers_that_are_gone_is_not_judged() -> None:
    """Nothing can be found in them, and a refusal is right."""
    restricted = question("q1", paper_ids=["gone"], key_facts=[["60"]])

    found = judgeable([restricted, question("q2", "own")], {"own"})

    assert [why for _, why in found.not_judged] == ["not in the corpus: gone"]
