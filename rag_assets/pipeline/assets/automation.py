"""When assets run by themselves: the jobs, the sensor for papers and questions, the schedules; and
the sensors that tell of runs that fail and of floors that the evaluation missed.

Sensor and nightly schedule start the job `everything`; no asset has an automation condition. They
read the settings at every tick, so wrong settings fail the tick with the reason, while the
definitions still load.

Messages are sent by Dagster's own sensors for email and Slack. A missed floor fails no run that
made something, so the job `missed_floors` fails for it, with the figures as its reason.
`automation.notify` is read when the definitions load. Passwords and tokens are secrets, in the
environment or `.env`.
"""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any
from urllib.parse import unquote, urlsplit

import dagster as dg

from rag_assets.core.errors import InvalidQuestions, InvalidSettings, MissingExtra, MissingInput
from rag_assets.core.settings import (
    AutomationSettings,
    Settings,
    environment,
    load_settings,
    tell_origin,
)
from rag_assets.core.table_files import read_columns
from rag_assets.hosted.access import PROVIDERS
from rag_assets.library.verification import damages
from rag_assets.pipeline.assets.resources import COST_TAG
from rag_assets.pipeline.assets.sources import known_versions, news, observed_versions
from rag_assets.pipeline.runs.locks import (
    alive_until_its_end,
    checks_of,
    end_dead_runs,
    living_runs,
)
from rag_assets.questions.files import configured_questions

logger = logging.getLogger(__name__)
EVERYTHING, VERIFY = "everything", "verify"
_MOST_NAMED = 20
_SENSOR_INTERVAL_S = 30
NOTHING_RAN = (
    "Nothing was run over this data folder yet. Materialize everything once, here or with `rag-assets run`; from then "
    "on, a paper or a question that is added, changed or deleted starts a run."
)

CHANGING = "Papers or questions change. If they are the same at the next look, a run is asked for."
RUN_IS_ALIVE = "A run is under way or about to begin."

