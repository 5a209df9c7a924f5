"""The names that sections of papers have, for all formats, and the zone that each name states."""

import re

from rag_assets.domain import Zone
from rag_assets.text.heading_numbers import heading_number

_FRONT = re.compile(r"abstract|summary|highlights|keywords|key words|ccs concepts|acm ?reference format")
_REFERENCES = re.compile(
    r"references?(?: list| and notes| cited)?|reference list|list of references|notes and references|"
    r"(?:cited|selected) references|literature(?: cited| references)?|cited literature|bibliograph(?:y|ic references)|"
    r"works cited"
)
_CLOSING_MATTER = re.compile(
    r"acknowledge?ments?(?: and .{1,60})?|funding(?: (?:information|statement|sources?))?|"
    r"author(?:s'?|'s)? contributions?|contributors|(?:conflicts? of interests?|competing interests?|"
    r"declarations? of (?:competing )?interests?|disclosures)(?: statement)?|disclosure statement"
)
_STARTS_STATEMENT = re.compile(
    r"acknowledge?ments?|funding|financial (?:support|disclosure)|(?:author )?contributions?|"
    r"authors?['’]? contributions?|"
    r"(?:statements?|disclosures?|declarations?) (?:of|on) (?:conflict|competing|interest)|"
    r"declaration of (?:conflicting|competing)|(?:conflicts?|competing|declarations?) (?:of )?interests?|"
    r"(?:data|code|materials)(?:,? (?:and|&) \w+)? availability|availability (?:of|statement)|open practices|"
    r"transparency|action editor|orcid|ethic(?:s|al) (?:approval|statement)|"
    r"publisher['’]?s note|additional information|author information|consent for publication|about the author"
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
_LONE_CAPITAL = re.compile(r"^(?:[IVX] (?=[A-Z])|[A-Z] (?=(?i:append)))")
"""A number without a stop that only the name after it tells from a word."""
_SPACED_LETTERS = re.compile(r"(?:[^\W\d_] ){4,}[^\W\d_]")
_AROUND_NAMES = " .:■*_#"


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


def names_statement(title: str) -> bool:
    """Whether a heading behind the body opens a statement of authors or publisher; more may follow the name."""
    return _STARTS_STATEMENT.match(_bare(title)) is not None


def _bare(title: str) -> str:
    """The name without number, case, closing punctuation and the spaces of "R E F E R E N C E S"."""
    text = " ".join(title.split())
    number = heading_number(text)
    if number is not None and not number.label:
        text = number.title
    elif number is None:
        text = _LONE_CAPITAL.sub("", text)
    text = text.strip(_AROUND_NAMES)
    if _SPACED_LETTERS.fullmatch(text):
        text = text.replace(" ", "")
    return text.casefold()
