"""Work on papers without a workforce: in this process, one after the other."""

from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import TypeVar

from rag_assets.core.workforce.worker_process import Failure, result_of

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_place(
    work: Callable[[Item], Result], items: Iterable[Item]
) -> Generator[tuple[Item, Result | Failure]]:
    """What `work` makes of each item, or its failure, as a `Spread` yields it; without limits."""
    return ((item, result_of(work, item, None)) for item in items)


class InPlace:
    """The Workforce whose work a test can watch or break."""

    def map(
        self, work: Callable[[Item], Result], items: Iterable[Item], limits: object
    ) -> Generator[tuple[Item, Result | Failure]]:
        return in_place(work, items)

    def models_folder(self, own: Path) -> Path:
        return own

    def close(self) -> None: ...
