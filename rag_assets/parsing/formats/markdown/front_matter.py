"""What the front matter of a Markdown file (YAML between `---`, TOML between `+++`) states about the paper.

There is no YAML parser: what people write there is often not valid YAML (a colon in an unquoted title). Title, authors,
date, journal and DOI are read, with or without quotes, authors also as a list.
"""

import re
from collections.abc import Iterator

from rag_assets.core.domain import Person, Record

_FIELD = re.compile(
    r"^[\"']?(title|authors?|date|year|doi|journal|keywords|tags)[\"']?[ \t]*[:=]"
    r"[ \t]*(.*(?:\n(?:[ \t]+|-[ \t]+)\S.*)*)",
    re.MULTILINE | re.IGNORECASE,
)
"""The value, and the indented lines and items that go on with it."""
_BLOCK_MARK = re.compile(r"\A[|>][+-]?\d?[ \t]*(?=\n)")
_QUOTED = re.compile(r"\A([\"'])(.*)\1(?:\s+#.*)?\Z", re.DOTALL)
_COMMENT = re.compile(r"\s#.*")
_ITEM = re.compile(r"^[ \t]*-[ \t]+(.*)$", re.MULTILINE)
_NAME = re.compile(r"^(?:-?[ \t]*)?name[ \t]*:[ \t]*(.*)$", re.MULTILINE)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_MOST_AUTHORS = 500


def stated_record(front_matter: str) -> Record:
    """The first value of each field counts; None for what is not stated."""
    stated: dict[str, str] = {}
    for name, value in _FIELD.findall(front_matter):
        stated.setdefault(name.lower().removesuffix("s"), value)
    year = _YEAR.search(stated.get("date", "")) or _YEAR.search(stated.get("year", ""))
    return Record(
        title=_one_line(stated.get("title", "")) or None,
        authors=tuple(_persons(stated.get("author", "")))[:_MOST_AUTHORS],
        year=int(year[0]) if year else None,
        venue=_one_line(stated.get("journal", "")) or None,
        doi=_one_line(stated.get("doi", "")) or None,
        keywords=tuple(_items(stated.get("keyword", stated.get("tag", "")))),
    )


def _persons(value: str) -> Iterator[Person]:
    """Names as "Ada Lund" or "Lund, Ada"; mappings by their `name`."""
    names = [_one_line(name) for name in _NAME.findall(value)] or _items(value, " and ")
    for name in filter(None, names):
        family, comma, given = (part.strip() for part in name.partition(","))
        words = name.split()
        yield Person(family, given) if comma else Person(words[-1], " ".join(words[:-1]))


def _items(value: str, *separators: str) -> list[str]:
    """The items of a list, in lines or in brackets; else the parts of one line."""
    if items := _ITEM.findall(value):
        return [_one_line(item) for item in items]
    line = value.strip()
    if line.startswith("["):
        return [_one_line(item) for item in re.split(r",(?=\s*[\"'])|(?<![\"']),", line.strip("[]"))]
    parts = [_one_line(line)]
    for separator in (";", *separators) if separators else (";", ","):
        parts = [part.strip() for one in parts for part in one.split(separator)]
    return [part for part in parts if part]


def _one_line(value: str) -> str:
    """A value as one line without quotes; "" if there is none."""
    line = " ".join(_BLOCK_MARK.sub("", value).split())
    if quoted := _QUOTED.match(line):
        quote, inner = quoted.groups()
        return inner.replace("''", "'") if quote == "'" else inner.replace('\\"', '"')
    return _COMMENT.sub("", line).strip()
