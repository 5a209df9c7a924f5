"""A sentence right beside a quoted one is quoted with it where it is nearly as sure."""

from collections.abc import Sequence

import numpy as np
import pytest

from rag_assets.answering.drafts import Readers
from rag_assets.answering.extractive import ExtractiveAnswerer
from rag_assets.answering.extractive.candidates import MAX_WORDS, candidate
from rag_assets.answering.extractive.publishing import claims_of
from rag_assets.answering.extractive.relevance import Part
from rag_assets.answering.extractive.selection import Selection
from rag_assets.settings import ExtractiveSettings
from rag_assets_tests.answering.builders import Says, WordReader, chunk, context

BEFORE = "The bridge was closed in May because of its girders."
ANSWER = "Cracks in two of them had widened with every lorry."
BEHIND = "Salt from the winter road had made the steel brittle."
LATER = "Painters found it when they scraped the rust away."
SURE, NEARLY, HARDLY = 0.9, 0.35, 0.25


def published(
    relevance: dict[str, float],
    paragraphs: Sequence[Sequence[str]] = ((BEFORE, ANSWER, BEHIND, LATER),),
    *,
    is_read: bool = True,
) -> list[str]:
    """The claims of an answer. relevance: of some of the sentences, 0 for the rest."""
    sentences = [one for paragraph in paragraphs for one in paragraph]
    within = context(chunk("bridge", "\n\n".join(" ".join(paragraph) for paragraph in paragraphs)))
    starts = [within.text.index(one) for one in sentences]
    candidates = [candidate(within, 0, start, start + len(one)) for one, start in zip(sentences, starts, strict=True)]
    found = np.array([relevance.get(one, 0.0) for one in sentences], np.float32)
    part = Part("Why was it closed?", {}, found, is_read=is_read)
    selection = Selection(candidates, [part], [within], ExtractiveSettings(min_relevance=0.6))
    selection.choose(min_papers=1)
    chosen = [(candidates[i], selection.relevance(i)) for i in selection.with_neighbours()]
    return [claim.text for claim in claims_of(chosen, [within])]


def test_a_sentence_behind_or_before_that_is_nearly_as_sure_is_quoted_too() -> None:
    """The second half of a reason often stands in the next sentence, and the answer would be half an answer."""
    assert published({ANSWER: SURE, BEHIND: NEARLY}) == [f"{ANSWER} {BEHIND}"]
    assert published({ANSWER: SURE, BEFORE: NEARLY}) == [f"{BEFORE} {ANSWER}"]
    assert published({ANSWER: SURE, BEHIND: HARDLY}) == [ANSWER]


def test_what_follows_a_neighbour_is_a_neighbour_only_if_it_is_as_sure() -> None:
    """A claim is a stretch without gaps: the sentence after the next stands alone without the next."""
    assert published({ANSWER: SURE, LATER: NEARLY}) == [ANSWER]
    assert published({ANSWER: SURE, BEHIND: 0.4, LATER: NEARLY}) == [f"{ANSWER} {BEHIND} {LATER}"]


def test_only_the_best_sentence_of_a_part_has_neighbours() -> None:
    """A further claim is less sure itself: what stands beside it makes the answer longer and no better."""
    relevance = {ANSWER: SURE, BEHIND: 0.7, LATER: NEARLY}

    assert published(relevance, [[BEFORE, ANSWER], [BEHIND, LATER]]) == [ANSWER, BEHIND]


def test_a_neighbour_stands_in_the_same_paragraph() -> None:
    """The first sentence of the next paragraph begins something else."""
    assert published({ANSWER: SURE, BEHIND: NEARLY}, [[BEFORE, ANSWER], [BEHIND]]) == [ANSWER]


def test_a_neighbour_makes_no_claim_of_its_own_where_it_does_not_fit() -> None:
    """Then it would stand beside the answer as a second one, below the floor of answers."""
    long = " ".join(["Salt", *["road"] * (MAX_WORDS - 5), "won."])

    assert published({ANSWER: SURE, long: NEARLY}, [[BEFORE, ANSWER, long]]) == [ANSWER]


@pytest.mark.parametrize(("is_read", "expected"), [(True, f"{ANSWER} {BEHIND}"), (False, ANSWER)])
def test_without_a_model_that_reads_them_nothing_joins(is_read: bool, expected: str) -> None:
    """Relevances by nearness alone lie so close together that half a paragraph would."""
    assert published({ANSWER: SURE, BEHIND: NEARLY}, is_read=is_read) == [expected]


@pytest.mark.parametrize(("score", "is_joined"), [(0.0, True), (-4.0, False)])
def test_an_answer_is_published_with_them(score: float, is_joined: bool) -> None:
    """The sentence before is long: a short one is always shown with what follows it. 0.0 makes no claim of its own."""
    first = "The bridge over the river was closed in May because girders of the oldest arch had cracked under lorries."
    second = "Salt that had been strewn on the road in every winter made their steel brittle, as a laboratory found."
    reader = Says({first: 20.0, second: score}, others=-20.0)
    answerer = ExtractiveAnswerer(Readers(WordReader(), reader), ExtractiveSettings(), min_sources=1)

    draft = answerer.draft("Why was the bridge closed?", [context(chunk("bridge", f"{first} {second}"))])

    assert [claim.text for claim in draft.claims] == [f"{first} {second}" if is_joined else first]
    assert [claim.text for claim in draft.nearest] == []
