"""How long the body of a request may take, on a clock that is moved."""

import asyncio

import pytest
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from rag_assets.core.settings import ServerSettings
from rag_assets.faces.server.middleware import RECEIVE_TIMEOUT_S, BodyLimits
from rag_assets.faces.server.problems import ProblemError
from rag_assets_tests.virtual_time import run_in_virtual_time


def test_a_body_that_comes_byte_by_byte_has_no_longer_than_one_that_does_not_come() -> None:
    """Some clients that send a byte now and then would hold every connection of the server, for
    days."""
    n_sent = 0

    async def read_whole(scope: Scope, receive: Receive, send: Send) -> None:
        await Request(scope, receive, send).body()

    async def a_byte_now_and_then() -> Message:
        nonlocal n_sent
        await asyncio.sleep(0.4 * RECEIVE_TIMEOUT_S)
        n_sent += 1
        return {"type": "http.request", "body": b"x", "more_body": n_sent < 20}

    async def send(_message: Message) -> None:
        """Nothing is answered here."""

    async def served() -> float:
        scope = {"type": "http", "method": "POST", "path": "/answers", "headers": []}
        with pytest.raises(ProblemError, match="Send the whole of it within 30 seconds") as refused:
            await BodyLimits(read_whole, ServerSettings())(scope, a_byte_now_and_then, send)
        assert refused.value.status_code == 408
        return asyncio.get_running_loop().time()

    assert run_in_virtual_time(served) == pytest.approx(RECEIVE_TIMEOUT_S, rel=0.01)
    assert n_sent == 2
