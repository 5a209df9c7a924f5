"""The title page of a paper, as the TEI header states it: who wrote it, where and when it appeared.

Headers are metadata and stand on no page that is known: GROBID may have completed them from a catalogue.
"""

from collections.abc import Iterable, Iterator

from lxml import etree

from rag_assets.core.domain import TITLE_PAGE_HEADING, Block, BlockKind, Span, Zone
from rag_assets.parsing.formats.tei.elements import name_of

_MAX_NAMES = 100
"""Of the thousands of authors that some physics papers have."""
_MAX_CHARS = 300
"""Of one statement; a longer one is not a name, a journal or a date."""


def title_page(root: etree._Element, title: str) -> Block | None:
    """A list with one statement per line; None for a header that names no author."""
    header = root.find(".//{*}teiHeader/{*}fileDesc")
    if header is None:
        return None
    source = header.find("{*}sourceDesc//{*}biblStruct")
    authors = _authors(header, source)
    if not authors:
        return None
    statements = {
        "Title": [title],
        "Authors": authors,
        "Affiliations": _affiliations(header, source),
        "Published in": _texts(source, "{*}monogr/{*}title"),
        "Publication date": _dates(header, source),
        "DOI": _texts(source, ".//{*}idno[@type='DOI']"),
    }
    text = "\n".join(f"{label}: {'; '.join(values)}" for label, values in statements.items() if any(values))
    return Block(BlockKind.LIST, text, (TITLE_PAGE_HEADING,), Zone.TITLE_PAGE, spans=(Span(0, len(text), None, None),))


def _authors(header: etree._Element, source: etree._Element | None) -> list[str]:
    """Names as "forename surname", from the description of the source, else from that of the file."""
    found: list[str] = []
    if source is not None:
        found = _distinct(map(_name, source.iterfind("{*}analytic/{*}author")))
        found = found or _distinct(map(_name, source.iterfind("{*}monogr/{*}author")))
    return found or _distinct(map(_name, header.iterfind("{*}titleStmt/{*}author")))


def _name(author: etree._Element) -> str:
    """The parts of a person's name; without them, the text of an author that holds nothing but a name."""
    person = author.find(".//{*}persName")
    if person is None:
        return "" if len(author) else _text(author)
    given = [_text(part) for part in person if name_of(part) == "forename"]
    family = [_text(part) for part in person if name_of(part) == "surname"]
    return " ".join(part for part in (*given, *family) if part) or _text(person)


def _affiliations(header: etree._Element, source: etree._Element | None) -> list[str]:
    """Institutions of the authors, else what their affiliation says."""
    place = header if source is None else source
    found = list(_institutions(place))
    return _distinct(found or (_text(one) for one in header.iterfind("{*}titleStmt/{*}author/{*}affiliation")))


def _institutions(place: etree._Element) -> Iterator[str]:
    for affiliation in place.iterfind(".//{*}author/{*}affiliation"):
        yield from (_text(name) for name in affiliation.iterfind("{*}orgName[@type='institution']"))


def _dates(header: etree._Element, source: etree._Element | None) -> list[str]:
    """The publication date: as a date in ISO 8601 where the header has one, else in its words.

    Without a description of the source, the header's date is that of the electronic file, not of the work.
    """
    if source is None:
        return []
    dates = (*source.iterfind("{*}monogr/{*}imprint/{*}date"), *header.iterfind("{*}publicationStmt/{*}date"))
    return _distinct(" ".join((date.get("when") or _text(date)).split()) for date in dates)[:1]


def _texts(place: etree._Element | None, path: str) -> list[str]:
    return [] if place is None else _distinct(_text(element) for element in place.iterfind(path))[:1]


def _text(element: etree._Element) -> str:
    return " ".join("".join(str(part) for part in element.itertext()).split())


def _distinct(texts: Iterable[str]) -> list[str]:
    """Each once, in order; neither empty ones nor ones too long to be a statement."""
    return list(dict.fromkeys(text for text in texts if 0 < len(text) <= _MAX_CHARS))[:_MAX_NAMES]
