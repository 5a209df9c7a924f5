"""Commands that serve a data folder: the HTTP API with its page, MCP tools, and the Dagster UI."""

from typing import Annotated

import typer

from rag_assets.faces.cli import rendering
from rag_assets.faces.cli.options import DataOption, SetOption, reported, settings_of


def ui(
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=1, max=65535, help="Where the UI listens.")
    ] = 3000,
    host: Annotated[
        str,
        typer.Option(
            "--host", metavar="ADDRESS", help="The UI asks for no password: mind who reaches it."
        ),
    ] = "127.0.0.1",
    data: DataOption = None,
) -> None:
    """Serve the Dagster UI of the data folder: lineage, plots, checks, answers. Ctrl-C ends it.

    While it runs, so do the nightly schedule and the sensor for new, changed and deleted papers.

    Example: rag-assets ui --port 3001
    """
    with reported():
        from rag_assets.faces.dagster_ui import serve

        settings = settings_of(
            data, None, {"--host": ("server.host", host), "--port": ("server.port", port)}
        )
        serve(
            settings,
            announce=lambda address: _announce(
                f"The Dagster UI of {settings.data_dir}: open {address} in a browser. Ctrl-C ends it."
            ),
        )


def serve(
    host: Annotated[
        str | None,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            help="Where to listen; any but 127.0.0.1 needs RAG_ASSETS_SERVER_TOKEN.",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", metavar="N", min=0, max=65535, help="Default: 8000; 0: any that is free."
        ),
    ] = None,
    data: DataOption = None,
    set_: SetOption = None,
) -> None:
    """Serve the HTTP API and the page for asking, over what is published in the data folder. Ctrl-C
    ends it.

    Example: rag-assets serve --port 8001
    """
    with reported():
        from rag_assets.faces.server.app import serve as served

        settings = settings_of(
            data, set_, {"--host": ("server.host", host), "--port": ("server.port", port)}
        )
        served(
            settings,
            announce=lambda address: _announce(
                f"Ask {settings.data_dir} at {address} in a browser; the API is described at {address}"
                "/api/openapi.json. Ctrl-C ends it."
            ),
        )


def mcp(
    http: Annotated[
        bool, typer.Option("--http", help="Serve streamable HTTP at /mcp instead of stdin and out.")
    ] = False,
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            help="With --http; any but 127.0.0.1 needs RAG_ASSETS_SERVER_TOKEN.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            "--port", metavar="N", min=0, max=65535, help="With --http; 0: any that is free."
        ),
    ] = 8001,
    data: DataOption = None,
    set_: SetOption = None,
) -> None:
    """Serve the corpus to assistants as MCP tools: search, answers, quotes checked, pages shown.
    All of them only read.

    Without --http, an assistant starts this command itself, talks to it over stdin and stdout, and
    ends it.

    Example: rag-assets mcp --http --port 8001
    """
    with reported():
        from rag_assets.engine import open_engine
        from rag_assets.faces.mcp.server import create_server, serve_http, serve_stdio
        from rag_assets.library.reading.reader import Reader

        settings = settings_of(
            data, set_, {"--host": ("server.host", host), "--port": ("server.port", port)}
        )
        with open_engine(settings) as engine, Reader(settings, engine) as reader:
            server = create_server(engine, reader)
            if http:
                serve_http(
                    server,
                    settings.server,
                    lambda address: _announce(f"MCP over HTTP at {address}. Ctrl-C ends it."),
                )
            else:
                serve_stdio(server)


def _announce(text: str) -> None:
    rendering.err().print(text, soft_wrap=True)
