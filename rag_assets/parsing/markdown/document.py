"""A Markdown file as blocks: its headings are the sections; it has no pages.

Cutting the text into blocks is `parts`' (CommonMark with tables and footnotes); front matter is skipped.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from rag_assets.errors import DocumentLimit, UnreadableDocument
from rag_assets.model import Block, BlockKind, Document, PageSource, Source, Span, Zone
from rag_assets.parsing.conventions.section_headings import with_abstract, with_sections
from rag_assets.parsing.conventions.section_names import is_section_name
from rag_assets.parsing.conventions.table_rows import table_block
from rag_assets.parsing.files.decoding import decoded
from rag_assets.parsing.files.size_limit import demand_size
from rag_assets.parsing.markdown.parts import MarkdownPart, markdown_parts
from rag_assets.settings import ParseLimits, ParsingSettings

_FRONT_MATTER = re.compile(
    r"\A(?:---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)|\+\+\+[ \t]*\n.*?\n\+\+\+[ \t]*(?:\n|\Z))", re.DOTALL
)
_FRONT_MATTER_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.MULTILINE)


def parse_markdown(
    path: Path,
    paper_id: str,
    file_path: str,
    settings: ParsingSettings,  # noqa: ARG001 - every format takes the same arguments
    limits: ParseLimits,
) -> Document:
    """Read a Markdown file. Raises UnreadableDocument when it is no text or is empty, DocumentLimit when too big."""
    demand_size(path, limits)
    try:
        source = decoded(path.read_bytes())
    except UnreadableDocument as error:
        raise UnreadableDocument(f"{path} {error}") from error
    text = source.text.replace("\r\n", "\n").replace("\r", "\n")
    front_matter = _FRONT_MATTER.match(text)
    body = text[front_matter.end() :] if front_matter else text
    try:
        parts = [part for part in markdown_parts(body, "file") if part.text]
    except RecursionError as error:
        raise DocumentLimit(f"{path}: Markdown nested too deep to read. Flatten its lists or quotes.") from error
    if not parts:
        raise UnreadableDocument(f"{path}: no text below the front matter. Check the file or remove it.")
    title_at = _title_index(parts)
    blocks = _with_sections(parts, title_at)
    return Document(
        paper_id=paper_id,
        title=_title(parts, title_at, front_matter[0] if front_matter else ""),
        source=Source.MARKDOWN,
        file_path=file_path,
        blocks=tuple(blocks),
        page_source=PageSource.NONE,
        n_source_chars=sum(len(block.text) for block in blocks if block.zone is not Zone.BACK),
        notes=source.notes,
    )


def _title_index(parts: Sequence[MarkdownPart]) -> int | None:
    """The first heading of level 1."""
    return next((index for index, part in enumerate(parts) if part.level == 1), None)


def _title(parts: Sequence[MarkdownPart], title_at: int | None, front_matter: str) -> str:
    """The first heading of level 1, else the title that the front matter states, else a heading that comes first."""
    if title_at is not None:
        return _one_line(parts[title_at].text)
    if stated := _FRONT_MATTER_TITLE.search(front_matter):
        return stated[1]
    return _one_line(parts[0].text) if parts[0].level and not is_section_name(parts[0].text) else ""


def _with_sections(parts: Sequence[MarkdownPart], title_at: int | None) -> list[Block]:
    """The blocks with their sections; a title that is the only heading of its level heads no path."""
    is_alone = sum(part.level == 1 for part in parts) == 1
    levels = [0 if index == title_at and is_alone else part.level for index, part in enumerate(parts)]
    return with_abstract(with_sections([_block(part) for part in parts], levels))


def _block(part: MarkdownPart) -> Block:
    if part.cells:
        return table_block(part.cells, title=part.title, section_path=(), zone=Zone.BODY)
    is_lined = part.kind in (BlockKind.LIST, BlockKind.CODE)
    text = part.text if is_lined else _one_line(part.text)
    return Block(part.kind, text, spans=(Span(0, len(text), None, None),), title=part.title)


def _one_line(text: str) -> str:
    return " ".join(text.split())
