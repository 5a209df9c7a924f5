"""The candidates that come nearest to a question are read once more with it, and what that tells
decides."""

import numpy as np
import pytest

from rag_assets.answering.drafts import Readers
from rag_assets.answering.extractive.candidates import Candidate, candidate
from rag_assets.answering.extractive.relevance import (
    N_AT_ONCE,
    N_READ_OF_A_PART,
    Relevances,
    read_again,
)
from rag_assets_tests.answering.builders import Says, WordReader, chunk, context, drafted, texts_of

QUESTION = "Why was the bridge over the river closed?"
NEAR = "The bridge over the river was closed for a whole summer."
ANSWER = "Cracks in two girders had been found to widen with every lorry."
SURE, UNSURE = 4.0, -6.0


def published(reader: Says, **changes: float) -> list[str]:
    bridge = context(chunk("bridge", f"{NEAR} {ANSWER}"))
    return texts_of(drafted(QUESTION, bridge, reads=Readers(WordReader(), reader), **changes))


def test_the_sentence_that_answers_is_published_before_the_one_that_repeats_the_question() -> None:
    """Nearness alone answers "why was it closed" with "it was closed"."""
    assert published(Says({}, others=0.5))[0].startswith(NEAR)
    assert published(Says({NEAR: UNSURE, ANSWER: SURE})) == [ANSWER]


def test_a_list_of_values_is_read_item_by_item_and_published_whole() -> None:
    """Read at once, the price of a guide was hidden between the others, and refused."""
    prices = "Prices of the museum: ticket 7 euros, guide 1,200 euros, coffee 3 euros."
    reader = Says({"Prices of the museum: guide 1,200 euros.": SURE}, others=-20.0)
    museum, reads = context(chunk("museum", prices)), Readers(WordReader(), reader)

    draft = drafted("What is the price of a guide?", museum, reads=reads)

    assert [(claim.text, claim.citations[0].quote) for claim in draft.claims] == [(prices, prices)]


def test_nothing_is_published_when_no_sentence_answers() -> None:
    """A paper about the matter that does not say what is asked is no answer."""
    assert published(Says({NEAR: UNSURE, ANSWER: UNSURE})) == []


def bridges(n: int) -> tuple[list[str], list[Candidate], Relevances]:
    """So many sentences, each a candidate, and their relevance by nearness, the nearest first."""
    sentences = [f"Bridge number {nth} was closed for some days then." for nth in range(n)]
    within = context(chunk("bridges", " ".join(sentences)))
    starts = [within.text.index(one) for one in sentences]
    found = [
        candidate(within, 0, start, start + len(one))
        for start, one in zip(starts, sentences, strict=True)
    ]
    return sentences, found, np.linspace(0.9, 0.5, n, dtype=np.float32)


def test_only_the_nearest_are_read_and_no_other_passes_them() -> None:
    """Each reading is a pass of the model: reading hundreds would take seconds. One that nobody
    read must not win for that."""
    sentences, candidates, nearness = bridges(N_READ_OF_A_PART + 6)
    reader = Says({sentences[3]: UNSURE / 2}, others=UNSURE)

    relevance = read_again(QUESTION, candidates, nearness, reader)

    assert [one.text for one in reader.read] == sentences[:N_READ_OF_A_PART]
    assert relevance.argmax() == 3
    assert relevance[N_READ_OF_A_PART:].max() <= relevance[:N_READ_OF_A_PART].min()
    assert relevance.min() >= 0
    assert relevance.max() <= 1


@pytest.mark.parametrize(("at", "n_read"), [(N_AT_ONCE - 1, N_AT_ONCE), (N_AT_ONCE, 2 * N_AT_ONCE)])
def test_nothing_more_is_read_once_a_candidate_is_sure(at: int, n_read: int) -> None:
    """Most questions are answered by one of the nearest sentences: reading on would only take
    time."""
    sentences, candidates, nearness = bridges(N_READ_OF_A_PART)
    reader = Says({sentences[at]: SURE}, others=UNSURE)

    relevance = read_again(QUESTION, candidates, nearness, reader)

    assert len(reader.read) == n_read
    assert relevance.argmax() == at


def test_what_stands_before_a_sentence_in_its_paragraph_is_read_with_it() -> None:
    """ "They widened with every lorry." is understood behind the sentence before it only."""
    reader = Says({})
    published(reader)

    before = {one.text: one.before for one in reader.read}
    assert before[ANSWER].strip() == NEAR
    assert before[NEAR] == ""
