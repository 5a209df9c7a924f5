"""What the libraries below say about their use, and to whom: nothing, to nobody.

When a dependency is raised, these tests tell what the new version does.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rag_assets.pipeline.runs.locks import dagster_home, opened_instance
from rag_assets_testing.listening import free_port
from rag_assets_testing.world import World
from rag_assets_tests.faces.cli.processes import COMMAND, DEADLINE_S, environment
from rag_assets_tests.rounds import first_of

QUESTION = "How much did ferritin fall in runners within a month?"
NAMED_IN_DOCS = (".cache/matplotlib", ".config/matplotlib")
"""Folders below HOME, see docs/serving.md."""


@pytest.fixture(scope="session")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that records lookups."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs a C compiler, on Linux")
    library = tmp_path_factory.mktemp("recorder") / "lookups.so"
    source = Path(__file__).with_name("lookups.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


@dataclass
class Watched:
    """A user whose home is empty, and whose processes are watched."""

    folder: Path
    recorder: Path
    data: Path
    variables: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        for name in ("home", "tmp", "cwd"):
            (self.folder / name).mkdir()
        switches = ("XDG_", "HF_", "ORT_", "DAGSTER_", "DO_NOT_TRACK", "MPL")
        inherited = environment(self.data, {"HOME": str(self.folder / "home")})
        self.variables = {
            name: value for name, value in inherited.items() if not name.startswith(switches)
        } | {
            "TMPDIR": str(self.folder / "tmp"),
            "LD_PRELOAD": str(self.recorder),
            "RECORDED_LOOKUPS": str(self.folder / "lookups"),
        }

    def run(self, *command: str) -> None:
        subprocess.run(
            command, env=self.variables, cwd=self.folder / "cwd", capture_output=True, check=True
        )

    @contextmanager
    def started(self, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
        with subprocess.Popen(
            [*COMMAND, *arguments],
            env=self.variables,
            cwd=self.folder / "cwd",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                yield process
            finally:
                process.send_signal(signal.SIGTERM)

    def left(self) -> list[str]:
        """Hosts that were looked up or addressed, and files outside the data folder."""
        lookups = self.folder / "lookups"
        hosts = lookups.read_text().splitlines() if lookups.exists() else []
        files = [
            str(path.relative_to(self.folder))
            for name in ("home", "tmp", "cwd")
            for path in (self.folder / name).rglob("*")
            if path.is_file()
        ]
        allowed = tuple(f"home/{name}/" for name in NAMED_IN_DOCS)
        return sorted({*hosts, *(file for file in files if not file.startswith(allowed))})


@pytest.fixture
def watched(world: World, tmp_path: Path, recorder: Path) -> Watched:
    (tmp_path / "user").mkdir()
    return Watched(tmp_path / "user", recorder, world.paths.data)


def post(address: str, body: object) -> bytes:
    """The reply, once the server is there."""
    request = urllib.request.Request(
        address, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    deadline = time.monotonic() + DEADLINE_S
    while True:
        with (
            suppress(ConnectionError, urllib.error.URLError),
            closing(urllib.request.urlopen(request, timeout=DEADLINE_S)) as reply,
        ):
            content: bytes = reply.read()
            return content
        assert time.monotonic() < deadline
        time.sleep(0.1)


def busy_for(seconds: float, ask: Callable[[], object]) -> None:
    end = time.monotonic() + seconds
    ask()
    while time.monotonic() < end:
        ask()
        time.sleep(0.05)


def serve(watched: Watched, seconds: float) -> None:
    port = free_port()
    with watched.started("serve", "--port", str(port)):
        asked = {"question": QUESTION}
        busy_for(seconds, lambda: post(f"http://127.0.0.1:{port}/api/search", asked))


def ui(watched: Watched, seconds: float) -> None:
    port = free_port()
    assets = {"query": "{ assetNodes { assetKey { path } } runsOrError { __typename } }"}
    with watched.started("ui", "--port", str(port)):
        busy_for(seconds, lambda: post(f"http://127.0.0.1:{port}/graphql", assets))


def mcp(watched: Watched, seconds: float) -> None:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}}
    client["clientInfo"] = {"name": "test", "version": "1"}
    search = {"name": "search", "arguments": {"question": QUESTION}}
    with watched.started("mcp") as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def call(method: str, params: object) -> None:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            assert "result" in json.loads(process.stdout.readline())

        call("initialize", client)
        process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        busy_for(seconds, lambda: call("tools/call", search))


@pytest.mark.parametrize(
    ("server", "seconds"), first_of([(serve, 2.0), (serve, 60.0), (mcp, 60.0), (ui, 60.0)])
)
def test_a_server_looks_up_no_host_and_writes_nothing_outside_the_data_folder(
    server: Callable[[Watched, float], None], seconds: float, watched: Watched
) -> None:
    """onnxruntime sent the path of the interpreter, the memory of the machine and a mark of the
    device to its maker, from a program that promises to fetch nothing."""
    server(watched, seconds)

    assert watched.left() == []


LIBRARY = f"""
import time
from rag_assets import load_settings, open_engine
with open_engine(load_settings()) as engine:
    engine.search({QUESTION!r})
    time.sleep(20)  # the first lookup came after some seconds
"""


@pytest.mark.parametrize(
    "command",
    first_of(
        [
            [*COMMAND, "ask", QUESTION],
            [*COMMAND, "run"],
            [sys.executable, "-c", LIBRARY],
        ]
    ),
)
def test_a_command_looks_up_no_host_and_writes_nothing_outside_the_data_folder(
    command: list[str], world: World, watched: Watched
) -> None:
    """As above; the workers of a run are processes of their own."""
    world.write_paper("winter", "Winter", "Ferritin rose by 3% in swimmers who rested in winter.")

    watched.run(*command)

    assert watched.left() == []


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\0" * 90, b"# The Dagster instance of on"])
def test_an_emptied_configuration_of_the_history_is_found_and_made_anew(
    content: bytes, world: World
) -> None:
    """Dagster would report what it does, keep no limits, and copy all output to files."""
    home = dagster_home(world.paths)
    with opened_instance(home) as instance:
        before = instance.get_run_ids()
    ours = (home / "dagster.yaml").read_bytes()
    (home / "dagster.yaml").write_bytes(content)
    verify = [*COMMAND, "verify", "--data", str(world.paths.data)]

    told = subprocess.run(verify, capture_output=True, text=True, check=False, env={**os.environ})
    with opened_instance(dagster_home(world.paths)) as instance:
        after = instance.get_run_ids()
        assert instance.telemetry_enabled is False

    assert (home / "dagster.yaml").read_bytes() == ours
    assert after == before
    assert told.returncode == 1
    assert told.stdout.splitlines() == [
        f"{home / 'dagster.yaml'} is missing or damaged. Run: rag-assets run --data {world.paths.data}"
    ]
