"""Whether quotes are where they are said to be."""

import pytest

from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim
from rag_assets.answering.verification import verify
from rag_assets.model import Box, Span, Verification
from rag_assets_tests.answering.builders import chunk

TEXT = "Ferritin fell in all groups by 12%. Nothing else changed during the study."


def draft(chunk_id: str, quote: str) -> DraftAnswer:
    return DraftAnswer((DraftClaim("A claim.", (DraftCitation(chunk_id, quote),)),))


def test_a_verbatim_quote_is_kept_with_the_page_it_stands_on() -> None:
    """The page comes from the place of the quote, whoever asked for it."""
    boxes = (Box(3, 0, 0, 1, 0.5), Box(4, 0, 0, 1, 0.5))
    cut = TEXT.index("Nothing")
    source = chunk(
        "smith2020", TEXT, spans=(Span(0, cut, 3, 3, boxes[:1], 0), Span(cut, len(TEXT), 4, 4, boxes[1:], cut))
    )

    [claim] = verify(
        draft(source.chunk_id, "Nothing else changed during"), {source.chunk_id: source}, "Did ferritin fall?"
    ).claims

    [citation] = claim.citations
    assert (citation.page_start, citation.page_end, citation.boxes) == (4, 4, boxes[1:])
    assert citation.verification is Verification.EXACT


def test_a_quote_that_runs_over_a_page_turn_names_both_pages() -> None:
    """A reader who opens only the first page would not find its end."""
    cut = TEXT.index("Nothing")
    source = chunk("smith2020", TEXT, spans=(Span(0, cut, 3, 3), Span(cut, len(TEXT), 4, 4)))

    [claim] = verify(
        draft(source.chunk_id, "groups by 12%. Nothing else"), {source.chunk_id: source}, "Did ferritin fall?"
    ).claims

    assert (claim.citations[0].page_start, claim.citations[0].page_end) == (3, 4)


def test_a_quote_of_text_without_a_proven_page_has_no_page() -> None:
    """A caption above the rows of a table is not proven by the rows; a guess would be an invented page."""
    caption = "Table 1. Ferritin by group of runners.\n"
    source = chunk("smith2020", caption + TEXT, spans=(Span(len(caption), len(caption + TEXT), 3, 3),))

    [of_caption] = verify(
        draft(source.chunk_id, caption.strip()), {source.chunk_id: source}, "Did ferritin fall?"
    ).claims
    [across] = verify(
        draft(source.chunk_id, "runners.\nFerritin fell in all"), {source.chunk_id: source}, "Did ferritin fall?"
    ).claims

    assert (of_caption.citations[0].page_start, of_caption.citations[0].page_end) == (None, None)
    assert (across.citations[0].page_start, across.citations[0].page_end) == (None, 3)


def test_a_quote_typeset_differently_is_kept_as_the_source_has_it() -> None:
    """Models retype quotes; what is published must be what the paper says."""
    source = chunk("smith2020", "The “ﬁnal” re-\nsult was clear to everyone.")

    [claim] = verify(
        draft(source.chunk_id, 'the "final" result was clear'), {source.chunk_id: source}, "Did ferritin fall?"
    ).claims

    assert claim.citations[0].quote == "The “ﬁnal” re-\nsult was clear"
    assert claim.citations[0].verification is Verification.NORMALIZED


@pytest.mark.parametrize(
    "quote",
    ["Ferritin rose in all groups", "Ferritin fell in all groups by 13%", "groups", ""],
    ids=["other word", "other number", "too short to prove anything", "empty"],
)
def test_what_is_not_in_the_source_is_dropped_and_counted(quote: str) -> None:
    """An invented quote that survives is the one failure this project exists to prevent."""
    source = chunk("smith2020", TEXT)

    verified = verify(draft(source.chunk_id, quote), {source.chunk_id: source}, "Did ferritin fall?")

    assert verified.claims == ()
    assert verified.n_dropped_citations == 1


def test_a_citation_of_a_context_that_was_not_given_is_dropped() -> None:
    """A model may remember a chunk id from elsewhere."""
    source = chunk("smith2020", TEXT)

    verified = verify(
        draft("jones2021:abc", "Ferritin fell in all groups"), {source.chunk_id: source}, "Did ferritin fall?"
    )

    assert verified.claims == ()


def test_a_claim_keeps_its_good_citation_when_another_is_dropped() -> None:
    """One bad quote must not cost a well-supported claim."""
    source = chunk("smith2020", TEXT)
    good = DraftCitation(source.chunk_id, "Ferritin fell in all groups")
    bad = DraftCitation(source.chunk_id, "Ferritin doubled in all groups")

    verified = verify(
        DraftAnswer((DraftClaim("It fell.", (good, bad)),)), {source.chunk_id: source}, "Did ferritin fall?"
    )

    assert len(verified.claims[0].citations) == 1
    assert verified.n_dropped_citations == 1
