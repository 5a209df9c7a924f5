"""Sections of a PDF: how deep each heading is, and what is abstract, body, reference list or
appendix.

A heading is ranked by its number, by the file's outline, and by its style. Its level is one more
than the number of open headings above it with a smaller rank, so that headings of one form are
siblings.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rag_assets.core.domain import Zone
from rag_assets.core.text.headings import (
    HeadingNumber,
    NumberStyle,
    heading_number,
    is_plain_section_name,
    names_closing_matter,
    names_references,
    names_statement,
    zone_named,
)
from rag_assets.core.text.works import looks_like_reference
from rag_assets.parsing.formats.pdf.blocks import HeadingStyle, LineGroup
from rag_assets.parsing.formats.pdf.file import Outline

MAX_LEVEL = 6
_NAMED_RANKS = (
    (re.compile(r"(?:part|chapter)\s+(?:[ivx]+|\d+)\b", re.IGNORECASE), 1),
    (re.compile(r"appendix\b|annex\b", re.IGNORECASE), 1),
    (re.compile(r"item\s+\d+[a-z]?\b", re.IGNORECASE), 2),
)
_CLOSER = re.compile(r"[^\W_]+([.):]?)")
_MAIN_SHARE, _FEWEST_MAIN = 0.5, 2
_PAGES_AFTER_THE_TITLE = 1
_BESIDE_BODY = (Zone.BACK, Zone.STATEMENTS, Zone.ANNEX)


def levels_of(headings: Sequence[LineGroup], entries: Outline) -> list[int]:
    """The level of each heading, 1 for main sections."""
    styles = [HeadingStyle.of(heading) for heading in headings]
    ranks = _ranks(headings, styles, entries)
    levels: list[int] = []
    open_ranks: list[int] = []
    for rank in ranks:
        open_ranks = [*(above for above in open_ranks if above < rank), rank]
        levels.append(min(len(open_ranks), MAX_LEVEL))
    return levels


def _ranks(
    headings: Sequence[LineGroup], styles: Sequence[HeadingStyle], entries: Outline
) -> list[int]:
    """The rank of each heading, 1 for the highest.

    It is the rank that its number or the file's outline states; else the one that most headings in
    the same style have; else one below all styles that stand out more. A style that occurs once
    puts no other style below it."""
    texts = [heading.plain_text.strip() for heading in headings]
    zones = list(map(zone_named, texts))
    is_main = [
        is_plain_section_name(text) and zone is None
        for text, zone in zip(texts, zones, strict=True)
    ]
    named = [(style, text) for style, text, own in zip(styles, texts, is_main, strict=True) if own]
    stated = _stated(headings, entries)
    main = max((style for style, _ in named), key=lambda style: style.weight, default=None)
    votes: dict[HeadingStyle, Counter[int]] = defaultdict(Counter)
    for style, rank in zip(styles, stated, strict=True):
        if rank:
            votes[style][rank] += 1
    settled = {style: ranks.most_common(1)[0][0] for style, ranks in votes.items()}
    n_times = Counter(styles)
    n_others = Counter(style for style, zone in zip(styles, zones, strict=True) if zone is None)
    n_main = Counter(
        style
        for style, text, own in zip(styles, texts, is_main, strict=True)
        if own and texts.count(text) == 1  # several studies have methods and results each
    )
    for style, n in n_main.items():
        if style == main or (n >= _FEWEST_MAIN and n > _MAIN_SHARE * n_others[style]):
            settled.setdefault(style, 1)
    # Styles that have no rank yet, the strongest first: one below those before them.
    deepest = 0
    ordered = sorted(set(styles), key=lambda style: style.weight, reverse=True)
    for _, equal in groupby(ordered, key=lambda style: style.weight):
        alike = list(equal)
        known = [settled[style] for style in alike if style in settled]
        own = max(known, default=deepest + 1)
        if known or any(n_times[style] > 1 for style in alike):
            deepest = max(deepest, own)
        settled |= {style: own for style in alike if style not in settled}
    last_front = headings[0].page + _PAGES_AFTER_THE_TITLE if headings else 0
    # References, statements, annexes and an abstract on the first pages are main sections in any
    # style.
    is_apart = [
        zone in _BESIDE_BODY
        or (zone is Zone.FRONT and heading.page <= last_front)
        or (names_statement(text) and 2 * at > len(headings))
        for at, (zone, heading, text) in enumerate(zip(zones, headings, texts, strict=True))
    ]
    return [
        rank or (1 if apart else settled[style])
        for style, rank, apart in zip(styles, stated, is_apart, strict=True)
    ]


Form = tuple[NumberStyle, str]
"""How a number is written, and what stands behind it."""


def number_form(text: str) -> Form | None:
    """The kind of the number before a heading, and the sign after it: "IV. Results" -> ("roman",
    "."). None without a number, for several parts ("2.1") and for a label ("Appendix A")."""
    number = heading_number(text)
    if number is None or number.label or len(number.parts) > 1:
        return None
    return number.style, _closer(text)


def _closer(text: str) -> str:
    match = _CLOSER.match(text.strip())
    return match[1] if match else ""


@dataclass(frozen=True)
class _OpenNumber:
    """A numbered heading that the next one may go on from."""

    number: HeadingNumber
    form: Form
    rank: int


def _stated(
    headings: Sequence[LineGroup],
    entries: Outline,
) -> list[int | None]:
    """The rank that each heading states; None if it states none.

    A name as in "Chapter 2" counts first, then the number, then the depth in the file's outline, if
    the outline has more than one depth."""
    depths = [entries.depth(heading.plain_text, heading.page) for heading in headings]
    known = {depth for depth in depths if depth}
    stated: list[int | None] = []
    numbers = _Numbers()
    for heading, depth in zip(headings, depths, strict=True):
        text = heading.plain_text.strip()
        named = next((rank for pattern, rank in _NAMED_RANKS if pattern.match(text)), None)
        nested = depth - min(known) + 1 if depth and len(known) > 1 else None
        stated.append(named or numbers.rank(text) or nested)
    return stated


class _Numbers:
    """The numbered headings that are open while headings are read in order.

    A number in a new form ("IV.", "A.", "1)") gets a rank below the last open heading."""

    def __init__(self) -> None:
        self._open: list[_OpenNumber] = []

    def rank(self, text: str) -> int | None:
        """The rank of a heading by its number, 1 for the highest; None if it has no number, or a
        label as in "Appendix A".

        The heading becomes an open one, so headings must be given in reading order, each once. A
        number of several parts gets one rank per part: "2.1" is one below "2". A number of one part
        gets the rank of the open heading whose number has the same form, or else one below the last
        open one."""
        number = heading_number(text)
        if zone_named(text) in _BESIDE_BODY:
            self._open = []  # an appendix counts anew
        if number is None or number.label:
            return None
        number = self._as_letter(number)
        form = (number.style, _closer(text))
        if len(number.parts) > 1:
            # If the open "2" has rank 2 (below main sections without numbers), "2.1" gets rank 3.
            base = next((one for one in self._open if one.number.style == number.style), None)
            rank = len(number.parts) + (base.rank - len(base.number.parts) if base else 0)
        else:
            alike = [
                one.rank for one in self._open if one.form == form and len(one.number.parts) == 1
            ]
            rank = alike[-1] if alike else self._open[-1].rank + 1 if self._open else 1
        self._open = [one for one in self._open if one.rank < rank]
        self._open.append(_OpenNumber(number, form, rank))
        return rank

    def _as_letter(self, number: HeadingNumber) -> HeadingNumber:
        """The number, read as a letter if an open heading has the letter before it: "I." after "H."
        is not the Roman 1."""
        if number.style != "roman" or len(number.parts[0]) > 1:
            return number
        letter = replace(number, style="letter")
        is_next = any(
            one.number.style == "letter" and one.number.values[0] + 1 == letter.values[0]
            for one in self._open
        )
        return letter if is_next else number


_ABSTRACT = re.compile(r"(?:abstract|summary)[.:]?", re.IGNORECASE)
_ABSTRACT_RUN_IN = re.compile(r"abstract\s*[—–:.-]|abstract\s+(?=[A-Z])|ABSTRACT\b", re.IGNORECASE)
_STILL_FRONT = re.compile(
    r"(?:key\s?words?|index terms|ccs concepts|acm reference format|highlights|article info|a r t i c l e.*|"
    r"a b s t r a c t|abstract|author summary|plain language summary|graphical abstract)\b.*",
    re.IGNORECASE,
)
_CLOSING = (Zone.STATEMENTS, Zone.BACK)
_MIN_REFERENCES, _SHARE_OF_REFERENCES = 2, 0.5
_FRONT_PAGES = 3
_MAX_FRONT_CHARS = 6000


@dataclass(frozen=True, slots=True)
class ZoneEntry:
    """What the zones are decided from: one entry per block."""

    text: str
    page: int
    level: int
    """Level of a heading; 0 for everything else."""


def zones_of(entries: Sequence[ZoneEntry]) -> list[Zone]:
    """The zone of each block. A part is only front matter when an abstract or an introduction shows
    where it ends."""
    front_end = _front_end(entries)
    zones: list[Zone] = []
    tail = Zone.BODY
    for index, entry in enumerate(entries):
        if index < front_end:
            zones.append(Zone.FRONT)
            continue
        if entry.level:
            tail = _zone_after(entry, tail)
        zones.append(tail)
    return _with_references(entries, zones)


def _with_references(entries: Sequence[ZoneEntry], zones: Sequence[Zone]) -> list[Zone]:
    """The zones, with back matter where the last part of a paper is a row of references by their
    form.

    Their heading may be missing, or in another language. A heading directly above them belongs to
    them.
    """
    settled = list(zones)
    lines = [
        [] if entry.level else entry.text.split("\n") for entry in entries
    ]  # the items of a list
    found = [sum(map(looks_like_reference, texts)) for texts in lines]
    at = len(entries) // 3
    while at < len(entries):
        end = at
        while end < len(entries) and not entries[end].level:
            end += 1
        first = next((index for index in range(at, end) if found[index]), end)
        n_found = sum(found[first:end])
        if n_found >= _MIN_REFERENCES and n_found >= _SHARE_OF_REFERENCES * sum(
            map(len, lines[first:end])
        ):
            is_headed = first == at and at > 0 and entries[at - 1].level > 0
            settled[first - is_headed : end] = [Zone.BACK] * (end - first + is_headed)
        at = end + 1
    return settled


def _front_end(entries: Sequence[ZoneEntry]) -> int:
    """Index of the first block after the front matter; 0 when nothing shows where it ends."""
    abstract = next(
        (
            index
            for index, entry in enumerate(entries)
            if entry.page <= _FRONT_PAGES
            if (
                _ABSTRACT.fullmatch(entry.text.strip())
                if entry.level
                else _ABSTRACT_RUN_IN.match(entry.text)
            )
        ),
        None,
    )
    start = 0 if abstract is None else abstract + 1
    n_chars = 0
    for index in range(start, len(entries)):
        entry = entries[index]
        if entry.page > _FRONT_PAGES or n_chars > _MAX_FRONT_CHARS:
            break
        if entry.level and _ends_front(entry, has_abstract=abstract is not None):
            return index
        n_chars += len(entry.text)
    if abstract is None:
        return 0
    is_heading = entries[abstract].level > 0
    return min(abstract + 1 + is_heading, len(entries))  # the abstract and the blocks before it


def _ends_front(entry: ZoneEntry, *, has_abstract: bool) -> bool:
    text = entry.text.strip()
    number = heading_number(text)
    if (number.title if number else text).lower().startswith("introduction"):
        return True
    if not has_abstract or _STILL_FRONT.fullmatch(text):
        return False
    return number is not None or is_plain_section_name(text) or entry.level == 1


def _zone_after(entry: ZoneEntry, zone: Zone) -> Zone:
    """The zone that a heading opens, in the zone before it. Behind the reference list it opens an
    appendix, whatever its name; parts of the list itself are known by their form."""
    text = entry.text.strip()
    if zone_named(text) is Zone.ANNEX:
        return Zone.ANNEX
    if names_closing_matter(text):
        return Zone.STATEMENTS
    if names_references(text):
        return Zone.BACK
    if zone in _CLOSING and (number := heading_number(text)):
        return Zone.ANNEX if number.style == "letter" else Zone.BODY
    if zone in _CLOSING and is_plain_section_name(text):
        return Zone.BODY
    return Zone.ANNEX if zone is Zone.BACK else zone
