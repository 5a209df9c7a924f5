"""Where everything lies below the data folder, and what must be true of that folder before it is
used."""

import os
from dataclasses import dataclass
from pathlib import Path

from rag_assets.core.errors import MissingInput, ReadOnlyFolder


class _Below:
    """An attribute of `Paths`: a path below the data folder."""

    def __init__(self, *parts: str) -> None:
        self._parts = parts

    def __get__(self, paths: "Paths", _owner: type["Paths"]) -> Path:
        return paths.data.joinpath(*self._parts)


@dataclass(frozen=True)
class Paths:
    """Where everything lies below the data folder."""

    data: Path

    papers = _Below("papers")
    questions = _Below("questions")
    trash = _Below("trash")
    """Files of deleted papers, a folder for each deletion; they are neither searched nor read."""
    templates = _Below("templates")
    """Templates of reports, Markdown files."""
    conversations = _Below("conversations", "conversations.sqlite")
    dagster = _Below(".dagster")
    """History of the runs that wrote this folder, unless DAGSTER_HOME names another place."""

    cache = _Below("cache")
    kept = _Below("cache", "kept.sqlite3")
    """Replies of models, vectors of questions, parsed documents and images of pages; see
    `rag_assets.core.kept`."""
    known_files = _Below("cache", ".paper_files.json")
    """What was found in the files of the papers folder."""
    parsed_index = _Below("cache", "parsed_index.parquet")
    records = _Below("cache", "papers.parquet")
    """The bibliographic record of each paper."""
    blocks = _Below("cache", "blocks.parquet")
    chunks = _Below("cache", "chunks.parquet")
    chunk_stats = _Below("cache", "chunk_stats.json")
    summaries = _Below("cache", "summaries.parquet")
    passages = _Below("cache", "passages.parquet")
    profiles = _Below("cache", "profiles.parquet")
    references = _Below("cache", "references.parquet")
    vectors = _Below("cache", "vectors.sqlite3")
    """What models made of passages: their vectors, sparse vectors, and vectors of their tokens."""
    models = _Below("cache", "models")
    removal = _Below("cache", "removal")
    """Its time of change is when the removal of most papers was last confirmed."""
    index_meta = _Below("cache", "index_meta.json")
    examples = _Below("cache", "examples.json")
    """Questions that the corpus can answer, and what it is about."""
    qa_meta = _Below("cache", "qa_meta.json")
    """What the published answers were made from."""

    chroma = _Below("index", "chroma")
    qdrant = _Below("index", "qdrant")
    """What is published in Qdrant; beside it is the storage when there is no server."""
    bm25 = _Below("index", "bm25")

    qa = _Below("output", "qa.jsonl")
    reports = _Below("output", "reports")
    """One report per template, with the answers it is made of."""
    evaluation = _Below("output", "eval")
    latest_evaluation = _Below("output", "eval", "latest.json")
    evaluation_history = _Below("output", "eval", "history.jsonl")
    qa_audit = _Below("logs", "qa_audit.csv")
    quarantine_audit = _Below("logs", "quarantine.csv")
    evaluation_audit = _Below("logs", "eval_audit.csv")
    raw_replies = _Below("logs", "replies")
    """Replies of models that could not be parsed, by their fingerprints."""

    requested_runs = _Below("logs", "requested_runs.log")
    """Output of the runs that the server started."""
    worker_log = _Below("logs", "workers.log")
    """Messages of the processes that read papers, with the trace of every unforeseen error."""

    @property
    def audits(self) -> tuple[Path, ...]:
        return self.qa_audit, self.quarantine_audit, self.evaluation_audit

    def answers_to(self, name: str) -> Path:
        """Folder of the answers to a question file that is not the configured one."""
        return self.qa.parent / name


def demand_data_folder(paths: Paths) -> None:
    """Raise MissingInput unless the data folder exists: a mistyped name must not make a new, empty
    one."""
    if not paths.data.is_dir():
        what = "is not a folder" if paths.data.exists() else "does not exist"
        raise MissingInput(
            f"The data folder {paths.data} {what}. Nothing was made or changed. Create it with papers/ in it, or name "
            "another: --data DIR, RAG_ASSETS_DATA_DIR or data_dir in rag_assets.toml."
        )


def demand_writable(paths: Paths) -> None:
    """Raise MissingInput unless the data folder exists, ReadOnlyFolder unless this user can write
    it."""
    demand_data_folder(paths)
    made = (paths.cache, paths.chroma.parent, paths.qa.parent, paths.qa_audit.parent)
    for folder in (paths.data, *(folder for folder in made if folder.exists())):
        if not os.access(folder, os.W_OK | os.X_OK):
            raise ReadOnlyFolder.at(folder)
