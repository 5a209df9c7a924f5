"""Small PDF files written for the tests, with text of our own, in layouts that papers have."""

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.domain import Document
from rag_assets.parsing.formats.pdf.document import parse_pdf
from rag_assets_testing.papers.contents import read_content

WIDTH, HEIGHT = 600.0, 800.0
BODY_SIZE, LEADING = 10.0, 12.0
Draw = Callable[[Canvas], None]


def pdf_of(*pages: Draw, encryption: StandardEncryption | None = None) -> bytes:
    """A PDF of 600 x 800 points with one page a drawing function."""
    file = BytesIO()
    canvas = Canvas(file, pagesize=(WIDTH, HEIGHT), encrypt=encryption, invariant=1)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def write_pdf(path: Path, pages: Sequence[Draw]) -> Path:
    path.write_bytes(pdf_of(*pages))
    return path


def parsed(*pages: Draw) -> Document:
    return read_content(parse_pdf, "paper.pdf", pdf_of(*pages))


def lines(
    canvas: Canvas,
    text: str | Sequence[str],
    *,
    left: float = 60,
    top: float = 100,
    font: str = "Helvetica",
    size: float = 10,
) -> float:
    """Draw a line, or several from `top` (points from the top of the page) downwards; returns the
    top of the next line."""
    canvas.setFont(font, size)
    for line in [text] if isinstance(text, str) else text:
        canvas.drawString(left, HEIGHT - top, line)
        top += size * LEADING / BODY_SIZE
    return top


def page_of(*text: str, **how: Any) -> Draw:
    """A page with these lines, drawn in that way."""

    def draw(canvas: Canvas) -> None:
        lines(canvas, text, **how)

    return draw


def overlaid(*draws: Draw) -> Draw:
    """One page with all of these on it."""

    def draw(canvas: Canvas) -> None:
        for one in draws:
            one(canvas)

    return draw


def heading(canvas: Canvas, text: str, *, left: float = 60, top: float, size: float = 14) -> float:
    return lines(canvas, text, left=left, top=top + 10, font="Helvetica-Bold", size=size) + 8


def prose(topic: str, n_lines: int) -> list[str]:
    """Lines of one paragraph that say something different on each, as wide as a column of 230
    points."""
    filled = [
        f"the {topic} number {index} was measured in the field and" for index in range(1, n_lines)
    ]
    return [filled[0].capitalize(), *filled[1:], f"the {topic} number {n_lines} ended the series."]


def picture(canvas: Canvas) -> None:
    """A page that is one image, as a scanner makes it."""
    from PIL import Image

    canvas.drawImage(ImageReader(Image.new("L", (60, 80), color=200)), 0, 0, WIDTH, HEIGHT)
