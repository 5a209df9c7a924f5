"""The connections of one run: one per provider, so that its limits hold for all requests, and one budget for all.

Making this object opens nothing and imports no SDK; `connection` does, when a model is asked for the first time.
"""

from contextlib import ExitStack
from threading import Lock
from typing import TYPE_CHECKING, Self

from rag_assets.core.settings import ModelAccessSettings
from rag_assets.hosted.access import Access
from rag_assets.hosted.budget import run_budget

if TYPE_CHECKING:
    from rag_assets.hosted.connection import Connection


class Connections:
    """Opens a provider's connection when it is first asked for; a context manager that closes them all.

    Closing cancels the requests under way.
    """

    def __init__(self, settings: ModelAccessSettings) -> None:
        self.settings = settings
        self.budget = run_budget(settings)
        self._lock = Lock()
        self._open: dict[str, Connection] = {}
        self._to_close = ExitStack()

    def to(self, access: Access) -> "Connection":
        """The connection to the provider of `access`."""
        with self._lock:
            if access.provider not in self._open:
                from rag_assets.hosted.connection import open_connection

                connection = self._to_close.enter_context(open_connection(access, self.settings, self.budget))
                self._open[access.provider] = connection
            return self._open[access.provider]

    def close(self) -> None:
        with self._lock:
            self._open.clear()
            to_close, self._to_close = self._to_close, ExitStack()
        to_close.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
