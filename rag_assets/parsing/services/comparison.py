"""The words of a service's reading of a PDF beside those of our own: what one of them lost."""

import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from rag_assets.core.domain import Block, BlockKind, Document, Zone
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.formats.pdf.document import parse_pdf
from rag_assets.parsing.places.words import LocatedWords
from rag_assets.parsing.shared.files.raw import RawFile

logger = logging.getLogger(__name__)
_PROSE = (BlockKind.PARAGRAPH, BlockKind.LIST)
_NOT_COMPARED = (Zone.TITLE_PAGE, Zone.BACK)
_MIN_LETTERS = 3
"""Shorter words, and numbers, are mostly pieces of formulas and of the axes of figures."""


def compared(reading: Document, pdf: RawFile, settings: ParsingSettings) -> Document:
    """`reading` with its two shares of words; without them where our own reader cannot read the PDF."""
    try:
        own = parse_pdf(pdf, settings)
    except Exception as error:  # whatever it is, it must not cost the paper its reading
        logger.info("%s is not compared with our own reading: %s", pdf.path, error)
        return reading
    return replace(reading, words_lost=share_lost(own, reading), words_gained=share_lost(reading, own))


def share_lost(there: Document, here: Document) -> float:
    """Share of the words in the prose of `there` that are nowhere in `here` (0 to 1).

    A word counts as often as it occurs, wherever it stands: the readings need not agree about the order. Prose:
    paragraphs and lists without the title page and the reference list.
    """
    prose = (block for block in there.blocks if block.kind in _PROSE and block.zone not in _NOT_COMPARED)
    words = _words(prose)
    return (words - _words(here.blocks)).total() / max(words.total(), 1)


def _words(blocks: Iterable[Block]) -> Counter[str]:
    found = (word for block in blocks for text in (block.text, block.caption) for word in LocatedWords.of(text).words)
    return Counter(word for word in found if len(word) >= _MIN_LETTERS and word.isalpha())
