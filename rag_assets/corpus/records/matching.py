"""Says which entry of a bibliography is the record of a paper."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from rag_assets.core.domain import Record
from rag_assets.core.text.folding import letters_of, title_key
from rag_assets.parsing.bibliographies import Entry
from rag_assets.parsing.discovery import LIBRARY_SUFFIXES
from rag_assets.parsing.registry import stem_of


@dataclass(frozen=True)
class PaperNames:
    """The values by which an entry can name a paper."""

    paper_id: str
    files: tuple[str, ...]
    """Relative to the papers folder."""
    record: Record


class Matcher:
    """Finds entries by DOI, arXiv id, attachment or file beside the paper, key, and title, in this
    order."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._by_doi = _first_of((one.record.doi, one) for one in entries)
        self._by_arxiv = _first_of((one.record.arxiv, one) for one in entries)
        self._by_file = _first_of((path, one) for one in entries for path in _paths(one))
        self._by_key = _first_of((one.key.casefold(), one) for one in entries)
        self._by_title = _first_of((title_key(one.record.title), one) for one in entries)

    def entry_of(self, paper: PaperNames) -> Entry | None:
        if not self._entries:
            return None
        record = paper.record
        stems = [stem_of(file) or file for file in paper.files]
        files = [*paper.files, *stems, *(PurePosixPath(file).name for file in paper.files)]
        found = (
            self._by_doi.get(record.doi),
            self._by_arxiv.get(record.arxiv),
            *(self._by_file.get(file) for file in files),
            self._by_key.get(paper.paper_id.casefold()),
            self._by_title.get(title_key(record.title)),
        )
        return next(
            (one for one in found if one is not None and not _is_another(one.record, record)), None
        )


def _is_another(entry: Record, paper: Record) -> bool:
    """Whether both have a DOI, and not the same: a preprint and its published version may share the
    title."""
    return bool(entry.doi and paper.doi and entry.doi != paper.doi)


def completed(
    own: Record, sources: Mapping[str, str], entry: Entry
) -> tuple[Record, dict[str, str]]:
    """The record with the values of the entry, which win, and where each comes from."""
    stated = _stated(entry.record)
    return replace(own, **stated), dict(sources) | dict.fromkeys(stated, entry.library)


def filled(
    own: Record, sources: Mapping[str, str], known: Record, source: str
) -> tuple[Record, dict[str, str]]:
    """The record with what `known` states and it does not; the same if `known` is another work by
    its title.

    One title may go on where the other ends: a subtitle, or "RETRACTED:" before it.
    """
    one, other = sorted((letters_of(own.title or ""), letters_of(known.title or "")), key=len)
    if one and one != other and (title_key(one) is None or one not in other):
        return own, dict(sources)
    new = {
        name: value for name, value in _stated(known).items() if getattr(own, name) in (None, ())
    }
    return replace(own, **new), dict(sources) | dict.fromkeys(new, source)


def _stated(record: Record) -> dict[str, Any]:
    return {
        name: value
        for name in Record.__dataclass_fields__
        if (value := getattr(record, name)) not in (None, ())
    }


def _paths(entry: Entry) -> Iterable[str]:
    """Attachments by path and by name, and the stem of a file that holds this entry alone, as a
    paper beside it has."""
    for path in entry.files:
        posix = path.replace("\\", "/")
        yield posix
        yield PurePosixPath(posix).name
    if entry.is_alone:
        yield next(
            entry.library[: -len(end)]
            for end in LIBRARY_SUFFIXES
            if entry.library.lower().endswith(end)
        )


def _first_of(pairs: Iterable[tuple[str | None, Entry]]) -> dict[str | None, Entry]:
    found: dict[str | None, Entry] = {}
    for name, entry in pairs:
        if name:
            found.setdefault(name, entry)
    return found
