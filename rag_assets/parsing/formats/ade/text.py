"""The text regions of ADE as blocks without sections: headings, paragraphs, lists, captions, and
what a model wrote.

ADE marks few headings, so lines are judged by their looks. ADE puts marks around what a model
wrote, or it fills a figure region; a caption beside it is the authors'.
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
"""A Markdown level that ADE itself does not write: a heading whose level is not known."""
_NOT_TEXT = frozenset({"table", "figure"})
_HEADING_MARK = "#" * _UNKNOWN_LEVEL
_NUMBER_IN_SENTENCE = re.compile(
    r"\b(tables?|figures?|figs?\.|box|section|appendix|refs?\.)\n(?=\d)", re.IGNORECASE
)
"""A line end inside "Table 1. Incidence ...", after which Markdown would see a numbered list."""
_SECOND_BULLET = re.compile(r"^(\s*[-*+] )[•·▪◦‣]\s*", re.MULTILINE)
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
_NAME_OF_KIND = re.compile(r"^\s*[a-z][a-z_ ]{2,30}:\s+(?=\S)|\s*:\s*[a-z][a-z_ ]{2,20}\s*$")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of a region's text that has one author."""

    text: str
    is_generated: bool


def with_numbered_headings(regions: Sequence[Region]) -> list[Region]:
    """The regions with their numbered headings marked as headings.

    To Markdown "1. Introduction" is a list with one item, so the lines of all regions are judged
    together first.
    """
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    for index, region in enumerate(regions):
        own = ["(no text)"] if region.kind in _NOT_TEXT else _lines_of(region.text)
        lines.extend([*own, ""])
        places.extend((index, at) for at in range(len(own) + 1))
    texts: dict[int, list[str]] = {}
    for at in numbered_heading_lines(lines):
        index, own_at = places[at]
        if not lines[at].startswith("#"):
            own = texts.setdefault(index, _lines_of(regions[index].text))
            own[own_at] = f"\n{_HEADING_MARK} {own[own_at]}\n"
    return [
        replace(region, text="\n".join(texts[index])) if index in texts else region
        for index, region in enumerate(regions)
    ]


def _lines_of(text: str) -> list[str]:
    """The lines of a region; a numbered title that ADE kept wrapped as it was printed is one
    line."""
    lines = [line.strip() for line in text.strip().split("\n")]
    return [" ".join(lines)] if _is_wrapped_title(lines) else lines


def _is_wrapped_title(lines: Sequence[str]) -> bool:
    first, rest = lines[0], lines[1:]
    if not rest or not all(rest) or sum(len(line.split()) for line in lines) > MAX_TITLE_WORDS:
        return False
    if is_plain_section_name(first) or heading_number(first) is None:
        return False
    return not any(heading_number(line) for line in rest)


def text_blocks(region: Region, family: Family, vocabulary: Vocabulary) -> Iterator[LevelledBlock]:
    """The blocks of a region that is not a table; `vocabulary` is that of the document, to mend cut
    words."""
    if region.kind == "figure":
        yield from _figure_blocks(region, family, vocabulary)
        return
    for piece in _pieces_of(region.text):
        if piece.is_generated:
            yield from _described(" ".join(_plain_lines(piece.text)), "", region)
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
    if _CAPTION.match(text):
        return BlockKind.FIGURE
    is_question = (
        text.endswith("?") and text[0].isupper() and len(text.split()) <= _MAX_QUESTION_WORDS
    )
    return BlockKind.HEADING if is_question else BlockKind.PARAGRAPH


def _starts_with_heading(lines: Sequence[str]) -> bool:
    first, rest = lines[0], lines[1:]
    if not rest:
        return looks_like_heading(first)
    starts_anew = rest[0][:1].isupper() or rest[0][:1].isdigit() or rest[0][:1] == "["
    return starts_anew and (looks_like_heading(first) or _is_short_above(first, rest))


def _is_short_above(first: str, rest: Sequence[str]) -> bool:
    """Whether a first line is a run-in title: short, open-ended, far from the width of the lines
    below."""
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
    """What the model wrote about a figure; beside it what it read there: captions, and labels of
    its panels."""
    pieces = _pieces_of(region.text)
    read = [line for piece in pieces if not piece.is_generated for line in _plain_lines(piece.text)]
    written = [line for piece in pieces if piece.is_generated for line in _plain_lines(piece.text)]
    captions = [line for line in read if _CAPTION.match(line)]
    if family != "v1" or len(pieces) == 1:  # without marks, the model's words fill the region
        read, written = [], _plain_lines(without_marks(region.text))
        captions = [
            line
            for line in written
            if _CAPTION.match(line) and len(line) <= _MAX_CAPTION_CHARS_OF_MODEL
        ]
    label = " ".join(line for line in read if line not in captions)
    has_own_block = len(label.split()) > _MAX_LABEL_WORDS or not written
    described = " ".join(line for line in written if line not in captions)
    yield from _described(described, "" if has_own_block else label, region)
    if label and has_own_block:
        yield _levelled(BlockKind.FIGURE, label, region, vocabulary)
    for caption in captions:
        yield _levelled(BlockKind.FIGURE, caption, region, vocabulary)


def _described(text: str, label: str, region: Region) -> Iterator[LevelledBlock]:
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
    whole = text if "\n" in text else mended(text, vocabulary)
    return LevelledBlock(Block(kind, whole, spans=_spans(region, whole)), level)


def _pieces_of(text: str) -> list[_Piece]:
    """`text` without the marks, cut where its author may change; pieces may be blank.

        <::A photo of a flower: figure::>                          the whole mark, with a word for
        its kind or without
        <::transcription of the content: chart::>12 % of ...<::>   up to the closing mark, whatever
        the first mark says

    A mark may hold others. One that is not closed goes on to the end of the region; what only a
    closing mark ends began at the mark before it. In doubt a model wrote it: its words, quoted as
    the authors', are a false citation.
    """
    pieces: list[_Piece] = []
    at = depth = 0
    is_transcribed = False
    for mark in _MARK.finditer(text):
        piece, at = text[at : mark.start()], mark.end()
        opens = mark[0] == "<::"
        if not opens and _BEGINS_TRANSCRIPTION.match(piece):  # a label, not a description
            is_transcribed = True
        else:
            pieces.append(_piece(piece, is_generated=is_transcribed or depth > 0 or not opens))
        if opens:
            depth += 1
        elif mark[0] == "::>":
            depth = max(0, depth - 1)
        else:
            depth, is_transcribed = 0, False
    return [*pieces, _piece(text[at:], is_generated=is_transcribed or depth > 0)]


def has_marks(text: str) -> bool:
    return _MARK.search(text) is not None


def without_marks(text: str) -> str:
    return _MARK.sub(" ", text)


def _piece(text: str, *, is_generated: bool) -> _Piece:
    return _Piece(_NAME_OF_KIND.sub("", text) if is_generated else text, is_generated)
