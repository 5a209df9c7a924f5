"""One small paper written in each format, with its headings as the format's producers write
them."""

from collections.abc import Callable, Sequence

from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.domain import Document
from rag_assets.parsing.formats.markdown.document import parse_markdown
from rag_assets.parsing.formats.text.document import parse_text
from rag_assets_testing.papers import pdf
from rag_assets_testing.papers.ade import parsed as parsed_ade
from rag_assets_testing.papers.ade import v1_chunk, v1_file
from rag_assets_testing.papers.contents import read_content
from rag_assets_testing.papers.docling import DoclingWriter
from rag_assets_testing.papers.pdf import lines, prose

Section = tuple[str, list[str]]
"""A heading and the lines below it."""
Read = Callable[[Sequence[Section]], Document]


TITLE = "Ferritin in Mountain Sheep"


def from_ade_regions(sections: Sequence[Section]) -> Document:
    """ADE with a region for each heading and each paragraph."""
    return ade_of([text for title, below in sections for text in (title, "\n".join(below))])


def from_ade_joined(sections: Sequence[Section]) -> Document:
    """ADE with the heading as the first line of the region of its section."""
    return ade_of(["\n".join([title, *below]) for title, below in sections])


def from_markdown(sections: Sequence[Section]) -> Document:
    """Markdown with a mark before the title only."""
    return markdown_of([text for title, below in sections for text in (title, "\n".join(below))])


def from_marked_markdown(sections: Sequence[Section]) -> Document:
    return markdown_of(
        [text for title, below in sections for text in (f"## {title}", "\n".join(below))]
    )


def from_text(sections: Sequence[Section]) -> Document:
    parts = [TITLE, *(part for title, below in sections for part in (title, "\n".join(below)))]
    return read_content(parse_text, "paper.txt", "\n\n".join(parts))


def from_pdf(sections: Sequence[Section]) -> Document:
    """A PDF whose headings are set in a bold font of the size of the text."""

    def draw(canvas: Canvas) -> None:
        top = lines(canvas, TITLE, top=60, size=18)
        for title, below in sections:
            top = lines(canvas, title.strip("*"), top=top + 12, font="Helvetica-Bold") + 6
            top = lines(canvas, below, top=top)

    return pdf.parsed(draw)


def from_docling(sections: Sequence[Section]) -> Document:
    """A DoclingDocument with section headers, all of level 1, as docling reads them from a PDF."""
    writer = DoclingWriter()
    writer.text("title", TITLE)
    for title, below in sections:
        writer.text("section_header", title, level=1)
        for line in below:
            writer.text("text", line)
    return writer.parsed()


def ade_of(texts: Sequence[str]) -> Document:
    """ADE with a title and a region for each text."""
    title = v1_chunk("text", TITLE, top=0.05, height=0.1)
    regions = [
        v1_chunk("text", text, top=0.2 + at / 50, height=0.01) for at, text in enumerate(texts)
    ]
    return parsed_ade(v1_file([title, *regions]))


def paragraph(topic: str) -> list[str]:
    return prose(topic, 3)


def markdown_of(parts: Sequence[str]) -> Document:
    """A Markdown file with a marked title and the parts below it, one blank line between them."""
    return read_content(parse_markdown, "paper.md", "\n\n".join([f"# {TITLE}", *parts]))
