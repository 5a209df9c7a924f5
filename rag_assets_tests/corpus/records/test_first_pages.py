"""Records of PDFs, read from their first pages and metadata."""

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.domain import Record
from rag_assets.core.settings import ParsingSettings
from rag_assets.corpus.records.printed import record_of
from rag_assets.parsing.formats.pdf.document import parse_pdf
from rag_assets.parsing.shared.files import RawFile
from rag_assets_testing.papers.pdf import Draw, heading, lines, prose, write_pdf

TITLE = "Iron in the blood of mountain sheep"


def read(folder: Path, draw: Draw) -> Record:
    path = write_pdf(folder / "lund.pdf", [draw])
    document = parse_pdf(RawFile("lund", path.name, path.read_bytes()), ParsingSettings())
    return record_of(document, None)[0]


def names(record: Record) -> list[str]:
    return [person.name for person in record.authors]


def with_places_like_names(canvas: Canvas) -> None:
    """Places of work without a word that says so, beside each other."""
    heading(canvas, TITLE, top=40, size=18)
    for left, name, place in ((60, "Ada Lund", "Norse Herds"), (260, "Bo Moe", "Molde Friends")):
        lines(canvas, [name], left=left, top=90, font="Helvetica-Bold", size=11)
        lines(canvas, [place], left=left, top=106)
    lines(canvas, ["Abstract", *prose("sheep", 8)], top=140)


def in_capitals(canvas: Canvas) -> None:
    heading(canvas, TITLE, top=40, size=18)
    lines(canvas, ["ADA LUND, University of Winter, UK", "BO MOE, Norse Herds, USA"], top=90)
    lines(canvas, ["Abstract", *prose("sheep", 8)], top=140)


def with_names_again(canvas: Canvas) -> None:
    """Names and places of work in the same letters: the addresses tell the names."""
    heading(canvas, TITLE, top=40, size=18)
    lines(canvas, ["Ada Lund", "Bo Moe", "Norsk Blindern AS, Oslo"], top=90)
    lines(canvas, ["ada.lund@iron.org, moe@iron.org"], top=140, size=8)
    lines(canvas, ["Abstract", *prose("sheep", 8)], top=160)


def in_a_grid(canvas: Canvas) -> None:
    """Two authors of one place stand one above the other, beside the place of a third."""
    heading(canvas, TITLE, top=40, size=18)
    lines(canvas, ["Ada Lund", "Carl Ness"], left=60, top=90, font="Helvetica-Bold", size=11)
    lines(canvas, ["Bo Moe"], left=260, top=90, font="Helvetica-Bold", size=11)
    lines(canvas, ["Norse Herds"], left=260, top=103)
    lines(canvas, ["Abstract", *prose("sheep", 8)], top=150)


@pytest.mark.parametrize(
    ("draw", "authors"),
    [
        (with_places_like_names, ["Ada Lund", "Bo Moe"]),
        (in_capitals, ["Ada Lund", "Bo Moe"]),
        (with_names_again, ["Ada Lund", "Bo Moe"]),
        (in_a_grid, ["Ada Lund", "Carl Ness", "Bo Moe"]),
    ],
)
def test_authors_are_told_from_places_of_work_by_their_letters(
    tmp_path: Path, draw: Draw, authors: list[str]
) -> None:
    """A place of work was cited as an author, or nobody was."""
    assert names(read(tmp_path, draw)) == authors


def test_authors_that_one_reading_alone_gives_are_null_where_a_place_may_be_among_them(
    tmp_path: Path,
) -> None:
    """ "Iron Biostatistics Unit" was cited as the second author."""

    def draw(canvas: Canvas) -> None:
        heading(canvas, TITLE, top=40, size=18)
        lines(canvas, ["Ada Lund", "Iron Biostatistics Unit", "Oslo, N.O."], top=90)
        lines(canvas, ["Abstract", *prose("sheep", 8)], top=150)

    assert read(tmp_path, draw).authors == ()


def test_a_title_that_metadata_and_page_say_wins_over_a_larger_notice(tmp_path: Path) -> None:
    """A page before an accepted manuscript shows "Accepted Manuscript" in the largest letters."""

    def draw(canvas: Canvas) -> None:
        canvas.setTitle(TITLE)
        heading(canvas, "Accepted Manuscript", top=40, size=18)
        lines(canvas, [TITLE, "", "Ada Lund, Bo Moe", "", *prose("sheep", 8)], top=90)

    assert read(tmp_path, draw).title == TITLE


