"""Pages of PDFs as images: drawn in a worker once, then kept on disk by what they show."""

import math
from collections.abc import Sequence

from rag_assets.core.errors import NotFound
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import Kept, kept_file
from rag_assets.core.settings import Settings
from rag_assets.library.reading.page_rendering import RENDERING_VERSION, FractionBox, PageImageJob, page_png
from rag_assets.library.reading.pdf_workers import PdfFile, PdfWorkers

MIN_WIDTH, MAX_WIDTH = 50, 2400
MAX_BOXES = 200
_DIGITS = 4
"""Of a box: a hundredth of a per cent is less than a pixel."""


class PageImages:
    """Draws pages; may be used by several threads."""

    def __init__(self, settings: Settings, workers: PdfWorkers) -> None:
        self._workers = workers
        self._kept = Kept(kept_file(settings), "page_images", bytes, bytes)

    def png(self, pdf: PdfFile, page: int, width: int, boxes: Sequence[FractionBox]) -> bytes:
        """The page as a PNG, `width` cut to MIN_WIDTH to MAX_WIDTH pixels; very long pages are narrower.

        At most MAX_BOXES boxes are marked; what is no box (not a number, left of right) is passed over. Raises NotFound
        for a page that is not there, UnreadableDocument for a PDF or page that cannot be drawn.
        """
        shown = tuple(_inside(box) for box in boxes[:MAX_BOXES] if _is_box(box))
        job = PageImageJob(pdf, page, min(max(width, MIN_WIDTH), MAX_WIDTH), shown)
        key = fingerprint(RENDERING_VERSION, pdf.sha256, job.page, job.width, job.boxes)
        return self._kept.once(key, lambda: self._drawn(job))[0]

    def _drawn(self, job: PageImageJob) -> bytes:
        png = self._workers.run(page_png, job, job.pdf)
        if png is None:
            raise NotFound(f"{job.pdf.name} has no page {job.page}. Pages are counted from 1, as in the file.")
        return png


def _is_box(box: FractionBox) -> bool:
    left, top, right, bottom = box
    return all(map(math.isfinite, box)) and left < right and top < bottom


def _inside(box: FractionBox) -> FractionBox:
    """The part of a box that lies on the page."""
    left, top, right, bottom = (round(min(max(side, 0.0), 1.0), _DIGITS) for side in box)
    return left, top, right, bottom
