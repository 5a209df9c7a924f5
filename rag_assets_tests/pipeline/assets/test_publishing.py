"""Promises as asset checks, run by Dagster."""

from contextlib import nullcontext
from pathlib import Path

import dagster as dg

from rag_assets.core.promises import Promise, check_all
from rag_assets.pipeline.assets.previews import N_SHOWN
from rag_assets.pipeline.assets.publishing import Made, Outcome, asset_step, specs

Promises = list[Promise[list[int]]]
NONE_NEGATIVE: Promises = [
    Promise(
        "none_negative",
        "No number is below zero.",
        lambda numbers: [{"n": n} for n in numbers if n < 0],
    )
]
ALL_EVEN: Promises = [
    Promise(
        "all_even",
        "Numbers are even.",
        lambda numbers: [{"n": n} for n in numbers if n % 2],
        "warning",
    )
]
CRASHING: Promises = [
    Promise("never_asked", "Nothing.", lambda numbers: [{"n": 1 / n} for n in numbers])
]


def run(
    promises: Promises, sums: list[int], instance: dg.DagsterInstance | None = None
) -> dg.ExecuteInProcessResult:
    """An asset `sums` that publishes if its promises hold, and an asset `below` that is made from
    it."""

    @dg.asset(name="sums", check_specs=specs("sums", promises), output_required=False)
    def publish() -> Outcome:
        yield from asset_step(
            Path("sums"), lambda: Made("1", len(sums), check_all(promises, sums), dict)
        )

    @dg.asset(deps=["sums"])
    def below() -> None:
        """Made from sums."""

    with nullcontext(instance) if instance else dg.DagsterInstance.ephemeral() as used:
        return dg.materialize([publish, below], instance=used, raise_on_error=False)


def materialized(result: dg.ExecuteInProcessResult) -> set[str]:
    return {
        str(event.asset_key and event.asset_key.to_user_string())
        for event in result.get_asset_materialization_events()
    }


def test_a_broken_guardrail_counts_all_shows_some_and_stops_what_is_made_from_the_asset() -> None:
    """The exact number says how bad it is, a sample where to look; ten thousand rows say
    nothing. The run must fail, too: a failed check in a green run is overlooked."""
    result = run([*NONE_NEGATIVE, *ALL_EVEN], [-2 * n for n in range(1, 501)])

    assert not result.success
    assert materialized(result) == set()
    checks = {check.check_name: check for check in result.get_asset_check_evaluations()}
    assert checks.keys() == {"none_negative", "all_even"}
    check = checks["none_negative"]
    shown = check.metadata["offenders"]
    assert not check.passed
    assert check.blocking
    assert check.metadata["n_offenders"].value == 500
    assert check.metadata["promise"].value == "No number is below zero."
    assert [record.data for record in shown.records] == [
        {"n": f"-{2 * n}"} for n in range(1, N_SHOWN + 1)
    ]


def test_a_broken_advisory_only_warns_and_a_kept_promise_counts_zero() -> None:
    """A scanned paper without pages must not stop the nightly run. The count is plotted: a gap in
    the curve looks like a check that did not run."""
    result = run([*NONE_NEGATIVE, *ALL_EVEN], [1, 2])

    (broken,) = [check for check in result.get_asset_check_evaluations() if not check.passed]
    (kept,) = [check for check in result.get_asset_check_evaluations() if check.passed]
    assert (broken.check_name, broken.severity) == ("all_even", dg.AssetCheckSeverity.WARN)
    assert kept.metadata["n_offenders"].value == 0
    assert "offenders" not in kept.metadata
    assert result.success
    assert materialized(result) == {"sums", "below"}


def test_a_crash_inside_an_audit_stays_a_crash() -> None:
    """Reported as bad data, a crash would make the reader look for a fault in the papers."""
    result = run(CRASHING, [0])

    assert not result.success
    assert list(result.get_asset_check_evaluations()) == []
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    assert "ZeroDivisionError" in str(failure.step_failure_data.error)


def target_of(instance: dg.DagsterInstance, check: str) -> str | None:
    """The run whose materialization the UI shows this check beside."""
    key = dg.AssetCheckKey(dg.AssetKey("sums"), check)
    record = instance.get_latest_asset_check_evaluation_record(key)
    evaluation = record.event.asset_check_evaluation if record and record.event else None  # type: ignore[union-attr]
    target = evaluation.target_materialization_data if evaluation else None
    return target.run_id if target else None


