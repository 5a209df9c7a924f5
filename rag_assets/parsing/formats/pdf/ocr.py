"""Pages without a text layer, read by rapidocr: its models lie in its package, so nothing is
fetched or sent.

The words come back as characters with places, like those of a text layer, so all that follows is
the same.
"""

import importlib.util
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import accumulate
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from rag_assets.parsing.formats.pdf.glyphs import FontStyle, Geometry, Glyph

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

INSTALL = "pip install 'rag_assets[ocr]'"
_MAX_PIXELS = 2200
"""Longest side of the picture that is read: a letter page at 200 dots an inch."""
_PIXELS_PER_POINT = 200 / 72
_SHARE_OF_TIME = 0.6
"""Share of the processor time for one file that OCR may take; what follows needs the rest."""
_SIZE_OF_HEIGHT = 0.85
"""Font size as a share of the height of the boxes, which are drawn wider than the letters."""
_ONE_SIZE = 0.15
"""Heights that differ by less than this share are one size: they are measured, and more where
letters descend."""


def is_installed() -> bool:
    return importlib.util.find_spec("rapidocr") is not None


class PageReader:
    """Reads the pages of one file until its time is used up. The models are loaded at the first
    page."""

    def __init__(self, timeout_s: float) -> None:
        self._stops_at = time.process_time() + _SHARE_OF_TIME * timeout_s
        self._engine: Any = None
        self.is_late = False
        """A page was left out because the time was used up."""

    def glyphs(self, pdf: "PdfDocument", index: int) -> list[Glyph]:
        """The characters of page `index` (0-based), with a space after each word. Empty if the page
        cannot be read, and for every page once the time is used up."""
        if time.process_time() > self._stops_at:
            self.is_late = True
            return []
        with closing(pdf[index]) as page:
            geometry = Geometry.of(page, index + 1)
            frame = geometry.frame(0)
            scale = min(_PIXELS_PER_POINT, _MAX_PIXELS / max(frame.shown_width, frame.shown_height))
            picture = page.render(scale=scale).to_numpy()
        try:
            found = self._loaded()(picture)
        except MemoryError:
            raise
        except (
            Exception
        ):  # rapidocr's errors have no class in common: one page that it cannot read costs no other
            return []
        read = zip(
            found.txts or (), found.word_results, strict=False
        )  # without any line, the words are a placeholder
        return list(
            _glyphs(
                [_whole_words(text, [(word, box) for word, _, box in line]) for text, line in read],
                scale,
            )
        )

    def _loaded(self) -> Any:
        """The OCR engine, which loads its models at the first call and is kept for later pages."""
        if self._engine is None:
            from rapidocr import RapidOCR

            self._engine = RapidOCR(
                params={
                    "Global.use_cls": False,  # pages are shown upright
                    "Global.log_level": "critical",
                    "Global.return_word_box": True,
                    # there is a worker for each core
                    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                }
            )
        return self._engine


_Word = tuple[str, Sequence[Sequence[float]]]
"""Its text, and the corners (x, y) of its boxes in pixels from the top left of the page."""


def _whole_words(text: str, words: Sequence[_Word]) -> list[_Word]:
    """The words of a line as its text has them: rapidocr cuts words of large type between letters
    ("M odel")."""
    if "".join(word for word, _ in words) != "".join(text.split()):
        return list(words)
    ends = set(accumulate(map(len, text.split())))
    whole: list[_Word] = []
    n_letters = 0
    for word, corners in words:
        if whole and n_letters not in ends:
            before, its_corners = whole.pop()
            word, corners = before + word, [*its_corners, *corners]
            n_letters -= len(before)
        whole.append((word, corners))
        n_letters += len(word)
    return whole


def _glyphs(lines: Sequence[Sequence[_Word]], scale: float) -> Iterator[Glyph]:
    """The characters of the words, each with an equal part of its word's box.

    All words of a line get its mean height, so the lines of a page that was scanned askew stay
    lines.
    """
    edges = [_edges(line, scale) for line in lines]
    heights = [bottom - top for top, bottom in edges]
    for line, (top, bottom) in zip(lines, edges, strict=True):
        height = bottom - top
        alike = median(
            other for other in heights if abs(other - height) <= _ONE_SIZE * max(other, height)
        )
        style = FontStyle(round(_SIZE_OF_HEIGHT * alike, 1), is_bold=False, is_italic=False)
        for text, corners in line:
            left, right = min(x for x, _ in corners) / scale, max(x for x, _ in corners) / scale
            width = (right - left) / max(len(text), 1)
            for n, character in enumerate(text):
                yield Glyph(
                    character, left + n * width, top, left + (n + 1) * width, bottom, 0, style
                )
            yield Glyph(" ", 0.0, 0.0, 0.0, 0.0, 0, style)
        yield Glyph("\n", 0.0, 0.0, 0.0, 0.0, 0, style)


def _edges(line: Sequence[_Word], scale: float) -> tuple[float, float]:
    """The mean top and bottom of the words of a line, in points. The top of a word is the mean
    height of the upper half of its corners, its bottom that of the lower half."""
    heights = [sorted(y for _, y in corners) for _, corners in line]
    top = fmean(fmean(ys[: len(ys) // 2]) for ys in heights)
    return top / scale, fmean(fmean(ys[len(ys) // 2 :]) for ys in heights) / scale
