"""Which rows of tables answer a question, and how they are published."""

from dataclasses import replace

import pytest

from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim, Readers
from rag_assets.answering.extractive.table_rows import table_rows
from rag_assets.answering.verify.verification import verify
from rag_assets.core.domain import Chunk
from rag_assets_tests.answering.builders import Says, WordReader, chunk, context, drafted

MODELS = chunk(
    "models",
    "Table 2: BLEU of translation models.\n"
    "Model: Transformer | BLEU: 28.4 | Training cost: 3.3\n"
    "Model: ConvS2S | BLEU: 25.2 | Training cost: 9.6\n"
    "Model: ByteNet | BLEU: 23.8 | Training cost: 7.7",
)
WIDE = chunk(
    "wide",
    "Study: Turner 2000 | Population: healthy volunteers who lived near the clinic and had no cold at enrolment | "
    "Species: not specified by the authors of the trial | Dose: 300 mg three times a day | "
    "Virus: inoculation with rhinovirus 23 | Duration: 14 days before and 5 days after the inoculation of the virus\n"
    "Study: Barrett 2002 | Population: students with an active cold of less than 36 hours | Species: purpurea | "
    "Dose: 6 g on the first day | Virus: natural | Duration: 10 days after the first symptoms of the cold",
)
ROW = "Table 2: BLEU of translation models. | Model: ConvS2S | BLEU: 25.2 | Training cost: 9.6"
QUESTION = "What BLEU does the ConvS2S model reach?"


def texts(question: str, *chunks: Chunk) -> list[str]:
    return [one.text for one in table_rows([context(item) for item in chunks], question)]


def test_a_row_that_the_question_names_is_a_candidate_below_its_caption() -> None:
    """The same name stands in many tables; a number without its table says nothing."""
    assert texts(QUESTION, MODELS) == [ROW]


@pytest.mark.parametrize(
    "question",
    ["What BLEU does the LSTM reach?", "Which cost is usual?", "Where does translation come from?"],
)
def test_a_row_that_the_question_does_not_name_is_none(question: str) -> None:
    """The value of another model is a wrong answer with an exact quote."""
    assert texts(question, MODELS) == []


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What was the comprehensive income?", "Comprehensive income | 2015: 384"),
        ("What was the net income?", "Net income | 2015: 596"),
        ("What does NG reach?", "NG | 2015: 7"),
        ("What was measured on 2015-01-05?", "Date: 2015-01-05 | RM: 29 | MJD: -"),
        ("When was VESPA funded?", "VESPA | Topics: PS | Years: 2005-2008"),
    ],
)
def test_of_rows_that_are_named_by_the_same_words_the_one_with_no_others_is_asked_for(
    question: str, asked: str
) -> None:
    """The title names comprehensive income above every row, and a day of the same year is another
    day."""
    rows = (
        "Net income | 2015: 596",
        "Comprehensive income | 2015: 384",
        "NG+ | 2015: 3",
        "NG | 2015: 7",
    )
    days = ("Date: 2015-02-22 | RM: 17 | MJD: -", "Date: 2015-01-05 | RM: 29 | MJD: -")
    grants = ("VESPA-RI | Topics: H,PS | Years: 2009-2012", "VESPA | Topics: PS | Years: 2005-2008")
    table = chunk("rows", "\n".join(("Statements of comprehensive income", *rows, *days, *grants)))

    (found,) = table_rows([context(table)], question)

    assert found.text == f"Statements of comprehensive income | {asked}"
    assert not found.pointer, "it is certain whose values it holds"


def test_a_row_needs_a_cell_that_says_something() -> None:
    """A heading within a table repeats the words of the question."""
    assert (
        texts(
            "What was the ferritin of treated sheep?",
            chunk("empty", "Control | 12\nTreated sheep |  "),
        )
        == []
    )


def test_of_a_wide_row_only_what_was_asked_is_published_and_all_of_it_quoted() -> None:
    """Six columns of which one was asked for are not read."""
    (found,) = table_rows([context(WIDE)], "Which dose did Turner use?")

    assert found.text == "Study: Turner 2000 | Dose: 300 mg three times a day"
    assert found.quote == WIDE.text.split("\n")[0]


