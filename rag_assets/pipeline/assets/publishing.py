"""Write, audit, publish: the end of every asset, and what its page in the UI shows of the result."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import dagster as dg
import pyarrow as pa

from rag_assets.core.incremental import UpdatePlan, data_version, staging
from rag_assets.core.promises import CheckedPromise, nothing_withholds
from rag_assets.core.settings import StageSettings
from rag_assets.core.table_files import Published, write_table
from rag_assets.core.tables import description_of, fingerprints_by
from rag_assets.pipeline.assets.checks import results, withheld_results
from rag_assets.pipeline.assets.reporting import MAX_MARKDOWN_CHARS, plain

Written = TypeVar("Written")
Outcome = Iterator[dg.AssetCheckResult | dg.AssetCheckEvaluation | dg.Output[None] | dg.MaterializeResult[Any]]
"""What the body of an asset yields."""


def write_audit_publish(
    checked: Sequence[CheckedPromise],
    publish: Callable[[], Written],
    report: Callable[[Written], dg.MaterializeResult[Any]],
    labels: Mapping[str, str] | None = None,
) -> Outcome:
    """Publish what was written beside the published files, unless it breaks a blocking promise; then show the checks.

    The promises are checked before, on what was written. The materialization comes first, because Dagster files a check
    under the newest materialization there is: so the checks of a run stand beside its own figures. Those of something
    that was withheld are filed under none. labels: more that each check should say.
    """
    if not nothing_withholds(checked):
        yield from withheld_results(checked, labels)
        return
    yield report(publish())
    yield from results(checked, labels)


@dataclass(frozen=True)
class TableUpdate:
    """A table as it should be published, and how it differs from the published one."""

    path: Path
    table: pa.Table
    plan: UpdatePlan
    published: Published
    provenance: Mapping[str, Any]
    """What the table was made with."""

    def audited(
        self,
        checked: Sequence[CheckedPromise],
        settings: Mapping[str, StageSettings],
        *,
        facts: Mapping[str, Any] | None = None,
        previews: Mapping[str, str] | None = None,
        beside: Mapping[Path, bytes] | None = None,
    ) -> Outcome:
        """`write_audit_publish` of the table, which is not written where the published one is the same.

        settings, facts, previews: as of `materialized`. beside: content of small files that are published with it.
        """
        with staging() as staged:
            if not self.plan.is_noop or self.published.provenance != self.provenance:
                write_table(self.table, staged.path(self.path), self.provenance)
            for path, content in (beside or {}).items():
                staged.put(path, content)
            yield from write_audit_publish(
                checked,
                publish=staged.publish,
                report=lambda _: materialized(
                    version=data_version(fingerprints_by(self.table, "paper_id")),
                    counts=self.plan.counts(),
                    n_rows=len(self.table),
                    path=self.path,
                    settings=settings,
                    facts={"dagster/column_schema": _column_schema(self.table.schema), **(facts or {})},
                    previews=previews,
                ),
            )


def materialized(
    *,
    version: str,
    counts: Mapping[str, int],
    n_rows: int,
    path: Path | None = None,
    settings: Mapping[str, StageSettings] | None = None,
    facts: Mapping[str, Any] | None = None,
    previews: Mapping[str, str] | None = None,
) -> dg.MaterializeResult[Any]:
    """The materialization of an asset: its data version, what changed, how much there is, where, and made with what.

    counts: n_added, n_changed, n_removed, n_unchanged. settings: the groups that change the result, by name. facts:
    numbers (plotted over time), texts and paths. previews: markdown by title; they come first on the page. Key names
    are fixed, so that the Plots tab draws them over time.
    """
    metadata: dict[str, Any] = {
        key: dg.MetadataValue.md(text[:MAX_MARKDOWN_CHARS]) for key, text in (previews or {}).items()
    }
    metadata |= {"dagster/row_count": n_rows, **counts}
    if path:
        metadata["path"] = dg.MetadataValue.path(path.absolute())
    if settings:
        metadata["settings"] = dg.MetadataValue.json(
            {name: group.model_dump(mode="json") for name, group in settings.items()}
        )
    metadata |= {key: plain(value) for key, value in (facts or {}).items() if value is not None}
    return dg.MaterializeResult(data_version=dg.DataVersion(version), metadata=metadata)


def _column_schema(schema: pa.Schema) -> dg.MetadataValue:
    columns = [dg.TableColumn(field.name, _type_name(field.type), description_of(field)) for field in schema]
    return dg.MetadataValue.table_schema(dg.TableSchema(columns))


def _type_name(type_: pa.DataType) -> str:
    """A short name: the fields of a struct would fill the page."""
    if pa.types.is_list(type_):
        return f"list<{_type_name(type_.value_type)}>"
    return "struct" if pa.types.is_struct(type_) else str(type_)
