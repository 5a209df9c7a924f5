"""Recognises TEI by the first bytes of a file, without parsing it, and says how its elements are
read: as text of the paragraph around them, as separate blocks, or not at all.

`structure` uses this to read the tree, and `document` to count the text that must not be lost.

An element's page and rectangle are in GROBID's coordinates. `coords="4,72.0,93.9,113.6,9.4;4,..."`
holds one area per line or fragment: page (1-based), left, top, width and height in PDF points,
origin top left. `<facsimile><surface n lrx lry>` gives the size of each page; without it an area
still tells its page, but there is no box. Source: GROBID's documentation, "Coordinates of
structures in the original PDF".
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lxml import etree

from rag_assets.core.domain import Box, Zone
from rag_assets.core.text.headings import names_references, names_statement
from rag_assets.parsing.shared.files import BYTE_ORDER_MARKS
from rag_assets.parsing.shared.superscripts import ScriptWriter, lowered_after, raised_after

TEI_ROOTS = frozenset({"TEI", "tei", "TEI.2", "teiCorpus", "teiCorpus.2"})
"""Root elements of TEI P5, GROBID's training files and TEI P4; not `article` (JATS)."""

_PROLOG = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)
_ROOT = re.compile(r"<(?:[\w.-]+:)?([\w.-]+)")


def looks_like_tei(head: bytes) -> bool:
    """Whether `head`, the first bytes of a file (some thousand are enough), starts a TEI document.

    Namespace, prefix, BOM, UTF-16 with or without BOM, comments and a DOCTYPE before the root do
    not matter.
    """
    return _root_name(_decoded(head)) in TEI_ROOTS


def _decoded(head: bytes) -> str:
    for mark, encoding in BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return head[len(mark) :].decode(encoding, "ignore")
    if head.startswith(b"<\x00"):
        return head.decode("utf-16-le", "ignore")
    if head.startswith(b"\x00<"):
        return head.decode("utf-16-be", "ignore")
    return head.decode("latin-1")


def _root_name(text: str) -> str | None:
    """The name of the first element, without prefix."""
    start = 0
    while match := _PROLOG.match(text, start):
        start = match.end()
    root = _ROOT.match(text, start)
    return root.group(1) if root else None


REFERENCES = frozenset({"listBibl", "listbibl", "listBiblio"})
RUNNING = frozenset({"fw", "page"})
"""Headers, footers and page numbers."""
_DELETED = frozenset({"del", "surplus"})
_STRUCK = re.compile(r"\bstr(?:ike|uck)|line-through", re.IGNORECASE)
_WITHOUT_TEXT = frozenset(
    {"graphic", "binaryObject", "media", "teiHeader", "facsimile", "standOff", "interpGrp", "index"}
)
PARAGRAPHS = frozenset(
    {
        "p", "ab", "lg", "byline", "trailer", "opener", "closer", "salute", "signed", "dateline", "docTitle",
        "docAuthor", "docImprint", "docEdition", "docDate", "imprimatur", "epigraph", "argument", "speaker", "stage",
        "postscript", "titlePart", "label", "bibl", "biblStruct", "eg", "egXML",
    }
)  # fmt: skip
"""Elements that are read as a paragraph."""
SEPARATED = frozenset(
    {
        "l", "s", "lg", "cell", "row", "item", "p", "ab", "head", "label", "figDesc", "div", "list", "table", "td",
        "th", "tr", "entry", "note", "formula", "sp", "speaker", "bibl",
    }
)  # fmt: skip
"""Elements with a space before and after them, also if there is none between the tags."""
BLOCKS = frozenset({"p", "ab", "lg", "head", "list", "table", "sp", "eg", "egXML", "floatingText"})
"""Elements that end the paragraph around them."""
TEXT_UNITS = frozenset(
    {"p", "ab", "s", "head", "formula", "figure", "table", "note", "item", "figDesc", "cell", "row"}
)
"""Elements whose coordinates cover the whole of their text."""
SECTIONS = ("div", "section", "chapter")
"""First letters of the names of section elements: TEI has `div`, `div1` and so on."""
GROUPS = frozenset({"body", "front", "group", "q", "quote", "cit"})
"""Elements treated as blocks if they contain paragraphs, otherwise as inline text."""
FLOATS = frozenset({"figure", "note", "table"})

