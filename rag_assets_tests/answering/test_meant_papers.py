"""Questions about one paper among several, asked of the embedded answerer."""

from rag_assets.answering.drafts import Readers
from rag_assets.answering.extractive import ExtractiveAnswerer
from rag_assets.answering.extractive.meant_papers import with_papers
from rag_assets.questions import question_parts
from rag_assets.settings import ExtractiveSettings
from rag_assets_tests.answering.builders import WordReader, chunk, context

HILL = chunk(
    "hill",
    "This is a study of iron among mountain sheep in winter. The mountain sheep of the study had iron in winter. "
    "A total of 48 ewes were recruited from two farms. The animals were four years old on average.",
)
VALLEY = chunk(
    "valley",
    "This is a trial of hay among lowland cows in summer. The lowland cows of the trial had hay in summer. "
    "A total of 96 heifers were recruited from nine farms. The animals were seven years old on average.",
)
CONTEXTS = [context(VALLEY), context(HILL)]


def said(question: str) -> list[str]:
    answerer = ExtractiveAnswerer(Readers(WordReader()), ExtractiveSettings(min_relevance=0.4), min_sources=2)
    return [claim.text for claim in answerer.draft(question, CONTEXTS).claims]


def test_a_part_is_asked_of_the_paper_that_it_describes() -> None:
    """The same thing stands in every paper; only the description says whose is wanted."""
    question = "How old were the animals in the study of iron and in the trial of hay?"

    asked = with_papers(question, question_parts(question), CONTEXTS, WordReader())

    assert [one.paper_id for one in asked] == ["hill", "valley"]
    assert [one.compared for one in asked] == ["How old were the animals?"] * 2


def test_each_described_paper_answers_with_its_own_sentence() -> None:
    """Words of the description choose sentences about the paper in place of those that answer."""
    claims = said("How old were the animals on average in the study of iron and in the trial of hay?")

    assert claims == ["The animals were four years old on average.", "The animals were seven years old on average."]


def test_another_paper_says_nothing_about_the_described_one() -> None:
    """The age of other animals is misleading, however near its sentence comes."""
    claims = said("How old were the animals on average in the study of iron among mountain sheep?")

    assert claims[0] == "The animals were four years old on average."
    assert not any("seven" in claim for claim in claims)


def test_what_the_described_paper_never_mentions_is_not_answered() -> None:
    """A sentence with most words of the question is no answer where the paper is silent on the one that matters."""
    assert said("How many animals were recruited from farms in the study of iron among mountain sheep?")
    assert not said("How many zebras were vaccinated in the study of iron among mountain sheep?")


def test_a_missing_word_is_found_in_the_question_whatever_its_letters() -> None:
    """A letter that is small in two ways, or in two letters, must not end the answering of all questions."""
    for word in ("ΟΔΟΣ'A", "İİ-ZEBRAS", "ΟΔΟΣ-zebra"):
        assert not said(f"How many {word} were vaccinated in the study of iron among mountain sheep?")


def test_a_paper_that_is_neither_described_nor_clearly_nearer_is_not_chosen() -> None:
    """A question about the whole corpus is answered by any paper."""
    question = "How many animals were recruited?"

    (asked,) = with_papers(question, question_parts(question), CONTEXTS, WordReader())

    assert (asked.paper_id, asked.compared) == (None, question)


def test_each_description_finds_its_own_paper_beside_a_longer_one() -> None:
    """The question says more about the first paper, and both halves were asked of it."""
    question = (
        "How old were the animals in the study of iron among mountain sheep in winter with sheep of the mountain and "
        "in the trial of hay?"
    )

    asked = with_papers(question, question_parts(question), CONTEXTS, WordReader())

    assert [one.paper_id for one in asked] == ["hill", "valley"]


def test_a_paper_does_not_answer_for_another_one_that_was_not_found() -> None:
    """The age of the sheep would be given as that of the zebras."""
    question = "How old were the animals on average in the study of iron among mountain sheep and in the zebra survey?"
    answerer = ExtractiveAnswerer(Readers(WordReader()), ExtractiveSettings(min_relevance=0.4), min_sources=2)

    answer = answerer.draft(question, [context(HILL)])

    assert [claim.text for claim in answer.claims] == ["The animals were four years old on average."]
    assert answer.unanswered == ("How old were the animals on average in the zebra survey?",)


def test_an_open_question_says_of_which_paper_it_was_asked() -> None:
    """ "How old were they?" is answered for one paper and open for the other."""
    question = "How many animals were there in the study of iron and in the zebra survey, and how old were they?"

    texts = [part.text for part in question_parts(question)]

    assert texts[2:] == ["how old were they (the study of iron)?", "how old were they (the zebra survey)?"]


def test_a_definition_in_another_paper_is_no_answer_for_the_described_one() -> None:
    """What another paper means by a name was published as what the described one says of it."""
    other = chunk("other", "A lamb index is defined as the number of lambs of a farm in a year.")
    answerer = ExtractiveAnswerer(Readers(WordReader()), ExtractiveSettings(min_relevance=0.4), min_sources=2)
    contexts = [context(other), *CONTEXTS]

    described = answerer.draft("What is the lamb index in the study of iron among mountain sheep?", contexts)

    assert answerer.draft("What is the lamb index?", contexts).claims
    assert not any(claim.citations[0].chunk_id == other.chunk_id for claim in described.claims)
