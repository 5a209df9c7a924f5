"""The entries of a paper's reference list, taken apart from its back matter."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rag_assets.core.domain import Block, BlockKind, Zone
from rag_assets.core.text.identifiers import dois_in, without_dois

_YEAR = re.compile(r"(?<![\d:/.-])(?:1[6-9]|20)\d\d(?P<letter>[a-z])?(?![\d-])")
_NUMBER = re.compile(r"\[(\d{1,3})\][.:]?\s|(?:^|(?<=\s))(\d{1,3})\.\s", re.MULTILINE)
_BULLET = re.compile(r"^[-–•*]\s+")
_TEXT = (BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.FOOTNOTE)
_MOST_LOST = 3
"""Numbers that may be missing in a row."""
_MAX_CHARS = 2_000
"""A longer entry is a list whose entries could not be told apart."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One entry of a reference list."""

    number: int
    """The printed number, else the place in the list, from 1."""
    text: str
    """The entry as printed, without its number."""
    page: int | None = None

    @property
    def years(self) -> tuple[str, ...]:
        """Its years of four digits, with the letter that tells two works of one year apart
        ("2019b")."""
        return tuple(match[0] for match in _YEAR.finditer(without_dois(self.text)))

    @property
    def doi(self) -> str | None:
        """The first it states."""
        return next(iter(dois_in(self.text)), None)


def references_of(blocks: Iterable[Block]) -> list[Reference]:
    """blocks: those of a paper, in order. Entries of one numbered list are cut at its numbers,
    since a block may hold half an entry or several; an unnumbered list has one a line; where it is
    in pieces, one without a year goes on with the one before."""
    back = [block for block in blocks if block.zone is Zone.BACK and block.kind in _TEXT]
    lines = [
        (line, block.page_start)
        for block in back
        for line in block.text.split("\n")
        if line.strip()
    ]
    is_one_list = len(back) == 1 and back[0].kind is BlockKind.LIST
    entries = _numbered(lines) or list(_one_a_line(lines, is_whole=is_one_list))
    return [entry for entry in entries if len(entry.text) <= _MAX_CHARS]


def _numbered(lines: Sequence[tuple[str, int | None]]) -> list[Reference]:
    """Empty unless the list begins with its first number. The next number may stand anywhere; one
    behind a gap, which a lost entry leaves, begins a line."""
    text = "\n".join(line for line, _ in lines)
    starts: list[tuple[int, re.Match[str]]] = []
    for match in _NUMBER.finditer(text):
        number, last = int(match[1] or match[2]), starts[-1][0] if starts else 0
        is_line = text[match.start() - 1 : match.start()] in ("", "\n")
        is_next = number == last + 1 or (is_line and last < number <= last + 1 + _MOST_LOST)
        if is_next and (not starts or bool(match[1]) == bool(starts[0][1][1])):
            starts.append((number, match))
    if len(starts) < 2 or starts[0][0] != 1 or starts[0][1].start() > 0:
        return []
    pages: list[int | None] = [page for line, page in lines for _ in range(len(line) + 1)]
    ends = [*(match.start() for _, match in starts[1:]), len(text)]
    return [
        Reference(number, " ".join(text[match.end() : end].split()), pages[match.start()])
        for (number, match), end in zip(starts, ends, strict=True)
    ]


def _one_a_line(lines: Iterable[tuple[str, int | None]], *, is_whole: bool) -> Iterator[Reference]:
    parts: list[tuple[list[str], int | None]] = []
    for line, page in lines:
        if parts and not is_whole and _YEAR.search(line) is None:
            parts[-1][0].append(line)
        else:
            parts.append(([line], page))
    for number, (texts, page) in enumerate(parts, start=1):
        yield Reference(number, _BULLET.sub("", " ".join(" ".join(texts).split())), page)