@pytest.mark.parametrize(
    ("rows", "is_claim"),
    [
        ("Model: Girls / Age | b: 0.26\nModel: Boys / Age | b: 0.11", True),
        ("Girls\nModel: Age | b: 0.26\nModel: Sex | b: 0.31", False),
        ("Model: Age | b: 0.26\nModel: Sex | b: 0.31\nModel: Age | b: 0.11", False),
        ("Age | 0.26 | 0.31\nSex | 0.31 | 0.11", False),
        ("Age | 0.26\nSex | 0.31", True),
        ("Both (sexes):\nBoth (sexes) / Age | b: 0.26", True),
        ("Girls\nModel: Sex | b: 0.31\nModel: Boys / Age | b: 0.11", True),
        ("Of: Sex | b: 0.31\nModel: Boys | Of: Age | b: 0.11", False),
    ],
)
def test_a_row_that_does_not_say_whose_values_it_holds_is_no_claim(
    rows: str, is_claim: bool
) -> None:
    """The row of girls and that of boys have one name; a value without its column is a number. Its
    table is named."""
    found = table_rows([context(chunk("t", f"Table 3. Effects.\n{rows}"))], "What is the b of age?")

    assert {one.pointer for one in found} == {"" if is_claim else "The answer may be in Table 3"}


def test_where_the_question_does_not_tell_rows_apart_their_table_is_named() -> None:
    """Readers ask for "German" where the row has "DE"; the row of another language is wrong, with
    an exact quote."""
    rows = [
        f"Model: GPT-4o | Lang: {code} | Faults: {n}" for n, code in enumerate(("CA", "DE", "FR"))
    ]

    found = table_rows(
        [context(chunk("t", "\n".join(rows)))], "What faults did GPT-4o show in German?"
    )
    told = table_rows([context(chunk("t", "\n".join(rows)))], "What faults did GPT-4o show in FR?")

    assert {one.pointer for one in found} == {
        "The answer may be in the table of Model, Lang, Faults"
    }
    assert [(one.text, one.pointer) for one in told if not one.pointer] == [(rows[2], "")]


def test_a_table_that_is_named_instead_of_a_row_is_shown_with_its_place() -> None:
    """A reader finds the value on the page; a refusal that says nothing of the table hides it."""
    rows = chunk("t", "Table 3. Effects.\nAge | 0.26 | 0.31\nSex | 0.31 | 0.11")
    says = Says({"Table 3. Effects. | Age | 0.26 | 0.31": 8.0}, others=-6.0)
    draft = drafted("What is the b of age?", context(rows), reads=Readers(WordReader(), says))
    nearest = verify(
        replace(draft, claims=draft.nearest), {rows.chunk_id: rows}, "What is the b of age?"
    ).claims

    assert draft.claims == ()
    assert [one.text for one in nearest] == ["The answer may be in Table 3"]
    assert nearest[0].citations[0].quote == "Age | 0.26 | 0.31"


def test_a_row_below_its_title_word_for_word_is_verified() -> None:
    """The title names a model in no way that a sentence would."""
    table = chunk(
        "t",
        "Table 5: Shots (LLaMA-3.3-70B-Instruct)\nTask: DROP | 4-Shot: 13.1\nTask: FDA | 4-Shot: 86.8",
    )
    (row,) = table_rows([context(table)], "What is the 4-shot result on DROP?")

    claim = DraftClaim(row.text, (DraftCitation(table.chunk_id, row.quote),))
    verified = verify(DraftAnswer((claim,)), {table.chunk_id: table}, "")

    assert [claim.text for claim in verified.claims] == [row.text]


@pytest.mark.parametrize(("score", "is_published"), [(8.0, True), (-6.0, False)])
def test_the_reader_decides_whether_a_row_answers_and_what_it_publishes_is_verified(
    score: float, is_published: bool
) -> None:
    """What verification drops leaves the question without an answer."""
    readers = Readers(WordReader(), Says({ROW: score}, others=-6.0))
    draft = drafted(QUESTION, context(MODELS), reads=readers)

    verified = verify(draft, {MODELS.chunk_id: MODELS}, QUESTION)

    assert [claim.text for claim in verified.claims] == ([ROW] if is_published else [])
    assert verified.objected == ()
