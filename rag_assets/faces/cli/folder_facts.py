"""Facts about a data folder, read from its published files. Commands import this late: it needs
Arrow."""

from collections import Counter
from collections.abc import Mapping
from textwrap import shorten
from typing import Any

from rag_assets.answering.records import read_results
from rag_assets.core.domain import PaperOrder
from rag_assets.core.errors import MissingInput
from rag_assets.core.incremental import read_sealed
from rag_assets.core.paper_tables import quarantined_by
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import published_or_empty
from rag_assets.core.tables import PAPERS, PARSED_INDEX, PASSAGES
from rag_assets.corpus.records.libraries import retraction_lists
from rag_assets.evaluation.history import read_history
from rag_assets.library.reading.papers import Papers
from rag_assets.parsing.corpus import PARSED, how_bad, is_doubtful
from rag_assets.parsing.discovery import folders_passed_over
from rag_assets.questions.files import unasked_files
from rag_assets.search.indexing.stores import published_indexes

_LISTED_CHARS = 200
_OF_A_READING = (
    "paper_id", "file_path", "source", "n_pages", "n_headings", "n_tables", "n_pages_unread", "n_pages_cut",
)  # fmt: skip


def status_facts(settings: Settings) -> dict[str, Any]:
    """How much there is at each stage; None for what was never made."""
    paths = settings.paths
    index = published_or_empty(paths.parsed_index, PARSED_INDEX).table
    passages = published_or_empty(paths.passages, PASSAGES)
    statuses = Counter(index["status"].to_pylist())
    stats = read_sealed(paths.chunk_stats) or {}
    answers = read_results(paths.qa)
    history = read_history(paths.evaluation_history)
    return {
        "papers_parsed": statuses["parsed"],
        "papers_quarantined": len(quarantined_files(settings)),
        "folders_passed_over": ", ".join(folders_passed_over(paths.papers)) or None,
        "chunks": stats.get("n_chunks"),
        "share_missing_pages": stats.get("share_missing_pages"),
        "tokenizer": stats.get("tokenizer"),
        "passages": None if passages.provenance is None else len(passages.table),
        "index_version": (read_sealed(paths.index_meta) or {}).get("version"),
        "question_files_not_asked": ", ".join(map(str, unasked_files(settings))) or None,
        "answers": len(answers),
        "answers_refused": sum(answer.refused for answer in answers),
        "answers_withheld": sum(answer.withheld for answer in answers),
        "last_evaluation": history[-1]["metrics"] if history else None,
    }


def chunk_facts(settings: Settings) -> dict[str, Any]:
    """Figures of the published chunks, as chunk_stats.json has them."""
    stats = read_sealed(settings.paths.chunk_stats) or {}
    return {
        "papers": stats.get("n_papers"),
        "chunks": stats.get("n_chunks"),
        "tokens": stats.get("n_tokens") or dict.fromkeys(("min", "median", "p95", "max")),
        "share_fallback_used": stats.get("share_fallback_used"),
        "share_missing_pages": stats.get("share_missing_pages"),
    }


def quarantined_files(settings: Settings) -> list[dict[str, Any]]:
    """Every paper that could not be read, chunked, cut into passages or given vectors, with the
    reason."""
    paths = settings.paths
    index = published_or_empty(paths.parsed_index, PARSED_INDEX).table
    unread = [
        {"paper_id": row["paper_id"], "file": row["file_path"], "reason": row["error"]}
        for row in index.select(["paper_id", "file_path", "status", "error"]).to_pylist()
        if row["status"] == "quarantined"
    ]
    uncut = [
        {"paper_id": paper.paper_id, "file": paper.file_path, "reason": paper.error}
        for table in (
            paths.statements,
            paths.chunks,
            paths.passages,
            paths.profiles,
            paths.references,
            paths.vectors,
        )
        for paper in quarantined_by(table)
    ]
    return unread + uncut


def lists_of_retracted(settings: Settings) -> list[dict[str, Any]]:
    """How many DOIs are in each list of retracted papers, how many papers it names, and what is
    wrong with it."""
    n_papers = Counter(
        published_or_empty(settings.paths.records, PAPERS).table["retracted"].to_pylist()
    )
    return [
        {"file": file, "n_dois": len(dois), "n_papers": n_papers[file], "problem": " ".join(wrong)}
        for file, (dois, wrong) in retraction_lists(settings.paths.papers).items()
    ]


def readings(settings: Settings) -> list[dict[str, Any]]:
    """What the reading of each paper that could be read is worth; the worst one is first."""
    index = published_or_empty(settings.paths.parsed_index, PARSED_INDEX).table
    parsed = [row for row in index.to_pylist() if row["status"] == PARSED]
    return [
        {name: row[name] for name in _OF_A_READING}
        | {"is_doubtful": is_doubtful(row), "notes": " ".join(row["notes"])}
        for row in sorted(parsed, key=how_bad, reverse=True)
    ]


def reading_in_words(reading: Mapping[str, Any]) -> str:
    """ "pdf, 12 pages, 9 headings, 2 tables, 3 pages without text" and what else is known of one of
    the readings."""
    counts = {
        "pages": reading["n_pages"],
        "headings": reading["n_headings"],
        "tables": reading["n_tables"],
        "pages without text": reading["n_pages_unread"] or None,
        "pages with words cut in two": reading["n_pages_cut"] or None,
    }
    counted = [
        f"{n} {name if n != 1 else name.replace('s', '', 1)}"
        for name, n in counts.items()
        if n is not None
    ]
    return ", ".join([reading["source"], *counted])


def papers_listed(settings: Settings, find: str, order: PaperOrder) -> list[dict[str, Any]]:
    """Every paper, or those with the words of `find`, with record, state and the beginning of the
    abstract."""
    from rag_assets.engine import (
        open_engine,
    )  # with all that searches, which `status` prints without
    from rag_assets.library.reading.reader import Reader

    with open_engine(settings) as engine, Reader(settings, engine) as reader:
        papers = reader.papers(find, order)
    return [
        {
            "paper_id": paper.paper_id,
            "title": paper.title,
            "authors": paper.authors,
            "year": paper.year,
            "missing": paper.missing,
            "state": f"{paper.state}: {paper.reason}" if paper.reason else str(paper.state),
            "abstract": shorten(paper.abstract, _LISTED_CHARS, placeholder=" ..."),
        }
        for paper in papers
    ]


def abstract_of(settings: Settings, paper_id: str) -> dict[str, str]:
    """A paper with its abstract. Raises NotFound."""
    paper = Papers(settings).paper(paper_id)
    return {"paper_id": paper.paper_id, "title": paper.title, "abstract": paper.abstract}


def index_facts(settings: Settings) -> dict[str, Any]:
    """index_meta.json and the bytes of the two indexes on this disk. Raises MissingInput before the
    first build."""
    paths = settings.paths
    meta: dict[str, Any] | None = read_sealed(paths.index_meta)
    if meta is None:
        raise MissingInput.index(paths.data)
    sizes = {
        f"{index.folder.name}_bytes": sum(
            file.stat().st_size for file in index.folder.rglob("*") if file.is_file()
        )
        for index in published_indexes(settings)
    }
    return meta | sizes
