"""Promises as asset checks: an audit names its promise, finds the rows that break it, and reports them.

The rows are found by pure functions of the domain packages. A guardrail withholds publication, an advisory only
warns. A crash inside an audit stays a crash: a bug is not bad data.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import dagster as dg
import pyarrow as pa

from rag_assets.assets.reporting import markdown_table

Subject = TypeVar("Subject")
Offenders = Sequence[Mapping[str, Any]]
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

    def spec(self, asset: str) -> dg.AssetCheckSpec:
        return dg.AssetCheckSpec(
            self.name, asset=asset, description=self.promise, blocking=self.severity is dg.AssetCheckSeverity.ERROR
        )

    def result(self, subject: Subject) -> dg.AssetCheckResult:
        offenders = self.offenders(subject)
        metadata: dict[str, dg.MetadataValue] = {
            "promise": dg.MetadataValue.text(self.promise),
            "n_offenders": dg.MetadataValue.int(len(offenders)),
        }
        if offenders:
            metadata["first_offender"] = dg.MetadataValue.text(
                "; ".join(f"{k}: {v}" for k, v in offenders[0].items())[:MAX_TEXT_CHARS]
            )
            metadata["offenders"] = dg.MetadataValue.md(markdown_table(offenders, n_shown=N_SHOWN))
        return dg.AssetCheckResult(
            check_name=self.name, passed=not offenders, severity=self.severity, metadata=metadata
        )


def guardrail(name: str, promise: str, offenders: Callable[[Subject], Offenders]) -> Audit[Subject]:
    """An audit that withholds publication: `offenders` returns the rows that break `promise`."""
    return Audit(name, promise, offenders, dg.AssetCheckSeverity.ERROR)


def advisory(name: str, promise: str, offenders: Callable[[Subject], Offenders]) -> Audit[Subject]:
    """An audit that warns and lets the draft pass."""
    return Audit(name, promise, offenders, dg.AssetCheckSeverity.WARN)


def specs(asset: str, audits: Iterable[Audit[Any]]) -> list[dg.AssetCheckSpec]:
    return [audit.spec(asset) for audit in audits]


def shown(table: pa.Table, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Offending rows of a table, with the columns that help to find them."""
    rows: list[dict[str, Any]] = table.select(list(columns)).to_pylist()
    return rows


def guardrails_hold(results: Iterable[dg.AssetCheckResult]) -> bool:
    """Whether nothing that must hold was broken. Dagster itself runs on after a failed blocking result."""
    return all(result.passed or result.severity is not dg.AssetCheckSeverity.ERROR for result in results)
