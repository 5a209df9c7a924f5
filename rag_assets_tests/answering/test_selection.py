"""How many claims an answer has, which parts of a question stay open, and what is shown as near."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from rag_assets.answering.drafts import MOST_NEAREST
from rag_assets.answering.extractive.candidates import candidate
from rag_assets.answering.extractive.relevance import ScoredPart
from rag_assets.answering.extractive.selection import Selection, claims_of, is_new
from rag_assets.core.domain import ContextUnit, StatementKind
from rag_assets.corpus.references import supposes
from rag_assets_tests.answering.builders import chunk, context

SENTENCES = (
    "Ewes of the hill flock were shorn in May at the northern barn.",
    "Rams grazed near a lake until autumn came.",
    "Lambs drank milk from bottles during snow storms.",
    "Dogs guarded every gate against wolves and thieves.",
    "Wool was carried to the mill on Sundays.",
)


def selected(
    *parts: Sequence[float],
    sentences: Sequence[str] = SENTENCES,
    max_claims: int = 4,
    units: Sequence[ContextUnit] = (),
) -> Selection:
    """What is chosen of sentences of one paper. parts: for each the relevance of every sentence."""
    within = replace(context(chunk("farm", "\n\n".join(sentences))), units=tuple(units))
    starts = [within.text.index(one) for one in sentences]
    candidates = [
        candidate(within, 0, start, start + len(one))
        for one, start in zip(sentences, starts, strict=True)
    ]
    asked = [ScoredPart(f"part {n}?", np.array(one, np.float32)) for n, one in enumerate(parts)]
    selection = Selection(candidates, asked, [within], floor=0.6, max_claims=max_claims)
    selection.choose(min_papers=1)
    return selection


def near(selection: Selection) -> list[str]:
    return [one.text for one, _ in selection.nearest()]


def test_a_footnote_stands_beside_an_answer_of_the_text_only_if_it_is_nearly_as_good() -> None:
    """Beside the mean life of granite an answer told of the basalt that a note leaves out."""
    note = ContextUnit(
        len(SENTENCES[0]) + 2, len(SENTENCES[0]) + 2 + len(SENTENCES[1]), StatementKind.NOTE, 1
    )

    assert selected([0.95, 0.78, 0.1, 0.1, 0.1], units=[note]).chosen == [0]
    assert selected([0.95, 0.9, 0.1, 0.1, 0.1], units=[note]).chosen == [0, 1]
    assert selected([0.95, 0.78, 0.1, 0.1, 0.1]).chosen == [0, 1]


@pytest.mark.parametrize(
    ("parts", "n_claims"),
    [
        ([[0.9, 0.8, 0.8, 0.8, 0.8]], 2),
        ([[0.9, 0.8, 0.0, 0.0, 0.0], [0.0, 0.0, 0.9, 0.8, 0.0]], 3),
        ([[0.9, 0.8, 0.8, 0.8, 0.8], [0.9, 0.8, 0.8, 0.8, 0.8]], 2),
        ([[0.9, 0.1, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.1, 0.1]], 1),
        ([[0.5, 0.1, 0.1, 0.1, 0.1]], 0),
    ],
    ids=[
        "one part",
        "two parts",
        "two parts that one sentence answers",
        "a part that nothing answers",
        "below the floor",
    ],
)
def test_one_claim_stands_beside_the_best_ones_of_the_parts(
    parts: list[list[float]], n_claims: int
) -> None:
    """More of them hide the one that answers."""
    assert len(selected(*parts).chosen) == n_claims


@pytest.mark.parametrize(("relevance", "is_open"), [(0.5, False), (0.45, True)])
def test_a_part_that_a_sentence_of_another_one_nearly_answers_is_not_called_open(
    relevance: float, is_open: bool
) -> None:
    """ "27 of 5,040 were kept" stood above "No sentence was found for: how many were kept?"."""
    selection = selected([0.9, 0.0, 0.0, 0.0, 0.0], [relevance, 0.0, 0.0, 0.0, 0.0])

    assert selection.unanswered_parts() == (("part 1?",) if is_open else ())


def test_the_nearest_come_first_and_no_more_than_a_few() -> None:
    """Ten sentences below an answer hide it."""
    assert near(selected([0.3, 0.4, 0.0, 0.0, 0.0])) == [SENTENCES[1], SENTENCES[0]]
    assert len(near(selected([0.4] * 5))) == MOST_NEAREST < len(SENTENCES)


def test_what_is_far_from_the_question_is_not_shown() -> None:
    """A list below every refusal, whatever it was about, would soon be read by nobody."""
    assert near(selected([0.05] * 5)) == []


@pytest.mark.parametrize(
    ("other", "is_new_there"),
    [
        ("The drug lowered the pressure of 40 patients in the trial.", False),
        ("The drug lowered the pressure of 90 patients in the trial.", True),
        ("The drug did not lower the pressure of 40 patients in the trial.", True),
        ("The drug raised the pressure of 40 patients in the trial.", True),
    ],
    ids=["the same", "other figures", "negated", "the other direction"],
)
def test_another_papers_opposite_finding_is_no_repetition(other: str, is_new_there: bool) -> None:
    """A reader who sees one side takes it for what all papers say."""
    said = "The drug lowered the pressure of 40 patients in the trial."
    one, another = (
        context(chunk(paper, text)) for paper, text in (("one", said), ("other", other))
    )
    first = candidate(one, 0, 0, len(said))
    second = candidate(another, 1, 0, len(other))

    assert is_new(second, [first]) is is_new_there


def test_what_is_published_together_with_a_claim_is_not_shown_again() -> None:
    """A short sentence is published with the one behind it."""
    within = context(chunk("farm", " ".join(SENTENCES[:2])))
    with_next = replace(candidate(within, 0, 0, len(SENTENCES[0])), shown=(0, len(within.text)))
    next_one = candidate(within, 0, len(SENTENCES[0]) + 1, len(within.text))

    assert not is_new(next_one, [with_next])


@pytest.mark.parametrize(
    ("second", "third", "n_sentences"),
    [(0.35, 0.0, 2), (0.25, 0.0, 1), (0.4, 0.35, 3), (0.0, 0.35, 1)],
)
def test_a_sentence_behind_the_best_one_that_is_nearly_as_sure_is_quoted_with_it(
    second: float, third: float, n_sentences: int
) -> None:
    """The second half of a reason often stands in the next sentence. A claim is a stretch without
    gaps."""
    within = context(chunk("farm", " ".join(SENTENCES)))
    starts = [within.text.index(one) for one in SENTENCES]
    candidates = [
        candidate(within, 0, start, start + len(one))
        for one, start in zip(SENTENCES, starts, strict=True)
    ]
    part = ScoredPart("part?", np.array([0.9, second, third, 0.0, 0.0], np.float32))
    selection = Selection(candidates, [part], [within], floor=0.6, max_claims=4)
    selection.choose(min_papers=1)

    (claim,) = claims_of(selection.published(), [within])

    assert claim.text == " ".join(SENTENCES[:n_sentences])


def of_papers(*said: str, relevance: Sequence[float]) -> Selection:
    """What is chosen of one sentence of each paper."""
    contexts = [context(chunk(f"paper{nth}", text)) for nth, text in enumerate(said)]
    candidates = [candidate(one, nth, 0, len(one.text)) for nth, one in enumerate(contexts)]
    candidates = [
        replace(one, is_supposed=supposes(one.text, "Introduction")) for one in candidates
    ]
    part = ScoredPart("Does juniper raise stings?", np.array(relevance, np.float32))
    selection = Selection(candidates, [part], contexts, floor=0.6, max_claims=4)
    selection.choose(min_papers=2)
    return selection


RESULT = "Smoke of juniper cut the stings of one hive from 20 to 4 in a day."
SUPPOSED = "We hypothesised that smoke of juniper would double the stings."


@pytest.mark.parametrize(
    "again",
    [RESULT, "In a day 20 stings of a hive became 4, for smoke of juniper cut them (Moe, 2019)."],
)
def test_one_statement_of_two_papers_is_one_claim_with_two_citations(again: str) -> None:
    """Told twice, one finding looks like two."""
    within = [context(chunk(f"paper{nth}", text)) for nth, text in enumerate((RESULT, again))]
    selection = of_papers(RESULT, again, relevance=[0.95, 0.94])

    [claim] = claims_of(selection.published(), within)

    assert claim.text == RESULT
    assert [one.quote for one in claim.citations] == [RESULT, again]


@pytest.mark.parametrize("of_result", [0.95, 0.75])
def test_a_finding_stands_in_place_of_what_was_only_supposed(of_result: float) -> None:
    """The hypothesis was told as the result, and the result below it."""
    selection = of_papers(SUPPOSED, RESULT, relevance=[0.97, of_result])

    assert [one.text for one, _ in selection.published()] == [RESULT]
    assert near(selection) == []


def test_what_was_only_supposed_answers_where_no_finding_does() -> None:
    """It says itself that it is none; a refusal would say that the papers are silent."""
    selection = of_papers(SUPPOSED, RESULT, relevance=[0.97, 0.3])

    assert [one.text for one, _ in selection.published()] == [SUPPOSED]


def test_a_question_of_many_parts_is_answered_within_the_bound() -> None:
    """An answer that may have two claims would have one for each part, however many are asked."""
    parts = [[0.9 if nth == part else 0.1 for nth in range(5)] for part in range(3)]

    assert selected(*parts, max_claims=2).chosen == [0, 1]
    assert selected(*parts, max_claims=3).chosen == [0, 1, 2]
