"""The title, and which groups of lines are headings, and how deep: by font size, weight and numbering.

Compares with the document's own body text: a heading is larger or bolder than that. Metadata give the title where they
can be trusted.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from rag_assets.core.text.folding import Folded
from rag_assets.core.text.heading_numbers import HeadingNumber, heading_number
from rag_assets.core.text.section_names import is_plain_section_name
from rag_assets.parsing.formats.pdf.blocks import GroupKind, LineGroup

_LARGER = 1.1
_NOT_SMALLER = 0.94
_SMALL_CAPITALS = 0.7
"""Small capitals are capitals of a smaller size."""
_MAX_WORDS = 20
_MAX_WORDS_OF_EMPHASIS = 14
_MAX_LINES = 4
_MAX_LEVEL = 6
_NAMED_LEVELS = (
    (re.compile(r"(?:part|chapter)\s+(?:[ivx]+|\d+)\b", re.IGNORECASE), 1),
    (re.compile(r"appendix\b|annex\b", re.IGNORECASE), 1),
    (re.compile(r"item\s+\d+[a-z]?\b", re.IGNORECASE), 2),
)
_CAPTION = re.compile(
    r"(?:(?:figure|fig\.?|scheme|chart|exhibit|algorithm|listing)|(?P<table>table|tab\.))\s*"
    r"(?:[A-Z]?\d+(?:\.\d+)*[a-z]?|[IVX]+)\b(?:\s*\([^()]{0,30}\))?(?P<stop>\s*[.:|–—-])?",
    re.IGNORECASE,
)
_BOLD_LABEL = 0.3
_TITLE_LARGER = 1.15
_TITLE_TOP_SHARE = 0.6
_MIN_TITLE_WORDS = 2
_MAX_TITLE_WORDS = 40
_PRODUCED = re.compile(
    r"microsoft\s+(?:word|powerpoint|excel)\b|untitled|\.(?:docx?|pdf|tex|dvi|indd|qxd|pptx?|xlsx?|html?|rtf)\b|"
    r"^arxiv:|^(?:title|document\d*|slide \d+|print|layout)\b",
    re.IGNORECASE,
)
_NOT_IN_HEADINGS = re.compile(r"@|https?://|www\.|\.{4,}|…{2,}")


@dataclass(frozen=True)
class BodyStyle:
    """What most of the text looks like."""

    size: float
    is_bold: bool

    @classmethod
    def of(cls, groups: Sequence[LineGroup]) -> "BodyStyle":
        """The style most characters of paragraphs have; of all text where there are no paragraphs."""
        upright = [group for group in groups if not group.is_aside]
        prose = [g for g in upright if g.kind is not GroupKind.ROWS and len(g.lines) > 1] or upright
        sizes: Counter[float] = Counter()
        bold: Counter[float] = Counter()
        for group in prose:
            n_chars = len(group.plain_text)
            sizes[round(group.size * 2) / 2] += n_chars
            bold[round(group.size * 2) / 2] += round(n_chars * group.bold)
        if not sizes:
            return cls(10.0, is_bold=False)
        size = sizes.most_common(1)[0][0]
        return cls(max(size, 1.0), is_bold=bold[size] * 2 > sizes[size])


@dataclass(frozen=True, slots=True)
class HeadingStyle:
    """What makes two unnumbered headings of equal rank look alike."""

    size: float
    is_bold: bool
    is_caps: bool

    @classmethod
    def of(cls, group: LineGroup) -> "HeadingStyle":
        return cls(round(group.size * 2) / 2, group.bold > 0.8, _is_caps(group.plain_text))

    @property
    def weight(self) -> tuple[float, bool, bool]:
        return (self.size, self.is_caps, self.is_bold)


def is_heading(group: LineGroup, body: BodyStyle) -> bool:
    """Whether a group is clearly a heading: a known name, or larger, bold, or numbered and set apart."""
    text = group.plain_text.strip()
    if not _may_be_heading(group, text, body):
        return False
    if is_plain_section_name(text):
        return True
    if number := heading_number(text):
        is_deep = len(number.parts) > 1
        return not text.endswith(".") and (is_deep or _is_emphasised(group, body) or group.italic > 0.8)
    return not text.endswith((".", ";", ":")) and _is_emphasised(group, body) and not text[0].islower()


def _may_be_heading(group: LineGroup, text: str, body: BodyStyle) -> bool:
    if group.kind is GroupKind.ROWS or group.is_aside or len(group.lines) > _MAX_LINES:
        return False
    smallest = (
        _SMALL_CAPITALS if _is_caps(text) and (heading_number(text) or is_plain_section_name(text)) else _NOT_SMALLER
    )
    if group.size < smallest * body.size or len(text.split()) > _MAX_WORDS or text.endswith(","):
        return False
    n_letters = sum(character.isalpha() for character in text)
    if n_letters < 3 or n_letters * 2 < len(text):
        return False
    return not (_NOT_IN_HEADINGS.search(text) or caption_kind(group) is not None)


def _is_emphasised(group: LineGroup, body: BodyStyle) -> bool:
    if group.size >= _LARGER * body.size:
        return True
    if len(group.plain_text.split()) > _MAX_WORDS_OF_EMPHASIS:
        return False
    return (group.bold > 0.9 and not body.is_bold) or _is_caps(group.plain_text)


def _is_caps(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    return len(letters) >= 4 and sum(letter.isupper() for letter in letters) > 0.9 * len(letters)


def caption_kind(group: LineGroup) -> str | None:
    """ "table" or "figure" when the group is a caption, else None.

    A caption has a stop after its number, or nothing else, or it is set in bold: a sentence that starts with "Figure 3"
    is not one.
    """
    return None if group.kind is GroupKind.ROWS else kind_of_caption(group.plain_text, group.lines[0].bold)


def kind_of_caption(text: str, bold: float) -> str | None:
    """As `caption_kind`, for a text whose first line has that share of bold characters."""
    match = _CAPTION.match(text)
    if match is None or not (match["stop"] or match.end() == len(text.rstrip()) or bold > _BOLD_LABEL):
        return None
    return "table" if match["table"] else "figure"


@dataclass
class HeadingLevels:
    """Gives each heading, in order, its level: 1 for main sections.

    Numbered headings carry their level. The others take the level of the numbered ones they look like, or rank by
    size, capitals and weight among the unnumbered.
    """

    ranks: dict[HeadingStyle, int]
    _level_of_style: dict[HeadingStyle, int] = field(default_factory=dict)
    _has_roman: bool = False
    _current: int = 0

    @classmethod
    def of(cls, headings: Sequence[LineGroup]) -> "HeadingLevels":
        styles = {HeadingStyle.of(g) for g in headings if heading_number(g.plain_text) is None}
        ordered = sorted(styles, key=lambda style: style.weight, reverse=True)
        return cls({style: rank for rank, style in enumerate(ordered, start=1)})

    def level(self, group: LineGroup) -> int:
        """The level of the next heading."""
        self._current = min(self._level(group), _MAX_LEVEL)
        return self._current

    def _level(self, group: LineGroup) -> int:
        text, style = group.plain_text.strip(), HeadingStyle.of(group)
        for pattern, level in _NAMED_LEVELS:
            if pattern.match(text):
                return level
        if number := heading_number(text):
            level = self._numbered_level(number)
            self._level_of_style.setdefault(style, level)
            return level
        if is_plain_section_name(text):
            return 1
        if self._level_of_style:
            return self._level_of_style.get(style, self._among_numbered(style))
        return self.ranks.get(style, 1)

    def _numbered_level(self, number: HeadingNumber) -> int:
        depth = len(number.parts)
        if number.style == "arabic":
            return depth
        if number.style == "roman" and (len(number.text) > 1 or number.text == "I" or self._has_roman):
            self._has_roman = True
            return depth
        return depth + self._has_roman

    def _among_numbered(self, style: HeadingStyle) -> int:
        """The level of an unnumbered style among numbered ones: above smaller styles, below the section around it."""
        smaller = [level for other, level in self._level_of_style.items() if other.size < style.size]
        return min(smaller) if smaller else min(self._current, max(self._level_of_style.values())) + 1


def title_group(first_page: Sequence[LineGroup], body: BodyStyle) -> LineGroup | None:
    """The group in the largest font in the upper part of the first page, if that is clearly larger than the body's."""
    candidates = [group for group in first_page if _may_be_title(group, body)]
    return max(candidates, key=lambda group: (round(group.size), -group.top), default=None)


def _may_be_title(group: LineGroup, body: BodyStyle) -> bool:
    if group.is_aside or group.kind is GroupKind.ROWS or group.size < _TITLE_LARGER * body.size:
        return False
    words = [word for word in group.plain_text.split() if any(character.isalpha() for character in word)]
    return (
        _MIN_TITLE_WORDS <= len(words) <= _MAX_TITLE_WORDS
        and group.top <= _TITLE_TOP_SHARE * group.lines[0].frame.height
    )


def sane_title(metadata: str) -> str:
    """A title from the file's metadata, or "" where it is a file name or what a program put there."""
    title = " ".join(metadata.split())
    words = [word for word in title.split() if sum(character.isalpha() for character in word) > 1]
    if len(words) < _MIN_TITLE_WORDS or len(words) > _MAX_TITLE_WORDS or _PRODUCED.search(title):
        return ""
    return title


def is_printed_on(title: str, first_page: Sequence[LineGroup]) -> bool:
    """Whether the first page shows the title: what the metadata claim is then what a reader sees."""
    page = Folded.of(" ".join(group.plain_text for group in first_page))
    return page.find(Folded.of(title)) is not None
