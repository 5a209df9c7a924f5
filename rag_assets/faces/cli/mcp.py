"""The command that serves the corpus to assistants over the Model Context Protocol."""

from typing import Annotated

import typer

from rag_assets.faces.cli import rendering
from rag_assets.faces.cli.options import DataOption, SetOption, settings_of
from rag_assets.faces.cli.reported import reported


def mcp(
    http: Annotated[
        bool, typer.Option("--http", help="Serve streamable HTTP at /mcp instead of stdin and out.")
    ] = False,
    host: Annotated[
        str,
        typer.Option("--host", metavar="ADDRESS", help="With --http; any but 127.0.0.1 needs RAG_ASSETS_SERVER_TOKEN."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="With --http; 0: any that is free.")
    ] = 8001,
    data: DataOption = None,
    set_: SetOption = None,
) -> None:
    """Serve the corpus to assistants as MCP tools: search, answers, quotes checked, pages shown. All of them only read.

    Without --http, an assistant starts this command itself, talks to it over stdin and stdout, and ends it.

    Example: rag-assets mcp --http --port 8001
    """
    with reported():
        from rag_assets.engine import open_engine
        from rag_assets.faces.mcp.server import create_server
        from rag_assets.faces.mcp.transports import serve_http, serve_stdio
        from rag_assets.library.reading.reader import Reader

        settings = settings_of(data, [*(set_ or []), f"server.host={host}", f"server.port={port}"])
        with open_engine(settings) as engine, Reader(settings, engine) as reader:
            server = create_server(engine, reader)
            if http:
                serve_http(server, settings.server, _announce)
            else:
                serve_stdio(server)


def _announce(address: str) -> None:
    rendering.err().print(f"MCP over HTTP at {address}. Ctrl-C ends it.", soft_wrap=True)
