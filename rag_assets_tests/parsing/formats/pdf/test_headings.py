"""Titles and headings of PDFs, and what is printed beside the text without being part of it."""

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.domain import BlockKind, Document, Zone
from rag_assets_testing.papers.pdf import (
    HEIGHT,
    WIDTH,
    Draw,
    heading,
    lines,
    overlaid,
    page_of,
    parsed,
    prose,
)


def headings(document: Document) -> list[tuple[str, ...]]:
    """The section paths of the headings, without the title."""
    return [
        block.section_path
        for block in document.blocks
        if block.kind is BlockKind.HEADING and block.text != document.title
    ]


def section(
    canvas: Canvas,
    text: str,
    topic: str,
    top: float,
    *,
    size: float = 10,
    font: str = "Helvetica-Bold",
) -> float:
    top = lines(canvas, text, top=top + 14, font=font, size=size) + 4
    return lines(canvas, prose(topic, 3), top=top)


def test_headings_are_learned_from_names_and_numbers() -> None:
    """A label in a figure is as bold as a heading, and an item has a number too."""

    def draw(canvas: Canvas) -> None:
        top = section(
            canvas,
            "Introduction",
            "moss",
            heading(canvas, "Moss on the slate roofs", top=40, size=18),
            size=12,
        )
        top = section(canvas, "Roofs in the north", "slate", top, size=12)
        top = lines(canvas, "Sheared arcade", left=200, top=top + 60, font="Times-Bold") + 4
        top = lines(canvas, "Figure 1: Two roofs.", left=200, top=top + 40)
        top = lines(canvas, "3 Measured roofs", top=top + 14, font="Helvetica-Bold") + 4
        top = lines(canvas, "3.1 Tiles", top=top + 4, font="Helvetica-Bold") + 4
        lines(
            canvas, [*prose("tile", 3), "2) the total of roofs in a village of the north"], top=top
        )

    def second(canvas: Canvas) -> None:
        top = lines(
            canvas, "3. Alder shingles of the mills are an item of a list and no parent", top=60
        )
        section(canvas, "3.2 Slates", "slate", top)

    assert headings(parsed(draw, second)) == [
        ("Introduction",),
        ("Roofs in the north",),
        ("3 Measured roofs",),
        ("3 Measured roofs", "3.1 Tiles"),
        ("3 Measured roofs", "3.2 Slates"),
    ]


def run_in(canvas: Canvas, label: str, text: str, top: float, font: str) -> float:
    """A paragraph of two lines that opens with a label in a font of its own; the next top."""
    lines(canvas, label, top=top, font=font)
    left = 60 + canvas.stringWidth(label + " ", font, 10)
    lines(canvas, text + " was counted in the field", left=left, top=top)
    return lines(canvas, f"and the {text} of the second year was counted again.", top=top + 12) + 4


def test_words_that_open_a_paragraph_are_headings() -> None:
    """ "What is said under Participants?" found nothing; labels of items and captions are none."""

    def draw(canvas: Canvas) -> None:
        top = heading(canvas, "Moss on the slate roofs", top=40, size=18)
        top = section(canvas, "1 Methods", "moss", top, size=12)
        top = run_in(canvas, "Roofs.", "Slate", top + 8, "Helvetica-Bold")
        top = run_in(canvas, "Old roofs:", "Tile", top, "Helvetica-Oblique")
        top = run_in(canvas, "New roofs:", "Tin", top, "Helvetica-Oblique")
        top = run_in(canvas, "Birds.", "Sparrow", top, "Helvetica-Bold")
        top = run_in(canvas, "Moss never", "grows and", top, "Helvetica-Oblique")
        top = run_in(canvas, "Table 1.", "Wren", top + 20, "Helvetica-Bold")
        top = section(canvas, "1.1 Counts", "wren", top)
        lines(canvas, "References", top=top + 14, font="Helvetica-Bold", size=12)
        run_in(
            canvas, "Abel, K.", "(2001). Nets of shade. Plants 12, 3-9", top + 30, "Helvetica-Bold"
        )

    document = parsed(draw)

    assert headings(document) == [
        ("1 Methods",),
        ("1 Methods", "Roofs"),
        ("1 Methods", "Roofs", "Old roofs"),
        ("1 Methods", "Roofs", "New roofs"),
        ("1 Methods", "Birds"),
        ("1 Methods", "1.1 Counts"),
        ("References",),
    ]
    assert "Slate was counted in the field and the Slate of the" in document.text


