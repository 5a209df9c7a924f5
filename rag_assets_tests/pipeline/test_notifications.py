"""People are told of failed runs and of failed checks: tried against local receivers."""

import json
import socketserver
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from rag_assets.core.errors import InvalidSettings
from rag_assets.pipeline.assets.health import health_sensors
from rag_assets.pipeline.notifications import Notice, tell

NOTICE = Notice("rag_assets: checks failed", ("smoke_eval · above_floors: too low",), "run1", "warned")


class Receiver(HTTPServer):
    """Keeps what is posted; answers 500 below /broken."""

    def __init__(self) -> None:
        self.posted: list[dict[str, Any]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.posted.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(500 if self.path == "/broken" else 200)
                self.end_headers()

            def log_message(self, *_: Any) -> None: ...

        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Mailbox(socketserver.TCPServer):
    """The least of a mail server, without encryption."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        mailbox = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self.wfile.write(b"220 here\r\n")
                in_data = False
                for raw in self.rfile:
                    line = raw.decode().rstrip("\r\n")
                    mailbox.lines.append(line)
                    if in_data:
                        in_data = line != "."
                        reply = b"" if in_data else b"250 kept\r\n"
                    else:
                        in_data = line == "data"
                        reply = (
                            b"354 go on\r\n"
                            if in_data
                            else b"221 bye\r\n"
                            if line.casefold() == "quit"
                            else b"250 yes\r\n"
                        )
                    self.wfile.write(reply)

        super().__init__(("127.0.0.1", 0), Handler)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    yield from _served(Receiver())


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    yield from _served(Mailbox())


def _served(server: Any) -> Iterator[Any]:
    with server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def sensed(
    instance: dg.DagsterInstance, result: dg.ExecuteInProcessResult, name: str, data: Path
) -> dg.SkipReason | None:
    """One look of a sensor at a finished run."""
    sensors = {one.name: one for one in health_sensors({"data_dir": str(data), "automation": {"notify": ["webhook"]}})}
    run = result.dagster_run
    event = next(
        one for one in reversed(result.all_events) if one.is_job_event and one.event_type_value.startswith("PIPELINE")
    )
    context = dg.build_run_status_sensor_context(name, event, instance, run)
    return sensors[name](context)  # type: ignore[return-value]


def run_of(instance: dg.DagsterInstance, finding: str, *, fails: bool = False) -> dg.ExecuteInProcessResult:
    @dg.asset(check_specs=[dg.AssetCheckSpec("above_floors", asset="judged")])
    def judged() -> Iterator[Any]:
        if fails:
            raise RuntimeError("no disk")
        yield dg.MaterializeResult()
        yield dg.AssetCheckResult(
            passed=not finding,
            check_name="above_floors",
            severity=dg.AssetCheckSeverity.WARN,
            metadata={"finding": finding},
        )

    return dg.materialize([judged], instance=instance, raise_on_error=False)


def test_a_check_that_fails_in_a_run_that_succeeds_is_told_once(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The evaluation blocks nothing: without a message nobody would see the fall; with one each night, nobody would
    read them."""
    monkeypatch.setenv("ALERT_WEBHOOK_URL", receiver.url)
    with dg.DagsterInstance.ephemeral() as instance:
        for finding in ("", "mrr is 0.5", "mrr is 0.5", "mrr is 0.4"):
            sensed(instance, run_of(instance, finding), "failed_checks_sensor", tmp_path)

    assert [one["lines"] for one in receiver.posted] == [
        ["judged · above_floors: mrr is 0.5"],
        ["judged · above_floors: mrr is 0.4"],
    ]
    assert {one["status"] for one in receiver.posted} == {"warned"}


def test_a_run_that_fails_is_told(receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nightly run of a Saturday is looked at on Monday, or not at all."""
    monkeypatch.setenv("ALERT_WEBHOOK_URL", receiver.url)
    with dg.DagsterInstance.ephemeral() as instance:
        result = run_of(instance, "", fails=True)
        sensed(instance, result, "failed_runs_sensor", tmp_path)

    (posted,) = receiver.posted
    assert (posted["status"], posted["run_id"]) == ("failed", result.run_id)
    assert "failed" in posted["title"]


def test_every_target_is_told_although_one_cannot_be_reached(
    receiver: Receiver, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Slack is down on the night that the disk is full; its address, which is a secret, is in no log."""
    monkeypatch.setenv("SLACK_WEBHOOK_URL", f"{receiver.url}/broken")
    monkeypatch.setenv("ALERT_WEBHOOK_URL", receiver.url)
    monkeypatch.setenv("SMTP_URL", f"smtp://127.0.0.1:{mailbox.server_address[1]}")

    missed = tell(NOTICE, ["slack", "webhook", "email:lab@example.org"])

    assert missed == ["slack"]
    assert receiver.url not in caplog.text
    assert [one["text"] for one in receiver.posted] == [NOTICE.text] * 2
    assert "Subject: rag_assets: checks failed" in mailbox.lines
    assert any("above_floors: too low" in line for line in mailbox.lines)


def test_a_password_is_not_sent_in_the_clear(mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mail server without encryption would get it, and all that listen on the way."""
    monkeypatch.setenv("SMTP_URL", f"smtp://me:secret-word@127.0.0.1:{mailbox.server_address[1]}")

    assert tell(NOTICE, ["email:lab@example.org"]) == ["email:lab@example.org"]
    assert not any(line.casefold().startswith(("auth", "mail")) for line in mailbox.lines)


@pytest.mark.parametrize(
    ("target", "told"), [("slack", "set SLACK_WEBHOOK_URL"), ("pager", "is none of slack"), ("email:x", "is none of")]
)
def test_a_target_that_cannot_be_used_is_named(target: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence would look like health."""
    monkeypatch.delenv("SLACK_WEBHOOK_URL", raising=False)
    with pytest.raises(InvalidSettings, match=told):
        tell(NOTICE, [target])
