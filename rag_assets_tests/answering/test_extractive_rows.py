"""Which rows of tables answer a question, and how they are published."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from rag_assets.answering.extractive.row_matching import RowMatcher

from rag_assets.answering.citations.verification import verify
from rag_assets.answering.drafts import Readers
from rag_assets.answering.extractive import ExtractiveAnswerer
from rag_assets.answering.extractive.rows import likely_rows, rows_of, table_rows
from rag_assets.domain import Chunk, Context, ContextPassage
from rag_assets.settings import ExtractiveSettings
from rag_assets_tests.answering.builders import Says, WordReader, chunk, context, readers

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


def texts(question: str, *chunks_: object) -> list[str]:
    """The rows that are published, without what stands above them."""
    found = table_rows([context(item) for item in chunks_], question, WordReader())  # type: ignore[arg-type]
    return [one.text[one.text.index(one.quote.split(" | ")[0]) :] for one in found]


def test_the_row_that_is_named_answers() -> None:
    """What a paper measured stands in its tables, and in few sentences."""
    assert texts("What BLEU does the ConvS2S model reach?", MODELS) == [
        "Model: ConvS2S | BLEU: 25.2 | Training cost: 9.6"
    ]


def test_a_header_is_named_by_a_word_that_begins_alike() -> None:
    """Headers are short: a reader asks for "parameters" where the table has "params"."""
    sizes = chunk("sizes", "Model: base | dmodel: 512 | params: 65\nModel: big | dmodel: 1024 | params: 213")

    assert texts("How many parameters does the big version have?", sizes) == ["Model: big | dmodel: 1024 | params: 213"]


def test_a_row_that_is_not_named_answers_nothing() -> None:
    """One common word makes every row of a table a candidate."""
    assert texts("What BLEU does the LSTM reach?", MODELS) == []
    assert texts("Which model is used in translation?", MODELS) == []
    assert texts("Where does the Transformer come from?", MODELS) == []
    assert texts("What is the BLEU of translation models?", MODELS) == []
    assert texts("Which critics disputed the Transformer BLEU before the court in Hamburg last summer?", MODELS) == []


def test_of_a_wide_row_only_what_was_asked_is_published_and_all_of_it_quoted() -> None:
    """Six columns of which one was asked for are not read."""
    (found,) = table_rows([context(WIDE)], "Which dose did Turner 2000 use?", WordReader())

    assert found.text == "Study: Turner 2000 | Dose: 300 mg three times a day"
    assert found.quote == WIDE.text.split("\n")[0]


def test_a_row_that_is_published_passes_verification() -> None:
    """What verification drops leaves the question without an answer."""
    answerer = ExtractiveAnswerer(readers(), ExtractiveSettings(), min_sources=1)
    for question, source in (
        ("What BLEU does the ConvS2S model reach?", MODELS),
        ("Which dose did Turner 2000 use?", WIDE),
    ):
        verified = verify(answerer.draft(question, [context(source)]), {source.chunk_id: source}, question)

        assert len(verified.claims) == 1
        assert verified.reasons == {}


def test_a_row_needs_a_cell_that_says_something() -> None:
    """A heading within a table repeats the words of the question."""
    empty = chunk("empty", "Ferritin of sheep\nControl sheep | 12 | 3\nTreated sheep |  | ")

    assert texts("What was the ferritin of treated sheep?", empty) == []


def test_rows_can_be_switched_off() -> None:
    """A corpus whose tables were read badly is better off without."""
    answerer = ExtractiveAnswerer(readers(), ExtractiveSettings(table_rows=False), min_sources=1)

    assert answerer.draft("What BLEU does the ConvS2S model reach?", [context(MODELS)]).claims == ()


def test_each_part_of_a_question_has_its_row() -> None:
    """The row of the first part must not pass for the answer to the second."""
    question = "What BLEU does the ConvS2S model reach, and what does training cost for ByteNet?"

    (convs2s, bytenet) = table_rows([context(MODELS)], question, WordReader())

    assert convs2s.relevance is not None
    assert bytenet.relevance is not None
    first, second = convs2s.relevance
    assert convs2s.relevance[first] > 0 == convs2s.relevance[second]
    assert bytenet.relevance[second] > 0 == bytenet.relevance[first]


MATRIX = chunk(
    "matrix",
    "Table 1: Correlations of the trial.\n"
    "Variable: 1. Iron | M: 4.2\n"
    "Variable: 2. Ferritin | M: 3.1 | 1. Iron: .31\n"
    "Variable: 3. Age | M: 9.4 | 1. Iron: .02 | 2. Ferritin: .11",
)


def test_a_number_or_code_that_no_row_and_no_sentence_of_the_paper_has_is_not_answered() -> None:
    """The value at age 60 is not that at age 42."""
    waves = chunk("waves", "Table 1: Unemployment of the cohort.\nMeasure: Unemployment | Age 21: 10.8% | Age 42: 2.4%")

    assert texts("What was the unemployment of the cohort at age 42?", waves) == [waves.text.split("\n")[1]]
    assert texts("What was the unemployment of the cohort at age 60?", waves) == []
    assert texts("What was the unemployment of the NCDS cohort at age 42?", waves) == []


def test_two_rows_answer_where_the_question_names_two_or_the_table_has_the_name_twice() -> None:
    """A second row that is only like the first one says something else."""
    one, two, third = MODELS.text.split("\n")[1:]
    assert texts("What BLEU do the ConvS2S and the ByteNet model reach?", MODELS) == [two, third]
    assert texts("What BLEU does the Transformer model reach?", MODELS) == [one]
    twice = chunk(
        "twice", "Effects on iron.\nGirls\nModel: Age | b: 0.26\nModel: Sex | b: 0.31\nBoys\nModel: Age | b: 0.11"
    )
    assert texts("What is the b of age on iron?", twice) == ["Model: Age | b: 0.26", "Model: Age | b: 0.11"]


def test_a_row_answers_before_sentences_about_the_same() -> None:
    """The value that was asked for must not stand behind sentences that say where it stands."""
    prose = chunk(
        "prose",
        "The ConvS2S model and the BLEU that it reaches are described in the second table of this paper at length.",
    )
    answerer = ExtractiveAnswerer(readers(), ExtractiveSettings(), min_sources=1)
    contexts = [context(prose), context(MODELS)]

    first = answerer.draft("What BLEU does the ConvS2S model reach?", contexts).claims[0]

    assert first.text.endswith("Model: ConvS2S | BLEU: 25.2 | Training cost: 9.6")


def test_a_row_is_found_by_the_name_of_its_column_in_a_matrix() -> None:
    """Both things that go together are named by the question; one names the row, the other the column."""
    assert texts("What is the correlation of ferritin with iron?", MATRIX) == [MATRIX.text.split("\n")[2]]


def test_a_row_is_published_below_its_caption_and_its_heading() -> None:
    """The same name stands in many tables; the number of one of them says nothing by itself."""
    caption = "Table 3. Effects on iron in the trial."
    table = chunk("t", f"{caption}\nGirls\nModel: Age | b: 0.26\nModel: Sex | b: 0.31\nBoys\nModel: Age | b: 0.11")
    question = "What is the b of age on iron?"

    found = table_rows([context(table)], question, WordReader())

    assert [one.text for one in found] == [
        f"{caption} | Girls | Model: Age | b: 0.26",
        f"{caption} | Boys | Model: Age | b: 0.11",
    ]
    long = chunk("long", f"Table 3. Effects {'of very many things ' * 9}on iron.\nModel: Age | b: 0.26")
    (shortened,) = table_rows([context(long)], question, WordReader())
    assert shortened.text == "Table 3 | Model: Age | b: 0.26"


def test_a_row_that_is_stated_as_it_stands_passes_verification() -> None:
    """A matrix names each row in every other one: the names of its columns are no other rows."""
    answerer = ExtractiveAnswerer(readers(), ExtractiveSettings(), min_sources=1)
    question = "What is the correlation of ferritin with iron?"

    draft = answerer.draft(question, [context(MATRIX)])
    (kept,) = verify(draft, {MATRIX.chunk_id: MATRIX}, question).claims

    assert kept.text.endswith("Variable: 2. Ferritin | M: 3.1 | 1. Iron: .31")
    moved = replace(draft.claims[0], text=kept.text.replace("1. Iron: .31", "3. Age: .31"))
    assert verify(replace(draft, claims=(moved,)), {MATRIX.chunk_id: MATRIX}, question).claims == ()


def read(of: Chunk) -> Context:
    """The chunk as a context that is one passage, so that its rows are compared in meaning too."""
    return replace(context(of), passages=(ContextPassage("p", 0, len(of.text), of.text, 1.0),))


def test_a_row_that_shares_little_but_its_name_with_the_question_answers_nothing() -> None:
    """A system that a paper is about names a row of each table: any of them would answer questions about it."""
    scores = read(
        chunk("scores", "Table 2: All scores in the tests of models.\nModel: ConvS2S | BLEU: 25.2 | Cost: 9.6")
    )
    about_others = "How many of the letters and novels does ConvS2S read in the languages of all schools?"

    assert table_rows([scores], about_others, WordReader()) == []
    assert len(table_rows([scores], "How many BLEU did ConvS2S get in the tests of all models?", WordReader())) == 1


def test_of_rows_with_the_same_name_the_one_below_the_heading_that_is_named_comes_first() -> None:
    """The first row is read as the answer."""
    scores = chunk(
        "waves",
        "Table 2: Scores of the first wave.\nFirst wave\nTown: Lund | Score: 6.5\n"
        "Those who left\nTown: Lund | Score: 7.5",
    )
    question = "What was the score of Lund among those who were at school in the first wave?"

    draft = ExtractiveAnswerer(readers(), ExtractiveSettings(), min_sources=1).draft(
        question, [read(scores)]
    )

    assert [claim.text[-3:] for claim in draft.claims] == ["6.5", "7.5"]


def test_a_row_of_which_no_column_is_asked_for_answers_nothing() -> None:
    """A row holds the name of what is asked about, and values of something else."""
    text = "Table 2: The value of each method is given in this table.\nMethod: Rank fusion | {}: 0.83"
    question = "Which value is customary in this rank fusion method?"

    assert table_rows([read(chunk("other", text.format("Answered")))], question, WordReader()) == []
    assert len(table_rows([read(chunk("asked", text.format("Value")))], question, WordReader())) == 1


def test_a_part_that_a_row_answers_is_not_named_as_unanswered() -> None:
    """A row holds few words of a question: the reader would be told that nothing says what stands above."""
    question = "When does basalt form, and what score does ConvS2S reach in the translation of weather reports?"
    basalt = chunk("geology", "Basalt forms when lava cools quickly at the surface of the earth.")

    draft = ExtractiveAnswerer(readers(), ExtractiveSettings(), min_sources=1).draft(
        question, [context(basalt), read(MODELS)]
    )

    assert any("25.2" in claim.text for claim in draft.claims)
    assert draft.unanswered == ()


ROW = "Table 2: BLEU of translation models. | Model: ByteNet | BLEU: 23.8 | Training cost: 7.7"
IN_OTHER_WORDS = "What is the BLEU of the translation models that read bytes?"


def said(question: str, scores: Mapping[str, float]) -> list[str]:
    """The claims where every candidate is read with the question. scores: of some; others do not answer."""
    answerer = ExtractiveAnswerer(Readers(WordReader(), Says(scores, others=-6.0)), ExtractiveSettings(), min_sources=1)
    return [claim.text for claim in answerer.draft(question, [read(MODELS)]).claims]


def test_a_row_that_is_asked_for_in_other_words_answers_where_it_is_read_with_the_question() -> None:
    """Readers ask for "skipping school" where the row is called "Truancy"."""
    assert table_rows([read(MODELS)], IN_OTHER_WORDS, WordReader()) == []

    assert said(IN_OTHER_WORDS, {ROW: 8.0}) == [ROW]
    assert said(IN_OTHER_WORDS, {}) == []


def test_a_row_that_is_named_but_does_not_answer_is_not_published_where_it_is_read() -> None:
    """Its name alone put it before every sentence."""
    question = "What BLEU does the ByteNet model reach?"

    assert said(question, {ROW: 4.0}) == [ROW]
    assert said(question, {}) == []


def test_only_the_rows_that_match_best_are_read() -> None:
    """Each row takes the place of a sentence among those that are read."""
    lines = [f"Model: Net {n} | BLEU: {n}.5" for n in range(30)]
    scores = read(chunk("scores", "\n".join(["Table 2: BLEU of models.", *lines])))

    rows = likely_rows([scores], "What BLEU does the model with the name Net 17 reach?", WordReader())

    assert len(rows) == 8
    assert "Model: Net 17 | BLEU: 17.5" in [one.quote for one in rows]
    assert likely_rows([scores], "Which critics wrote about the court in Hamburg?", WordReader()) == []


def test_a_row_has_a_greater_lead_where_a_value_is_asked_for() -> None:
    """Whether something holds is said in sentences, how much it is in tables."""
    how_much, whether = (f"Is {word} BLEU in the row of ByteNet of these models?" for word in ("what", "that"))

    ((of_value,), (of_statement,)) = (
        [one.relevance for one in likely_rows([read(MODELS)], question, WordReader()) if "ConvS2S" in one.text]
        for question in (how_much, whether)
    )

    assert of_value is not None
    assert of_statement is not None
    assert of_value[how_much] > of_statement[whether] + 0.05


def test_a_row_of_values_without_names_has_no_greater_lead() -> None:
    """Ten numbers of which none is named hide the sentence that says the one that was asked for."""
    question = "How large is the effect of attention, of looking closely, on what readers feel?"
    named = "Measure: Attention | Before: 0.21 | After: 0.12"
    bare = "Before and after\nAttention | 0.21 | 0.12"
    one_value = "Before and after\nAttention | 0.21"

    def lead(text: str) -> float:
        chunk_ = read(chunk("t", f"Table 2: Effects on the mood of readers.\n{text}"))
        (row,) = likely_rows([chunk_], question, WordReader())
        (found,) = RowMatcher([chunk_], list(rows_of(0, chunk_)), WordReader()).best(question, within=0.0)
        return (row.relevance or {})[question] - found.score

    assert lead(bare) == pytest.approx(0.3)
    assert lead(named) == lead(one_value) == pytest.approx(0.4)


def test_where_a_value_is_asked_for_a_row_of_words_only_is_not_read() -> None:
    """Lines of a header that were read as rows repeat the words of the question best."""
    table = read(chunk("t", "Table 2: Stores.\nName: Quarter | Stores: opened\nName: Third | Stores: 18"))
    how_many, which = "How many stores were opened in the third quarter?", "Were stores opened in the third quarter?"

    assert [one.quote for one in likely_rows([table], how_many, WordReader())] == ["Name: Third | Stores: 18"]
    assert len(likely_rows([table], which, WordReader())) == 2


def test_a_row_that_answers_is_published_beside_the_best_sentence_before_a_second_sentence() -> None:
    """Two sentences about the models' scores, and not the score."""
    one = "The BLEU of the ByteNet model is lower than that of all newer models."
    other = "Newer models reach more BLEU than the ByteNet model does after longer training."
    prose = read(chunk("prose", f"{one}\n\n{other}"))
    reader = Says({one: 6.0, other: 3.0, ROW: 2.0}, others=-6.0)
    answerer = ExtractiveAnswerer(Readers(WordReader(), reader), ExtractiveSettings(), min_sources=1)
    table = replace(read(MODELS), paper_id="prose")

    draft = answerer.draft("What BLEU does the ByteNet model reach?", [prose, table])

    assert [claim.text for claim in draft.claims] == [one, ROW]
