"""The words of a question are compared with those of a passage, by the packaged model."""

from pathlib import Path

import numpy as np
import pytest

from rag_assets.core.settings import EmbeddingSettings
from rag_assets.search.embedding.token_vectors import PassageTokens, open_token_encoder
from rag_assets.search.reranking.base import Reranker
from rag_assets.search.reranking.rerankers import LateInteraction, SharedWords, best_stretch
from rag_assets_tests.search.reranking.candidates import candidates_of

QUESTION = "How long does the virus stay infectious on steel?"
ANSWER = "On stainless steel, infectious virus was recovered for up to three days."
NEAR = "Stainless steel is used for tables and sinks in most of the wards that we visited."
FAR = "Ferritin fell in both groups after the diet was changed."


@pytest.fixture(scope="module")
def reranker(built_model: Path) -> LateInteraction:
    return LateInteraction(PassageTokens(open_token_encoder(EmbeddingSettings(), built_model)))


def test_the_passage_that_answers_is_put_before_those_that_only_share_words(
    reranker: Reranker,
) -> None:
    """This is what the second look is for: the search found the answer third, and an answerer reads
    the first."""
    judgement = reranker.judge(QUESTION, candidates_of(FAR, NEAR, ANSWER))

    assert judgement.scores.argmax() == 2
    assert list(np.argsort(-judgement.relevance)) == [2, 1, 0]


def test_relevance_hardly_depends_on_the_other_candidates(reranker: Reranker) -> None:
    """A floor on a score that the neighbours move would keep a passage here and refuse it there."""
    alone, among = (
        reranker.judge(QUESTION, candidates_of(ANSWER, *others)).relevance[0]
        for others in ([], [FAR] * 5)
    )

    assert alone == pytest.approx(among, abs=0.15)
    assert reranker.judge(QUESTION, candidates_of(FAR, FAR)).relevance.max() < 0.1


def test_the_best_stretch_is_one_place_of_the_passage() -> None:
    """Words of the question that stand far apart answer nothing together."""
    one, other, filler = np.eye(3, dtype=np.float32)
    question = np.stack([one, other])
    together = np.stack([filler] * 30 + [one, other] + [filler] * 30)
    apart = np.stack([one] + [filler] * 60 + [other])

    assert best_stretch(question, together) == 1.0
    assert best_stretch(question, apart) == 0.5
    assert best_stretch(question, together[:0]) == 0.0


def test_the_identity_names_model_and_method(reranker: Reranker) -> None:
    """Answers that were made with another model or method must be made again."""
    assert reranker.identity.startswith(
        "late-interaction-v2:tokens-local-multilingual-e5-small-int8-"
    )


WORDS = SharedWords()


def test_only_terms_that_stand_together_count() -> None:
    """A long passage holds many words of any question somewhere."""
    far = "ferritin " + "and steel bridges carry loads " * 20 + "groups"

    near_share, far_share = WORDS.shares("ferritin groups", ["ferritin of groups", far])

    assert near_share == pytest.approx(1.0)
    assert 0 < far_share < 1


def test_rare_terms_weigh_more() -> None:
    """A word that all candidates hold tells none of them apart."""
    texts = ["virus on wood", "virus on cloth", "virus on glass", "steel alone", "virus on steel"]

    shares = WORDS.shares("virus steel", texts)

    assert shares[4] > shares[3] > shares[0]
