"""Which words lie under boxes of a page, as PDFium's own functions tell: nothing here is shared
with the product."""

import ctypes
import re
import unicodedata
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from pypdfium2 import PdfDocument, PdfPage, PdfTextPage, raw

from rag_assets.core.domain import Box

_UNITS = 100_000
"""A page is taken to be drawn that many pixels wide and high, so that a pixel is next to
nothing."""
_MIDDLE = 0.3
"""Share of a line's height, around its middle, that is looked at: lines may touch."""
_INSET_POINTS = 0.7
"""PDFium counts a character that touches the area."""


def words_under(pdf: Path, boxes: Iterable[Box]) -> str:
    """The text under the boxes, in their order."""
    found = []
    with closing(PdfDocument(pdf)) as document:
        for box in boxes:
            with closing(document[box.page - 1]) as page, closing(page.get_textpage()) as text:
                found.append(_text_in(page, text, box))
    return " ".join(found)


def letters(text: str) -> str:
    """Letters and digits in one case, ligatures dissolved."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def _text_in(page: PdfPage, text: PdfTextPage, box: Box) -> str:
    """As PDFium itself turns the place on a drawn page into a place in the file, crop box and
    rotation included."""
    corners = [_in_file(page, x, y) for x, y in ((box.left, box.top), (box.right, box.bottom))]
    (left, right), (bottom, top) = (sorted(values) for values in zip(*corners, strict=True))
    is_upright = (
        abs(box.right - box.left) * page.get_width()
        >= abs(box.bottom - box.top) * page.get_height()
    )
    is_turned = page.get_rotation() % 180 == 90
    inset_x, inset_y = (
        min(_INSET_POINTS, (right - left) / 4),
        min(_INSET_POINTS, (top - bottom) / 4),
    )
    if is_upright is not is_turned:
        inset_y = (top - bottom) * (1 - _MIDDLE) / 2
    else:
        inset_x = (right - left) * (1 - _MIDDLE) / 2
    return str(
        text.get_text_bounded(left + inset_x, bottom + inset_y, right - inset_x, top - inset_y)
    )


def _in_file(page: PdfPage, x: float, y: float) -> tuple[float, float]:
    found_x, found_y = ctypes.c_double(), ctypes.c_double()
    at = round(x * _UNITS), round(y * _UNITS)
    raw.FPDF_DeviceToPage(
        page, 0, 0, _UNITS, _UNITS, 0, *at, ctypes.byref(found_x), ctypes.byref(found_y)
    )
    return found_x.value, found_y.value