def test_a_title_of_signs_is_null(tmp_path: Path) -> None:
    """A font without a table of its letters gave a title that no reader could search."""

    def draw(canvas: Canvas) -> None:
        heading(canvas, "Iron in the blood of", top=40, size=18)
        lines(canvas, ["sheep"], left=245, top=50, font="ZapfDingbats", size=18)
        lines(canvas, ["Abstract", *prose("sheep", 8)], top=140)

    assert read(tmp_path, draw).title is None


def test_a_title_that_only_the_text_below_confirms_is_null_beside_larger_words(
    tmp_path: Path,
) -> None:
    """The name of a series was taken for the title, or the author of a title in thin letters."""

    def draw(canvas: Canvas) -> None:
        lines(canvas, ["Chapter 1"], top=40, size=24)
        lines(canvas, [TITLE], top=90, size=14)
        lines(canvas, ["Abstract", *prose("sheep", 8)], top=140)

    def draw_with_authors(canvas: Canvas) -> None:
        draw(canvas)
        lines(canvas, ["Ada Lund, Bo Moe"], top=110)

    assert read(tmp_path, draw).title is None
    assert read(tmp_path, draw_with_authors).title == TITLE


def test_a_title_with_half_a_pair_of_brackets_is_null(tmp_path: Path) -> None:
    """The mark of a footnote became its last word."""

    def draw(canvas: Canvas) -> None:
        heading(canvas, f"{TITLE}a)", top=40, size=18)
        lines(canvas, ["Abstract", *prose("sheep", 8)], top=140)

    assert read(tmp_path, draw).title is None


def test_a_title_in_two_sizes_is_whole_if_the_metadata_have_it(tmp_path: Path) -> None:
    """The large name of a program is a part of the title below it."""

    def draw(canvas: Canvas) -> None:
        canvas.setTitle(f"Sheepiron: {TITLE}")
        lines(canvas, ["Sheepiron"], top=40, size=24)
        lines(canvas, [TITLE], top=90, size=14)
        lines(canvas, ["Ada Lund, Bo Moe", "", *prose("sheep", 8)], top=120)

    assert read(tmp_path, draw).title == f"Sheepiron: {TITLE}"


def test_a_list_of_contents_makes_no_cover_of_the_page_before_it(tmp_path: Path) -> None:
    """The title of a manual was "Contents"."""

    def draw_first(canvas: Canvas) -> None:
        heading(canvas, TITLE, top=40, size=18)
        lines(canvas, ["Ada Lund, Bo Moe", "", *prose("sheep", 8)], top=90)

    def draw_contents(canvas: Canvas) -> None:
        heading(canvas, "Contents", top=40, size=18)
        lines(canvas, ["1 Introduction", "", *prose("ewe", 8)], top=90)

    path = write_pdf(tmp_path / "lund.pdf", [draw_first, draw_contents])
    document = parse_pdf(RawFile("lund", path.name, path.read_bytes()), ParsingSettings())

    assert record_of(document, None)[0].title == TITLE


def test_metadata_count_where_the_page_says_the_same(tmp_path: Path) -> None:
    """They tell which of two readings is right; a name that only a program knows is no author."""

    def draw(canvas: Canvas) -> None:
        canvas.setAuthor("Ada Lund; Bo Moe")
        canvas.setSubject("Winter 3 (2019). doi:10.1234/iron.7")
        heading(canvas, TITLE, top=40, size=18)
        lines(canvas, ["Ada Lund Bo Moe"], top=90)
        lines(canvas, ["Abstract", *prose("sheep", 8)], top=140)

    def by_a_program(canvas: Canvas) -> None:
        canvas.setAuthor("Office User")
        heading(canvas, TITLE, top=40, size=18)
        lines(canvas, ["Abstract", *prose("sheep", 8)], top=140)

    record = read(tmp_path, draw)
    assert (names(record), record.doi) == (["Ada Lund", "Bo Moe"], "10.1234/iron.7")
    assert read(tmp_path, by_a_program).authors == ()


def test_a_report_of_a_company_names_no_persons_but_its_publisher_and_its_period(
    tmp_path: Path,
) -> None:
    """The street of a company was cited as the author, and the period as the year."""

    def form(canvas: Canvas) -> None:
        lines(canvas, ["For the fiscal year ended June 30, 2022"], top=40)
        heading(canvas, "Winter Herds, Inc.", top=60, size=16)
        lines(canvas, ["(name of the company)", "3 Ship Street North", "Oslo"], top=90)
        lines(canvas, ["We, Winter Herds, Inc., and Winter Herds, Inc. of Oslo,"], top=150)
        lines(canvas, prose("ship", 5), top=166)

    record = read(tmp_path, form)

    assert (record.title, record.authors, record.year) == (None, (), None)
    assert (record.venue, record.about) == (
        "Winter Herds, Inc.",
        "fiscal year ended June 30, 2022",
    )
