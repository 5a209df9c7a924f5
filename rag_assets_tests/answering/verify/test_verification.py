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
from rag_assets.core.domain import Box, Chunk, Citation, Span, Support, Verification
from rag_assets_tests.answering.builders import chunk

TEXT = "Ferritin fell in all groups by 12%. Nothing else changed during the study."


SOURCE = chunk("smith2020", TEXT)
CUT = TEXT.index("Nothing")
FELL = "Ferritin fell in all groups"


def verified(source: Chunk, *quotes: str, claim: str | None = None) -> VerifiedClaims:
    """What is kept of a claim with these quotes of one chunk; without words of its own it has those
    of its quotes, which alone decide about it then."""
    cited = tuple(DraftCitation(source.chunk_id, quote) for quote in quotes)
    text = " ".join(quotes) or "A claim." if claim is None else claim
    return verify(
        DraftAnswer((DraftClaim(text, cited),)), {source.chunk_id: source}, "Did ferritin fall?"
    )


def citation(source: Chunk, quote: str) -> Citation:
    [claim] = verified(source, quote).claims
    [found] = claim.citations
    return found


def test_a_verbatim_quote_is_kept_with_the_page_it_stands_on() -> None:
    """The page comes from the place of the quote."""
    boxes = (Box(3, 0, 0, 1, 0.5), Box(4, 0, 0, 1, 0.5))
    spans = (Span(0, CUT, 3, 3, boxes[:1], 0), Span(CUT, len(TEXT), 4, 4, boxes[1:], CUT))
    quote = "Nothing else changed during"

    found = citation(chunk("smith2020", TEXT, spans=spans), quote)

    assert (found.page_start, found.page_end, found.boxes) == (4, 4, boxes[1:])
    assert TEXT[found.start : found.end] == found.quote == quote
    assert found.verification is Verification.EXACT


@pytest.mark.parametrize(("quote", "page"), [(TEXT[: CUT - 1], 3), (TEXT[CUT:], 4)])
def test_a_quote_that_ends_with_its_page_names_no_other(quote: str, page: int) -> None:
    """The next page, or none behind the last, would send the reader away from where the quote
    stands."""
    spans = (Span(0, CUT, 3, 3), Span(CUT, len(TEXT), 4, 4))

    found = citation(chunk("smith2020", TEXT, spans=spans), quote)

    assert (found.page_start, found.page_end) == (page, page)


CAPTION = "Table 1. Ferritin by group of runners."


@pytest.mark.parametrize(
    ("quote", "pages"), [(CAPTION, (None, None)), ("runners.\nFerritin fell in all", (None, 3))]
)
def test_a_quote_of_text_without_a_proven_page_has_no_page(
    quote: str, pages: tuple[int | None, int | None]
) -> None:
    """A caption above the rows of a table is not proven by the rows; a guess would be an invented
    page."""
    text = f"{CAPTION}\n{TEXT}"
    spans = (Span(len(CAPTION) + 1, len(text), 3, 3),)

    found = citation(chunk("smith2020", text, spans=spans), quote)

    assert (found.page_start, found.page_end) == pages


@pytest.mark.parametrize(
    "quote",
    ["Ferritin rose in all groups", "Ferritin fell in all groups by 13%", "groups", ""],
    ids=["other word", "other number", "too short to prove anything", "empty"],
)
def test_what_is_not_in_the_source_is_dropped_and_counted(quote: str) -> None:
    """An invented quote that survives is the one failure this project exists to prevent."""
    found = verified(SOURCE, quote)

    assert (found.claims, found.n_dropped_citations) == ((), 1)


@pytest.mark.parametrize("dots", [" … ", " ... ", "…", " [...] ", " […] ", " (...) "])
def test_a_quote_with_an_ellipsis_becomes_one_citation_for_each_sentence(dots: str) -> None:
    """Each part must be where a reader looks for it."""
    last = "Iron also changed during the study."
    source = chunk("smith2020", f"{FELL} by 12%. Zinc rose. {last}")

    [claim] = verified(source, f"{FELL}{dots}{last}").claims

    assert [one.quote for one in claim.citations] == [FELL, last]


def test_a_claim_without_words_is_not_published() -> None:
    """A quote under an empty line answers nothing, and is counted as an answer."""
    assert verified(SOURCE, FELL, claim=" \n").claims == ()


def test_a_quote_given_twice_is_one_citation() -> None:
    """Evidence repeated would look like more evidence."""
    [claim] = verified(SOURCE, FELL, FELL, claim="It fell.").claims

    assert len(claim.citations) == 1


def test_a_citation_of_text_that_a_model_wrote_says_so() -> None:
    """A figure's description is not the authors' word."""
    assert citation(replace(SOURCE, is_generated=True), FELL).is_generated


def test_words_that_were_copied_are_found_in_any_source_that_was_read() -> None:
    """Right words under a wrong number cost every claim of an answer, though all sources were of
    one paper."""
    other = chunk("jones2021", "Iron is a metal that rusts.")
    given = {one.chunk_id: one for one in (other, SOURCE)}

    for named in ("", other.chunk_id, "elsewhere:abc"):
        proposed = DraftAnswer((DraftClaim(FELL, (DraftCitation(named, FELL),)),))
        [claim] = verify(proposed, given, "").claims
        assert [one.paper_id for one in claim.citations] == ["smith2020"]


def test_words_of_several_sources_are_placed_in_the_one_that_is_cited() -> None:
    """An abstract repeats its results: the reader would be sent to a page, or a paper, that the
    claim does not name."""
    repeated = chunk("jones2021", f"{TEXT} It is repeated here.", page=9)
    given = {one.chunk_id: one for one in (repeated, SOURCE)}

    for cited in given.values():
        proposed = DraftAnswer((DraftClaim(FELL, (DraftCitation(cited.chunk_id, FELL),)),))
        [claim] = verify(proposed, given, "").claims
        [found] = claim.citations
        assert (found.chunk_id, found.page_start) == (cited.chunk_id, cited.page_start)


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
    found = verified(SOURCE, FELL, "Ferritin doubled in all groups", claim="It fell.")

    assert len(found.claims[0].citations) == 1
    assert found.n_dropped_citations == 1


@pytest.mark.parametrize(
    ("claim", "is_proven"),
    [("Ferritin fell by 99%.", True), ("Ferritin rose in all groups.", False)],
)
def test_a_judge_may_overrule_a_doubt_and_never_a_proven_contradiction(
    claim: str, is_proven: bool
) -> None:
    """A model that nods at everything would publish numbers that stand nowhere; rules alone drop no
    claim for its words."""
    proposed = verified(SOURCE, TEXT, claim=claim)

    def looked(judged: float | None, why: str = "", *, is_own: bool = False) -> VerifiedClaims:
        scoring = Scoring((Support(1.0, judged, why),), is_own=is_own)
        return with_verdicts(proposed, scoring, "")

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
    text = "Ferritin fell in all the groups of Rome."
    scoring = Scoring((Support(1.0, 0.5, "Rome is not named"),), (corrected,))

    looked = with_verdicts(verified(SOURCE, TEXT, claim=text), scoring, "")

    (claim,) = looked.claims
    assert claim.support is not None
    assert (claim.text, claim.support.why, looked.left_out) == (published, mark, ())
    assert claim.support.written == ("" if mark else text)
    assert claim_note(claim) == (f"in part: {mark}" if mark else "")
