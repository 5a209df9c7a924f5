"""Turns the text regions of ADE into blocks without sections: headings, paragraphs, lists,
captions, and text that a model wrote.

ADE marks few headings, so they are recognised by the look of lines. Text of a model has marks
around it, or it is the whole text of a figure region; a caption in the same region is by the
authors of the paper.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_assets.core.domain import Block, BlockKind, Span
from rag_assets.core.text.headings import heading_number, is_plain_section_name
from rag_assets.parsing.formats.ade.shapes import Family, Region
from rag_assets.parsing.formats.markdown.parts import MarkdownPart, markdown_parts, plain_line
from rag_assets.parsing.shared.heading_lines import (
    MAX_TITLE_WORDS,
    looks_like_heading,
    numbered_heading_lines,
)
from rag_assets.parsing.shared.hyphenation import Vocabulary, mended
from rag_assets.parsing.shared.sections import LevelledBlock
from rag_assets.parsing.shared.table_rows import table_block

_UNKNOWN_LEVEL = 6
"""Markdown level of headings that are found here, whose level is not known; ADE does not write
it."""
_NOT_TEXT = frozenset({"table", "figure"})
_HEADING_MARK = "#" * _UNKNOWN_LEVEL
_NUMBER_IN_SENTENCE = re.compile(
    r"\b(tables?|figures?|figs?\.|box|section|appendix|refs?\.)\n(?=\d)", re.IGNORECASE
)
"""A line end inside "Table 1. Incidence ...", after which Markdown would see a numbered list."""
_SECOND_BULLET = re.compile(r"^([^\S\n]*[-*+] )[•·▪◦‣]\s*", re.MULTILINE)
_CAPTION = re.compile(
    r"(?:figure|fig\.?|scheme|plate)\s*[A-Z]?\d+(?:\.\d+)?[a-z]?\s*[.:|]", re.IGNORECASE
)
_BOLD_LINE = re.compile(r"^\*\*([^*\n]{3,90}[^*\n.,;:])\*\*[ \t]*$", re.MULTILINE)
_ENDS_OPEN = re.compile(
    r"[.,;:\-–—]$|\b(?:and|or|of|the|in|for|with|to|a|by|on|from|is|are|was|were)$", re.IGNORECASE
)
_MAX_RUN_IN_CHARS = 60
_MAX_RUN_IN_SHARE = 0.6
_MIN_CHARS_BELOW_RUN_IN = 100
_MAX_LABEL_WORDS = 12
_MAX_CAPTION_CHARS_OF_MODEL = 200
_MAX_QUESTION_WORDS = 14
_MARK = re.compile(r"<::\s*>|<::|::>")
_BEGINS_TRANSCRIPTION = re.compile(r"\s*transcription of (?:the )?content\b", re.IGNORECASE)
_NAME_OF_KIND = re.compile(
    r"^\s*[a-z][a-z_ ]{2,30}:\s+(?=\S)|(?:(?<!\s)\s+)?:\s*[a-z][a-z_ ]{2,20}\s*$"
)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of the text of a region that has one author."""

    text: str
    is_generated: bool


def with_numbered_headings(regions: Sequence[Region]) -> list[Region]:
    """The regions; numbered headings get the mark of a Markdown heading.

    Without a mark, "1. Introduction" would be read as a list with one item. The lines of all
    regions are needed at once to find out which are headings.
    """
    lines: list[str] = []
    """The lines of all regions, with an empty line after each region."""
    positions: list[tuple[int, int]] = []
    """For each of these lines, index of its region and index within it."""
    for index, region in enumerate(regions):
        # one line stands for a table or figure, so that the text around it is not joined
        region_lines = ["(no text)"] if region.kind in _NOT_TEXT else _lines_of(region.text)
        lines.extend([*region_lines, ""])
        positions.extend((index, at) for at in range(len(region_lines) + 1))
    marked: dict[int, list[str]] = {}
    """Index of a region -> its lines with marks."""
    for line in numbered_heading_lines(lines):
        index, at = positions[line]
        if not lines[line].startswith("#"):
            region_lines = marked.setdefault(index, _lines_of(regions[index].text))
            region_lines[at] = f"\n{_HEADING_MARK} {region_lines[at]}\n"
    return [
        replace(region, text="\n".join(marked[index])) if index in marked else region
        for index, region in enumerate(regions)
    ]


