"""Whether quotes are where they are said to be."""

from dataclasses import replace

import pytest

from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim
from rag_assets.answering.verify.verification import (
    Scoring,
    VerifiedClaims,
    verify,
    with_verdicts,
)
from rag_assets.answering.wording import claim_note
from rag_assets.core.domain import Box, Span, Support, Verification
from rag_assets_tests.answering.builders import chunk

TEXT = "Ferritin fell in all groups by 12%. Nothing else changed during the study."


def draft(chunk_id: str, quote: str) -> DraftAnswer:
    """A claim in the words of its quote: nothing but the quote decides about it."""
    return DraftAnswer((DraftClaim(quote or "A claim.", (DraftCitation(chunk_id, quote),)),))


def test_a_verbatim_quote_is_kept_with_the_page_it_stands_on() -> None:
    """The page comes from the place of the quote."""
    boxes = (Box(3, 0, 0, 1, 0.5), Box(4, 0, 0, 1, 0.5))
    cut = TEXT.index("Nothing")
    source = chunk(
        "smith2020",
        TEXT,
        spans=(Span(0, cut, 3, 3, boxes[:1], 0), Span(cut, len(TEXT), 4, 4, boxes[1:], cut)),
    )

    [claim] = verify(
        draft(source.chunk_id, "Nothing else changed during"),
        {source.chunk_id: source},
        "Did ferritin fall?",
    ).claims

    [citation] = claim.citations
    assert (citation.page_start, citation.page_end, citation.boxes) == (4, 4, boxes[1:])
    assert TEXT[citation.start : citation.end] == citation.quote == "Nothing else changed during"
    assert citation.verification is Verification.EXACT


def test_a_quote_that_ends_with_its_page_names_no_other() -> None:
    """The next page, or none behind the last, would send the reader away from where the quote
    stands."""
    cut = TEXT.index("Nothing")
    source = chunk("smith2020", TEXT, spans=(Span(0, cut, 3, 3), Span(cut, len(TEXT), 4, 4)))

    for quote, page in ((TEXT[: cut - 1], 3), (TEXT[cut:], 4)):
        [claim] = verify(draft(source.chunk_id, quote), {source.chunk_id: source}, "").claims

        assert (claim.citations[0].page_start, claim.citations[0].page_end) == (page, page)


def test_a_quote_of_text_without_a_proven_page_has_no_page() -> None:
    """A caption above the rows of a table is not proven by the rows; a guess would be an invented
    page."""
    caption = "Table 1. Ferritin by group of runners.\n"
    source = chunk(
        "smith2020", caption + TEXT, spans=(Span(len(caption), len(caption + TEXT), 3, 3),)
    )

    [of_caption] = verify(
        draft(source.chunk_id, caption.strip()), {source.chunk_id: source}, "Did ferritin fall?"
    ).claims
    [across] = verify(
        draft(source.chunk_id, "runners.\nFerritin fell in all"),
        {source.chunk_id: source},
        "Did ferritin fall?",
    ).claims

    assert (of_caption.citations[0].page_start, of_caption.citations[0].page_end) == (None, None)
    assert (across.citations[0].page_start, across.citations[0].page_end) == (None, 3)


@pytest.mark.parametrize(
    "quote",
    ["Ferritin rose in all groups", "Ferritin fell in all groups by 13%", "groups", ""],
    ids=["other word", "other number", "too short to prove anything", "empty"],
)
def test_what_is_not_in_the_source_is_dropped_and_counted(quote: str) -> None:
    """An invented quote that survives is the one failure this project exists to prevent."""
    source = chunk("smith2020", TEXT)

    verified = verify(
        draft(source.chunk_id, quote), {source.chunk_id: source}, "Did ferritin fall?"
    )

    assert verified.claims == ()
    assert verified.n_dropped_citations == 1


@pytest.mark.parametrize("dots", [" … ", " ... ", "…", " [...] ", " […] ", " (...) "])
def test_a_quote_with_an_ellipsis_becomes_one_citation_for_each_sentence(dots: str) -> None:
    """Each part must be where a reader looks for it."""
    source = chunk(
        "smith2020",
        "Ferritin fell in all groups by 12%. Zinc rose. Iron also changed during the study.",
    )

    quote = f"Ferritin fell in all groups{dots}Iron also changed during the study."
    [claim] = verify(draft(source.chunk_id, quote), {source.chunk_id: source}, "").claims

    assert [one.quote for one in claim.citations] == [
        "Ferritin fell in all groups",
        "Iron also changed during the study.",
    ]


def test_a_claim_without_words_is_not_published() -> None:
    """A quote under an empty line answers nothing, and is counted as an answer."""
    source = chunk("smith2020", TEXT)
    cited = (DraftCitation(source.chunk_id, "Ferritin fell in all groups"),)

    assert (
        verify(DraftAnswer((DraftClaim(" \n", cited),)), {source.chunk_id: source}, "").claims == ()
    )


def test_a_quote_given_twice_is_one_citation() -> None:
    """Evidence repeated would look like more evidence."""
    source = chunk("smith2020", TEXT)
    cited = (DraftCitation(source.chunk_id, "Ferritin fell in all groups"),) * 2

    [claim] = verify(
        DraftAnswer((DraftClaim("It fell.", cited),)), {source.chunk_id: source}, ""
    ).claims

    assert len(claim.citations) == 1