_REFERENCE_TYPES = re.compile(r"refer|bibl|works.?cited", re.IGNORECASE)
_ANNEX_TYPES = re.compile(r"annex|append|suppl", re.IGNORECASE)
_STATEMENT_TYPES = re.compile(
    r"acknowledg|funding|availability|conflict|contribution", re.IGNORECASE
)
_RAISED = re.compile(r"\bsup(?:er(?:script)?)?\b", re.IGNORECASE)
_LOWERED = re.compile(r"\bsub(?:script)?\b", re.IGNORECASE)
_MARK_TYPES = frozenset({"bibr", "biblio", "foot"})
_FLOAT_TYPES = frozenset({"figure", "table", "formula"})
_MARK_NUMBERS = re.compile(r"\s*[1-9]\d{0,2}(?:\s?[,;–—-]\s?[1-9]\d{0,2})*\s?[,;–—-]?\s*")
_CONTINUES_NUMBER = re.compile(r"[.,]?\d|%")
"""If this follows a mark, the mark is part of a number, and GROBID was wrong."""


def script_of(element: etree._Element, name: str) -> ScriptWriter | None:
    """The function that writes the digits of a raised or lowered element; None for other elements.
    Decided by its name, `rend`, `style` or `rendition`."""
    style = " ".join((name, *(element.get(key) or "" for key in ("rend", "style", "rendition"))))
    if _RAISED.search(style):
        return raised_after
    return lowered_after if _LOWERED.search(style) else None


def is_number_mark(element: etree._Element, name: str, before: str) -> bool:
    """Whether an element is a mark: it contains nothing but numbers of notes or references. GROBID
    does not say that they are raised.

    before: the text right before it, up to white space. GROBID takes some numbers in prose for
    references: an element without a target is no mark after a comma, a semicolon, "-" or "=". An
    element of unknown type may be the number of a section: it is a mark only right after a letter
    or digit.
    """
    if name != "ref" or _CONTINUES_NUMBER.match(element.tail or ""):
        return False
    kind = element.get("type")
    if kind not in _MARK_TYPES and (kind in _FLOAT_TYPES or not before[-1:].isalnum()):
        return False
    is_plain_number = element.get("target") is None and before.endswith((",", ";", "-", "="))
    return (
        not is_plain_number
        and _MARK_NUMBERS.fullmatch("".join(str(text) for text in element.itertext())) is not None
    )


def name_of(element: etree._Element) -> str:
    """The element's name without namespace; empty for comments, entities and processing
    instructions."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def is_unread(element: etree._Element, name: str) -> bool:
    """Whether the content of an element is left out, because it is not text of the paper: running
    headers, the reference list, pictures, text that was deleted or struck out and not restored, and
    the list of grants that GROBID makes (all 274 grants of 106 files occur in the text as
    well)."""
    if name in _DELETED or (
        name == "hi" and _STRUCK.search(" ".join(map(str, element.attrib.values())))
    ):
        above = element.getparent()
        return above is None or name_of(above) != "restore"
    if name in RUNNING or name in REFERENCES or name in _WITHOUT_TEXT:
        return True
    if name == "note":
        return (element.get("place") or "").startswith("head")
    if name == "listOrg":
        return element.get("type") == "funding"
    return name == "div" and _REFERENCE_TYPES.search(element.get("type") or "") is not None


CHOICES = frozenset({"choice", "app"})
"""Elements that hold several readings of one text."""


def reading_of(choice: etree._Element) -> etree._Element | None:
    """The reading of a `choice` or `app` that is used: the regular or corrected one, else the
    first. All of them would be the same text several times."""
    readings = [child for child in choice if name_of(child)]
    for wanted in ("reg", "corr", "expan", "lem"):
        for reading in readings:
            if name_of(reading) == wanted:
                return reading
    return readings[0] if readings else None


def is_block_note(note: etree._Element) -> bool:
    """Whether a note becomes a separate block, not text of its paragraph."""
    return not (note.get("place") or "").startswith(("inline", "in-line"))


def holds_blocks(element: etree._Element) -> bool:
    """Whether an element contains block elements, such as paragraphs, outside of figures and
    notes."""
    for child in element:
        name = name_of(child)
        if name in BLOCKS or name.startswith(SECTIONS):
            return True
        if len(child) and name not in ("figure", "note") and holds_blocks(child):
            return True
    return False


def heading_of(division: etree._Element) -> str:
    """Text of a division's first head; empty without one."""
    head = next((child for child in division if name_of(child) == "head"), None)
    return "" if head is None else " ".join("".join(str(text) for text in head.itertext()).split())


