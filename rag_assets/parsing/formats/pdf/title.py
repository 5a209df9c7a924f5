"""The title of a PDF: its metadata where they can be trusted, else the largest text of the first page."""

import re
from collections.abc import Sequence

from rag_assets.core.text.folding import Folded
from rag_assets.parsing.formats.pdf.blocks import GroupKind, LineGroup
from rag_assets.parsing.formats.pdf.headings import BodyStyle

_LARGER = 1.15
_TOP_SHARE = 0.6
_MIN_WORDS = 2
_MAX_WORDS = 40
_PRODUCED = re.compile(
    r"microsoft\s+(?:word|powerpoint|excel)\b|untitled|\.(?:docx?|pdf|tex|dvi|indd|qxd|pptx?|xlsx?|html?|rtf)\b|"
    r"^arxiv:|^(?:title|document\d*|slide \d+|print|layout)\b",
    re.IGNORECASE,
)


def title_group(first_page: Sequence[LineGroup], body: BodyStyle) -> LineGroup | None:
    """The group in the largest font in the upper part of the first page, if it clearly stands out."""
    candidates = [group for group in first_page if _may_be_title(group, body)]
    return max(candidates, key=lambda group: (round(group.size), -group.top), default=None)


def _may_be_title(group: LineGroup, body: BodyStyle) -> bool:
    if group.is_aside or group.kind is GroupKind.ROWS or group.size < _LARGER * body.size:
        return False
    words = [word for word in group.plain_text.split() if any(character.isalpha() for character in word)]
    return _MIN_WORDS <= len(words) <= _MAX_WORDS and group.top <= _TOP_SHARE * group.lines[0].frame.height


def sane_title(metadata: str) -> str:
    """A title from the file's metadata, or "" where it is a file name or what a program put there."""
    title = " ".join(metadata.split())
    words = [word for word in title.split() if sum(character.isalpha() for character in word) > 1]
    if len(words) < _MIN_WORDS or len(words) > _MAX_WORDS or _PRODUCED.search(title):
        return ""
    return title


def is_printed_on(title: str, first_page: Sequence[LineGroup]) -> bool:
    """Whether the first page shows the title: what the metadata claim is then what a reader sees."""
    page = Folded.of(" ".join(group.plain_text for group in first_page))
    return page.find(Folded.of(title)) is not None
