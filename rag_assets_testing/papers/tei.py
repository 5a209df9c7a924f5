"""Small TEI files for the tests of the TEI parser, written here and nowhere else."""

from rag_assets.core.domain import Block, BlockKind, Document
from rag_assets.parsing.formats.tei.document import parse_tei
from rag_assets_testing.papers.contents import read_content

WORDS = "Ferritin fell in the treated group while the control group kept its level over the whole winter term. "
SURFACES = "".join(
    f'<surface n="{page}" ulx="0.0" uly="0.0" lrx="600.0" lry="800.0"/>' for page in range(1, 6)
)


def tei(
    body: str, *, back: str = "", abstract: str = "", facsimile: str = "", front: str = ""
) -> str:
    """A whole TEI document with namespace around the parts given."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0">
<teiHeader><fileDesc><titleStmt><title level="a" type="main">Iron in Winter</title></titleStmt></fileDesc>
<profileDesc><abstract>{abstract}</abstract></profileDesc></teiHeader>
<facsimile>{facsimile}</facsimile>
<text>{f"<front>{front}</front>" if front else ""}<body>{body}</body><back>{back}</back></text></TEI>"""


def parsed(content: str) -> Document:
    return read_content(parse_tei, "paper.tei.xml", content)


def texts(document: Document, kind: BlockKind | None = None) -> list[str]:
    return [block.text for block in document.blocks if kind in (None, block.kind)]


def pages(block: Block) -> list[tuple[str, int | None, int | None]]:
    """Text and pages of each span."""
    return [
        (block.text[span.start : span.end], span.page_start, span.page_end) for span in block.spans
    ]


def page_at(block: Block, words: str) -> tuple[int | None, int | None]:
    """The pages of the span in which `words` begin."""
    at = block.text.index(words)
    return next(
        (span.page_start, span.page_end) for span in block.spans if span.start <= at < span.end
    )
