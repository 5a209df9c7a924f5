"""What the header of a TEI file states about the paper as a publication.

GROBID fills it from the printed page and makes mistakes: authors without a name, funders among the
authors, an empty date. What names nobody is left out here; whether the rest is right, only the
printed page can tell.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from lxml import etree

from rag_assets.core.domain import Person, Record
from rag_assets.parsing.formats.tei.elements import name_of
from rag_assets.parsing.formats.tei.text import InlineReader

_MAX_NAMES = 5_000
"""Some physics papers have thousands of authors."""
_MAX_CHARS = 300
"""A longer statement is not a name, a journal or a date."""
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_TYPES = {"j": "article-journal", "m": "chapter"}


def title_of(root: etree._Element) -> str:
    """The main title of the file's own description, else the title page's."""
    titles = [
        *root.iterfind(".//{*}teiHeader/{*}fileDesc/{*}titleStmt/{*}title"),
        *root.iter("{*}docTitle"),
    ]
    main = [title for title in titles if title.get("type") == "main"]
    return next((text for title in (*main, *titles) if (text := text_of(title))), "")


def record_of(root: etree._Element) -> Record:
    """The statements of the header. The date of a header without a description of the source is
    that of the file, not of the work, so it is left out."""
    header = root.find(".//{*}teiHeader")
    described = None if header is None else header.find("{*}fileDesc")
    if header is None or described is None:
        return Record(title=title_of(root) or None)
    source = described.find("{*}sourceDesc//{*}biblStruct")
    first = _first_in(source)
    levels = (
        []
        if source is None
        else [title.get("level") for title in source.iterfind("{*}monogr/{*}title")]
    )
    return Record(
        title=title_of(root) or None,
        authors=_authors(described, source),
        year=_year(described, source),
        venue=first("{*}monogr/{*}title"),
        volume=first(".//{*}biblScope[@unit='volume']"),
        issue=first(".//{*}biblScope[@unit='issue']"),
        pages=_pages(source),
        doi=first(".//{*}idno[@type='DOI']"),
        arxiv=first(".//{*}idno[@type='arXiv']"),
        pmid=first(".//{*}idno[@type='PMID']"),
        keywords=tuple(_stated(header.iterfind("{*}profileDesc/{*}textClass/{*}keywords/{*}term"))),
        language=next(
            (text.get(_LANGUAGE) for text in root.iter("{*}text") if text.get(_LANGUAGE)), None
        ),
        licence=next(
            (one.get("target") for one in described.iter("{*}licence") if one.get("target")), None
        ),
        type=next((_TYPES[level] for level in levels if level in _TYPES), None),
    )


def text_of(element: etree._Element) -> str:
    """The text on one line."""
    return " ".join(InlineReader().read(element).text.split())


def _first_in(place: etree._Element | None) -> Callable[[str], str | None]:
    return lambda path: None if place is None else next(_stated(place.iterfind(path)), None)


def _authors(described: etree._Element, source: etree._Element | None) -> tuple[Person, ...]:
    """From the description of the source, else from that of the file."""
    found: list[Person] = []
    if source is not None:
        found = _persons(source.iterfind("{*}analytic/{*}author"))
        found = found or _persons(source.iterfind("{*}monogr/{*}author"))
    return tuple(found or _persons(described.iterfind("{*}titleStmt/{*}author")))


def _persons(authors: Iterable[etree._Element]) -> list[Person]:
    found = (_person(author) for author in authors)
    return list({one.name: one for one in found if one and len(one.name) <= _MAX_CHARS}.values())[
        :_MAX_NAMES
    ]


def _person(author: etree._Element) -> Person | None:
    """The parts of a person's name, or the name of a collaboration; without them, the text of an
    author that holds nothing but a name. Other organisations are places of work and funders."""
    person = author.find(".//{*}persName")
    if person is None:
        if collaboration := next(_stated(author.iterfind("{*}orgName[@type='collaboration']")), ""):
            return Person(collaboration)
        text = "" if len(author) else text_of(author)
        return Person(text) if text else None
    given = [text_of(part) for part in person if name_of(part) == "forename"]
    family = " ".join(text_of(part) for part in person if name_of(part) == "surname")
    if not family:
        text = " ".join(filter(None, given)) or text_of(person)
        return Person(text) if text else None
    return Person(
        family,
        " ".join(filter(None, given)),
        orcid=next(_stated(author.iterfind("{*}idno[@type='ORCID']")), None),
        affiliation=next(
            _stated(author.iterfind("{*}affiliation/{*}orgName[@type='institution']")), None
        ),
    )


def _year(described: etree._Element, source: etree._Element | None) -> int | None:
    if source is None:
        return None
    dates = (
        *source.iterfind("{*}monogr/{*}imprint/{*}date"),
        *described.iterfind("{*}publicationStmt/{*}date"),
    )
    found = (_YEAR.search(date.get("when") or text_of(date)) for date in dates)
    return next((int(year[0]) for year in found if year), None)


def _pages(source: etree._Element | None) -> str | None:
    if source is None:
        return None
    for scope in source.iterfind(".//{*}biblScope[@unit='page']"):
        first, last = scope.get("from") or text_of(scope), scope.get("to")
        if first:
            return f"{first}-{last}" if last and last != first else first
    return None


def _stated(elements: Iterable[etree._Element]) -> Iterator[str]:
    """The texts that are neither empty nor too long to be a statement."""
    return (text for element in elements if 0 < len(text := text_of(element)) <= _MAX_CHARS)
