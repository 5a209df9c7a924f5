"""Promises as asset checks: an audit names its promise, finds the rows that break it, and reports them.

The rows are found by pure functions of the domain packages. A guardrail withholds publication, an advisory only
warns. A crash inside an audit stays a crash: a bug is not bad data.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import dagster as dg
import pyarrow as pa

from rag_assets.assets.reporting import markdown_table

Subject = TypeVar("Subject")
Offenders = Sequence[Mapping[str, Any]]
NOTICE = "notice"
"""Metadata key of an observation that explains why nothing was made."""
N_SHOWN = 20
MAX_TEXT_CHARS = 500


@dataclass(frozen=True)
class Audit(Generic[Subject]):
    """One promise about a draft of type `Subject`."""

    name: str
    promise: str
    """What holds, and what to do when it does not."""
    offenders: Callable[[Subject], Offenders]
    severity: dg.AssetCheckSeverity
    finding: Callable[[Subject, Offenders], str] | None = None
    """Words the offenders as one sentence, where "does not hold for n rows" says too little."""

    def spec(self, asset: str) -> dg.AssetCheckSpec:
        return dg.AssetCheckSpec(
            self.name, asset=asset, description=self.promise, blocking=self.severity is dg.AssetCheckSeverity.ERROR
        )

    def result(self, subject: Subject, labels: Mapping[str, str] | None = None) -> dg.AssetCheckResult:
        """Hold the promise against a draft; `labels` say what the result is about (a run, a file)."""
        offenders = self.offenders(subject)
        metadata: dict[str, dg.MetadataValue] = {
            **{name: dg.MetadataValue.text(text) for name, text in (labels or {}).items()},
            "promise": dg.MetadataValue.text(self.promise),
            "n_offenders": dg.MetadataValue.int(len(offenders)),
        }
        if offenders and self.finding:
            metadata["finding"] = dg.MetadataValue.text(self.finding(subject, offenders))
        if offenders:
            metadata["first_offender"] = dg.MetadataValue.text(
                "; ".join(f"{k}: {v}" for k, v in offenders[0].items())[:MAX_TEXT_CHARS]
            )
            metadata["offenders"] = dg.MetadataValue.md(markdown_table(offenders, n_shown=N_SHOWN))
        return dg.AssetCheckResult(
            check_name=self.name, passed=not offenders, severity=self.severity, metadata=metadata
        )

    def nothing_to_check(self, reason: str) -> dg.AssetCheckResult:
        """The result where there is no draft: Dagster wants one of every check of an asset that ran."""
        return dg.AssetCheckResult(
            check_name=self.name,
            passed=True,
            severity=self.severity,
            metadata={"promise": self.promise, "n_offenders": 0, "not_checked": reason},
        )


def guardrail(
    name: str,
    promise: str,
    offenders: Callable[[Subject], Offenders],
    finding: Callable[[Subject, Offenders], str] | None = None,
) -> Audit[Subject]:
    """An audit that withholds publication: `offenders` returns the rows that break `promise`."""
    return Audit(name, promise, offenders, dg.AssetCheckSeverity.ERROR, finding)


def advisory(
    name: str,
    promise: str,
    offenders: Callable[[Subject], Offenders],
    finding: Callable[[Subject, Offenders], str] | None = None,
) -> Audit[Subject]:
    """An audit that warns and lets the draft pass."""
    return Audit(name, promise, offenders, dg.AssetCheckSeverity.WARN, finding)


def specs(asset: str, audits: Iterable[Audit[Any]]) -> list[dg.AssetCheckSpec]:
    return [audit.spec(asset) for audit in audits]


def skipped(
    context: dg.AssetExecutionContext, audits: Iterable[Audit[Any]], notice: str
) -> Iterator[dg.AssetCheckResult]:
    """End an asset that has nothing to do: an observation that says why, and no check that fails.

    Without a materialization, Dagster skips what follows. The command line prints the notice.
    """
    context.log_event(dg.AssetObservation(context.asset_key, metadata={NOTICE: notice}))
    for audit in audits:
        yield audit.nothing_to_check(notice)


def shown(table: pa.Table, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Offending rows of a table, with the columns that help to find them."""
    rows: list[dict[str, Any]] = table.select(list(columns)).to_pylist()
    return rows


def guardrails_hold(results: Iterable[dg.AssetCheckResult]) -> bool:
    """Whether nothing that must hold was broken. Dagster itself runs on after a failed blocking result."""
    return all(result.passed or result.severity is not dg.AssetCheckSeverity.ERROR for result in results)
