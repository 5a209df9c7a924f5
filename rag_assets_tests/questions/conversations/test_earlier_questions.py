"""Which questions count as asked before: measured with the packaged model on pairs that differ in
what decides."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from rag_assets.core.settings import EmbeddingSettings
from rag_assets.questions import Question
from rag_assets.questions.conversations.earlier_questions import EarlierQuestions
from rag_assets.search.embedding.providers import open_embedder

THRESHOLD = 0.9
TEMPLATES = (
    "How many patients were treated with {drug} in {year}?",
    "What was the mortality after {n} days of {drug}?",
    "Did {drug} lower blood pressure in the {year} trial?",
    "Which dose of {drug} was given to the {n} participants?",
    "What does the study by {author} say about {drug}?",
)
DRUGS, YEARS, NUMBERS = ("Metformin", "Aspirin", "Losartan"), ("2019", "2020"), ("30", "90")
AUTHORS = ("Miller", "Okafor")
TURNED = (
    ("Does exercise increase bone density?", "Does exercise decrease bone density?"),
    ("What are the advantages of early surgery?", "What are the disadvantages of early surgery?"),
    (
        "Which patients were included in the trial?",
        "Which patients were not included in the trial?",
    ),
    ("What happened before the intervention?", "What happened after the intervention?"),
    ("Who measured the samples?", "When were the samples measured?"),
    ("How many women reported pain?", "How many men reported pain?"),
    ("Is the risk higher in smokers?", "Is the risk lower in smokers?"),
    ("How much did the treatment cost?", "How long did the treatment take?"),
    ("What is the maximum dose?", "What is the minimum dose?"),
    ("Was sleep better with the drug?", "Was sleep better without the drug?"),
)
SAME = (
    ("What was the main result of the trial?", "What was the trial's main result?"),
    ("What is reciprocal rank fusion?", "What is meant by reciprocal rank fusion?"),
    ("What are the limitations of the study?", "What limitations does the study have?"),
    ("How is recall measured?", "How is the recall measured?"),
)


@pytest.fixture(scope="module")
def earlier(built_model: Path) -> Callable[[], EarlierQuestions]:
    embedder = open_embedder(EmbeddingSettings(), built_model, n_threads=1)
    return lambda: EarlierQuestions(embedder.embed_query, THRESHOLD)


def ask(text: str, where: str | None = None) -> Question:
    return Question.model_validate({"id": text, "question": text, "where": where})


def variants() -> list[list[str]]:
    """For each template all its fillings: each differs from each other in a name or a number."""
    fillings = [
        {"drug": drug, "year": year, "n": number, "author": author}
        for drug, year, number, author in product(DRUGS, YEARS, NUMBERS, AUTHORS)
    ]
    return [sorted({template.format(**filling) for filling in fillings}) for template in TEMPLATES]


def test_no_question_with_another_name_or_number_counts_as_the_same(
    earlier: Callable[[], EarlierQuestions],
) -> None:
    """A reader would get the answer about another drug or year, and not notice."""
    n_pairs, wrong = 0, []
    for texts in variants():
        for first, second in product(texts, texts):
            if first == second:
                continue
            known = earlier()
            known.remember(ask(first), "v1")
            n_pairs += 1
            if known.same_as(ask(second), "v1") is not None:
                wrong.append((first, second))

    assert n_pairs >= 100
    assert wrong == []


@pytest.mark.parametrize(("first", "second"), TURNED)
def test_a_word_that_turns_the_meaning_makes_another_question(
    earlier: Callable[[], EarlierQuestions], first: str, second: str
) -> None:
    """The vectors of opposites are nearest neighbours."""
    known = earlier()
    known.remember(ask(first), "v1")

    assert known.same_as(ask(second), "v1") is None


@pytest.mark.parametrize(("first", "second"), SAME)
def test_the_same_in_other_words_is_found(
    earlier: Callable[[], EarlierQuestions], first: str, second: str
) -> None:
    """A cache that finds nothing is only in the way."""
    known = earlier()
    known.remember(ask(first), "v1")

    assert known.same_as(ask(second), "v1") == first


def test_another_filter_or_another_publication_is_another_question(
    earlier: Callable[[], EarlierQuestions],
) -> None:
    """An answer of before an edit, or of other papers, would be given."""
    first, second = SAME[0]
    known = earlier()
    known.remember(ask(first, "paper:a"), "v1")

    assert known.same_as(ask(second, "paper:a"), "v1") == first
    assert known.same_as(ask(second), "v1") is None
    assert known.same_as(ask(second, "paper:a"), "v2") is None


def test_only_so_many_are_kept(built_model: Path) -> None:
    """A server that runs for months would fill its memory."""
    embedder = open_embedder(EmbeddingSettings(), built_model, n_threads=1)
    known = EarlierQuestions(embedder.embed_query, THRESHOLD, max_questions=1)
    known.remember(ask(SAME[0][0]), "v1")
    known.remember(ask(SAME[1][0]), "v1")

    assert known.same_as(ask(SAME[0][1]), "v1") is None
    assert known.same_as(ask(SAME[1][1]), "v1") == SAME[1][0]
