"""The one way in which an asset brings a table with rows of papers up to date."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from rag_assets.core.incremental import read_sealed, staging
from rag_assets.core.paper_drafts import drafted
from rag_assets.core.paper_tables import PapersUpdate, PaperTable, manifest_file
from rag_assets.core.promises import CheckedPromise
from rag_assets.core.settings import StageSettings
from rag_assets.pipeline.assets.publishing import Made, Outcome, asset_step, column_schema


@dataclass(frozen=True)
class TableAudit:
    """A table before publication: what its promises are, and what its page says."""

    checked: Sequence[CheckedPromise]
    facts: Mapping[str, Any] = field(default_factory=dict)
    previews: Mapping[str, str] = field(default_factory=dict)
    beside: Mapping[Path, bytes] = field(default_factory=dict)
    """Content of small JSON files that are published with it."""
    is_settled: bool = True
    """See `Made`."""


def brought_up_to_date(
    published: PaperTable,
    update: Callable[[PaperTable], PapersUpdate],
    audit: Callable[[PaperTable], TableAudit],
    *,
    provenance: Mapping[str, Any],
    settings: Mapping[str, StageSettings] | None = None,
    follows_from: Sequence[Any] | None = None,
    beside: Sequence[Path] = (),
) -> Outcome:
    """Publish the updated table and yield its page and checks, see `asset_step`. When nothing
    changed, only manifests are read.

    update: how the published table is to change. audit: checks the draft. provenance: what all rows
    are made with. follows_from: JSON values of everything that rows, audit and provenance follow
    from, settings and code aside; None where that is not known. beside: the sealed JSON files that
    the audit publishes with the table.
    """

    path, schema = published.path, published.schema

    def state() -> list[Any] | None:
        stated = published.manifest.to_bytes()
        manifest = manifest_file(path)
        if follows_from is None or not manifest.exists() or manifest.read_bytes() != stated:
            return None
        return [*follows_from, stated.decode(), *map(read_sealed, beside)]

    def make() -> Made:
        planned = update(published)
        draft = drafted(published, planned, provenance, staged)
        told = audit(draft)
        for file, content in told.beside.items():
            staged.put(file, content)

        def publish() -> dict[str, int]:
            nonlocal published
            staged.publish()
            published = PaperTable.published(path, schema)
            return planned.plan.counts()

        facts = {"dagster/column_schema": column_schema(schema), **told.facts}
        return Made(
            draft.version,
            draft.n_rows,
            told.checked,
            publish,
            facts,
            told.previews,
            is_settled=told.is_settled,
        )

    with staging() as staged:
        yield from asset_step(path, settings or {}, make, state)


def checksums(tables: Mapping[Path, pa.Schema]) -> list[list[str]]:
    """SHA-256 of the files of each published table; none where it is not there."""
    return [PaperTable.published(path, schema).checksums for path, schema in tables.items()]
