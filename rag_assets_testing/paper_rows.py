"""Tables with rows of papers for tests: some in memory, and updates that are published in a folder
of their own."""

import shutil
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import pyarrow as pa

from rag_assets.core.incremental import UpdatePlan, staging
from rag_assets.core.paper_tables import PapersUpdate, PaperTable, QuarantinedPaper, drafted
from rag_assets.core.tables import by_paper, fingerprints_by_paper, rows_of


@dataclass(frozen=True)
class InMemory:
    """Rows of papers as another stage reads them."""

    table: pa.Table

    @property
    def papers(self) -> Mapping[str, str]:
        return fingerprints_by_paper(self.table)

    @property
    def known(self) -> Mapping[str, str]:
        return self.papers

    def rows(self, papers: Iterable[str]) -> Iterator[tuple[str, pa.Table]]:
        return by_paper(rows_of(self.table, "paper_id", papers))


@dataclass(frozen=True)
class Unread(InMemory):
    """The same, of which no row may be read."""

    def rows(self, papers: Iterable[str]) -> Iterator[tuple[str, pa.Table]]:
        wanted = list(papers)
        assert not wanted, f"the rows of {wanted} were read"
        return iter(())


class Folder:
    """A folder that is deleted when nothing refers to it any more."""

    def __init__(self) -> None:
        self.path = Path(mkdtemp())
        weakref.finalize(self, shutil.rmtree, self.path)


@dataclass(frozen=True)
class Updated:
    """A published table and the update that ended in it."""

    published: PaperTable
    plan: UpdatePlan
    folder: Folder

    @property
    def table(self) -> pa.Table:
        return self.published.columns(self.published.schema.names).sort_by("paper_id")

    @property
    def quarantined(self) -> list[QuarantinedPaper]:
        return self.published.manifest.quarantined

    @property
    def rows(self) -> InMemory:
        """As the next stage reads them."""
        return InMemory(self.table)


def updated(
    update: Callable[[PaperTable], PapersUpdate], schema: pa.Schema, before: Updated | None = None
) -> Updated:
    """Make, write and publish what `update` makes of a published table."""
    folder = before.folder if before else Folder()
    path = folder.path / "table.parquet"
    published = PaperTable.published(path, schema)
    planned = update(published)
    with staging() as staged:
        drafted(published, planned, {"settings": "s"}, staged)
        staged.publish()
    return Updated(PaperTable.published(path, schema), planned.plan, folder)