def test_a_parent_is_known_by_form_and_number() -> None:
    """A number tells its depth only beside the others: "1)" below "A." below "II."; the box in
    larger letters is nobody's parent, and two studies have a "Method" each."""

    def numbered(canvas: Canvas) -> None:
        top = heading(canvas, "Tidal mills of the coast", top=40, size=18)
        for text, font in [
            ("I. INTRODUCTION", "Helvetica"),
            ("II. MILLS", "Helvetica"),
            ("A. Wheels", "Helvetica-Oblique"),
            ("1) Wheels of oak and elm", "Helvetica-Oblique"),
            ("B. Stones", "Helvetica-Oblique"),
            ("III. CONCLUSION", "Helvetica"),
        ]:
            top = section(canvas, text, "mill", top, font=font)

    def named(canvas: Canvas) -> None:
        top = heading(canvas, "Tidal mills of the coast", top=40, size=18)
        top = section(canvas, "Introduction", "tide", top, size=12)
        top = section(canvas, "Key points", "tide", top, size=14, font="Helvetica")
        for text, size in [("Study 1", 12), ("Method", 10), ("Study 2", 12), ("Method", 10)]:
            top = section(canvas, text, "tide", top, size=size)
        section(canvas, "Discussion", "tide", top, size=12)

    paths = headings(parsed(numbered))
    assert [len(path) for path in paths] == [1, 1, 2, 3, 2, 1]
    paths = headings(parsed(named))
    assert [len(path) for path in paths] == [1, 1, 1, 2, 1, 2, 1]


def test_short_lines_between_white_space_are_headings() -> None:
    """Manuscripts set the headings of their parts like the text."""

    def draw(canvas: Canvas) -> None:
        top = heading(canvas, "Moss on the slate roofs", top=40, size=18)
        top = section(canvas, "METHODS", "moss", top)
        for text in ("The roofs of the north", "Procedure", "Counted birds"):
            first, *rest = prose(text, 3)
            top = lines(canvas, first, left=80, top=lines(canvas, text, top=top + 14))
            top = lines(canvas, rest, top=top)

    assert [path[-1] for path in headings(parsed(draw))] == [
        "METHODS",
        "The roofs of the north",
        "Procedure",
        "Counted birds",
    ]


def test_the_outline_names_headings_that_the_page_shows() -> None:
    """Headings in italics look like a stressed phrase; an outline may also be that of another
    document."""

    def draw(canvas: Canvas) -> None:
        for depth, title in enumerate(
            ["1 Introduction", "What is a tidal mill?", "A chapter of another document"]
        ):
            canvas.bookmarkPage(title)
            canvas.addOutlineEntry(title, title, level=min(depth, 1))
        top = section(
            canvas,
            "1 Introduction",
            "mill",
            heading(canvas, "Tidal mills of the coast", top=40, size=18),
        )
        section(canvas, "What is a tidal mill?", "tide", top, font="Helvetica-Oblique")

    assert headings(parsed(draw)) == [
        ("1 Introduction",),
        ("1 Introduction", "What is a tidal mill?"),
    ]


