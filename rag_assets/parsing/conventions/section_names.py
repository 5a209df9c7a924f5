"""The names that sections of papers have, and the zone each name states, whatever the heading looks like.

How deep a heading stands, and which lines are headings at all, is `section_headings`' matter and, for PDF, that of
`pdf.headings`.
"""

import re

from rag_assets.model import Zone

_FRONT = re.compile(r"abstract|summary|highlights|keywords|key words|ccs concepts|acm ?reference format")
_REFERENCES = re.compile(
    r"references?(?: list| and notes)?|reference list|literature(?: cited)?|bibliography|works cited"
)
_CLOSING_MATTER = re.compile(
    r"acknowledge?ments?(?: and .{1,60})?|funding(?: (?:information|statement|sources?))?|"
    r"author(?:s'?|'s)? contributions?|contributors|(?:conflicts? of interests?|competing interests?|"
    r"declarations? of (?:competing )?interests?|disclosures)(?: statement)?|disclosure statement"
)
_STARTS_ANNEX = re.compile(r"(?:appendix|appendices|annex|supplement(?:ary|al)?\b|supporting information)")
_ANNEX = re.compile(
    r"appendix|appendices|annex|supplement|supplement(?:ary|al) (?:materials?|information)|supporting information"
)
_MAIN = re.compile(
    r"introduction|background|related works?|literature review|"
    r"(?:materials?|patients|subjects|participants) and methods?|methods?(?: and materials?)?|methodology|"
    r"experiments?|results?(?: and discussion)?|findings|discussions?|"
    r"(?:discussion and )?conclusions?(?: and (?:future work|outlook))?|concluding remarks|limitations|future work"
)
_NUMBER = re.compile(r"^(?:\d{1,2}(?:\.\d{1,2})*|[IVX]{1,4})[.)]?\s+")
_AROUND_NAMES = " .:■*"


def zone_named(title: str) -> Zone | None:
    """The zone that a section's name states: references are back matter, an abstract is front matter."""
    bare = _bare(title)
    if _REFERENCES.fullmatch(bare) or _CLOSING_MATTER.fullmatch(bare):
        return Zone.BACK
    if _FRONT.fullmatch(bare):
        return Zone.FRONT
    return Zone.ANNEX if _STARTS_ANNEX.match(bare) else None


def is_section_name(title: str) -> bool:
    """Whether a heading is one that papers use for their main sections (Methods, References, Appendix B: Proofs)."""
    return is_plain_section_name(title) or zone_named(title) is not None


def is_plain_section_name(line: str) -> bool:
    """As `is_section_name`, but the line must hold the name and no more: lines of prose can start with one too."""
    bare = _bare(line)
    return any(names.fullmatch(bare) for names in (_MAIN, _FRONT, _REFERENCES, _CLOSING_MATTER, _ANNEX))


def names_references(title: str) -> bool:
    """Whether a heading opens the reference list."""
    return _REFERENCES.fullmatch(_bare(title)) is not None


def names_closing_matter(title: str) -> bool:
    """Whether a heading opens acknowledgements, funding, contributions or interests."""
    return _CLOSING_MATTER.fullmatch(_bare(title)) is not None


def _bare(title: str) -> str:
    """The name without number, case and closing punctuation."""
    return " ".join(_NUMBER.sub("", title.strip()).casefold().split()).strip(_AROUND_NAMES)
