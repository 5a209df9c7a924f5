"""What must hold of an answer before it is seen, and what it costs where it does not."""

from dataclasses import replace

import pytest

from rag_assets.answering.drafts import REFUSAL, WITHHELD
from rag_assets.answering.promises import (
    ANSWER_PROMISES,
    AnswersCandidate,
    PublishedCorpus,
    promised,
)
from rag_assets.answering.verify.objections import checked_claim
from rag_assets.answering.verify.verification import quoted_text
from rag_assets.core.domain import Chunk, Citation, Claim, QAResult, Span, Verification
from rag_assets.core.promises import check_all, nothing_withholds
from rag_assets_testing.citations import answer_of, cited
from rag_assets_tests.answering.builders import chunk

TEXT = "Ferritin fell in all groups by 12%. Nothing else changed during the study."
CUT = TEXT.index("Nothing")
SMITH = chunk("smith2020", TEXT, spans=(Span(0, CUT, 3, 3), Span(CUT, len(TEXT), 4, 4)))
JONES = chunk("jones2021", "Ferritin was lower in every group after four weeks.")
CHUNKS = (SMITH, JONES)


def citation(quote: str = "Ferritin fell in all groups", page: int | None = 3) -> Citation:
    start = max(0, TEXT.find(quote))
    return cited(quote, page=page, chunk_id=SMITH.chunk_id, start=start)


def of(source: Chunk, quote: str, page: int | None = 1) -> Citation:
    """A quote of another chunk."""
    start = source.text.index(quote)
    own = replace(citation(quote, page), paper_id=source.paper_id, chunk_id=source.chunk_id)
    return replace(own, start=start, end=start + len(quote))


def result(*citations: Citation, said: str = "It fell.") -> QAResult:
    return answer_of(Claim(said, citations), single_source=True, sources_used=("smith2020",))


GOOD = result(citation("Ferritin fell in all groups by 12%."), said="It fell by 12%.")


def seen(found: QAResult, *chunks: Chunk) -> QAResult:
    published = {one.chunk_id: one for one in chunks or CHUNKS}
    return promised(found, found.question, PublishedCorpus(published, {}, min_sources=2))


def broken(found: QAResult, *chunks: Chunk) -> set[str]:
    return {one.promise for one in seen(found, *chunks).left_out}


def test_an_answer_that_keeps_its_promises_stays_as_it_is() -> None:
    """A guardrail that changes good answers would make each run differ from the last."""
    assert seen(GOOD) == GOOD


@pytest.mark.parametrize(
    ("bad", "promise"),
    [
        (result(), "claims_cited"),
        (result(citation("Ferritin rose in all groups")), "quotes_in_source"),
        (result(replace(citation(), chunk_id="gone:1")), "quotes_in_source"),
        (result(replace(citation(), paper_id="jones2021")), "quotes_in_source"),
        (result(replace(citation(), start=1, end=28)), "quotes_in_source"),
        (result(citation("fell in")), "quotes_in_source"),  # two words stand in every paper
        (result(citation("ferritin fell in all groups")), "quotes_in_source"),
        (result(citation(page=4)), "pages_hold_quotes"),
        (result(citation(page=None)), "pages_hold_quotes"),
        (
            result(citation("Ferritin fell in all groups by 12%."), said="It fell by 21%."),
            "numbers_agree",
        ),
    ],
)
def test_a_claim_that_breaks_a_promise_costs_itself_and_no_other(
    bad: QAResult, promise: str
) -> None:
    """The claim beside it is proven: a reader loses it, and 24 answers more, where one fault
    withholds everything."""
    both = replace(GOOD, claims=(*bad.claims, *GOOD.claims), left_out=())

    found, alone = seen(both), seen(bad)

    assert found.claims == GOOD.claims
    assert [(one.claim, one.promise) for one in found.left_out] == [(bad.claims[0].text, promise)]
    assert bad.claims[0].text not in found.answer
    assert "One statement was left out" in found.answer
    assert (alone.answer, alone.withheld, alone.refused) == (WITHHELD, True, False)
    assert broken(bad) == {promise}
    assert seen(alone) == alone, "what was withheld once stays so"


def test_a_quote_beside_an_answer_is_held_against_the_chunks_too() -> None:
    """It is shown as the papers' words like those of claims; without it, the answer stands."""
    beside = replace(GOOD, nearest=result(citation("Ferritin rose in all groups")).claims)

    assert (seen(beside).claims, seen(beside).nearest) == (GOOD.claims, ())


