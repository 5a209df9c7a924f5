"""The formats: one table of suffixes, sniffers (functions that recognise a format by its first
bytes) and parsers. The content of a file decides; its suffix only if the content does not.

A new format is a row of `FORMATS` and a package of its own. Modules are imported when they are
first needed: a worker that reads TEI does not load the PDF engine.
"""

import importlib
import importlib.util
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from rag_assets.core.domain import Document, SourceFormat
from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.shared.files import RawFile, decoded

Parse = Callable[[RawFile, ParsingSettings], Document]
Sniff = Callable[[bytes], bool]

PARSER_VERSION = 25
"""Part of every fingerprint: raise it for a change that concerns all formats. For a change of one
parser, raise the version of its format below."""
_PACKAGE = "rag_assets.parsing.formats"
_OCR = "rapidocr"
"""Package that reads the pages of PDFs without a text layer."""
_BEFORE_CONTENT = b"\xef\xbb\xbf \t\r\n"
"""A UTF-8 byte order mark and white space."""


@dataclass(frozen=True)
class Format:
    """A format of papers: its suffixes, and how it is recognised and parsed."""

    source: SourceFormat
    suffixes: tuple[str, ...]
    """In lower case; the usual ones first. Several formats may share a JSON or XML suffix."""
    parse: str
    """`module:function`."""
    sniff: str | None
    """`module:function` that recognises the format by its first bytes; None if every text with the
    suffix has the format."""
    opening: bytes = b""
    """The first bytes after white space. The sniffer is imported and called only if a file starts
    with them."""
    needs: str = ""
    """The package without which its files cannot be read, which is an optional dependency of the
    same name; empty if none is needed. For such formats the suffix must fit too: a web page named
    .pdf is a failed download, not a paper."""
    version: int = 1
    """Raise it when the parser gives another document for the same file; papers of other formats
    are not parsed again."""


FORMATS = (
    Format(
        SourceFormat.PDF, (".pdf",), "pdf.document:parse_pdf", "pdf.file:looks_like_pdf", version=23
    ),
    Format(
        SourceFormat.TEI,
        (".grobid.tei.xml", ".tei.xml", ".tei", ".xml"),
        "tei.document:parse_tei",
        "tei.elements:looks_like_tei",
        version=5,
    ),
    Format(
        SourceFormat.DOCLING,
        (".docling.json", ".json"),
        "docling.document:parse_docling",
        "docling.document:looks_like_docling",
        b"{",
        version=5,
    ),
    Format(
        SourceFormat.DOCLING,
        (".html", ".htm"),
        "docling.document:parse_with_docling",
        "docling.document:looks_like_html",
        b"<",
        needs="docling",
        version=3,
    ),
    Format(
        SourceFormat.DOCLING,
        (".docx",),
        "docling.document:parse_with_docling",
        "docling.document:looks_like_docx",
        b"PK",
        needs="docling",
        version=3,
    ),
    Format(
        SourceFormat.ADE,
        (".ade.json", ".json"),
        "ade.document:parse_ade",
        "ade.document:looks_like_ade",
        b"{",
        version=6,
    ),
    Format(
        SourceFormat.MARKDOWN,
        (".md", ".markdown"),
        "markdown.document:parse_markdown",
        None,
        version=9,
    ),
    Format(SourceFormat.TEXT, (".txt", ".text"), "text.document:parse_text", None, version=8),
)
_SUFFIXES = sorted(
    {suffix for known in FORMATS for suffix in known.suffixes},
    key=lambda suffix: (-len(suffix), suffix),
)
_OTHER_FILES = (
    (b"PK\x03\x04", "a ZIP archive or an Office file", "Export the paper as PDF."),
    (b"\x1f\x8b", "a gzip archive", "Unpack it."),
    (b"\xd0\xcf\x11\xe0", "an old Office file", "Export the paper as PDF."),
    (b"%!PS", "PostScript", "Convert it to PDF."),
    (b"{\\rtf", "RTF", "Save it as text or PDF."),
    (b"\x89PNG", "an image", "Run text recognition over it first."),
    (b"\xff\xd8\xff", "an image", "Run text recognition over it first."),
)
_ROOT_ELEMENT = re.compile(r"<([A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")
_MAX_NAME_CHARS = 40
_TEXT_NAME = "unnamed.txt"
"""A text without a known suffix is read like a file of this name."""
_XML_START = re.compile(r"\s*<(?:\?xml|!DOCTYPE|!--|[A-Za-z_])")


def suffix_of(name: str) -> str | None:
    """The longest known suffix of a file name, in lower case; None if the name has no known suffix,
    or consists of nothing else."""
    lowered = name.lower()
    # a generator expression takes three times as long, and each run calls this for each file
    for suffix in _SUFFIXES:
        if lowered.endswith(suffix) and len(name) > len(suffix):
            return suffix
    return None


