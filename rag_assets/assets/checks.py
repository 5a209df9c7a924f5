"""Promises of the domain rooms as asset checks: their specs, and the result of each for the UI."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import dagster as dg

from rag_assets.assets.reporting import markdown_table
from rag_assets.promises import CheckedPromise, Promise

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
    """What became of the promises; `labels` say what the results are about (a run, a file)."""
    for one in checked:
        yield _result(one.promise, one.is_kept, {**(labels or {}), **_metadata(one)})


def skipped(
    context: dg.AssetExecutionContext, promises: Iterable[Promise[Any]], notice: str
) -> Iterator[dg.AssetCheckResult]:
    """End an asset that has nothing to do: an observation that says why, and no check that fails.

    Without a materialization, Dagster skips what follows; it wants a result of every check all the same. The command
    line prints the notice.
    """
    context.log_event(dg.AssetObservation(context.asset_key, metadata={NOTICE: notice}))
    for promise in promises:
        yield _result(promise, True, {"promise": promise.sentence, "n_offenders": 0, "not_checked": notice})


def _result(promise: Promise[Any], is_kept: bool, metadata: Mapping[str, Any]) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        check_name=promise.name, passed=is_kept, severity=_SEVERITIES[promise.severity], metadata=metadata
    )


def _metadata(checked: CheckedPromise) -> dict[str, Any]:
    metadata: dict[str, Any] = {"promise": checked.promise.sentence, "n_offenders": len(checked.offenders)}
    if checked.finding:
        metadata["finding"] = checked.finding
    if checked.offenders:
        first = "; ".join(f"{name}: {value}" for name, value in checked.offenders[0].items())
        metadata["first_offender"] = first[:MAX_TEXT_CHARS]
        metadata["offenders"] = dg.MetadataValue.md(markdown_table(checked.offenders, n_shown=N_SHOWN))
    return metadata