everything_job = dg.define_asset_job(
    EVERYTHING,
    selection=dg.AssetSelection.all(),
    description="Bring every asset up to date, the smoke evaluation included; what did not change costs nothing.",
)
JOBS = [
    everything_job,
    dg.define_asset_job(
        "build_index",
        selection=dg.AssetSelection.assets("examples", "chunk_stats").upstream(),
        description="Bring the indexes and what they are made of up to date: papers can be asked about afterwards.",
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
    what the last look found, while it waits for a second one that finds the same: files that are
    still being copied are not read, and who adds a paper and starts a run, as the server does, gets
    one run. The first look at a folder without any run requests none, since a whole build may take
    long and cost money.
    """
    try:
        versions = _versions_now(settings)
    except MissingInput as error:
        return dg.SensorResult(skip_reason=str(error), cursor=cursor)
    if versions == known:
        return dg.SensorResult(skip_reason="No paper and no question changed.", cursor="")
    events = news(settings, versions, known)
    if not known:
        return dg.SensorResult(skip_reason=NOTHING_RAN, cursor="", asset_events=events)
    if cursor != (found := json.dumps(versions)):
        return dg.SensorResult(skip_reason=CHANGING, cursor=found)
    return dg.SensorResult(run_requests=[dg.RunRequest()], cursor="", asset_events=events)


def _versions_now(settings: Settings) -> dict[str, str]:
    """The versions of the sources. Raises MissingInput when the papers are gone: a disk that is not
    mounted leaves no folder, or an empty one."""
    versions, paths = observed_versions(settings), settings.paths
    is_empty = settings.paper_list_file is None and not any(paths.papers.iterdir())
    if not is_empty or settings.execution.allow_removal or not paths.parsed_index.exists():
        return versions
    if n_published := read_columns(paths.parsed_index, ["paper_id"]).num_rows:
        raise MissingInput(
            f"The papers folder {paths.papers} is empty, and {n_published} papers are published. Mount its disk, or "
            "confirm that they are meant to go: rag-assets run --allow-removal."
        )
    return versions


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


def nightly(
    when: AutomationSettings, overrides: Mapping[str, Any] | None
) -> tuple[dg.ScheduleDefinition, dg.FreshnessPolicy]:
    """The schedule that brings everything up to date each night, on from the start; and the policy
    by which an asset is overdue from when the night's run is due until it has made the asset."""
    try:
        schedule = _schedule(when, overrides)
    except dg.DagsterInvalidDefinitionError as error:
        logger.warning("The nightly schedule runs at its default time: %s", error)
        when = AutomationSettings()
        schedule = _schedule(when, overrides)
    return schedule, dg.FreshnessPolicy.cron(when.nightly_cron, timedelta(minutes=1), when.timezone)


def _schedule(
    when: AutomationSettings, overrides: Mapping[str, Any] | None
) -> dg.ScheduleDefinition:
    @dg.schedule(
        name="nightly_schedule",
        job=everything_job,
        cron_schedule=when.nightly_cron,
        execution_timezone=when.timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Brings every asset up to date; on an unchanged corpus no model is called. The tags of its runs say "
        "what they ask and may cost.",
    )
    def tick(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        end_dead_runs(context.instance)
        settings = load_settings(overrides)
        spent, limit = _spent_usd(context.instance), settings.automation.monthly_budget_usd
        if living_runs(context.instance):
            return dg.SkipReason(RUN_IS_ALIVE)
        if limit is not None and spent >= limit:
            return dg.SkipReason(
                f"The runs of the last {_MONTH.days} days cost ${spent:.2f}, and automation.monthly_budget_usd is "
                f"{limit:g}. Raise it, or materialize what you need yourself."
            )
        # also if the papers are gone: the run fails with that reason, which people are told
        return dg.RunRequest(tags=_plan(settings, spent))

    return tick


_MONTH = timedelta(days=30)


def _spent_usd(instance: dg.DagsterInstance) -> float:
    """What the runs of a month cost; those of unknown prices count nothing."""
    since = dg.RunsFilter(created_after=datetime.now(UTC) - _MONTH)
    return sum(float(run.tags.get(COST_TAG, 0)) for run in instance.get_runs(since))


_HOSTED_MODEL = re.compile(rf'"((?:{"|".join(PROVIDERS.keys() - {"ollama"})}):[^"]+)"')


def _plan(settings: Settings, spent: float) -> dict[str, str]:
    """Tags of a nightly run: what it asks and may cost."""
    try:
        n_questions = len(configured_questions(settings) or [])
        asks = f"{n_questions} questions of {settings.question_file.name}; kept answers are not asked again"
    except InvalidQuestions as error:
        asks = str(error)
    hosted = sorted(set(_HOSTED_MODEL.findall(settings.model_dump_json())))
    limit = settings.model_access.budget_usd
    most = "no limit (model_access.budget_usd)" if limit is None else f"at most ${limit:g}"
    cost = f"{', '.join(hosted)}: {most}; ${spent:.2f} in the last {_MONTH.days} days"
    return {"rag_assets/asks": asks, "rag_assets/may_cost": cost if hosted else "nothing"}


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
    tell_origin("automation.notify", list(targets))
    told = [*([_email_sensor(addresses)] if addresses else []), *map(_slack_sensor, channels)]
    return [*told, *([floors_sensor] if told else [])]


def _email_sensor(addresses: Sequence[str]) -> dg.SensorDefinition:
    server = urlsplit(url := environment().get(SMTP_VARIABLE, ""))
    user, password = unquote(server.username or ""), unquote(server.password or "")
    if server.scheme not in _TYPES or not (server.hostname and user and password):
        raise InvalidSettings(
            f"automation.notify names an email address: set {SMTP_VARIABLE} in the environment or .env "
            "(smtps://user:password@host, or smtp:// with STARTTLS)."
        )
    tell_origin(SMTP_VARIABLE, url)
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
