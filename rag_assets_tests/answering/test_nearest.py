"""What came near a question is shown beside its answer, and below a refusal, without being part of
either."""

from collections.abc import Sequence
from pathlib import Path

from rag_assets.answering.drafts import (
    REFUSAL,
    DraftAnswer,
    DraftCitation,
    DraftClaim,
    Readers,
)
from rag_assets.answering.trace import AnswerTrace
from rag_assets.core.domain import Chunk, Context, QAResult
from rag_assets.core.settings import AnsweringSettings
from rag_assets.questions import Question
from rag_assets_tests.answering.builders import (
    Says,
    WordReader,
    chunk,
    context,
    drafted,
    evidence,
    finished,
    pipeline_in,
)

QUESTION = "Why was the bridge over the river closed?"
NEAR = "The bridge over the river was closed for a whole summer."
ANSWER = "Cracks in two girders had been found to widen with every lorry."
PAINT = "Painters worked on the bridge over the river before that."
TOLL = "A toll was asked of every lorry at the bridge until then."
SURE, FAR = 0.8, 0.05


def test_a_refusal_shows_a_sentence_that_is_not_sure_enough() -> None:
    """The answer is often there; a reader sees in a moment whether it is one."""
    reader = Says({ANSWER: 0.0}, others=-20.0)
    bridge, reads = context(chunk("bridge", f"{NEAR} {ANSWER}")), Readers(WordReader(), reader)

    draft = drafted(QUESTION, bridge, reads=reads)

    assert draft.claims == ()
    assert [claim.text for claim in draft.nearest] == [ANSWER]


BRIDGE = chunk("bridge", f"{NEAR} {PAINT} {TOLL}")


class Nearly:
    """Answers with nothing, and says that these quotes of the first context are near."""

    identity = "nearly"

    def __init__(self, *quotes: str) -> None:
        self._quotes = quotes

    def read(self, one: Context) -> Context:
        return one

    def draft(self, _question: str, contexts: Sequence[Context]) -> DraftAnswer:
        near = (
            DraftClaim(quote, (DraftCitation(contexts[0].chunk_id, quote),))
            for quote in self._quotes
        )
        return DraftAnswer(nearest=tuple(near))


def traced(folder: Path, *quotes: str, of: Chunk = BRIDGE) -> AnswerTrace:
    found = evidence(of)
    pipeline = pipeline_in(folder, Nearly(*quotes), AnsweringSettings(min_sources=1))
    return finished(
        pipeline.answer(Question(id="q", question=QUESTION), lambda _question, _k: found)
    )


def texts(result: QAResult) -> list[str]:
    return [claim.text for claim in result.nearest]


def test_it_is_no_part_of_the_answer(tmp_path: Path) -> None:
    """A refusal stays one, and a paper that is only near is no source."""
    result = traced(tmp_path, NEAR).result

    assert texts(result) == [NEAR]
    assert (result.refused, result.answer, result.claims, result.sources_used) == (
        True,
        REFUSAL,
        (),
        (),
    )
    assert result.nearest[0].citations[0].page_start == 1
    assert result.quoted_chunk_ids == {BRIDGE.chunk_id}


def test_it_is_held_against_the_paper_like_a_claim(tmp_path: Path) -> None:
    """It is shown as a quote: what no paper says is left out."""
    assert traced(tmp_path, "The bridge fell into the river.").result.nearest == ()
