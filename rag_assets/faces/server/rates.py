"""How often one client address may do something: a bucket of tokens for each, refilled evenly."""

from collections import OrderedDict
from http import HTTPStatus
from math import ceil
from threading import Lock
from time import monotonic

from rag_assets.faces.server.problems import ProblemError

_MAX_CLIENTS = 10_000
"""Those not seen for longest are forgotten first."""


class Rate:
    """At most `per_minute` of something for each client; safe to use from several threads."""

    def __init__(self, per_minute: int, what: str) -> None:
        """what: in the plural, for the message."""
        self._per_minute = per_minute
        self._what = what
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """By client, how many are left and when that was so, in seconds."""
        self._counting = Lock()

    def count(self, client: str) -> None:
        """Count one. Raises ProblemError (429) when the client has none left."""
        with self._counting:
            now = monotonic()
            left, since = self._left.pop(client, (float(self._per_minute), now))
            left = min(self._per_minute, left + (now - since) * self._per_minute / 60)
            self._left[client] = (max(left - 1, 0) if left >= 1 else left, now)
            if len(self._left) > _MAX_CLIENTS:
                self._left.popitem(last=False)
        if left < 1:
            wait_s = ceil((1 - left) * 60 / self._per_minute)
            raise ProblemError(
                HTTPStatus.TOO_MANY_REQUESTS,
                "rate-limited",
                f"Too many {self._what} in a minute",
                f"Send the next in {wait_s} seconds; {self._per_minute} are allowed in a minute.",
                {"Retry-After": str(wait_s)},
            )