def test_an_approximate_quote_must_be_the_source_s_own_words() -> None:
    """What the model wrote is not what the paper says, however near it comes."""
    own = replace(
        citation("Nothing else changed during the study", 4), verification=Verification.APPROXIMATE
    )
    tidied = replace(own, quote="Nothing changed during the study")

    assert broken(result(own)) == set()
    assert broken(result(tidied)) == {"quotes_in_source"}


def test_a_quote_over_the_turn_of_a_page_names_both() -> None:
    """A wrong page sends the reader away with a false impression of care."""
    over_the_turn = replace(citation("groups by 12%. Nothing else"), page_start=3, page_end=4)

    assert broken(result(over_the_turn)) == set()


def test_a_quote_without_a_proven_page_is_no_offence_and_a_page_for_it_is() -> None:
    """The engine and the promise must agree on captions, or each of them costs a claim."""
    caption = "Table 1. Ferritin by group of runners."
    source = chunk(
        "smith2020",
        f"{caption}\n{TEXT}",
        spans=(Span(len(caption) + 1, len(caption) + 1 + len(TEXT), 3, 3),),
    )
    of_caption = of(source, caption, page=None)

    assert broken(result(of_caption), source) == set()
    assert broken(result(replace(of_caption, page_start=3, page_end=3)), source) == {
        "pages_hold_quotes"
    }


HEAD, BIG = "The inference seconds over 500 sentences", "Model: Big | Seconds: 31.5"


@pytest.mark.parametrize(
    "table",
    [
        f"{HEAD}\nModel: Base | Seconds: 12.5\n{BIG}",
        f"Table 4: Time\nModel: Base | Seconds: 12.5\n{BIG}\n{HEAD}.",
        f"{HEAD}\nModel: Base | Seconds: 12.5 | Sentences: 600\n{BIG} | Sentences: 500",
    ],
    ids=["caption", "note below the table", "caption and another column"],
)
@pytest.mark.parametrize(
    "said", [f"{HEAD} | {BIG}", "Over 500 sentences the big model takes 31.5 seconds."]
)
def test_a_number_around_a_quoted_row_supports_a_claim_of_it(table: str, said: str) -> None:
    """A true claim was dropped, and with it every answer of its file, for the 500 above its row;
    verification and promise must see the same text around a quote."""
    source = chunk("models", table)
    row = next(line for line in table.split("\n") if line.startswith(BIG))
    quoted = of(source, row)

    assert (
        checked_claim(
            said, [quoted_text(source, quoted.start, quoted.end, {})], "How long?"
        ).objection
        is None
    )
    assert broken(result(quoted, said=said), source) == set()
    assert broken(result(quoted, said=said.replace("31.5", "12.5")), source) == {"numbers_agree"}


def test_answers_from_one_paper_must_say_so_and_refusals_use_the_fixed_sentence() -> None:
    """Readers and programs rely on both."""
    silent = replace(GOOD, single_source=False)
    refusal = replace(
        GOOD, claims=(), refused=True, answer=REFUSAL, sources_used=(), single_source=False
    )
    own_words = replace(refusal, answer="No idea.")

    assert seen(refusal) == refusal
    for one in (silent, own_words):
        assert broken(one) == {"enough_sources"}
        assert (seen(one).answer, seen(one).refused, seen(one).withheld) == (WITHHELD, False, True)


@pytest.mark.parametrize(
    ("n_withheld", "n", "is_published"), [(1, 25, True), (1, 1, True), (2, 3, False), (2, 4, True)]
)
def test_only_many_withheld_answers_withhold_the_others(
    n_withheld: int, n: int, is_published: bool
) -> None:
    """One bad answer of 25 kept all 25 back; where most are bad, the earlier ones are better than
    none."""
    bad = seen(result(citation(page=4)))
    rows = [
        replace(bad if number < n_withheld else GOOD, question_id=f"q{number}")
        for number in range(n)
    ]

    checked = check_all(ANSWER_PROMISES, AnswersCandidate(rows))

    assert nothing_withholds(checked) == is_published
    [pages] = [one for one in checked if one.promise.name == "pages_hold_quotes"]
    assert [(row["question_id"], row["answer"]) for row in pages.offenders] == [
        (f"q{number}", "withheld") for number in range(n_withheld)
    ]
