"""The text regions of ADE as drafts of blocks: headings, paragraphs, lists, captions, and what a model wrote.

ADE marks few headings, so lines are judged by their looks (`conventions.section_headings`). Descriptions of figures
stand between `<::` and `::>`, or fill a figure region; they are the model's words, a caption beside them is the
authors'. Tables are read in `tables`, sections are found in `document`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_assets.domain import Block, BlockKind, Span, Zone
from rag_assets.parsing.ade.headings import UNKNOWN_LEVEL
from rag_assets.parsing.ade.shapes import Family, Region
from rag_assets.parsing.conventions.hyphenation import Vocabulary, mended
from rag_assets.parsing.conventions.section_headings import looks_like_heading
from rag_assets.parsing.conventions.table_rows import table_block
from rag_assets.parsing.markdown.parts import MarkdownPart, markdown_parts, plain_line

_GENERATED = re.compile(r"<::(.*?)(?:::>|\Z)", re.DOTALL)
_TRANSCRIPTION = re.compile(r"<::\s*transcription of the content\s*:[^<>]*::>(.*?)(?:<::\s*>|\Z)", re.DOTALL)
_NUMBER_IN_SENTENCE = re.compile(r"\b(tables?|figures?|figs?\.|box|section|appendix|refs?\.)\n(?=\d)", re.IGNORECASE)
"""A line end inside "Table 1. Incidence ...", after which Markdown would see a numbered list."""
_SECOND_BULLET = re.compile(r"^(\s*[-*+] )[•·▪◦‣]\s*", re.MULTILINE)
_NAME_OF_KIND = re.compile(r"^\s*[a-z][a-z_ ]{2,30}:\s+(?=\S)|\s*:\s*[a-z][a-z_ ]{2,20}\s*$")
_CAPTION = re.compile(r"(?:figure|fig\.?|scheme|plate)\s*[A-Z]?\d+(?:\.\d+)?[a-z]?\s*[.:|]", re.IGNORECASE)
_BOLD_LINE = re.compile(r"^\*\*([^*\n]{3,90}[^*\n.,;:])\*\*[ \t]*$", re.MULTILINE)
_ENDS_OPEN = re.compile(r"[.,;:\-–—]$|\b(?:and|or|of|the|in|for|with|to|a|by|on|from|is|are|was|were)$", re.IGNORECASE)
_MAX_RUN_IN_CHARS = 60
_MAX_RUN_IN_SHARE = 0.6
_MIN_CHARS_BELOW_RUN_IN = 100
_MAX_LABEL_WORDS = 12
_MAX_CAPTION_CHARS_OF_MODEL = 200
_MAX_QUESTION_WORDS = 14


@dataclass(frozen=True)
class Draft:
    """A block before its section is known."""

    block: Block
    level: int = 0
    """Of a heading: what ADE said, 0 for unknown."""
    is_title: bool = False


def text_drafts(region: Region, family: Family, vocabulary: Vocabulary) -> Iterator[Draft]:
    """The blocks of a region that is no table; `vocabulary` is that of the document, to mend cut words."""
    text = _TRANSCRIPTION.sub(r"<::\1::>", region.text)
    if region.kind == "figure":
        yield from _figure_drafts(region, text, family, vocabulary)
        return
    for index, piece in enumerate(_GENERATED.split(text)):
        if index % 2:
            yield from _described(" ".join(_plain_lines(_NAME_OF_KIND.sub("", piece))), "", region)
        else:
            for part in markdown_parts(_marked(piece), "ade"):
                yield from _part_drafts(part, region, vocabulary)


def _marked(text: str) -> str:
    """`text` with bold lines marked as headings, and without what Markdown would misread."""
    with_headings = _BOLD_LINE.sub(lambda match: f"\n{'#' * UNKNOWN_LEVEL} {match[1]}\n", text)
    return _NUMBER_IN_SENTENCE.sub(r"\1 ", _SECOND_BULLET.sub(r"\1", with_headings))


def run_of(region: Region, length: int) -> Span:
    """The run over a whole text of `length` characters that stands in `region`."""
    return Span(0, length, region.page_start, region.page_end, region.boxes)


def _part_drafts(part: MarkdownPart, region: Region, vocabulary: Vocabulary) -> Iterator[Draft]:
    match part.kind:
        case BlockKind.HEADING:
            level = 0 if part.level == UNKNOWN_LEVEL else part.level
            yield _draft(BlockKind.HEADING, part.text.replace("\n", " "), region, vocabulary, level)
        case BlockKind.TABLE:
            table = table_block(
                part.cells,
                title=part.title,
                section_path=(),
                zone=Zone.BODY,
                table_boxes=region.boxes,
                title_boxes=region.boxes,
            )
            yield Draft(table)
        case BlockKind.LIST if "\n" not in part.text:
            yield _draft(BlockKind.PARAGRAPH, part.text, region, vocabulary)
        case BlockKind.LIST | BlockKind.CODE:
            yield _draft(
                part.kind, "\n".join(mended(line, vocabulary) for line in part.text.split("\n")), region, vocabulary
            )
        case _ if part.text:
            yield from _paragraph_drafts(part.text.split("\n"), region, vocabulary)


def _paragraph_drafts(lines: Sequence[str], region: Region, vocabulary: Vocabulary) -> Iterator[Draft]:
    if _starts_with_heading(lines):
        yield _draft(BlockKind.HEADING, lines[0], region, vocabulary)
        lines = lines[1:]
    if text := " ".join(lines):
        yield _draft(_kind_of(text), text, region, vocabulary)


def _kind_of(text: str) -> BlockKind:
    if _CAPTION.match(text):
        return BlockKind.FIGURE
    is_question = text.endswith("?") and text[0].isupper() and len(text.split()) <= _MAX_QUESTION_WORDS
    return BlockKind.HEADING if is_question else BlockKind.PARAGRAPH


def _starts_with_heading(lines: Sequence[str]) -> bool:
    first, rest = lines[0], lines[1:]
    if not rest:
        return looks_like_heading(first)
    starts_anew = rest[0][:1].isupper() or rest[0][:1].isdigit() or rest[0][:1] == "["
    return starts_anew and (looks_like_heading(first) or _is_short_above(first, rest))


def _is_short_above(first: str, rest: Sequence[str]) -> bool:
    """Whether a first line is a run-in title: short, open-ended, far from the width of the lines below."""
    return (
        len(first) <= min(_MAX_RUN_IN_CHARS, _MAX_RUN_IN_SHARE * len(rest[0]))
        and sum(map(len, rest)) >= _MIN_CHARS_BELOW_RUN_IN
        and first[0].isupper()
        and not any(character.isdigit() for character in first)
        and _ENDS_OPEN.search(first) is None
    )


def _figure_drafts(region: Region, text: str, family: Family, vocabulary: Vocabulary) -> Iterator[Draft]:
    """What the model wrote about a figure; beside it what it read there: captions, and labels of its panels."""
    pieces = _GENERATED.split(text)
    if family != "v1" or len(pieces) == 1:
        pieces = ["", text]
    read = [line for piece in pieces[::2] for line in _plain_lines(piece)]
    written = [line for piece in pieces[1::2] for line in _plain_lines(_NAME_OF_KIND.sub("", piece))]
    short = [line for line in written if len(line) <= _MAX_CAPTION_CHARS_OF_MODEL]
    captions = [line for line in read + short if _CAPTION.match(line)]
    label = " ".join(line for line in read if line not in captions)
    has_own_block = len(label.split()) > _MAX_LABEL_WORDS or not written
    described = " ".join(line for line in written if line not in captions)
    yield from _described(described, "" if has_own_block else label, region)
    if label and has_own_block:
        yield _draft(BlockKind.FIGURE, label, region, vocabulary)
    for caption in captions:
        yield _draft(BlockKind.FIGURE, caption, region, vocabulary)


def _described(text: str, label: str, region: Region) -> Iterator[Draft]:
    if text:
        spans = (run_of(region, len(text)),)
        located = (run_of(region, len(label)),) if label else ()
        yield Draft(Block(BlockKind.FIGURE, text, spans=spans, title=label, title_spans=located, is_generated=True))


def _plain_lines(text: str) -> list[str]:
    return [line for line in map(plain_line, text.split("\n")) if line]


def _draft(kind: BlockKind, text: str, region: Region, vocabulary: Vocabulary, level: int = 0) -> Draft:
    whole = text if "\n" in text else mended(text, vocabulary)
    return Draft(Block(kind, whole, spans=(run_of(region, len(whole)),)), level)