def known_suffixes() -> list[str]:
    """The suffixes of all formats, sorted."""
    return sorted(_SUFFIXES)


def stem_of(name: str) -> str | None:
    """A file name without its known suffix; None for a name with an unknown suffix."""
    suffix = suffix_of(name)
    return None if suffix is None else name[: -len(suffix)]


def expected_sources(name: str) -> tuple[SourceFormat, ...]:
    """The formats that a file may have by its suffix; ".json" is Docling or ADE."""
    return tuple(known.source for known in _formats_by_suffix(name))


def parser_of(known: Format) -> Parse:
    """The parse function of a format; imports its module."""
    return cast(Parse, _function(known.parse))


def installed_extras() -> list[str]:
    """The optional dependencies of parsers that are installed, sorted. A paper that failed is tried
    again when this list changes."""
    extras = {_OCR, *(known.needs for known in FORMATS if known.needs)}
    return sorted(name for name in extras if importlib.util.find_spec(name))


def sniff(name: str, head: bytes) -> Format:
    """The format of a file by its first bytes (64 KB are enough); the suffix of its name decides
    only if it is plain text.

    Raises UnreadableDocument for any other file; the message is a phrase that can follow its name,
    and says what the file is and what to do.
    """
    for known in FORMATS:
        if not looks_like(known, head):
            continue
        if known.needs and suffix_of(name) not in known.suffixes:
            raise UnreadableDocument(
                f"is a {known.suffixes[0]} file by content. Name it so if it is the paper, or get the paper again."
            )
        return known
    for magic, what, remedy in _OTHER_FILES:
        if head.startswith(magic):
            raise UnreadableDocument(f"is {what}. {remedy}")
    return _text_format(name, head)


def _formats_by_suffix(name: str) -> list[Format]:
    suffix = suffix_of(name)
    return [known for known in FORMATS if suffix in known.suffixes]


def looks_like(known: Format, head: bytes) -> bool:
    """Whether a file with these first bytes has the format."""
    if known.sniff is None or not head.lstrip(_BEFORE_CONTENT).startswith(known.opening):
        return False
    sniffer = cast(Sniff, _function(known.sniff))
    return sniffer(head)


def _text_format(name: str, head: bytes) -> Format:
    """The format of a file that no sniffer recognises: text or Markdown, by its suffix."""
    try:
        text = decoded(head).text
    except UnreadableDocument as error:
        raise UnreadableDocument(
            "holds binary data in no known format. Convert it to PDF, TEI or text, or remove it."
        ) from error
    formats = _formats_by_suffix(name) or _formats_by_suffix(_TEXT_NAME)
    if plain := next((known for known in formats if known.sniff is None), None):
        return plain
    raise UnreadableDocument(_mismatch(formats, name, text))


def _mismatch(formats: Sequence[Format], name: str, text: str) -> str:
    """Why a text does not have any of the formats of its suffix."""
    expected = {known.source for known in formats}
    if SourceFormat.PDF in expected:
        return f"is no PDF: it has no %PDF- header but holds {_kind_of(text)}. Download it again."
    if SourceFormat.TEI in expected:
        return _not_tei(text)
    if any(known.needs for known in formats):
        suffix = suffix_of(name)
        return f"is no {suffix} file: it holds {_kind_of(text)}. Save the paper as {suffix} again."
    return f"is neither a DoclingDocument nor an ADE export but {_kind_of(text)}. Export the paper again."


def _not_tei(text: str) -> str:
    """Why a text is no TEI."""
    if not _XML_START.match(text.lstrip("\ufeff")):
        return f"holds no XML but {_kind_of(text)}. Give it the suffix of what it is, or write it again."
    root = _ROOT_ELEMENT.search(text)
    if root is None:
        return "is XML without any element. Write it again."
    if root[2] in ("article", "pmc-articleset"):
        return "is JATS, not TEI. Convert it to TEI (Pub2TEI does), or put the paper's PDF here."
    return f"is XML with the root element <{root[2][:_MAX_NAME_CHARS]}>, not TEI. Convert it to TEI or remove it."


def _kind_of(text: str) -> str:
    """What a text seems to be, in words for messages."""
    start = text.lstrip("\ufeff \t\r\n")
    if not start:
        return "nothing but white space"
    if start[0] in "{[":
        return "other JSON"
    return "XML" if _XML_START.match(start) else "plain text"


def _function(place: str) -> object:
    module, name = place.split(":")
    return getattr(importlib.import_module(f"{_PACKAGE}.{module}"), name)
