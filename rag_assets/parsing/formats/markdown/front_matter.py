"""What the front matter of a Markdown file (YAML between `---`, TOML between `+++`) states about
the paper.

Title, authors, date, journal, DOI and keywords are read. Each field of YAML is loaded on its own,
since one that is not valid (a colon in a title without quotes) is common and must not cost the
others; nothing but text, lists and mappings is made of it, and anchors, by which a small file can
grow without end, are not followed.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from itertools import islice

import yaml
from nameparser import HumanName

from rag_assets.core.domain import Person, Record
from rag_assets.parsing.formats.markdown.parts import plain_line

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
