"""Questions in any language that ask for a field of a record or for statements."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from rag_assets.core.errors import MissingModel
from rag_assets.core.settings import EmbeddingSettings
from rag_assets.questions import QuestionKind, read
from rag_assets.questions.reading import NOTHING_ASKED
from rag_assets.search.embedding.base import Role
from rag_assets.search.embedding.token_vectors import (
    LocalTokenEncoder,
    TokenVectors,
    open_token_encoder,
)
from rag_assets.search.retrieval.question_kinds import TRAINED_ON, QuestionKinds


@pytest.fixture
def kinds(built_model: Path) -> QuestionKinds:
    return QuestionKinds(open_token_encoder(EmbeddingSettings(), built_model))


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("Wer sind die Autoren der Studie über Ferritin bei Schafen?", ("Authors",)),
        ("¿En qué año se publicó el artículo sobre el cobre?", ("Publication date",)),
        ("Dans quel journal l'article sur le fer a-t-il été publié ?", ("Published in",)),
        ("这篇论文的作者是谁？", ("Authors",)),
        ("Wie hoch war das Ferritin der Schafe im Winter?", ()),
        ("¿Cuántas ovejas participaron en el ensayo?", ()),
        ("Wer hat an der Studie teilgenommen?", ()),
    ],
)
def test_a_record_is_asked_for_in_any_language(
    question: str, lines: tuple[str, ...], kinds: QuestionKinds
) -> None:
    """A sentence about the subject would be published in place of the authors."""
    asked = kinds.asked(question)

    assert asked.lines == lines
    assert (QuestionKind.PUBLICATION in asked.kinds) is bool(lines)


def test_rules_are_asked_first(kinds: QuestionKinds) -> None:
    """Their wordings are tested one by one; the model is for all others."""
    by_rules, by_model = "Who wrote Iron in Winter?", "name the journal of Iron in Winter"

    reading = partial(read, model=kinds.asked)

    assert reading(by_rules) == read(by_rules)
    assert read(by_model).kinds == frozenset()
    assert reading(by_model).parts[0].lines == ("Published in",)


class NoModel(LocalTokenEncoder):
    """The encoder that the layer was trained on, on a machine without its file."""

    def __init__(self) -> None:
        pass

    @property
    def identity(self) -> str:
        return TRAINED_ON

    def encode(self, texts: Sequence[str], role: Role) -> list[TokenVectors]:
        raise MissingModel("its file is not installed")


def test_without_the_packaged_model_questions_are_read_by_rules(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A corpus that a hosted model searches is answered on a machine without the packaged model."""
    kinds = QuestionKinds(NoModel())

    for question in ("Wer hat das geschrieben?", "Wann ist das erschienen?"):
        assert kinds.asked(question) == NOTHING_ASKED

    assert len(caplog.messages) == 1
