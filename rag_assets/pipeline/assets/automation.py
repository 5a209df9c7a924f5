"""When assets run by themselves, and who is told of runs that fail: the jobs, the sensor for papers
and questions, the nightly schedule, and the sensors that tell people by email or in Slack.

Sensor and schedule start the job `everything`; no asset has an automation condition. They read the
settings at every tick, so wrong settings fail the tick with the reason, while the definitions still
load. Those of `automation.notify` are read when the definitions load. Passwords and tokens are
secrets, in the environment or `.env`.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import unquote, urlsplit

import dagster as dg

from rag_assets.core.errors import InvalidSettings, MissingExtra, MissingInput
from rag_assets.core.settings import AutomationSettings, Settings, environment, load_settings
from rag_assets.library.verification import damages
from rag_assets.pipeline.assets.sources import known_versions, news, observed_versions
from rag_assets.pipeline.runs.locks import alive_until_its_end, end_dead_runs, living_runs

logger = logging.getLogger(__name__)
EVERYTHING, VERIFY = "everything", "verify"
_MOST_NAMED = 20
_SENSOR_INTERVAL_S = 30
NOTHING_RAN = (
    "Nothing was run over this data folder yet. Materialize everything once, here or with `rag-assets run`; from then "
    "on, a paper or a question that is added, changed or deleted starts a run."
)

CHANGING = "Papers or questions change. If they are the same at the next look, a run is asked for."
RUN_IS_ALIVE = "A run is under way or about to begin; changes are looked for when it is over."

everything_job = dg.define_asset_job(
    EVERYTHING,
    selection=dg.AssetSelection.all(),
    description="Bring every asset up to date, the smoke evaluation included; what did not change costs nothing.",
)
JOBS = [
    everything_job,
    dg.define_asset_job(
        "build_index",
        selection=dg.AssetSelection.assets("index_meta", "chunk_stats").upstream(),
        description="Bring the indexes and what they are made of up to date: papers can be asked about afterwards.",
    ),
    dg.define_asset_job(
        "nightly_qa",
        selection=dg.AssetSelection.assets("smoke_eval", "chunk_stats").upstream(),
        description="Answer and judge the questions of the question file, as each night does; write no reports.",
    ),
]


def corpus_sensor(overrides: Mapping[str, Any] | None) -> dg.SensorDefinition:
    """The sensor that looks for new, changed and deleted papers and questions, on from the
    start."""

    @dg.sensor(
        name="corpus_sensor",
        job=everything_job,
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=_SENSOR_INTERVAL_S,
        description="Asks for one run when papers or questions are added, changed or deleted.",
    )
    def look(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        end_dead_runs(context.instance)
        if living_runs(context.instance):
            return dg.SensorResult(skip_reason=RUN_IS_ALIVE, cursor=context.cursor)
        settings = load_settings(overrides)
        return look_for_changes(
            settings, known_versions(context.instance, settings.data_dir), context.cursor
        )

    return look


def look_for_changes(
    settings: Settings, known: Mapping[str, str], cursor: str | None
) -> dg.SensorResult:
    """One look at the data folder, at most one run request.

    known: the versions reported to Dagster last for this folder, by the sensor or by a run. cursor:
    what the last look found. A run is requested if two looks find the same versions and no run has
    read them: files that are still being copied are not read, and who adds a paper and starts a
    run, as the server does, gets one run. The first look at a folder without any run requests none,
    since a whole build may take long and cost money.
    """
    try:
        versions = observed_versions(settings)
    except MissingInput as error:
        return dg.SensorResult(skip_reason=str(error), cursor=cursor)
    last = json.loads(cursor) if cursor else {}
    settled, seen = last.get("settled"), last.get("seen")
    if versions in (settled, known):
        return dg.SensorResult(
            skip_reason="No paper and no question changed.", cursor=_cursor(settled=versions)
        )
    if settled is None and not known:
        events = news(settings, versions, known)
        return dg.SensorResult(
            skip_reason=NOTHING_RAN, cursor=_cursor(settled=versions), asset_events=events
        )
    if versions != seen:
        return dg.SensorResult(skip_reason=CHANGING, cursor=_cursor(settled=settled, seen=versions))
    events = news(settings, versions, known)
    return dg.SensorResult(
        run_requests=[dg.RunRequest()], cursor=_cursor(settled=versions), asset_events=events
    )


def _cursor(*, settled: Mapping[str, str] | None, seen: Mapping[str, str] | None = None) -> str:
    """settled: the versions that a run was asked for, or needed none. seen: newer ones of the last
    look."""
    return json.dumps({"settled": settled, "seen": seen})


def weekly_verification(
    overrides: Mapping[str, Any] | None,
) -> tuple[dg.JobDefinition, dg.ScheduleDefinition]:
    """The job that compares the data folder with its checksums, and its schedule, on from the
    start."""

    @dg.op(description="Fails, and names the files, if bytes of the data folder are damaged.")
    def verify_data_folder(context: dg.OpExecutionContext) -> None:
        alive_until_its_end(context.instance, context.run_id)
        damaged = [
            f"{damage.path} {damage.problem}. {damage.remedy}"
            for damage in damages(load_settings(overrides))
        ]
        if damaged:
            raise dg.Failure("\n".join(damaged[:_MOST_NAMED]), {"n_damaged": len(damaged)})

    @dg.job(name=VERIFY, description="Compare every byte of the data folder with its checksums.")
    def verify() -> None:
        verify_data_folder()

    schedule = dg.ScheduleDefinition(
        name="weekly_verification",
        job=verify,
        cron_schedule="0 4 * * 0",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Looks for damage by the disk each Sunday; a run that fails names the files and the remedy.",
    )
    return verify, schedule


def nightly_schedule(
    when: AutomationSettings, overrides: Mapping[str, Any] | None
) -> dg.ScheduleDefinition:
    """The schedule that brings everything up to date each night, on from the start."""
    try:
        return _schedule(when, overrides)
    except dg.DagsterInvalidDefinitionError as error:
        logger.warning("The nightly schedule runs at its default time: %s", error)
        return _schedule(AutomationSettings(), overrides)


def _schedule(
    when: AutomationSettings, overrides: Mapping[str, Any] | None
) -> dg.ScheduleDefinition:
    @dg.schedule(
        name="nightly_schedule",
        job=everything_job,
        cron_schedule=when.nightly_cron,
        execution_timezone=when.timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Brings every asset up to date; on an unchanged corpus no model is called.",
    )
    def nightly() -> dg.RunRequest:
        wanted = load_settings(overrides).automation
        if (wanted.nightly_cron, wanted.timezone) != (when.nightly_cron, when.timezone):
            logger.warning(
                "automation.nightly_cron or its timezone has changed or is wrong; reload the definitions."
            )
        return dg.RunRequest()

    return nightly


SMTP_VARIABLE, SLACK_VARIABLE = "SMTP_URL", "SLACK_TOKEN"
_TYPES = {"smtp": "STARTTLS", "smtps": "SSL"}


def failure_sensors(targets: Sequence[str]) -> list[dg.SensorDefinition]:
    """One sensor for all email addresses and one for each channel of Slack.

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
    return [*([_email_sensor(addresses)] if addresses else []), *map(_slack_sensor, channels)]


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
        email_body_fn=lambda context: escape(context.failure_event.message or "The run failed."),
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
        name=f"slack_{named}_on_run_failure",
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    return sensor
