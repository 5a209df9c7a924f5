"""The items of a local Zotero library, with their records and attachments.

Read is `zotero.sqlite` of a Zotero data folder, as a file that nobody changes: no lock is taken and nothing is written.
Tables: https://github.com/zotero/zotero/blob/main/resource/schema/userdata.sql (version 107) and system.sql.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from rag_assets.core.domain import Record
from rag_assets.core.errors import MissingInput
from rag_assets.parsing.bibliographies import Entry, record_of_csl

DATABASE = "zotero.sqlite"
_STORED, _LINKED = "storage:", (2,)
"""How a path in the folder of its attachment begins, and the mode of a file that lies elsewhere."""
_MAX_VALUE_BYTES, _TIMEOUT_S, _STEPS_BETWEEN_LOOKS = 10_000_000, 60.0, 100_000
_MAX_CHARS, _CHARS_OF_ROW = 500_000_000, 100
"""In all rows of a query, and what a row counts besides its texts: views and shared ids make more than a file holds."""
_VENUES = ("publicationTitle", "proceedingsTitle", "bookTitle", "university", "institution", "publisher")
_TYPES = {
    "journalArticle": "article-journal",
    "magazineArticle": "article-magazine",
    "newspaperArticle": "article-newspaper",
    "conferencePaper": "paper-conference",
    "bookSection": "chapter",
    "book": "book",
    "thesis": "thesis",
    "report": "report",
    "preprint": "article",
    "dataset": "dataset",
    "webpage": "webpage",
}
"""Types of CSL 1.0 for those of Zotero."""
_ATTACHMENTS = """
SELECT coalesce(a.parentItemID, a.itemID), i.key, i.libraryID, a.linkMode, a.path
FROM itemAttachments a JOIN items i ON i.itemID = a.itemID
WHERE a.linkMode IN (0, 1, 2) AND a.path IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM deletedItems d WHERE d.itemID IN (a.itemID, a.parentItemID))
ORDER BY a.itemID"""
_VALUES = """
SELECT d.itemID, f.fieldName, v.value FROM itemData d
JOIN fields f ON f.fieldID = d.fieldID JOIN itemDataValues v ON v.valueID = d.valueID"""
_AUTHORS = """
SELECT ic.itemID, c.lastName, c.firstName FROM itemCreators ic
JOIN creators c ON c.creatorID = ic.creatorID JOIN creatorTypes t ON t.creatorTypeID = ic.creatorTypeID
WHERE t.creatorType = 'author' ORDER BY ic.itemID, ic.orderIndex"""
_KINDS = "SELECT i.itemID, i.key, t.typeName FROM items i JOIN itemTypes t ON t.itemTypeID = i.itemTypeID"


@dataclass
class _Item:
    values: dict[str, str] = field(default_factory=dict)
    authors: list[dict[str, str]] = field(default_factory=list)


def read_zotero(folder: Path) -> list[Entry]:
    """Every item that has a file, in the order of their attachments. The files are relative to the data folder, as
    "storage/KEY/name.pdf"; the path of a linked one is as Zotero has it.

    Raises MissingInput when the folder holds no library that can be read.
    """
    path = folder / DATABASE
    if not path.is_file():
        raise MissingInput(
            f"{folder}, which the setting paper_list names, has no {DATABASE}. Name Zotero's data folder."
        )
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            _bound(database)
            database.text_factory = lambda text: text.decode("utf-8", "replace")
            return list(_entries(database))
    except sqlite3.Error as error:
        raise MissingInput(
            f"{path} cannot be read as a Zotero library ({error}). Close Zotero and try again, or export the library "
            "as BibTeX with its files."
        ) from error


def _bound(database: sqlite3.Connection) -> None:
    """Limit what a file made by somebody else can cost: size of a value, and time."""
    until = monotonic() + _TIMEOUT_S
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
    database.set_progress_handler(lambda: monotonic() > until, _STEPS_BETWEEN_LOOKS)
    database.execute("PRAGMA trusted_schema = OFF")


def _rows(database: sqlite3.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    n_chars = 0
    for row in database.execute(query):
        n_chars += _CHARS_OF_ROW + sum(len(value) for value in row if isinstance(value, str | bytes))
        if n_chars > _MAX_CHARS:
            raise sqlite3.DataError("a table holds more than it may")
        yield row


def _entries(database: sqlite3.Connection) -> Iterator[Entry]:
    files: defaultdict[int, list[str]] = defaultdict(list)
    for item, key, _library, mode, stated in _rows(database, _ATTACHMENTS):
        is_stored = mode not in _LINKED and str(stated).startswith(_STORED)
        files[item].append(f"storage/{key}/{str(stated).removeprefix(_STORED)}" if is_stored else str(stated))
    items: defaultdict[int, _Item] = defaultdict(_Item)
    for item, name, value in _rows(database, _VALUES):
        if item in files:
            items[item].values[name] = str(value)
    for item, family, given in _rows(database, _AUTHORS):
        if item in files and family:
            name = {"family": str(family), "given": str(given)} if given else {"literal": str(family)}
            items[item].authors.append(name)
    kinds = {item: (str(key), str(kind)) for item, key, kind in _rows(database, _KINDS) if item in files}
    for item, paths in files.items():
        key, kind = kinds.get(item, ("", ""))
        yield Entry(key or str(item), _record(items[item], kind), tuple(paths), DATABASE)


def _record(item: _Item, kind: str) -> Record:
    values: Mapping[str, str] = item.values
    stated: dict[str, Any] = {
        "title": values.get("title") if kind in _TYPES else None,
        "author": item.authors,
        "issued": {"literal": values.get("date", "")},
        "container-title": next((values[name] for name in _VENUES if values.get(name)), None),
        "volume": values.get("volume"),
        "issue": values.get("issue"),
        "page": values.get("pages"),
        "DOI": values.get("DOI"),
        "number": values.get("archiveID") or values.get("extra"),
        "abstract": values.get("abstractNote"),
        "language": values.get("language"),
        "license": values.get("rights"),
        "type": _TYPES.get(kind),
    }
    return record_of_csl(stated)