def _lines_of(text: str) -> list[str]:
    """The lines of a region. A numbered title that is printed on several lines is joined to one."""
    lines = [line.strip() for line in text.strip().split("\n")]
    return [" ".join(lines)] if _is_wrapped_title(lines) else lines


def _is_wrapped_title(lines: Sequence[str]) -> bool:
    """Whether several lines are one numbered title: few words, and only the first has a number."""
    first, rest = lines[0], lines[1:]
    if not rest or not all(rest) or sum(len(line.split()) for line in lines) > MAX_TITLE_WORDS:
        return False
    if is_plain_section_name(first) or heading_number(first) is None:
        return False
    return not any(heading_number(line) for line in rest)


def text_blocks(region: Region, family: Family, vocabulary: Vocabulary) -> Iterator[LevelledBlock]:
    """The blocks of a region that is not a table. vocabulary: words of the document, to join
    hyphenated words."""
    if region.kind == "figure":
        yield from _figure_blocks(region, family, vocabulary)
        return
    for piece in _pieces_of(region.text):
        if piece.is_generated:
            yield from _description(" ".join(_plain_lines(piece.text)), "", region)
        else:
            text = _BOLD_LINE.sub(lambda match: f"\n{_HEADING_MARK} {match[1]}\n", piece.text)
            text = _NUMBER_IN_SENTENCE.sub(r"\1 ", _SECOND_BULLET.sub(r"\1", text))
            for part in markdown_parts(text, "ade"):
                yield from _part_blocks(part, region, vocabulary)


def _spans(region: Region, text: str) -> tuple[Span, ...]:
    return (Span(0, len(text), region.page_start, region.page_end, region.boxes),)


def _part_blocks(
    part: MarkdownPart, region: Region, vocabulary: Vocabulary
) -> Iterator[LevelledBlock]:
    """The blocks of a part of Markdown. A paragraph may begin with a heading line."""
    match part.kind:
        case BlockKind.HEADING:
            level = 0 if part.level == _UNKNOWN_LEVEL else part.level
            yield _levelled(
                BlockKind.HEADING, part.text.replace("\n", " "), region, vocabulary, level
            )
        case BlockKind.TABLE:
            yield LevelledBlock(table_block(part.cells, part.title, region.boxes, region.boxes))
        case BlockKind.LIST if "\n" not in part.text:
            yield _levelled(BlockKind.PARAGRAPH, part.text, region, vocabulary)
        case BlockKind.LIST | BlockKind.CODE:
            yield _levelled(
                part.kind,
                "\n".join(mended(line, vocabulary) for line in part.text.split("\n")),
                region,
                vocabulary,
            )
        case _ if part.text:
            lines = part.text.split("\n")
            if _starts_with_heading(lines):
                yield _levelled(BlockKind.HEADING, lines.pop(0), region, vocabulary)
            if text := " ".join(lines):
                yield _levelled(_kind_of(text), text, region, vocabulary)


def _kind_of(text: str) -> BlockKind:
    """The kind of a paragraph: the caption of a figure, a heading (a short question), or plain
    text."""
    if _CAPTION.match(text):
        return BlockKind.FIGURE
    is_question = (
        text.endswith("?") and text[0].isupper() and len(text.split()) <= _MAX_QUESTION_WORDS
    )
    return BlockKind.HEADING if is_question else BlockKind.PARAGRAPH


def _starts_with_heading(lines: Sequence[str]) -> bool:
    """Whether the first line of a paragraph is a heading, and the next one starts a new
    sentence."""
    first, rest = lines[0], lines[1:]
    if not rest:
        return looks_like_heading(first)
    start = rest[0][:1]
    is_sentence = start.isupper() or start.isdigit() or start == "["
    return is_sentence and (looks_like_heading(first) or _is_short_title(first, rest))


def _is_short_title(first: str, rest: Sequence[str]) -> bool:
    """Whether the first line of a paragraph is a title: much shorter than the line below, without
    digits, and without a stop or an open phrase at its end."""
    return (
        len(first) <= min(_MAX_RUN_IN_CHARS, _MAX_RUN_IN_SHARE * len(rest[0]))
        and sum(map(len, rest)) >= _MIN_CHARS_BELOW_RUN_IN
        and first[0].isupper()
        and not any(character.isdigit() for character in first)
        and _ENDS_OPEN.search(first) is None
    )


