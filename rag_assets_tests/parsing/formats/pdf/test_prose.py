"""What stands between the lines and pieces of a PDF's prose: formulas, floats, furniture, other
columns."""

from dataclasses import replace

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.domain import BlockKind, Document
from rag_assets.core.settings import ParsingSettings
from rag_assets.corpus.records.printed import record_of
from rag_assets.parsing.formats.pdf.document import parse_pdf, printed_front
from rag_assets.parsing.formats.pdf.layout import regions
from rag_assets.parsing.formats.pdf.text import Segment
from rag_assets.parsing.shared.files import RawFile
from rag_assets_testing.papers.pdf import (
    HEIGHT,
    Draw,
    heading,
    lines,
    overlaid,
    page_of,
    parsed,
    pdf_of,
    prose,
)


def kinds(document: Document) -> list[tuple[BlockKind, str]]:
    return [(block.kind, block.text) for block in document.blocks]


def test_a_displayed_formula_is_one_block_and_no_prose() -> None:
    """Its pieces, a limit, a fraction, a number, were paragraphs that answers quoted."""

    def draw(canvas: Canvas) -> None:
        top = lines(
            canvas, [*prose("moss", 3)[:2], "and the loss of all the mills is the sum"], top=60
        )
        lines(canvas, "N", left=152, top=top + 8, size=6)
        lines(canvas, "L(x) = 1 + x", left=120, top=top + 14)
        lines(canvas, "(7)", left=270, top=top + 14)
        lines(canvas, "i<N", left=150, top=top + 24, size=6)
        lines(
            canvas,
            ["where x < 1 is the share of the mills that stand still", "on their first day."],
            top=top + 44,
        )

    def below(canvas: Canvas) -> None:
        draw(canvas)
        lines(canvas, ["Where p = 0.05 + 0.01 the mills of the river", "x = 1."], top=300)

    found = kinds(parsed(below))

    assert [kind for kind, _ in found].count(BlockKind.FORMULA) == 1
    formula = next(text for kind, text in found if kind is BlockKind.FORMULA)
    assert sorted(formula.split()) == sorted("N L(x) = 1 + x (7) i<N".split())
    assert "Where p = 0.05 + 0.01 the mills of the river x = 1." in [text for _, text in found]


@pytest.mark.parametrize(
    "between", ["(c) Lund 2020. All rights are reserved.", "Table 4: Mills and their years."]
)
def test_a_paragraph_goes_on_after_text_of_another_kind(between: str) -> None:
    """Half sentences at the ends of columns say half of what the authors wrote."""

    draw = overlaid(
        page_of(
            *prose("moss", 12)[:11], "which is why the mills of the river stand still and", top=60
        ),
        page_of(between, top=700, size=10 if between.startswith("Table") else 7),
        page_of("why they grind no flour in spring.", *prose("slate", 12), left=320, top=60),
    )

    texts = [block.text for block in parsed(draw).blocks]

    assert any("stand still and why they grind no flour in spring." in text for text in texts)
    assert between in texts


def test_small_print_right_below_a_caption_is_a_note() -> None:
    """A legend of abbreviations was an answer to a question for what was found."""
    draw = overlaid(
        page_of(*prose("moss", 8), top=60),
        page_of("Figure 4. Mills and their years in the valley.", top=180),
        page_of("OR = odds ratio, RCT = randomised control trial.", top=196, size=7),
        page_of(*prose("slate", 8), top=230),
    )

    found = kinds(parsed(draw))

    assert (BlockKind.FOOTNOTE, "OR = odds ratio, RCT = randomised control trial.") in found


