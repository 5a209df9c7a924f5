"""Write, audit, publish: the end of every asset. Promises become asset checks, results become the asset's page.

The UI shows the latest materialization, so an unchanged run draws everything again: all of it must be cheap.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import dagster as dg
import pyarrow as pa

from rag_assets.core.domain import Usage
from rag_assets.core.promises import CheckedPromise, Promise, nothing_withholds
from rag_assets.core.settings import StageSettings
from rag_assets.core.tables import description_of
from rag_assets.pipeline.assets.previews import MAX_MARKDOWN_CHARS, plain, sample_of

logger = logging.getLogger(__name__)
_SECONDS_BETWEEN_REPORTS = 5.0


def now() -> str:
    """The time in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def progress(what: str, unit: str) -> Callable[[int, int], None]:
    """A `report(done, total)` that logs how far a stage is, at most every few seconds and at its end."""
    started = last = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if done == total:
            logger.info("%s: %d of %d %s", what, done, total, unit)
        elif now - last >= _SECONDS_BETWEEN_REPORTS:
            last = now
            left_s = (now - started) * (total - done) / max(done, 1)
            logger.info("%s: %d of %d %s, about %.0f s to go", what, done, total, unit, left_s)

    return report


def usage_facts(spent: Usage) -> dict[str, Any]:
    """Requests, tokens and money that a step spent on models."""
    return {
        "n_model_requests": spent.n_requests,
        "n_tokens": spent.n_input_tokens + spent.n_output_tokens,
        "cost_usd": spent.cost_usd,
    }


NOTICE = "notice"
"""Metadata key of an observation that explains why nothing was made."""
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
    """The result of each check, filed under the newest materialization. labels: more metadata of each."""
    for one in checked:
        yield dg.AssetCheckResult(**_outcome(one), metadata=_metadata(one) | dict(labels or {}))


def withheld_results(
    checked: Iterable[CheckedPromise], labels: Mapping[str, str] | None = None
) -> Iterator[dg.AssetCheckEvaluation | dg.Output[None]]:
    """The results of something that is not published, filed under no materialization.

    An `AssetCheckResult` would be filed under the materialization of an earlier run, whose files are good. For an
    evaluation Dagster wants the output of the check, too.
    """
    asset = dg.AssetExecutionContext.get().asset_key
    note = {"withheld": "Nothing was published: the files, and the figures above, are those of an earlier run."}
    for one in checked:
        yield dg.Output(None, output_name=f"{asset.to_python_identifier()}_{one.promise.name}")
        yield dg.AssetCheckEvaluation(
            asset_key=asset,
            **_outcome(one),
            metadata=dict(labels or {}) | note | _metadata(one),
            blocking=one.promise.severity == "blocking",
        )


def skipped(promises: Iterable[Promise[Any]], notice: str) -> Iterator[dg.AssetCheckResult]:
    """End an asset that has nothing to do: an observation with the reason, which the command line prints.

    Without a materialization Dagster skips the assets that follow, but wants a result of every check: they pass.
    """
    context = dg.AssetExecutionContext.get()
    context.log_event(dg.AssetObservation(context.asset_key, metadata={NOTICE: notice}))
    yield from results([CheckedPromise(promise, []) for promise in promises], {"not_checked": notice})


def _outcome(checked: CheckedPromise) -> dict[str, Any]:
    promise = checked.promise
    return {"check_name": promise.name, "passed": checked.is_kept, "severity": _SEVERITIES[promise.severity]}


def _metadata(checked: CheckedPromise) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "promise": checked.promise.sentence,
        "n_offenders": len(checked.offenders) + checked.n_more,
        "run": dg.MetadataValue.dagster_run(dg.AssetExecutionContext.get().run.run_id),
    }
    if checked.finding:
        metadata["finding"] = checked.finding
    if checked.offenders:
        metadata["offenders"] = dg.MetadataValue.table(list(map(dg.TableRecord, sample_of(checked.offenders))))
    return metadata


Written = TypeVar("Written")
Outcome = Iterator[dg.AssetCheckResult | dg.AssetCheckEvaluation | dg.Output[None] | dg.MaterializeResult[Any]]
"""What the body of an asset yields."""


def write_audit_publish(
    checked: Sequence[CheckedPromise],
    publish: Callable[[], Written],
    report: Callable[[Written], dg.MaterializeResult[Any]],
    labels: Mapping[str, str] | None = None,
) -> Outcome:
    """Publish what was written beside the published files, unless it breaks a blocking promise; then yield the checks.

    checked: the promises, checked on what was written. labels: more metadata of each check. The materialization is
    yielded first, because Dagster files a check under the newest materialization.
    """
    if not nothing_withholds(checked):
        yield from withheld_results(checked, labels)
        return
    yield report(publish())
    yield from results(checked, labels)


def materialized(
    *,
    version: str,
    counts: Mapping[str, int],
    n_rows: int,
    counted: str = "papers",
    path: Path | None = None,
    settings: Mapping[str, StageSettings] | None = None,
    facts: Mapping[str, Any] | None = None,
    previews: Mapping[str, str] | None = None,
) -> dg.MaterializeResult[Any]:
    """The materialization of an asset.

    version: its data version. counts: n_added, n_changed, n_removed, n_unchanged. counted: what they count.
    settings: the groups that change the result, by name. facts: numbers (plotted over time), texts and paths.
    previews: markdown by title, shown first.
    """
    metadata: dict[str, Any] = {
        key: dg.MetadataValue.md(text[:MAX_MARKDOWN_CHARS]) for key, text in (previews or {}).items()
    }
    metadata |= {"dagster/row_count": n_rows, **counts, "counted": counted}
    if path:
        metadata["path"] = dg.MetadataValue.path(path.absolute())
    if settings:
        metadata["settings"] = dg.MetadataValue.json(
            {name: group.model_dump(mode="json") for name, group in settings.items()}
        )
    metadata |= {key: plain(value) for key, value in (facts or {}).items() if value is not None}
    return dg.MaterializeResult(data_version=dg.DataVersion(version), metadata=metadata)


def column_schema(schema: pa.Schema) -> dg.MetadataValue:
    """The columns of a table, as the asset's page shows them."""
    columns = [dg.TableColumn(field.name, _type_name(field.type), description_of(field)) for field in schema]
    return dg.MetadataValue.table_schema(dg.TableSchema(columns))


def _type_name(type_: pa.DataType) -> str:
    """The name of a type without the fields of structs, which would fill the page."""
    if pa.types.is_list(type_):
        return f"list<{_type_name(type_.value_type)}>"
    return "struct" if pa.types.is_struct(type_) else str(type_)
