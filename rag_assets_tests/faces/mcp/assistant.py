"""An assistant for tests: the client of the official SDK, over both transports, called from
ordinary functions."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client import Transport
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, TextContent

from rag_assets_tests.faces.cli.processes import COMMAND, environment, wait_until

READ_TIMEOUT_S = 300


@dataclass
class Assistant:
    """The SDK's client, called from ordinary tests."""

    portal: BlockingPortal
    client: Client

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        result: CallToolResult = self.portal.call(lambda: self.client.call_tool(tool, arguments))
        return result

    def text(self, tool: str, **arguments: Any) -> str:
        result = self.call(tool, **arguments)
        assert not result.is_error, words_of(result)
        return words_of(result)

    def facts(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The JSON below the first line of the reply."""
        return facts_in(self.text(tool, **arguments))


def facts_in(reply: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(reply.split("\n", 1)[1])
    return facts


def words_of(result: CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


def over_stdio(data: Path) -> StdioServerParameters:
    return StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "mcp"], env=environment(data)
    )


@contextmanager
def over_http(data: Path, **variables: str) -> Iterator[str]:
    """A server over HTTP; gives its address."""
    log = data.parent / "mcp.log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [*COMMAND, "mcp", "--http", "--port", "0"],
            stdin=subprocess.DEVNULL,
            stderr=stderr,
            env=environment(data, variables),
        )
        try:
            wait_until(
                lambda: process.poll() is not None or "Ctrl-C" in log.read_text("utf-8"),
                "the server",
            )
            address = re.search(r"http://\S+/mcp", log.read_text("utf-8"))
            assert address, log.read_text("utf-8")
            yield address[0]
        finally:
            process.terminate()
            process.wait()


@contextmanager
def connected(server: StdioServerParameters | Transport | str) -> Iterator[Assistant]:
    client = Client(server, read_timeout_seconds=READ_TIMEOUT_S)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client) as opened:
        yield Assistant(portal, opened)
