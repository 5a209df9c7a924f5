"""Whether a quote stands in the corpus: what is verified, what is only near, and what is not
there."""

import pytest

from rag_assets.core.domain import Verification
from rag_assets.core.errors import NotFound
from rag_assets.library.reading.reader import QuoteDifference, QuoteStatus, Reader
from rag_assets_tests.library.reading.conftest import DRAWN

FACT = "Ferritin fell by 12% in all groups of runners within a month of training."


def test_every_sentence_of_the_corpus_is_verified_where_it_stands(reader: Reader) -> None:
    """A check that misses true quotes is as useless as one that believes false ones."""
    units = [
        (chunk, chunk.text[unit.start : unit.end])
        for section in reader.paper(DRAWN).sections
        for chunk in (reader.chunk(chunk_id) for chunk_id in section.chunk_ids)
        for unit in chunk.units
    ]
    long = [(chunk, text) for chunk, text in units if len(text) > 60][::3]

    verdicts = [reader.verify_quote(text) for _, text in long]

    assert len(long) > 20
    for (_, text), found in zip(long, verdicts, strict=True):
        assert found.verdict is QuoteStatus.VERIFIED
        assert found.match is not None
        assert (found.match.paper_id, found.match.quote) == (DRAWN, text)
        assert all(page.is_exact for page in found.pages)


@pytest.mark.parametrize(
    ("quote", "verification", "difference"),
    [
        (FACT.replace("fell", "rose"), None, QuoteDifference("rose", "fell")),
        (FACT.replace("12%", "13%"), None, QuoteDifference("13", "12")),
        (FACT.replace("in all groups", "in groups"), None, QuoteDifference("", "all")),
        (
            FACT.replace("a month", "the month"),
            Verification.APPROXIMATE,
            QuoteDifference("the", "a"),
        ),
        (
            FACT.replace("groups of runners", "groups ... of runners"),
            Verification.APPROXIMATE,
            None,
        ),
    ],
)
def test_what_is_changed_is_near_and_says_how(
    reader: Reader,
    quote: str,
    verification: Verification | None,
    difference: QuoteDifference | None,
) -> None:
    """A changed number in a quote is the very thing a reader must be shown, not a matter of
    likeness."""
    found = reader.verify_quote(quote)

    assert found.match is not None
    assert found.match.verification is verification
    assert found.match.quote.rstrip(".") == FACT.rstrip(".")
    if difference:
        assert found.verdict is QuoteStatus.NEAR
        assert difference in found.match.differences


def test_a_quote_that_leaves_out_a_negation_is_not_verified(reader: Reader) -> None:
    """ "... improve recall" stands in the paper, in a sentence that says the opposite."""
    sentences = [
        chunk.text[unit.start : unit.end]
        for section in reader.paper(DRAWN).sections
        for chunk in (reader.chunk(chunk_id) for chunk_id in section.chunk_ids)
        for unit in chunk.units
    ]
    whole = next(one for one in sentences if len(one.partition(" not ")[2].split()) > 6)
    cut = whole.partition(" not ")[2]

    found = reader.verify_quote(cut)

    assert found.verdict is QuoteStatus.NEAR
    assert found.match is not None
    assert found.match.quote == whole
    assert found.match.differences[0].source.endswith("not")


def test_what_nobody_wrote_is_not_found(reader: Reader) -> None:
    """Words of the corpus in a sentence of one's own must not pass for a quote."""
    for invented in (
        "Runners who never trained had twice the ferritin of the observation within a careful month.",
        "The opera about the queen was composed by someone whom nobody remembers today.",
    ):
        assert reader.verify_quote(invented).verdict is QuoteStatus.NOT_FOUND


def test_only_the_named_paper_is_looked_at(reader: Reader) -> None:
    """ "This paper says so" is false when another one does."""
    assert reader.verify_quote(FACT, "ferritin").verdict is QuoteStatus.VERIFIED
    assert reader.verify_quote(FACT, DRAWN).verdict is QuoteStatus.NOT_FOUND
    with pytest.raises(NotFound, match="nobody"):
        reader.verify_quote(FACT, "nobody")


def test_all_places_are_listed_verified_ones_first(reader: Reader) -> None:
    """A sentence that stands twice, or almost, has more than one source."""
    first = reader.paper("ferritin").sections[0].chunk_ids[0]
    unit = reader.chunk(first).units[0]
    sentence = reader.chunk(first).text[unit.start : unit.end]

    found = reader.find_quote(sentence)

    assert found[0].quote == sentence
    assert found[0].verdict is QuoteStatus.VERIFIED
    assert [match.verdict for match in found] == sorted(
        (match.verdict for match in found), reverse=True
    )
