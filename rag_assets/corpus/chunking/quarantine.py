"""Papers that cannot be cut: each is kept out with its reason, and the other papers go on.

Which papers are cut, and when one is tried again, is decided in `updates`.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import pyarrow as pa

from rag_assets.core.errors import RagAssetsError

logger = logging.getLogger(__name__)
QUARANTINED_KEY = "quarantined"
"""Key in a table's provenance: the papers without rows in it because they broke a promise."""


@dataclass(frozen=True)
class QuarantinedPaper:
    """A paper that one stage could not use."""

    paper_id: str
    file_path: str
    error: str
    """Why, as whole sentences."""
    fingerprint: str
    """That its rows would have: it is tried again when this changes."""

    @classmethod
    def all_from(cls, provenance: Mapping[str, Any] | None) -> list[Self]:
        """Those that the provenance of a published table names; none when there is no table."""
        return [cls(**row) for row in (provenance or {}).get(QUARANTINED_KEY, ())]

    def as_row(self) -> dict[str, str]:
        return asdict(self)


def cut_or_quarantined(
    paper_id: str,
    file_path: str,
    fingerprint: str,
    cut: Callable[[], pa.Table],
    broken_promises: Callable[[pa.Table], Iterable[str]],
) -> pa.Table | QuarantinedPaper:
    """The rows that `cut` makes of a paper, unless it fails or they break a promise.

    A failure that no paper can cause (a missing model, a full disk) is raised: it would quarantine every paper.
    """
    try:
        rows = cut()
    except (RagAssetsError, OSError, MemoryError):
        raise
    except Exception as error:  # any error: one paper must not stop the others
        logger.exception("%s could not be cut", paper_id)
        problem: str | None = f"could not be cut, for a reason that was not foreseen ({type(error).__name__}: {error})"
    else:
        problem = next(iter(broken_promises(rows)), None)
        if problem is None:
            return rows
    return QuarantinedPaper(paper_id, file_path, f"{file_path} {problem}. Please report it with the file.", fingerprint)
