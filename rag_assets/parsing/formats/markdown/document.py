"""Reads a Markdown file into blocks; its headings open sections, and there are no pages.

The front matter (YAML between `---`, TOML between `+++`) states title, authors, date, journal, DOI
and keywords. Each field of YAML is loaded separately, because invalid fields are common (a colon in
a title without quotes), and the others must still be read. Only text, lists and mappings are
loaded; aliases are refused, because with them a small file can expand without limit.
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
_BETWEEN_NAMES = re.compile(r"(?:[;&\n]|\\and\b|,?\s\band\b)\s*")
_ASIDE = re.compile(r"\^\[[^\]]{0,300}\]|\^[\d,*]+\^|<[^<>]*>|\\\w+\{[^{}]*\}|\([^()]*\)")
"""Notes, addresses and brackets after a name."""
_MARKS = ' "*†‡§,:0123456789¹²³⁴⁵⁶⁷⁸⁹'
_PARTS = (
    ("family", "familyname", "familynames", "surname", "last", "lastname"),
    ("given", "givenname", "givennames", "first", "firstname", "forename"),
    ("name", "literal", "fullname", "text"),
)
"""Field names of tools for the family name, the given name, and the whole name."""


def stated_record(front_matter: str) -> Record:
    """The bibliographic data in the front matter; None for fields that it does not state."""
    fields = _fields(front_matter)
    year = _YEAR.search(str(fields.get("date", ""))) or _YEAR.search(str(fields.get("year", "")))
    journal = fields.get("journal")
    if isinstance(journal, dict):
        journal = journal.get("title", journal.get("name"))
    keywords = fields.get("keywords") or fields.get("tags") or []
    if not isinstance(keywords, list):
        keywords = re.split("[;,]", str(keywords))
    names = islice(_names(fields.get("authors") or fields.get("author")), _MOST_AUTHORS)
    return Record(
        title=_text(fields.get("title")),
        authors=tuple(map(_person, names)),
        year=int(year[0]) if year else None,
        venue=_text(journal),
        doi=_text(fields.get("doi")),
        keywords=tuple(filter(None, map(_text, keywords))),
    )


def _fields(front_matter: str) -> Mapping[str, object]:
    """Name of a field in small letters -> its first value. Empty if the text is too long to be
    front matter, or invalid TOML."""
    text = front_matter.strip()
    inner = text[3:-3].expandtabs(4) if len(text) <= _MAX_CHARS else ""
    fields: dict[str, object] = {}
    try:
        is_toml = text.startswith("+++")
        loaded = [tomllib.loads(inner)] if is_toml else map(_yaml_field, _TOP_LEVEL.split(inner))
        for field in loaded:
            for name, value in field.items():
                fields.setdefault(str(name).lower(), value)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    return fields


def _yaml_field(field: str) -> Mapping[object, object]:
    """Name and value of one field of YAML.

    If the field is invalid YAML, its value is the text after the colon; a broken list or mapping is
    left out. A field that is nested too deep or has aliases is left out too.
    """
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
    """The names of persons in a value of the front matter: text, a mapping with a name or its
    parts, or a list of these. A name is "Ada Lund" or "Lund, Ada".

    may_list: whether a text may contain several persons separated by commas, "Ada Lund, Bo Moe". In
    an item of a list, a comma is part of a name, "Lund, Ada".
    """
    if isinstance(value, list):
        for item in value:
            yield from _names(item, may_list=False)
    elif isinstance(value, dict):
        parts = {re.sub("[-_]", "", str(name)).lower(): part for name, part in value.items()}
        family, given, whole = (
            next((parts[name] for name in names if parts.get(name)), "") for names in _PARTS
        )
        if family:
            family = f"{parts.get('nondroppingparticle', '')} {family}".strip()
            yield ", ".join(filter(None, (family, given)))
        elif whole:
            yield from _names(whole, may_list=False)
        elif len(value) == 1:  # "Ada Lund: {institute: ...}": the only key is the name
            [key] = value
            yield from _names(str(key), may_list=False)
    else:
        yield from _names_in_text(str(value or ""), may_list=may_list)


def _names_in_text(text: str, *, may_list: bool) -> Iterator[str]:
    """The names in a text, as in `_names`."""
    for part in _BETWEEN_NAMES.split(_ASIDE.sub("", text)):
        words = (plain_line(word).strip(_MARKS) for word in part.split(","))
        pieces = list(filter(None, words))
        n_per_name = len(pieces) or 1
        if may_list and all(" " in piece for piece in pieces):  # "Ada Lund, Bo Moe"
            n_per_name = 1
        elif may_list and len(pieces) > 2 and len(pieces) % 2 == 0:  # "Lund, Ada, Moe, Bo"
            n_per_name = 2
        for start in range(0, len(pieces), n_per_name):
            yield ", ".join(pieces[start : start + n_per_name])


def _person(name: str) -> Person:
    """The person of a name in either order: "Ada Lund" or "Lund, Ada"."""
    parsed = HumanName(name)
    given = f"{parsed.first} {parsed.middle}".strip()
    return Person(parsed.last, given) if parsed.last else Person(given or name)


def _text(value: object) -> str | None:
    """A value on one line; None if it is empty, a list or a mapping."""
    if value is None or isinstance(value, dict | list):
        return None
    return " ".join(str(value).split()) or None


_FRONT_MATTER = re.compile(
    r"\A(?:---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)|\+\+\+[ \t]*\n.*?\n\+\+\+[ \t]*(?:\n|\Z))",
    re.DOTALL,
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKED_HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.*)")
_NOT_PROSE = re.compile(r"\s{4}|\t|\s*[|<>]|\s*[-*+]\s|\s*(?:-{2,}|={2,})\s*$")
"""Start of a line of code, of a table, HTML, a quote, a list, or of the underline of a heading."""
_EMPHASIS = re.compile(r"\*\*|__")
_HIDDEN_LINE = "(no prose)"
_MAX_NAME_CHARS = 80
_MAX_LEVEL = 6


def parse_markdown(file: RawFile, settings: ParsingSettings) -> Document:  # noqa: ARG001 - one signature for all formats
    """Read a Markdown file. Raises UnreadableDocument when it is not text or empty, DocumentLimit
    when it is nested too deep."""
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
    """Index of the heading of level 1 that is the title: the one that repeats the title in the
    front matter (`stated`), else the first. None if there is a stated title, and the first heading
    of level 1 names a section.
    """
    at_top = [index for index, part in enumerate(parts) if part.level == 1]
    if stated and at_top and is_section_name(parts[at_top[0]].text):
        return None
    repeated = (index for index in at_top if _is_same_title(parts[index].text, stated))
    return next(repeated, at_top[0] if at_top else None)


def _title(parts: Sequence[MarkdownPart], title_at: int | None) -> str:
    """The title of a file without a title in its front matter: the heading at `title_at`, or else a
    heading at the start of the file that does not name a section."""
    if title_at is not None:
        return _one_line(parts[title_at].text)
    return _one_line(parts[0].text) if parts[0].level and not is_section_name(parts[0].text) else ""


def _with_sections(parts: Sequence[MarkdownPart], title_at: int | None, stated: str) -> list[Block]:
    """The blocks with their sections. The title opens no section, unless there are several headings
    of level 1 and it does not repeat the title in the front matter (`stated`)."""
    is_alone = sum(part.level == 1 for part in parts) == 1
    is_title = title_at is not None and (is_alone or _is_same_title(parts[title_at].text, stated))
    blocks = [
        LevelledBlock(_block(part), part.level, is_title and index == title_at)
        for index, part in enumerate(parts)
    ]
    return with_sections(with_titles_in_tables(blocks))


def _is_same_title(heading: str, stated: str) -> bool:
    return _one_line(heading).casefold() == stated.casefold()


def _block(part: MarkdownPart) -> Block:
    if part.cells:
        return table_block(part.cells, part.title)
    has_lines = part.kind in (BlockKind.LIST, BlockKind.CODE)
    text = part.text if has_lines else _one_line(part.text)
    return Block(part.kind, text, spans=(Span(0, len(text), None, None),), title=part.title)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _with_marked_headings(text: str) -> str:
    """`text` with "#" before numbered and named headings that have no such mark: "1. Introduction",
    "**2. Methods**". Markdown would read the first as a list with one item, and the second as a
    paragraph."""
    lines = text.split("\n")
    prose = _prose_lines(lines)
    headings = [
        index
        for index in numbered_heading_lines(prose) | _section_names(prose)
        if _MARKED_HEADING.match(prose[index]) is None
    ]
    offset, styles = _level_offset(prose), number_styles(prose[index] for index in headings)
    for index in headings:
        title = _EMPHASIS.sub("", prose[index]).strip()
        level = min(max((heading_depth(title, styles) or 1) + offset, 1), _MAX_LEVEL)
        lines[index] = f"\n{'#' * level} {title}\n"
    return "\n".join(lines)


def _prose_lines(lines: Sequence[str]) -> list[str]:
    """The lines; those that are neither prose nor marked headings (code, tables, lists) are
    replaced by a line that cannot be a heading."""
    replaced: list[str] = []
    fence = ""
    """The start of the fenced code that is open; empty outside."""
    for line in lines:
        mark = _FENCE.match(line)
        is_code = bool(fence or mark)
        if fence and mark and mark[1].startswith(fence) and not line.strip(" `~"):
            fence = ""
        elif mark and not fence:
            fence = mark[1]
        is_hidden = is_code or (
            line.strip() and (_NOT_PROSE.match(line) or plain_rows(line) is not None)
        )
        replaced.append(_HIDDEN_LINE if is_hidden else line.strip())
    return replaced


def _section_names(lines: Sequence[str]) -> frozenset[int]:
    """Indices of lines that consist of the usual name of a section, with an empty line before and
    after."""
    return frozenset(
        index
        for index, line in enumerate(lines)
        if 0 < len(line) <= _MAX_NAME_CHARS
        and (index == 0 or not lines[index - 1])
        and (index + 1 == len(lines) or not lines[index + 1])
        and not line.endswith((".", ":"))
        and next((character for character in line if character.isalpha()), "a").isupper()
        and is_plain_section_name(line)
    )


def _level_offset(lines: Sequence[str]) -> int:
    """The difference between the level of marked headings and the depth of their section: 1 if main
    sections have the mark "##". Found from the first marked heading whose depth is known."""
    for line in lines:
        match = _MARKED_HEADING.match(line)
        if match is None:
            continue
        depth = heading_depth(match[2]) or (1 if is_plain_section_name(match[2]) else 0)
        if depth:
            return len(match[1]) - depth
    return 0
