"""The library of a reference manager as a list of papers: a BibTeX file with attachments, as Zotero
and Better BibTeX export it. Nothing is written there, and no file outside of its folder is
opened."""

import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePosixPath

from rag_assets.core.errors import MissingInput
from rag_assets.core.settings import ParseLimits
from rag_assets.core.workforce.processes import LocalProcesses
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.parsing.bibliographies import Entry, Read, content_of, entries_in
from rag_assets.parsing.discovery import Paper, PaperFile, file_problem, safe_id
from rag_assets.parsing.registry import known_suffixes, stem_of

BIBTEX = ".bib"
_WEB_PAGES = (".html", ".htm")
"""Reference managers keep a snapshot of the web page beside the paper itself."""


def is_reference_library(listing: Path) -> bool:
    """Whether the setting `paper_list` names a library, not a table."""
    return listing.suffix.lower() == BIBTEX


def entries_of(library: Path, papers: Path, limits: ParseLimits) -> tuple[list[Entry], list[str]]:
    """The items of a library with their attachments relative to the papers folder, and what could
    not be read of it.

    Raises MissingInput when nothing of it can be read.
    """
    entries, problems = _read(library, limits)
    folder = library.parent
    named = [
        replace(one, files=tuple(_name_of(folder / path, papers) for path in one.files))
        for one in entries
    ]
    return named, problems


def _read(library: Path, limits: ParseLimits) -> Read:
    if not library.is_file():
        raise MissingInput(
            f"{library}, which the setting paper_list names, does not exist. Export it again or unset the setting."
        )
    content = content_of(library)
    entries, problems = (
        ([], [content]) if isinstance(content, str) else _taken_apart(library.name, content, limits)
    )
    if problems and not entries:
        raise MissingInput(
            f"{library}, which the setting paper_list names, cannot be read. {problems[0]}"
        )
    return entries, problems


@lru_cache(1)  # a server lists the papers at every request
def _taken_apart(name: str, content: bytes, limits: ParseLimits) -> Read:
    """The entries of a file, in a process that can be stopped."""
    with closing(LocalProcesses(1)) as processes:
        [(_, made)] = processes.map(entries_in, [(name, content)], limits)
    return ([], [f"It {made.reason}."]) if isinstance(made, Failure) else made


def papers_in(library: Path, papers: Path, limits: ParseLimits) -> list[Paper]:
    """The papers of a library: attachments of one item with the same stem are one paper. Its id is
    the stem, with the key of the item where two items share it. A file that cannot be used keeps
    its problem. Raises as `entries_of`."""
    folder = library.parent
    root = folder.resolve()
    found: list[tuple[str, str, list[PaperFile]]] = []
    for entry in _read(library, limits)[0]:
        files = [_file(folder / path, papers, root, limits) for path in dict.fromkeys(entry.files)]
        by_stem: dict[str, list[PaperFile]] = {}
        for file in _meant(files):
            by_stem.setdefault(_stem(file), []).append(file)
        found += ((stem, entry.key, own) for stem, own in by_stem.items())
    n_with = Counter(safe_id(stem) for stem, _, _ in found)
    named = {
        safe_id(stem if n_with[safe_id(stem)] == 1 else f"{stem}-{key}"): tuple(own)
        for stem, key, own in found
    }
    return [Paper(paper_id, files) for paper_id, files in named.items()]


def _meant(files: Sequence[PaperFile]) -> Iterable[PaperFile]:
    """The files of a known suffix, without web pages if there is any other; all files, if none has
    a known suffix."""
    known = [file for file in files if stem_of(file.relative)] or files
    return [file for file in known if not file.relative.lower().endswith(_WEB_PAGES)] or known


def _stem(file: PaperFile) -> str:
    name = PurePosixPath(file.relative).name
    return stem_of(name) or name


def _name_of(path: Path, papers: Path) -> str:
    return unicodedata.normalize(
        "NFC", Path(os.path.relpath(path.absolute(), papers.absolute())).as_posix()
    )


def _file(path: Path, papers: Path, root: Path, limits: ParseLimits) -> PaperFile:
    return PaperFile(path, _name_of(path, papers), _problem(path, root, limits))


def _problem(path: Path, root: Path, limits: ParseLimits) -> str:
    try:
        is_inside = path.resolve().is_relative_to(root)
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name that no file can have
        is_inside = False
    if not is_inside:
        return "lies outside of the library's folder, or is a link that leads there. Store a copy in the library."
    if not stem_of(path.name):
        return f"is of no kind that is read. Read are {', '.join(known_suffixes())}."
    return file_problem(path, limits)
