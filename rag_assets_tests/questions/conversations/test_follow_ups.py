"""Follow-up questions read by rules."""

import pytest

from rag_assets import questions
from rag_assets.questions.conversations import Rewritten, Turn, standalone
from rag_assets_tests.questions.conversations.follow_ups import FollowUp, follow_ups

PAIRS = follow_ups()


def answered(question: str, *cited: str, asked: Rewritten | None = None) -> Turn:
    return Turn(question, asked or Rewritten.as_it_stands(question), {"sources_used": list(cited)})


@pytest.mark.parametrize(
    "pair", [pair for pair in PAIRS if pair.needs == "papers"], ids=lambda pair: pair.follow_up
)
def test_a_follow_up_about_a_cited_paper_is_asked_of_that_paper_in_its_own_words(
    pair: FollowUp,
) -> None:
    """Other papers would answer under the name of the one that was meant."""
    assert pair.read().paper_ids == pair.papers
    assert pair.read().question == pair.follow_up


def test_most_follow_ups_are_asked_with_what_they_need() -> None:
    """Alone, "And for children?" finds any sentence about children."""
    need = [pair for pair in PAIRS if pair.needs == "the question before"]

    assert sum(pair.given() == pair.needs for pair in need) >= 0.9 * len(need)


@pytest.mark.parametrize(
    "pair", [pair for pair in PAIRS if pair.set == "short"], ids=lambda pair: pair.follow_up
)
def test_a_short_question_is_asked_with_the_one_before_only_if_it_needs_it(pair: FollowUp) -> None:
    """ "What is dropout?" was searched together with the bats of the question before."""
    assert pair.given() == pair.needs


@pytest.mark.parametrize(
    "question",
    [
        "What is reciprocal rank fusion?",
        "How does ColBERT store its token vectors?",
        "Do whales use the same frequencies when they hunt?",
        "Why do viruses mutate faster than bacteria when they replicate?",
    ],
)
def test_a_question_with_words_of_its_own_is_asked_as_it_stands(question: str) -> None:
    """A new topic would be answered with what is known of the one before."""
    assert standalone(question, [answered("What is BM25?", "bm25")]) == Rewritten.as_it_stands(
        question
    )


def test_the_reading_is_told_and_is_one_question() -> None:
    """The page shows what was asked in the user's place, and why; the question before is not
    answered again."""
    read = standalone(
        "And in mice?", [answered("Does iron help, and how fast: in days; or weeks?", "iron")]
    )

    assert read == Rewritten(
        "And in mice? (Does iron help and how fast in days or weeks)",
        is_rewritten=True,
        reason="Asked together with the question before it, which stands in brackets.",
    )
    assert len(questions.read(read.question).parts) == 1


def test_a_second_follow_up_keeps_the_topic_of_the_first() -> None:
    """ "Why?" after "And in mice?" is about neither of them alone."""
    first = standalone("And in mice?", [answered("Does iron help?", "iron")])

    second = standalone(
        "Why?", [answered("Does iron help?", "iron"), answered("And in mice?", "iron", asked=first)]
    )

    assert second.question == "Why? (And in mice Does iron help)"


def test_a_long_question_before_is_cut() -> None:
    """A question of 4,000 characters and its follow-up would be refused as too long."""
    assert len(standalone("Why?", [answered("iron " * 800, "iron")]).question) < 400


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote it?",
        "When was it published?",
        "And who published these?",
        "Who is the author of it?",
        "Who conducted it?",
    ],
)
def test_what_was_written_is_the_paper_last_quoted(question: str) -> None:
    """ "It" is no thing that the question before names, and nobody writes an iron tablet."""
    turns = [answered("Does iron help?", "iron"), answered("And in mice?")]

    read = standalone(question, turns)

    assert (read.question, read.paper_ids) == (question, ("iron",))
    assert read.reason.endswith("is read as iron, cited by the answer before.")


def test_the_other_paper_is_the_one_not_looked_at() -> None:
    """Two papers, one after the other, is how people compare them."""
    first = answered("Does mindfulness lower cortisol?", "stress_one", "stress_two")
    read = standalone("What did the first study measure?", [first])
    second = answered("What did the first study measure?", "stress_one", asked=read)

    other = standalone("And in the other paper?", [first, second])

    assert other.paper_ids == ("stress_two",)
    assert other.question == "What did the first study measure?"


def test_the_first_question_stays_as_it_is() -> None:
    """There is nothing it could refer to."""
    assert standalone("How does it work?", []) == Rewritten.as_it_stands("How does it work?")


@pytest.mark.parametrize(
    "text", ["", "   ", "?", "it", "why" * 3000, "it " * 3000, "And " + "in " * 2000, "\u0000it"]
)
def test_any_text_is_read_without_an_error(text: str) -> None:
    """Questions are untrusted, and long ones must not take long."""
    read = standalone(text, [answered("What is ColBERT?", "late_interaction")])

    assert read.question.startswith(text.strip().rstrip("?"))
