"""Tables with rows of papers as assets: how one is brought up to date, checked and published, and
what the pages of all of them show."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa

from rag_assets.core.incremental import staging
from rag_assets.core.paper_tables import PapersUpdate, PaperTable, drafted, manifest_file
from rag_assets.core.promises import CheckedPromise
from rag_assets.core.tables import description_of
from rag_assets.hosted.connections import Connections
from rag_assets.pipeline.assets.previews import N_SHOWN, markdown_table
from rag_assets.pipeline.assets.publishing import Made, Outcome, asset_step, changes

LINEAGE = "dagster/column_lineage"


def lineage(columns: Mapping[str, Sequence[tuple[str, str]]]) -> dict[str, Any]:
    """Metadata that says which columns of which assets a column is made of."""
    made_of = {
        name: [dg.TableColumnDep(dg.AssetKey(asset), column) for asset, column in sources]
        for name, sources in columns.items()
    }
    return {LINEAGE: dg.TableColumnLineage(made_of)}


def column_schema(schema: pa.Schema) -> dg.MetadataValue:
    """The columns of a table, as the asset's page shows them."""
    columns = [
        dg.TableColumn(field.name, _type_name(field.type), description_of(field))
        for field in schema
    ]
    return dg.MetadataValue.table_schema(dg.TableSchema(columns))


def _type_name(type_: pa.DataType) -> str:
    """The name of a type without the fields of structs, which would fill the page."""
    if pa.types.is_list(type_):
        return f"list<{_type_name(type_.value_type)}>"
    return "struct" if pa.types.is_struct(type_) else str(type_)


@dataclass(frozen=True)
class TableAudit:
    """A table before publication: what its promises are, and what its page says."""

    checked: Sequence[CheckedPromise]
    facts: Mapping[str, Any] = field(default_factory=dict)
    previews: Mapping[str, Any] = field(default_factory=dict)
    is_settled: bool = True
    """See `Made`."""


def brought_up_to_date(
    published: PaperTable,
    update: Callable[[PaperTable], PapersUpdate],
    audit: Callable[[PaperTable], TableAudit],
    *,
    provenance: Mapping[str, Any],
    settings: Sequence[str] = (),
    models: Connections | None = None,
    follows_from: Sequence[Any] | None = None,
) -> Outcome:
    """Publish the updated table and yield its page and checks, see `asset_step`. When nothing
    changed, only manifests are read.

    update: how the published table is to change. audit: checks the draft. provenance: what all rows
    are made with. follows_from: JSON values of everything that rows, audit and provenance follow
    from, settings and code aside; None where that is not known.
    """

    path, schema = published.path, published.schema

    def state() -> list[Any] | None:
        stated = published.manifest.to_bytes()
        manifest = manifest_file(path)
        if follows_from is None or not manifest.exists() or manifest.read_bytes() != stated:
            return None
        return [*follows_from, stated.decode()]

    def make() -> Made:
        planned = update(published)
        draft = drafted(published, planned, provenance, staged)
        audited = audit(draft)

        def publish() -> dict[str, Any]:
            nonlocal published
            staged.publish()
            published = PaperTable.published(path, schema)
            return changes(planned.plan) | planned.plan.counts()

        # Dagster shows columns above everything else, which only their lineage is worth
        columns = "dagster/column_schema" if LINEAGE in audited.facts else "columns"
        n_quarantined = len(draft.manifest.quarantined)
        facts = {"n_quarantined": n_quarantined, **audited.facts, columns: column_schema(schema)}
        return Made(
            draft.version,
            draft.n_rows,
            audited.checked,
            publish,
            facts,
            audited.previews,
            is_settled=audited.is_settled,
        )

    with staging() as staged:
        yield from asset_step(path, make, state, settings=settings, models=models)


def first_rows(table: PaperTable, columns: Sequence[str]) -> str:
    """The first rows of a table as Markdown."""
    return markdown_table(next(table.parts(columns)).slice(0, N_SHOWN).to_pylist())


def checksums(tables: Mapping[Path, pa.Schema]) -> list[list[str]]:
    """SHA-256 of the files of each published table; none where it is not there."""
    return [PaperTable.published(path, schema).checksums for path, schema in tables.items()]
