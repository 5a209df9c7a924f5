"""What is said to a question, or over papers, in other languages than English, without a model."""

from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.answering.drafts import NOT_JUDGED, NOT_READ
from rag_assets.answering.extractive import ExtractiveAnswerer
from rag_assets.answering.promises import PublishedCorpus, promised
from rag_assets.core.domain import QAResult
from rag_assets.core.settings import ExtractiveSettings
from rag_assets.core.text.terms import may_be_english
from rag_assets.questions import Question
from rag_assets.search.embedding.local_model import MULTILINGUAL_E5
from rag_assets_tests.answering.builders import (
    WordReader,
    chunk,
    evidence,
    finished,
    pipeline_in,
    readers,
)

PAPERS = [
    chunk(
        "paper_zh",
        "本文测量了三种手工纸的强度。竹纸的抗拉强度为三十五牛顿。纸的厚度对强度影响不大。",
    ),
    chunk("silk_ja", "藍で染めた生糸の色は十年後も保たれた。染色の温度は60度であった。"),
    chunk(
        "lamp_ko",
        "등대의 불빛은 18킬로미터 밖에서도 보였다. 안개가 낀 날에는 4킬로미터까지만 보였다.",
    ),
    chunk("salt_he", "הבריכה הגדולה הפיקה 340 טון מלח בשנה. המים הובאו מן הים במשאבה אחת."),
    chunk(
        "date_ar", "أنتجت كل نخلة 62 كيلوغراما من التمر في السنة. سقيت الأشجار مرتين في الأسبوع."
    ),
]
GERMAN = chunk(
    "moor",
    "Torfmoose speichern im Mittel 21-mal ihr Trockengewicht an Wasser. Die Proben wurden im Juni genommen.",
)
ENGLISH = chunk(
    "barley",
    "The barley on the terraces yields 2.8 tonnes per hectare in most of the years that were measured. It ripens in 96 "
    "days, as was shown by the two trials of the institute.",
)


ENGLISH_OF = {
    "gerste": "barley", "terrassen": "terraces", "reift": "ripens", "tagen": "days", "wasser": "water",
    "torfmoose": "mosses", "speichern": "store",
}  # fmt: skip


class Translator(WordReader):
    """Words that mean the same in German and English have one vector."""

    scale = MULTILINGUAL_E5

    def __init__(self) -> None:
        super().__init__(synonyms=ENGLISH_OF)


def answered(
    folder: Path, question: str, *chunks: object, tokens: WordReader | None = None
) -> QAResult:
    answerer = ExtractiveAnswerer(readers(tokens), ExtractiveSettings(), min_sources=2)
    found = evidence(*chunks)  # type: ignore[arg-type]
    return finished(
        pipeline_in(folder, answerer).answer(
            Question(id="q", question=question), lambda _question, _k: found
        )
    ).result


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("竹纸的抗拉强度是多少？", "三十五牛顿"),
        ("染色の温度は何度ですか？", "60度"),
        ("등대의 불빛은 몇 킬로미터 밖에서 보였습니까?", "18킬로미터"),
        ("כמה טון מלח הפיקה הבריכה הגדולה?", "340"),
        ("كم كيلوغراما من التمر أنتجت كل نخلة؟", "62"),
    ],
)
def test_a_question_in_another_script_is_answered_by_the_words_that_it_shares_with_the_text(
    question: str, said: str, tmp_path: Path
) -> None:
    """That the papers do not say it was false: the search had the sentence first."""
    result = answered(tmp_path, question, *PAPERS)

    assert said in result.claims[0].text


@pytest.mark.parametrize(
    ("question", "papers"),
    [
        ("宣纸的价格是多少？", PAPERS),
        ("מי מימן את המחקר?", PAPERS),
        ("Wie lange braucht Gerste auf Terrassen bis zur Reife?", [ENGLISH]),
        ("How much water do peat mosses store?", [GERMAN]),
    ],
)
def test_what_is_not_found_in_another_language_is_not_said_to_be_missing_from_the_papers(
    question: str, papers: list[object], tmp_path: Path
) -> None:
    """Without a model nobody has read them: that they do not say it is not known."""
    result = answered(tmp_path, question, *papers)

    assert (result.refused, result.answer) == (True, NOT_READ)
    alone = replace(result, nearest=())
    assert promised(alone, question, PublishedCorpus({}, {}, min_sources=2)) == alone


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Reift Gerste auf Terrassen in 96 Tagen?", "96 days"),
        ("How much water do mosses store?", "21-mal"),
    ],
)
def test_a_sentence_in_another_language_is_quoted_where_it_stands_out_by_its_meaning(
    question: str, said: str, tmp_path: Path
) -> None:
    """The search has the sentence first; that nobody judged it is said beside it."""
    result = answered(tmp_path, question, ENGLISH, GERMAN, tokens=Translator())

    assert said in result.claims[0].text
    assert NOT_JUDGED in result.answer


def test_small_words_that_two_languages_share_make_no_english() -> None:
    """A Portuguese question was told that the papers do not contain enough information."""
    assert not may_be_english("Que parâmetro do HNSW aumenta a revocação na hora da consulta?")
    assert may_be_english("Which parameter of HNSW raises the recall at query time?")
    assert may_be_english("Is craniometaphyseal dysplasia inherited?")
