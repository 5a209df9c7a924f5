"""What text looks like: the style of the body, and the style that a heading is set in."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from rag_assets.parsing.formats.pdf.blocks import LineGroup

_LARGER = 1.1
_MAX_WORDS_OF_EMPHASIS = 14
_ALL = 0.9
MOST = 0.8
"""A group of which this share is bold, or italic, is so as a whole."""


@dataclass(frozen=True)
class BodyStyle:
    """What most of the text looks like."""

    size: float
    is_bold: bool
    font: str = ""
    gap: float = 0.0
    """White space between two of its lines, in heights of a line."""

    @classmethod
    def of(cls, groups: Sequence[LineGroup]) -> "BodyStyle":
        """The style most characters of paragraphs have; of all text where there are no
        paragraphs."""
        upright = [group for group in groups if not group.is_aside]
        prose = [g for g in upright if g.is_prose and len(g.lines) > 1] or upright
        sizes: Counter[float] = Counter()
        bold: Counter[float] = Counter()
        fonts: dict[float, Counter[str]] = defaultdict(Counter)
        for group in prose:
            n_chars, size = len(group.plain_text), round(group.size * 2) / 2
            sizes[size] += n_chars
            bold[size] += round(n_chars * group.bold)
            fonts[size].update({line.font: len(line.text) for line in group.lines if line.font})
        if not sizes:
            return cls(10.0, is_bold=False)
        size = sizes.most_common(1)[0][0]
        font = max(fonts[size], key=fonts[size].__getitem__, default="")
        gaps = [
            (below.top - above.bottom) / above.height
            for group in prose
            for above, below in pairwise(group.lines)
            if round(group.size * 2) / 2 == size
        ]
        gap = median(gaps) if gaps else 0.0
        return cls(max(size, 1.0), is_bold=bold[size] * 2 > sizes[size], font=font, gap=gap)


@dataclass(frozen=True, slots=True)
class HeadingStyle:
    """What makes two headings of equal rank look alike."""

    size: float
    is_bold: bool
    is_italic: bool
    is_caps: bool
    font: str

    @classmethod
    def of(cls, group: LineGroup) -> "HeadingStyle":
        size = round(max(line.size for line in group.lines) * 2) / 2
        return cls(
            size, group.bold > MOST, group.italic > MOST, is_caps(group.plain_text), font_of(group)
        )

    @property
    def weight(self) -> tuple[float, bool, bool, bool]:
        """Orders styles by how much they stand out."""
        return (self.size, self.is_caps, self.is_bold, not self.is_italic)


def font_of(group: LineGroup) -> str:
    """The font of all its lines; empty where there are several."""
    fonts = {line.font for line in group.lines}
    return fonts.pop() if len(fonts) == 1 else ""


def stands_out(group: LineGroup, body: BodyStyle) -> bool:
    if group.size >= _LARGER * body.size:
        return True
    if len(group.plain_text.split()) > _MAX_WORDS_OF_EMPHASIS:
        return False
    return (group.bold > _ALL and not body.is_bold) or is_caps(group.plain_text)


def is_caps(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    return len(letters) >= 4 and sum(letter.isupper() for letter in letters) > _ALL * len(letters)