def _figure_blocks(
    region: Region, family: Family, vocabulary: Vocabulary
) -> Iterator[LevelledBlock]:
    """The blocks of a figure region: the description that a model wrote, and the text that is
    printed in the figure. Printed text is captions and labels of panels; short labels become the
    title of the description."""
    pieces = _pieces_of(region.text)
    printed: list[str] = []
    generated: list[str] = []
    for piece in pieces:
        lines = generated if piece.is_generated else printed
        lines += _plain_lines(piece.text)
    captions = [line for line in printed if _CAPTION.match(line)]
    if family != "v1" or len(pieces) == 1:  # there are no marks: a model wrote the whole region
        printed, generated = [], _plain_lines(without_marks(region.text))
        captions = [
            line
            for line in generated
            if _CAPTION.match(line) and len(line) <= _MAX_CAPTION_CHARS_OF_MODEL
        ]
    label = " ".join(line for line in printed if line not in captions)
    has_own_block = len(label.split()) > _MAX_LABEL_WORDS or not generated
    description = " ".join(line for line in generated if line not in captions)
    yield from _description(description, "" if has_own_block else label, region)
    if label and has_own_block:
        yield _levelled(BlockKind.FIGURE, label, region, vocabulary)
    for caption in captions:
        yield _levelled(BlockKind.FIGURE, caption, region, vocabulary)


def _description(text: str, label: str, region: Region) -> Iterator[LevelledBlock]:
    """A block of text that a model wrote about a figure; none if the text is empty."""
    if text:
        title_spans = _spans(region, label) if label else ()
        yield LevelledBlock(
            Block(
                BlockKind.FIGURE,
                text,
                spans=_spans(region, text),
                title=label,
                title_spans=title_spans,
                is_generated=True,
            )
        )


def _plain_lines(text: str) -> list[str]:
    return [line for line in map(plain_line, text.split("\n")) if line]


def _levelled(
    kind: BlockKind, text: str, region: Region, vocabulary: Vocabulary, level: int = 0
) -> LevelledBlock:
    """A block of a region, with hyphenated words joined unless it has several lines."""
    text = text if "\n" in text else mended(text, vocabulary)
    return LevelledBlock(Block(kind, text, spans=_spans(region, text)), level)


def _pieces_of(text: str) -> list[_Piece]:
    """`text` without the marks, cut into pieces at the marks; each piece tells whether a model
    wrote it. Pieces may be blank.

    A model wrote the text inside a mark, and a transcription, which ends with "<::>":

        <::A photo of a flower: figure::>
        <::transcription of the content: chart::>12 % of ...<::>

    Marks may be nested. The text after a mark that is not closed, and the text before a closing
    mark that was not opened, count as written by a model too: if text of a model were quoted as
    text of the authors, that would be a false citation.
    """
    pieces: list[_Piece] = []
    end = depth = 0
    is_transcription = False
    for mark in _MARK.finditer(text):
        piece, end = text[end : mark.start()], mark.end()
        opens = mark[0] == "<::"
        if not opens and _BEGINS_TRANSCRIPTION.match(piece):  # a label, not a description
            is_transcription = True
        else:
            pieces.append(_piece(piece, is_generated=is_transcription or depth > 0 or not opens))
        if opens:
            depth += 1
        elif mark[0] == "::>":
            depth = max(0, depth - 1)
        else:
            depth, is_transcription = 0, False
    return [*pieces, _piece(text[end:], is_generated=is_transcription or depth > 0)]


def has_marks(text: str) -> bool:
    """Whether a text has marks of text that a model wrote."""
    return _MARK.search(text) is not None


def without_marks(text: str) -> str:
    return _MARK.sub(" ", text)


def _piece(text: str, *, is_generated: bool) -> _Piece:
    """A piece; in generated text, a word for its kind is removed: "chart: 12 %" -> "12 %"."""
    return _Piece(_NAME_OF_KIND.sub("", text) if is_generated else text, is_generated)
