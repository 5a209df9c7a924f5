"""Papers that are gone from the papers folder, and when they are too many to be taken for deleted.

A disk that is not mounted leaves an empty folder, one that fails leaves files that cannot be read.
Read as "all papers were deleted", it would empty every table and index and change every answer.
"""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rag_assets.core.promises import Offenders, Promise
from rag_assets.core.settings import Paths

_FEW = 10
"""Of fewer papers, most may go at once without a question, as long as one stays."""
_NO_FILE = "has no file"
_RECENT_S = 7 * 24 * 3600


@dataclass(frozen=True)
class Removal:
    """What would be removed from the published index."""

    before: Collection[str]
    """Papers that are published and were read, without those that were deleted over HTTP and lie in
    the trash."""
    now: Mapping[str, str | None]
    """Papers that have files, also under another id, with the reason why they cannot be read, if
    so."""
    is_allowed: bool
    """Whether the user has confirmed it: `execution.allow_removal`."""

    @property
    def vanished(self) -> list[str]:
        """Papers without any file that can be read, sorted."""
        return sorted(one for one in self.before if self.now.get(one, _NO_FILE) is not None)

    @property
    def is_most(self) -> bool:
        """Whether all papers would go, or more than half of ten or more."""
        n_gone, n_before = len(self.vanished), len(self.before)
        return n_gone > 0 and (n_gone == n_before or (n_before >= _FEW and n_gone > n_before / 2))


def note_removal(paths: Paths) -> None:
    """Write down that the removal of most papers was confirmed now."""
    paths.removal.parent.mkdir(parents=True, exist_ok=True)
    paths.removal.touch()


def is_recent(paths: Paths) -> bool:
    """Whether that was within a week. So long nothing that was paid for is forgotten: it may have
    been confirmed in error."""
    return paths.removal.exists() and time.time() - paths.removal.stat().st_mtime < _RECENT_S


def _unconfirmed(removal: Removal) -> Offenders:
    if removal.is_allowed or not removal.is_most:
        return []
    return [
        {"paper_id": one, "problem": removal.now.get(one, _NO_FILE)} for one in removal.vanished
    ]


def _question(removal: Removal, offenders: Offenders) -> str:
    return (
        f"{len(offenders)} of {len(removal.before)} papers are gone from the papers folder or cannot be read any more "
        f"({offenders[0]['paper_id']}: {offenders[0]['problem']}), so nothing was published. If its disk is not "
        "mounted, mount it. If they are meant to go, confirm it: rag-assets run --allow-removal, or "
        "execution.allow_removal in the launchpad."
    )


REMOVAL_PROMISES: list[Promise[Removal]] = [
    Promise(
        "most_papers_stay",
        "Most papers are still there and can be read, or their removal is confirmed (rag-assets run --allow-removal).",
        _unconfirmed,
        finding=_question,
    )
]
