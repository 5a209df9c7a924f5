"""Promises of the domain rooms as asset checks: their specs, and the result of each for the UI."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import dagster as dg

from rag_assets.core.promises import CheckedPromise, Promise
from rag_assets.pipeline.assets.reporting import markdown_table

NOTICE = "notice"
"""Metadata key of an observation that explains why nothing was made."""
N_SHOWN = 20
MAX_TEXT_CHARS = 500
_SEVERITIES = {"blocking": dg.AssetCheckSeverity.ERROR, "warning": dg.AssetCheckSeverity.WARN}


def specs(asset: str, promises: Iterable[Promise[Any]]) -> list[dg.AssetCheckSpec]:
    """The checks of an asset."""
    return [
        dg.AssetCheckSpec(
            promise.name, asset=asset, description=promise.sentence, blocking=promise.severity == "blocking"
        )
        for promise in promises
    ]


def results(
    checked: Iterable[CheckedPromise], labels: Mapping[str, str] | None = None
) -> Iterator[dg.AssetCheckResult]:
    """What became of the promises, for the newest materialization; `labels` say more of what they are about."""
    for one in checked:
        yield dg.AssetCheckResult(
            check_name=one.promise.name,
            passed=one.is_kept,
            severity=_SEVERITIES[one.promise.severity],
            metadata=_metadata(one) | dict(labels or {}),
        )


def withheld_results(
    checked: Iterable[CheckedPromise], labels: Mapping[str, str] | None = None
) -> Iterator[dg.AssetCheckEvaluation | dg.Output[None]]:
    """The same for something that is not published.

    A result (`AssetCheckResult`) would be filed under the materialization of an earlier run, whose files are good. An
    evaluation names none; Dagster then wants the output of the check from the asset.
    """
    asset = dg.AssetExecutionContext.get().asset_key
    told = {"withheld": "Nothing was published: the files, and the figures above, are those of an earlier run."}
    for one in checked:
        yield dg.Output(None, output_name=f"{asset.to_python_identifier()}_{one.promise.name}")
        yield dg.AssetCheckEvaluation(
            asset_key=asset,
            check_name=one.promise.name,
            passed=one.is_kept,
            severity=_SEVERITIES[one.promise.severity],
            metadata=dict(labels or {}) | told | _metadata(one),
            blocking=one.promise.severity == "blocking",
        )


def skipped(promises: Iterable[Promise[Any]], notice: str) -> Iterator[dg.AssetCheckResult]:
    """End an asset that has nothing to do: an observation that says why, and no check that fails.

    Without a materialization, Dagster skips what follows; it wants a result of every check all the same. The command
    line prints the notice.
    """
    context = dg.AssetExecutionContext.get()
    context.log_event(dg.AssetObservation(context.asset_key, metadata={NOTICE: notice}))
    yield from results([CheckedPromise(promise, []) for promise in promises], {"not_checked": notice})


def _metadata(checked: CheckedPromise) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "promise": checked.promise.sentence,
        "n_offenders": len(checked.offenders),
        "run": dg.MetadataValue.dagster_run(dg.AssetExecutionContext.get().run.run_id),
    }
    if checked.finding:
        metadata["finding"] = checked.finding
    if checked.offenders:
        first = "; ".join(f"{name}: {value}" for name, value in checked.offenders[0].items())
        metadata["first_offender"] = first[:MAX_TEXT_CHARS]
        metadata["offenders"] = dg.MetadataValue.md(markdown_table(checked.offenders, n_shown=N_SHOWN))
    return metadata
