"""Markdown text cut into its blocks, inline marks removed: headings, paragraphs, lists, tables,
code, figures.

Two dialects: files that people wrote in Markdown, and the Markdown that ADE writes for one region
of a page, where an indented line is not code and ">" starts no quotation.
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
_FOOTNOTE_MARK = re.compile(r"\[\^([^\]\s]+)\]")
_DROPPED_ELEMENTS = re.compile(
    r"<!--.*?-->|<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<[!?][^<>]*>")
_STRUCK_TAG = re.compile(r"(</?(?:del|s|strike)(?:\s[^<>]*)?>)", re.IGNORECASE)
_CHANGE = re.compile(
    r"\{~~.{0,999}?~>(.{0,999}?)~~\}|\{--.{0,999}?--\}|\{\+\+(.{0,999}?)\+\+\}", re.DOTALL
)
"""Tracked changes as CriticMarkup writes them."""
_SCRIPT_TAG = re.compile(r"<(/?)(su[pb])\b", re.IGNORECASE)
_LINK_TAG = re.compile(r"<(/?)a\b", re.IGNORECASE)
_RAISED = re.compile(r"[⁰¹²³⁴-⁹]+")


@dataclass(frozen=True)
class MarkdownPart:
    """One block of Markdown as plain text."""

    kind: BlockKind
    text: str
    """Paragraphs and headings keep the line breaks of the source; in lists and tables a line is an
    item or a row."""
    level: int = 0
    """1 to 6 for a heading."""
    title: str = ""
    """Language of code, caption of a table."""
    cells: tuple[Cell, ...] = ()


def markdown_parts(text: str, dialect: Dialect) -> list[MarkdownPart]:
    """The blocks of `text` in order. Raises RecursionError when they are nested too deep."""
    from markdown_it.tree import SyntaxTreeNode

    left = _CHANGE.sub(lambda change: change[1] or change[2] or "", text)
    parts = [
        part
        for node in SyntaxTreeNode(_parser(dialect).parse(left)).children
        for part in _block(node)
    ]
    names = speakers(
        line for part in parts if part.kind is BlockKind.PARAGRAPH for line in part.text.split("\n")
    )
    return [one for part in parts for one in _turns(part, names)]


def _turns(part: MarkdownPart, names: Set[str]) -> list[MarkdownPart]:
    """A paragraph in which several people speak, each on lines of their own, as one of each."""
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
    """`text`, which may hold inline Markdown and HTML, as one plain line."""
    from markdown_it.tree import SyntaxTreeNode

    tree = SyntaxTreeNode(_parser("ade").parseInline(" ".join(text.split())))
    return " ".join("".join(_inline(node.children) for node in tree.children).split())


@cache
def _parser(dialect: Dialect) -> "MarkdownIt":
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
    """Before "$_2$" is read as emphasis."""
    for token in state.tokens:
        if token.type == "inline":
            token.content = with_scripts(token.content)


def _struck_rule(state: "StateCore") -> None:
    """Take out what is struck through, between marks or tags, also over several blocks."""
    state.tokens = _without_struck(state.tokens)
    for token in state.tokens:
        token.children = token.children and _without_struck(token.children)


def _without_struck(tokens: "Sequence[Token]") -> "list[Token]":
    for token in tokens:
        if token.type == "html_block":
            token.content = _without_struck_html(token.content)
    return _unstruck((token, _mark_of(token), token.level) for token in tokens)


def _without_struck_html(text: str) -> str:
    return "".join(
        _unstruck(
            (part, part if nth % 2 else "", 0) for nth, part in enumerate(_STRUCK_TAG.split(text))
        )
    )


def _mark_of(token: "Token") -> str:
    """The tag that opens or closes struck text in or with a token."""
    tag = _STRUCK_TAG.search(token.content) if token.type.startswith("html_") else None
    return tag[0] if tag else {"s_open": "<s>", "s_close": "</s>"}.get(token.type, "")


def _unstruck(pieces: Iterable[tuple[Piece, str, int]]) -> list[Piece]:
    """The pieces without those from each opening tag to its closing one of the same level; a tag
    without the other strikes nothing."""
    kept: list[Piece] = []
    opened: list[tuple[int, int]] = []
    for piece, tag, level in pieces:
        kept.append(piece)
        if tag.startswith("</"):
            if opened and opened[-1][1] == level:
                del kept[opened.pop()[0] :]
        elif tag:
            opened.append((len(kept) - 1, level))
    return kept


def _footnote_rule(state: "StateBlock", start: int, _end: int, silent: bool) -> bool:
    """`[^1]: text` with its indented continuation lines; CommonMark would take it for a link or a
    paragraph."""
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
    """The cells of a pipe table.

    Its first row is a header by its form alone: one with values is a row like others, unless the
    header goes on below it with a row of words that has no name. Exports write the words of a
    merged cell into each column that it covers.
    """
    rows = [
        [_text(cell).replace("\n", " ") for cell in row.children]
        for part in table.children
        for row in part.children
    ]
    goes_on = len(rows) > 1 and not rows[1][0] and not any(map(is_value, rows[1]))
    for index, texts in enumerate(rows):
        is_header = index == 0 and (goes_on or not any(map(is_value, texts[1:])))
        col = 0
        for text, alike in groupby(texts):
            n_alike = len(list(alike))
            is_merged = bool(text) and not is_value(text)
            for _ in range(1 if is_merged else n_alike):
                col_span = n_alike if is_merged else 1
                yield Cell(index, col, text, col_span=col_span, is_header=is_header)
                col += col_span


def _is_image_alone(paragraph: "SyntaxTreeNode") -> bool:
    pieces = [piece for inline in paragraph.children for piece in inline.children]
    seen = [
        piece
        for piece in pieces
        if piece.type != "softbreak" and piece.content.strip() + piece.type != "text"
    ]
    return bool(seen) and all(piece.type == "image" for piece in seen)


def _paragraphs(node: "SyntaxTreeNode") -> list[str]:
    """The text of a paragraph; each row of a table in LaTeX is a paragraph."""
    rows = plain_rows("\n".join(inline.content for inline in node.children))
    return [_text(node)] if rows is None else rows


def _text(node: "SyntaxTreeNode") -> str:
    lines = "".join(_inline(inline.children) for inline in node.children).split("\n")
    return "\n".join(" ".join(line.split()) for line in lines).strip()


def _inline(nodes: Sequence["SyntaxTreeNode"]) -> str:
    """Plain text of inline nodes; `<sup>` and `<sub>` become raised and lowered characters."""
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
    number = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    for item in node.children:
        mark = f"{item.markup or '-'} " if number is None else f"{number}{item.markup or '.'} "
        yield from _item_lines(item, indent, mark)
        number = None if number is None else number + 1


def _item_lines(item: "SyntaxTreeNode", indent: str, mark: str) -> Iterator[str]:
    """The item's own text on one line after its mark; what is nested in it follows, indented."""
    own = [child for child in item.children if child.type == "paragraph"]
    nested = [child for child in item.children if child.type != "paragraph"]
    text = " ".join(text for child in own for text in _paragraphs(child)).replace("\n", " ")
    if text or not own:  # not one that is struck out as a whole
        yield f"{indent}{mark}{text}".rstrip()
    for child in nested:
        if child.type in ("bullet_list", "ordered_list"):
            yield from _list_lines(child, indent + "  ")
        else:
            lines = [line for part in _block(child) for line in part.text.split("\n")]
            yield from (f"{indent}  {line}" for line in lines if line.strip())


def _html_parts(source: str) -> Iterator[MarkdownPart]:
    for piece in split_tables(_DROPPED_ELEMENTS.sub(" ", source)):
        if isinstance(piece, HtmlTable):
            lines = table_lines(piece.cells)
            yield MarkdownPart(
                BlockKind.TABLE, "\n".join(lines), title=piece.caption, cells=piece.cells
            )
        else:
            text = html.unescape(_TAG.sub(" ", with_scripts(piece)))
            rows = plain_rows(text)
            paragraphs = [" ".join(text.split())] if rows is None else rows
            yield from (MarkdownPart(BlockKind.PARAGRAPH, one) for one in paragraphs if one)
