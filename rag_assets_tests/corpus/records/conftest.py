"""Three papers whose records are made anew when files beside them change."""

from pathlib import Path

import pyarrow as pa
import pytest

from rag_assets.core.domain import Document, Person, Record, SourceFormat
from rag_assets.core.incremental import UpdatePlan
from rag_assets.core.tables import PAPERS, records_from
from rag_assets.core.workforce.workforce import Spread
from rag_assets.corpus.records.libraries import Libraries
from rag_assets.corpus.records.registries import LookUp
from rag_assets.corpus.records.update import update_papers
from rag_assets.parsing.store import DocumentStore, packed_document
from rag_assets_testing.in_place import in_place

RECORDS = {
    "lund": Record(
        title="Iron in mountain sheep",
        authors=(Person("Lund", "Ada"),),
        year=2019,
        doi="10.1234/iron.7",
    ),
    "moe": Record(title="Copper in valley goats"),
    "ek": Record(title="Zinc in lowland cows", arxiv="2206.01062"),
}


class Corpus:
    def __init__(self, folder: Path) -> None:
        self.papers, self.table = folder / "papers", PAPERS.empty_table()
        self.papers.mkdir()
        self.store = DocumentStore(folder / "kept.sqlite3")
        for paper, record in RECORDS.items():
            document = Document(paper, "", SourceFormat.TEI, f"{paper}.xml", (), header=record)
            self.store.put(f"of {paper}", packed_document(document))

    def update(self, look_up: LookUp = lambda dois: {}, spread: Spread = in_place) -> UpdatePlan:
        rows = [
            {
                "paper_id": one,
                "fingerprint": f"of {one}",
                "file_path": f"{one}.xml",
                "linked_paths": [f"{one}.pdf"],
            }
            for one in RECORDS
        ]
        index = pa.Table.from_pylist(rows)
        self.table, plan = update_papers(
            self.table, index, Libraries.of(self.papers, in_place), self.store, spread, look_up
        )
        return plan

    def library(self, **entries: str) -> None:
        (self.papers / "library.bib").write_text(
            "\n".join(f"@article{{{key}, {text}}}" for key, text in entries.items())
        )

    def record(self, paper_id: str) -> Record:
        return records_from(self.table)[paper_id]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path)
