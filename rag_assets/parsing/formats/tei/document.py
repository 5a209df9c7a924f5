"""TEI files: GROBID's full texts and training files, and TEI written by people.

`structure` reads the tree into blocks, `paging` gives them pages and their place in the reading order. The abstract is
FRONT, the body BODY, appendices ANNEX, acknowledgements and the like STATEMENTS, the reference list BACK. A
heading reads as printed ("3.1 Methods") and is the last title of its section path. A figure's text is its caption; a
table's caption is its title.
"""

from collections.abc import Iterable

from lxml import etree

from rag_assets.core.domain import TITLE_PAGE_HEADING, Block, BlockKind, Document, Source, Span, Zone
from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.core.settings import ParseLimits, ParsingSettings
from rag_assets.parsing.formats.tei.elements import (
    SECTIONS,
    heading_of,
    is_unread,
    name_of,
    reading_of,
    zone_in_back,
    zone_of,
)
from rag_assets.parsing.formats.tei.paging import with_pages
from rag_assets.parsing.formats.tei.references import reference_list
from rag_assets.parsing.formats.tei.sniffing import TEI_ROOTS
from rag_assets.parsing.formats.tei.structure import collect
from rag_assets.parsing.formats.tei.text import Collected, InlineReader
from rag_assets.parsing.shared.files.raw import RawFile
from rag_assets.parsing.shared.files.xml_trees import XmlTree, entity_text, read_xml

_MAX_NAMES = 100
"""Some physics papers have thousands of authors."""
_MAX_CHARS = 300
"""A longer statement is not a name, a journal or a date."""


def parse_tei(file: RawFile, settings: ParsingSettings) -> Document:
    """Read a TEI file into a Document.

    `n_pages` counts the facsimile's surfaces or the page breaks (text before the first break is a page of its own
    if there is a paragraph of it, since a break marks the start of a page); without either it is the largest page
    that coordinates prove. Page labels are the breaks' `@n`.

    Raises UnreadableDocument when the file is not XML, not TEI or without text, DocumentLimit when it passes a limit.
    """
    limits = settings.limits
    tree = read_xml(file.content, limits)
    collected = _collected(tree, limits)
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
    title = _title(tree.root)
    first = _title_page(tree.root, title)
    return Document(
        paper_id=file.paper_id,
        title=title,
        source=Source.TEI,
        file_path=file.path,
        blocks=tuple(block for block in (first, *paging.blocks, reference_list(tree.root)) if block),
        n_pages=paging.n_pages,
        page_source=paging.page_source,
        page_labels=paging.page_labels,
        n_source_chars=_n_text_chars(tree.root) + (len(first.text) if first else 0),
        n_dropped_running=collected.n_running,
        notes=tree.notes,
    )


def _collected(tree: XmlTree, limits: ParseLimits) -> Collected:
    name = name_of(tree.root)
    if name not in TEI_ROOTS:
        raise UnreadableDocument(f"is XML with the root element <{name}>, not TEI. Convert it to TEI, or remove it.")
    try:
        return collect(tree.root)
    except RecursionError as error:
        raise DocumentLimit(
            f"nests elements too deep to be read. Set parsing.limits.max_depth = {limits.max_depth} lower to see where."
        ) from error


def _title(root: etree._Element) -> str:
    """The main title of the file's own description, else the title page's."""
    titles = [*root.iterfind(".//{*}teiHeader/{*}fileDesc/{*}titleStmt/{*}title"), *root.iter("{*}docTitle")]
    main = [title for title in titles if title.get("type") == "main"]
    for title in (*main, *titles):
        if text := _text(title):
            return text
    return ""


def _n_text_chars(root: etree._Element) -> int:
    """Characters of abstract, front, body, annexes and statements, each run of white space counted as one.

    Left out are the reference list, running headers and the second reading of a `choice`. Labels and captions that
    GROBID writes twice count twice, numbers in attributes do not count: the blocks of a file that loses nothing hold
    between 0.95 and 1.1 times this number.
    """
    parts: list[str] = []
    for abstract in root.iterfind(".//{*}profileDesc/{*}abstract"):
        _gather(abstract, Zone.FRONT, parts)
    for text in root.iter("{*}text"):
        if not any(name_of(above) == "text" for above in text.iterancestors()):
            _gather(text, Zone.BODY, parts)
    return len(" ".join("".join(parts).split()))


def _gather(element: etree._Element, zone: Zone, parts: list[str]) -> None:
    if zone is Zone.BACK:
        return
    parts.append(element.text or "")
    for child in element:
        name = name_of(child)
        if isinstance(child, etree._Entity):
            parts.append(entity_text(child))
        elif name == "choice":
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
    return zone_in_back(child, heading) if name_of(parent) == "back" else zone_of(child, zone, heading)


def _title_page(root: etree._Element, title: str) -> Block | None:
    """The header's statements about the paper as a list, one per line; None if it names no author.

    It has no page: GROBID may have completed headers from a catalogue.
    """
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
    """Institutions of the authors, else the text of their affiliations."""
    place = header if source is None else source
    institutions = place.findall(".//{*}author/{*}affiliation/{*}orgName[@type='institution']")
    return _distinct(map(_text, institutions or header.iterfind("{*}titleStmt/{*}author/{*}affiliation")))


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
    return " ".join(InlineReader().read(element).text.split())


def _distinct(texts: Iterable[str]) -> list[str]:
    """Each once, in order; neither empty ones nor ones too long to be a statement."""
    return list(dict.fromkeys(text for text in texts if 0 < len(text) <= _MAX_CHARS))[:_MAX_NAMES]