def test_a_citation_of_text_that_a_model_wrote_says_so() -> None:
    """A figure's description is not the authors' word."""
    source = replace(chunk("smith2020", TEXT), is_generated=True)

    [claim] = verify(
        draft(source.chunk_id, "Ferritin fell in all groups"), {source.chunk_id: source}, ""
    ).claims

    assert claim.citations[0].is_generated


def test_words_that_were_copied_are_found_in_any_source_that_was_read() -> None:
    """Right words under a wrong number cost every claim of an answer, though all sources were of
    one paper."""
    other, source = chunk("jones2021", "Iron is a metal that rusts."), chunk("smith2020", TEXT)
    given = {one.chunk_id: one for one in (other, source)}

    for named in ("", other.chunk_id, "elsewhere:abc"):
        [claim] = verify(draft(named, "Ferritin fell in all groups"), given, "").claims
        assert [one.paper_id for one in claim.citations] == ["smith2020"]


def test_a_cited_place_is_published_as_it_stands() -> None:
    """The same words may stand on two pages; sentences that follow each other are one quote, and one
    that is too short to prove anything takes the one before along."""
    text = "It fell.\nIron was given to 24 runners. It fell. Iron was given to 24 runners. Thus it fell."
    source = chunk("smith2020", text)
    second = text.rindex("Iron")

    def quotes(*cited: tuple[int, str]) -> list[tuple[int, str]]:
        places = tuple(DraftCitation(source.chunk_id, words, start) for start, words in cited)
        proposed = DraftAnswer((DraftClaim("Iron was given to runners.", places),))
        [claim] = verify(proposed, {source.chunk_id: source}, "").claims
        return [(one.start, one.quote) for one in claim.citations]

    twice = (second, "Iron was given to 24 runners."), (second + 30, "Thus it fell.")
    assert quotes(twice[0]) == [twice[0]]
    assert quotes(*twice) == [(second, "Iron was given to 24 runners. Thus it fell.")]
    assert quotes((second - 9, "It fell.")) == [(9, "Iron was given to 24 runners. It fell.")]


def test_a_claim_keeps_its_good_citation_when_another_is_dropped() -> None:
    """One bad quote must not cost a well-supported claim."""
    source = chunk("smith2020", TEXT)
    good = DraftCitation(source.chunk_id, "Ferritin fell in all groups")
    bad = DraftCitation(source.chunk_id, "Ferritin doubled in all groups")

    verified = verify(
        DraftAnswer((DraftClaim("It fell.", (good, bad)),)),
        {source.chunk_id: source},
        "Did ferritin fall?",
    )

    assert len(verified.claims[0].citations) == 1
    assert verified.n_dropped_citations == 1


@pytest.mark.parametrize(
    ("claim", "is_proven"),
    [("Ferritin fell by 99%.", True), ("Ferritin rose in all groups.", False)],
)
def test_a_judge_may_overrule_a_doubt_and_never_a_proven_contradiction(
    claim: str, is_proven: bool
) -> None:
    """A model that nods at everything would publish numbers that stand nowhere; rules alone drop no
    claim for its words."""
    source = chunk("smith2020", TEXT)
    proposed = DraftAnswer((DraftClaim(claim, (DraftCitation(source.chunk_id, TEXT),)),))
    verified = verify(proposed, {source.chunk_id: source}, "")

    def looked(judged: float | None, why: str = "", *, is_own: bool = False) -> VerifiedClaims:
        scoring = Scoring((Support(1.0, judged, why),), is_own=is_own)
        return with_verdicts(verified, scoring, "")

    def marks(found: VerifiedClaims) -> list[str]:
        return [one.support.why for one in found.claims if one.support]

    if is_proven:
        nodded = looked(1.0, "it follows")
        assert [one.claim for one in nodded.left_out] == [claim]
        assert "; the judge: it follows" in nodded.left_out[0].why
    else:
        doubt = "its quotes say the opposite of 'rose'"
        assert marks(looked(None)) == marks(looked(1.0, is_own=True)) == [doubt]
        assert marks(looked(1.0)) == [""]
        assert looked(None).objected, "the model that wrote it is asked to mend it"
        assert looked(0.0).claims == ()


@pytest.mark.parametrize(
    ("corrected", "published", "mark"),
    [
        ("Ferritin fell in all groups.", "Ferritin fell in all groups.", ""),
        ("Ferritin fell by 99%.", "Ferritin fell in all the groups of Rome.", "Rome is not named"),
        ("", "Ferritin fell in all the groups of Rome.", "Rome is not named"),
    ],
)
def test_a_claim_carried_in_part_is_mended_by_its_judge_or_marked_with_the_reason(
    corrected: str, published: str, mark: str
) -> None:
    """A mark leaves the reader to find the right statement; a judge's sentence that the rules
    refute is no mending."""
    source, text = chunk("smith2020", TEXT), "Ferritin fell in all the groups of Rome."
    draft = DraftAnswer((DraftClaim(text, (DraftCitation(source.chunk_id, TEXT),)),))
    verified = verify(draft, {source.chunk_id: source}, "")

    looked = with_verdicts(
        verified, Scoring((Support(1.0, 0.5, "Rome is not named"),), (corrected,)), ""
    )

    (claim,) = looked.claims
    assert claim.support is not None
    assert (claim.text, claim.support.why, looked.left_out) == (published, mark, ())
    assert claim.support.written == ("" if mark else text)
    assert claim_note(claim) == (f"in part: {mark}" if mark else "")
