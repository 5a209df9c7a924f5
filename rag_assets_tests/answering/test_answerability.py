"""What makes a sentence an answer: everything asked about is near it, under whatever word."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from rag_assets.answering.extractive import ExtractiveAnswerer
from rag_assets.domain import Context
from rag_assets.embedding.token_vectors import PassageTokens, open_token_encoder
from rag_assets.settings import EmbeddingSettings, ExtractiveSettings
from rag_assets_tests.answering.builders import chunk, context

GARDEN = chunk(
    "school_garden",
    "We followed 112 children of two schools for one year. The children who worked in the school garden ate more "
    "vegetables than those who did not. Eleven children moved away before the study ended. The garden was paid for by "
    "the town.",
)
BRIDGE = chunk(
    "old_bridge",
    "The bridge of the town was repaired after the flood. Its arches were measured with a laser. The stones came from "
    "a quarry in the hills. Traffic was stopped for eight months.",
)


@pytest.fixture(scope="module")
def answerer(tmp_path_factory: pytest.TempPathFactory) -> ExtractiveAnswerer:
    models = Path(tmp_path_factory.mktemp("models"))
    reader = PassageTokens(open_token_encoder(EmbeddingSettings(), models))
    return ExtractiveAnswerer(reader, ExtractiveSettings(), min_sources=2)


@pytest.fixture
def contexts() -> Sequence[Context]:
    return [context(GARDEN), context(BRIDGE)]


def test_a_question_in_other_words_is_answered(answerer: ExtractiveAnswerer, contexts: Sequence[Context]) -> None:
    """Readers say "kids" where the paper says "children"; a refusal sends them away from the answer."""
    draft = answerer.draft("How many kids from the two schools took part?", contexts)

    assert "112 children" in draft.claims[0].text


def test_what_is_asked_about_must_be_there(answerer: ExtractiveAnswerer, contexts: Sequence[Context]) -> None:
    """All words but one stand in the sentence, and that one makes the answer false."""
    assert answerer.draft("Did the children who worked in the garden eat more vegetables?", contexts).claims
    assert not answerer.draft("Did pensioners who worked in the garden sleep longer?", contexts).claims


def test_a_sentence_without_a_number_does_not_say_how_many(
    answerer: ExtractiveAnswerer, contexts: Sequence[Context]
) -> None:
    """ "How many months" is not answered by where the stones came from."""
    draft = answerer.draft("For how many months was traffic on the bridge stopped?", contexts)

    assert "eight months" in draft.claims[0].text
