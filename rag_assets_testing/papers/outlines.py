"""One small paper written in each format, with its headings as the format's producers write
them."""

from collections.abc import Callable, Sequence
from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.domain import Document
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.formats.markdown.document import parse_markdown
from rag_assets.parsing.formats.pdf.document import parse_pdf
from rag_assets.parsing.formats.text.document import parse_text
from rag_assets.parsing.shared.files import RawFile
from rag_assets_testing.papers.ade import parsed as parsed_ade
from rag_assets_testing.papers.ade import v1_chunk, v1_file
from rag_assets_testing.papers.docling import DoclingWriter
from rag_assets_testing.papers.pdf import lines, prose, write_pdf

Section = tuple[str, list[str]]
"""A heading and the lines below it."""
Read = Callable[[Path, Sequence[Section]], Document]


TITLE = "Ferritin in Mountain Sheep"


def from_ade_regions(folder: Path, sections: Sequence[Section]) -> Document:
    """ADE with a region for each heading and each paragraph."""
    return ade_of(folder, [text for title, below in sections for text in (title, "\n".join(below))])


def from_ade_joined(folder: Path, sections: Sequence[Section]) -> Document:
    """ADE with the heading as the first line of the region of its section."""
    return ade_of(folder, ["\n".join([title, *below]) for title, below in sections])


def from_markdown(folder: Path, sections: Sequence[Section]) -> Document:
    """Markdown with a mark before the title only."""
    return markdown_of(
        folder, [text for title, below in sections for text in (title, "\n".join(below))]
    )


def from_marked_markdown(folder: Path, sections: Sequence[Section]) -> Document:
    return markdown_of(
        folder, [text for title, below in sections for text in (f"## {title}", "\n".join(below))]
    )


def from_text(folder: Path, sections: Sequence[Section]) -> Document:
    path = folder / "paper.txt"
    parts = [TITLE, *(part for title, below in sections for part in (title, "\n".join(below)))]
    path.write_text("\n\n".join(parts), "utf-8")
    return parse_text(RawFile("paper", path.name, path.read_bytes()), ParsingSettings())


def from_pdf(folder: Path, sections: Sequence[Section]) -> Document:
    """A PDF whose headings are set in a bold font of the size of the text."""

    def draw(canvas: Canvas) -> None:
        top = lines(canvas, [TITLE], top=60, size=18)
        for title, below in sections:
            top = lines(canvas, [title.strip("*")], top=top + 12, font="Helvetica-Bold") + 6
            top = lines(canvas, below, top=top)

    path = write_pdf(folder / "paper.pdf", [draw])
    return parse_pdf(RawFile("paper", path.name, path.read_bytes()), ParsingSettings())


def from_docling(folder: Path, sections: Sequence[Section]) -> Document:
    """A DoclingDocument with section headers, all of level 1, as docling reads them from a PDF."""
    writer = DoclingWriter()
    writer.text("title", TITLE)
    for title, below in sections:
        writer.text("section_header", title, level=1)
        for line in below:
            writer.text("text", line)
    return writer.parsed(folder)


def ade_of(folder: Path, texts: Sequence[str]) -> Document:
    """ADE with a title and a region for each text."""
    title = v1_chunk("text", TITLE, top=0.05, height=0.1)
    regions = [
        v1_chunk("text", text, top=0.2 + at / 50, height=0.01) for at, text in enumerate(texts)
    ]
    return parsed_ade(folder, v1_file([title, *regions]))


def paragraph(topic: str) -> list[str]:
    return prose(topic, 3)


def markdown_of(folder: Path, parts: Sequence[str]) -> Document:
    """A Markdown file with a marked title and the parts below it, one blank line between them."""
    path = folder / "paper.md"
    path.write_text("\n\n".join([f"# {TITLE}", *parts]), "utf-8")
    return parse_markdown(RawFile("paper", path.name, path.read_bytes()), ParsingSettings())
