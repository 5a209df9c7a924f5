"""Keeps the newest publication of the corpus open, and replaces it when there is a newer one.

The stamp of what is published shows whether there is something new. If that cannot be opened, the
earlier publication stays open and is used.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Self

from rag_assets.core.errors import RagAssetsError
from rag_assets.search.indexing.published_set import Stamp
from rag_assets.search.retrieval.search import Searcher

logger = logging.getLogger(__name__)


@dataclass
class _Snapshot:
    """An open publication."""

    searcher: Searcher
    stamp: Stamp
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
        stamp: Callable[[], Stamp],
    ) -> None:
        """open_: opens the current publication. stamp: changes with every publication; None if
        nothing is published."""
        self._open = open_
        self._stamp = stamp
        self._opening = Lock()
        self._counting = Lock()
        self._newest: _Snapshot | None = None
        self._unusable: Stamp = None
        """Stamp of a publication that could not be opened."""

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
            is_due = is_first or self._is_new(self._stamp())
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

    def _is_new(self, stamp: Stamp) -> bool:
        """Whether that publication is neither open nor known to be unusable."""
        is_known = stamp and self._newest and stamp in (self._newest.stamp, self._unusable)
        return not is_known

    def _open_newest(self) -> None:
        """Open the current publication, unless it is open already. Only one thread at a time."""
        stamp, current = self._stamp(), self._newest
        if not self._is_new(stamp):  # another thread has opened it
            return
        try:
            self._replace(self._opened())
        except (RagAssetsError, OSError) as error:
            if current is None or stamp is None:
                self._replace(None)  # a deleted corpus must not be used any more
                raise
            logger.warning(
                "What was published anew cannot be opened, so the earlier publication is asked: %s",
                error,
            )
            self._unusable = stamp

    def _opened(self) -> _Snapshot:
        """The current publication. If it is replaced while it is opened, it is opened again, so that
        all files are of one publication."""
        while True:
            stamp = self._stamp()
            try:
                snapshot = _Snapshot(self._open(), stamp)
            except (RagAssetsError, OSError):
                if self._stamp() == stamp:
                    raise
                continue
            if self._stamp() == stamp:
                return snapshot
            snapshot.searcher.close()

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
