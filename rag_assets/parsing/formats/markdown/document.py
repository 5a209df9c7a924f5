"""A Markdown file as blocks: its headings are the sections; it has no pages.

Its front matter (YAML between `---`, TOML between `+++`) states title, authors, date, journal, DOI
and keywords. Each field of YAML is loaded on its own, since one that is not valid (a colon in a
title without quotes) is common and must not cost the others; nothing but text, lists and mappings
is made of it, and anchors, by which a small file can grow without end, are not followed.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import yaml
from nameparser import HumanName

from rag_assets.core.domain import (
    NO_RECORD,
    Block,
    BlockKind,
    Document,
    PageSource,
    Person,
    Record,
    SourceFormat,
    Span,
    Zone,
)
from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.core.settings import ParsingSettings
from rag_assets.core.text.headings import (
    heading_depth,
    is_plain_section_name,
    is_section_name,
    number_styles,
)
from rag_assets.parsing.formats.markdown.parts import MarkdownPart, markdown_parts, plain_line
from rag_assets.parsing.shared.files import RawFile, decoded
from rag_assets.parsing.shared.heading_lines import lines_of_contents, numbered_heading_lines
from rag_assets.parsing.shared.sections import LevelledBlock, with_sections
from rag_assets.parsing.shared.table_rows import plain_rows, table_block
from rag_assets.parsing.tables.titles import with_titles_in_tables

_MAX_CHARS, _MAX_DEPTH = 100_000, 20
_MOST_AUTHORS = 500
_TOP_LEVEL = re.compile(r"^(?=[\"']?[^\W\d_][\w-]*[\"']?[ \t]*:)", re.MULTILINE)
_WORDS = re.compile(r"\s*[\w\"'](?![^\n]*\n\s*-)")
_COMMENT = re.compile(r"\s#.*")
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_BETWEEN_NAMES = re.compile(r"\s*(?:[;&\n]|\\and\b|,?\s\band\b)\s*")
_ASIDE = re.compile(r"\^\[[^\]]*\]|\^[\d,*]+\^|<[^<>]*>|\\\w+\{[^{}]*\}|\([^()]*\)")
"""Notes, addresses and what stands in brackets behind a name."""
_MARKS = ' "*†‡§,:0123456789¹²³⁴⁵⁶⁷⁸⁹'
_PARTS = (
    ("family", "familyname", "familynames", "surname", "last", "lastname"),
    ("given", "givenname", "givennames", "first", "firstname", "forename"),
    ("name", "literal", "fullname", "text"),
)
"""What tools call the family name, the given name and the whole."""


def stated_record(front_matter: str) -> Record:
    """The first value of each field counts; None for what is not stated."""
    stated = _fields(front_matter)
    year = _YEAR.search(str(stated.get("date", ""))) or _YEAR.search(str(stated.get("year", "")))
    journal = stated.get("journal")
    journal = journal.get("title", journal.get("name")) if isinstance(journal, dict) else journal
    keywords = stated.get("keywords") or stated.get("tags") or []
    keywords = keywords if isinstance(keywords, list) else re.split("[;,]", str(keywords))
    return Record(
        title=_text(stated.get("title")),
        authors=tuple(
            map(
                _person,
                islice(_names(stated.get("authors") or stated.get("author")), _MOST_AUTHORS),
            )
        ),
        year=int(year[0]) if year else None,
        venue=_text(journal),
        doi=_text(stated.get("doi")),
        keywords=tuple(filter(None, map(_text, keywords))),
    )


def _fields(front_matter: str) -> Mapping[str, object]:
    """The values by the names of their fields in small letters; none if there is too much to be
    front matter."""
    text = front_matter.strip()
    inner = text[3:-3].expandtabs(4) if len(text) <= _MAX_CHARS else ""
    fields: dict[str, object] = {}
    try:
        loaded = (
            [tomllib.loads(inner)]
            if text.startswith("+++")
            else map(_loaded, _TOP_LEVEL.split(inner))
        )
        for name, value in ((name, value) for field in loaded for name, value in field.items()):
            fields.setdefault(str(name).lower(), value)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    return fields


def _loaded(field: str) -> Mapping[object, object]:
    """One field of YAML; the words behind the colon where they are no YAML. A broken list or
    mapping is left out, and what is too deep or refers to anchors."""
    depth = 0
    try:
        for event in yaml.parse(field, yaml.BaseLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(
                event, yaml.CollectionEndEvent
            )
            if depth > _MAX_DEPTH or isinstance(event, yaml.AliasEvent):
                return {}
        value = yaml.BaseLoader(field).get_single_data()
        return value if isinstance(value, dict) else {}
    except yaml.YAMLError:
        name, _, rest = field.partition(":")
        words = " ".join(_COMMENT.sub("", rest).split()).strip("\"'")
        return {name.strip("\"' \t"): words} if _WORDS.match(rest) else {}


def _names(value: object, *, may_list: bool = True) -> Iterator[str]:
    """Names of persons that are stated as text, as mappings of a name or of its parts, or as a list
    of these.

    may_list: commas may part persons, "Ada Lund, Bo Moe"; in the item of a list they stand within a
    name.
    """
    if isinstance(value, list):
        for one in value:
            yield from _names(one, may_list=False)
    elif isinstance(value, dict):
        parts = {re.sub("[-_]", "", str(name)).lower(): part for name, part in value.items()}
        family, given, whole = (
            next((parts[name] for name in names if parts.get(name)), "") for names in _PARTS
        )
        if family:
            yield ", ".join(
                filter(None, (f"{parts.get('nondroppingparticle', '')} {family}".strip(), given))
            )
        elif whole or len(value) == 1:  # "Ada Lund: {institute: ...}"
            yield from _names(whole or str(*value), may_list=False)
    else:
        for piece in _BETWEEN_NAMES.split(_ASIDE.sub("", str(value or ""))):
            pieces = [part for one in piece.split(",") if (part := plain_line(one).strip(_MARKS))]
            size = len(pieces) or 1
            if may_list and all(" " in part for part in pieces):
                size = 1
            elif may_list and size > 2 and size % 2 == 0:  # "Lund, Ada, Moe, Bo"
                size = 2
            yield from (", ".join(pieces[at : at + size]) for at in range(0, len(pieces), size))


def _person(name: str) -> Person:
    """A name as people write it, in either order."""
    parsed = HumanName(name)
    given = f"{parsed.first} {parsed.middle}".strip()
    return Person(parsed.last, given) if parsed.last else Person(given or name)


def _text(value: object) -> str | None:
    """A value as one line; None if it is none, or no text."""
    return (
        None
        if value is None or isinstance(value, dict | list)
        else " ".join(str(value).split()) or None
    )


_FRONT_MATTER = re.compile(
    r"\A(?:---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)|\+\+\+[ \t]*\n.*?\n\+\+\+[ \t]*(?:\n|\Z))",
    re.DOTALL,
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKED_HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.*)")
_NOT_PROSE = re.compile(r"\s{4}|\t|\s*[|<>]|\s*[-*+]\s|\s*(?:-{2,}|={2,})\s*$")
"""Code, tables, HTML, quotes, items and the underlines of headings."""
_EMPHASIS = re.compile(r"\*\*|__")
_HIDDEN = "(no prose)"
_MAX_NAME_CHARS = 80
_MAX_LEVEL = 6


def parse_markdown(file: RawFile, settings: ParsingSettings) -> Document:  # noqa: ARG001 - one signature for all formats
    """Read a Markdown file. Raises UnreadableDocument when it is not text or empty, DocumentLimit
    when too deep."""
    source = decoded(file.content)
    text = source.text.replace("\r\n", "\n").replace("\r", "\n")
    front_matter = _FRONT_MATTER.match(text)
    header = stated_record(front_matter[0]) if front_matter else NO_RECORD
    title = header.title or ""
    lines = (text[front_matter.end() :] if front_matter else text).split("\n")
    of_contents = lines_of_contents(lines)
    body = "\n".join(line for at, line in enumerate(lines) if at not in of_contents)
    try:
        parts = [part for part in markdown_parts(_with_marked_headings(body), "file") if part.text]
    except RecursionError as error:
        raise DocumentLimit(
            "has Markdown nested too deep to read. Flatten its lists or quotes."
        ) from error
    if not parts:
        raise UnreadableDocument("has no text below the front matter. Check the file or remove it.")
    title_at = _title_index(parts, title)
    blocks = _with_sections(parts, title_at, title)
    return Document(
        paper_id=file.paper_id,
        title=title or _title(parts, title_at),
        source=SourceFormat.MARKDOWN,
        file_path=file.path,
        blocks=tuple(blocks),
        page_source=PageSource.NONE,
        n_source_chars=sum(block.n_chars for block in blocks if block.zone is not Zone.BACK),
        notes=source.notes,
        header=header,
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
    """The title of a file whose front matter states none: the first heading of level 1, or a
    heading that opens it."""
    if title_at is not None:
        return _one_line(parts[title_at].text)
    return _one_line(parts[0].text) if parts[0].level and not is_section_name(parts[0].text) else ""


def _with_sections(parts: Sequence[MarkdownPart], title_at: int | None, stated: str) -> list[Block]:
    """The blocks with their sections; the title heads no path, unless it opens one of several
    sections."""
    is_alone = sum(part.level == 1 for part in parts) == 1
    is_title = title_at is not None and (is_alone or _is_same_title(parts[title_at].text, stated))
    blocks = [
        LevelledBlock(_block(part), part.level, is_title and at == title_at)
        for at, part in enumerate(parts)
    ]
    return with_sections(with_titles_in_tables(blocks))


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


def _with_marked_headings(text: str) -> str:
    """`text` with `#` before the numbered and named headings that lack it: "1. Introduction", "**2.
    Methods**".

    To Markdown the first is a list with one item and the second a paragraph.
    """
    lines = text.split("\n")
    seen = _seen(lines)
    found = numbered_heading_lines(seen) | _names_alone(seen)
    found = frozenset(at for at in found if _MARKED_HEADING.match(seen[at]) is None)
    if not found:
        return text
    offset, styles = _level_offset(seen), number_styles(seen[at] for at in found)
    for at in found:
        title = _EMPHASIS.sub("", seen[at]).strip()
        level = min(max((heading_depth(title, styles) or 1) + offset, 1), _MAX_LEVEL)
        lines[at] = f"\n{'#' * level} {title}\n"
    return "\n".join(lines)


def _seen(lines: Sequence[str]) -> list[str]:
    """The lines as they are judged: marked headings and prose as they are, everything else
    hidden."""
    seen: list[str] = []
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            seen.append(_HIDDEN)
            if mark and mark[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
        elif mark:
            fence = mark[1]
            seen.append(_HIDDEN)
        else:
            is_hidden = bool(line.strip()) and (
                _NOT_PROSE.match(line) is not None or plain_rows(line) is not None
            )
            seen.append(_HIDDEN if is_hidden else line.strip())
    return seen


def _names_alone(lines: Sequence[str]) -> frozenset[int]:
    """Lines that hold the name of a section and no more, with a gap above and below."""
    return frozenset(
        at
        for at, line in enumerate(lines)
        if 0 < len(line) <= _MAX_NAME_CHARS
        and (at == 0 or not lines[at - 1])
        and (at + 1 == len(lines) or not lines[at + 1])
        and not line.endswith((".", ":"))
        and next((character for character in line if character.isalpha()), "a").isupper()
        and is_plain_section_name(line)
    )


def _level_offset(lines: Sequence[str]) -> int:
    """How many levels the marked headings of main sections are below the first level."""
    for line in lines:
        match = _MARKED_HEADING.match(line)
        if match is None:
            continue
        depth = heading_depth(match[2]) or (1 if is_plain_section_name(match[2]) else 0)
        if depth:
            return len(match[1]) - depth
    return 0
