"""How the MCP server is reached: over stdin and stdout of its process, or over HTTP.

Source of both: Model Context Protocol specification, "Transports", https://modelcontextprotocol.io/specification.
"""

from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer


def serve_stdio(server: MCPServer[Any]) -> None:
    """Serve the process that started this one, until it closes stdin. Nothing else may be written to stdout."""
    anyio.run(server.run_stdio_async)
