"""The one way in which an asset brings a table with rows of papers up to date: plan, make, audit, publish.

When nothing changed, only the manifest of the table is read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag_assets.core.incremental import data_version, staging
from rag_assets.core.paper_drafts import drafted, is_current
from rag_assets.core.paper_tables import PapersUpdate, PaperTable
from rag_assets.core.promises import CheckedPromise, Promise
from rag_assets.core.settings import StageSettings
from rag_assets.pipeline.assets.kept_pages import Frame, Page, keep_page, kept_page, page_file
from rag_assets.pipeline.assets.publishing import Outcome, column_schema, write_audit_publish


@dataclass(frozen=True)
class TableAudit:
    """A table before publication: what its promises are, and what its page says."""

    checked: Sequence[CheckedPromise]
    facts: Mapping[str, Any] = field(default_factory=dict)
    previews: Mapping[str, str] = field(default_factory=dict)
    beside: Mapping[str, str] = field(default_factory=dict)
    """Content of small files in the folder of the table that are published with it, by name."""


def brought_up_to_date(
    published: PaperTable,
    update: PapersUpdate,
    provenance: Mapping[str, Any],
    promises: Sequence[Promise[Any]],
    audit: Callable[[PaperTable], TableAudit],
    *,
    settings: Mapping[str, StageSettings] | None = None,
    facts: Mapping[str, Any] | None = None,
    follows_from: Sequence[Any] | None = None,
) -> Outcome:
    """Publish the updated table and yield its page and checks, unless a blocking promise is broken.

    provenance: what all rows are made with. audit: checks `promises` on the draft. follows_from: JSON values of what
    it follows from beside the table; None where that is not known, so that it is asked by every run. facts: the same on
    each page.
    """
    schema_facts = {"dagster/column_schema": column_schema(published.schema), **(facts or {})}
    frame = Frame(published.path, promises, settings or {}, facts=schema_facts)
    place = page_file(published.path)

    def key_of(table: PaperTable) -> str:
        quarantined = [paper.as_row() for paper in table.manifest.quarantined]
        return frame.key(table.checksums, data_version(table.known), quarantined, *(follows_from or ()))

    with staging() as staged:
        is_known = follows_from is not None and is_current(published, update, provenance)
        if is_known and (page := kept_page(place, key_of(published), frame)):
            published.restated(staged)
            for name, content in page.beside.items():
                staged.put(published.path.with_name(name), content.encode())
            staged.publish()
            yield from page.said_again(frame)
            return
        draft = drafted(published, update, provenance, staged)
        told = audit(draft)
        page = Page(
            draft.version,
            draft.n_rows,
            len(update.wanted),
            dict(told.facts),
            dict(told.previews),
            beside=dict(told.beside),
        )
        for name, content in told.beside.items():
            staged.put(published.path.with_name(name), content.encode())
        if follows_from is not None:
            keep_page(page, told.checked, place, key_of(draft), staged)
        yield from write_audit_publish(
            told.checked, publish=staged.publish, report=lambda _: page.materialization(frame, update.plan.counts())
        )
