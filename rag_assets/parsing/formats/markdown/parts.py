"""Splits Markdown text into its blocks as plain text: headings, paragraphs, lists, tables, code,
figures.

There are two dialects: files that people wrote in Markdown, and the Markdown that ADE writes for
one region of a page, in which an indented line is not code and ">" starts no quotation.
"""

import html
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Literal, TypeVar

from rag_assets.core.domain import BlockKind, Cell
from rag_assets.parsing.shared.heading_lines import speaker, speakers
from rag_assets.parsing.shared.superscripts import lowered, mark_after, raised_after, with_scripts
from rag_assets.parsing.shared.table_rows import HtmlTable, plain_rows, split_tables, table_lines
from rag_assets.parsing.tables import is_value

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token
    from markdown_it.tree import SyntaxTreeNode

Dialect = Literal["file", "ade"]
Piece = TypeVar("Piece")
_MAX_NESTING = 60
_FOOTNOTE = re.compile(r"\[\^([^\]\s]+)\]:[ \t]*(.*)")
_FOOTNOTE_MARK = re.compile(r"\[\^([^\]\s]{1,200})\]")
_DROPPED_ELEMENT = re.compile(r"<!--|<(script|style)\b", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<[!?][^<>]*>")
_STRUCK_TAG = re.compile(r"(</?(?:del|s|strike)(?:\s[^<>]*)?>)", re.IGNORECASE)
_CHANGE = re.compile(
    r"\{~~.{0,999}?~>(.{0,999}?)~~\}|\{--.{0,999}?--\}|\{\+\+(.{0,999}?)\+\+\}", re.DOTALL
)
"""Tracked changes in CriticMarkup: "{~~old~>new~~}", "{--deleted--}", "{++added++}"."""
_SCRIPT_TAG = re.compile(r"<(/?)(su[pb])\b", re.IGNORECASE)
_LINK_TAG = re.compile(r"<(/?)a\b", re.IGNORECASE)
_RAISED = re.compile(r"[⁰¹²³⁴-⁹]+")


@dataclass(frozen=True)
class MarkdownPart:
    """One block of Markdown as plain text."""

    kind: BlockKind
    text: str
    """Paragraphs and headings keep the line breaks of the source; in lists and tables each line is
    an item or a row."""
    level: int = 0
    """1 to 6 for a heading, 0 for other blocks."""
    title: str = ""
    """Language of code, or caption of a table."""
    cells: tuple[Cell, ...] = ()


def markdown_parts(text: str, dialect: Dialect) -> list[MarkdownPart]:
    """The blocks of `text` in order. Raises RecursionError when they are nested too deep."""
    from markdown_it.tree import SyntaxTreeNode

    accepted = _CHANGE.sub(lambda change: change[1] or change[2] or "", text)
    parts = [
        part
        for node in SyntaxTreeNode(_parser(dialect).parse(accepted)).children
        for part in _block(node)
    ]
    names = speakers(
        line for part in parts if part.kind is BlockKind.PARAGRAPH for line in part.text.split("\n")
    )
    return [turn for part in parts for turn in _turns(part, names)]


def _turns(part: MarkdownPart, names: Set[str]) -> list[MarkdownPart]:
    """A paragraph of an interview, split into one paragraph per speaker. names: starts of lines
    with the name of a speaker, "Q:"."""
    if part.kind is not BlockKind.PARAGRAPH:
        return [part]
    turns: list[str] = []
    for line in part.text.split("\n"):
        if turns and speaker(line) not in names:
            turns[-1] += f"\n{line}"
        else:
            turns.append(line)
    return [replace(part, text=turn) for turn in turns]


def plain_line(text: str) -> str:
    """`text`, which may contain inline Markdown and HTML, as plain text on one line."""
    from markdown_it.tree import SyntaxTreeNode

    tree = SyntaxTreeNode(_parser("ade").parseInline(" ".join(text.split())))
    return " ".join("".join(_inline(node.children) for node in tree.children).split())


@cache
def _parser(dialect: Dialect) -> "MarkdownIt":
    """The parser of a dialect: CommonMark with tables, struck text, and the rules below."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable("table")
    parser.core.ruler.before("inline", "scripts", _scripts_rule)
    parser.core.ruler.push("struck", _struck_rule)
    parser.enable("strikethrough")
    if dialect == "ade":
        return parser.disable(
            ["code", "lheading", "html_block", "reference", "blockquote", "autolink"]
        )
    parser.block.ruler.before("reference", "footnote", _footnote_rule, {"alt": ["paragraph"]})
    return parser


def _scripts_rule(state: "StateCore") -> None:
    """Rule of the parser that replaces raised and lowered digits. It runs before inline Markdown is
    read, in which "$_2$" would be emphasis."""
    for token in state.tokens:
        if token.type == "inline":
            token.content = with_scripts(token.content)


def _struck_rule(state: "StateCore") -> None:
    """Rule of the parser that removes struck text, between marks or HTML tags, also over several
    blocks."""
    state.tokens = _without_struck(state.tokens)
    for token in state.tokens:
        token.children = token.children and _without_struck(token.children)


def _without_struck(tokens: "Sequence[Token]") -> "list[Token]":
    for token in tokens:
        if token.type == "html_block":
            token.content = _without_struck_html(token.content)
    return _not_struck((token, _strike_tag(token), token.level) for token in tokens)


def _without_struck_html(text: str) -> str:
    parts = enumerate(_STRUCK_TAG.split(text))  # every second part is a tag
    return "".join(_not_struck((part, part if nth % 2 else "", 0) for nth, part in parts))


def _strike_tag(token: "Token") -> str:
    """The tag with which a token opens or closes struck text; empty for other tokens."""
    tag = _STRUCK_TAG.search(token.content) if token.type.startswith("html_") else None
    return tag[0] if tag else {"s_open": "<s>", "s_close": "</s>"}.get(token.type, "")


def _not_struck(pieces: Iterable[tuple[Piece, str, int]]) -> list[Piece]:
    """The pieces that are not between an opening tag and the closing tag of the same level. A tag
    without its counterpart removes nothing.

    pieces: each with its tag (empty for none) and its level of nesting.
    """
    kept: list[Piece] = []
    opened: list[tuple[int, int]] = []
    """Index in `kept` and level of the opening tags that are not closed yet."""
    for piece, tag, level in pieces:
        kept.append(piece)
        if tag.startswith("</"):
            if opened and opened[-1][1] == level:
                del kept[opened.pop()[0] :]
        elif tag:
            opened.append((len(kept) - 1, level))
    return kept


def _footnote_rule(state: "StateBlock", start: int, _end: int, silent: bool) -> bool:
    """Rule of the parser for a footnote, `[^1]: text` with indented lines below, which CommonMark
    would read as a link or a paragraph."""
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    match = _FOOTNOTE.match(first)
    if match is None:
        return False
    if silent:
        return True
    lines, line = [f"[{match[1]}] {match[2]}"], start + 1
    while line < state.lineMax and not state.isEmpty(line) and state.sCount[line] > state.blkIndent:
        lines.append(state.getLines(line, line + 1, state.blkIndent, False).strip())
        line += 1
    state.line = line
    token = state.push("footnote_definition", "", 0)
    token.content = " ".join(lines)
    token.map = [start, line]
    return True


def _block(node: "SyntaxTreeNode") -> Iterator[MarkdownPart]:
    """The parts of a block node, or of the blocks inside it."""
    match node.type:
        case "heading":
            yield MarkdownPart(BlockKind.HEADING, _text(node), level=int(node.tag[1]))
        case "paragraph":
            kind = BlockKind.FIGURE if _is_image_alone(node) else BlockKind.PARAGRAPH
            yield from (MarkdownPart(kind, text) for text in _paragraphs(node))
        case "bullet_list" | "ordered_list":
            yield MarkdownPart(BlockKind.LIST, "\n".join(_list_lines(node, "")))
        case "fence" | "code_block":
            language = node.info.split()[0] if node.info.split() else ""
            yield MarkdownPart(BlockKind.CODE, node.content.rstrip("\n"), title=language)
        case "table":
            cells = tuple(_pipe_cells(node))
            yield MarkdownPart(BlockKind.TABLE, "\n".join(table_lines(cells)), cells=cells)
        case "html_block":
            yield from _html_parts(node.content)
        case "footnote_definition":
            yield MarkdownPart(BlockKind.FOOTNOTE, plain_line(node.content))
        case _:
            for child in node.children:
                yield from _block(child)


def _pipe_cells(table: "SyntaxTreeNode") -> Iterator[Cell]:
    """The cells of a table with pipes.

    Pipe tables must begin with a header row, so a first row may be no real header: with values in
    it, it is one only if the next row has no name and only words, as a second header row has.
    Neighbouring cells with the same words are one merged cell, because exports repeat its words in
    each column.
    """
    rows = [
        [_text(cell).replace("\n", " ") for cell in row.children]
        for part in table.children
        for row in part.children
    ]
    has_second_header = len(rows) > 1 and not rows[1][0] and not any(map(is_value, rows[1]))
    for index, texts in enumerate(rows):
        is_header = index == 0 and (has_second_header or not any(map(is_value, texts[1:])))
        col = 0
        for text, equal_texts in groupby(texts):
            n_equal = len(list(equal_texts))
            is_merged = bool(text) and not is_value(text)
            col_span = n_equal if is_merged else 1
            for _ in range(n_equal // col_span):
                yield Cell(index, col, text, col_span=col_span, is_header=is_header)
                col += col_span


def _is_image_alone(paragraph: "SyntaxTreeNode") -> bool:
    """Whether a paragraph consists of images, with nothing but line ends and blanks between
    them."""
    types = {
        piece.type
        for inline in paragraph.children
        for piece in inline.children
        if piece.type != "softbreak" and (piece.type != "text" or piece.content.strip())
    }
    return types == {"image"}


def _paragraphs(node: "SyntaxTreeNode") -> list[str]:
    """The text of a paragraph, or the rows of a LaTeX table in it."""
    rows = plain_rows("\n".join(inline.content for inline in node.children))
    return [_text(node)] if rows is None else rows


def _text(node: "SyntaxTreeNode") -> str:
    """The plain text of a node, with the line breaks of the source."""
    lines = "".join(_inline(inline.children) for inline in node.children).split("\n")
    return "\n".join(" ".join(line.split()) for line in lines).strip()


def _inline(nodes: Sequence["SyntaxTreeNode"]) -> str:
    """The plain text of inline nodes; digits in `<sup>` and `<sub>` become superscript and subscript
    characters."""
    parts: list[str] = []
    open_tag, is_linked = "", False
    for node in nodes:
        if node.type == "html_inline":
            parts.append("\n" if node.content.strip("<>/ ").lower() == "br" else "")
            if script := _SCRIPT_TAG.match(node.content):
                open_tag = "" if script[1] else script[2].lower()
            elif link := _LINK_TAG.match(node.content):
                is_linked = not link[1]
            continue
        text, before = _inline_node(node), next((part for part in reversed(parts) if part), "")
        is_link = is_linked or node.type == "link"
        if is_link and (open_tag == "sup" or _RAISED.fullmatch(text)):
            text = mark_after(before, text)
        elif open_tag == "sup":
            text = raised_after(before, text)
        parts.append(lowered(text) if open_tag == "sub" else text)
    return "".join(parts)


def _inline_node(node: "SyntaxTreeNode") -> str:
    if node.type in ("softbreak", "hardbreak"):
        return "\n"
    if node.children:
        return _inline(node.children)
    return _FOOTNOTE_MARK.sub(r"[\1]", node.content) if node.type == "text" else node.content


def _list_lines(node: "SyntaxTreeNode", indent: str) -> Iterator[str]:
    """The lines of a list, each with its mark or number."""
    number = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    for item in node.children:
        mark = f"{item.markup or '-'} " if number is None else f"{number}{item.markup or '.'} "
        yield from _item_lines(item, indent, mark)
        number = None if number is None else number + 1


def _item_lines(item: "SyntaxTreeNode", indent: str, mark: str) -> Iterator[str]:
    """The lines of a list item: its paragraphs on one line after its mark, then its nested blocks,
    indented."""
    paragraphs = [child for child in item.children if child.type == "paragraph"]
    nested = [child for child in item.children if child.type != "paragraph"]
    text = " ".join(text for child in paragraphs for text in _paragraphs(child)).replace("\n", " ")
    if text or not paragraphs:  # an item that is struck out has an empty paragraph
        yield f"{indent}{mark}{text}".rstrip()
    for child in nested:
        if child.type in ("bullet_list", "ordered_list"):
            yield from _list_lines(child, indent + "  ")
        else:
            lines = [line for part in _block(child) for line in part.text.split("\n")]
            yield from (f"{indent}  {line}" for line in lines if line.strip())


def _without_dropped(source: str) -> str:
    """HTML without its comments, scripts and styles, except those that do not end."""
    kept, place, endless = [], 0, set()
    for opening in _DROPPED_ELEMENT.finditer(source):
        name = (opening[1] or "").lower()
        if opening.start() < place or name in endless:
            continue
        ending = re.compile(rf"</{name}\s*>" if name else "-->", re.IGNORECASE)
        if end := ending.search(source, opening.end()):
            kept += [source[place : opening.start()], " "]
            place = end.end()
        else:
            endless.add(name)
    return "".join([*kept, source[place:]])


def _html_parts(source: str) -> Iterator[MarkdownPart]:
    """The tables in a piece of HTML, and the text between them."""
    for piece in split_tables(_without_dropped(source)):
        if isinstance(piece, HtmlTable):
            lines = table_lines(piece.cells)
            yield MarkdownPart(
                BlockKind.TABLE, "\n".join(lines), title=piece.caption, cells=piece.cells
            )
        else:
            text = html.unescape(_TAG.sub(" ", with_scripts(piece)))
            rows = plain_rows(text)
            paragraphs = [" ".join(text.split())] if rows is None else rows
            yield from (MarkdownPart(BlockKind.PARAGRAPH, plain) for plain in paragraphs if plain)
