"""Promises as asset checks, run by Dagster."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from rag_assets.assets.checks import N_SHOWN, results, specs
from rag_assets.promises import Promise, check_all, nothing_withholds

Promises = list[Promise[list[int]]]
NONE_NEGATIVE: Promises = [
    Promise("none_negative", "No number is below zero.", lambda numbers: [{"n": n} for n in numbers if n < 0])
]
ALL_EVEN: Promises = [
    Promise("all_even", "Numbers are even.", lambda numbers: [{"n": n} for n in numbers if n % 2], "warning")
]
CRASHING: Promises = [Promise("never_asked", "Nothing.", lambda numbers: [{"n": 1 / n} for n in numbers])]


def run(promises: Promises, sums: list[int]) -> dg.ExecuteInProcessResult:
    """An asset `sums` that publishes if its promises hold, and an asset `below` that is made from it."""

    @dg.asset(name="sums", check_specs=specs("sums", promises), output_required=False)
    def publish() -> Iterator[dg.AssetCheckResult | dg.MaterializeResult[Any]]:
        checked = check_all(promises, sums)
        yield from results(checked)
        if nothing_withholds(checked):
            yield dg.MaterializeResult()

    @dg.asset(deps=["sums"])
    def below() -> None:
        """Made from sums."""

    with dg.DagsterInstance.ephemeral() as instance:
        return dg.materialize([publish, below], instance=instance, raise_on_error=False)


def materialized(result: dg.ExecuteInProcessResult) -> set[str]:
    return {
        str(event.asset_key and event.asset_key.to_user_string()) for event in result.get_asset_materialization_events()
    }


def test_a_promise_that_holds_passes_with_a_count_of_zero() -> None:
    """The count is plotted: a gap in the curve looks like a check that did not run."""
    result = run(NONE_NEGATIVE, [1, 2])

    (check,) = result.get_asset_check_evaluations()
    assert check.passed
    assert check.metadata["n_offenders"].value == 0
    assert "offenders" not in check.metadata
    assert materialized(result) == {"sums", "below"}


def test_a_broken_guardrail_counts_all_and_shows_some() -> None:
    """The exact number says how bad it is, a sample where to look; ten thousand rows say nothing."""
    result = run(NONE_NEGATIVE, [-n for n in range(1, 501)])

    (check,) = result.get_asset_check_evaluations()
    shown = str(check.metadata["offenders"].value)
    assert not check.passed
    assert check.blocking
    assert check.metadata["n_offenders"].value == 500
    assert check.metadata["promise"].value == "No number is below zero."
    assert sum(line.startswith("| -") and line[3].isdigit() for line in shown.splitlines()) == N_SHOWN
    assert f"and {500 - N_SHOWN} more" in shown


def test_a_broken_guardrail_stops_what_is_made_from_the_asset() -> None:
    """And the run is red: nobody looks for a failed check in a green run."""
    result = run([*NONE_NEGATIVE, *ALL_EVEN], [-1])

    assert not result.success
    assert materialized(result) == set()
    assert {check.check_name for check in result.get_asset_check_evaluations()} == {"none_negative", "all_even"}


def test_a_broken_advisory_only_warns() -> None:
    """A scanned paper without pages must not stop the night."""
    result = run([*NONE_NEGATIVE, *ALL_EVEN], [1, 2])

    broken = [check for check in result.get_asset_check_evaluations() if not check.passed]
    assert [(check.check_name, check.severity) for check in broken] == [("all_even", dg.AssetCheckSeverity.WARN)]
    assert result.success
    assert materialized(result) == {"sums", "below"}


def test_a_crash_inside_an_audit_stays_a_crash() -> None:
    """Reported as bad data, it would send the reader to the papers instead of the bug."""
    result = run(CRASHING, [0])

    assert not result.success
    assert list(result.get_asset_check_evaluations()) == []
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    assert "ZeroDivisionError" in str(failure.step_failure_data.error)
