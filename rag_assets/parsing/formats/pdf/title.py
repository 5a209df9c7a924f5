"""The title of a PDF: what its metadata say, if the first page shows it, or what is printed largest
there.

A page that a repository or a publisher puts in front of a paper has no title of its own: the page
after it has.
"""

import re
from collections.abc import Sequence
from itertools import takewhile

from rag_assets.core.text.folding import Folded
from rag_assets.core.text.headings import heading_number, is_plain_section_name
from rag_assets.core.text.works import is_stamp
from rag_assets.parsing.formats.pdf.blocks import LineGroup
from rag_assets.parsing.formats.pdf.styles import BodyStyle, stands_out

_LARGER = 1.15
_TOP_SHARE = 0.6
_MIN_WORDS = 2
_MAX_WORDS = 40
_MIN_WORDS_IN_METADATA = 3
_PRODUCED = re.compile(
    r"microsoft\s+(?:word|powerpoint|excel)\b|untitled|\.(?:docx?|pdf|tex|dvi|indd|qxd|pptx?|xlsx?|html?|rtf)\b|"
    r"^arxiv:|^(?:title|document\d*|slide \d+|print|layout)\b",
    re.IGNORECASE,
)


def title_group(
    first_page: Sequence[LineGroup], body: BodyStyle, metadata: str
) -> LineGroup | None:
    """The group in the largest font in the upper part of a page, if that is clearly larger than the
    body's.

    A group that the metadata repeat wins: above it stands the name of a journal.
    """
    large = [
        group for group in first_page if _may_be_title(group) and group.size >= _LARGER * body.size
    ]
    candidates = [group for group in large if not _is_journal(group, first_page)]
    if (
        not candidates
    ):  # a title of the body's size is set in bold or capitals, above everything else
        head = takewhile(lambda group: not _opens_paper(group), first_page)
        candidates = [group for group in head if _may_be_title(group) and stands_out(group, body)][
            :1
        ]
    said = Folded.of(metadata)
    named = [
        group
        for group in candidates
        if len(group.plain_text.split()) >= _MIN_WORDS_IN_METADATA
        and said.find(Folded.of(group.plain_text)) is not None
    ]
    return max(named or candidates, key=lambda group: (round(group.size), -group.top), default=None)


def is_cover(page: Sequence[LineGroup], next_page: Sequence[LineGroup], body: BodyStyle) -> bool:
    """Whether a first page only announces the paper that begins on the next one.

    There a title stands over an abstract or a first section, and it is not the one that the first
    page shows.
    """
    opening = next((group for group in next_page if _opens_paper(group)), None)
    if opening is None or any(_opens_paper(group) for group in page):
        return False
    title = title_group(next_page[: next_page.index(opening)], body, "")
    shown = title_group(page, body, "")
    return title is not None and (
        shown is None or Folded.of(title.plain_text).text != Folded.of(shown.plain_text).text
    )


def _opens_paper(group: LineGroup) -> bool:
    number = heading_number(group.plain_text)
    return len(group.lines) == 1 and (
        is_plain_section_name(group.plain_text) or bool(number and number.values == (1,))
    )


def _may_be_title(group: LineGroup) -> bool:
    if group.is_aside or not group.is_prose or is_stamp(group.plain_text):
        return False
    words = [
        word for word in group.plain_text.split() if any(character.isalpha() for character in word)
    ]
    return (
        _MIN_WORDS <= len(words) <= _MAX_WORDS
        and group.top <= _TOP_SHARE * group.lines[0].frame.height
    )


def _is_journal(group: LineGroup, page: Sequence[LineGroup]) -> bool:
    """Whether the page shows a text again with nothing but numbers after it: "Journal of Soil 137
    (2015) 1-5"."""
    name = group.plain_text
    rests = (
        other.plain_text.removeprefix(name) for other in page if other.plain_text.startswith(name)
    )
    return any(
        rest and not any(map(str.isalpha, rest)) and any(map(str.isdigit, rest)) for rest in rests
    )


def sane_title(metadata: str) -> str:
    """A title from the file's metadata, or "" where it is a file name or what a program put
    there."""
    title = " ".join(metadata.split())
    words = [word for word in title.split() if sum(character.isalpha() for character in word) > 1]
    if len(words) < _MIN_WORDS or len(words) > _MAX_WORDS or _PRODUCED.search(title):
        return ""
    return title


def is_printed_on(title: str, page: Sequence[LineGroup]) -> bool:
    """Whether the page shows the title: what the metadata claim is then what a reader sees."""
    return (
        Folded.of(" ".join(group.plain_text for group in page)).find(Folded.of(title)) is not None
    )