def test_a_title_of_two_lines_is_one() -> None:
    """Centred lines differ in their left edges; a title that is cut finds no citation."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Times-Roman", 17)
        canvas.drawCentredString(WIDTH / 2, HEIGHT - 60, "Songs of reed warblers beside motorways:")
        canvas.drawCentredString(WIDTH / 2, HEIGHT - 82, "Noise and eggs")
        section(canvas, "Abstract", "song", 120)

    assert parsed(draw).title == "Songs of reed warblers beside motorways: Noise and eggs"


def test_metadata_tell_the_title_from_the_name_of_the_journal() -> None:
    """What a program put before the title is no part of it, and the journal is printed larger."""

    def draw(canvas: Canvas) -> None:
        canvas.setTitle("Microsoft Word - z269 An insight into tidal mills")
        heading(canvas, "International Journal of Mills", top=40, size=20)
        section(
            canvas,
            "Abstract",
            "mill",
            heading(canvas, "An insight into tidal mills", top=90, size=16),
        )

    assert parsed(draw).title == "An insight into tidal mills"


def in_two_fonts(canvas: Canvas) -> None:
    """A title with an italic name in it, and small print of the journal between its lines."""
    lines(canvas, "Songs of the warbler", top=60, font="Times-Bold", size=17)
    lines(canvas, "Acrocephalus", left=234, top=60, font="Times-Italic", size=17)
    lines(canvas, "© 2019 Winter", left=430, top=74, size=7)
    lines(canvas, "beside motorways", top=81, font="Times-Bold", size=17)
    section(canvas, "Abstract", "song", 120)


def below_a_journal(canvas: Canvas) -> None:
    lines(canvas, "Winter Letters of Song", top=40, font="Times-Italic", size=24)
    heading(canvas, "Songs of reed warblers", top=90, size=16)
    lines(canvas, ["Ada Lund", "Winter Institute"], top=130)
    section(canvas, "Abstract", "song", 170)


def of_a_form(canvas: Canvas) -> None:
    canvas.setTitle("The songs of another document")
    heading(canvas, "Winter Herds, Inc.", top=60, size=16)
    lines(canvas, ["(name of the company)", "Winter Herds, Inc. of Oslo, 3 Ship Street"], top=90)
    lines(canvas, ["Winter Herds, Inc. has", *prose("ship", 5)], top=150)


@pytest.mark.parametrize(
    ("draw", "title"),
    [
        (in_two_fonts, "Songs of the warbler Acrocephalus beside motorways"),
        (below_a_journal, "Songs of reed warblers"),
        (of_a_form, ""),
    ],
)
def test_a_title_is_whole_and_confirmed_or_there_is_none(draw: Draw, title: str) -> None:
    """A title that is cut, a journal's name and a company's name went into every citation."""
    assert parsed(draw).title == title


def test_the_page_of_a_repository_is_no_part_of_the_paper() -> None:
    """Its line "See discussions..." became the title of the paper."""

    def cover(canvas: Canvas) -> None:
        heading(canvas, "See discussions and profiles for this publication", top=40, size=16)

    def first(canvas: Canvas) -> None:
        section(canvas, "Abstract", "moss", heading(canvas, "Moss on slate roofs", top=40, size=16))

    document = parsed(cover, first)

    assert document.title == "Moss on slate roofs"
    assert "discussions" not in document.text
    assert document.n_dropped_running == 1


@pytest.mark.parametrize(
    ("left", "step", "size"), [(30, 1, 7), (46, 1, 10), (330, 1, 7), (330, 5, 7)]
)
def test_numbers_of_lines_are_no_text(left: float, step: int, size: float) -> None:
    """ "The number of eggs 14 was 3.1" is quoted with a number that no sentence holds."""

    def draw(canvas: Canvas) -> None:
        for index, line in enumerate(prose("egg", 25), start=1):
            lines(canvas, line, top=60 + 20 * index)
            if index % step == 0:
                lines(canvas, str(index), left=left, top=60 + 20 * index, size=size)

    assert parsed(draw).text == " ".join(prose("egg", 25))


@pytest.mark.parametrize("name", ["Literaturverzeichnis", ""])
def test_references_are_known_by_their_form(name: str) -> None:
    """The title of a cited paper is no finding of this one, whatever stands above the list."""

    def draw(canvas: Canvas) -> None:
        top = section(
            canvas, "1 Results", "net", heading(canvas, "Shade nets and lettuce", top=40, size=18)
        )
        top = lines(canvas, name, top=top + 16, font="Helvetica-Bold") + 6
        for entry in (
            "Abel, K., & Born, L. (2001). Nets of shade. Plants, 12, 3-9.",
            "Carr, M. (1999). Lettuce. Plants, 3, 44.",
        ):
            top = lines(canvas, entry, top=top + 8)

    blocks = parsed(draw).blocks

    in_back = [block.text.split(",")[0] for block in blocks if block.zone is Zone.BACK]
    assert in_back == [*([name] if name else []), "Abel", "Carr"]


initial = overlaid(
    page_of("M", top=118, size=30),
    page_of("ice of mills eat flour", "in every night of the year.", left=90, top=100),
)


def spaced(canvas: Canvas) -> None:
    section(canvas, "a b s t r a c t", "residue", 60, size=9, font="Helvetica")


drawn_twice = overlaid(
    page_of("An insight into", "the tidal mills"),
    page_of("An insight into", "the tidal mills of the coast."),
)


def numbered(canvas: Canvas) -> None:
    """Numbers of lines run on beside the empty lines of a title page."""
    lines(canvas, "Songs of the tidal mills of the coast", left=90, top=100)
    lines(canvas, [str(number) for number in range(1, 40)], left=40, top=60)


dash = page_of(
    "The mills of the river, which the flood of the spring had spared",
    "– all but two of them – ground on.",
)


roman = page_of(
    "We asked two questions of all the mills beside the river:", "(i) how they grind, and (ii) why."
)


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (initial, "Mice of mills eat flour in every night of the year."),
        (spaced, "Abstract"),
        (numbered, "Songs of the tidal mills of the coast"),
        (drawn_twice, "An insight into the tidal mills of the coast."),
        (
            dash,
            "The mills of the river, which the flood of the spring had spared – all but two of them – ground on.",
        ),
        (
            roman,
            "We asked two questions of all the mills beside the river: (i) how they grind, and (ii) why.",
        ),
    ],
)
def test_words_are_read_as_they_are_seen(draw: Draw, text: str) -> None:
    """Large initials, spaced letters, text drawn twice and dashes at the start of a line part no
    word or sentence."""
    assert parsed(draw).blocks[0].text == text
