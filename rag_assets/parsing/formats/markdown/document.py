"""A Markdown file as blocks: its headings are the sections; it has no pages.

Of the front matter (YAML between `---`, TOML between `+++`) only the title is read, without a YAML parser: what people
write there is often no valid YAML (a colon in an unquoted title).
"""

import re
from collections.abc import Sequence

from rag_assets.core.domain import Block, BlockKind, Document, PageSource, Source, Span, Zone
from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.core.settings import ParsingSettings
from rag_assets.core.text.section_names import is_section_name
from rag_assets.parsing.formats.markdown.headings import with_marked_headings
from rag_assets.parsing.formats.markdown.parts import MarkdownPart, markdown_parts
from rag_assets.parsing.shared.files.raw import RawFile, decoded
from rag_assets.parsing.shared.sections import LevelledBlock, with_sections
from rag_assets.parsing.shared.table_rows import table_block

_FRONT_MATTER = re.compile(
    r"\A(?:---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)|\+\+\+[ \t]*\n.*?\n\+\+\+[ \t]*(?:\n|\Z))", re.DOTALL
)
_TITLE = re.compile(r"^[\"']?title[\"']?[ \t]*[:=][ \t]*(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE | re.IGNORECASE)
"""The value and the indented lines that go on with it."""
_BLOCK_MARK = re.compile(r"\A[|>][+-]?\d?[ \t]*(?=\n)")
_QUOTED = re.compile(r"\A([\"'])(.*)\1(?:\s+#.*)?\Z", re.DOTALL)
_COMMENT = re.compile(r"\s#.*")


def parse_markdown(file: RawFile, settings: ParsingSettings) -> Document:  # noqa: ARG001 - one signature for all formats
    """Read a Markdown file. Raises UnreadableDocument when it is not text or empty, DocumentLimit when too deep."""
    source = decoded(file.content)
    text = source.text.replace("\r\n", "\n").replace("\r", "\n")
    front_matter, body = _split_front_matter(text)
    title = _stated_title(front_matter)
    try:
        parts = [part for part in markdown_parts(with_marked_headings(body), "file") if part.text]
    except RecursionError as error:
        raise DocumentLimit("has Markdown nested too deep to read. Flatten its lists or quotes.") from error
    if not parts:
        raise UnreadableDocument("has no text below the front matter. Check the file or remove it.")
    title_at = _title_index(parts, title)
    blocks = _with_sections(parts, title_at, title)
    return Document(
        paper_id=file.paper_id,
        title=title or _title(parts, title_at),
        source=Source.MARKDOWN,
        file_path=file.path,
        blocks=tuple(blocks),
        page_source=PageSource.NONE,
        n_source_chars=sum(len(block.text) for block in blocks if block.zone is not Zone.BACK),
        notes=source.notes,
    )


def _title_index(parts: Sequence[MarkdownPart], stated: str) -> int | None:
    """The heading of level 1 that repeats the stated title, else the first of that level.

    Beside a stated title, one that names a section is not the title.
    """
    at_top = [index for index, part in enumerate(parts) if part.level == 1]
    if stated and at_top and is_section_name(parts[at_top[0]].text):
        return None
    repeated = (index for index in at_top if _is_same_title(parts[index].text, stated))
    return next(repeated, at_top[0] if at_top else None)


def _title(parts: Sequence[MarkdownPart], title_at: int | None) -> str:
    """The title of a file whose front matter states none: the first heading of level 1, or a heading that opens it."""
    if title_at is not None:
        return _one_line(parts[title_at].text)
    return _one_line(parts[0].text) if parts[0].level and not is_section_name(parts[0].text) else ""


def _with_sections(parts: Sequence[MarkdownPart], title_at: int | None, stated: str) -> list[Block]:
    """The blocks with their sections; the title heads no path, unless it opens one of several sections."""
    is_alone = sum(part.level == 1 for part in parts) == 1
    is_title = title_at is not None and (is_alone or _is_same_title(parts[title_at].text, stated))
    return with_sections(
        [LevelledBlock(_block(part), part.level, is_title and at == title_at) for at, part in enumerate(parts)]
    )


def _is_same_title(heading: str, stated: str) -> bool:
    return _one_line(heading).casefold() == stated.casefold()


def _block(part: MarkdownPart) -> Block:
    if part.cells:
        return table_block(part.cells, part.title)
    is_lined = part.kind in (BlockKind.LIST, BlockKind.CODE)
    text = part.text if is_lined else _one_line(part.text)
    return Block(part.kind, text, spans=(Span(0, len(text), None, None),), title=part.title)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _split_front_matter(text: str) -> tuple[str, str]:
    """The front matter, empty where there is none, and the text below it."""
    match = _FRONT_MATTER.match(text)
    return (match[0], text[match.end() :]) if match else ("", text)


def _stated_title(front_matter: str) -> str:
    """The title it states on one line, without quotes; empty where it states none."""
    match = _TITLE.search(front_matter)
    if match is None:
        return ""
    value = " ".join(_BLOCK_MARK.sub("", match[1]).split())
    if quoted := _QUOTED.match(value):
        quote, inner = quoted.groups()
        return inner.replace("''", "'") if quote == "'" else inner.replace('\\"', '"')
    return _COMMENT.sub("", value).strip()
