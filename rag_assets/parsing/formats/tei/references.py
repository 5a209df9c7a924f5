"""The reference list of a TEI file, one entry a line, as the other formats have it: kept as back
matter, never indexed.

GROBID takes each entry apart (`biblStruct`) and keeps the printed words only where it is asked to;
people write entries as text (`bibl`).
"""

from collections.abc import Iterator

from lxml import etree

from rag_assets.core.domain import Block, BlockKind, Span, Zone
from rag_assets.parsing.formats.tei.coords import areas_of
from rag_assets.parsing.formats.tei.elements import REFERENCES, name_of
from rag_assets.parsing.formats.tei.text import InlineReader

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
        filter(None, (_person(author) for author in entry.iterfind(".//{*}author")))
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


def _person(author: etree._Element) -> str:
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
