"""Who is told of runs that fail and of floors that the evaluation missed: Dagster's own sensors
for email and Slack.

A missed floor fails no run that made something. So the job `missed_floors` fails for it, with the
figures as its reason.

`automation.notify` is read when the definitions load. Passwords and tokens are secrets, in the
environment or `.env`.
"""

from collections.abc import Sequence
from html import escape
from urllib.parse import unquote, urlsplit

import dagster as dg

from rag_assets.core.errors import InvalidSettings, MissingExtra
from rag_assets.core.settings import environment
from rag_assets.pipeline.runs.history import checks_of

SMTP_VARIABLE, SLACK_VARIABLE = "SMTP_URL", "SLACK_TOKEN"
_TYPES = {"smtp": "STARTTLS", "smtps": "SSL"}


def failure_sensors(targets: Sequence[str]) -> list[dg.SensorDefinition]:
    """One sensor for all email addresses, one for each channel of Slack, and the one that has
    missed floors told.

    Raises InvalidSettings for an unknown target, or one whose secret is not set; MissingExtra for
    Slack without dagster-slack.
    """
    named = [target.partition(":")[::2] for target in targets]
    if wrong := [kind for kind, place in named if kind not in ("email", "slack") or not place]:
        raise InvalidSettings(
            f"automation.notify: {wrong[0]!r} is neither email:NAME@HOST nor slack:CHANNEL."
        )
    addresses = [place for kind, place in named if kind == "email"]
    channels = [place for kind, place in named if kind == "slack"]
    told = [*([_email_sensor(addresses)] if addresses else []), *map(_slack_sensor, channels)]
    return [*told, *([floors_sensor] if told else [])]


def _email_sensor(addresses: Sequence[str]) -> dg.SensorDefinition:
    server = urlsplit(environment().get(SMTP_VARIABLE, ""))
    user, password = unquote(server.username or ""), unquote(server.password or "")
    if server.scheme not in _TYPES or not (server.hostname and user and password):
        raise InvalidSettings(
            f"automation.notify names an email address: set {SMTP_VARIABLE} in the environment or .env "
            "(smtps://user:password@host, or smtp:// with STARTTLS)."
        )
    return dg.make_email_on_run_failure_sensor(
        email_from=user if "@" in user else addresses[0],
        email_password=password,
        email_to=addresses,
        email_body_fn=lambda context: escape(_reason(context)),
        smtp_host=server.hostname,
        smtp_type=_TYPES[server.scheme],
        smtp_port=server.port,
        smtp_user=user,
        name="email_on_run_failure",
        default_status=dg.DefaultSensorStatus.RUNNING,
    )


def _slack_sensor(channel: str) -> dg.SensorDefinition:
    try:
        from dagster_slack import make_slack_on_run_failure_sensor
    except ModuleNotFoundError:
        raise MissingExtra.named("slack", purpose=f"automation.notify = slack:{channel}") from None
    token = environment().get(SLACK_VARIABLE, "")
    if not token:
        raise InvalidSettings(
            f"automation.notify names slack:{channel}: set {SLACK_VARIABLE} to the token of a bot."
        )
    named = "".join(char if char.isalnum() else "_" for char in channel.strip("#"))
    sensor: dg.SensorDefinition = make_slack_on_run_failure_sensor(
        channel=channel,
        slack_token=token,
        text_fn=lambda context: f"{context.dagster_run.job_name} failed: {_reason(context)}",
        name=f"slack_{named}_on_run_failure",
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    return sensor


def _reason(context: dg.RunFailureSensorContext) -> str:
    """The messages of the steps that failed, or of a run that failed before any."""
    data = [event.step_failure_data for event in context.get_step_failure_events()]
    causes = [step.error.cause or step.error for step in data if step.error]
    told = [step.user_failure_data.description for step in data if step.user_failure_data]
    return "\n".join(
        filter(None, told or [cause.message for cause in causes] or [context.failure_event.message])
    )


@dg.op(config_schema={"reason": str})
def tell_missed_floors(context: dg.OpExecutionContext) -> None:
    raise dg.Failure(context.op_config["reason"])


@dg.job(
    description="Fails with the floors that the last evaluation missed, so that people are told."
)
def missed_floors() -> None:
    tell_missed_floors()


FLOOR_CHECKS = ("above_floors", "not_fallen")
"""Checks of `smoke_eval` that people are told of."""


@dg.run_status_sensor(
    dg.DagsterRunStatus.SUCCESS,
    request_job=missed_floors,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Has those of automation.notify told of floors that the evaluation of a run missed.",
)
def floors_sensor(context: dg.RunStatusSensorContext) -> dg.RunRequest | dg.SkipReason:
    checks = checks_of(context.instance, context.dagster_run.run_id)
    missed = [
        " ".join(
            str(check.metadata[name].value)
            for name in ("promise", "finding")
            if name in check.metadata
        )
        for check in checks
        if check.check_name in FLOOR_CHECKS and not check.passed
    ]
    if not missed:
        return dg.SkipReason("No floor was missed.")
    config = {"ops": {"tell_missed_floors": {"config": {"reason": "\n".join(missed)}}}}
    return dg.RunRequest(run_key=context.dagster_run.run_id, run_config=config)
