"""Whether quotes are where they are said to be."""

from dataclasses import replace

import pytest

from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim
from rag_assets.answering.verify.objections import Reason
from rag_assets.answering.verify.verification import Scoring, looked_at, verify
from rag_assets.core.domain import Box, Citation, LeftOut, Span, Support, Verification
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


def test_a_quote_has_the_labels_printed_on_its_pages() -> None:
    """A reader of the volume looks for page 118, not for the second page of the file."""
    cut = TEXT.index("Nothing")
    labelled = (
        Span(0, cut, 3, 3, label_start="xii", label_end="xii"),
        Span(cut, len(TEXT), 4, 4, label_start="1", label_end="1"),
    )
    source = chunk("smith2020", TEXT, spans=labelled)
    unlabelled = chunk("jones2021", TEXT, spans=(labelled[0], Span(cut, len(TEXT), 4, 4)))

    labels = {
        (one.paper_id, quote): verify(draft(one.chunk_id, quote), {one.chunk_id: one}, "")
        .claims[0]
        .citations[0]
        .page_label
        for one in (source, unlabelled)
        for quote in (TEXT[: cut - 1], TEXT)
    }

    assert list(labels.values()) == ["xii", "xii-1", "xii", None]


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


def test_a_quote_typeset_differently_is_kept_as_the_source_has_it() -> None:
    """Models retype quotes; what is published must be what the paper says."""
    source = chunk("smith2020", "The “ﬁnal” re-\nsult was clear to everyone.")

    [claim] = verify(
        draft(source.chunk_id, 'the "final" result was clear'),
        {source.chunk_id: source},
        "Did ferritin fall?",
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

    verified = verify(
        draft(source.chunk_id, quote), {source.chunk_id: source}, "Did ferritin fall?"
    )

    assert verified.claims == ()
    assert verified.n_dropped_citations == 1


def only_citation(quote: str, text: str) -> Citation:
    source = chunk("smith2020", text)
    [claim] = verify(draft(source.chunk_id, quote), {source.chunk_id: source}, "").claims
    [citation] = claim.citations
    return citation


def n_dropped(quote: str, text: str) -> int:
    source = chunk("smith2020", text)
    return verify(draft(source.chunk_id, quote), {source.chunk_id: source}, "").n_dropped_citations


def test_a_tidied_quote_is_published_in_the_words_of_the_source() -> None:
    """Who looks the quote up must find it."""
    citation = only_citation(
        "The ferritin levels fell in all group by 12%",
        f"Ferritin levels fell in all groups by 12%. {TEXT}",
    )

    assert citation.quote == "Ferritin levels fell in all groups by 12%"
    assert citation.verification is Verification.APPROXIMATE


@pytest.mark.parametrize(
    "quote",
    [
        '"Ferritin fell in all groups by 12%"',
        "“Ferritin fell in all groups by 12%.”",
        "Ferritin fell in all groups...",
        "… Ferritin fell in all group-\ns […]",
        "Nothing else changed during.",
    ],
)
def test_quotation_marks_and_dots_around_a_quote_are_no_part_of_it(quote: str) -> None:
    """Models dress what they quote; the words are there."""
    assert only_citation(quote, TEXT).verification is Verification.NORMALIZED


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


def test_parts_of_one_sentence_are_published_with_what_stands_between_them() -> None:
    """Otherwise "12% ... in the placebo arm" puts a number into the wrong arm."""
    text = "Mortality was 12% (n = 5) in the treated arm and 40% (n = 16) in the placebo arm. Nothing else was seen."

    citation = only_citation("Mortality was 12% (n = 5) ... in the placebo arm", text)

    assert citation.quote == text.partition(". Nothing")[0]
    assert citation.verification is Verification.APPROXIMATE


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("Ferritin fell in all groups … and doubled in a week.", TEXT),
        ("changed during the study … Ferritin fell in all groups", TEXT),
        ("Ferritin fell in all groups … the study", TEXT),
        (
            "the treatment did … reduce ferritin in athletes",
            "In short, the treatment did not in fact reduce ferritin in athletes.",
        ),
    ],
    ids=[
        "a part that is not there",
        "parts in another order",
        "a part too short",
        "a negation left out",
    ],
)
def test_a_quote_with_an_ellipsis_is_dropped_whole_when_it_does_not_hold(
    quote: str, text: str
) -> None:
    """Half a quote may say the opposite of the whole."""
    assert n_dropped(quote, text) == 1


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("typical for young athletes", "This is atypical for young athletes."),
        ("significant in young athletes", "It was non-significant in young athletes."),
        ("the ferritin fell by 12", "We saw that the ferritin fell by 12.5 units."),
        ("3 units a day were given", "Of these, 0.3 units a day were given."),
        ("0.3 was the slope in athletes", "Here −0.3 was the slope in athletes."),
        ("a dose of 57 mg was given", "In fact a dose of 5-7 mg was given."),
    ],
)
def test_a_quote_that_cuts_a_word_or_number_of_the_source_is_dropped(quote: str, text: str) -> None:
    """Letter by letter it is there, and says something else."""
    assert n_dropped(quote, text) == 1


