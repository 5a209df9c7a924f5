"""The connections of one run, the models that are asked through them, and the rule when to stop
asking a model that fails.

Nothing here opens a connection or imports an SDK before the first prompt; `connection` and
`structured` do.
"""

import logging
import math
import time
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from pydantic import BaseModel

from rag_assets.core.domain import Usage
from rag_assets.core.errors import (
    AccessDenied,
    BudgetExhausted,
    ModelFault,
    QuestionBudgetExhausted,
    RequestRejected,
)
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import Kept
from rag_assets.core.settings import ModelAccessSettings
from rag_assets.hosted.access import Access, ModelName, require_access
from rag_assets.hosted.budget import run_budget

if TYPE_CHECKING:
    from rag_assets.hosted.connection import Connection
    from rag_assets.hosted.structured import StructuredModel, StructuredReply

logger = logging.getLogger(__name__)
Output = TypeVar("Output", bound=BaseModel)
Asked = TypeVar("Asked")
Result = TypeVar("Result")


class Connections:
    """Opens the connection to a provider when it is first needed. There is one connection per
    provider, so that its limits apply to all requests, and one budget for all. A context manager:
    at the end it closes the connections and cancels running requests."""

    def __init__(self, settings: ModelAccessSettings) -> None:
        self.settings = settings
        self.budget = run_budget(settings)
        self._lock = Lock()
        self._open: dict[str, Connection] = {}
        self._to_close = ExitStack()
        # also when the process ends: later, the threads of connections could not end any more
        weakref.finalize(self, self._to_close.close)

    def to(self, access: Access) -> "Connection":
        """The connection to the provider of `access`."""
        with self._lock:
            if access.provider not in self._open:
                from rag_assets.hosted.connection import open_connection

                connection = self._to_close.enter_context(
                    open_connection(access, self.settings, self.budget)
                )
                self._open[access.provider] = connection
            return self._open[access.provider]

    def close(self) -> None:
        with self._lock:
            self._open.clear()
            to_close = self._to_close.pop_all()
        to_close.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass
class LazyModel(Generic[Output]):
    """A `StructuredModel` that is opened for its first prompt. Creating it raises MissingKey or
    InvalidSettings like `require_access`. Safe to use from several threads."""

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
        """The model's name in results, see `Access.model_id`."""
        return self._access.model_id(self.name)

    def ask(
        self,
        prompt: str,
        within_s: float | None = None,
        fault_of: Callable[[Output], str] | None = None,
    ) -> "StructuredReply[Output]":
        """The reply to a prompt, see `StructuredModel.ask`."""
        return self._model.ask(prompt, within_s, fault_of)

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


class KeptReplies(Generic[Output]):
    """A model whose replies are stored in a file. Safe to use from several threads; if several send
    the same prompt, it is sent once."""

    def __init__(
        self,
        model: LazyModel[Output],
        kept: Kept[Output],
        nothing: Output,
        timeout_s: float | None = None,
    ) -> None:
        """nothing: stored instead of an unreadable reply, so that this is not paid for again in
        every run. timeout_s: how long to wait for a reply; None for no limit."""
        self._model = model
        self._kept = kept
        self._nothing = nothing
        self._timeout_s = timeout_s

    def to(self, prompt: str) -> tuple[Output, Usage]:
        """The reply to a prompt, and what it cost this time (nothing if it was stored). Raises the
        errors of `Connection.guarded`."""
        key = fingerprint(self._model.model_id, self._model.instructions, prompt)
        usage = Usage()

        def ask() -> Output:
            nonlocal usage
            reply = self._model.ask(prompt, self._timeout_s)
            if reply.output is None and reply.fault is not None:
                raise reply.fault
            if reply.output is None:
                logger.warning(
                    "The reply of %s cannot be read and is left out.", self._model.model_id
                )
            usage = reply.usage
            return reply.output or self._nothing

        return self._kept.once(key, ask)[0], usage


Fault = ModelFault | BudgetExhausted
PAUSE_S = 300.0
"""Pause after an optional model failed. An engine may be open for days, and without a pause each
question might wait for a time-out."""
_MOST_FAILURES_IN_A_ROW = 3
"""Stop asking after this many failed requests in a row."""


class FaultPause:
    """Stops requests for a while after faults that later requests will probably have too, and
    forever after the budget is spent.

    Safe to use from several threads.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        pause_s: float = PAUSE_S,
        n_in_a_row: int = 1,
    ) -> None:
        """n_in_a_row: how many faults in a row begin the pause. Refused access and a spent budget
        begin it at once."""
        self._clock = clock
        self._pause_s = pause_s
        self._n_in_a_row = n_in_a_row
        self._lock = Lock()
        self._fault: Exception | None = None
        self._until_s = -math.inf
        self._n_faults = 0

    def check(self) -> None:
        """During the pause, raises the fault that began it."""
        if self._fault is not None and self._clock() < self._until_s:
            raise self._fault.with_traceback(None)

    def answered(self) -> None:
        """Note that a request was answered."""
        with self._lock:
            self._n_faults = 0

    def failed(self, fault: Exception) -> bool:
        """Note a fault. Returns False for the fault that `check` raised, so that callers report it
        only once."""
        with self._lock:
            if fault is self._fault:
                return False
            if isinstance(fault, (RequestRejected, QuestionBudgetExhausted)):
                return True  # this says nothing about other requests
            self._n_faults += 1
            is_final = isinstance(fault, (AccessDenied, BudgetExhausted))
            if (is_final or self._n_faults >= self._n_in_a_row) and self._clock() >= self._until_s:
                pause_s = math.inf if isinstance(fault, BudgetExhausted) else self._pause_s
                self._fault, self._until_s = fault, self._clock() + pause_s
            return True


def ask_each(
    things: Iterable[tuple[str, Asked]],
    ask: Callable[[Asked], Result],
    n_at_once: int,
    report: Callable[[int], None],
) -> tuple[dict[str, Result], dict[str, Fault]]:
    """Ask about each thing. Returns the replies by key, and for things without a reply the faults
    by key.

    things: pairs of key and thing. report: called after each reply with the number of replies. A
    thing whose request fails is skipped. If the budget is spent, access is denied or the provider
    is down, all remaining things are skipped.
    """
    pause, lock = FaultPause(pause_s=math.inf, n_in_a_row=_MOST_FAILURES_IN_A_ROW), Lock()
    replies: dict[str, Result] = {}
    faults: dict[str, Fault] = {}

    def ask_one(key: str, thing: Asked) -> None:
        try:
            pause.check()
            reply = ask(thing)
        except (ModelFault, BudgetExhausted) as fault:
            pause.failed(fault)
            faults[key] = fault
            return
        pause.answered()
        with lock:
            replies[key] = reply
            report(len(replies))

    pool = ThreadPoolExecutor(n_at_once)
    try:
        # `list` waits for all, and raises the first error
        list(pool.map(lambda key_and_thing: ask_one(*key_and_thing), things))
    except BaseException:  # a bug, or the run is interrupted: do not wait for requests under way
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
    return replies, faults
