"""People are told of runs that fail, by Dagster's own sensors."""

import smtplib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, ClassVar

import dagster as dg
import pytest

from rag_assets.core.errors import InvalidSettings, MissingExtra
from rag_assets.pipeline.assets.automation import failure_sensors, floors_sensor, missed_floors
from rag_assets.pipeline.definitions import build_defs

SMTP_URL = "smtps://lab%40example.org:secret-word@mail.example.org:4465"


class Mailbox(smtplib.SMTP):
    """Keeps what a mail server would be sent."""

    connected: ClassVar[list[tuple[str, int]]] = []
    logins: ClassVar[list[tuple[str, str]]] = []
    sent: ClassVar[list[tuple[Any, ...]]] = []

    def __init__(self, host: str, port: int, **_: Any) -> None:
        self.connected.append((host, port))

    def __enter__(self) -> "Mailbox":
        return self

    def __exit__(self, *_: object) -> None: ...

    def login(self, user: str, password: str) -> Any:  # type: ignore[override]
        self.logins.append((user, password))

    def sendmail(self, *message: Any) -> Any:  # type: ignore[override]
        self.sent.append(message)


@dg.job
def failing_job() -> None:
    @dg.op
    def fail() -> None:
        raise RuntimeError("no <b>disk</b>")

    fail()


def test_a_run_that_fails_is_told_by_email(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nightly run of a Saturday is looked at on Monday, or not at all; text of papers makes no
    markup."""
    monkeypatch.setenv("SMTP_URL", SMTP_URL)
    monkeypatch.setattr(smtplib, "SMTP_SSL", Mailbox)
    sensor, _ = failure_sensors(["email:a@example.org", "email:b@example.org"])

    with dg.DagsterInstance.ephemeral() as instance:
        result = failing_job.execute_in_process(instance=instance, raise_on_error=False)
        event = result.get_run_failure_event()
        sensor(
            dg.build_run_status_sensor_context(
                sensor.name, event, instance, result.dagster_run
            ).for_run_failure()
        )

    assert Mailbox.connected == [("mail.example.org", 4465)]
    assert Mailbox.logins == [("lab@example.org", "secret-word")]
    ((sender, receivers, message),) = Mailbox.sent
    assert (sender, receivers) == ("lab@example.org", ["a@example.org", "b@example.org"])
    assert "failing_job" in message
    assert "no &lt;b&gt;disk" in message
    assert "<b>" not in message


def test_a_missed_floor_is_told_as_the_reason_of_a_run_that_fails() -> None:
    """The run that finds it is green, as all was made: nobody was told that answers got worse."""

    @dg.asset(
        check_specs=[dg.AssetCheckSpec("above_floors", asset="smoke_eval")], output_required=False
    )
    def smoke_eval() -> Iterator[dg.AssetCheckResult]:
        promise = {"promise": "Every metric reaches its floor.", "finding": "mrr is 0.4."}
        yield dg.AssetCheckResult(check_name="above_floors", passed=False, metadata=promise)

    with dg.DagsterInstance.ephemeral() as instance:
        run = dg.materialize([smoke_eval], instance=instance)
        event = run.all_events[-1]
        context = dg.build_run_status_sensor_context("floors", event, instance, run.dagster_run)
        request = floors_sensor(context)
        told = missed_floors.execute_in_process(
            run_config=request.run_config, instance=instance, raise_on_error=False
        )

    (failure,) = told.filter_events(lambda event: event.is_step_failure)
    assert failure.step_failure_data.user_failure_data.description == (
        "Every metric reaches its floor. mrr is 0.4."
    )


def test_a_channel_of_slack_has_a_sensor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its package is an extra: without it the message says what to install."""
    monkeypatch.setenv("SLACK_TOKEN", "xoxb-token")
    monkeypatch.setitem(sys.modules, "dagster_slack", None)
    with pytest.raises(MissingExtra, match=r"pip install 'rag_assets\[slack\]'"):
        failure_sensors(["slack:#lab"])

    made: list[dict[str, Any]] = []
    package = ModuleType("dagster_slack")
    package.make_slack_on_run_failure_sensor = lambda **given: made.append(given)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dagster_slack", package)
    failure_sensors(["slack:#lab"])

    assert (made[0]["channel"], made[0]["slack_token"]) == ("#lab", "xoxb-token")


@pytest.mark.parametrize(
    ("targets", "variables", "told"),
    [
        (["pager"], {}, "'pager' is neither email:NAME@HOST nor slack:CHANNEL"),
        (["email:a@example.org"], {}, "set SMTP_URL"),
        (["email:a@example.org"], {"SMTP_URL": "https://mail.example.org"}, "set SMTP_URL"),
    ],
)
def test_a_target_that_cannot_be_told_is_named(
    targets: list[str], variables: dict[str, str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message that goes nowhere is noticed when it is needed."""
    monkeypatch.delenv("SMTP_URL", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(InvalidSettings, match=told):
        failure_sensors(targets)


def test_definitions_load_although_nobody_can_be_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A typing mistake would take the whole UI away."""
    monkeypatch.delenv("SMTP_URL", raising=False)

    sensors = build_defs(overrides={"automation": {"notify": ["email:a@example.org"]}}).sensors

    assert [one.name for one in sensors or ()] == ["corpus_sensor"]
    assert "set SMTP_URL" in caplog.text
