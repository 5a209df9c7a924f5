"""What runs by itself: ticks of the sensor and of the schedule, one by one."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import Settings, load_settings
from rag_assets.core.table_files import published_or_empty
from rag_assets.core.tables import PARSED_INDEX
from rag_assets.pipeline.assets.automation import look_for_changes
from rag_assets.pipeline.assets.resources import COST_TAG
from rag_assets.pipeline.assets.sources import known_versions, news, observed_versions
from rag_assets.pipeline.definitions import build_defs
from rag_assets.pipeline.runs.locks import recorded_as_alive


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A data folder with one paper and one question."""
    loaded = load_settings({"data_dir": str(tmp_path / "data")})
    loaded.paths.papers.mkdir(parents=True)
    loaded.paths.questions.mkdir()
    (loaded.paths.papers / "a.txt").write_text("A paper.")
    loaded.question_file.write_text('{"id": "q", "question": "Why?"}\n')
    return loaded


def looked_twice(
    settings: Settings, known: Mapping[str, str], cursor: str | None
) -> dg.SensorResult:
    """What the second of two looks finds."""
    return look_for_changes(settings, known, look_for_changes(settings, known, cursor).cursor)


def known_after(look: dg.SensorResult, known: Mapping[str, str]) -> dict[str, str]:
    """The versions that Dagster has kept after a look."""
    told = {event.asset_key.to_user_string(): event.tags or {} for event in look.asset_events}
    return {**known, **{name: tags["dagster/data_version"] for name, tags in told.items()}}


RAN: dict[str, str] = {"paper_files": "as an earlier run saw them", "questions": "likewise"}


def test_the_first_look_after_a_run_asks_for_one_when_the_corpus_changed_since(
    settings: Settings,
) -> None:
    """Papers that were added while no UI ran would wait for the night; a sensor that asks again
    fills the run list."""
    first = look_for_changes(settings, RAN, None)
    second = look_for_changes(settings, RAN, first.cursor)
    third = look_for_changes(settings, known_after(second, RAN), second.cursor)

    assert not first.run_requests, "who added the paper may start a run"
    assert len(second.run_requests or []) == 1
    assert not third.run_requests
    assert "No paper and no question changed" in str(third.skip_reason)


def test_papers_that_are_still_being_copied_ask_for_nothing(settings: Settings) -> None:
    """A run over half of them would be followed by a second one over all."""
    cursor = look_for_changes(settings, RAN, None).cursor
    for n_copied in range(3):
        (settings.paths.papers / f"copied{n_copied}.txt").write_text("A paper.")
        found = look_for_changes(settings, RAN, cursor)
        cursor = found.cursor
        assert not found.run_requests

    assert look_for_changes(settings, RAN, cursor).run_requests


def test_the_first_look_at_a_folder_over_which_nothing_was_run_asks_for_no_run(
    settings: Settings,
) -> None:
    """Opening the UI must not start hours of embedding, or pay a provider, before its user has seen
    a setting."""
    first = look_for_changes(settings, {}, None)
    observed = {str(event.asset_key.to_user_string()): event.tags for event in first.asset_events}
    (settings.paths.papers / "b.txt").write_text("Another paper.")
    second = looked_twice(settings, known_after(first, {}), first.cursor)

    assert not first.run_requests
    assert "Materialize everything once" in str(first.skip_reason)
    assert set(observed) == {"paper_files", "questions", "templates"}, (
        "the graph shows that they are there"
    )
    assert len(second.run_requests or []) == 1


def test_what_a_run_has_seen_is_not_asked_for_again(settings: Settings) -> None:
    """A run of the command line beside an open UI would be followed by one that finds nothing to
    do."""
    first = look_for_changes(settings, {}, None)
    (settings.paths.papers / "b.txt").write_text("Another paper.")
    cursor = look_for_changes(settings, known_after(first, {}), first.cursor).cursor

    assert not look_for_changes(settings, observed_versions(settings), cursor).run_requests


@pytest.mark.parametrize("change", ["added", "changed", "deleted", "question"])
def test_every_kind_of_change_asks_for_one_run(settings: Settings, change: str) -> None:
    """A deleted paper must leave the answers, too."""
    asked = looked_twice(settings, RAN, None)
    if change == "added":
        (settings.paths.papers / "b.txt").write_text("Another paper.")
    elif change == "changed":
        (settings.paths.papers / "a.txt").write_text("A longer paper.")
    elif change == "deleted":
        (settings.paths.papers / "a.txt").unlink()
    else:
        settings.question_file.write_text(
            '{"id": "q", "question": "How?"}\n{"id": "r", "question": "Who?"}\n'
        )

    found = looked_twice(settings, known_after(asked, RAN), asked.cursor)

    assert len(found.run_requests or []) == 1


