"""The papers folder as uploads and deletions see it: which papers lie in it, and one change at a time."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from rag_assets.core.errors import BusyDataFolder, CorpusConflict, ReadOnlyFolder
from rag_assets.core.settings import Settings
from rag_assets.core.settings.paths import demand_data_folder
from rag_assets.parsing.discovery import INDEX_NAME, Paper, discover

_LOCK_NAME = ".papers.lock"
_PATIENCE_S = 30.0


def demand_changeable(settings: Settings) -> None:
    """Make the papers folder if it is missing.

    Raises MissingInput without a data folder, CorpusConflict when a list names the papers, ReadOnlyFolder.
    """
    paths = settings.paths
    demand_data_folder(paths)
    if settings.paper_list_file or (paths.papers / INDEX_NAME).exists():
        raise CorpusConflict(
            "A list names the papers of this corpus, so files that are added or deleted here would change nothing. "
            "Change the list, or remove it."
        )
    try:
        paths.papers.mkdir(exist_ok=True)
    except OSError as error:
        raise ReadOnlyFolder.at(paths.data) from error
    if not os.access(paths.papers, os.W_OK | os.X_OK) or not os.access(paths.data, os.W_OK | os.X_OK):
        raise ReadOnlyFolder.at(paths.papers)


@contextmanager
def changing_papers(settings: Settings) -> Iterator[None]:
    """Within the block no other process adds or removes papers through this package; a run may read meanwhile.

    Raises BusyDataFolder, and as `demand_changeable`.
    """
    demand_changeable(settings)
    lock = FileLock(settings.data_dir.resolve() / _LOCK_NAME)
    try:
        lock.acquire(timeout=_PATIENCE_S)
    except Timeout as error:
        raise BusyDataFolder.at(settings.data_dir) from error
    try:
        yield
    finally:
        lock.release()


def present_papers(settings: Settings) -> list[Paper]:
    """All papers in the folder, those that cannot be parsed included."""
    return discover(settings.paths.papers, settings.parsing.limits)
