"""The title of a paper: which lines of the first page are set as one text, which of these large texts
is the title, and whether that is sure.

A cover is a page that only announces the paper; the title on the page after it shows that.
"""

import re
import unicodedata
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

from rag_assets.core.text.folding import letters_of
from rag_assets.core.text.headings import heading_number, is_plain_section_name, starts_abstract
from rag_assets.core.text.names import lists_names, names_in, ordinary_words
from rag_assets.core.text.works import is_stamp
from rag_assets.parsing.formats.pdf.blocks import (
    MOST,
    BodyStyle,
    GroupKind,
    HeadingStyle,
    LineGroup,
    stands_out,
)
from rag_assets.parsing.formats.pdf.headings import is_prose

LARGER = 1.15
"""A text is large from this multiple of the size of the body."""
_TOP_SHARE = 0.6
_MIN_WORDS = 2
_MAX_TITLE_WORDS = 40
_MIN_WORDS_REPEATED = 3
_NAMES_BELOW = 3
"""Groups below a title among which its authors begin: a subtitle or a date may stand between."""
_TEXT_BELOW, _LINES_OF_TEXT = 8, 4
_MOST_REPEATED = 2
_OVERLAP = 0.3
"""How far the box of a line may reach into the next one, in heights of its letters."""
_MOST_SMALL = 0.5
"""Share of words with a small letter at the beginning, in lists of names and places of work."""
_SENTENCE_ENDS = re.compile(r"[a-z)]\.(?=\s|$)")
_FOOTNOTE_MARKS = re.compile(r"(?<![\s,*∗†‡§¶⋆★☆♯])[\s,]*[*∗†‡§¶⋆★☆♯][\s,*∗†‡§¶⋆★☆♯]*+$")
_MOST_BESIDE = 3
"""Groups of small print beside a title that may come between its lines in reading order."""
_TOUCHING, _SPACED = 0.75, 1.3
"""White space between two lines of one title, at most: in heights of a line, and compared with
lines of the body."""
_PRODUCED = re.compile(
    r"microsoft\s+(?:word|powerpoint|excel)\b|untitled|\.(?:docx?|pdf|tex|dvi|indd|qxd|pptx?|xlsx?|html?|rtf)\b|"
    r"^arxiv:|^(?:title|document\d*|slide \d+|print|layout)\b",
    re.IGNORECASE,
)


def with_titles_joined(groups: Sequence[LineGroup], body: BodyStyle) -> list[LineGroup]:
    """The groups of a page, with the lines of one large text joined into one group."""
    joined: list[LineGroup] = []
    for group in groups:
        before = range(len(joined) - 1, max(-1, len(joined) - 2 - _MOST_BESIDE), -1)
        above = next((at for at in before if _share_a_column(joined[at], group)), None)
        if above is not None and _goes_on(joined[above], group, body):
            joined[above] = replace(joined[above], lines=(*joined[above].lines, *group.lines))
        else:
            joined.append(group)
    return joined


def _share_a_column(above: LineGroup, group: LineGroup) -> bool:
    last, first = above.lines[-1], group.lines[0]
    return min(last.right, first.right) > max(last.left, first.left)


def _goes_on(above: LineGroup, group: LineGroup, body: BodyStyle) -> bool:
    """Whether a group is the next part of the title that begins in the group above it.

    Both are large, close to each other, and no heading of a section. After a colon that is enough;
    else both have the same style.
    """
    if not above.is_prose or group.kind is not GroupKind.TEXT or above.is_aside or group.is_aside:
        return False
    last, first = above.lines[-1], group.lines[0]
    touching = max(_TOUCHING, _SPACED * body.gap) * min(last.height, first.height)
    if last.frame != first.frame or abs(first.top - last.bottom) > touching:
        return False
    texts = (above.plain_text, group.plain_text)
    is_large = min(above.size, group.size) >= LARGER * body.size
    if not is_large or heading_number(texts[1]) or any(map(is_plain_section_name, texts)):
        return False
    if texts[0].rstrip().endswith(":"):  # a subtitle may have a style of its own
        return True
    style, other = HeadingStyle.of(above), HeadingStyle.of(group)
    # several words in capitals below small letters are something else, such as the authors
    turns_to_capitals = not style.is_caps and other.is_caps and len(texts[1].split()) > 1
    is_one_font = style.font == other.font or not (style.font and other.font)  # unknown: the same
    weights = above.bold, group.bold
    is_one_weight = style.is_bold == other.is_bold or max(weights) - min(weights) <= MOST
    return (
        style.size == other.size
        and not turns_to_capitals
        and is_one_font
        and is_one_weight
        and style.is_italic == other.is_italic
    )


