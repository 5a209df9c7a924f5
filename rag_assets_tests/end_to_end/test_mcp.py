"""The corpus as an assistant meets it: the MCP tools, asked by the client of the official SDK."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client import Transport
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from rag_assets_tests.cli.processes import COMMAND, environment, wait_until
from rag_assets_tests.end_to_end.world import QUESTIONS, TOPICS, World

FERRITIN = str(QUESTIONS[0]["question"])
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


def words_of(result: CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


@pytest.fixture(scope="module")
def asked(built: World, tmp_path_factory: pytest.TempPathFactory) -> World:
    """A copy of the built world that assistants ask."""
    return built.copy_to(tmp_path_factory.mktemp("asked by assistants"))


def over_stdio(data: Path) -> StdioServerParameters:
    return StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "mcp"], env=environment(data))


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
            wait_until(lambda: process.poll() is not None or "Ctrl-C" in log.read_text("utf-8"), "the server")
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


@pytest.fixture(scope="module", params=["stdio", "http"])
def assistant(request: pytest.FixtureRequest, asked: World) -> Iterator[Assistant]:
    with ExitStack() as stack:
        data = asked.paths.data
        server = over_stdio(data) if request.param == "stdio" else stack.enter_context(over_http(data))
        yield stack.enter_context(connected(server))


def test_an_answer_names_the_page_and_the_place_of_every_quote(asked: World, assistant: Assistant) -> None:
    """An assistant that cannot say where a sentence stands is no better than one without papers."""
    published = asked.answers()["q1"]
    text = assistant.text("ask", question=FERRITIN)

    for claim in published["claims"]:
        assert claim["text"] in text
        for citation in claim["citations"]:
            assert f"[{citation['paper_id']}, p. {citation['page_start']}]" in text
            assert f"chunk_id {citation['chunk_id']}, characters {citation['start']}-{citation['end']}" in text


def test_a_refusal_says_that_it_is_one(assistant: Assistant) -> None:
    """A model that takes a refusal for a failed call would answer from memory, in the name of the papers."""
    result = assistant.call("ask", question="Who composed the opera about the queen?", paper_ids=["iron"])

    assert not result.is_error
    assert words_of(result).startswith("The papers in this corpus do not contain enough information")
    assert "This is a refusal" in words_of(result)


def test_a_search_gives_passages_with_ids_to_go_on_with(assistant: Assistant) -> None:
    """Without ids the next call can only guess."""
    text = assistant.text("search", question=FERRITIN, k=2)

    assert text.startswith("2 chunks, best first.\n\n1. ferritin · p")
    assert TOPICS["ferritin"][1] in text
    assert "chunk_id ferritin:" in text


def test_a_filter_narrows_a_search_and_one_without_hits_says_what_to_do(assistant: Assistant) -> None:
    """Results from papers that were excluded would be cited all the same."""
    narrowed = assistant.text("search", question=FERRITIN, where="paper:basalt")

    assert "chunk_id basalt:" in narrowed
    assert "chunk_id ferritin:" not in narrowed
    assert "list_papers" in assistant.text("search", question=FERRITIN, paper_ids=["nowhere"])


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        ({"question": FERRITIN, "where": "sction:results"}, 'there is no field "sction", is section meant?'),
        ({"question": " "}, "A question has 1 to 4000 characters, this one 0."),
        ({"question": FERRITIN, "k": 0}, "greater than or equal to 1"),
        ({}, "Field required"),
    ],
)
def test_wrong_arguments_are_told_with_what_is_right(
    assistant: Assistant, arguments: dict[str, Any], remedy: str
) -> None:
    """A model corrects what it is told; a bare failure it repeats."""
    result = assistant.call("search", **arguments)

    assert result.is_error
    assert remedy in words_of(result)


def test_every_tool_only_reads_and_is_described(assistant: Assistant) -> None:
    """Assistants ask the user's leave for tools that may change something, and choose them by description alone."""
    tools = assistant.portal.call(assistant.client.list_tools).tools

    assert {tool.name for tool in tools} == {"search", "ask"}
    for tool in tools:
        assert tool.annotations
        assert tool.annotations.read_only_hint
        assert tool.title
        assert tool.description
        assert len(tool.description) > 200
        for name, schema in tool.input_schema["properties"].items():
            assert schema.get("description"), f"{tool.name} does not say what {name} is"


def test_a_corpus_without_an_index_is_told_with_the_remedy_and_without_paths(tmp_path: Path) -> None:
    """Paths of the machine are nothing for a model behind an API; the command that helps is."""
    (tmp_path / "papers").mkdir()
    with connected(over_stdio(tmp_path)) as assistant:
        result = assistant.call("ask", question=FERRITIN)

    assert result.is_error
    assert "rag-assets run" in words_of(result)
    assert str(tmp_path) not in words_of(result)


def test_a_server_whose_client_is_gone_ends_and_wrote_nothing_but_the_protocol(asked: World) -> None:
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


def test_pages_of_other_sites_reach_no_server_over_http(asked: World) -> None:
    """A page open in the browser could else read the corpus through the loopback address."""
    with over_http(asked.paths.data) as address:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        as_json = {"Accept": "application/json, text/event-stream"}
        port = address.split(":")[2].removesuffix("/mcp")

        def status(**headers: str) -> int:
            return httpx2.post(address, json=call, headers={**as_json, **headers}, timeout=READ_TIMEOUT_S).status_code

        assert status() == 200
        assert status(Origin=f"http://127.0.0.1:{port}") == 200
        assert status(Host=f"rebound.example:{port}") == 421
        assert status(Origin="https://evil.example") == 403
        assert status(Origin="http://localhost:1") == 403


def test_a_token_that_is_set_must_be_shown(asked: World) -> None:
    """The corpus may be confidential; whoever finds the port must not read it."""
    token = "a-token-of-many-characters"
    with over_http(asked.paths.data, RAG_ASSETS_SERVER_TOKEN=token) as address:
        for wrong in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": token}):
            reply = httpx2.post(address, json={}, headers=wrong, timeout=READ_TIMEOUT_S)
            assert reply.status_code == 401
            assert "RAG_ASSETS_SERVER_TOKEN" in reply.text
        client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=READ_TIMEOUT_S)
        with connected(streamable_http_client(address, http_client=client)) as assistant:
            assert TOPICS["ferritin"][1] in assistant.text("search", question=FERRITIN, k=1)
            assistant.portal.call(client.aclose)


def test_an_address_that_others_reach_needs_a_token(asked: World) -> None:
    """Without it, everyone in the same network could ask."""
    done = subprocess.run(
        [*COMMAND, "mcp", "--http", "--host", "0.0.0.0", "--port", "0"],
        capture_output=True,
        text=True,
        env=environment(asked.paths.data),
    )

    assert done.returncode == 1
    assert "RAG_ASSETS_SERVER_TOKEN" in done.stderr
    assert done.stdout == ""