def test_a_withheld_check_accuses_no_earlier_materialization() -> None:
    """The published files are good; what broke the promise was never published."""
    with dg.DagsterInstance.ephemeral() as instance:
        run(NONE_NEGATIVE, [2], instance)
        withheld = run(NONE_NEGATIVE, [-2], instance)

        (check,) = withheld.get_asset_check_evaluations()
        assert not check.passed
        assert target_of(instance, "none_negative") is None
        assert "Nothing was published" in str(check.metadata["withheld"].value)


def counted(
    instance: dg.DagsterInstance, n: int, folder: str = "a", *, is_settled: bool = True
) -> tuple[bool, int]:
    """A run of an asset that follows from `n`: whether it was made, and how many its page says are
    unchanged. Its checks stand beside the figures of their own run: filed under the run before,
    one that warns of new chunks points at the old ones."""
    calls, promises = [], [*NONE_NEGATIVE, *ALL_EVEN]

    def make() -> Made:
        calls.append(n)
        checked = check_all(promises, [n])
        return Made(
            str(n),
            n,
            checked,
            lambda: COUNTS | {"n_added": n, "changes": "added"},
            is_settled=is_settled,
        )

    @dg.asset(check_specs=specs("sums", promises), output_required=False)
    def sums() -> Outcome:
        yield from asset_step(Path(folder), make, lambda: [n])

    result = dg.materialize([sums], instance=instance)
    (event,) = result.get_asset_materialization_events()
    told = {name: value.value for name, value in event.materialization.metadata.items()}
    assert (event.materialization.tags or {})["dagster/data_version"] == str(n)
    passed = {"none_negative": True, "all_even": n % 2 == 0}
    checks = result.get_asset_check_evaluations()
    assert {check.check_name: check.passed for check in checks} == passed
    assert {check.metadata["run"].value for check in checks} == {result.run_id}
    assert told.get("n_added", 0) == (n if calls else 0), "of this run"
    assert told["changes"] == ("added" if calls else "nothing")
    assert {target_of(instance, check) for check in passed} == {result.run_id}
    return bool(calls), int(str(told.get("n_unchanged", 0)))


COUNTS = {"n_added": 0, "n_changed": 0, "n_removed": 0, "n_unchanged": 0}


def test_an_asset_with_nothing_to_do_says_again_what_the_history_has() -> None:
    """Every night, each table would be read and counted; or its page and its warnings would be
    empty."""
    with dg.DagsterInstance.ephemeral() as instance:
        runs = [counted(instance, n) for n in (3, 3, 3, 4, 4)]

    assert runs == [(True, 0), (False, 3), (False, 3), (True, 0), (False, 4)]


def test_another_data_folder_does_not_take_the_page_of_the_first() -> None:
    """Two folders that share one history would each show the other's figures, and the second would
    never be made."""
    with dg.DagsterInstance.ephemeral() as instance:
        runs = [counted(instance, 3, folder) for folder in ("a", "b", "b", "a")]

    assert runs == [(True, 0), (True, 0), (False, 3), (True, 0)]


def test_an_asset_that_was_killed_before_its_checks_were_filed_is_made_again() -> None:
    """Its page would have no checks for good, and nobody would be warned of what they say."""
    made = []

    def make() -> Made:
        made.append(3)
        return Made("3", 3, check_all(NONE_NEGATIVE, [3]), dict)

    def n_checks(instance: dg.DagsterInstance, *, is_killed: bool = False) -> int:
        @dg.asset(check_specs=specs("sums", NONE_NEGATIVE), output_required=False)
        def sums() -> Outcome:
            for event in asset_step(Path("sums"), make, lambda: [3]):
                yield event
                if is_killed:
                    raise InterruptedError

        result = dg.materialize([sums], instance=instance, raise_on_error=False)
        assert materialized(result) == {"sums"}
        return len(result.get_asset_check_evaluations())

    with dg.DagsterInstance.ephemeral() as instance:
        assert (n_checks(instance, is_killed=True), len(made)) == (0, 1)
        assert (n_checks(instance), len(made)) == (1, 2)
        assert (n_checks(instance), len(made)) == (1, 2), "now there is nothing to do"


def test_what_is_not_settled_is_made_again_by_the_next_run() -> None:
    """A vector that was lost with its process would be missing until its paper changes."""
    with dg.DagsterInstance.ephemeral() as instance:
        runs = [counted(instance, 3, is_settled=is_settled) for is_settled in (False, True, True)]

    assert runs == [(True, 0), (True, 0), (False, 3)]
