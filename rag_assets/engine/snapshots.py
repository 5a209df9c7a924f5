"""Keeps the newest publication of the corpus open, and replaces it when there is a newer one.

The times and sizes of a few files show whether something was published. Tables and indexes are
published one after another; until they belong together again, the earlier publication stays open
and is used.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Self

from rag_assets.core.errors import RagAssetsError
from rag_assets.core.incremental import stamp_if_there
from rag_assets.search.retrieval.search import Searcher

logger = logging.getLogger(__name__)
State = tuple[tuple[int, int, int] | None, ...]
"""Inode, size and time of change of each file that changes with a publication; None for a missing
file."""


@dataclass
class _Snapshot:
    """An open publication."""

    searcher: Searcher
    state: State
    n_users: int = 0
    """Number of questions in progress."""
    is_replaced: bool = False
    """Whether a newer publication is open; then it is closed after the last question."""


class Snapshots:
    """Gives each question the newest publication, and closes a replaced one after its last question.
    Safe for several threads."""

    def __init__(
        self,
        open_: Callable[[], Searcher],
        files: Sequence[Path],
        *,
        fit: Callable[[], bool],
        is_built: Callable[[], bool],
    ) -> None:
        """open_: opens the current publication. files: files that change with every publication.
        fit: whether the published files belong together. is_built: whether there is a publication.
        `fit` and `is_built` are called only after a change."""
        self._open = open_
        self._files = files
        self._fit = fit
        self._is_built = is_built
        self._opening = Lock()
        self._counting = Lock()
        self._newest: _Snapshot | None = None
        self._unusable: State | None = None
        """State of files that do not belong together, or could not be opened."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._opening:
            self._replace(None)

    @contextmanager
    def newest(self) -> Iterator[Searcher]:
        """The newest publication, for one question. Raises the errors of opening it if no earlier
        one is open.

        The first question after a publication opens it; until it is open, other questions use the
        earlier one.
        """
        snapshot = self._acquired()
        try:
            yield snapshot.searcher
        finally:
            with self._counting:
                snapshot.n_users -= 1
                is_last = snapshot.is_replaced and not snapshot.n_users
            if is_last:
                snapshot.searcher.close()

    def _acquired(self) -> _Snapshot:
        """The newest open snapshot, with one more user. If none is open yet, waits until one is."""
        while True:
            is_first = self._newest is None
            is_due = is_first or self._is_new(self._state())
            # only the first publication is worth waiting for while another thread opens it
            if is_due and self._opening.acquire(blocking=is_first):
                try:
                    self._open_newest()
                finally:
                    self._opening.release()
            with self._counting:
                snapshot = self._newest
                if snapshot is not None:
                    snapshot.n_users += 1
                    return snapshot

    def _state(self) -> State:
        return tuple(stamp_if_there(file) for file in self._files)

    def _is_new(self, state: State) -> bool:
        """Whether the files are neither those that are open nor known to be unusable."""
        return self._newest is None or state not in (self._newest.state, self._unusable)

    def _open_newest(self) -> None:
        """Open the current publication, unless it is open already, or its files do not belong
        together. Only one thread at a time."""
        state, current = self._state(), self._newest
        if not self._is_new(state):  # another thread has opened it
            return
        if current is None or not self._is_built():
            self._replace(None)  # a deleted corpus must not be used any more
            self._replace(_Snapshot(self._open(), state))
            return
        is_incomplete = any(
            new is None and old is not None for new, old in zip(state, current.state, strict=True)
        )
        try:
            opened = None if is_incomplete or not self._fit() else _Snapshot(self._open(), state)
        except (RagAssetsError, OSError) as error:
            logger.warning(
                "What was published anew cannot be opened, so the earlier publication is asked: %s",
                error,
            )
            opened = None
        if opened is None:
            self._unusable = state
        else:
            self._replace(opened)

    def _replace(self, new: _Snapshot | None) -> None:
        """Make `new` the newest snapshot; the old one is closed now or after its last question."""
        with self._counting:
            old, self._newest = self._newest, new
            if old is None:
                return
            old.is_replaced = True
            is_unused = not old.n_users
        if is_unused:
            old.searcher.close()
