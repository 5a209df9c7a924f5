"""The one further request of an answer: claims that did not hold go back, and a second paper is
asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.answering.drafts import (
    SINGLE_SOURCE_NOTE,
    UNVERIFIED,
    AnswerOptions,
    Background,
    DraftAnswer,
    DraftCitation,
    DraftClaim,
    MendRequest,
)
from rag_assets.answering.trace import AnswerTrace, Event, Finished, Retrying
from rag_assets.answering.verify.verification import (
    EmbeddedSupport,
    Scoring,
    SupportScorer,
    VerifiedClaims,
)
from rag_assets.answering.wording import claim_note
from rag_assets.core.domain import Chunk, Context, Evidence, Hit, Usage
from rag_assets.questions import Question
from rag_assets_tests.answering.builders import (
    WordEncoder,
    chunk,
    evidence,
    finished,
    pipeline_in,
)
from rag_assets_tests.search.retrieval.corpus import passage_of

SMITH = chunk("smith2020", "Ferritin fell in all groups by 12% within a month.")
JONES = chunk("jones2021", "Ferritin was lower in every group after four weeks.")
QUESTION = Question(id="q1", question="Did ferritin fall?")


def claim(text: str, of: Chunk = SMITH, mends: int = 0) -> DraftClaim:
    return DraftClaim(text, (DraftCitation(of.chunk_id, of.text),), mends=mends)


HOLDS, WRONG = (
    claim("In all groups ferritin fell by 12%."),
    claim("Ferritin fell in all groups by 15%."),
)
MENDED = replace(HOLDS, text="Ferritin fell by 12% in all groups.", mends=1)
OF_JONES = claim("Ferritin was lower after four weeks in every group.", JONES)
WHY = "15% stands in none of its quotes"


class Writer:
    """Says what it is told to, at first and when it is asked to mend; keeps what it was asked."""

    identity = "writer"

    def __init__(
        self,
        first: Sequence[DraftClaim],
        second: Sequence[DraftClaim] = (),
        missing: Sequence[str] = (),
    ) -> None:
        self._first, self._second, self._missing = tuple(first), tuple(second), tuple(missing)
        self.n_drafted = 0
        self.asked: list[MendRequest] = []
        self.read_again: list[str] = []

    def read(self, context: Context) -> Context:
        return context.words()

    def within(self, background: Background) -> "Writer":
        return self

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer:
        self.n_drafted += 1
        return DraftAnswer(self._first, missing=self._missing, usage=Usage(1, 100, 10, 0.01))

    def mended(
        self, question: str, contexts: Sequence[Context], asked_to_mend: MendRequest
    ) -> DraftAnswer:
        self.asked.append(asked_to_mend)
        self.read_again = [context.paper_id for context in contexts]
        return DraftAnswer(self._second, usage=Usage(1, 100, 10, 0.01))


class Judge:
    """Says the same of every claim."""

    identity = "judge"

    def __init__(self, verdict: float | None, unjudged: str = "") -> None:
        self._verdict, self._unjudged = verdict, unjudged
        self._scorer = EmbeddedSupport(WordEncoder())

    def scores(self, verified: VerifiedClaims, question: str) -> Scoring:
        scoring = self._scorer.scores(verified, question)
        why = "" if self._verdict is None else "the quote says less"
        supports = tuple(replace(one, judged=self._verdict, why=why) for one in scoring.supports)
        return replace(
            scoring,
            supports=supports,
            usage=Usage(1, 50, 5, 0.001),
            unjudged=self._unjudged,
        )


def rated(relevance: float | None, *chunks: Chunk) -> Evidence:
    """Both as contexts, and as hits of that relevance."""
    passages = [passage_of(one.chunk_id, one.text, paper_id=one.paper_id, page=1) for one in chunks]
    hits = [
        Hit(n, 1.0, *both, relevance=relevance)
        for n, both in enumerate(zip(chunks, passages, strict=True), 1)
    ]
    return replace(evidence(*chunks), hits=tuple(hits))


BOTH = rated(0.9, SMITH, JONES)


def events(
    folder: Path, writer: Writer, found: Evidence, scorer: SupportScorer | None = None
) -> Iterator[Event]:
    return pipeline_in(folder, writer, scorer=scorer).answer(QUESTION, lambda _question, _k: found)


def trace_of(
    folder: Path, writer: Writer, found: Evidence, scorer: SupportScorer | None = None
) -> AnswerTrace:
    return finished(events(folder, writer, found, scorer))


def test_a_claim_that_did_not_hold_goes_back_with_its_reason_and_the_mended_one_takes_its_place(
    tmp_path: Path,
) -> None:
    """What is wrong in one number need not cost the reader the whole statement."""
    writer = Writer([HOLDS, WRONG, OF_JONES], [MENDED])

    happened = list(events(tmp_path, writer, BOTH))

    [asked_to_mend] = writer.asked
    assert [(one.claim, one.why) for one in asked_to_mend.objections] == [(WRONG, WHY)]
    assert writer.read_again == ["smith2020"]
    assert [event for event in happened if isinstance(event, Retrying)] == [Retrying(6, 1)]
    assert isinstance(happened[-1], Finished)
    trace = happened[-1].trace
    assert [one.text for one in trace.result.claims] == [HOLDS.text, MENDED.text, OF_JONES.text]
    assert (trace.result.left_out, trace.n_mended, trace.result.usage.n_requests) == ((), 1, 2)


def test_a_second_paper_is_asked_for_where_another_has_a_passage_that_may_answer(
    tmp_path: Path,
) -> None:
    """Who reads only one paper does not know whether the others agree."""
    writer = Writer([HOLDS], [OF_JONES])

    result = trace_of(tmp_path, writer, BOTH).result

    assert (writer.asked, writer.read_again) == ([MendRequest(cited=("smith2020",))], ["jones2021"])
    assert result.sources_used == ("smith2020", "jones2021")


NAMES_BOTH = replace(BOTH, named_papers=("smith2020", "jones2021"))
NAMES_ONE = replace(BOTH, named_papers=("smith2020",))


@pytest.mark.parametrize(
    ("found", "n_asked", "is_told"),
    [
        (BOTH, 1, True),
        (NAMES_BOTH, 1, True),
        (NAMES_ONE, 0, False),
        (rated(0.1, SMITH, JONES), 0, True),
    ],
    ids=["names none", "names two", "names one", "no passage may answer"],
)
def test_a_question_about_one_paper_wants_no_second(
    found: Evidence, n_asked: int, is_told: bool, tmp_path: Path
) -> None:
    """Another paper says nothing about what this one found, and that one paper answers is no
    news."""
    writer = Writer([HOLDS])

    result = trace_of(tmp_path, writer, found).result

    assert len(writer.asked) == n_asked
    assert (SINGLE_SOURCE_NOTE in result.answer) is is_told


def test_nothing_is_asked_where_everything_holds_and_enough_papers_are_cited(
    tmp_path: Path,
) -> None:
    """A second request costs as much as the first."""
    writer = Writer([HOLDS, OF_JONES])

    trace = trace_of(tmp_path, writer, BOTH)

    assert (writer.asked, trace.result.usage.n_requests, trace.retry_k) == ([], 1, None)


def test_a_reply_of_which_nothing_holds_says_nothing_about_the_papers_and_is_not_kept(
    tmp_path: Path,
) -> None:
    """A slip of the model was published as "the papers do not say", for good."""
    writer = Writer([WRONG], [replace(WRONG, mends=1)])

    result, again = (trace_of(tmp_path, writer, BOTH).result for _ in range(2))

    assert (result.refused, result.withheld, result.claims) == (False, True, ())
    assert result.answer.startswith(UNVERIFIED)
    assert [one.why for one in result.left_out] == [WHY]
    assert (again.answer, writer.n_drafted) == (result.answer, 2)


def test_an_answer_is_made_anew_where_the_user_asks_for_it(tmp_path: Path) -> None:
    """A poor answer that is kept would stand for good."""
    writer = Writer([HOLDS, OF_JONES])
    pipeline = pipeline_in(tmp_path, writer)
    for again, n_drafted in ((False, 1), (False, 1), (True, 2), (False, 2)):
        list(pipeline.adapted(AnswerOptions(again=again)).answer(QUESTION, lambda _q, _k: BOTH))

        assert writer.n_drafted == n_drafted


class SilentJudge(Judge):
    """Has no verdict on the last statement."""

    def scores(self, verified: VerifiedClaims, question: str) -> Scoring:
        scoring = super().scores(verified, question)
        *judged, last = scoring.supports
        return replace(scoring, supports=(*judged, replace(last, judged=None)))


def test_statements_that_the_judge_passes_over_are_told(tmp_path: Path) -> None:
    """They look as if a second look had found nothing wrong."""
    writer = Writer([HOLDS, OF_JONES])

    result = trace_of(tmp_path, writer, BOTH, scorer=SilentJudge(1.0, "silent")).result

    assert "1 of these statements were compared with their quotes by rules alone" in result.answer


def test_an_unsupported_claim_is_withheld_with_what_is_wrong(tmp_path: Path) -> None:
    """Numbers and words may agree where the meaning does not."""
    writer = Writer([HOLDS, OF_JONES])

    result = trace_of(tmp_path, writer, BOTH, scorer=Judge(0.0)).result

    assert (result.withheld, {one.why for one in result.left_out}) == (
        True,
        {"the quote says less"},
    )
    assert [one.why for one in writer.asked[0].objections] == ["the quote says less"] * 2


def test_a_partly_supported_claim_is_published_with_a_mark_and_its_judge_counted(
    tmp_path: Path,
) -> None:
    """A reader decides whether the part is enough; the second look is on the bill."""
    result = trace_of(tmp_path, Writer([HOLDS, OF_JONES]), BOTH, scorer=Judge(0.5)).result

    assert {claim_note(one) for one in result.claims} == {"in part: the quote says less"}
    assert result.answer.startswith(f"{HOLDS.text} [smith2020, p. 1; in part]")
    assert (result.usage.n_requests, result.usage.n_input_tokens) == (2, 150)


ZINC = chunk("allan2014", "Zinc shortened the course of colds by 1.65 days.")
TWICE = Question(id="q2", question="Did ferritin fall, and does zinc shorten it?")
OF_ZINC = claim("Zinc shortened colds by 1.65 days.", ZINC)


def test_a_part_that_the_model_misses_is_searched_by_itself_and_what_is_found_goes_into_the_second_request(
    tmp_path: Path,
) -> None:
    """ "The sources do not say" stood under the heading of a section of the corpus: nobody had
    looked."""
    writer = Writer([HOLDS, OF_JONES], [OF_ZINC], missing=["does zinc shorten it"])
    searched: list[str] = []

    def retrieve(question: Question, _k: int) -> Evidence:
        searched.append(question.question)
        return rated(0.9, ZINC) if question.question == "does zinc shorten it" else BOTH

    trace = finished(pipeline_in(tmp_path, writer).answer(TWICE, retrieve))

    assert "does zinc shorten it" in searched
    assert (writer.asked, writer.read_again) == (
        [MendRequest(missing=("does zinc shorten it",))],
        ["allan2014"],
    )
    assert [one.text for one in trace.result.claims] == [
        HOLDS.text,
        OF_JONES.text,
        OF_ZINC.text,
    ]
    assert trace.result.unanswered == ()


@pytest.mark.parametrize(
    ("found", "n_asked", "n_read"),
    [(BOTH, 0, 2), (rated(0.1, ZINC), 0, 2), (rated(0.9, ZINC), 1, 3)],
    ids=["read before", "may not answer", "read and of no use"],
)
def test_a_part_that_is_not_found_is_told_with_how_much_was_read(
    found: Evidence, n_asked: int, n_read: int, tmp_path: Path
) -> None:
    """What stands in the other passages of the corpus nobody knows."""
    writer = Writer([HOLDS, OF_JONES], missing=["does zinc shorten it"])

    trace = finished(
        pipeline_in(tmp_path, writer).answer(
            TWICE, lambda question, _k: BOTH if question is TWICE else found
        )
    )

    assert len(writer.asked) == n_asked
    assert trace.result.answer.endswith(
        f"[INSUFFICIENT DATA] Not found in the {n_read} passages that were read: “does zinc shorten it”"
    )


def test_what_a_question_brings_along_is_in_its_row(tmp_path: Path) -> None:
    """Whoever asks from another program could not tell which of its questions was answered."""
    brings = Question.model_validate({"id": "q1", "question": "Did ferritin fall?", "ticket": 7})
    pipeline = pipeline_in(tmp_path, Writer([HOLDS, OF_JONES]))

    result = finished(pipeline.answer(brings, lambda _question, _k: BOTH)).result

    assert result.given == {"ticket": 7}
