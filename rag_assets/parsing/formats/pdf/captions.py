"""Which caption belongs to which table of a PDF, the title and unit of tables without a caption,
and which captions are of one table that goes on over pages.
"""

from collections.abc import Sequence

from rag_assets.core.text.folding import letters_of
from rag_assets.core.text.headings import heading_number
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.parsing.formats.pdf.blocks import GroupKind, LineGroup, caption_kind
from rag_assets.parsing.formats.pdf.printed_table import CONTINUED
from rag_assets.parsing.tables.titles import paired

_MOST_LINES_APART = 4.0
"""White space between a table and its caption, in heights of a line of the caption."""
_TITLE_APART = 2.5
_MOST_TITLE_LINES, _MOST_TITLE_GROUPS = 3, 4
_LABEL_WORDS = 2
_CENTRED = 0.08
_TITLE_BOLD = 0.5


def table_titles(groups: Sequence[LineGroup]) -> dict[int, list[int]]:
    """For each table of `groups`, by its index, the indices of the groups that are its caption, or
    its title and unit."""
    tables = [index for index, group in enumerate(groups) if group.kind is GroupKind.ROWS]
    captions = {
        index: _caption(groups, index)
        for index, group in enumerate(groups)
        if caption_kind(group) == "table"
    }
    gaps: dict[tuple[int, int], float] = {}
    for table in tables:
        for index, own in captions.items():
            gap = _gap(groups[table], [groups[one] for one in own])
            if gap <= _MOST_LINES_APART:
                gaps[table, index] = gap
    titles = {table: captions[index] for table, index in paired(gaps).items()}
    taken = {index for own in titles.values() for index in own}
    for table in tables:
        if table not in titles and (above := _title_above(groups, table, taken)):
            titles[table] = above
    return titles


def _caption(groups: Sequence[LineGroup], index: int) -> list[int]:
    """The group of a caption, and the next one if the first is only its label."""
    label = groups[index]
    if len(label.plain_text.split()) > _LABEL_WORDS or index + 1 == len(groups):
        return [index]
    text = groups[index + 1]
    is_text = text.page == label.page and text.is_prose and len(text.lines) <= _MOST_TITLE_LINES
    return [index, index + 1] if is_text else [index]


def _gap(table: LineGroup, caption: Sequence[LineGroup]) -> float:
    """White space between a table and a caption, in heights of a line; infinite where they are not
    below each other."""
    left, right = min(group.left for group in caption), max(group.right for group in caption)
    if caption[0].lines[0].frame != table.lines[0].frame or min(right, table.right) <= max(
        left, table.left
    ):
        return float("inf")
    top, bottom = min(group.top for group in caption), max(group.bottom for group in caption)
    return max(top - table.bottom, table.top - bottom, 0.0) / caption[0].lines[0].height


def _title_above(groups: Sequence[LineGroup], table: int, taken: set[int]) -> list[int]:
    """The short lines directly above a table without prose between, "(in millions, except per share
    data)", and the sentence that leads to it."""
    above: list[int] = []
    below = groups[table]
    for index in range(table - 1, max(table - 1 - _MOST_TITLE_GROUPS, -1), -1):
        group = groups[index]
        gap = below.top - group.bottom
        is_near = (
            group.page == below.page
            and -group.lines[0].height < gap <= _TITLE_APART * group.lines[0].height
        )
        leads_in = _leads_in(group)
        if index in taken or not is_near or not (leads_in or _may_be_title(group, groups[table])):
            break
        above.insert(0, index)
        if leads_in:
            break
        below = group
    return above


def _leads_in(group: LineGroup) -> bool:
    """Whether a text is one sentence that announces what stands below: "Net sales by segment are as
    follows:"."""
    text = group.plain_text.strip()
    is_short = (
        group.kind is GroupKind.TEXT
        and not group.is_aside
        and len(group.lines) <= _MOST_TITLE_LINES
    )
    return is_short and text.endswith(":") and len(list(sentence_spans(text))) == 1


def _may_be_title(group: LineGroup, table: LineGroup) -> bool:
    """Whether a text above a table may be its title or its unit: it is short, and neither a
    numbered heading nor the end of a sentence. It must also be bold, or centred above the
    table and narrower, or in brackets, as in "(in millions)"."""
    text = group.plain_text.strip()
    if group.kind is not GroupKind.TEXT or group.is_aside or len(group.lines) > _MOST_TITLE_LINES:
        return False
    if heading_number(text) or text.endswith((".", ":", ";", ",")):
        return False
    width = table.right - table.left
    is_centred = abs(group.left + group.right - table.left - table.right) <= 2 * _CENTRED * width
    is_inside = group.left > table.left + _CENTRED * width
    return (
        group.bold > _TITLE_BOLD
        or (is_centred and is_inside)
        or (text.startswith("(") and text.endswith(")"))
    )


def label_of(caption: Sequence[LineGroup]) -> str:
    """The number of a table, "Table 2", without the stop after it; empty for a title without
    one."""
    return _opening(caption) if caption and caption_kind(caption[0]) == "table" else ""


def is_no_other(title: Sequence[LineGroup], above: Sequence[LineGroup]) -> bool:
    """Whether a title without a number lets a table go on: there is none, it repeats the one above,
    or it says so."""
    return not title or _opening(title) == _opening(above) or bool(CONTINUED.search(_text(title)))


def tell_one_table(title: Sequence[LineGroup], above: Sequence[LineGroup]) -> bool:
    """Whether two titles with one number are of one table: the lower one says that it goes on, or
    no other thing than the upper one. A number may stand again in an annex, above another table."""
    shorter, longer = sorted((letters_of(_text(title)), letters_of(_text(above))), key=len)
    return longer.startswith(shorter) or bool(CONTINUED.search(_text(title)))


def clearest(captions: Sequence[list[LineGroup]]) -> list[LineGroup]:
    """The longest of the captions of one table that does not only say that it goes on."""
    return max(
        captions, key=lambda caption: (not CONTINUED.search(_text(caption)), len(_text(caption)))
    )


def _opening(caption: Sequence[LineGroup]) -> str:
    return " ".join(word.strip(".:") for word in _text(caption).split()[:2])


def _text(caption: Sequence[LineGroup]) -> str:
    return " ".join(group.plain_text for group in caption)
