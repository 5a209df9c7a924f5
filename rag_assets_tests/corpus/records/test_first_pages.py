"""Records of PDFs, read from their first pages and metadata."""

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.domain import Record
from rag_assets.corpus.records.printed import record_of
from rag_assets_testing.papers.pdf import (
    Draw,
    heading,
    lines,
    overlaid,
    page_of,
    parsed,
    prose,
)

TITLE = "Iron in the blood of mountain sheep"


ABSTRACT = ["Abstract", *prose("sheep", 8)]


def read(*pages: Draw) -> Record:
    return record_of(parsed(*pages), None)[0]


def names(record: Record) -> list[str]:
    return [person.name for person in record.authors]


def first_page(*below: str, title: str = TITLE, author: str = "", subject: str = "") -> Draw:
    """A title in large letters, lines below it, and an abstract. author, subject: metadata."""

    def draw(canvas: Canvas) -> None:
        canvas.setAuthor(author)
        canvas.setSubject(subject)
        heading(canvas, title, top=40, size=18)
        lines(canvas, below, top=90)
        lines(canvas, ABSTRACT, top=150)

    return draw


def with_places_like_names(canvas: Canvas) -> None:
    """Places of work without a word that says so, beside each other."""
    heading(canvas, TITLE, top=40, size=18)
    for left, name, place in ((60, "Ada Lund", "Norse Herds"), (260, "Bo Moe", "Molde Friends")):
        lines(canvas, name, left=left, top=90, font="Helvetica-Bold", size=11)
        lines(canvas, place, left=left, top=106)
    lines(canvas, ABSTRACT, top=140)


IN_CAPITALS = first_page("ADA LUND, University of Winter, UK", "BO MOE, Norse Herds, USA")


def with_names_again(canvas: Canvas) -> None:
    """Names and places of work in the same letters: the addresses tell the names."""
    first_page("Ada Lund", "Bo Moe", "Norsk Blindern AS, Oslo")(canvas)
    lines(canvas, "ada.lund@iron.org, moe@iron.org", top=138, size=8)


def in_a_grid(canvas: Canvas) -> None:
    """Two authors of one place stand one above the other, beside the place of a third."""
    heading(canvas, TITLE, top=40, size=18)
    lines(canvas, ["Ada Lund", "Carl Ness"], left=60, top=90, font="Helvetica-Bold", size=11)
    lines(canvas, "Bo Moe", left=260, top=90, font="Helvetica-Bold", size=11)
    lines(canvas, "Norse Herds", left=260, top=103)
    lines(canvas, ABSTRACT, top=150)


@pytest.mark.parametrize(
    ("draw", "authors"),
    [
        (with_places_like_names, ["Ada Lund", "Bo Moe"]),
        (IN_CAPITALS, ["Ada Lund", "Bo Moe"]),
        (with_names_again, ["Ada Lund", "Bo Moe"]),
        (in_a_grid, ["Ada Lund", "Carl Ness", "Bo Moe"]),
    ],
)
def test_authors_are_told_from_places_of_work_by_their_letters(
    draw: Draw, authors: list[str]
) -> None:
    """A place of work was cited as an author, or nobody was."""
    assert names(read(draw)) == authors


def test_authors_that_one_reading_alone_gives_are_null_where_a_place_may_be_among_them() -> None:
    """ "Iron Biostatistics Unit" was cited as the second author."""
    draw = first_page("Ada Lund", "Iron Biostatistics Unit", "Oslo, N.O.")

    assert read(draw).authors == ()


def test_a_title_that_metadata_and_page_say_wins_over_a_larger_notice() -> None:
    """A page before an accepted manuscript shows "Accepted Manuscript" in the largest letters."""

    def draw(canvas: Canvas) -> None:
        canvas.setTitle(TITLE)
        heading(canvas, "Accepted Manuscript", top=40, size=18)
        lines(canvas, [TITLE, "", "Ada Lund, Bo Moe", "", *prose("sheep", 8)], top=90)

    assert read(draw).title == TITLE


def test_a_title_of_signs_is_null() -> None:
    """A font without a table of its letters gave a title that no reader could search."""

    def draw(canvas: Canvas) -> None:
        heading(canvas, "Iron in the blood of", top=40, size=18)
        lines(canvas, "sheep", left=245, top=50, font="ZapfDingbats", size=18)
        lines(canvas, ABSTRACT, top=140)

    assert read(draw).title is None


def test_a_title_that_only_the_text_below_confirms_is_null_beside_larger_words() -> None:
    """The name of a series was taken for the title, or the author of a title in thin letters."""

    draw = overlaid(
        page_of("Chapter 1", top=40, size=24),
        page_of(TITLE, top=90, size=14),
        page_of(*ABSTRACT, top=140),
    )

    def draw_with_authors(canvas: Canvas) -> None:
        draw(canvas)
        lines(canvas, "Ada Lund, Bo Moe", top=110)

    assert read(draw).title is None
    assert read(draw_with_authors).title == TITLE


def test_a_title_with_half_a_pair_of_brackets_is_null() -> None:
    """The mark of a footnote became its last word."""
    assert read(first_page(title=f"{TITLE}a)")).title is None


def test_a_title_in_two_sizes_is_whole_if_the_metadata_have_it() -> None:
    """The large name of a program is a part of the title below it."""

    def draw(canvas: Canvas) -> None:
        canvas.setTitle(f"Sheepiron: {TITLE}")
        lines(canvas, "Sheepiron", top=40, size=24)
        lines(canvas, TITLE, top=90, size=14)
        lines(canvas, ["Ada Lund, Bo Moe", "", *prose("sheep", 8)], top=120)

    assert read(draw).title == f"Sheepiron: {TITLE}"


