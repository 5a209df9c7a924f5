"""The published set: one folder with links to the tables and indexes that belong together. Questions
are answered from it.

A run publishes tables and indexes one after another, so a run that is killed leaves some of them
new and others old. The last step, `index_meta`, replaces the set as a whole; until then, questions
are answered from the set before. Links need no space; a disk without links gets copies.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rag_assets.core.incremental import existing, link, recover_folder, staging, stamp_if_there
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


def pairs(settings: Settings) -> Iterator[tuple[Path | None, Path]]:
    """Each file of the tables and indexes, with its link in the set. One of the two may be
    missing."""
    paths = settings.paths
    parts = [paths.chunks, paths.passages, paths.profiles, paths.references, paths.records]
    indexes = [index.folder for index in published_indexes(settings)]
    made = _files([*parts, paths.index_meta, *indexes])
    for name in sorted(made.keys() | _files(paths.published_set.glob("*")).keys()):
        yield made.get(name), paths.published_set / name


def is_same(made: Path | None, linked: Path) -> bool:
    """Whether both exist with the same size and time of change."""
    one, other = made and stamp_if_there(made), stamp_if_there(linked)
    return bool(one and other) and one[1:] == other[1:]


def is_newest(settings: Settings) -> bool:
    """Whether the set has the newest tables and indexes. Repairs a replacement that was killed."""
    recover_folder(settings.paths.published_set)
    return all(is_same(made, linked) for made, linked in pairs(settings))


def publish_set(settings: Settings) -> None:
    """Replace the set by links to the newest tables and indexes."""
    with staging() as staged:
        folder = staged.path(settings.paths.published_set)
        for made, linked in pairs(settings):
            if made:
                target = folder / linked.relative_to(settings.paths.published_set)
                target.parent.mkdir(parents=True, exist_ok=True)
                link(made, target)
        staged.publish()


def _files(parts: Iterable[Path]) -> dict[str, Path]:
    """Name in the set -> file, for all files of these tables and folders."""
    return {
        file.relative_to(part.parent).as_posix(): file
        for part in parts
        for file in (part, *part.rglob("*"))
        if file.is_file() and file.suffix != ".lock"
    }
