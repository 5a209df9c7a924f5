"""Repairs errors of ADE: joins paragraphs that it cut in two, separates reference numbers from the
words before them, and removes regions that are not text of the paper.

ADE recognises most headers and footers, but not on all pages: the journal's name is "marginalia" on
page 3 and "text" on page 4. So text that repeats a marginal note is removed too, and then text that
is repeated at the edge of many pages.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_assets.core.domain import Block, BlockKind
from rag_assets.core.text.headings import names_references
from rag_assets.parsing.formats.ade.shapes import Region
from rag_assets.parsing.formats.markdown.parts import plain_line
from rag_assets.parsing.shared.hyphenation import Vocabulary, mended
from rag_assets.parsing.shared.running_text import PlacedLine, folded_line, opens_box, running
from rag_assets.parsing.shared.sections import LevelledBlock
from rag_assets.parsing.shared.superscripts import raised

_NOISE_KINDS = frozenset(
    {
        "marginalia",
        "logo",
        "page_header",
        "page_footer",
        "page_number",
        "scan_code",
        "attestation",
        "error",
    }
)
_MARGINAL_KINDS = frozenset({"marginalia", "page_header", "page_footer"})
_NOT_RUNNING_KINDS = frozenset({"table", "figure"})
_SIGNS = re.compile(r"[^\w\s]+|_+")
_PAGE_LABEL = re.compile(r"\d{1,5}|[ivxlc]{1,7}")


@dataclass(frozen=True)
class Sifted:
    """The regions that are text of the paper, in order, and what is known from the others."""

    kept: tuple[Region, ...]
    n_dropped: int
    page_labels: tuple[str | None, ...]
    """Printed number of each page; None unless exactly one marginal note of the page is a
    number."""
    margins: tuple[str, ...]
    """The marginal notes of the first page."""


def sifted(regions: Sequence[Region], title: Region | None, n_pages: int | None) -> Sifted:
    """Remove the regions that are not text of the paper. `title`, the region with the title of the
    paper, always stays, although running headers may repeat it."""
    noise = [region for region in regions if region.kind in _NOISE_KINDS]
    notes = [region for region in noise if region.kind in _MARGINAL_KINDS]
    folded = {_folded(text) for note in notes for text in (note.text, *note.text.splitlines())}
    marginal = {text for text in folded if sum(map(str.isalpha, text)) >= 3}
    text_regions = [
        region
        for region in regions
        if region.kind not in _NOISE_KINDS
        and (region is title or _folded(region.text) not in marginal)
    ]
    dropped = {id(region) for region in _running(text_regions)} - {id(title)}
    kept = tuple(region for region in text_regions if id(region) not in dropped)
    margins = tuple(plain_line(note.text) for note in notes if note.page_start == 1)
    return Sifted(kept, len(regions) - len(kept), _page_labels(noise, n_pages), margins)


def _running(regions: Sequence[Region]) -> list[Region]:
    """The regions that are running headers or footers."""
    pages: dict[int, list[Region]] = {}
    for region in regions:
        if region.page_start is not None:
            pages.setdefault(region.page_start, []).append(region)
    by_page = [
        sorted(pages.get(page, []), key=_middle) for page in range(1, max(pages, default=0) + 1)
    ]

    def line(region: Region) -> PlacedLine:
        text = "" if region.kind in _NOT_RUNNING_KINDS else _without_signs(region.text)
        return PlacedLine(text, _middle(region))

    return running(by_page, line)


def _middle(region: Region) -> float:
    """The vertical centre of a region, as a fraction of the page from the top."""
    return (region.boxes[0].top + region.boxes[0].bottom) / 2 if region.boxes else 0.5


def _folded(text: str) -> str:
    return folded_line(_without_signs(text))


def _without_signs(text: str) -> str:
    """The text without signs, because ADE reads the same line once with "—" and once with "---",
    once with "©" and once without."""
    return " ".join(_SIGNS.sub(" ", plain_line(text)).split())


def _page_labels(noise: Sequence[Region], n_pages: int | None) -> tuple[str | None, ...]:
    """The value of `Sifted.page_labels`; empty if no page has a number."""
    labels: dict[int, set[str]] = {}
    for region in noise:
        text = region.text.strip()
        if region.page_start is not None and _PAGE_LABEL.fullmatch(text):
            labels.setdefault(region.page_start, set()).add(text)
    if not labels or n_pages is None:
        return ()
    found = [labels.get(page, set()) for page in range(1, n_pages + 1)]
    return tuple(next(iter(texts)) if len(texts) == 1 else None for texts in found)


_ENDS_SENTENCE = re.compile(
    r"(?:[.!?:;]|(?<![\d.])[.!?][\"'”’)\]]*[\s\d⁰¹²³⁴⁵⁶⁷⁸⁹,–-]{1,14})[\"'”’)\]]*$"
)
_ENDS_OPEN = re.compile(
    r"\b(?:and|or|of|the|in|for|with|to|a|by|on|from|is|are|was|were|as|than|between)$"
)
_ENDS_IN_ADDRESS = re.compile(r"(?:\b10\.\d{4,}/|https?://|www\.|\S@)\S*$")
_INTERRUPTIONS = frozenset({BlockKind.TABLE, BlockKind.FIGURE, BlockKind.FOOTNOTE})
_MAX_INTERRUPTIONS = 4
_MAX_BLOCKS_PASSED = 12
"""Largest number of blocks between two parts of a paragraph: boxes at the bottom of the first page,
and a table at the top of the next."""
_MIN_WORDS_AFTER_BOXES = 5
_SAME_COLUMN = 0.05
_REFERENCE_NUMBERS = r"\d{1,3}(?:[,–-]\d{1,3})*"
_AFTER_WORD = re.compile(
    rf"(?<![\w.@/])([A-Za-z][a-z]{{3,}})({_REFERENCE_NUMBERS})(?![\w/%°]|[.,–-]\d)"
)
_AFTER_STOP = re.compile(
    rf"(?<![\w.@/])([a-z]{{3,}}(?:\)?[,;]|\)?\.(?={_REFERENCE_NUMBERS}(?:\s+[A-Z(]|\s*\Z))))({_REFERENCE_NUMBERS})(?=\s|\Z)"
)
_RAISED_AFTER_WORD = re.compile(r"(?<=[a-z]{4})(?=[⁰¹²³⁴-⁹])")
_WORD = re.compile(r"(?<!\w)[A-Za-z][a-z]{3,}(?!\w)")
_ENTRY = re.compile(r"^[ \t]*\[?(\d{1,3})[.\]]?\s", re.MULTILINE)
_NUMBER = re.compile(r"\d+")
_NOT_TEXT = frozenset({"table", "figure"})
_MIN_REFERENCES = 5


def with_joined_paragraphs(
    blocks: Sequence[LevelledBlock], vocabulary: Vocabulary
) -> list[LevelledBlock]:
    """The blocks; a paragraph that was cut at the end of a column or page is joined again. Figures,
    tables and boxes between its parts follow the joined paragraph.
    """
    joined: list[LevelledBlock] = []
    last: int | None = None
    """Index in `joined` of the last paragraph; None if more than a few floats follow it."""
    n_floats = 0
    for levelled in blocks:
        block = levelled.block
        kind = block.kind
        start = _first_part(joined, last, block) if kind is BlockKind.PARAGRAPH else None
        if start is None:
            joined.append(levelled)
        else:
            paragraph = _merged(joined[start].block, block, vocabulary)
            joined[start] = replace(joined[start], block=paragraph)
        if kind is BlockKind.PARAGRAPH:
            last, n_floats = len(joined) - 1 if start is None else start, 0
        elif kind in _INTERRUPTIONS and n_floats < _MAX_INTERRUPTIONS:
            n_floats += 1
        else:
            last = None
    return joined


def _first_part(blocks: Sequence[LevelledBlock], last: int | None, block: Block) -> int | None:
    """Index of the paragraph that the paragraph `block` continues; None if it continues none. last:
    index of the last paragraph, if it may be continued."""
    if opens_box(block.text):
        return None
    if last is not None and _continues(blocks[last].block, block):
        return last
    return _open_before_boxes(blocks, block)


def _open_before_boxes(blocks: Sequence[LevelledBlock], block: Block) -> int | None:
    """Index of the nearest paragraph before, if it ends in the middle of a phrase and `block` begins
    with a small letter; boxes may be between them."""
    if not block.text[:1].islower() or len(block.text.split()) < _MIN_WORDS_AFTER_BOXES:
        return None
    for index in range(len(blocks) - 1, max(len(blocks) - 1 - _MAX_BLOCKS_PASSED, -1), -1):
        earlier = blocks[index].block
        if earlier.kind is BlockKind.HEADING:
            return None
        if earlier.kind is BlockKind.PARAGRAPH and _ENDS_OPEN.search(earlier.text):
            return index
    return None


def _continues(first: Block, second: Block) -> bool:
    """Whether the paragraph `second` continues `first`: `first` ends in an open phrase or without a
    full stop, and `second` begins with a small letter or in another column."""
    is_lower = second.text[:1].islower()
    if _ENDS_OPEN.search(first.text):
        return is_lower or not _is_below(first, second)
    if _ENDS_IN_ADDRESS.search(first.text):
        return False
    return is_lower and not _ENDS_SENTENCE.search(first.text)


def _is_below(first: Block, second: Block) -> bool:
    """Whether `second` is below `first` in the same column, so that no end of a column is between
    them."""
    above = first.spans[-1].boxes[-1:] if first.spans else ()
    below = second.spans[0].boxes[:1] if second.spans else ()
    if not above or not below or above[0].page != below[0].page:
        return False
    return abs(above[0].left - below[0].left) <= _SAME_COLUMN and below[0].top >= above[0].top


def _merged(first: Block, second: Block, vocabulary: Vocabulary) -> Block:
    """One block with the texts and spans of both."""
    text = mended(f"{first.text} {second.text}", vocabulary)
    # a joined word loses its hyphen and space, which are before the text of `second`
    start = len(text) - len(second.text)
    before = (*first.spans[:-1], replace(first.spans[-1], end=start))
    after = (replace(span, start=span.start + start, end=span.end + start) for span in second.spans)
    return replace(first, text=text, spans=(*before, *after))


def with_marks_apart(regions: Sequence[Region]) -> list[Region]:
    """The regions; reference numbers that ADE wrote as plain digits after a word become superscript
    characters: "in one trial32 and" -> "in one trial ³² and", "exacerbated.29" -> "exacerbated.²⁹".

    Digits after a word are a reference only if the paper has a numbered reference list with that
    many entries, and the word also occurs without digits ("trial" does; "detectron" of "detectron2"
    does not).
    """
    n_references = _n_references(regions)
    words = {
        word.lower() for region in regions if n_references for word in _WORD.findall(region.text)
    }

    def after_word(match: re.Match[str]) -> str:
        word, numbers = match.groups()
        is_mark = word.lower() in words and _are_references(numbers, n_references)
        return f"{word} {raised(numbers)}" if is_mark else match[0]

    def after_stop(match: re.Match[str]) -> str:
        before, numbers = match.groups()
        return before + raised(numbers) if _are_references(numbers, n_references) else match[0]

    def with_raised_numbers(text: str) -> str:
        if n_references:
            text = _AFTER_STOP.sub(after_stop, _AFTER_WORD.sub(after_word, text))
        return _RAISED_AFTER_WORD.sub(" ", text)

    return [
        region
        if region.kind in _NOT_TEXT
        else replace(region, text=with_raised_numbers(region.text))
        for region in regions
    ]


def _n_references(regions: Sequence[Region]) -> int:
    """Number of entries in the numbered list below the last heading that names references, counted
    as long as no number is missing; 0 if there are fewer than five."""
    start = max(
        (
            index
            for index, region in enumerate(regions)
            if names_references(region.text.lstrip().partition("\n")[0][:100])
        ),
        default=len(regions),
    )
    numbers = {
        int(match[1]) for region in regions[start:] for match in _ENTRY.finditer(region.text)
    }
    n = next(n for n in range(len(numbers) + 1) if n + 1 not in numbers)
    return n if n >= _MIN_REFERENCES else 0


def _are_references(numbers: str, n_references: int) -> bool:
    return all(1 <= int(number) <= n_references for number in _NUMBER.findall(numbers))