def test_a_footnote_goes_on_at_the_foot_of_the_next_page() -> None:
    """Its rest stood inside a sentence of the text, and its own sentence was in two halves, of
    which none answers."""
    note = [
        "1 Stones of basalt were left out, since only two mills had them; their",
        "owners said that a stone of basalt",
    ]

    first = overlaid(
        page_of(
            *prose("moss", 12)[:11], "which is why the mills of the river stand still and", top=60
        ),
        page_of(*note, top=700, size=8),
        page_of(*prose("slate", 12), left=320, top=60),
        page_of("2 The county keeps a list.", left=320, top=700, size=8),
    )

    second = overlaid(
        page_of(
            *prose("bark", 30)[:29], "which is why the wheels of the mill turn slowly and", top=60
        ),
        page_of("lasts longer than they do.", "3 No other list is kept.", top=700, size=8),
        page_of("why they grind no flour in spring.", *prose("reed", 12), left=320, top=60),
    )

    found = kinds(parsed(first, second))

    assert (BlockKind.FOOTNOTE, f"{' '.join(note)} lasts longer than they do.") in found
    assert any("turn slowly and why they grind no flour in spring." in text for _, text in found)


def test_a_line_that_is_longer_by_a_hair_does_not_cut_the_columns() -> None:
    """All lines above it in both columns came before all below it, and sentences at its height were
    mixed."""

    def line(text: str, left: float, right: float, nth: int) -> Segment:
        return Segment(text, left, 100 + 14 * nth, right, 112 + 14 * nth, size=12, bold=0, italic=0)

    left = [line(f"left {n}", 0, 250.2 if n == 3 else 249.8, n) for n in range(8)]
    right = [line(f"right {n}", 262, 500, n) for n in range(7)]
    names = [
        line("A name above the right column", 251, 400, n - 6) for n in range(3)
    ]  # they hold the gutter back

    found = [segment.text for region in regions([*names, *left, *right]) for segment in region]

    assert found == [segment.text for segment in (*left, *names, *right)]


@pytest.mark.parametrize(
    ("end", "start"),
    [("(Lund et al.,", "2019)"), ("(Lund, 2018;", "Moe and Lund, 2019)"), ("for 0.8", "hours")],
)
def test_a_sentence_goes_on_inside_a_bracket_and_after_a_decimal(end: str, start: str) -> None:
    """A citation or a number at the end of a column cut its sentence: the rest begins with a year
    or a name, and a decimal point looks like a full stop before the number of a note."""
    above = [*prose("moss", 3)[:2], f"and so it was seen before {end}"]

    document = parsed(
        lambda canvas: lines(canvas, above, top=700) and None,
        lambda canvas: (
            lines(canvas, [f"{start} in all of the fields.", *prose("fern", 2)], top=60) and None
        ),
    )

    assert f"seen before {end} {start} in all" in document.blocks[0].text


def test_a_stamp_on_every_page_is_told_and_is_no_text() -> None:
    """Findings of a retracted paper were quoted like others, and its stamp was a passage on each
    page."""

    def page(topic: str, title: str = "") -> Draw:
        def draw(canvas: Canvas) -> None:
            lines(canvas, "Retracted Article", top=40, size=30) if title else None
            lines(canvas, title, top=90, font="Helvetica-Bold", size=16)
            lines(canvas, prose(topic, 20), top=140)
            canvas.translate(150, 300)
            canvas.rotate(50)
            lines(canvas, "RETRACTED", left=0, top=800, size=60)

        return draw

    content = pdf_of(page("moss", "Whales and church bells"), page("slate"), page("mills"))
    file = RawFile("paper", "paper.pdf", content)
    document = parse_pdf(file, ParsingSettings())
    document = replace(document, printed=printed_front(file, ParsingSettings()))

    assert document.title == "Whales and church bells"
    assert "RETRACTED" not in document.text
    assert record_of(document, None)[0].retracted == "the paper itself, p. 1"


def test_the_cells_of_a_small_table_beside_prose_are_in_no_sentence_of_it() -> None:
    """A table that text runs around: "the mills of the Model Mills river" was a line of the
    paper."""
    text = [*prose("moss", 12)[:11], "which is why the wheels of the mill stand still."]
    cells = [("Model", "Mills"), ("oak", "9"), ("beech", "12"), ("larch", "31")]

    def draw(canvas: Canvas) -> None:
        lines(canvas, text, top=100)
        for nth, (name, value) in enumerate(cells):
            lines(canvas, name, left=360, top=115 + 17 * nth)
            lines(canvas, value, left=430, top=115 + 17 * nth)

    document = parsed(draw)

    assert " ".join(text) in [text for _, text in kinds(document)]
    assert all(value in document.text for row in cells for value in row)


