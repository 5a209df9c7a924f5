"""TEI files: GROBID's full texts and training files, and TEI written by people.

`structure` reads the tree into blocks, `paging` gives them pages and puts them into reading order.
The abstract is FRONT, the body BODY, appendices ANNEX, acknowledgements and similar sections
STATEMENTS, the reference list BACK. A heading has its text as printed ("3.1 Methods") and is the
last title of its section path. The text of a figure is its caption; the caption of a table is its
title.

GROBID fills the header from the printed page and makes mistakes: authors without a name, funders
among the authors, an empty date. Authors without a name are left out; the other mistakes cannot be
noticed here.
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
from rag_assets.parsing.formats.tei.elements import (
    CHOICES,
    REFERENCES,
    SECTIONS,
    TEI_ROOTS,
    areas_of,
    heading_of,
    is_unread,
    name_of,
    reading_of,
    zone_in_back,
    zone_of,
)
from rag_assets.parsing.formats.tei.paging import with_pages
from rag_assets.parsing.formats.tei.structure import collect
from rag_assets.parsing.formats.tei.text import (
    Collected,
    InlineReader,
    XmlTree,
    entity_text,
    read_xml,
)
from rag_assets.parsing.shared.files import RawFile

_MAX_NAMES = 5_000
"""Some physics papers have thousands of authors."""
_MAX_CHARS = 300
"""A longer text is not a name, a journal or a date."""
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_TYPES = {"j": "article-journal", "m": "chapter"}


def title_of(root: etree._Element) -> str:
    """The main title in the header; if there is none, any other title there, or that of the title
    page."""
    titles = [
        *root.iterfind(".//{*}teiHeader/{*}fileDesc/{*}titleStmt/{*}title"),
        *root.iter("{*}docTitle"),
    ]
    main = [title for title in titles if title.get("type") == "main"]
    return next((text for title in (*main, *titles) if (text := text_of(title))), "")


def record_of(root: etree._Element) -> Record:
    """The bibliographic data of the header. If the header does not describe the printed source, its
    date is that of the file, not of the paper, and is left out."""
    header = root.find(".//{*}teiHeader")
    file_description = None if header is None else header.find("{*}fileDesc")
    if header is None or file_description is None:
        return Record(title=title_of(root) or None)
    source = file_description.find("{*}sourceDesc//{*}biblStruct")
    first = _first_in(source)
    levels = (
        []
        if source is None
        else [title.get("level") for title in source.iterfind("{*}monogr/{*}title")]
    )
    return Record(
        title=title_of(root) or None,
        authors=_authors(file_description, source),
        year=_year(file_description, source),
        venue=first("{*}monogr/{*}title"),
        volume=first(".//{*}biblScope[@unit='volume']"),
        issue=first(".//{*}biblScope[@unit='issue']"),
        pages=_pages(source),
        doi=first(".//{*}idno[@type='DOI']"),
        arxiv=first(".//{*}idno[@type='arXiv']"),
        pmid=first(".//{*}idno[@type='PMID']"),
        keywords=tuple(
            _short_texts(header.iterfind("{*}profileDesc/{*}textClass/{*}keywords/{*}term"))
        ),
        language=next(
            (text.get(_LANGUAGE) for text in root.iter("{*}text") if text.get(_LANGUAGE)), None
        ),
        licence=next(
            filter(None, (each.get("target") for each in file_description.iter("{*}licence"))), None
        ),
        type=next((_TYPES[level] for level in levels if level in _TYPES), None),
    )


def text_of(element: etree._Element) -> str:
    """The text of an element on one line."""
    return " ".join(InlineReader().read(element).text.split())


def _first_in(element: etree._Element | None) -> Callable[[str], str | None]:
    """A function: path below `element` -> text of the first element there that has a short text;
    None without any."""
    return lambda path: (
        None if element is None else next(_short_texts(element.iterfind(path)), None)
    )


def _authors(file_description: etree._Element, source: etree._Element | None) -> tuple[Person, ...]:
    """The authors in the description of the source; if there are none, those of the file."""
    found: list[Person] = []
    if source is not None:
        found = _persons(source.iterfind("{*}analytic/{*}author"))
        found = found or _persons(source.iterfind("{*}monogr/{*}author"))
    return tuple(found or _persons(file_description.iterfind("{*}titleStmt/{*}author")))


def _persons(authors: Iterable[etree._Element]) -> list[Person]:
    """The authors that have a name, each name once."""
    persons = filter(None, map(_person, authors))
    by_name = {person.name: person for person in persons if len(person.name) <= _MAX_CHARS}
    return list(by_name.values())[:_MAX_NAMES]


def _person(author: etree._Element) -> Person | None:
    """The person or collaboration that an `author` element names; None if it names none.

    An element with no `persName` and no child elements is taken as a plain name. Other
    organisations in it are employers and funders.
    """
    person = author.find(".//{*}persName")
    if person is None:
        organisations = author.iterfind("{*}orgName[@type='collaboration']")
        if collaboration := next(_short_texts(organisations), ""):
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
        orcid=next(_short_texts(author.iterfind("{*}idno[@type='ORCID']")), None),
        affiliation=next(
            _short_texts(author.iterfind("{*}affiliation/{*}orgName[@type='institution']")), None
        ),
    )


def _year(file_description: etree._Element, source: etree._Element | None) -> int | None:
    if source is None:
        return None
    dates = (
        *source.iterfind("{*}monogr/{*}imprint/{*}date"),
        *file_description.iterfind("{*}publicationStmt/{*}date"),
    )
    found = (_YEAR.search(date.get("when") or text_of(date)) for date in dates)
    return next((int(year[0]) for year in found if year), None)


def _pages(source: etree._Element | None) -> str | None:
    """The pages of the paper in its journal, "12-20"."""
    if source is None:
        return None
    for scope in source.iterfind(".//{*}biblScope[@unit='page']"):
        first, last = scope.get("from") or text_of(scope), scope.get("to")
        if first:
            return f"{first}-{last}" if last and last != first else first
    return None


def _short_texts(elements: Iterable[etree._Element]) -> Iterator[str]:
    """The texts of the elements, without empty and very long ones."""
    return (text for element in elements if 0 < len(text := text_of(element)) <= _MAX_CHARS)


_HEADING = "References"


def reference_list(root: etree._Element) -> Block | None:
    """A block with all entries of the reference lists in order, one per line; None if there are
    none. A list in the header describes the paper itself and is left out."""
    lines, spans, length = [], [], 0
    for entry in _entries(root):
        line = _printed_text(entry) or (
            _assembled_text(entry) if name_of(entry) == "biblStruct" else text_of(entry)
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


def _printed_text(entry: etree._Element) -> str:
    """The text of an entry as it is printed, if GROBID kept it; else empty."""
    return next(map(text_of, entry.iterfind("{*}note[@type='raw_reference']")), "")


def _assembled_text(entry: etree._Element) -> str:
    """The text of an entry from its parts, in the usual order: authors (year). Title. Venue, volume
    (issue), pages. DOI."""
    authors = ", ".join(
        filter(None, (_person_of_entry(author) for author in entry.iterfind(".//{*}author")))
    )
    dates = (date.get("when") or text_of(date) for date in entry.iterfind(".//{*}imprint/{*}date"))
    year = next(filter(None, dates), "")
    titles = [text_of(title) for title in entry.iterfind(".//{*}title")]
    scopes = {scope.get("unit"): _scope(scope) for scope in entry.iterfind(".//{*}biblScope")}
    issue = f"({scopes['issue']})" if scopes.get("issue") else ""
    places = [
        f"{scopes.get('volume') or ''}{issue}",
        scopes.get("page") or "",
        next(map(text_of, entry.iterfind(".//{*}publisher")), ""),
    ]
    identifiers = [f"doi:{text_of(found)}" for found in entry.iterfind(".//{*}idno[@type='DOI']")]
    identifiers += [
        f"arXiv:{text_of(found).removeprefix('arXiv:')}"
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
    """Family name and initials, "Zobel J"; without a surname, the text of the element."""
    family = " ".join(text_of(part) for part in author.iterfind(".//{*}surname"))
    initials = "".join(text_of(part)[:1] for part in author.iterfind(".//{*}forename"))
    return f"{family} {initials}".strip() if family else text_of(author)


def _scope(scope: etree._Element) -> str:
    """The text of a `biblScope` (volume, issue or pages), or "from–to"."""
    return text_of(scope) or "–".join(filter(None, (scope.get("from"), scope.get("to"))))


def parse_tei(file: RawFile, settings: ParsingSettings) -> Document:
    """Read a TEI file into a Document.

    `n_pages` is the number of surfaces in the facsimile, or of page breaks. A break marks the start
    of a page, so the text before the first break is one more page if it has at least a paragraph.
    Without surfaces and breaks, it is the largest page in the coordinates. Page labels are the `@n`
    of the breaks.

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
        is_mended=bool(tree.notes),
        is_cut_off=tree.is_cut_off,
    )


