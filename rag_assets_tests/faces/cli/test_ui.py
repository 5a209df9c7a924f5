"""`rag-assets ui` as a process: it serves one data folder, and leaves nothing behind."""

import json
import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from typer.testing import CliRunner

from rag_assets.core.incremental import only_writer
from rag_assets.faces.cli import app
from rag_assets_testing.listening import free_port
from rag_assets_tests.faces.cli.processes import COMMAND, DEADLINE_S, environment, wait_until


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with one paper."""
    (tmp_path / "data" / "papers").mkdir(parents=True)
    (tmp_path / "data" / "papers" / "a.txt").write_text(
        "Ferritin fell by 12% in runners within a month of training."
    )
    return tmp_path / "data"


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port at which something else listens."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


NO_RUN_GOES_FAR = {
    "RAG_ASSETS_ANSWER_MODEL": "google:gemini-2.5-flash",
    "GOOGLE_API_KEY": "",
    "GEMINI_API_KEY": "",
}


@pytest.mark.whole
def test_a_run_of_the_ui_writes_the_folder_and_the_history_it_was_started_for(
    data: Path, tmp_path: Path
) -> None:
    """ "How do I see this folder in the UI?" must have one answer, and the UI must not write another
    folder."""
    port = free_port()
    other = tmp_path / "other"
    command = [
        COMMAND[0],
        "-P",
        *COMMAND[1:],
        "ui",
        "--data",
        str(data),
        "--port",
        str(port),
    ]  # as a script has it
    log = tmp_path / "ui.log"
    variables = environment(other, NO_RUN_GOES_FAR)
    earlier = [*COMMAND, "run", "--select", "parsed_index", "--data", str(data)]
    subprocess.run(earlier, env=variables, cwd=tmp_path, capture_output=True, check=True)
    (data / "papers" / "b.txt").write_text("Ferritin rose in swimmers who rested for a month.")
    for library in ("yaml.py", "pyarrow.py", "secrets.py"):  # in the working folder
        (tmp_path / library).write_text(
            "raise SystemExit('a file of the working folder was imported')"
        )
    with log.open("wb") as messages:
        ui = subprocess.Popen(
            [
                "sh",
                "-c",
                'trap "" INT; exec "$@"',
                "sh",
                *command,
            ],  # as shells start jobs in the background
            env=variables,
            cwd=tmp_path,
            stdout=messages,
            stderr=messages,
            start_new_session=True,
        )
    try:
        wait_until(lambda: ui.poll() is not None or "open http" in log.read_text(), "the address")
        assert answers(port), "the address is told when it is there"
        for foreign in (
            {"Host": "evil.example"},
            {"Origin": "http://evil.example"},
            {"Content-Type": "text/plain"},
        ):
            assert not launches(port, foreign), "a page of another site gives no orders"
        assert launches(port, {"Content-Type": "application/json"})
        second = subprocess.run(
            [*command[:-1], str(free_port())],
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        wait_until(
            lambda: ui.poll() is not None or bool(finished_run(data)),
            "the run that the sensor asks for",
        )
        started = descendants_of(ui.pid)
    finally:
        os.killpg(ui.pid, signal.SIGINT)
        code = ui.wait(DEADLINE_S)

    assert code == 0, log.read_text()
    assert f"open http://127.0.0.1:{port} in a browser" in log.read_text()
    assert (second.returncode, second.stderr.count("\n")) == (1, 1)
    assert "is running already" in second.stderr
    assert finished_run(data)["rag_assets/data_dir"] == str(data)
    assert finished_run(data)["rag_assets/started_by"] == "sensor corpus_sensor"
    assert not other.exists()
    assert len(started) >= 3, "dagster dev, its webserver, its daemon"
    wait_until(
        lambda: not any(Path(f"/proc/{pid}").exists() for pid in started), "all of them to be gone"
    )


@contextmanager
def served(data: Path, tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """The UI of the folder, ready; its port is `args[-1]`."""
    command = [*COMMAND, "ui", "--data", str(data), "--port", str(free_port())]
    log = tmp_path / "ui.log"
    variables = environment(data, NO_RUN_GOES_FAR)
    with (
        log.open("w") as messages,
        subprocess.Popen(command, env=variables, text=True, stdout=messages, stderr=messages) as ui,
    ):
        try:
            wait_until(
                lambda: ui.poll() is not None or "open http" in log.read_text(), "the address"
            )
            yield ui
            ui.terminate()
            ui.wait(DEADLINE_S)
        finally:
            ui.kill()  # its server sees that and ends; without it a test that fails waits for good


@pytest.fixture
def ui(data: Path, tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    with served(data, tmp_path) as ui:
        yield ui


LAUNCH = """mutation($p: ExecutionParams!) {launchRun(executionParams: $p) {
  __typename ... on LaunchRunSuccess {run {runId}} ... on PythonError {message}
  ... on RunConfigValidationInvalid {errors {message}}}}"""
RELOAD = 'mutation {reloadRepositoryLocation(repositoryLocationName: "rag_assets") {__typename}}'


def ordered(port: str, query: str, **variables: Any) -> str:
    """The answer of Dagster to an order."""
    body = json.dumps({"query": query, "variables": variables}).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql", body, {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            return str(reply.read().decode())
    except urllib.error.HTTPError as error:
        return error.read().decode()


def launched(port: str, settings: dict[str, Any]) -> str:
    selector = {
        "repositoryLocationName": "rag_assets",
        "repositoryName": "__repository__",
        "pipelineName": "everything",
        "assetSelection": [{"path": ["parsed_index"]}],
    }
    config = {"resources": {"settings": {"config": settings}}}
    return ordered(
        port, LAUNCH, p={"selector": selector, "mode": "default", "runConfigData": config}
    )


@pytest.mark.whole
def test_the_ui_refuses_wrong_values_runs_one_at_a_time_and_ends_with_its_daemon(
    data: Path, ui: "subprocess.Popen[str]"
) -> None:
    """A wrong value would cost the night when it is found; two runs at once wait in each other's
    way; a UI without a daemon takes orders that it never follows."""
    port = str(ui.args[-1])  # type: ignore[index]
    refused = [
        launched(port, {"chunking": {"target_tokens": -5}}),
        launched(port, {"chunking": {"target_tokens": "5"}}),
        launched(port, {"chunking": {"target_tokenz": 5}}),
        launched(port, {"data_dir": "/elsewhere"}),
    ]

    with only_writer(data, patience_s=0):
        runs = [run_launched(ui) for _ in range(2)]
        wait_until(lambda: "STARTED" in [state(data, run) for run in runs], "the first run")
        while_one_runs = [state(data, run) for run in runs]
        assert "WorkspaceLocationEntry" in ordered(port, RELOAD)
    wait_until(lambda: [state(data, run) for run in runs] == ["SUCCESS"] * 2, "both runs")
    (server,) = (pid for pid in descendants_of(ui.pid) if b"dagster_ui import main" in cmdline(pid))
    (daemon,) = (pid for pid in descendants_of(server) if b"_daemon.cli" in cmdline(pid))
    os.kill(daemon, signal.SIGKILL)

    assert ui.wait(DEADLINE_S) == 1
    assert sorted(while_one_runs) == ["QUEUED", "STARTED"]
    assert "chunking.target_tokens: Input should be greater than" in refused[0]
    assert "is not valid for expected type" in refused[1]
    assert "Received unexpected config entry" in refused[2]
    assert "Received unexpected config entry" in refused[3]


@pytest.mark.whole
@pytest.mark.parametrize("moment", ["STARTED", "QUEUED", "NOT_STARTED"])
@pytest.mark.parametrize("killed", ["all", "the UI", "its processes"])
def test_after_a_kill_the_next_run_of_the_ui_goes_through(
    killed: str, moment: str, data: Path, tmp_path: Path
) -> None:
    """A power cut during a run would stop every later night in silence: the dead run stays
    "started", and the next one waits for it for good."""
    with served(data, tmp_path) as ui, only_writer(data, patience_s=0):
        first = run_launched(ui)
        wait_until(lambda: moment == "QUEUED" or state(data, first) != "QUEUED", "the daemon")
        wait_until(lambda: moment != "STARTED" or state(data, first) == "STARTED", "the run")
        own = descendants_of(ui.pid)
        for pid in {"all": [ui.pid, *own], "the UI": [ui.pid], "its processes": own[::-1]}[killed]:
            with suppress(ProcessLookupError):  # it ended with its parent
                os.kill(pid, signal.SIGKILL)
        ui.wait(DEADLINE_S)

    with served(data, tmp_path) as ui:
        second = run_launched(ui)
        wait_until(lambda: state(data, second) in ENDED, "the run after it")

    assert state(data, second) == "SUCCESS"
    assert state(data, first) in ENDED


def run_launched(ui: "subprocess.Popen[str]") -> str:
    """The id of a new run of the UI."""
    reply = launched(str(ui.args[-1]), {})  # type: ignore[index]
    assert "LaunchRunSuccess" in reply
    return str(json.loads(reply)["data"]["launchRun"]["run"]["runId"])


ENDED = ("FAILURE", "SUCCESS")


def state(data: Path, run_id: str) -> str:
    with dg.DagsterInstance.from_config(str(data / ".dagster")) as instance:
        run = instance.get_run_by_id(run_id)
    return run.status.value


def cmdline(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_a_taken_port_is_told_in_one_sentence(data: Path, taken_port: int) -> None:
    """The web server answers with a traceback, and its daemon goes on without it."""
    done = CliRunner().invoke(app, ["ui", "--port", str(taken_port)], env=environment(data))

    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: Port {taken_port} is taken")
    assert done.stderr.count("\n") == 1
    assert not (data / ".dagster").exists(), "nothing was begun"


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/server_info", timeout=5) as reply:
            return "dagster_version" in json.loads(reply.read())
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def launches(port: int, headers: dict[str, str]) -> bool:
    """Whether an order to launch a run comes as far as Dagster."""
    order = b'{"query": "mutation { launchRun(executionParams: {}) { __typename } }"}'
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql", order, {"Content-Type": "application/json", **headers}
    )
    try:
        urllib.request.urlopen(request, timeout=30).close()
    except urllib.error.HTTPError as error:
        return b"ExecutionParams" in error.read()
    return True


def finished_run(data: Path) -> dict[str, str]:
    """The tags of the run of the UI that has ended; empty before."""
    with dg.DagsterInstance.from_config(str(data / ".dagster")) as instance:
        ended = [dict(run.tags) for run in instance.get_runs() if run.is_finished]
    return next(
        (tags for tags in ended if not tags["rag_assets/started_by"].startswith("rag-assets")), {}
    )


def descendants_of(pid: int) -> list[int]:
    try:
        children = list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    except (FileNotFoundError, ProcessLookupError):  # it has ended since it was listed
        return []
    return [*children, *(one for child in children for one in descendants_of(child))]
