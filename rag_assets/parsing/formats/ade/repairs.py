"""Repairs of what ADE read: paragraphs that it cut in two, numbers of references that it glued to a
word, and regions that are not the paper's text.

ADE names most of a page's furniture itself, and misses some of it on some pages: the journal's name
is marginalia on page 3 and text on page 4. So text that repeats a marginal note goes too, and then
what recurs on many pages.
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
    """The regions that are text of the paper, in order, and what was taken out."""

    kept: tuple[Region, ...]
    n_dropped: int
    page_labels: tuple[str | None, ...]
    """Printed number of each page, where exactly one marginal note of the page is a number."""
    margins: tuple[str, ...]
    """The marginal notes of the first page."""


def sifted(
    regions: Sequence[Region], title: Region | None, share: float, n_pages: int | None
) -> Sifted:
    """`regions` without noise; `title` is never taken for the running header that repeats it.

    share: as in `running_text.running_lines`.
    """
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
    dropped = {id(region) for region in _running(text_regions, share)} - {id(title)}
    kept = tuple(region for region in text_regions if id(region) not in dropped)
    margins = tuple(plain_line(note.text) for note in notes if note.page_start == 1)
    return Sifted(kept, len(regions) - len(kept), _page_labels(noise, n_pages), margins)


def _running(regions: Sequence[Region], share: float) -> list[Region]:
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

    return running(by_page, line, share)


def _middle(region: Region) -> float:
    return (region.boxes[0].top + region.boxes[0].bottom) / 2 if region.boxes else 0.5


def _folded(text: str) -> str:
    return folded_line(_without_signs(text))


def _without_signs(text: str) -> str:
    """ADE reads one and the same line with "—" and "---", with "©" and without."""
    return " ".join(_SIGNS.sub(" ", plain_line(text)).split())


def _page_labels(noise: Sequence[Region], n_pages: int | None) -> tuple[str | None, ...]:
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
"""The boxes at the foot of a first page, and a table on top of the next."""
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
    """`blocks` with each paragraph that was cut at the end of a column or page put together.

    Figures, tables and boxes between its pieces follow the joined paragraph.
    """
    joined: list[LevelledBlock] = []
    last: int | None = None
    n_since = 0
    for levelled in blocks:
        block = levelled.block
        kind = block.kind
        at = _place_of_start(joined, last, block) if kind is BlockKind.PARAGRAPH else None
        if at is None:
            joined.append(levelled)
        else:
            joined[at] = replace(joined[at], block=_merged(joined[at].block, block, vocabulary))
        if kind is BlockKind.PARAGRAPH:
            last, n_since = len(joined) - 1 if at is None else at, 0
        elif kind in _INTERRUPTIONS and n_since < _MAX_INTERRUPTIONS:
            n_since += 1
        else:
            last = None
    return joined


def _place_of_start(blocks: Sequence[LevelledBlock], last: int | None, block: Block) -> int | None:
    """Index of the paragraph that `block` goes on with; `last` is the last one, if only a few
    floats came after it."""
    if opens_box(block.text):
        return None
    if last is not None and _continues(blocks[last].block, block):
        return last
    return _open_before_boxes(blocks, block)


def _open_before_boxes(blocks: Sequence[LevelledBlock], block: Block) -> int | None:
    """Index of a paragraph that ends in the middle of a phrase, for one that begins in the middle
    of a sentence."""
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
    is_lower = second.text[:1].islower()
    if _ENDS_OPEN.search(first.text):
        return is_lower or not _stands_below(first, second)
    if _ENDS_IN_ADDRESS.search(first.text):
        return False
    return is_lower and not _ENDS_SENTENCE.search(first.text)


def _stands_below(first: Block, second: Block) -> bool:
    """Whether `second` is below `first` in one column, so that no end of a column can have cut a
    sentence."""
    above = first.spans[-1].boxes[-1:] if first.spans else ()
    below = second.spans[0].boxes[:1] if second.spans else ()
    if not above or not below or above[0].page != below[0].page:
        return False
    return abs(above[0].left - below[0].left) <= _SAME_COLUMN and below[0].top >= above[0].top


def _merged(first: Block, second: Block, vocabulary: Vocabulary) -> Block:
    text = mended(f"{first.text} {second.text}", vocabulary)
    start = len(text) - len(
        second.text
    )  # a mended word loses characters before this place or at it, never after
    before = (*first.spans[:-1], replace(first.spans[-1], end=start))
    after = (replace(span, start=span.start + start, end=span.end + start) for span in second.spans)
    return replace(first, text=text, spans=(*before, *after))


def with_marks_apart(regions: Sequence[Region]) -> list[Region]:
    """The regions with proven reference numbers raised and apart from the words before them.

    ADE marks some superscripts and writes others as plain digits ("in one trial32 and", "was
    exacerbated.29 Oral"). Digits behind a word are a reference where that is proven: the paper has
    a numbered reference list with that many entries, and the word occurs without digits elsewhere
    in it ("trial" does, "detectron" in "detectron2" does not).
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

    def apart(text: str) -> str:
        if n_references:
            text = _AFTER_STOP.sub(after_stop, _AFTER_WORD.sub(after_word, text))
        return _RAISED_AFTER_WORD.sub(" ", text)

    return [
        region if region.kind in _NOT_TEXT else replace(region, text=apart(region.text))
        for region in regions
    ]


def _n_references(regions: Sequence[Region]) -> int:
    """Entries of the numbered list under the last heading that names references; 0 where there is
    no such list."""
    start = max(
        (
            at
            for at, region in enumerate(regions)
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
