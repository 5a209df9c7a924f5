"""What a PDF says of its own headings: its outline, the entries that readers show beside the pages.

An entry counts only where the page that it leads to prints its title: files carry the outline of
another document, or one that a program made up.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from rag_assets.core.text.headings import heading_number

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_MAX_ENTRIES = 5000
_MAX_DEPTH = 8
_MAX_CHARS = 500
_PAGES_BESIDE = (0, 1, -1)
"""Some programs point to the end of the page before, or count from another page."""
_MIN_LETTERS = 3


@dataclass(frozen=True)
class Outline:
    """The entries of an outline by page (1-based) and by what they say, without case, spaces and
    punctuation."""

    depths: Mapping[tuple[int, str], int] = field(default_factory=dict)
    """Depth in the outline, 1 for the highest."""

    @classmethod
    def of(cls, pdf: "PdfDocument") -> "Outline":
        depths: dict[tuple[int, str], int] = {}
        for bookmark in islice(pdf.get_toc(max_depth=_MAX_DEPTH), _MAX_ENTRIES):
            place = bookmark.get_dest()
            page = place.get_index() if place else None
            for said in _readings(bookmark.get_title()):
                depths.setdefault(((page or 0) + 1, said), bookmark.level + 1)
        return cls(depths)

    def depth(self, text: str, page: int) -> int | None:
        """The depth of the entry that says `text` and leads to `page` or the one beside it; None
        without one."""
        if not self.depths:
            return None
        keys = ((page + step, said) for said in _readings(text) for step in _PAGES_BESIDE)
        return next((depth for key in keys if (depth := self.depths.get(key)) is not None), None)


def _readings(entry: str) -> Iterator[str]:
    """A title with its number and without it: outlines often leave the numbers out."""
    title = entry[:_MAX_CHARS]
    number = heading_number(title)
    for text in (title, number.title) if number else (title,):
        said = "".join(character for character in text.casefold() if character.isalnum())
        if sum(character.isalpha() for character in said) >= _MIN_LETTERS:
            yield said