def test_a_reference_number_glued_to_a_word_does_not_cut_it() -> None:
    """Superscripts lose their place in many extractions."""
    assert only_citation(
        "ferritin was significant", "The fall of ferritin was significant12 in all."
    ).quote


def test_a_quote_in_a_script_without_blanks_is_found() -> None:
    """Chinese has no word boundaries to cut."""
    text = "研究表明铁蛋白在所有运动员组中均显著下降并且没有其他指标发生变化因此需要进一步研究。"

    assert only_citation(text[4:30], text).verification is Verification.EXACT


def test_a_claim_with_another_number_than_its_quote_is_dropped_and_told() -> None:
    """A true quote beside a wrong figure is believed."""
    source = chunk("smith2020", TEXT)
    cited = (DraftCitation(source.chunk_id, "Ferritin fell in all groups by 12%."),)
    proposed = DraftAnswer(
        (DraftClaim("It fell by 21%.", cited), DraftClaim("It fell by 12%.", cited))
    )

    verified = verify(proposed, {source.chunk_id: source}, "Did ferritin fall?")

    assert [claim.text for claim in verified.claims] == ["It fell by 12%."]
    assert [one.objection and one.objection.reason for one in verified.objected] == [
        Reason.NUMBER_MISSING
    ]
    assert verified.left_out == (
        LeftOut("It fell by 21%.", "21% stands in none of its quotes", cited[0].quote),
    )


def test_what_one_sentence_hides_costs_the_quote_of_the_other_too() -> None:
    """The claim rests on both: the half that is left may carry something else."""
    denied = (
        "It is not true, said "
        + "one author after another, " * 40
        + "that zinc cures the common cold."
    )
    text = f"{denied} Iron helped all of them."

    assert n_dropped("that zinc cures the common cold. … Iron helped all of them.", text) == 1
    assert n_dropped("Iron helped all of them.", text) == 0


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


def test_a_citation_of_a_context_that_was_not_given_is_dropped() -> None:
    """A model may remember a chunk id from elsewhere."""
    source = chunk("smith2020", TEXT)

    verified = verify(
        draft("jones2021:abc", "Ferritin fell in all groups"),
        {source.chunk_id: source},
        "Did ferritin fall?",
    )

    assert verified.claims == ()


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
    ("claim", "n_published"), [("Ferritin fell by 99%.", 0), ("Ferritin rose in all groups.", 1)]
)
def test_a_judge_may_overrule_a_doubt_about_words_and_never_one_about_a_number(
    claim: str, n_published: int
) -> None:
    """A model that nods at everything would publish numbers that stand nowhere."""
    source = chunk("smith2020", TEXT)
    proposed = DraftAnswer((DraftClaim(claim, (DraftCitation(source.chunk_id, TEXT),)),))

    verified = verify(proposed, {source.chunk_id: source}, "")
    nodding = Scoring(tuple(Support(1.0, judged=1.0) for _ in verified.candidates))

    assert verified.claims == ()
    assert len(looked_at(verified, nodding).claims) == n_published
