"""The connections of one run, and the models that are asked through them.

Nothing here opens anything or imports an SDK before the first prompt; `connection` and `structured` do.
"""

import logging
from contextlib import ExitStack
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from pydantic import BaseModel

from rag_assets.core.domain import Usage
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import Kept
from rag_assets.core.settings import ModelAccessSettings
from rag_assets.hosted.access import Access, ModelName, require_access
from rag_assets.hosted.budget import run_budget

if TYPE_CHECKING:
    from rag_assets.hosted.connection import Connection
    from rag_assets.hosted.structured import StructuredModel, StructuredReply

logger = logging.getLogger(__name__)
Output = TypeVar("Output", bound=BaseModel | str)
Reply = TypeVar("Reply", bound=BaseModel)


class Connections:
    """Opens a provider's connection when it is first asked for: one per provider, so that its limits hold for all
    requests, and one budget for all. A context manager that closes them and cancels the requests under way."""

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


@dataclass
class LazyModel(Generic[Output]):
    """A `StructuredModel` that its first prompt opens. Making it raises MissingKey and InvalidSettings as
    `require_access` does. Safe to use from several threads."""

    name: ModelName
    connections: Connections
    output_type: type[Output]
    _: KW_ONLY
    instructions: str
    max_output_tokens: int

    def __post_init__(self) -> None:
        self._access = require_access(self.name.provider)

    @property
    def model_id(self) -> str:
        """The model, readably, and a hash of its server if that is not the provider's own."""
        return self._access.model_id(self.name)

    def ask(self, prompt: str, within_s: float | None = None) -> "StructuredReply[Output]":
        """The reply, as `StructuredModel.ask` gives it."""
        return self._model.ask(prompt, within_s)

    @cached_property
    def _model(self) -> "StructuredModel[Output]":
        from rag_assets.hosted.structured import StructuredModel

        return StructuredModel(
            self.name,
            self.connections.to(self._access),
            self.output_type,
            instructions=self.instructions,
            max_output_tokens=self.max_output_tokens,
        )


class KeptReplies(Generic[Reply]):
    """A model whose replies are kept on disk. Safe to use from several threads, which ask the same prompt once."""

    def __init__(
        self, model: LazyModel[Reply], kept: Kept[Reply], nothing: Reply, timeout_s: float | None = None
    ) -> None:
        """nothing: kept in place of an unreadable reply, which would else be paid for in every run. timeout_s: how long
        to wait for a reply; None for no limit of its own."""
        self._model = model
        self._kept = kept
        self._nothing = nothing
        self._timeout_s = timeout_s

    def to(self, prompt: str) -> tuple[Reply, Usage]:
        """The reply, and what it cost now. Raises what `Connection.guarded` raises."""
        key = fingerprint(self._model.model_id, self._model.instructions, prompt)
        usage = Usage()

        def asked() -> Reply:
            nonlocal usage
            reply = self._model.ask(prompt, self._timeout_s)
            if reply.output is None and reply.fault is not None:
                raise reply.fault
            if reply.output is None:
                logger.warning("The reply of %s cannot be read and is left out.", self._model.model_id)
            usage = reply.usage
            return reply.output or self._nothing

        return self._kept.once(key, asked)[0], usage
