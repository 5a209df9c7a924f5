"""Which of ADE's regions are not the paper's text: marginalia, logos, and running headers that it
took for text.

ADE names most of a page's furniture itself, and misses some of it on some pages: the journal's name
is marginalia on page 3 and text on page 4. So text that repeats a marginal note goes too, and then
what recurs on many pages.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.parsing.formats.ade.shapes import Region
from rag_assets.parsing.formats.markdown.parts import plain_line
from rag_assets.parsing.shared.running_text import PlacedLine, folded_line, running

_NOISE_KINDS = frozenset(
    {
        "marginalia",
        "logo",
        "page_header",
        "page_footer",
        "page_number",
        "scan_code",
        "attestation",
        "error",
    }
)
_MARGINAL_KINDS = frozenset({"marginalia", "page_header", "page_footer"})
_NOT_RUNNING_KINDS = frozenset({"table", "figure"})
_SIGNS = re.compile(r"[^\w\s]+|_+")
_PAGE_LABEL = re.compile(r"\d{1,5}|[ivxlc]{1,7}")


@dataclass(frozen=True)
class Sifted:
    """The regions that are text of the paper, in order, and what was taken out."""

    kept: tuple[Region, ...]
    n_dropped: int
    page_labels: tuple[str | None, ...]
    """Printed number of each page, where exactly one marginal note of the page is a number."""
    margins: tuple[str, ...]
    """The marginal notes of the first page."""


def sifted(
    regions: Sequence[Region], title: Region | None, share: float, n_pages: int | None
) -> Sifted:
    """`regions` without noise; `title` is never taken for the running header that repeats it.

    share: as in `running_text.running_lines`.
    """
    noise = [region for region in regions if region.kind in _NOISE_KINDS]
    notes = [region for region in noise if region.kind in _MARGINAL_KINDS]
    folded = {_folded(text) for note in notes for text in (note.text, *note.text.splitlines())}
    marginal = {text for text in folded if sum(map(str.isalpha, text)) >= 3}
    text_regions = [
        region
        for region in regions
        if region.kind not in _NOISE_KINDS
        and (region is title or _folded(region.text) not in marginal)
    ]
    dropped = {id(region) for region in _running(text_regions, share)} - {id(title)}
    kept = tuple(region for region in text_regions if id(region) not in dropped)
    margins = tuple(plain_line(note.text) for note in notes if note.page_start == 1)
    return Sifted(kept, len(regions) - len(kept), _page_labels(noise, n_pages), margins)


def _running(regions: Sequence[Region], share: float) -> list[Region]:
    pages: dict[int, list[Region]] = {}
    for region in regions:
        if region.page_start is not None:
            pages.setdefault(region.page_start, []).append(region)
    by_page = [
        sorted(pages.get(page, []), key=_middle) for page in range(1, max(pages, default=0) + 1)
    ]

    def line(region: Region) -> PlacedLine:
        text = "" if region.kind in _NOT_RUNNING_KINDS else _without_signs(region.text)
        return PlacedLine(text, _middle(region))

    return running(by_page, line, share)


def _middle(region: Region) -> float:
    return (region.boxes[0].top + region.boxes[0].bottom) / 2 if region.boxes else 0.5


def _folded(text: str) -> str:
    return folded_line(_without_signs(text))


def _without_signs(text: str) -> str:
    """ADE reads one and the same line with "—" and "---", with "©" and without."""
    return " ".join(_SIGNS.sub(" ", plain_line(text)).split())


def _page_labels(noise: Sequence[Region], n_pages: int | None) -> tuple[str | None, ...]:
    labels: dict[int, set[str]] = {}
    for region in noise:
        text = region.text.strip()
        if region.page_start is not None and _PAGE_LABEL.fullmatch(text):
            labels.setdefault(region.page_start, set()).add(text)
    if not labels or n_pages is None:
        return ()
    found = [labels.get(page, set()) for page in range(1, n_pages + 1)]
    return tuple(next(iter(texts)) if len(texts) == 1 else None for texts in found)
