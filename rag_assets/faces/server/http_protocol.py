"""HTTP/1.1 for clients that may be slow on purpose: headers must arrive, and replies be read, within a time.

Uvicorn waits without end for both. Bodies have their limits in `bodies`; h11 takes headers up to 64 kB.
"""

from asyncio import Protocol, TimerHandle, Transport
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from rag_assets.core.settings import ServerSettings


class PunctualProtocol(H11Protocol):
    """Closes connections whose header does not come, and those whose client does not read."""

    receive_timeout_s: ClassVar[float]
    send_timeout_s: ClassVar[float]

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._header_timer: TimerHandle | None = None
        self._reading_timer: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override] # as uvicorn declares it
        super().connection_made(transport)
        self._await_header()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._header_timer, self._reading_timer):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._await_header()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reading_timer = self.loop.call_later(self.send_timeout_s, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._reading_timer is not None:
            self._reading_timer.cancel()

    def _await_header(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
        self._header_timer = self.loop.call_later(self.receive_timeout_s, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()


def punctual_protocol(settings: ServerSettings) -> type[Protocol]:
    """The protocol with the times of these settings: uvicorn makes one for each connection, and takes a class."""

    class Configured(PunctualProtocol):
        receive_timeout_s = settings.receive_timeout_s
        send_timeout_s = settings.send_timeout_s

    return Configured
