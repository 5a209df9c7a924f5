"""The publication that questions are asked of, and its exchange for a newer one.

The times and sizes of a few files show whether something was published. Tables and indexes are
published one after another: until they fit each other again, the earlier publication stays open and
is asked.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Self

from rag_assets.core.errors import RagAssetsError
from rag_assets.search.retrieval.search import Searcher

logger = logging.getLogger(__name__)
State = tuple[tuple[int, int, int] | None, ...]


@dataclass
class _Snapshot:
    searcher: Searcher
    state: State
    n_users: int = 0
    is_replaced: bool = False


class Snapshots:
    """Hands out the newest publication, and closes one after its last question. Safe to use from
    several threads."""

    def __init__(
        self,
        open_: Callable[[], Searcher],
        files: Sequence[Path],
        *,
        fit: Callable[[], bool],
        is_built: Callable[[], bool],
    ) -> None:
        """open_: opens what is published now. files: change with every publication. fit: whether
        the published files belong together. is_built: whether there is anything to ask. Both are
        called only after a change."""
        self._open = open_
        self._files = files
        self._fit = fit
        self._is_built = is_built
        self._opening = Lock()
        self._counting = Lock()
        self._newest: _Snapshot | None = None
        self._unfit: State | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._opening:
            self._replace(None)

    @contextmanager
    def newest(self) -> Iterator[Searcher]:
        """The newest publication, for one question. Raises what opening raises if none was open
        before.

        The first question after a publication opens it; meanwhile, other questions are asked of the
        earlier one.
        """
        snapshot = self._taken()
        try:
            yield snapshot.searcher
        finally:
            with self._counting:
                snapshot.n_users -= 1
                is_last = snapshot.is_replaced and not snapshot.n_users
            if is_last:
                snapshot.searcher.close()

    def _taken(self) -> _Snapshot:
        """The newest open snapshot, counted as used; questions wait until the first one is open."""
        while True:
            is_first = self._newest is None
            if (is_first or self._is_news(self._state())) and self._opening.acquire(
                blocking=is_first
            ):
                try:
                    self._exchange()
                finally:
                    self._opening.release()
            with self._counting:
                snapshot = self._newest
                if snapshot is not None:
                    snapshot.n_users += 1
                    return snapshot

    def _state(self) -> State:
        return tuple(_stat(file) for file in self._files)

    def _is_news(self, state: State) -> bool:
        return self._newest is None or state not in (self._newest.state, self._unfit)

    def _exchange(self) -> None:
        """Serve what is published now, unless it is served already or does not fit together. One
        thread at a time."""
        state, served = self._state(), self._newest  # another thread may have been here first
        if not self._is_news(state):
            return
        if served is None or not self._is_built():
            self._replace(None)  # what was deleted is not asked any more
            self._replace(_Snapshot(self._open(), state))
            return
        is_less = any(
            new is None and old is not None for new, old in zip(state, served.state, strict=True)
        )
        try:
            opened = None if is_less or not self._fit() else _Snapshot(self._open(), state)
        except (RagAssetsError, OSError) as error:
            logger.warning(
                "What was published anew cannot be opened, so the earlier publication is asked: %s",
                error,
            )
            opened = None
        if opened is None:
            self._unfit = state
        else:
            self._replace(opened)

    def _replace(self, new: _Snapshot | None) -> None:
        with self._counting:
            old, self._newest = self._newest, new
            if old is None:
                return
            old.is_replaced = True
            is_unused = not old.n_users
        if is_unused:
            old.searcher.close()


def _stat(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