def test_a_list_of_contents_makes_no_cover_of_the_page_before_it() -> None:
    """The title of a manual was "Contents"."""
    contents = first_page("1 Introduction", "", *prose("ewe", 4), title="Contents")

    assert read(first_page("Ada Lund, Bo Moe"), contents).title == TITLE


@pytest.mark.parametrize(
    ("subject", "printed", "known"),
    [
        ("Winter Sci 2019.30:682-696", "2019, Vol. 30(5) 682-696", ("Winter Sci", "30", "682-696")),
        (
            "Winter Sci, 30 (2019) 682-696. doi:10.1/x",
            "30 (2019) 682",
            ("Winter Sci", "30", "682-696"),
        ),
        ("Winter Sci 2019.30:682-696", "2019, Vol. 30(5) 700-711", (None, None, None)),
    ],
)
def test_a_journal_that_metadata_and_page_agree_on_is_cited(
    subject: str, printed: str, known: tuple[str | None, ...]
) -> None:
    """Reference managers got a paper without journal, volume and pages."""
    record = read(first_page("Ada Lund", printed, subject=subject))

    assert (record.venue, record.volume, record.pages) == known


ON_COVER = page_of(TITLE, top=60, size=14)
ARCHIVE = overlaid(
    ON_COVER,
    page_of(
        "Author(s): Ada Lund, Bo Moe and Carl",
        "Ness",
        "Source: Annals of Winter, Vol. 12, No. 3 (Autumn, 1987), pp. 211-213",
        "Stable URL: https://archive.example/stable/1",
        "Your use of the archive shows that you agree to its terms.",
    ),
)
NETWORK = overlaid(
    ON_COVER,
    page_of(
        "See discussions, stats, and author profiles at: https://network.example/1",
        "Article in Annals of Winter · May 2016",
        "3 authors, including:",
        "Bo Moe",
        "University of the Other Side",
        "All content following this page was uploaded by Bo Moe on 03 June 2018.",
    ),
)


@pytest.mark.parametrize(("cover", "year"), [(ARCHIVE, 1987), (NETWORK, None)])
@pytest.mark.parametrize("is_signed", [True, False])
def test_a_cover_says_whose_paper_it_is_and_hides_no_author(
    cover: Draw, year: int | None, is_signed: bool
) -> None:
    """An archive's cover left the paper without authors; a network's named its own member alone."""
    start = page_of(TITLE, top=40, size=18), page_of(*prose("sheep", 8), top=140)
    paper = overlaid(*start, page_of("ADA LUND, BO MOE AND CARL NESS", top=90, size=11))

    record = read(cover, paper if is_signed else overlaid(*start))

    are_known = is_signed or cover is ARCHIVE
    assert names(record) == (["Ada Lund", "Bo Moe", "Carl Ness"] if are_known else [])
    assert record.year == year
    issue = (record.venue, record.volume, record.issue, record.pages)
    assert issue == (("Annals of Winter", "12", "3", "211-213") if year else (None,) * 4)


def test_metadata_count_where_the_page_says_the_same() -> None:
    """They tell which of two readings is right; a name that only a program knows is no author."""
    subject = "Winter 3 (2019). doi:10.1234/iron.7"

    record = read(first_page("Ada Lund Bo Moe", author="Ada Lund; Bo Moe", subject=subject))

    assert (names(record), record.doi) == (["Ada Lund", "Bo Moe"], "10.1234/iron.7")
    assert read(first_page(author="Office User")).authors == ()


@pytest.mark.parametrize(
    ("below", "authors"),
    [
        (["Ada Lund · Bo Moe · Carl Ness"], ["Ada Lund", "Bo Moe", "Carl Ness"]),
        (["Ada Lund / Bo Moe / Carl Ness"], []),
        (
            ["Ada Lund · Bo Moe · Carl", "Ness · Dag Ek"],
            ["Ada Lund", "Bo Moe", "Carl Ness", "Dag Ek"],
        ),
        (["Ada Lund", "Winter Institute, Oslo", "Bo Moe", "Molde Friends, Oslo"], []),
    ],
)
def test_a_list_of_authors_is_whole_or_null(below: list[str], authors: list[str]) -> None:
    """Programs write only the first author into the metadata; the others were cited nowhere."""
    document = parsed(first_page(*below, author="Ada Lund"))
    record, sources = record_of(document, None)

    assert names(record) == authors
    assert authors or sources["authors"] == (
        "names are printed, but could not all be told apart: first page"
    )


def test_a_report_of_a_company_names_no_persons_but_its_publisher_and_its_period() -> None:
    """The street of a company was cited as the author, and the period as the year."""

    def form(canvas: Canvas) -> None:
        lines(canvas, "For the fiscal year ended June 30, 2022", top=40)
        heading(canvas, "Winter Herds, Inc.", top=60, size=16)
        lines(canvas, ["(name of the company)", "3 Ship Street North", "Oslo"], top=90)
        lines(canvas, "We, Winter Herds, Inc., and Winter Herds, Inc. of Oslo,", top=150)
        lines(canvas, prose("ship", 5), top=166)

    record = read(form)

    assert (record.title, record.authors, record.year) == (None, (), None)
    assert (record.venue, record.about) == (
        "Winter Herds, Inc.",
        "fiscal year ended June 30, 2022",
    )
