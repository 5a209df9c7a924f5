"""Asking a model many things side by side; what cannot be had for now is left, with the reason."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

from rag_assets.errors import BudgetExhausted, ModelFault
from rag_assets.hosted.patience import Patience

Asked = TypeVar("Asked")
Reply = TypeVar("Reply")


def ask_each(
    things: Iterable[tuple[str, Asked]],
    ask: Callable[[Asked], Reply],
    n_at_once: int,
    report: Callable[[int], None],
) -> tuple[dict[str, Reply], dict[str, str]]:
    """Replies by key, and by key why there is none.

    things: each with its key. report: called with the number of replies after each one. A fault of one thing leaves
    that one; when the budget is spent, access denied or nothing answers any more, so are all that remain.
    """
    patience, lock = Patience(), Lock()
    replies: dict[str, Reply] = {}
    left: dict[str, str] = {}

    def asked(key: str, thing: Asked) -> None:
        if patience.stopped_by is not None:
            left[key] = str(patience.stopped_by)
            return
        try:
            reply = ask(thing)
        except (ModelFault, BudgetExhausted) as fault:
            patience.failed(fault)
            left[key] = str(fault)
            return
        patience.answered()
        with lock:
            replies[key] = reply
            report(len(replies))

    pool = ThreadPoolExecutor(n_at_once)
    try:
        list(pool.map(lambda one: asked(*one), things))
    except BaseException:  # a bug, or the run is interrupted: what is under way is not waited for
        patience.stop()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
    return replies, left