def test_a_label_stays_in_the_row_of_the_prose_that_explains_it() -> None:
    """Cut apart, the labels came first and the explanations after them, and none was found by its
    label."""

    def draw(canvas: Canvas) -> None:
        for nth, label in enumerate(("Care", "Trade", "Rank")):
            top = 100 + 36 * nth
            lines(canvas, label, top=top)
            lines(
                canvas,
                [f"the {label.lower()} of the mill was measured in the field", "and is"],
                left=160,
                top=top,
            )
            lines(canvas, "told in the next part of this long report here", left=160, top=top + 24)

    def centred(canvas: Canvas) -> None:
        for nth, label in enumerate(("Care", "Trade", "Rank")):
            top = 100 + 34 * nth
            lines(canvas, label, top=top + 7 + nth)
            lines(
                canvas,
                f"the {label.lower()} of the mill was measured in the long field",
                left=160,
                top=top,
            )
            lines(
                canvas,
                ["and is told in the next part of this long report", "as well."],
                left=160,
                top=top + 12,
            )

    assert "Trade" in parsed(centred).text.partition("the care of")[2].partition("the rank of")[0]
    text = parsed(draw).text

    assert (
        text.index("Care") < text.index("the care") < text.index("Trade") < text.index("the trade")
    )


def test_a_running_head_in_two_pieces_is_in_no_sentence() -> None:
    """Left pages of a short paper had author and title as one line, and its one right page had two:
    the title was read as the beginning of the sentence below it."""

    def page(nth: int, *heads: tuple[float, str]) -> Draw:
        def draw(canvas: Canvas) -> None:
            for left, text in heads:
                lines(canvas, text, left=left, top=40)
            ends = ["which is why the wheels of the mill turn slowly and"] if nth == 2 else []
            start = ["why they grind no flour in spring."] if nth == 3 else []
            lines(
                canvas,
                [
                    *start,
                    *prose(("moss", "slate", "bark", "reed")[nth - 1], 40)[: 40 - len(ends)],
                    *ends,
                ],
                top=80,
            )

        return draw

    left_head = ((45.0, "920"), (65.0, "L. Moe"), (110.0, "Wheels of the mill in summer"))
    document = parsed(
        page(1, (300.0, "Proc. Mills 5")),
        page(2, *left_head),
        page(3, (300.0, "Wheels of the mill in summer"), (500.0, "L. Moe 921")),
        page(4, (45.0, "922"), *left_head[1:]),
    )

    assert "turn slowly and why they grind no flour in spring." in document.text
    assert "Wheels of the mill in summer" not in document.text


def test_what_was_typed_into_a_form_is_text_of_its_page() -> None:
    """A filled form had questions without answers: its fields lie beside the text of the page."""

    def draw(canvas: Canvas) -> None:
        lines(
            canvas,
            ["Mean iron of the lake in spring:", "Name of the lake:", "Sign here:"],
            top=100,
            size=20,
        )
        form = canvas.acroForm
        form.textfield(
            name="iron", value="4.2 mg per litre", x=400, y=HEIGHT - 105, width=150, height=22
        )
        form.textfield(name="lake", value="", x=400, y=HEIGHT - 129, width=150, height=22)
        form.checkbox(name="signed", checked=True, x=400, y=HEIGHT - 153)

    text = parsed(draw).text

    assert "Mean iron of the lake in spring: 4.2 mg per litre" in text
    assert text.endswith("Sign here:")


@pytest.mark.parametrize("leader", [". ", ".", ""])
def test_a_table_of_contents_is_a_table_with_and_without_leaders(leader: str) -> None:
    """It was one paragraph of titles, dots and numbers, which was found for the words of every
    section."""
    entries = [
        ("1 Introduction", "3"),
        ("2 Iron in lakes", "5"),
        ("2.1 Water in spring", "6"),
        ("3 Results", "11"),
    ]

    def contents(canvas: Canvas) -> None:
        for nth, (title, page) in enumerate(entries):
            line = f"{title} " + leader * (
                int((430 - canvas.stringWidth(title)) / canvas.stringWidth(leader)) if leader else 0
            )
            lines(canvas, line, top=100 + 14 * nth)
            lines(canvas, page, left=530, top=100 + 14 * nth)

    text = overlaid(
        page_of("1 Introduction", top=60, font="Helvetica-Bold", size=14),
        page_of(*prose("moss", 12), top=90),
    )

    first, heading, *_ = kinds(parsed(contents, text))

    assert first == (BlockKind.TABLE, "\n".join(f"{title} | {page}" for title, page in entries))
    assert heading == (BlockKind.HEADING, "1 Introduction")


