"""The first pages of a PDF as they tell of its paper."""

from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.formats.pdf.document import printed_front
from rag_assets.parsing.shared.files import RawFile
from rag_assets_testing.papers.pdf import HEIGHT, heading, lines, pdf_of, prose


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
