"""The one step of every asset: make, check, publish. Promises become asset checks, results become
the asset's page.

The UI shows the latest materialization. So an asset that has nothing to do yields again what
Dagster's own history has of it; where there is none, it is made or counted again, which takes a
moment. Tables with rows of papers take this step in `paper_tables`.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dagster as dg

from rag_assets.core.audit_log import AuditLog, cell
from rag_assets.core.domain import Usage
from rag_assets.core.incremental import (
    UpdatePlan,
    fingerprint,
    read_sealed,
    sealed_json,
    write_atomically,
)
from rag_assets.core.promises import NONE_QUARANTINED, CheckedPromise, Promise, nothing_withholds
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.hosted.connections import Connections
from rag_assets.pipeline.assets.previews import (
    MAX_MARKDOWN_CHARS,
    plain,
    sample_of,
)
from rag_assets.pipeline.runs.locks import checks_of

logger = logging.getLogger(__name__)
_SECONDS_BETWEEN_REPORTS = 5.0


def now() -> str:
    """The time in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def progress(what: str, unit: str) -> Callable[[int, int], None]:
    """A `report(done, total)` that logs how far a stage is, at most every few seconds and at its
    end."""
    started = last = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal last
        at = time.monotonic()
        if done == total:
            logger.info("%s: %d of %d %s", what, done, total, unit)
        elif at - last >= _SECONDS_BETWEEN_REPORTS:
            last = at
            left_s = (at - started) * (total - done) / max(done, 1)
            logger.info("%s: %d of %d %s, about %.0f s to go", what, done, total, unit, left_s)

    return report


def megabytes(place: Path) -> float:
    """Size of a file, or of all files of a folder."""
    files = place.rglob("*") if place.is_dir() else [place]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def _cost(spent: Usage) -> dict[str, Any]:
    """Money, requests and tokens that a step spent on models."""
    return {
        "cost_usd": spent.cost_usd,
        "n_model_requests": spent.n_requests,
        "n_input_tokens": spent.n_input_tokens,
        "n_output_tokens": spent.n_output_tokens,
    }


NOTICE = "notice"
"""Metadata key of an observation that explains why nothing was made."""
_SEVERITIES = {"blocking": dg.AssetCheckSeverity.ERROR, "warning": dg.AssetCheckSeverity.WARN}


def checked_asset(
    group: str,
    promises: Sequence[Promise[Any]] = (),
    *,
    deps: Sequence[Any],
    kinds: set[str],
    version: object = None,
) -> Callable[[Callable[..., "Outcome"]], dg.AssetsDefinition]:
    """`dg.asset` for a body that ends with `asset_step`: its checks are `promises`, and it yields
    no materialization while one that blocks is broken. version: of its code."""

    def defined(body: Callable[..., "Outcome"]) -> dg.AssetsDefinition:
        return dg.asset(
            group_name=group,
            deps=deps,
            check_specs=specs(body.__name__, promises),
            output_required=False,
            code_version=None if version is None else str(version),
            kinds=kinds,
        )(body)

    return defined


def specs(asset: str, promises: Iterable[Promise[Any]]) -> list[dg.AssetCheckSpec]:
    return [
        dg.AssetCheckSpec(
            promise.name,
            asset=asset,
            description=promise.sentence,
            blocking=promise.severity == "blocking",
        )
        for promise in promises
    ]


def results(checked: Iterable[CheckedPromise], **note: str) -> Iterator[dg.AssetCheckResult]:
    """The result of each check, filed under the newest materialization. note: more metadata of
    each."""
    for each in checked:
        yield dg.AssetCheckResult(**_outcome(each), metadata=_metadata(each) | note)


def withheld_results(
    checked: Iterable[CheckedPromise],
) -> Iterator[dg.AssetCheckEvaluation | dg.Output[None]]:
    """The results of something that is not published, filed under no materialization.

    An `AssetCheckResult` would be filed under the materialization of an earlier run, whose files
    are good. For an evaluation Dagster wants the output of the check, too.
    """
    asset = dg.AssetExecutionContext.get().asset_key
    note = {
        "withheld": "Nothing was published: the files, and the figures above, are those of an earlier run."
    }
    for each in checked:
        yield dg.Output(None, output_name=f"{asset.to_python_identifier()}_{each.promise.name}")
        yield dg.AssetCheckEvaluation(
            asset_key=asset,
            **_outcome(each),
            metadata=note | _metadata(each),
            blocking=each.promise.severity == "blocking",
        )


def skipped(promises: Iterable[Promise[Any]], notice: str) -> Iterator[dg.AssetCheckResult]:
    """End an asset that has nothing to do: an observation with the reason, which the command line
    prints.

    Without a materialization Dagster skips the assets that follow, but wants a result of every
    check: they pass.
    """
    context = dg.AssetExecutionContext.get()
    context.log_event(dg.AssetObservation(context.asset_key, metadata={NOTICE: notice}))
    passed = [CheckedPromise(promise, []) for promise in promises]
    yield from results(passed, not_checked=notice)


