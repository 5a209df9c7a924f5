"""TEI files: GROBID's full texts and training files, and TEI written by people.

`structure` reads the tree into blocks, `paging` gives them pages and their place in the reading
order. The abstract is FRONT, the body BODY, appendices ANNEX, acknowledgements and the like
STATEMENTS, the reference list BACK. A heading reads as printed ("3.1 Methods") and is the last
title of its section path. A figure's text is its caption; a table's caption is its title.
"""

from lxml import etree

from rag_assets.core.domain import Document, Source, Zone, n_text_chars
from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.core.settings import ParseLimits, ParsingSettings
from rag_assets.parsing.formats.tei.elements import (
    CHOICES,
    SECTIONS,
    heading_of,
    is_unread,
    name_of,
    reading_of,
    zone_in_back,
    zone_of,
)
from rag_assets.parsing.formats.tei.header import record_of, title_of
from rag_assets.parsing.formats.tei.paging import with_pages
from rag_assets.parsing.formats.tei.references import reference_list
from rag_assets.parsing.formats.tei.sniffing import TEI_ROOTS
from rag_assets.parsing.formats.tei.structure import collect
from rag_assets.parsing.formats.tei.text import Collected
from rag_assets.parsing.shared.files.raw import RawFile
from rag_assets.parsing.shared.files.xml_trees import XmlTree, entity_text, read_xml


def parse_tei(file: RawFile, settings: ParsingSettings) -> Document:
    """Read a TEI file into a Document.

    `n_pages` counts the facsimile's surfaces or the page breaks (text before the first break is a
    page of its own if there is a paragraph of it, since a break marks the start of a page); without
    either it is the largest page that coordinates prove. Page labels are the breaks' `@n`.

    Raises UnreadableDocument when the file is not XML, not TEI or without text, DocumentLimit when
    it passes a limit.
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
    return Document(
        paper_id=file.paper_id,
        title=title_of(tree.root),
        source=Source.TEI,
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


def _collected(tree: XmlTree, limits: ParseLimits) -> Collected:
    name = name_of(tree.root)
    if name not in TEI_ROOTS:
        raise UnreadableDocument(
            f"is XML with the root element <{name}>, not TEI. Convert it to TEI, or remove it."
        )
    try:
        return collect(tree.root)
    except RecursionError as error:
        raise DocumentLimit(
            f"nests elements too deep to be read. Set parsing.limits.max_depth = {limits.max_depth} lower to see where."
        ) from error


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
