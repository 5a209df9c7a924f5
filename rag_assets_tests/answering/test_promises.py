"""What must hold before answers are published."""

from dataclasses import replace

from rag_assets.answering.drafts import REFUSAL
from rag_assets.answering.promises import (
    claims_with_other_numbers,
    pages_not_holding_quote,
    quotes_not_in_source,
    too_few_sources,
    uncited_claims,
)
from rag_assets.core.domain import Citation, Claim, QAResult, Span, Verification
from rag_assets_tests.answering.builders import chunk

TEXT = "Ferritin fell in all groups by 12%. Nothing else changed during the study."
CUT = TEXT.index("Nothing")
SMITH = chunk("smith2020", TEXT, spans=(Span(0, CUT, 3, 3), Span(CUT, len(TEXT), 4, 4)))
JONES = chunk("jones2021", "Ferritin was lower in every group after four weeks.")
CHUNKS = {item.chunk_id: item for item in (SMITH, JONES)}


def citation(quote: str = "Ferritin fell in all groups", page: int | None = 3) -> Citation:
    start = max(0, TEXT.find(quote))
    return Citation(
        "smith2020", SMITH.chunk_id, page, page, quote, (), Verification.EXACT, start=start, end=start + len(quote)
    )


def result(*citations: Citation) -> QAResult:
    return QAResult(
        "q1", "Fall?", "It fell.", (Claim("It fell.", citations),), False, True, ("smith2020",), (), "m", (), "f"
    )


def test_a_claim_without_citation_is_found() -> None:
    """Its reader could not check it."""
    assert [row["claim"] for row in uncited_claims([result()])] == ["It fell."]
    assert uncited_claims([result(citation())]) == []


def test_a_quote_the_published_chunk_does_not_hold_is_found() -> None:
    """The corpus may have changed since the answer was written."""
    assert quotes_not_in_source([result(citation())], CHUNKS) == []
    assert len(quotes_not_in_source([result(citation("Ferritin rose in all groups"))], CHUNKS)) == 1
    assert len(quotes_not_in_source([result(replace(citation(), chunk_id="gone:1"))], CHUNKS)) == 1
    assert len(quotes_not_in_source([result(replace(citation(), paper_id="jones2021"))], CHUNKS)) == 1


def test_quotes_beside_an_answer_are_held_against_the_chunks_too() -> None:
    """They are shown as the papers' words like those of claims."""
    beside = replace(result(), claims=(), nearest=result(citation("Ferritin rose in all groups")).claims)

    assert len(quotes_not_in_source([beside], CHUNKS)) == 1
    assert len(pages_not_holding_quote([replace(beside, nearest=result(citation(page=4)).claims)], CHUNKS)) == 1
    assert [row["claim"] for row in uncited_claims([replace(beside, nearest=result().claims)])] == ["It fell."]


def test_a_quote_that_stands_elsewhere_in_its_chunk_is_found() -> None:
    """A reader who follows the offsets would be shown other words."""
    moved = replace(citation(), start=1, end=28)

    assert len(quotes_not_in_source([result(moved)], CHUNKS)) == 1


def test_a_quote_too_short_to_prove_anything_is_found() -> None:
    """Two words stand in every paper, and support anything."""
    assert len(quotes_not_in_source([result(citation("fell in"))], CHUNKS)) == 1


def test_an_approximate_quote_must_be_the_source_s_own_words() -> None:
    """What the model wrote is not what the paper says, however near it comes."""
    own = replace(citation("Nothing else changed during the study", 4), verification=Verification.APPROXIMATE)
    tidied = replace(own, quote="Nothing changed during the study")

    assert quotes_not_in_source([result(own)], CHUNKS) == []
    assert len(quotes_not_in_source([result(tidied)], CHUNKS)) == 1
    assert len(quotes_not_in_source([result(citation("ferritin fell in all groups"))], CHUNKS)) == 1


def test_a_claim_with_another_number_than_its_quotes_is_found() -> None:
    """Published by an earlier version, or written past the verifier."""
    quoted = citation("Ferritin fell in all groups by 12%.")
    kept = replace(result(quoted), claims=(Claim("It fell by 12%.", (quoted,)),))
    wrong = replace(result(quoted), claims=(Claim("It fell by 21%.", (quoted,)),))

    offender = {"question_id": "q1", "claim": "It fell by 21%.", "numbers": ["21%"]}
    assert claims_with_other_numbers([kept], CHUNKS) == []
    assert claims_with_other_numbers([wrong], CHUNKS) == [offender]
    assert claims_with_other_numbers([wrong], {}) == [offender]


def test_a_row_is_judged_with_the_caption_and_the_header_of_its_table() -> None:
    """As verification does: a caption's number is no value of the row, and one such row would keep all answers back."""
    caption = "Table 1: Diets of goats, g (kg)-1"
    diets = chunk(
        "goats", f"{caption}\nFood: Crude protein | Pen 1: 200 | Pen 2: 150\nFood: Fibre | Pen 1: 310 | Pen 2: 270"
    )
    row = "Food: Crude protein | Pen 1: 200 | Pen 2: 150"
    start = diets.text.index(row)
    quoted = replace(
        citation(), paper_id="goats", chunk_id=diets.chunk_id, quote=row, start=start, end=start + len(row)
    )
    stated, moved = (
        replace(result(quoted), claims=(Claim(f"{caption} | {text}", (quoted,)),))
        for text in ("Crude protein | Pen 1: 200 | Pen 2: 150", "Food: Crude protein | Pen 1: 150 | Pen 2: 200")
    )
    as_it_stands = replace(result(quoted), claims=(Claim(f"{caption} | {row}", (quoted,)),))
    chunks = {diets.chunk_id: diets}

    assert claims_with_other_numbers([as_it_stands], chunks) == []
    assert [found["claim"] for found in claims_with_other_numbers([stated, moved], chunks)] == [moved.claims[0].text]


def test_a_page_other_than_that_of_the_quote_is_found() -> None:
    """A wrong page sends the reader away with a false impression of care."""
    right, wrong, missing = citation(page=3), citation(page=4), citation(page=None)
    over_the_turn = replace(citation("groups by 12%. Nothing else"), page_start=3, page_end=4)

    assert pages_not_holding_quote([result(right), result(over_the_turn)], CHUNKS) == []
    assert len(pages_not_holding_quote([result(wrong), result(missing)], CHUNKS)) == 2


def test_a_quote_without_a_proven_page_is_no_offence_and_a_page_for_it_is() -> None:
    """The engine and the audit must agree on captions, or one table stops all answers."""
    caption = "Table 1. Ferritin by group of runners."
    source = chunk(
        "smith2020", f"{caption}\n{TEXT}", spans=(Span(len(caption) + 1, len(caption) + 1 + len(TEXT), 3, 3),)
    )
    of_caption = replace(citation(caption, None), chunk_id=source.chunk_id, start=0, end=len(caption))

    assert pages_not_holding_quote([result(of_caption)], {source.chunk_id: source}) == []
    guessed = replace(of_caption, page_start=3, page_end=3)
    assert len(pages_not_holding_quote([result(guessed)], {source.chunk_id: source})) == 1


def test_answers_from_one_paper_must_say_so_and_refusals_use_the_fixed_sentence() -> None:
    """Readers and programs rely on both."""
    flagged = result(citation())
    silent = replace(flagged, single_source=False)
    refusal = replace(flagged, claims=(), refused=True, answer=REFUSAL, sources_used=())
    own_words = replace(refusal, answer="No idea.")

    assert too_few_sources([flagged, refusal], min_sources=2) == []
    assert len(too_few_sources([silent, own_words], min_sources=2)) == 2