def test_an_unmounted_papers_folder_asks_for_nothing(settings: Settings) -> None:
    """And keeps the cursor, so that mounting it again is no change."""
    cursor = look_for_changes(settings, RAN, None).cursor
    settings.paths.papers.rename(settings.data_dir / "away")

    found = look_for_changes(settings, RAN, cursor)

    assert not found.run_requests
    assert found.cursor == cursor


def test_a_tick_of_the_sensor_starts_the_job_that_makes_everything(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sensor reads the same settings as everything else."""
    monkeypatch.setenv("RAG_ASSETS_DATA_DIR", str(settings.data_dir))
    definitions = build_defs()
    sensor = definitions.resolve_sensor_def("corpus_sensor")

    with dg.instance_for_test() as instance:
        for event in news(settings, RAN, {}):
            instance.report_runless_asset_event(event)
        context = dg.build_sensor_context(instance=instance, definitions=definitions)
        first = sensor.evaluate_tick(context)
        with recorded_as_alive(instance, "a run of the command line"):
            alive = sensor.evaluate_tick(context)
        context = dg.build_sensor_context(
            instance=instance, definitions=definitions, cursor=first.cursor
        )
        tick = sensor.evaluate_tick(context)

    assert "under way or about to begin" in str(alive.skip_message)
    assert len(tick.run_requests or []) == 1
    assert sensor.job_name == "everything"
    assert sensor.default_status is dg.DefaultSensorStatus.RUNNING


NIGHTLY = {
    "automation": {
        "nightly_cron": "30 3 * * *",
        "timezone": "Europe/Berlin",
        "monthly_budget_usd": 2,
    },
    "answering": {"model": "openai:gpt-5-mini"},
    "model_access": {"budget_usd": 0.5},
}


def nightly_tick(settings: Settings, instance: dg.DagsterInstance) -> Any:
    schedule = build_defs(
        overrides={**NIGHTLY, "data_dir": str(settings.data_dir)}
    ).resolve_schedule_def("nightly_schedule")
    due = datetime(2026, 1, 1, 2, 30, tzinfo=UTC)
    with dg.build_schedule_context(instance=instance, scheduled_execution_time=due) as context:
        return schedule.evaluate_tick(context)


def record_costs(instance: dg.DagsterInstance, *costs: float, n_days_ago: int = 0) -> None:
    created = datetime.now(UTC) - timedelta(days=n_days_ago)
    for cost in costs:
        run = dg.DagsterRun(
            "everything", status=dg.DagsterRunStatus.SUCCESS, tags={COST_TAG: str(cost)}
        )
        instance.run_storage.add_historical_run(run, created)


def test_a_nightly_run_says_what_it_asks_and_may_cost(settings: Settings) -> None:
    """The bill of the provider is the first that a user sees of it otherwise."""
    with dg.instance_for_test() as instance:
        record_costs(instance, 0.75, 0.5)
        (request,) = nightly_tick(settings, instance).run_requests

    assert request.tags["rag_assets/asks"].startswith("1 questions of smoke.jsonl")
    assert request.tags["rag_assets/may_cost"] == (
        "openai:gpt-5-mini: at most $0.5; $1.25 in the last 30 days"
    )


def test_a_night_that_need_not_be_run_is_left_out_with_its_reason(settings: Settings) -> None:
    """Two runs at once, or a bill that nobody wanted."""
    with dg.instance_for_test() as instance:
        with recorded_as_alive(instance, "a run of the command line"):
            alive = nightly_tick(settings, instance).skip_message
        record_costs(instance, 1.25, 1.25)
        spent = nightly_tick(settings, instance).skip_message

    assert alive == "A run is under way or about to begin."
    assert "cost $2.50, and automation.monthly_budget_usd is 2" in spent


def test_a_month_later_the_budget_is_whole_again(settings: Settings) -> None:
    """After some months of use the schedule would never run again, however little a month costs."""
    with dg.instance_for_test() as instance:
        record_costs(instance, 1.25, 1.25, n_days_ago=31)
        record_costs(instance, 0.25, n_days_ago=29)
        (request,) = nightly_tick(settings, instance).run_requests

    assert request.tags["rag_assets/may_cost"].endswith("; $0.25 in the last 30 days")


def test_a_night_without_papers_is_a_run_that_fails_and_is_told(settings: Settings) -> None:
    """A disk that is not mounted: a skipped night is told to nobody, and the corpus grows old."""
    everything = build_defs(overrides={"data_dir": str(settings.data_dir)}).resolve_job_def(
        "everything"
    )

    def told(instance: dg.DagsterInstance) -> str:
        (_,) = nightly_tick(settings, instance).run_requests
        run = everything.execute_in_process(instance=instance, raise_on_error=False)
        (event,) = [event for event in run.all_events if event.is_run_failure]
        return str(event.job_failure_data.error) + "".join(
            str(event.step_failure_data.error) for event in run.all_events if event.is_step_failure
        )

    with dg.instance_for_test() as instance:
        everything.execute_in_process(
            instance=instance, asset_selection=[dg.AssetKey("parsed_index")]
        )
        (settings.paths.papers / "a.txt").unlink()
        emptied = told(instance)
        settings.paths.papers.rmdir()
        unmounted = told(instance)

    assert "papers" in emptied
    assert "does not exist. Create it" in unmounted
    assert published_or_empty(settings.paths.parsed_index, PARSED_INDEX).table.num_rows == 1


def test_the_nightly_schedule_is_on_and_a_missed_night_is_seen_on_what_it_makes() -> None:
    """Users do not know of the schedule, so it must be on from the start; a laptop that was closed
    at night has no failed run to look at."""
    definitions = build_defs(overrides=NIGHTLY)
    schedule = definitions.resolve_schedule_def("nightly_schedule")
    specs = definitions.resolve_all_asset_specs()
    policies = {spec.key.to_user_string(): spec.freshness_policy for spec in specs}

    assert {name for name, policy in policies.items() if policy} == {"qa", "smoke_eval"}
    policy = policies["qa"]
    assert (policy.deadline_cron, policy.timezone) == ("30 3 * * *", "Europe/Berlin")
    assert schedule.job_name == "everything"
    assert schedule.execution_timezone == "Europe/Berlin"
    assert schedule.cron_schedule == "30 3 * * *"
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING


def test_the_data_folder_is_verified_once_a_week() -> None:
    """It reads every byte: each day, that would keep a large disk busy for hours."""
    schedule = build_defs().resolve_schedule_def("weekly_verification")

    ticks = dg.TimeWindowPartitionsDefinition(
        start=datetime(2026, 1, 1, tzinfo=UTC), fmt="%d", cron_schedule=str(schedule.cron_schedule)
    )

    assert ticks.get_partition_keys(current_time=datetime(2026, 1, 31, tzinfo=UTC)) == [
        "04",
        "11",
        "18",
    ]


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("RAG_ASSETS_CHUNKNG__MAX_TOKENS", "5", "which name no setting"),
        (
            "RAG_ASSETS_CHUNKING__MAX_TOKENS",
            "many",
            "chunking.max_tokens: Input should be a valid integer",
        ),
    ],
)
def test_a_wrong_variable_fails_the_ticks_and_not_the_definitions(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
) -> None:
    """Without definitions the UI shows an empty page, and the reason in a log nobody has open."""
    monkeypatch.setenv("RAG_ASSETS_DATA_DIR", str(settings.data_dir))
    monkeypatch.setenv(variable, value)
    definitions = build_defs()
    sensor = definitions.resolve_sensor_def("corpus_sensor")
    schedule = definitions.resolve_schedule_def("nightly_schedule")

    with dg.instance_for_test() as instance:
        result = definitions.resolve_job_def("everything").execute_in_process(
            instance=instance, raise_on_error=False
        )
        failed = [event for event in result.all_events if event.is_run_failure]
        with pytest.raises(InvalidSettings) as of_sensor:
            sensor.evaluate_tick(
                dg.build_sensor_context(instance=instance, definitions=definitions)
            )
        with (
            dg.build_schedule_context(instance=instance) as context,
            pytest.raises(dg.DagsterError) as of_schedule,
        ):
            schedule.evaluate_tick(context)

    assert schedule.cron_schedule == "0 2 * * *"
    assert said in str(of_sensor.value)
    assert said in str(of_schedule.value.__cause__)
    assert said in str(failed[0].job_failure_data.error)


def test_a_run_observes_the_papers_and_questions_it_reads(settings: Settings) -> None:
    """Without their versions the graph cannot say whether an asset is older than the papers."""
    definitions = build_defs(overrides={"data_dir": str(settings.data_dir)})

    with dg.DagsterInstance.ephemeral() as instance:
        result = definitions.resolve_job_def("everything").execute_in_process(
            instance=instance, asset_selection=[dg.AssetKey("parsed_index")]
        )
        observed = known_versions(instance, settings.data_dir)
        (event,) = result.get_asset_materialization_events()

    assert observed == observed_versions(settings)
    assert event.materialization.tags is not None
    assert (
        event.materialization.tags["dagster/input_data_version/paper_files"]
        == observed["paper_files"]
    )
