"""What is told of a paper, as an assistant reads it."""

from rag_assets.core.domain import Citation, Claim, PaperPoint, Point, Source, Verification
from rag_assets.faces.mcp.looked_up import PaperList, sections_text
from rag_assets.library.reading.papers import PaperDetails, PaperState, PaperSummary

QUOTE = "We found that winter takes 12% of it."
ABSTRACT = f"Iron is lost in winter. {'Much of it is lost in the snow. ' * 20}That is the end."


def summary(abstract: str) -> PaperSummary:
    return PaperSummary("iron", "Iron in winter", Source.TEI, PaperState.READY, 4, 7, None, False, abstract)


def details(*claims: Claim) -> PaperDetails:
    points = tuple(PaperPoint("iron", point, claims if point is Point.FOUND else (), "m") for point in Point)
    return PaperDetails(summary(ABSTRACT), (), points)


def test_a_summary_is_told_in_quotes_with_their_pages() -> None:
    """An assistant that retells a summary without pages makes it uncheckable."""
    cited = Citation(
        "iron", "iron:1", 2, 2, quote=QUOTE, start=0, end=len(QUOTE), boxes=(), verification=Verification.EXACT
    )

    lines = sections_text(details(Claim(QUOTE, (cited,)))).splitlines()

    assert f'what was found: "{QUOTE}" (p. 2)' in lines
    assert "what limits it: the model found nothing in the paper that says it" in lines


def test_a_paper_that_no_model_summarised_shows_its_whole_abstract() -> None:
    """Four lines that say nothing crowd out the sections."""
    text = sections_text(details())

    assert f'"{ABSTRACT}"' in text
    assert "what was found" not in text


def test_the_list_has_the_beginning_of_each_abstract_on_one_line() -> None:
    """An abstract with a line break would read as another paper of the list; whole ones hide the next paper."""
    text = PaperList([summary(f"It fell.\nsteel · a paper that is none {ABSTRACT}")], None).text(0)

    assert len(text.splitlines()) == 3
    assert "It fell. steel" in text
    assert "the end" not in text