def _collected(tree: XmlTree) -> Collected:
    name = name_of(tree.root)
    if name not in TEI_ROOTS:
        raise UnreadableDocument(
            f"is XML with the root element <{name}>, not TEI. Convert it to TEI, or remove it."
        )
    return collect(tree.root)


def _n_text_chars(root: etree._Element) -> int:
    """Number of characters of abstract, front, body, annexes and statements in the file; compared
    with the blocks, it tells whether text was lost.

    Left out are the reference list, running headers, deleted text and all but one of the readings
    of a `choice`. Labels and captions that GROBID writes twice count twice; numbers in attributes
    do not count. If no text is lost, the blocks have between 0.95 and 1.1 times this number.
    """
    parts: list[str] = []
    for abstract in root.iterfind(".//{*}profileDesc/{*}abstract"):
        _gather(abstract, Zone.FRONT, parts)
    for text in root.iter("{*}text"):
        if not any(name_of(above) == "text" for above in text.iterancestors()):
            _gather(text, Zone.BODY, parts)
    return n_text_chars("".join(parts))


def _gather(element: etree._Element, zone: Zone, parts: list[str]) -> None:
    """Add the texts in an element to `parts`, without back matter. zone: of the element."""
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
    """The zone of a child; only sections have another one than their parent."""
    if not name.startswith(SECTIONS):
        return zone
    heading = heading_of(child)
    return (
        zone_in_back(child, heading) if name_of(parent) == "back" else zone_of(child, zone, heading)
    )
