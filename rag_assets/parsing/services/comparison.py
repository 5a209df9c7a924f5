"""The words of a service's reading of a PDF beside those of our own: what one of them lost."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from rag_assets.core.domain import Block, BlockKind, Document, Zone
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.formats.pdf.document import parse_pdf
from rag_assets.parsing.places.words import LocatedWords
from rag_assets.parsing.shared.files.raw import RawFile

_KINDS, _BESIDE = (BlockKind.PARAGRAPH, BlockKind.LIST), (Zone.TITLE_PAGE, Zone.BACK)
_MIN_LETTERS = 3
"""Shorter words, and numbers, are mostly pieces of formulas and of the axes of figures."""


def compared(reading: Document, pdf: RawFile, settings: ParsingSettings) -> Document:
    """`reading` with `words_lost` and a note; without them where our own reader cannot read the PDF."""
    try:
        own = parse_pdf(pdf, settings)
    except Exception:  # whatever it is, it must not cost the paper its reading
        return reading
    lost, gained = share_lost(own, reading), share_lost(reading, own)
    note = f"{lost:.0%} of the words that our own reader finds are not in it, and {gained:.0%} of its words only there."
    return replace(reading, words_lost=max(lost, gained), notes=(*reading.notes, note))


def share_lost(there: Document, here: Document) -> float:
    """Share of the words in the paragraphs and lists of `there`, title page and reference list aside, that are nowhere
    in `here` (0 to 1). A word counts as often as it occurs, wherever it stands."""
    words = _words(block for block in there.blocks if block.kind in _KINDS and block.zone not in _BESIDE)
    return (words - _words(here.blocks)).total() / max(words.total(), 1)


def _words(blocks: Iterable[Block]) -> Counter[str]:
    found = (word for block in blocks for text in (block.text, block.caption) for word in LocatedWords.of(text).words)
    return Counter(word for word in found if len(word) >= _MIN_LETTERS and word.isalpha())
