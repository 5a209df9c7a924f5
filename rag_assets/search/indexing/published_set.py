"""The published set: one folder with links to the tables and indexes that belong together. Questions
are answered from it.

A run publishes tables and indexes one after another, so a run that is killed leaves some of them
new and others old. The last step, `index_meta`, replaces the set as a whole; until then, questions
are answered from the set before. Links need no space; a disk without links gets copies.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rag_assets.core.incremental import (
    existing,
    link,
    make_folder,
    recover_folder,
    sha256_of,
    staging,
    stamp_if_there,
)
from rag_assets.core.settings import Settings
from rag_assets.search.indexing.stores import published_indexes

Stamp = tuple[int, int, int] | None


def place_of(settings: Settings) -> Callable[[Path], Path]:
    """Where a table or index is read to answer questions: in the set, or where it is made as long as
    there is no set."""
    folder = existing(settings.paths.published_set)
    return (lambda made: folder / made.name) if folder.exists() else (lambda made: made)


def published_stamp(settings: Settings) -> Stamp:
    """Changes with each publication; None if nothing is published."""
    paths = settings.paths
    places = (existing(paths.published_set), paths.index_meta, paths.chunks)
    return next(filter(None, map(stamp_if_there, places)), None)


def not_newest(settings: Settings) -> Iterator[Path]:
    """Files of the set that are missing, or not those of the newest tables and indexes."""
    folder, made = settings.paths.published_set, _made_files(settings)
    for name in sorted(made.keys() | _files(folder.glob("*")).keys()):
        file, linked = made.get(name), folder / name
        if not (file and linked.exists()) or not (
            linked.samefile(file) or sha256_of(linked) == sha256_of(file)
        ):
            yield linked


def is_newest(settings: Settings) -> bool:
    """Whether the set has the newest tables and indexes. Repairs a replacement that was killed."""
    recover_folder(settings.paths.published_set)
    return not any(not_newest(settings))


def publish_set(settings: Settings) -> None:
    """Replace the set by links to the newest tables and indexes."""
    with staging() as staged:
        folder = staged.path(settings.paths.published_set)
        for name, file in _made_files(settings).items():
            make_folder((folder / name).parent)
            link(file, folder / name)
        staged.publish()


def _made_files(settings: Settings) -> dict[str, Path]:
    paths = settings.paths
    tables = (paths.chunks, paths.passages, paths.profiles, paths.references, paths.records)
    indexes = (index.folder for index in published_indexes(settings))
    return _files((*tables, paths.index_meta, *indexes))


def _files(parts: Iterable[Path]) -> dict[str, Path]:
    """Name in the set -> file, for all files of these tables and indexes."""
    return {
        file.relative_to(part.parent).as_posix(): file
        for part in parts
        for file in (part, *part.rglob("*"))
        if file.is_file() and file.suffix != ".lock"
    }