def zone_of(division: etree._Element, current: Zone, heading: str) -> Zone:
    """The zone of a division of the body or of an annex, by its heading and its `type`. current:
    zone of the element around it.

    GROBID puts statements on funding, conflicts and similar things into annexes, and sometimes a
    reference list into the text. Its training files have annexes inside the body.
    """
    if current in (Zone.BODY, Zone.ANNEX, Zone.STATEMENTS) and names_references(heading):
        return Zone.BACK
    if current is Zone.ANNEX and names_statement(heading):
        return Zone.STATEMENTS
    kind = division.get("type") or ""
    if current is Zone.BODY and _ANNEX_TYPES.match(kind):
        return Zone.ANNEX
    return Zone.STATEMENTS if current is Zone.BODY and _STATEMENT_TYPES.match(kind) else current


def zone_in_back(division: etree._Element, heading: str) -> Zone:
    """The zone of a division directly in `back`: an annex by its type or if it has none, else
    statements; its heading may change that, as in `zone_of`."""
    kind = division.get("type")
    is_annex = kind is None or _ANNEX_TYPES.match(kind) is not None or kind.endswith("notes")
    return zone_of(division, Zone.ANNEX if is_annex else Zone.STATEMENTS, heading)


_LINE_OVERLAP = 0.5
"""Two areas are on one line if they overlap by this part of the smaller height."""
_WORD_GAPS = 2.0
"""Areas of one line are joined if the gap between them is at most this many line heights."""


class Area(NamedTuple):
    """A rectangle on a page, in points."""

    page: int
    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height


def areas_of(element: etree._Element) -> tuple[Area, ...]:
    """The areas in an element's `coords` (in headers `coord`); invalid fragments are left out."""
    coords = element.get("coords") or element.get("coord")
    if not coords:
        return ()
    return tuple(area for fragment in coords.split(";") if (area := _area(fragment)))


def page_sizes(root: etree._Element) -> dict[int, Area]:
    """Page -> its rectangle, from the surfaces of the facsimile. The top left corner is nearly
    always 0, 0."""
    sizes = {}
    for surface in root.iter("{*}surface"):
        left, top = (_number(surface.get(name)) or 0.0 for name in ("ulx", "uly"))
        page, right, bottom = (_number(surface.get(name)) for name in ("n", "lrx", "lry"))
        if (
            page
            and page >= 1
            and right is not None
            and right > left
            and bottom is not None
            and bottom > top
        ):
            sizes[int(page)] = Area(int(page), left, top, right - left, bottom - top)
    return sizes


def boxes_of(areas: Iterable[Area], sizes: Mapping[int, Area]) -> tuple[Box, ...]:
    """The areas as fractions of their pages, clipped to the page; an area on a page of unknown size
    gives no box."""
    boxes = []
    for area in areas:
        size = sizes.get(area.page)
        if size is None:
            continue
        box = Box(
            page=area.page,
            left=_share(area.left - size.left, size.width),
            top=_share(area.top - size.top, size.height),
            right=_share(area.right - size.left, size.width),
            bottom=_share(area.bottom - size.top, size.height),
        )
        if box.right > box.left and box.bottom > box.top:
            boxes.append(box)
    return tuple(boxes)


def whole_lines(areas: Iterable[Area]) -> tuple[Area, ...]:
    """The areas, where neighbours on the same line are joined: GROBID leaves a gap for each
    reference in a paragraph."""
    lines: list[Area] = []
    for area in areas:
        for index in range(len(lines) - 1, max(-1, len(lines) - 4), -1):
            if _touch(lines[index], area):
                lines[index] = _union(lines[index], area)
                break
        else:
            lines.append(area)
    return tuple(lines)


def _touch(one: Area, other: Area) -> bool:
    """Whether two areas are on the same line, with at most a small gap between them."""
    if one.page != other.page:
        return False
    height = min(one.height, other.height)
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    gap = max(one.left, other.left) - min(one.right, other.right)  # negative if they overlap
    return shared >= _LINE_OVERLAP * height and gap <= _WORD_GAPS * max(one.height, other.height)


def _union(one: Area, other: Area) -> Area:
    left, top = min(one.left, other.left), min(one.top, other.top)
    right, bottom = max(one.right, other.right), max(one.bottom, other.bottom)
    return Area(one.page, left, top, right - left, bottom - top)


def _area(fragment: str) -> Area | None:
    """The area of "page,left,top,width,height"; None if it is invalid."""
    numbers = [number for part in fragment.split(",") if (number := _number(part)) is not None]
    if len(numbers) != 5 or numbers[0] < 1 or numbers[0] != int(numbers[0]) or min(numbers[3:]) < 0:
        return None
    return Area(int(numbers[0]), *numbers[1:])


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _share(length: float, whole: float) -> float:
    return round(min(1.0, max(0.0, length / whole)), 5)
