"""A paper of two columns drawn as a PDF, and the TEI that states where its words were drawn, as
GROBID would."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Literal

from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from rag_assets_testing.papers.pdf import BODY_SIZE, HEIGHT, LEADING, WIDTH

Marked = Literal["paragraphs", "references"]
REFERENCE = "(Lund,2020)"
"""One word of the text; the mark of a reference."""
_FONT = "Helvetica"
_COLUMNS = (50.0, 320.0)
_COLUMN_WIDTH = 230.0
_TOP, _BOTTOM = 70.0, 740.0


@dataclass(frozen=True)
class _Word:
    """A word and where it was drawn, in points from the upper left corner."""

    text: str
    paragraph: int
    page: int
    left: float
    top: float

    @property
    def line(self) -> tuple[int, float, float]:
        return self.page, self.top, next(left for left in reversed(_COLUMNS) if self.left >= left)


def draw_paper(folder: Path, paragraphs: Sequence[str], marked: Marked) -> tuple[Path, Path]:
    """Write `paper.tei.xml`, with coordinates of each line of the paragraphs or of the references,
    and `paper.pdf`."""
    words = list(
        _placed([text.encode("latin-1", "replace").decode("latin-1") for text in paragraphs])
    )
    pdf, tei = folder / "paper.pdf", folder / "paper.tei.xml"
    canvas = Canvas(str(pdf), pagesize=(WIDTH, HEIGHT), invariant=1)
    for _, page in groupby(words, lambda word: word.page):
        canvas.setFont(_FONT, BODY_SIZE)
        for word in page:
            canvas.drawString(word.left, HEIGHT - word.top - BODY_SIZE, word.text)
        canvas.showPage()
    canvas.save()
    n_pages = words[-1].page
    surfaces = "".join(
        f'<surface n="{n}" ulx="0" uly="0" lrx="{WIDTH}" lry="{HEIGHT}"/>'
        for n in range(1, n_pages + 1)
    )
    body = "".join(
        _paragraph(list(one), marked) for _, one in groupby(words, lambda word: word.paragraph)
    )
    tei.write_text(
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>Drawn</title></titleStmt>'
        f"</fileDesc></teiHeader><facsimile>{surfaces}</facsimile><text><body><div>{body}</div></body></text></TEI>",
        "utf-8",
    )
    return tei, pdf


def _placed(paragraphs: Sequence[str]) -> Iterator[_Word]:
    page, column, top = 1, 0, _TOP
    for number, text in enumerate(paragraphs):
        left = 0.0
        for word in text.split():
            width = stringWidth(f"{word} ", _FONT, BODY_SIZE)
            if left + width > _COLUMN_WIDTH:
                left, top = 0.0, top + LEADING
            if top > _BOTTOM:
                page, column, top = page + column, 1 - column, _TOP
            yield _Word(word, number, page, _COLUMNS[column] + left, top)
            left += width
        top += 2 * LEADING


def _paragraph(words: list[_Word], marked: Marked) -> str:
    if marked == "references":
        return f"<p>{' '.join(_reference(word) if word.text == REFERENCE else escape(word.text) for word in words)}</p>"
    areas = ";".join(_area(list(line)) for _, line in groupby(words, lambda word: word.line))
    return f'<p coords="{areas}">{escape(" ".join(word.text for word in words))}</p>'


def _reference(word: _Word) -> str:
    return f'<ref type="bibr" coords="{_area([word])}">{word.text}</ref>'


def _area(words: list[_Word]) -> str:
    """`page,x,y,width,height` of words on one line."""
    first, last = words[0], words[-1]
    width = last.left + stringWidth(last.text, _FONT, BODY_SIZE) - first.left
    return f"{first.page},{first.left:.2f},{first.top:.2f},{width:.2f},{BODY_SIZE}"
