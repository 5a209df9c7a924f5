"""Words of a question that are conditions: a month, a species, a group, a model."""

from dataclasses import replace

import pytest

from rag_assets.answering.drafts import DraftAnswer
from rag_assets.answering.extractive.conditions import phrases_in, stems_in
from rag_assets.core.domain import PaperFacts, StatementKind
from rag_assets_tests.answering.builders import chunk, context, drafted, laid_out

WEIRS = (
    "Barbel in the mill weir weighed 310 g on average. Barbel in the salt weir weighed 270 g on "
    "average. The mill weir, the salt weir and the old weir are repaired every year."
)
GROWTH = (
    "Barbel reached a length of 31 cm in the pond. Nase reached a length of 24 cm in the pond. "
    "Barbel, nase and grayling were counted there."
)
MODELS = (
    "Training Finch-2 took 40 hours on one card. Training Finch-9 took 95 hours on one card. "
    "Finch-4 was bought in Oslo."
)
DOSES = (
    "In the 5 mg group sleep became 14 minutes longer. In the 20 mg group sleep became 37 minutes "
    "longer. The clinic has 10 rooms."
)
TABLE = (
    "Table 1: Eggs of barbel and nase.\n"
    "Species: Barbel | Weir: Mill weir | Eggs: 810\n"
    "Species: Barbel | Weir: Salt weir | Eggs: 650\n"
    "Species: Nase | Weir: Mill weir | Eggs: 420"
)


def _answer(question: str, *texts: str, title: str = "Weirs") -> DraftAnswer:
    contexts = [
        replace(context(chunk(f"weirs{nth}", text)), paper=PaperFacts(title=title))
        for nth, text in enumerate(texts)
    ]
    return drafted(question, *contexts)


@pytest.mark.parametrize(
    ("text", "question", "other", "asked"),
    [
        (GROWTH, "What length did grayling reach in the pond?", ["Barbel", "Nase"], "grayling"),
        (
            MODELS,
            "How long did training Finch-4 take on one card?",
            ["Finch-2", "Finch-9"],
            "Finch-4",
        ),
        (DOSES, "How much longer became sleep in the 10 mg group?", ["20", "5"], "10"),
        (TABLE, "How many eggs of nase at the salt weir?", ["Barbel"], "nase"),
    ],
)
def test_the_figure_of_another_condition_is_no_answer_and_is_told_as_what_it_is(
    text: str, question: str, other: list[str], asked: str
) -> None:
    """The length of nase, given for that of grayling, is a false number with an exact quote."""
    draft = _answer(question, text)

    assert draft.claims == ()
    [note] = [note for note in draft.unanswered if note.startswith("What was found")]
    others, _, wanted = (
        note.removeprefix("What was found is of ").rstrip(".").partition(", not of ")
    )
    assert sorted(others.split(" and ")) == other
    assert wanted == asked


@pytest.mark.parametrize(
    ("text", "question", "figure", "others"),
    [
        (WEIRS, "How much did barbel in the salt weir weigh on average?", "270", "310"),
        (GROWTH, "What length did nase reach in the pond?", "24", "31"),
        (MODELS, "How long did training Finch-9 take on one card?", "95", "40"),
        (DOSES, "How much longer became sleep in the 20 mg group?", "37", "14"),
        (TABLE, "How many eggs of barbel at the salt weir?", "650", "420"),
    ],
)
def test_the_figure_of_the_condition_that_is_asked_for_answers_alone(
    text: str, question: str, figure: str, others: str
) -> None:
    """A reader of "310 g. 270 g." has to find out which of both is meant."""
    said = " ".join(claim.text for claim in _answer(question, text).claims)

    assert figure in said
    assert others not in said


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (GROWTH, "What size did barbel reach in the pond?"),
        (GROWTH, "What length did fish reach in the pond of barbel?"),
        (DOSES, "How much longer became sleep in the 5 mg group of people?"),
        (GROWTH, "What length did creatures reach in the pond?"),
    ],
)
def test_a_word_that_papers_say_otherwise_is_no_condition(text: str, question: str) -> None:
    """Papers use other words than questions; a refusal for each would lose most answers."""
    assert _answer(question, text).claims


def test_members_of_one_enumeration_are_told_apart() -> None:
    """The old weir is named beside the others, and its barbel were not weighed."""
    draft = _answer("How much did barbel in the old weir weigh on average?", WEIRS)

    assert not any("310" in claim.text or "270" in claim.text for claim in draft.claims)


def test_a_heading_says_of_what_its_sentences_are() -> None:
    """A sentence below "Honey bees" seldom repeats them."""
    paper = laid_out(
        "bees",
        (StatementKind.HEADING, "Honey bees"),
        (StatementKind.SENTENCE, "In the garden 6 visits per hour were seen."),
        (StatementKind.HEADING, "Bumble bees"),
        (StatementKind.SENTENCE, "Nests lay in the ground."),
    )

    draft = drafted("How many visits per hour of bumble bees in the garden were seen?", paper)

    assert draft.claims == ()


def test_a_phrase_knows_its_place() -> None:
    """Two phrases are compared by what stands around them."""
    [phrase] = phrases_in("At last the 20 mg group slept.", stems_in("last group slept"))

    assert (phrase.text, phrase.left, phrase.right, phrase.before) == ("20 mg", "last", "group", "")
    assert phrase.is_number
    assert phrase.touches_right
