"""The interface `Workforce` of those that do work, and which one the settings choose."""

from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Protocol, TypeVar

from rag_assets.core.errors import WorkLost
from rag_assets.core.settings.operation import ExecutionSettings
from rag_assets.core.workforce.worker_process import Failure, Limits

Item = TypeVar("Item")
Result = TypeVar("Result")


class Workforce(Protocol):
    """Does work in processes that can be killed, on this machine or on others. To be closed."""

    def map(
        self, work: Callable[[Item], Result], items: Iterable[Item], limits: Limits | None
    ) -> Generator[tuple[Item, Result | Failure]]:
        """`work(item)` for every item: (item, result), in the order they finish.

        `work` is a function of an importable module, or a partial of one; items and results can be
        pickled and hold all that is needed: a worker has neither the data folder nor anything that
        an earlier item left. Items are taken from the iterable as workers become free, so they may
        be read from disk there. What is under way when the iteration is closed is given up.

        An item that crashes its process or passes its limits (None: there are none) is a Failure,
        and so is one on which `work` raises. Raises ClusterUnavailable when the workers of a
        cluster are out of reach, RuntimeError when no process can be started here.
        """
        ...

    def models_folder(self, own: Path) -> Path:
        """Where work keeps the files of models. own: the one of the data folder."""
        ...

    def close(self) -> None:
        """End the processes of this machine, whatever they are doing."""
        ...


class Spread(Protocol):
    """`Workforce.map` within limits that are known already."""

    def __call__(
        self, work: Callable[[Item], Result], items: Iterable[Item], /
    ) -> Generator[tuple[Item, Result | Failure]]: ...


def within(limits: Limits | None, workforce: Workforce) -> Spread:
    """The `map` of a workforce within these limits."""

    def spread(
        work: Callable[[Item], Result], items: Iterable[Item]
    ) -> Generator[tuple[Item, Result | Failure]]:
        return workforce.map(work, items, limits)

    return spread


def demanded(result: Result | Failure) -> Result:
    """The result of an item that no paper can be left out for. Raises what the work raised, or
    WorkLost."""
    if isinstance(result, Failure):
        raise result.raised or WorkLost(
            f"The work on an item failed: it {result.reason} What is finished is kept."
        )
    return result


def open_workforce(settings: ExecutionSettings, log: Path | None = None) -> Workforce:
    """The workforce that the settings name; processes of this machine write their messages to
    `log`. Starts no process and opens no connection before the
    first item."""
    if settings.cluster:
        from rag_assets.core.workforce.cluster import DaskCluster

        return DaskCluster(settings.cluster)
    from rag_assets.core.workforce.processes import LocalProcesses

    return LocalProcesses(settings.n_workers, log)
