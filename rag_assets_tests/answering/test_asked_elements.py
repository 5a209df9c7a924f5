"""Answers that are an element of a paper, or one claim from each paper."""

from dataclasses import replace

import pytest

from rag_assets.answering.drafts import Readers
from rag_assets.core.domain import Context, StatementKind
from rag_assets_tests.answering.builders import (
    Says,
    WordReader,
    chunk,
    context,
    drafted,
    laid_out,
    texts_of,
)

HEADING, SENTENCE, CAPTION, LINE = (
    StatementKind.HEADING,
    StatementKind.SENTENCE,
    StatementKind.CAPTION,
    StatementKind.LINE,
)
ROPES = laid_out(
    "ropes",
    (HEADING, "2 Theory"),
    (SENTENCE, "Lemma 4. An odd rope breaks at its eye."),
    (SENTENCE, "Lemma 5. An even rope breaks at its knot. It does so at once."),
    (HEADING, "3 Load"),
    (HEADING, "3.1 Hemp"),
    (SENTENCE, "It broke at 900 kg. The eye went first."),
    (
        CAPTION,
        "Table 1. Load by fibre.\nFibre: Sisal | Load (kg): 640\nFibre: Hemp | Load (kg): 900",
    ),
    (SENTENCE, "Figure 2 shows no new trend."),
    (SENTENCE, "Algorithm 1"),
    (LINE, "unlay the strands of it\ntuck each one three times"),
    (HEADING, "4 Limitations"),
    (SENTENCE, "Nobody tried it in rain."),
    title="Ropes of ferries",
)
BELLS = laid_out("bells", (SENTENCE, "Lemma 4. A bell rings twice."), title="Bells of chapels")


def said(question: str, *contexts: Context) -> list[str]:
    return texts_of(drafted(question, *contexts))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does Lemma 5 say?", "Lemma 5. An even rope breaks at its knot. It does so at once."),
        (
            "What does section 3.1 of Ropes of ferries report?",
            "It broke at 900 kg. The eye went first.",
        ),
        ("What does Figure 2 show?", "Figure 2 shows no new trend."),
        (
            "What does Algorithm 1 do?",
            "Algorithm 1 unlay the strands of it tuck each one three times",
        ),
        ("What are the limitations of Ropes of ferries?", "Nobody tried it in rain."),
    ],
)
def test_an_element_that_is_asked_for_is_the_answer(question: str, answer: str) -> None:
    """Its words share nothing with its label: the question was refused, or answered with its
    neighbour."""
    assert said(question, ROPES, BELLS) == [answer]


def test_a_theorem_with_a_long_statement_is_more_than_its_label() -> None:
    """ "Theorem 2." was the whole answer."""
    statement = f"Theorem 2. Every rope {'and every strand of it ' * 20}breaks."
    within = laid_out("ropes", (SENTENCE, f"Two facts help. {statement} More is said below."))

    assert said("What does Theorem 2 say?", within) == [statement]


def test_a_table_that_is_asked_for_is_its_caption_with_its_rows() -> None:
    """The caption alone says what could be read, and none of it."""
    assert said("What does Table 1 list?", ROPES, BELLS) == [
        "Table 1. Load by fibre.",
        "Fibre: Sisal | Load (kg): 640",
        "Fibre: Hemp | Load (kg): 900",
    ]


def test_a_table_with_many_rows_leaves_a_claim_to_the_other_parts() -> None:
    """The rest of the question would be said to have no answer, though it stands in the paper."""
    question = "What does Table 1 list, and where does an odd rope break in rain?"
    answer = "An odd rope breaks at its eye in rain."
    table = "Table 1. Load by fibre.\nFibre: Sisal | Load (kg): 640\nFibre: Hemp | Load (kg): 900"
    within = laid_out("ropes", (CAPTION, table), (SENTENCE, answer))

    claims = texts_of(drafted(question, within, max_claims=3))

    assert claims == [*table.split("\n")[:2], answer]


def test_an_element_is_that_of_the_paper_which_the_question_names() -> None:
    """Each paper has a first figure."""
    assert said("What does Lemma 4 of Bells of chapels say?", ROPES, BELLS) == [
        "Lemma 4. A bell rings twice."
    ]


def test_a_value_of_a_table_that_is_asked_for_is_read_in_that_table() -> None:
    """ "In Table 1" must not turn a question for a value into one for the title."""
    [claim] = said("What load does sisal bear in Table 1?", ROPES)

    assert "640" in claim


def test_no_sentence_stands_in_for_an_element_that_is_not_there() -> None:
    """The caption of Figure 2 answered for Figure 9."""
    assert said("What does Table 9 of Ropes of ferries list about load by fibre?", ROPES) == []


MOSS = {
    "roofs": "Spectra were fitted with the Veldt library.",
    "graves": "We did not use the Veldt library.",
    "boats": "The Veldt library served us well.",
    "oaks": "Moss on oaks grew slowly.",
}


def test_each_paper_that_says_it_is_a_claim_and_they_are_counted() -> None:
    """Two papers were quoted and called the answer, however many there are; one that denies it was
    among them."""
    contexts = [context(chunk(paper, text)) for paper, text in MOSS.items()]

    number, *claims = drafted("How many papers used the Veldt library?", *contexts).claims

    assert number.text == "At least two papers used the Veldt library."
    assert {claim.text for claim in claims} == {MOSS["roofs"], MOSS["boats"]}
    assert {one.chunk_id for one in number.citations} == {
        one.citations[0].chunk_id for one in claims
    }


LOAVES = {
    "rye": "We baked rye bread with sourdough.",
    "oats": "We baked oat bread with sourdough.",
    "spelt": "We baked spelt bread with no leaven of any kind.",
}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many papers baked with sourdough?", "At least two papers baked with sourdough."),
        ("How many papers are there?", None),
    ],
)
def test_a_paper_counts_only_if_it_says_what_is_counted(question: str, answer: str | None) -> None:
    """A number that is too high is false, also with "at least" before it."""
    contexts = [context(chunk(paper, text)) for paper, text in LOAVES.items()]

    assert next(iter(said(question, *contexts)), None) == answer


def test_a_preprint_and_its_publication_count_once() -> None:
    """Two files of one work are no two papers."""
    contexts = [context(chunk(paper, text)) for paper, text in MOSS.items()]
    contexts = [replace(one, paper=replace(one.paper, work="roofs")) for one in contexts]

    assert "one paper" in said("How many papers used the Veldt library?", *contexts)[0]


WELLS = laid_out(
    "wells",
    (HEADING, "Depth of the well of Tarn"),
    (SENTENCE, "It is 31 metres."),
    (HEADING, "Interview"),
    (SENTENCE, "Q: How often do you draw water?"),
    (SENTENCE, "A: Twice in each week."),
    (LINE, "def draw(water, bucket=12):\n    # litres of one default bucket"),
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What depth does the well of Tarn have?", "It is 31 metres."),
        ("How often do you draw water?", "A: Twice in each week."),
        ("How many litres does the default bucket of draw hold?", "# litres of one default bucket"),
    ],
)
def test_what_introduces_a_sentence_is_evidence_for_it(question: str, answer: str) -> None:
    """A heading, the question of an interview and the first line of code say what is spoken of; the
    rest does not."""
    reader = Says({answer: 2.0}, others=-20.0)
    reads = Readers(WordReader(), reader)

    assert texts_of(drafted(question, WELLS, reads=reads)) == [answer]
    is_under_heading = answer in WELLS.text.partition("Interview")[0]
    assert any(one.before for one in reader.read if one.text == answer) != is_under_heading, (
        "lines are read with it"
    )
