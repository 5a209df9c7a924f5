"""A worker that is lost over Docling's tables costs the tables, not the paper."""

import json
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.settings import ParsingSettings
from rag_assets.core.tables import PARSED_INDEX
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.parsing.attempts import ParseJob
from rag_assets.parsing.corpus import update_parsed_index
from rag_assets.parsing.discovery import discover
from rag_assets.parsing.store import DocumentStore
from rag_assets_testing.in_place import in_place
from rag_assets_testing.papers.docling import DoclingWriter
from rag_assets_testing.papers.pdf import page_of, write_pdf

TEI = (
    '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text><body><div><head>Results</head>'
    "<p>Ferritin fell in all groups of sheep.</p></div></body></text></TEI>"
)


def deadly(work: Callable[[Any], Any], attempts: Iterable[Any]) -> Generator[tuple[Any, Any]]:
    """Whoever reads what Docling made runs out of memory."""
    for files in attempts:
        is_read = files.docling or files.file.path.endswith(".json")
        lost = Failure("takes more memory than it may.", is_worker_lost=True)
        yield (files, lost) if is_read else next(in_place(work, [files]))


@pytest.mark.parametrize("has_tei", [True, False])
def test_a_paper_is_read_without_tables_that_no_worker_survives(tmp_path: Path, has_tei: bool) -> None:
    """A hostile or huge JSON beside a PDF would take the paper out of the corpus."""
    papers = tmp_path / "papers"
    papers.mkdir()
    docling = DoclingWriter()
    docling.text("text", "Iron is scarce at altitude.")
    (papers / "a.docling.json").write_text(json.dumps(docling.json), "utf-8")
    write_pdf(papers / "a.pdf", [page_of("Ferritin fell in all groups of sheep.")])
    if has_tei:
        (papers / "a.tei.xml").write_text(TEI, "utf-8")
    settings = ParsingSettings(tables="docling")
    job = ParseJob(settings, DocumentStore(tmp_path / "kept.sqlite3"), deadly)

    index, _ = update_parsed_index(
        discover(papers, settings.limits), PARSED_INDEX.empty_table(), job, lambda done, total: None
    )

    (row,) = index.to_pylist()
    assert (row["status"], row["source"]) == ("parsed", "tei" if has_tei else "pdf")
    assert "No tables could be taken from Docling: a.docling.json takes more memory than it may." in row["notes"]