@dataclass(frozen=True)
class TitleReader:
    """Finds the title among the groups of a first page.

    A large text may also be the name of a journal, a section or a company, so a title counts only
    if something else confirms it: the metadata, or what is below a title (authors, an abstract, the
    text)."""

    body: BodyStyle
    text: str
    """All text but the running heads and feet."""
    metadata: str = ""

    def title_in(self, page: Sequence[LineGroup]) -> LineGroup | None:
        """The group that is most likely the title; None if no group may be one. `text_of` decides
        whether it is sure."""
        large = self._large(page)
        candidates = [at for at in large if _n_words(page[at]) >= _MIN_WORDS]
        if not candidates:  # of the body's size: in bold or capitals, above everything else
            head = enumerate(takewhile(lambda group: not _opens_paper(group), page))
            standing_out = [
                at
                for at, group in head
                if _may_be_title(group)
                and stands_out(group, self.body)
                and _n_words(group) >= _MIN_WORDS
            ]
            candidates = standing_out[:1] or large

        def evidence(at: int) -> tuple[bool, bool, bool, bool, int, float]:
            """What makes group `at` the likely title, the most important first: the candidate with
            the greatest tuple wins. Between equals it is the larger one, then the higher one on the
            page."""
            group = page[at]
            return (
                self._is_confirmed(at, page),
                self._is_in_metadata(group),
                self.is_above_authors(at, page) and not self._lists_authors(group),
                len(names_in(group.plain_text, self._ordinary)) < 2,
                round(group.size),
                -group.top,
            )

        best = max(candidates, key=evidence, default=None)
        return None if best is None else page[best]

    def text_of(self, group: LineGroup | None, joined: str, page: Sequence[LineGroup]) -> str:
        """The title as a text; empty if nothing confirms it.

        It is `joined`, the lines of the group as one text, or the title in the file's metadata, if
        the page prints it and it has the same words or more, or if no group is like a title."""
        said, printed = sane_title(self.metadata), " ".join(map(_plain, page))
        is_said = len(said.split()) >= _MIN_WORDS_REPEATED and _holds(printed, said)
        if group is None or not _is_readable(joined):
            return said if is_said else ""
        at = page.index(group)
        right_below = " ".join(map(_plain, page[at + 1 : at + 1 + _NAMES_BELOW]))
        if is_said and _holds(right_below, said):  # what stands in larger letters is a notice
            return said
        if not self._is_confirmed(at, page):
            return ""
        shown = _FOOTNOTE_MARKS.sub("", joined) or joined
        return said if _holds(said, shown) and _holds(printed, said) else shown

    def company_on(self, page: Sequence[LineGroup]) -> str:
        """The name of the company or office that a page shows in large letters and the pages
        repeat; empty if there is none."""
        named = [page[at] for at in self._large(page) if self._is_repeated_as_name(page[at])]
        return max(named, key=lambda group: group.size).plain_text if named else ""

    def band_below(self, title: LineGroup | None, page: Sequence[LineGroup]) -> tuple[float, float]:
        """The heights between the end of a title and the beginning of the abstract, or of the text,
        in points; both are 0 without a title."""
        if title is None:
            return 0.0, 0.0
        below = [group for group in page if group.top >= title.bottom - _OVERLAP * title.size]
        ends = [group.top for group in below if group is not title and self._begins_text(group)]
        return title.bottom - _OVERLAP * title.size, min(ends, default=title.lines[0].frame.height)

    def _begins_text(self, group: LineGroup) -> bool:
        """Whether the abstract, the first section or prose begins with a group. In prose more than
        half of the words begin with a small letter, unlike in a list of authors."""
        if _opens_paper(group) or starts_abstract(group.plain_text):
            return True
        words = [word for word in group.plain_text.split() if word[0].isalpha()]
        n_small = sum(word[0].islower() for word in words)
        is_text = len(group.lines) >= _LINES_OF_TEXT and is_prose(group, self.body)
        return is_text and n_small > _MOST_SMALL * len(words)

    @cached_property
    def _ordinary(self) -> Set[str]:
        return ordinary_words(self.text)

    def _large(self, page: Sequence[LineGroup]) -> list[int]:
        return [
            at
            for at, group in enumerate(page)
            if _may_be_title(group) and group.size >= LARGER * self.body.size
        ]

    def _lists_authors(self, group: LineGroup) -> bool:
        texts = (group.plain_text, group.lines[0].text)  # where they work may follow
        return texts[1][:1].isalpha() and any(lists_names(text, self._ordinary) for text in texts)

    def _is_in_metadata(self, group: LineGroup) -> bool:
        is_long = len(group.plain_text.split()) >= _MIN_WORDS_REPEATED
        return is_long and _holds(self.metadata, group.plain_text)

    def is_above_authors(self, at: int, page: Sequence[LineGroup]) -> bool:
        """Whether authors in another style are listed below group `at`. A subtitle may be between
        them, but no other title."""
        large, style = self._large(page), HeadingStyle.of(page[at])
        for below in range(at + 1, min(at + 1 + _NAMES_BELOW, len(page))):
            if self._lists_authors(page[below]):
                return HeadingStyle.of(page[below]) != style
            if below in large and page[below].top - page[below - 1].bottom > page[at].size:
                return False
        return False

    def _is_confirmed(self, at: int, page: Sequence[LineGroup]) -> bool:
        """Whether something besides its style confirms that group `at` of the page is the title.

        The file's metadata or authors listed below it confirm any group. An abstract, a first
        section or prose below it confirm a group only if it does not read like a name of persons or
        of a company, and nothing on the page is larger."""
        group, below = page[at], page[at + 1 :]
        if self._is_in_metadata(group) or self.is_above_authors(at, page):
            return True
        if self._is_name(group):
            return False
        if any(round(page[other].size) > round(group.size) for other in self._large(page)):
            return False
        if any(_opens_paper(other) or starts_abstract(other.plain_text) for other in below):
            return True
        return any(
            len(other.lines) >= _LINES_OF_TEXT and is_prose(other, self.body)
            for other in below[:_TEXT_BELOW]
        )

    def _is_name(self, group: LineGroup) -> bool:
        """Whether a text reads like names of persons, or is the name of a company, which the pages
        repeat, never in small letters."""
        n_names = len(names_in(group.plain_text, self._ordinary))
        return n_names > 1 or self._is_repeated_as_name(group)

    def _is_repeated_as_name(self, group: LineGroup) -> bool:
        words = map(re.escape, group.plain_text.split())
        repeated = re.findall(r"\s+".join(words), self.text, re.IGNORECASE)
        return len(repeated) > _MOST_REPEATED and not any(map(str.islower, repeated))