def test_a_caption_beside_the_prose_of_the_other_column_is_in_no_sentence_of_it() -> None:
    """The left column held a figure alone: its caption was read into the line beside it, and a
    sentence that no author wrote was quoted."""
    text = [
        *prose("moss", 8)[:7],
        "which is why the wheels of the mill stand still",
        "in the summer of each dry year.",
    ]

    def draw(canvas: Canvas) -> None:
        canvas.rect(60, 560, 150, 140, stroke=1)
        lines(canvas, "Figure 2: Wheels of the mill in summer", left=60, top=252.5, size=7)
        lines(canvas, text, left=320, top=170)

    found = [text for _, text in kinds(parsed(draw))]

    assert " ".join(text) in found
    assert "Figure 2: Wheels of the mill in summer" in found


def test_names_side_by_side_stay_apart_and_raised_letters_are_marks() -> None:
    """ "Ada Lunda Bo Moeb" are not the authors."""

    def draw(canvas: Canvas) -> None:
        heading(canvas, "Iron in the blood of mountain sheep", top=40, size=18)
        for left, name, mark in ((60, "Ada Lund", "a"), (260, "Bo Moe", "b")):
            canvas.setFont("Helvetica", 10)
            canvas.drawString(left, HEIGHT - 100, name)
            right = left + canvas.stringWidth(name, "Helvetica", 10)
            canvas.setFont("Helvetica", 6)
            canvas.drawString(right, HEIGHT - 96, mark)
        lines(canvas, ["Abstract", *prose("sheep", 8)], top=140)

    front = printed_front(RawFile("lund", "lund.pdf", pdf_of(draw)), ParsingSettings())

    assert front.title == "Iron in the blood of mountain sheep"
    assert front.lines[1] == "Ada Lund*\tBo Moe*"


def test_two_columns_that_are_read_as_one_are_marked_where_they_meet() -> None:
    """A sentence that nobody wrote stood as word for word in the paper, and was an answer."""

    def draw(canvas: Canvas) -> None:
        lines(canvas, ["The wheels of the county are", "colony-scale percent live"], top=100)
        right = ["The linear model of the rivers held", "in nine of the ten valleys there."]
        lines(canvas, right, left=330, top=100)
        lines(canvas, prose("moss", 6), top=200)

    first, *_ = parsed(draw).blocks

    assert first.text == (
        "The wheels of the county are ¦ The linear model of the rivers held "
        "colony-scale percent live ¦ in nine of the ten valleys there."
    )


def test_words_that_were_spread_to_fill_a_line_are_one_sentence() -> None:
    """Narrow columns have white space as wide as a gutter inside their lines."""

    def draw(canvas: Canvas) -> None:
        lines(canvas, ["the mills of the long valley stand still", "in a dry summer."], top=112)
        for left, word in ((60, "Nearly"), (104, "all"), (134, "of"), (160, "them"), (200, "say:")):
            lines(canvas, word, left=left, top=100)

    (block,) = parsed(draw).blocks

    assert block.text == (
        "Nearly all of them say: the mills of the long valley stand still in a dry summer."
    )


def test_a_large_initial_belongs_to_a_first_word_in_capitals() -> None:
    """Journals set the first word in capitals behind the initial: "N EWTS" is found by nobody."""

    def draw(canvas: Canvas) -> None:
        lines(canvas, "N", top=124, size=34)
        lines(canvas, "EWTS of the stone wells live long and", left=88, top=100)
        lines(canvas, ["are older than all the other newts", "of the hills."], left=88, top=112)

    assert "NEWTS of the stone wells live long" in parsed(draw).text
