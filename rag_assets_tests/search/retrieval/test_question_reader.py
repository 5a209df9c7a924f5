"""What is read in questions of any language: fields of a record, and words that name a work."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_assets.core.errors import MissingModel
from rag_assets.questions import QuestionKind
from rag_assets.questions.reading import NOTHING_ASKED
from rag_assets.search.embedding.base import Vectors
from rag_assets.search.retrieval.question_reader import QuestionReader, open_question_reader


@pytest.fixture(scope="module")
def reader(built_model: Path) -> QuestionReader:
    return open_question_reader(built_model)


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
    question: str, lines: tuple[str, ...], reader: QuestionReader
) -> None:
    """A sentence about the subject would be published in place of the authors."""
    asked = reader.asked(question)

    assert asked.lines == lines
    assert (QuestionKind.PUBLICATION in asked.kinds) is bool(lines)


@pytest.mark.parametrize(
    ("question", "works", "persons"),
    [
        ("Who wrote Copper in Valley Goats?", ("Copper in Valley Goats",), ()),
        ("Wann erschien die Studie über Schafe im Winter?", ("Schafe im Winter",), ()),
        ("Which papers did Berit Moe and Carl Ness write?", (), ("Berit Moe", "Carl Ness")),
        ("Quel est le DOI de l'article de Lund sur la fièvre ?", ("fièvre",), ("Lund",)),
        ("Who wrote it?", (), ()),
    ],
)
def test_the_words_that_name_a_work_or_its_authors_are_marked(
    question: str, works: tuple[str, ...], persons: tuple[str, ...], reader: QuestionReader
) -> None:
    """Whole words, without what stands around them: they are compared with titles and authors."""
    asked = reader.asked(question)

    assert (asked.works, asked.persons) == (works, persons)


@pytest.mark.parametrize(
    "question", ["Who wrote the reply to this paper?", "Wer schrieb die Antwort auf this paper?"]
)
def test_another_work_than_the_one_that_is_named_is_told(
    question: str, reader: QuestionReader
) -> None:
    """The authors of the paper would be given for those of the reply."""
    assert reader.asked(question).kinds == {QuestionKind.RELATED_WORK}


class NoModel:
    """A machine without the file of the packaged model."""

    def inner_states(self, text: str) -> tuple[Vectors, NDArray[np.int32]]:
        raise MissingModel(f"{text} is not installed")


def test_without_the_packaged_model_nothing_is_read(caplog: pytest.LogCaptureFixture) -> None:
    """A corpus that a hosted model searches is answered on a machine without the packaged model."""
    reader = QuestionReader(NoModel())

    for question in ("Wer hat das geschrieben?", "Wann ist das erschienen?"):
        assert reader.asked(question) == NOTHING_ASKED

    assert len(caplog.messages) == 1
