"""The command that serves the corpus to assistants over the Model Context Protocol."""

from rag_assets.cli.options import DataOption, SetOption, settings_of
from rag_assets.cli.reported import reported


def mcp(data: DataOption = None, set_: SetOption = None) -> None:
    """Serve the corpus to an assistant as MCP tools: search, ask and others. Ends when the assistant closes stdin.

    Example: rag-assets mcp --data ~/papers
    """
    with reported():
        from rag_assets.engine import open_engine
        from rag_assets.mcp_server.server import create_server
        from rag_assets.mcp_server.transports import serve_stdio

        with open_engine(settings_of(data, set_)) as engine:
            serve_stdio(create_server(engine))
