"""The MCP server as a process: what it offers, what it writes, and whom it lets in."""

import subprocess
from pathlib import Path

from typer.testing import CliRunner

from rag_assets.faces.cli import app
from rag_assets_testing.world import QUESTIONS, World
from rag_assets_tests.faces.cli.processes import COMMAND, environment
from rag_assets_tests.faces.mcp.assistant import (
    READ_TIMEOUT_S,
    Assistant,
    connected,
    over_http,
    over_stdio,
    words_of,
)
from rag_assets_tests.faces.server import raw

FERRITIN = str(QUESTIONS[0]["question"])


def test_every_tool_only_reads_and_is_described(assistant: Assistant) -> None:
    """Assistants ask the user's leave for tools that may change something, and choose them by
    description alone."""
    tools = assistant.portal.call(assistant.client.list_tools).tools

    assert {tool.name for tool in tools} == set(
        "search ask verify_quote find_quote get_section get_page_image list_papers".split()
    )
    for tool in tools:
        assert tool.annotations
        assert tool.annotations.read_only_hint
        assert tool.title
        assert tool.description
        assert len(tool.description) > 200
        for name, schema in tool.input_schema["properties"].items():
            assert schema.get("description"), f"{tool.name} does not say what {name} is"


def test_a_corpus_without_an_index_is_told_with_the_remedy_and_without_paths(
    tmp_path: Path,
) -> None:
    """Paths of the machine are nothing for a model behind an API; the command that helps is."""
    (tmp_path / "papers").mkdir()
    with connected(over_stdio(tmp_path)) as assistant:
        result = assistant.call("ask", question=FERRITIN)

    assert result.is_error
    assert "rag-assets run" in words_of(result)
    assert str(tmp_path) not in words_of(result)


def test_a_server_whose_client_is_gone_ends_and_wrote_nothing_but_the_protocol(
    asked: World,
) -> None:
    """One stray line on stdout breaks the session, and servers left behind fill the memory."""
    request = (
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
        b'"clientInfo":{"name":"test","version":"1"}}}\n'
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
        b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{"question":'
        b'"What fell?"}}}\n'
    )
    process = subprocess.Popen(
        [*COMMAND, "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(asked.paths.data),
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(request)
    process.stdin.flush()
    lines = [process.stdout.readline() for _ in range(2)]
    process.stdin.close()

    assert process.wait(READ_TIMEOUT_S) == 0
    lines += process.stdout.readlines()
    process.stdout.close()
    replies = [line for line in lines if b'"id":' in line]
    assert len(replies) == 2
    assert all(line.startswith(b'{"jsonrpc":"2.0"') for line in lines)


def test_the_guards_of_the_http_server_stand_before_mcp_too(asked: World) -> None:
    """A client that asks without end costs others nothing, and a token cannot be guessed."""
    token = "a-token-of-many-characters"
    limits = {"RAG_ASSETS_SERVER__QUESTIONS_PER_MINUTE": "2"}
    with over_http(asked.paths.data, RAG_ASSETS_SERVER_TOKEN=token, **limits) as address:
        port = int(address.split(":")[2].removesuffix("/mcp"))
        headers = b"Authorization: Bearer " + token.encode()
        call = raw.post(b"{}", headers, path=b"/mcp")
        replies = [raw.sent(port, call) for _ in range(3)]
        wrong = [
            raw.sent(port, raw.post(b"{}", b"Authorization: Bearer x", path=b"/mcp"))
            for _ in range(21)
        ]

    assert replies[-1].startswith(b"HTTP/1.1 429 ")
    assert b"x-request-id" in replies[-1].lower()
    assert wrong[0].startswith(b"HTTP/1.1 401 ")
    assert wrong[-1].startswith(b"HTTP/1.1 429 ")


def test_an_address_that_others_reach_needs_a_token(asked: World) -> None:
    """Without it, everyone in the same network could ask."""
    command = ["mcp", "--http", "--host", "0.0.0.0", "--port", "0"]

    done = CliRunner().invoke(app, command, env=environment(asked.paths.data))

    assert done.exit_code == 1
    assert "RAG_ASSETS_SERVER_TOKEN" in done.stderr
    assert done.stdout == ""
