"""A papers folder, with the index that was last made of it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from rag_assets.core import tables
from rag_assets.core.incremental import UpdatePlan
from rag_assets.core.settings import ParsingSettings
from rag_assets.core.workforce.workforce import Spread
from rag_assets.parsing.attempts import ParseJob
from rag_assets.parsing.corpus import update_parsed_index
from rag_assets.parsing.discovery import discover
from rag_assets.parsing.store import DocumentStore
from rag_assets_testing.in_place import in_place
from rag_assets_testing.papers.pdf import Draw, write_pdf


@dataclass
class PapersFolder:
    folder: Path
    index: pa.Table = field(default_factory=tables.PARSED_INDEX.empty_table)
    settings: ParsingSettings = field(default_factory=ParsingSettings)
    spread: Spread = in_place
    n_reported: int = 0

    def __post_init__(self) -> None:
        self.papers.mkdir(exist_ok=True)

    @property
    def papers(self) -> Path:
        return self.folder / "papers"

    @property
    def store(self) -> DocumentStore:
        return DocumentStore(self.folder / "kept.sqlite3")

    def put(self, **texts: str) -> None:
        """A file for each name, where "__" stands for a dot."""
        for name, text in texts.items():
            (self.papers / name.replace("__", ".")).write_text(text, "utf-8")

    def put_pdf(self, name: str, *pages: Draw) -> None:
        write_pdf(self.papers / f"{name}.pdf", pages)

    def update(self, **settings: Any) -> UpdatePlan:
        """With other settings, if some are given."""
        if settings:
            self.settings = ParsingSettings(**settings)
        self.n_reported = 0
        papers = discover(self.papers, self.settings.limits)
        self.index, plan = update_parsed_index(papers, self.index, self.job(), self.count)
        return plan

    def job(self) -> ParseJob:
        return ParseJob(self.settings, self.store, self.spread)

    def count(self, n_done: int, n_total: int) -> None:
        self.n_reported += 1

    def row(self, paper_id: str = "a") -> dict[str, Any]:
        (row,) = (row for row in self.index.to_pylist() if row["paper_id"] == paper_id)
        return dict(row)
