"""One page of a PDF as a PNG, with boxes marked in it. Runs in a worker process (`pdfs`)."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.core.errors import UnreadableDocument
from rag_assets.parsing.formats.pdf.file import opened_pdf
from rag_assets.parsing.shared.files.raw import hashed_content

if TYPE_CHECKING:
    from PIL.Image import Image
    from pypdfium2 import PdfPage

RENDERING_VERSION = 1
"""Raise it when the same page gets another image; images of earlier versions are not shown any
more."""
MAX_PIXELS = 12_000_000
"""A page that is much higher than wide is drawn narrower than asked for."""
_MARK = (255, 226, 110)
"""Multiplied with the page, so black stays black and white takes this colour."""
_COMPRESSION = 3
"""Level of zlib: 6 takes twice as long for a tenth less."""
FractionBox = tuple[float, float, float, float]
"""Left, top, right, bottom as fractions of the page as it is shown, origin top left."""


@dataclass(frozen=True, slots=True)
class PdfFile:
    """The PDF of a paper, as it was when it was looked up."""

    path: Path
    name: str
    """From the papers folder, for messages."""
    sha256: str
    max_pages: int


@dataclass(frozen=True, slots=True)
class PageImageJob:
    pdf: PdfFile
    page: int
    """1-based."""
    width: int
    """Pixels."""
    boxes: tuple[FractionBox, ...]


def page_png(job: PageImageJob) -> bytes | None:
    """The page as a PNG; None for a number that no page has. Raises UnreadableDocument for a PDF or
    a page that cannot be drawn."""
    from pypdfium2 import PdfiumError

    content = hashed_content(job.pdf.path, job.pdf.sha256)
    with opened_pdf(content, job.pdf.max_pages) as pdf:
        if not 1 <= job.page <= len(pdf):
            return None
        try:
            with closing(pdf[job.page - 1]) as page:
                image = _drawn(page, job.width)
        except PdfiumError as error:
            raise UnreadableDocument(
                f"has a page {job.page} that is damaged and cannot be drawn. Export or fetch the file again."
            ) from error
    _mark(image, job.boxes)
    png = BytesIO()
    image.save(png, "PNG", compress_level=_COMPRESSION)
    return png.getvalue()


def _drawn(page: "PdfPage", width: int) -> "Image":
    shown_width, shown_height = (max(side, 1.0) for side in page.get_size())
    scale = min(width / shown_width, (MAX_PIXELS / (shown_width * shown_height)) ** 0.5)
    bitmap = page.render(scale=scale, prefer_bgrx=False, rev_byteorder=True)
    image: Image = bitmap.to_pil().convert("RGB")
    return image


def _mark(image: "Image", boxes: Sequence[FractionBox]) -> None:
    """Colour the boxes in the image."""
    from PIL import Image, ImageChops

    for left, top, right, bottom in boxes:
        area = (
            round(left * image.width),
            round(top * image.height),
            max(round(right * image.width), round(left * image.width) + 1),
            max(round(bottom * image.height), round(top * image.height) + 1),
        )
        part = image.crop(area)
        image.paste(ImageChops.multiply(part, Image.new("RGB", part.size, _MARK)), area)
