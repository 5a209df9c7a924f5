"""TEI files: GROBID's full texts and training files, and TEI written by people.

`structure` reads the tree into blocks, `paging` gives them pages and their place in the reading
order. The abstract is FRONT, the body BODY, appendices ANNEX, acknowledgements and the like
STATEMENTS, the reference list BACK. A heading reads as printed ("3.1 Methods") and is the last
title of its section path. A figure's text is its caption; a table's caption is its title.

GROBID fills the header from the printed page and makes mistakes: authors without a name, funders
among the authors, an empty date. What names nobody is left out; whether the rest is right, only the
printed page can tell.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from lxml import etree

from rag_assets.core.domain import (
    Block,
    BlockKind,
    Document,
    Person,
    Record,
    SourceFormat,
    Span,
    Zone,
    n_text_chars,
)
from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.formats.tei.coords import areas_of
from rag_assets.parsing.formats.tei.elements import (
    CHOICES,
    REFERENCES,
    SECTIONS,
    heading_of,
    is_unread,
    name_of,
    reading_of,
    zone_in_back,
    zone_of,
)
from rag_assets.parsing.formats.tei.paging import with_pages
from rag_assets.parsing.formats.tei.sniffing import TEI_ROOTS
from rag_assets.parsing.formats.tei.structure import collect
from rag_assets.parsing.formats.tei.text import Collected, InlineReader
from rag_assets.parsing.shared.files import RawFile
from rag_assets.parsing.shared.xml_trees import XmlTree, entity_text, read_xml

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


_HEADING = "References"


def reference_list(root: etree._Element) -> Block | None:
    """All entries of the file's reference lists in order, one a line; None without any. Lists
    inside the header are those of the paper itself and are left out."""
    lines, spans, length = [], [], 0
    for entry in _entries(root):
        line = _raw(entry) or (
            _assembled(entry) if name_of(entry) == "biblStruct" else _text(entry)
        )
        if not line:
            continue
        page = next((area.page for area in areas_of(entry)), None)
        spans.append(Span(length, length + len(line) + 1, page, page))
        lines.append(line)
        length += len(line) + 1
    if not lines:
        return None
    text = "\n".join(lines)
    spans[-1] = Span(spans[-1].start, len(text), spans[-1].page_start, spans[-1].page_end)
    return Block(BlockKind.LIST, text, (_HEADING,), Zone.BACK, spans=tuple(spans))


def _entries(root: etree._Element) -> Iterator[etree._Element]:
    for found in root.iter("{*}listBibl", "{*}listbibl", "{*}listBiblio"):
        above = {name_of(parent) for parent in found.iterancestors()}
        if not above & {*REFERENCES, "teiHeader"}:
            yield from found.iter("{*}biblStruct", "{*}bibl")


def _raw(entry: etree._Element) -> str:
    """The printed words, where GROBID kept them."""
    note = entry.find("{*}note[@type='raw_reference']")
    return "" if note is None else _text(note)


def _assembled(entry: etree._Element) -> str:
    """The parts of an entry in the order of print: authors (year). Title. Venue, volume (issue),
    pages. DOI."""
    authors = ", ".join(
        filter(None, (_person_of_entry(author) for author in entry.iterfind(".//{*}author")))
    )
    dates = (date.get("when") or _text(date) for date in entry.iterfind(".//{*}imprint/{*}date"))
    year = next(filter(None, dates), "")
    titles = [_text(title) for title in entry.iterfind(".//{*}title")]
    scopes = {scope.get("unit"): _scope(scope) for scope in entry.iterfind(".//{*}biblScope")}
    issue = f"({scopes['issue']})" if scopes.get("issue") else ""
    places = [
        f"{scopes.get('volume') or ''}{issue}",
        scopes.get("page") or "",
        _first(entry, ".//{*}publisher"),
    ]
    identifiers = [f"doi:{_text(found)}" for found in entry.iterfind(".//{*}idno[@type='DOI']")]
    identifiers += [
        f"arXiv:{_text(found).removeprefix('arXiv:')}"
        for found in entry.iterfind(".//{*}idno[@type='arXiv']")
    ]
    parts = [
        " ".join(filter(None, (authors, year and f"({year[:4]})"))),
        *titles,
        ", ".join(filter(None, places)),
        *identifiers,
    ]
    return ". ".join(part.rstrip(".") for part in parts if part)


def _person_of_entry(author: etree._Element) -> str:
    """Family name and initials, "Zobel J"; without a surname the words of the author."""
    family = " ".join(_text(part) for part in author.iterfind(".//{*}surname"))
    initials = "".join(_text(part)[:1] for part in author.iterfind(".//{*}forename"))
    return f"{family} {initials}".strip() if family else _text(author)


def _scope(scope: etree._Element) -> str:
    return _text(scope) or "–".join(filter(None, (scope.get("from"), scope.get("to"))))


def _first(entry: etree._Element, path: str) -> str:
    found = entry.find(path)
    return "" if found is None else _text(found)


def _text(element: etree._Element) -> str:
    return " ".join(InlineReader().read(element).text.split())


def parse_tei(file: RawFile, settings: ParsingSettings) -> Document:
    """Read a TEI file into a Document.

    `n_pages` counts the facsimile's surfaces or the page breaks (text before the first break is a
    page of its own if there is a paragraph of it, since a break marks the start of a page); without
    either it is the largest page that coordinates prove. Page labels are the breaks' `@n`.

    Raises UnreadableDocument when the file is not XML, not TEI or without text, DocumentLimit when
    it passes a limit.
    """
    limits = settings.limits
    tree = read_xml(file.content)
    collected = _collected(tree)
    paging = with_pages(tree.root, collected)
    if not paging.blocks:
        raise UnreadableDocument(
            "is TEI without text: no abstract, no body, no annex. "
            + "".join(f"{note} " for note in tree.notes)
            + "Make it again from its PDF, or remove it."
        )
    if paging.n_pages is not None and paging.n_pages > limits.max_pages:
        raise DocumentLimit(
            f"has {paging.n_pages} pages, more than parsing.limits.max_pages = {limits.max_pages}. "
            "Split the file or raise the limit."
        )
    return Document(
        paper_id=file.paper_id,
        title=title_of(tree.root),
        source=SourceFormat.TEI,
        file_path=file.path,
        blocks=tuple(block for block in (*paging.blocks, reference_list(tree.root)) if block),
        header=record_of(tree.root),
        n_pages=paging.n_pages,
        page_source=paging.page_source,
        page_labels=paging.page_labels,
        n_source_chars=_n_text_chars(tree.root),
        n_dropped_running=collected.n_running,
        notes=tree.notes,
    )


def _collected(tree: XmlTree) -> Collected:
    name = name_of(tree.root)
    if name not in TEI_ROOTS:
        raise UnreadableDocument(
            f"is XML with the root element <{name}>, not TEI. Convert it to TEI, or remove it."
        )
    return collect(tree.root)


def _n_text_chars(root: etree._Element) -> int:
    """Characters of abstract, front, body, annexes and statements.

    Left out are the reference list, running headers, deleted text and further readings of a
    `choice`. Labels and captions that GROBID writes twice count twice, numbers in attributes do not
    count: the blocks of a file that loses nothing hold between 0.95 and 1.1 times this number.
    """
    parts: list[str] = []
    for abstract in root.iterfind(".//{*}profileDesc/{*}abstract"):
        _gather(abstract, Zone.FRONT, parts)
    for text in root.iter("{*}text"):
        if not any(name_of(above) == "text" for above in text.iterancestors()):
            _gather(text, Zone.BODY, parts)
    return n_text_chars("".join(parts))


def _gather(element: etree._Element, zone: Zone, parts: list[str]) -> None:
    if zone is Zone.BACK:
        return
    parts.append(element.text or "")
    for child in element:
        name = name_of(child)
        if isinstance(child, etree._Entity):
            parts.append(entity_text(child))
        elif name in CHOICES:
            reading = reading_of(child)
            if reading is not None:
                _gather(reading, zone, parts)
        elif name and not is_unread(child, name):
            _gather(child, _zone_of_child(element, child, name, zone), parts)
        parts.append(child.tail or "")


def _zone_of_child(parent: etree._Element, child: etree._Element, name: str, zone: Zone) -> Zone:
    if not name.startswith(SECTIONS):
        return zone
    heading = heading_of(child)
    return (
        zone_in_back(child, heading) if name_of(parent) == "back" else zone_of(child, zone, heading)
    )