def _outcome(checked: CheckedPromise) -> dict[str, Any]:
    promise = checked.promise
    return {
        "check_name": promise.name,
        "passed": checked.is_kept,
        "severity": _SEVERITIES[promise.severity],
    }


def _this_run() -> dg.MetadataValue[Any]:
    return dg.MetadataValue.dagster_run(dg.AssetExecutionContext.get().run.run_id)


def _metadata(checked: CheckedPromise) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "promise": checked.promise.sentence,
        "n_offenders": len(checked.offenders),
        "run": _this_run(),
    }
    if checked.finding:
        metadata["finding"] = checked.finding
    if checked.offenders:
        metadata["offenders"] = dg.MetadataValue.table(
            list(map(dg.TableRecord, sample_of(checked.offenders)))
        )
    return metadata


Outcome = Iterator[
    dg.AssetCheckResult | dg.AssetCheckEvaluation | dg.Output[None] | dg.MaterializeResult[Any]
]
"""What the body of an asset yields."""
_LastRun = tuple[dg.AssetMaterialization, list[dg.AssetCheckEvaluation]]


@dataclass(frozen=True)
class Made:
    """What an asset made, before it is published."""

    version: str
    """Its data version."""
    n_rows: int
    checked: Sequence[CheckedPromise]
    publish: Callable[[], Mapping[str, Any] | None]
    """Publishes it. May return n_added, n_changed, n_removed, n_unchanged, and what else is known
    only then."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Numbers (plotted over time), texts and paths."""
    previews: Mapping[str, Any] = field(default_factory=dict)
    """What stands above the facts, by title: Markdown, pictures, tables and numbers."""
    is_settled: bool = True
    """False: the next run makes it again, although it follows from the same."""


def asset_step(
    path: Path,
    make: Callable[[], Made],
    follows_from: Callable[[], Sequence[Any] | None] = lambda: None,
    *,
    settings: Sequence[str] = (),
    models: Connections | None = None,
    counted: str = "papers",
) -> Outcome:
    """The body of every asset: make, check, publish; or yield again what Dagster's history has, if
    nothing changed.

    path: where it is published. settings: names of the groups that change the result. follows_from:
    JSON values of everything else that the result follows from, and of what is published; asked
    again after publishing. None: that is not known, so it is made by every run. models: those that
    it asks, to tell what they cost. counted: what the counts count.

    What breaks a blocking promise is not published. The materialization is yielded before the
    checks, because Dagster files a check under the newest one.
    """
    context = dg.AssetExecutionContext.get()
    spec = context.assets_def.specs_by_key[context.asset_key]
    used = {
        name: getattr(context.resources.settings, name).model_dump(mode="json") for name in settings
    }

    def key() -> str | None:
        if (values := follows_from()) is None:
            return None
        place = str(path.absolute())
        return fingerprint(
            version("rag_assets"), _PAGE_VERSION, spec.code_version, place, used, list(values)
        )

    if (unchanged := key()) and (last := _last(context, unchanged)):
        yield from _again(last, _cost(Usage()) if models else {})
        return
    before = models.budget.spent if models else Usage()
    made = make()
    if not nothing_withholds(made.checked):
        yield from withheld_results(made.checked)
        return
    published = made.publish() or {}
    _audit_quarantine(context, made.checked)
    cost = _cost(models.budget.since(before)) if models else {}
    last_rows = {
        "path": dg.MetadataValue.path(path.absolute()),
        "settings": dg.MetadataValue.json(used) if used else None,
        "counted": counted,
        KEY: key() if made.is_settled else None,
    }
    yield materialized(made, {**cost, **published}, last_rows)
    yield from results(made.checked)


def sealed_file(path: Path, content: Mapping[str, Any]) -> Callable[[], dict[str, int]]:
    """What publishes a JSON file and counts whether it changed, see `Made.publish`."""

    def publish() -> dict[str, int]:
        is_same = read_sealed(path) == content
        write_atomically(path, sealed_json(content))
        return {"n_changed": int(not is_same), "n_unchanged": int(is_same)}

    return publish


QUARANTINE_AUDIT = AuditLog(
    ("timestamp", "file", "reason", "remedy", "step", "run_id"),
    subject=("step", "file"),
    statement=("reason", "remedy"),
)
"""data/logs/quarantine.csv."""


