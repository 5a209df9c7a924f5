"""Zones of a PDF's blocks: what is abstract, body, reference list or appendix."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.core.domain import Zone
from rag_assets.core.text.citations import looks_like_reference
from rag_assets.core.text.headings import (
    heading_number,
    is_plain_section_name,
    names_closing_matter,
    names_references,
    zone_named,
)

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