def _n_words(group: LineGroup) -> int:
    """The number of words of two letters or more, without words that contain digits."""
    words = (word.strip(".,:;()") for word in group.plain_text.split())
    return sum(len(word) > 1 and not any(map(str.isdigit, word)) for word in words)


def _may_be_title(group: LineGroup) -> bool:
    """Whether a group may be a title by its place and form.

    A title is in the upper part of the page, is not too long, and is one sentence at most. A stamp
    such as "RETRACTED" is no title, nor is a heading such as "Abstract" or "1 Introduction"."""
    if group.is_aside or not group.is_prose or is_stamp(group.plain_text):
        return False
    if _opens_paper(group):
        return False
    words = [word for word in group.plain_text.split() if any(map(str.isalpha, word))]
    if len(_SENTENCE_ENDS.findall(group.plain_text)) > 1:
        return False
    is_high = group.top <= _TOP_SHARE * group.lines[0].frame.height
    return is_high and 1 <= len(words) <= _MAX_TITLE_WORDS


def _plain(group: LineGroup) -> str:
    return group.plain_text


def _is_readable(text: str) -> bool:
    """Whether a text has no symbols in it, and its brackets are in pairs. A font without a table of
    its letters leaves symbols in the place of some letters, and a footnote may leave a bracket."""
    has_symbols = any(unicodedata.category(character) == "So" for character in text)
    return not has_symbols and text.count("(") == text.count(")")


def _holds(text: str, part: str) -> bool:
    return bool(part) and letters_of(part) in letters_of(text)


def is_cover(
    page: Sequence[LineGroup], next_page: Sequence[LineGroup], reader: TitleReader
) -> bool:
    """Whether a first page only announces the paper that begins on the next page.

    The first page opens no paper. The next one repeats its title, above authors; or it has a title
    of several words above an abstract or a first section ("Contents" is none), and the first page
    shows no title or another one."""
    if any(_opens_paper(group) for group in page):
        return False
    opening = next((at for at, group in enumerate(next_page) if _opens_paper(group)), None)
    title, shown = reader.title_in(next_page[:opening]), reader.title_in(page)
    if title is None or _n_words(title) < _MIN_WORDS:
        return False
    if shown and letters_of(title.plain_text) == letters_of(shown.plain_text):
        return reader.is_above_authors(next_page.index(title), next_page)
    return opening is not None


def _opens_paper(group: LineGroup) -> bool:
    number = heading_number(group.plain_text)
    is_first = number is not None and number.values == (1,) and number.style != "letter"
    return len(group.lines) == 1 and (is_plain_section_name(group.plain_text) or is_first)


def sane_title(metadata: str) -> str:
    """A title from the file's metadata; empty if it is a file name, a text that a program wrote
    there, or too short or too long."""
    title = " ".join(metadata.split())
    words = [word for word in title.split() if sum(character.isalpha() for character in word) > 1]
    if len(words) < _MIN_WORDS or len(words) > _MAX_TITLE_WORDS or _PRODUCED.search(title):
        return ""
    return title
