"""What is told of a paper, as an assistant reads it."""

from rag_assets.domain import Citation, Claim, PaperPoint, Point, Source, Verification
from rag_assets.mcp_server.looked_up import PaperList, sections_text
from rag_assets.reading.papers import PaperDetails, PaperState, PaperSummary

QUOTE = "We found that winter takes 12% of it."


def summary(in_short: str) -> PaperSummary:
    return PaperSummary("iron", "Iron in winter", Source.TEI, PaperState.READY, 4, 7, None, False, in_short)


def details(*claims: Claim) -> PaperDetails:
    points = tuple(PaperPoint("iron", point, claims if point is Point.FOUND else (), "m") for point in Point)
    return PaperDetails(summary(QUOTE if claims else ""), (), points)


def test_a_summary_is_told_in_quotes_with_their_pages() -> None:
    """An assistant that retells a summary without pages makes it uncheckable."""
    cited = Citation(
        "iron", "iron:1", 2, 2, quote=QUOTE, start=0, end=len(QUOTE), boxes=(), verification=Verification.EXACT
    )

    lines = sections_text(details(Claim(QUOTE, (cited,)))).splitlines()

    assert f'what was found: "{QUOTE}" (p. 2)' in lines
    assert "what limits it: no sentence of the paper was recognised that says it" in lines


def test_a_paper_that_tells_nothing_is_not_made_to_look_empty() -> None:
    """Four lines that say nothing crowd out the sections."""
    assert "what was found" not in sections_text(details())


def test_the_list_has_a_sentence_of_each_paper_on_one_line() -> None:
    """A sentence with a line break would read as another paper of the list."""
    text = PaperList([summary("It fell.\nsteel · a paper that is none")], None).text(0)

    assert len(text.splitlines()) == 3
