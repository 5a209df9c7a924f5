"""From groups of lines to the blocks of a document: kinds, captions, lists, and paragraphs across
columns and pages.

The groups come in reading order, without running headers.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise

from rag_assets.core.domain import BREAK, Block, BlockKind, Span, Zone
from rag_assets.core.text.headings import unspaced
from rag_assets.core.text.names import ordinary_words
from rag_assets.parsing.formats.pdf.blocks import (
    EQUATION_NUMBER,
    BodyStyle,
    GroupKind,
    LineGroup,
    caption_kind,
    leaves_room,
    without_bullet,
)
from rag_assets.parsing.formats.pdf.captions import (
    clearest,
    is_no_other,
    label_of,
    table_titles,
    tell_one_table,
)
from rag_assets.parsing.formats.pdf.file import Outline
from rag_assets.parsing.formats.pdf.headings import Headings
from rag_assets.parsing.formats.pdf.layout import Line
from rag_assets.parsing.formats.pdf.printed_table import Printed, cells_over_pages
from rag_assets.parsing.formats.pdf.sections import ZoneEntry, zones_of
from rag_assets.parsing.formats.pdf.text import is_one_size
from rag_assets.parsing.shared.hyphenation import SOFT_HYPHEN, Vocabulary, ends_with_hyphen, glued
from rag_assets.parsing.shared.running_text import opens_box
from rag_assets.parsing.shared.sections import OpenSections
from rag_assets.parsing.shared.table_rows import table_block
from rag_assets.parsing.tables import read_table

_ENDED = re.compile(r"[.?!:;][\"'”’)\]*†‡\d,]*(?:[⁰¹²³⁴-⁹][⁰¹²³⁴-⁹⁻–,]*)?$")
_DECIMAL = re.compile(r"(?:^|\s)\d+\.\d+\)?$")
_OPENING = "\"'“‘(["
_FOOTNOTE_SIZE = 0.93
_FOOTNOTE_TOP = 0.5
_FOOTNOTE_MARK = re.compile(r"(?:\d{1,3}|[*∗†‡§¶#]+)[\s.)]*\S")
_FULL_LINE_EMS = 2.0
_AFTER_HEADING = ".:—–- "
_FLOATING = (BlockKind.FIGURE, BlockKind.TABLE, BlockKind.FOOTNOTE)
_MAX_PASSED, _MAX_PAGES_PASSED = 80, 2
_FEWEST_WORDS, _BESIDE_WORDS = 4, ".,;:()[]-"
"""An address or a label has fewer words, and no sentence to go on with."""


@dataclass
class _Gathered:
    """A block while its groups are gathered."""

    kind: BlockKind
    groups: list[LineGroup]
    caption: list[LineGroup] = field(default_factory=list)
    items: list[list[LineGroup]] = field(default_factory=list)
    """The groups of each item of a list."""


def blocks_of(
    groups: Sequence[LineGroup], title: LineGroup | None, outline: Outline
) -> tuple[Block, ...]:
    """The blocks of a document from its groups in reading order; `title` is the group that is its
    title, if any."""
    body = BodyStyle.of(groups)
    vocabulary = Vocabulary.of(line.text for group in groups for line in group.lines)
    ordinary = ordinary_words(" ".join(line.text for group in groups for line in group.lines))
    groups, levels = Headings(groups, title, outline, ordinary).outline()
    captioned = _with_tables_continued(
        _with_captions(_gathered(groups, body, {*levels, id(title)}))
    )
    gathered = _with_lists(_with_paragraphs_joined(captioned))
    texts = [
        _text_and_spans(one, vocabulary, is_heading=id(one.groups[0]) in levels) for one in gathered
    ]
    entries = [
        ZoneEntry(text, one.groups[0].page, levels.get(id(one.groups[0]), 0))
        for one, (text, _) in zip(gathered, texts, strict=True)
    ]
    sections = OpenSections()
    blocks = []
    for one, (text, spans), entry, zone in zip(
        gathered, texts, entries, zones_of(entries), strict=True
    ):
        is_title = one.groups[0] is title
        path = (
            (text,)
            if is_title
            else sections.enter(entry.level, text)
            if entry.level
            else sections.path
        )
        caption = _joined_groups(one.caption, vocabulary)[0]
        block = Block(one.kind, text, path, Zone.FRONT if is_title else zone, spans, caption)
        blocks.append(_table(one, block, vocabulary) if one.kind is BlockKind.TABLE else block)
    by_ocr = {group.page for group in groups if group.is_by_ocr}
    return tuple(_marked(block, by_ocr) if by_ocr else block for block in blocks if block.text)


def _marked(block: Block, by_ocr: Set[int]) -> Block:
    """The block with its spans on the pages that OCR read marked as such."""

    def marked(spans: Sequence[Span]) -> tuple[Span, ...]:
        return tuple(replace(span, is_by_ocr=span.page_start in by_ocr) for span in spans)

    return replace(block, spans=marked(block.spans), title_spans=marked(block.title_spans))


def _gathered(groups: Iterable[LineGroup], body: BodyStyle, headings: Set[int]) -> list[_Gathered]:
    """Returns one block per group, in the same order. headings: the `id()` of each group that is a
    heading or the title."""
    gathered: list[_Gathered] = []
    for group in groups:
        kind = BlockKind.HEADING if id(group) in headings else _kind_of(group, body, gathered)
        gathered.append(_Gathered(kind, [group]))
    return gathered


def _kind_of(group: LineGroup, body: BodyStyle, before: Sequence[_Gathered]) -> BlockKind:
    """The kind of block that a group becomes if it is no heading. Text at an angle to the page
    becomes a footnote too, so that it does not interrupt the prose. `before`: the blocks before it,
    because a footnote is recognised by the text above it."""
    if group.kind is GroupKind.ROWS:
        return BlockKind.TABLE
    if group.kind is GroupKind.FORMULA:
        return BlockKind.FORMULA
    if group.is_aside or _is_footnote(group, body, before):
        return BlockKind.FOOTNOTE
    if caption_kind(group) == "figure":
        return BlockKind.FIGURE
    return BlockKind.LIST if group.kind is GroupKind.ITEM else BlockKind.PARAGRAPH


def _is_footnote(group: LineGroup, body: BodyStyle, before: Sequence[_Gathered]) -> bool:
    """Small text right under a table or the caption of a figure; and under larger text or another
    footnote in the lower part of the same column, with a mark or as the rest of a footnote that was
    left open."""
    if not before or group.size > _FOOTNOTE_SIZE * body.size:
        return False
    first, above = group.lines[0], before[-1]
    last = above.groups[-1].lines[-1]
    if above.kind in (BlockKind.TABLE, BlockKind.FIGURE):
        return last.frame.page == first.frame.page
    if last.column != first.column or first.top < _FOOTNOTE_TOP * first.frame.height:
        return False
    if above.kind is BlockKind.FOOTNOTE:
        return True
    is_under_larger = above.groups[-1].size > _FOOTNOTE_SIZE * body.size
    return is_under_larger and bool(
        _FOOTNOTE_MARK.match(first.text) or _open_footnote(before, group)
    )


def _open_footnote(before: Sequence[_Gathered], group: LineGroup) -> _Gathered | None:
    """The footnote of this page or the one before it whose sentence goes on in `group`."""
    for block in reversed(before):
        last = block.groups[-1]
        if group.page - last.page > 1:
            return None
        is_note = block.kind is BlockKind.FOOTNOTE
        if (
            is_note
            and is_one_size(last.size, group.size)
            and _goes_on(last.lines[-1].text, group.lines[0].text)
        ):
            return block
    return None


def _with_captions(blocks: list[_Gathered]) -> list[_Gathered]:
    """Give each table its caption, or its title and unit, and take those from the text."""
    titles = table_titles([block.groups[0] for block in blocks])
    for table, indices in titles.items():
        blocks[table].caption = [blocks[index].groups[0] for index in indices]
    taken = {index for indices in titles.values() for index in indices}
    return [block for index, block in enumerate(blocks) if index not in taken]


def _with_tables_continued(blocks: Sequence[_Gathered]) -> list[_Gathered]:
    """Put each table together with the one it goes on from."""
    joined: list[_Gathered] = []
    for block in blocks:
        above = _goes_on_from(block, joined) if block.kind is BlockKind.TABLE else None
        if above:
            above.groups.extend(block.groups)
            above.caption = clearest([above.caption, block.caption])
        else:
            joined.append(block)
    return joined


def _goes_on_from(table: _Gathered, before: Sequence[_Gathered]) -> _Gathered | None:
    """The last table of the same number and title; else the one directly before a table that has no
    other title."""
    first, label = _tables(table)[0], label_of(table.caption)
    if label:
        named = (
            one
            for one in reversed(before)
            if one.kind is BlockKind.TABLE and label_of(one.caption) == label
        )
        above = next(named, None)
        is_one = (
            above
            and tell_one_table(table.caption, above.caption)
            and _tables(above)[-1].is_repeated_in(first)
        )
        return above if is_one else None
    above = next((one for one in reversed(before) if one.kind is not BlockKind.FOOTNOTE), None)
    if (
        above is None
        or above.kind is not BlockKind.TABLE
        or not _tables(above)[-1].goes_on_in(first)
    ):
        return None
    return above if is_no_other(table.caption, above.caption) else None


def _tables(block: _Gathered) -> list[Printed]:
    return [line.table for group in block.groups for line in group.lines if line.table]


def _with_paragraphs_joined(blocks: Sequence[_Gathered]) -> list[_Gathered]:
    """Put the pieces of a paragraph together where its sentence goes on after a column, a page or a
    float, and those of a footnote."""
    joined: list[_Gathered] = []
    for block in blocks:
        first, earlier = block.groups[0], None
        if block.kind is BlockKind.PARAGRAPH:
            earlier = _open_paragraph(joined, first)
            earlier = earlier if earlier and _continues(earlier, first) else None
        elif block.kind is BlockKind.FOOTNOTE and not first.is_aside:
            earlier = _open_footnote(joined, first)
        if earlier:
            earlier.groups.extend(block.groups)
        else:
            joined.append(block)
    return joined


def _open_paragraph(blocks: Sequence[_Gathered], group: LineGroup) -> _Gathered | None:
    """The last piece of prose set like `group`, if only floats and text that is no such prose stand
    between."""
    for block in reversed(blocks[-_MAX_PASSED:]):
        if group.page - block.groups[-1].page > _MAX_PAGES_PASSED:
            return None
        is_text = block.kind in (BlockKind.PARAGRAPH, BlockKind.LIST)
        is_alike = is_text and is_one_size(block.groups[-1].size, group.size)
        if is_alike and (block.kind is BlockKind.LIST or _is_prose(block)):
            return block
        if not is_text and block.kind not in _FLOATING:
            return None
    return None


def _is_prose(block: _Gathered) -> bool:
    """Whether a paragraph is no caption, copyright line, address or label."""
    first, last = block.groups[0], block.groups[-1]
    n_words = sum(word.strip(_BESIDE_WORDS).isalpha() for word in last.plain_text.split())
    return (
        n_words >= _FEWEST_WORDS and caption_kind(first) is None and not opens_box(first.plain_text)
    )


def _continues(earlier: _Gathered, group: LineGroup) -> bool:
    """Whether a group continues the open paragraph `earlier`. It does if a sentence or a bracket is
    open at the end of the paragraph. A sentence may also go on with a capital letter, as in a name;
    this counts only from one column or page to the next, after a full last line, and if the group
    has several lines and no indent."""
    above = earlier.groups[-1]
    last, first = above.lines[-1], group.lines[0]
    if opens_box(first.text):
        return False
    # "Three months ended July 2," above a table is a label: what follows would have fitted behind
    # its comma.
    is_label = leaves_room(last, first) and last.text.endswith(",") and not first.text[:1].islower()
    goes_on = not is_label and _goes_on(last.text, first.text)
    if goes_on or _closes_bracket(above.plain_text, group.plain_text):
        return True
    changes_column = last.column != first.column or last.frame.page != first.frame.page
    is_full = last.column.right - last.right <= _FULL_LINE_EMS * last.size and len(above.lines) > 1
    is_flush = first.left - first.column.left <= 0.5 * first.size
    return (
        changes_column
        and is_full
        and is_flush
        and len(group.lines) > 1
        and not _has_ended(last.text)
    )


def _goes_on(text: str, next_text: str) -> bool:
    """Whether a sentence that ends a column goes on with `next_text` in the next."""
    if _has_ended(text):
        return False
    starts_inside = next_text.lstrip(_OPENING)[:1].islower()
    return starts_inside or ends_with_hyphen(text) or text.endswith((",", "("))


def _has_ended(text: str) -> bool:
    return bool(_ENDED.search(text)) and not _DECIMAL.search(text)


def _closes_bracket(text: str, next_text: str) -> bool:
    """Whether `next_text` closes a bracket that is open at the end of `text`: "(Lund et al.," goes
    on with "2019)"."""
    closes, opens = next_text.find(")"), next_text.find("(")
    return text.rfind("(") > text.rfind(")") and closes >= 0 and (opens < 0 or closes < opens)


def _with_lists(blocks: Iterable[_Gathered]) -> list[_Gathered]:
    """Neighbouring items make one list."""
    merged: list[_Gathered] = []
    for block in blocks:
        if block.kind is not BlockKind.LIST:
            merged.append(block)
        elif merged and merged[-1].kind is BlockKind.LIST:
            merged[-1].items.append(block.groups)
            merged[-1].groups = [*merged[-1].groups, *block.groups]
        else:
            merged.append(replace(block, items=[block.groups]))
    return merged


def _text_and_spans(
    block: _Gathered, vocabulary: Vocabulary, *, is_heading: bool
) -> tuple[str, tuple[Span, ...]]:
    """The text of a block with its spans. The items of a list are on lines of their own. A heading
    loses its bullet, the spaces between its letters ("a b s t r a c t") and the punctuation at its
    end; its spans end where the shorter text ends."""
    if block.kind is BlockKind.LIST:
        return _on_lines([_joined_groups(item, vocabulary) for item in block.items])
    text, spans = _joined_groups(block.groups, vocabulary)
    if not is_heading:
        return text, spans
    shown = unspaced(without_bullet(text.replace(BREAK, " "))).rstrip(_AFTER_HEADING)
    return shown, tuple(replace(span, end=len(shown)) for span in spans)


def _on_lines(pieces: Sequence[tuple[str, tuple[Span, ...]]]) -> tuple[str, tuple[Span, ...]]:
    """Texts on lines of their own; a line break belongs to the span before it."""
    spans: list[Span] = []
    at = 0
    for text, own in pieces:
        if spans:
            spans[-1] = replace(spans[-1], end=at)
        spans.extend(replace(span, start=span.start + at, end=span.end + at) for span in own)
        at += len(text) + 1
    return "\n".join(text for text, _ in pieces), tuple(spans)


def _table(gathered: _Gathered, block: Block, vocabulary: Vocabulary) -> Block:
    """`block` as a table, its cells read, with the place of its caption."""
    boxes = [group.box() for group in gathered.caption]
    cells = cells_over_pages(_tables(gathered))
    whole = [replace(cell, text=joined(cell.text.split("\n"), vocabulary)) for cell in cells]
    table = table_block(read_table(whole), block.title, title_boxes=boxes)
    return replace(table, section_path=block.section_path, zone=block.zone)


def _joined_groups(
    groups: Sequence[LineGroup], vocabulary: Vocabulary
) -> tuple[str, tuple[Span, ...]]:
    """One paragraph from the groups of lines it is printed in, with one span per group, or per line
    that OCR read: its page and its box."""
    text = ""
    starts: list[int] = []
    groups = [piece for group in groups for piece in group.pieces()]
    texts = _with_breaks(groups)
    for group in groups:
        piece = _joined_open(list(islice(texts, len(group.lines))), vocabulary)
        text = glued(text, piece, vocabulary) if text else piece
        starts.append(len(text) - len(piece))
    text = text.removesuffix(SOFT_HYPHEN)
    ends = [*starts[1:], len(text)][: len(groups)]
    return text, tuple(
        Span(start, end, group.page, group.page, group.boxes())
        for group, start, end in zip(groups, starts, ends, strict=True)
        if end > start
    )


def _with_breaks(groups: Sequence[LineGroup]) -> Iterator[str]:
    """The texts of the lines of groups, with a BREAK where a line holds two texts beside each
    other, and where a line neither lies below the one above nor goes on from its end."""
    lines = [line for group in groups for line in group.lines]
    for at, line in enumerate(lines):
        near = [one for one in lines[max(at - 1, 0) : at + 2] if one.column is line.column]
        text = _cells_with_breaks(line, near) if groups[0].is_prose else line.text
        if near[0] is not line and not _goes_on_below(near[0], line):
            text = BREAK.lstrip() + text
        yield text


def _cells_with_breaks(line: Line, near: Sequence[Line]) -> str:
    """The text of a line. White space separates two texts unless words of the line above or below
    cross it: that between words that were spread to fill the line is at other places in each."""
    places = list(zip(line.cells, line.cell_lefts, line.cell_rights, strict=True))
    text = line.cells[0]
    for (_, *edges), (cell, *others) in pairwise(places):
        middle = sum(sorted((*edges, *others))[1:3]) / 2
        words = (edge for one in near for edge in zip(one.cell_lefts, one.cell_rights, strict=True))
        is_crossed = any(left < middle < right for left, right in words)
        is_one = is_crossed or _goes_on_surely(text) or EQUATION_NUMBER.fullmatch(cell)
        text = f"{text}{' ' if is_one else BREAK}{cell}"
    return text


def _goes_on_below(above: Line, line: Line) -> bool:
    """Whether two lines of a column share some width, or a full line is followed by one that begins
    left of it."""
    is_full = above.column.right - above.right <= _FULL_LINE_EMS * above.size
    is_below = min(above.right, line.right) > max(above.left, line.left)
    return is_below or (is_full and line.left < above.left) or _goes_on_surely(above.text)


def _goes_on_surely(text: str) -> bool:
    """Whether a sentence or half a word ends a text."""
    return _has_ended(text) or ends_with_hyphen(text)


def joined(texts: Sequence[str], vocabulary: Vocabulary) -> str:
    """Lines of prose as one text without line breaks, hyphens at their ends resolved."""
    return _joined_open(texts, vocabulary).replace(SOFT_HYPHEN, "")


def _joined_open(texts: Sequence[str], vocabulary: Vocabulary) -> str:
    """Like `joined`, but a soft hyphen at the very end is kept for the next piece."""
    text = ""
    for line in texts:
        clean = line[:-1].replace(SOFT_HYPHEN, "") + line[-1:]
        text = clean if not text else glued(text, clean, vocabulary)
    return text
