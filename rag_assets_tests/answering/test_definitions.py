"""Questions about the meaning of a name are answered by the sentence that defines it."""

import pytest

from rag_assets.answering.drafts import Readers
from rag_assets.answering.extractive import ExtractiveAnswerer
from rag_assets.answering.extractive.definitions import defined_names
from rag_assets.settings import ExtractiveSettings
from rag_assets_tests.answering.builders import WordReader, chunk, context


def said(question: str, text: str) -> list[str]:
    answerer = ExtractiveAnswerer(Readers(WordReader()), ExtractiveSettings(), min_sources=1)
    return [claim.text for claim in answerer.draft(question, [context(chunk("paper", text))]).claims]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What is meant by herd memory?", ("herd memory",)),
        ("What is meant by usage effectiveness (PUE)?", ("usage effectiveness", "PUE")),
        ("What does HMS stand for?", ("HMS",)),
        ("What does the term 'herd memory' mean?", ("herd memory",)),
        ("How do the authors define herd memory in this study?", ("herd memory",)),
        ("How is herd memory defined?", ("herd memory",)),
        ("Define herd memory.", ("herd memory",)),
        ("What is the definition of herd memory?", ("herd memory",)),
        ("What is a salt lick?", ("salt lick",)),
        ("What is the difference between the two herds that grazed in the northern pasture?", ()),
        ("What is the salt lick in sheep farming?", ("salt lick in sheep farming", "salt lick")),
        ("What is a dose in sheep?", ("dose in sheep",)),
        ("What is HerdBase made of?", ("HerdBase",)),
        ("What does the herd scale consist of?", ("herd scale",)),
        ("Why is herd memory strong?", ()),
        ("How many herds were defined?", ()),
    ],
)
def test_what_a_question_asks_the_meaning_of(question: str, names: tuple[str, ...]) -> None:
    """A question about something else must not be answered by a definition."""
    assert defined_names(question) == names


@pytest.mark.parametrize(
    ("question", "definition"),
    [
        (
            "What is meant by herd memory?",
            "Old ewes lead the others to pastures of past years, which we term herd memory.",
        ),
        (
            "What is herd memory in sheep farming?",
            "We adopt the idea of a herd memory, i.e., pastures of past years that old ewes lead the others to.",
        ),
        (
            "What is meant by herd memory?",
            "We call this behavior herd memory, since old ewes lead the others to pastures of past years.",
        ),
        ("What is herd memory?", "Old ewes have a herd memory, which we define as visits to pastures of past years."),
        ("What is HerdBase made of?", "The HerdBase dataset consists of 40 flocks that two shepherds had counted."),
        ("What is herd memory?", "Herd memory refers to the pastures of past years that old ewes lead the others to."),
        ("What is herd memory?", "Herd memory is the habit of old ewes to lead the others to pastures of past years."),
        ("How is herd memory defined?", "Herd memory was operationally defined as visits to pastures of past years."),
        ("What does HMS stand for?", "All ewes were rated on the Herd Memory of Sheep scale (HMS) by two shepherds."),
        (
            "What is meant by herd memory scores (HMS)?",
            "The HMS is a count of visits to pastures of past years by ewes.",
        ),
    ],
)
def test_the_sentence_that_defines_a_name_answers_alone(question: str, definition: str) -> None:
    """The sentences nearest to the question use the name as if it were known."""
    text = (
        "What herd memory means for HMS scores and for herd memory in lambs was never studied in herd memory research. "
        f"{definition} Herd memory and HMS were higher in the mountains than in the valleys, and herd memory lasted."
    )

    (answer,) = said(question, text)
    assert answer.startswith(definition)


def test_without_a_definition_nothing_is_raised() -> None:
    """A sentence that only uses the name says nothing about its meaning, and answers as it did before."""
    text = "Herd memory was higher in the mountains than in the valleys. Ewes were counted twice a day in both of them."

    assert said("What is meant by herd memory?", text) in ([], [text.split(". ")[0] + "."])