def _audit_quarantine(context: dg.AssetExecutionContext, checked: Sequence[CheckedPromise]) -> None:
    """Append the files that this step cannot use, and those that it no longer holds back."""
    for broken in (one for one in checked if one.promise.name == NONE_QUARANTINED):
        log = context.resources.settings.paths.quarantine_audit
        step = context.asset_key.to_user_string()
        reasons = {
            row["file"]: ("", "") for row in QUARANTINE_AUDIT.last_rows(log) if row["step"] == step
        }
        for row in broken.offenders:
            *reason, remedy = [row["error"][slice(*span)] for span in sentence_spans(row["error"])]
            reasons[cell(row["file_path"] or row["paper_id"])] = (
                (" ".join(reason), remedy) if reason else (remedy, "")
            )
        rows = [
            {
                "timestamp": now(),
                "file": file,
                "reason": reason,
                "remedy": remedy,
                "step": step,
                "run_id": context.run.run_id,
            }
            for file, (reason, remedy) in reasons.items()
        ]
        QUARANTINE_AUDIT.append(log, rows)


CHANGES = "changes"
"""Metadata: which papers or questions changed in this run."""
_PAGE_VERSION = 4
"""Raise it when pages of assets say something else of the same result."""
KEY = "follows_from"
"""Metadata of a materialization: changes with everything that it follows from."""


def last_fact(name: str) -> Any:
    """What the newest materialization of the asset tells under this name, whatever it follows from;
    None if nothing."""
    entry = _newest()
    fact = entry and entry.asset_materialization and entry.asset_materialization.metadata.get(name)
    return fact and fact.value


def _newest() -> dg.EventLogEntry | None:
    """The newest materialization in Dagster's history, which several data folders may share."""
    context = dg.AssetExecutionContext.get()
    entry: dg.EventLogEntry | None = context.instance.get_latest_materialization_event(
        context.asset_key
    )
    return entry


def _last(context: dg.AssetExecutionContext, key: str) -> _LastRun | None:
    """The newest materialization and the checks of its run; None if it has another key, or checks
    are missing."""
    entry = _newest()
    made = entry and entry.asset_materialization
    if not entry or not made or made.metadata.get(KEY) != dg.MetadataValue.text(key):
        return None
    checks = checks_of(context.instance, entry.run_id)
    own = {check.asset_check_key: check for check in checks if check.asset_key == context.asset_key}
    return (made, list(own.values())) if own.keys() == set(context.assets_def.check_keys) else None


def _again(last: _LastRun, cost: Mapping[str, Any]) -> Outcome:
    """The outcome of a run that has nothing to do."""
    made, checks = last
    counts = UpdatePlan().counts()
    facts: dict[str, Any] = {name: value.value for name, value in made.metadata.items()}
    n_items = sum(facts.get(name, 0) for name in ("n_added", "n_changed", "n_unchanged"))
    metadata: dict[str, Any] = {**made.metadata, **cost}
    if CHANGES in metadata:
        metadata |= changes(UpdatePlan())
    metadata = {name: value for name, value in metadata.items() if name not in counts}
    yield dg.MaterializeResult[Any](
        data_version=dg.DataVersion((made.tags or {})["dagster/data_version"]),
        metadata=metadata | ({"n_unchanged": n_items} if n_items else {}),
    )
    for check in checks:
        yield dg.AssetCheckResult(
            check_name=check.check_name,
            passed=check.passed,
            severity=check.severity,
            metadata={**check.metadata, "run": _this_run()},
        )


_OPENING = ("cost_usd", CHANGES, "megabytes", "megabytes_written")
"""What pages begin with, as far as it is known."""


def materialized(
    made: Made, known_now: Mapping[str, Any], last_rows: Mapping[str, Any]
) -> dg.MaterializeResult[Any]:
    """The page of what was made: what it opens with, previews, facts, the last rows, and the rest
    of what is known only after publishing, without counts of zero."""
    counts = UpdatePlan().counts()
    rest = {name: plain(value) for name, value in known_now.items() if value or name not in counts}
    metadata: dict[str, Any] = {
        **{name: rest.pop(name) for name in _OPENING if name in rest},
        **{name: _shown(value) for name, value in made.previews.items()},
        **{name: plain(value) for name, value in made.facts.items()},
        "dagster/row_count": made.n_rows,
        **last_rows,
        **rest,
    }
    return dg.MaterializeResult(
        data_version=dg.DataVersion(made.version),
        metadata={name: value for name, value in metadata.items() if value is not None},
    )


def _shown(value: Any) -> Any:
    """A preview as metadata: a text is Markdown."""
    return (
        dg.MetadataValue.md(value[:MAX_MARKDOWN_CHARS]) if isinstance(value, str) else plain(value)
    )


_MOST_NAMED = 8


def changes(plan: UpdatePlan) -> dict[str, str]:
    """What changed, by name."""
    named = (("added", plan.added), ("changed", plan.changed), ("removed", plan.removed))
    parts = [
        f"{how} {', '.join(names[:_MOST_NAMED])}"
        + (f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else "")
        for how, names in named
        if names
    ]
    return {CHANGES: "; ".join(parts) or "nothing"}
