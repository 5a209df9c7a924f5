"""From a question to a verified result, with the retry and the cache."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.answering.drafts import (
    SINGLE_SOURCE_NOTE,
    DraftAnswer,
    DraftCitation,
    DraftClaim,
)
from rag_assets.answering.trace import (
    AnswerTrace,
    ClaimDropped,
    ClaimVerified,
    Event,
    Finished,
    Retrieved,
    Retrying,
)
from rag_assets.answering.verify.verification import Reason
from rag_assets.core.domain import (
    Chunk,
    Context,
    Evidence,
    PaperFacts,
    Query,
    QueryOrigin,
)
from rag_assets.core.errors import RequestRejected
from rag_assets.core.settings import AnsweringSettings
from rag_assets.questions import Question
from rag_assets_tests.answering.builders import (
    chunk,
    evidence,
    finished,
    pipeline_in,
)

SMITH = chunk("smith2020", "Ferritin fell in all groups by 12% within a month.")
JONES = chunk("jones2021", "Ferritin was lower in every group after four weeks.", page=None)


Change = Callable[[DraftAnswer], DraftAnswer]


class QuotingAnswerer:
    """Quotes the first context of each paper whole, and counts how often it is asked."""

    identity = "quoting"

    def __init__(self, change: Change = lambda draft: draft) -> None:
        """change: what it says instead of its quotes."""
        self._change = change
        self.n_calls = 0

    def read(self, context: Context) -> Context:
        return context.words()

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer:
        self.n_calls += 1
        quotes = (
            DraftClaim(item.text, (DraftCitation(item.chunk_id, item.text),)) for item in contexts
        )
        return self._change(DraftAnswer(tuple(quotes)))


class Pipeline:
    """An answer pipeline that is given its evidence by k."""

    def __init__(
        self,
        folder: Path,
        answerer: QuotingAnswerer,
        by_k: dict[int, Evidence],
        settings: AnsweringSettings | None = None,
    ) -> None:
        self._pipeline = pipeline_in(folder, answerer, settings)
        self._by_k = by_k

    def events(self, question: str = "Did ferritin fall?") -> Iterator[Event]:
        asked = Question(id="q1", question=question)
        return self._pipeline.answer(asked, lambda _question, k: self._by_k[k])

    def answer(self, question: str = "Did ferritin fall?") -> AnswerTrace:
        return finished(self.events(question))


def test_an_answer_names_its_papers_and_pages(tmp_path: Path) -> None:
    """The answer is read without its claims by most readers."""
    attempts = Pipeline(tmp_path, QuotingAnswerer(), {6: evidence(SMITH, JONES)}).answer()

    assert attempts.result.answer == f"{SMITH.text} [smith2020, p. 1] {JONES.text} [jones2021]"
    assert attempts.result.sources_used == ("smith2020", "jones2021")
    assert (attempts.retry_k, attempts.result.single_source, attempts.result.refused) == (
        None,
        False,
        False,
    )


@pytest.mark.parametrize("extra_k", [4, 9])
def test_one_paper_triggers_one_retry_with_more_contexts(extra_k: int, tmp_path: Path) -> None:
    """The second paper is often just below the cut."""
    answerer, wider = QuotingAnswerer(), 6 + extra_k
    by_k = {6: evidence(SMITH), wider: evidence(SMITH, JONES)}

    attempts = Pipeline(tmp_path, answerer, by_k, AnsweringSettings(retry_extra_k=extra_k)).answer()

    first = attempts.attempts[0]
    assert (first.k, first.n_sources, attempts.retry_k) == (6, 1, wider)
    assert attempts.result.sources_used == ("smith2020", "jones2021")
    assert answerer.n_calls == 2


def test_a_preprint_and_its_article_are_one_source(tmp_path: Path) -> None:
    """Nobody else found the same: the reader would take one study for two."""
    both = evidence(SMITH, JONES)
    facts = PaperFacts(work="smith2020")
    both = replace(both, contexts=tuple(replace(context, paper=facts) for context in both.contexts))

    pipeline = Pipeline(tmp_path, QuotingAnswerer(), {6: both, 10: both})
    result = pipeline.answer().result

    assert result.sources_used == ("smith2020", "jones2021")
    assert result.single_source
    assert result.answer.endswith(SINGLE_SOURCE_NOTE)


def test_an_answer_with_fewer_papers_than_asked_for_says_how_many(tmp_path: Path) -> None:
    """To say "only one" of an answer that cites two would be a falsehood of our own."""
    seen = evidence(SMITH, JONES)
    three = AnsweringSettings(min_sources=3)
    cautious = Pipeline(tmp_path, QuotingAnswerer(), {6: seen, 10: seen}, three)

    result = cautious.answer().result

    assert result.single_source
    assert result.answer.endswith("[jones2021] Only 2 papers of the corpus support this answer.")


@pytest.mark.parametrize(("n_first", "n_retry"), [(2, 1), (1, 2), (1, 1)])
def test_a_retry_that_adds_no_paper_leaves_the_first_answer(
    n_first: int, n_retry: int, tmp_path: Path
) -> None:
    """More contexts may distract: the retry looked for a second paper, not for another answer."""

    def uneven(draft: DraftAnswer) -> DraftAnswer:
        n_claims = n_first if len(draft.claims) == 2 else n_retry
        return replace(draft, claims=draft.claims[:n_claims])

    ours = [
        chunk("smith2020", f"Ferritin fell in group {name} by 12% within a month.")
        for name in ("one", "two", "x")
    ]

    attempts = Pipeline(
        tmp_path, QuotingAnswerer(uneven), {6: evidence(*ours[:2]), 10: evidence(*ours)}
    ).answer()

    assert len(attempts.result.claims) == n_first
    assert len(attempts.result.contexts) == 2
    assert [attempt.k for attempt in attempts.attempts] == [6, 10]


class RetryRejected(QuotingAnswerer):
    """Its provider takes the first prompt and rejects the longer one of the retry."""

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer:
        if self.n_calls:
            raise RequestRejected("no")
        return super().draft(question, contexts)


def test_a_rejected_retry_leaves_the_first_answer(tmp_path: Path) -> None:
    """An answer from one paper is there and paid for; more contexts may be more than the provider
    takes."""
    by_k = {6: evidence(SMITH), 10: evidence(SMITH, JONES)}

    attempts = Pipeline(tmp_path, RetryRejected(), by_k).answer()

    assert (attempts.result.sources_used, attempts.result.single_source) == (("smith2020",), True)
    assert (attempts.retry_k, len(attempts.attempts)) == (10, 1)


def test_a_rejected_retry_of_a_refusal_is_no_refusal(tmp_path: Path) -> None:
    """Nobody looked at all that was found: published as a refusal, the question would never be
    asked again."""
    by_k = {6: evidence(SMITH), 10: evidence(SMITH, JONES)}

    silent = RetryRejected(lambda draft: replace(draft, claims=()))

    with pytest.raises(RequestRejected):
        Pipeline(tmp_path, silent, by_k).answer()


def test_the_contexts_of_a_row_are_those_that_were_read(tmp_path: Path) -> None:
    """What was too long for the model was not looked at, and cannot be cited."""

    short_sighted = QuotingAnswerer(lambda draft: replace(draft, n_contexts_read=1))
    both = evidence(SMITH, JONES)

    result = Pipeline(tmp_path, short_sighted, {6: both, 10: both}).answer().result

    assert result.contexts == (SMITH.chunk_id,)
    assert result.sources_used == ("smith2020",)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (replace(SMITH, is_generated=True), "AI-written"),
        (
            replace(SMITH, spans=tuple(replace(span, is_by_ocr=True) for span in SMITH.spans)),
            "read by OCR",
        ),
    ],
)
def test_an_answer_says_which_of_its_words_a_model_wrote_or_ocr_read(
    tmp_path: Path, source: Chunk, said: str
) -> None:
    """A figure's description is not the authors' word, OCR takes an 8 for a 3, and most readers see
    nothing but the answer."""
    attempts = Pipeline(tmp_path, QuotingAnswerer(), {6: evidence(source, JONES)}).answer()

    assert (
        attempts.result.answer == f"{SMITH.text} [smith2020, p. 1, {said}] {JONES.text} [jones2021]"
    )


def test_what_is_not_answered_is_said_in_the_answer(tmp_path: Path) -> None:
    """Readers read the answer, not its fields."""

    half = QuotingAnswerer(lambda draft: replace(draft, unanswered=("and why?",)))

    result = Pipeline(tmp_path, half, {6: evidence(SMITH, JONES)}).answer().result

    assert result.unanswered == ("and why?",)
    assert result.answer.endswith("No sentence was found for: and why?")


def test_names_that_no_attempt_found_are_said_in_the_answer(tmp_path: Path) -> None:
    """A name that the retry found must not be called missing because the first attempt had not
    found it."""

    def naming(draft: DraftAnswer) -> DraftAnswer:
        names = ("Chinese", "2019") if len(draft.claims) == 1 else ("Chinese",)
        return replace(draft, missing_names=names)

    by_k = {6: evidence(SMITH), 10: evidence(SMITH, JONES)}
    result = Pipeline(tmp_path, QuotingAnswerer(naming), by_k).answer().result

    assert result.missing_names == ("Chinese",)
    assert result.answer.endswith('No passage that was found names "Chinese".')


def test_the_same_contexts_are_never_answered_twice(tmp_path: Path) -> None:
    """Model calls cost money; a killed run must not pay again."""
    by_k = {6: evidence(SMITH, JONES)}
    first = Pipeline(tmp_path, QuotingAnswerer(), by_k).answer()
    again = QuotingAnswerer()

    second = Pipeline(tmp_path, again, by_k).answer()

    assert again.n_calls == 0
    assert second.result == first.result


def test_a_changed_context_is_answered_anew_and_one_whose_score_moved_is_not(
    tmp_path: Path,
) -> None:
    """A reply to yesterday's text must not answer for today's; every new paper moves the scores of
    all others."""
    answerer = QuotingAnswerer()
    before = evidence(SMITH, JONES)
    moved = Evidence(tuple(replace(item, score=0.9) for item in before.contexts), before.chunks)
    edited = evidence(
        chunk("smith2020", "Ferritin fell in all groups by 13% within a month."), JONES
    )

    for found, n_calls in ((before, 1), (moved, 1), (edited, 2)):
        Pipeline(tmp_path, answerer, {6: found}).answer()
        assert answerer.n_calls == n_calls


def test_changed_settings_of_answering_are_answered_anew(tmp_path: Path) -> None:
    """A reply made under a tighter limit would stand in for every later one, and the setting would
    seem to do nothing."""
    answerer = QuotingAnswerer()
    by_k = {6: evidence(SMITH, JONES), 8: evidence(SMITH, JONES)}
    changed = (
        AnsweringSettings(),
        AnsweringSettings(max_output_tokens=4321),
        AnsweringSettings(max_output_tokens=4321, k=8),
    )

    for n_calls, settings in enumerate((*changed, *changed), 1):
        Pipeline(tmp_path, answerer, by_k, settings).answer()
        assert answerer.n_calls == min(n_calls, len(changed))


QUERIES = (Query("Did ferritin fall, and why did it fall so fast?", QueryOrigin.QUESTION),)


def test_the_record_holds_what_was_read_and_why_claims_were_dropped(tmp_path: Path) -> None:
    """An answer that surprises is looked into afterwards; numbers alone do not say what the model
    had read."""

    def half_invented(draft: DraftAnswer) -> DraftAnswer:
        elsewhere = DraftClaim(
            "Iron rose.", (DraftCitation("other:1", "Iron rose in all groups by 5%"),)
        )
        wrong_number = DraftClaim("Ferritin fell by 99%.", draft.claims[0].citations)
        return DraftAnswer((*draft.claims, elsewhere, wrong_number))

    by_k = {6: replace(evidence(SMITH, JONES), queries=QUERIES)}
    trace = Pipeline(tmp_path, QuotingAnswerer(half_invented), by_k).answer(QUERIES[0].text)

    assert [context.text for context in trace.final.contexts] == [SMITH.text, JONES.text]
    assert [one.n_lost for one in trace.final.verified.outcomes] == [0, 0, 1, 0]
    assert [
        (one.objection and one.objection.reason, one.proposed.text)
        for one in trace.final.verified.objected
    ] == [
        (Reason.NO_CITATION, "Iron rose."),
        (Reason.NUMBER_MISSING, "Ferritin fell by 99%."),
    ]
    assert trace.queries == QUERIES
    assert set(trace.seconds) == {"retrieve", "draft", "verify"}


def test_events_tell_of_verified_claims_only(tmp_path: Path) -> None:
    """A page shows them as they come; what turns out to be invented must never have stood there."""
    by_k = {6: evidence(SMITH), 10: evidence(SMITH, JONES)}
    events = list(Pipeline(tmp_path, QuotingAnswerer(), by_k).events())

    assert [type(event) for event in events] == [
        *(Retrieved, ClaimVerified, Retrying),
        *(Retrieved, ClaimVerified, ClaimVerified, Finished),
    ]

    doubled = DraftClaim(
        "Ferritin doubled.", (DraftCitation(SMITH.chunk_id, "Ferritin doubled in a day"),)
    )
    inventing = QuotingAnswerer(lambda _draft: DraftAnswer((doubled,)))
    by_k = {6: evidence(SMITH), 10: evidence(SMITH)}
    invented = list(Pipeline(tmp_path / "other", inventing, by_k).events())
    assert (
        ClaimDropped(
            Reason.NO_CITATION, "Ferritin doubled.", "no place that it cites is in the sources"
        )
        in invented
    )
    assert not any(isinstance(event, ClaimVerified) for event in invented)
