"""What a model is shown when `answering.compress_to` is below 1."""

import re
from dataclasses import replace

import pytest

from rag_assets.answering.drafts import Background, DraftAnswer
from rag_assets.answering.model.answerer import HostedAnswerer
from rag_assets.answering.model.compression import LEFT_OUT, CompressedAnswerer, nearest_units
from rag_assets.answering.opening import open_answerer
from rag_assets.core.domain import Context, ContextPassage, ContextUnit, StatementKind
from rag_assets.core.settings import AnsweringSettings, Settings
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections
from rag_assets_testing.wire import Wire
from rag_assets_testing.wire.quoting_model import Prompt, quoting_model
from rag_assets_tests.answering.builders import WordReader, chunk, context, readers
from rag_assets_tests.hosted.models import HURRIED

QUESTION = "How much did ferritin fall?"
TRIAL = (
    "Runners were enrolled in spring. The fall of ferritin was 12% in a month. Shoes were free of charge. "
    "Two runners moved away before the end."
)
OTHER = "Swimmers came from four clubs. Pools were closed in August. In swimmers ferritin did not fall. Nobody left."
TABLE = "Group; Ferritin fall\nRunners; 12%\nSwimmers; 0%\nRowers; 3%"


def of_sentences(text: str, paper_id: str = "trial") -> Context:
    units = tuple(
        ContextUnit(start, end, StatementKind.SENTENCE, 0) for start, end in sentence_spans(text)
    )
    return of_units(text, paper_id, units)


def of_units(text: str, paper_id: str, units: tuple[ContextUnit, ...]) -> Context:
    passage = ContextPassage(f"{paper_id}.1", 0, len(text), text)
    return replace(context(chunk(paper_id, text)), passages=(passage,), units=units)


def of_rows(text: str) -> Context:
    """A table: its first row carries the header line."""
    ends = [match.end() for match in re.finditer(r"[^\n]+", text)][1:]
    starts = [0, *(end + 1 for end in ends[:-1])]
    units = tuple(
        ContextUnit(start, end, StatementKind.ROW, 0)
        for start, end in zip(starts, ends, strict=True)
    )
    return of_units(text, "table", units)


def shown(share: float, *contexts: Context) -> list[str]:
    return [one.text for one in nearest_units(QUESTION, contexts, WordReader(), share)]


def test_the_sentences_nearest_to_the_question_stay_whole_and_in_order() -> None:
    """A quote is copied from what is shown: a sentence that is cut, or moved, could not be
    quoted."""
    texts = shown(0.5, of_sentences(TRIAL), of_sentences(OTHER, "other"))

    assert "The fall of ferritin was 12% in a month." in texts[0]
    assert "In swimmers ferritin did not fall." in texts[1]
    for text, whole in zip(texts, (TRIAL, OTHER), strict=True):
        pieces = [piece.strip() for piece in text.split(LEFT_OUT) if piece.strip()]
        assert all(piece in whole for piece in pieces)
        assert [whole.index(piece) for piece in pieces] == sorted(
            whole.index(piece) for piece in pieces
        )


def test_no_more_than_the_share_is_shown_beyond_one_sentence_of_each_context() -> None:
    """The share is there to bound what a question costs."""
    contexts = [of_sentences(TRIAL), of_sentences(OTHER, "other")]
    n_chars = len(TRIAL) + len(OTHER)

    for share in (0.4, 0.6, 0.8):
        texts = shown(share, *contexts)
        assert (
            sum(len(text.replace(LEFT_OUT, "").strip()) for text in texts) <= share * n_chars + 10
        )


def test_a_row_comes_with_the_header_of_its_table() -> None:
    """A cell without the name of its column says nothing."""
    (text,) = nearest_units("What of rowers?", [of_rows(TABLE)], WordReader(), 0.1)

    assert text.text.startswith("Group; Ferritin fall\nRunners; 12%")
    assert text.text.endswith("Rowers; 3%")
    assert "Swimmers" not in text.text


class Remembering:
    """Keeps what it was shown."""

    identity = "remembering"

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.background = Background("", "")

    def read(self, context: Context) -> Context:
        return context.words()

    def within(self, background: Background) -> "Remembering":
        self.background = background
        return self

    def draft(self, question: str, contexts: list[Context]) -> DraftAnswer:
        self.shown = [one.text for one in contexts]
        return DraftAnswer()


def test_the_answerer_inside_sees_only_what_is_left() -> None:
    """Otherwise the model is paid for what was to be left out."""
    inside = Remembering()

    CompressedAnswerer(inside, WordReader(), 0.1).within(Background("a report", "")).draft(
        QUESTION, [of_sentences(TRIAL)]
    )

    assert inside.shown == [f"{LEFT_OUT}\nThe fall of ferritin was 12% in a month.\n{LEFT_OUT}"]
    assert inside.background.outline == "a report"


@pytest.mark.parametrize(("share", "kind"), [(1.0, HostedAnswerer), (0.5, CompressedAnswerer)])
def test_the_setting_wraps_models_behind_an_api(
    wire: Wire, share: float, kind: type[object]
) -> None:
    """Off, nothing changes: no other prompt, no other identity, no draft asked for again."""
    wire()
    with Connections(HURRIED) as connections:
        settings = Settings(
            answering=AnsweringSettings(model="openai:gpt-5-mini", compress_to=share)
        )
        assert type(open_answerer(settings, readers(), connections)) is kind


def test_a_model_is_sent_less_and_quotes_what_is_left(wire: Wire) -> None:
    """Whole way: what the provider gets, and a quote that stands in the chunk."""
    server = wire()
    with Connections(HURRIED) as connections:
        server.answer_by(quoting_model)
        model = HostedAnswerer(ModelName("openai", "gpt-5-mini"), connections, AnsweringSettings())
        draft = CompressedAnswerer(model, WordReader(), 0.3).draft(QUESTION, [of_sentences(TRIAL)])
        sources = Prompt.of(server.requests[0]).sources

    assert "Shoes" not in sources[1]
    assert LEFT_OUT in sources[1]
    [claim] = draft.claims
    assert claim.citations[0].quote in TRIAL


def test_of_the_others_the_nearest_come_first() -> None:
    """The second best sentence is often the one that answers."""
    first, last = "Ferritin may fall with much running.", "How much did ferritin fall?"
    text = f"{first} Shoes were free. Clubs paid. Nobody left. {last}"

    assert shown(0.65, of_sentences(text)) == [f"{first}\n{LEFT_OUT}\n{last}"]
