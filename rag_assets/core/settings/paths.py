"""Where everything lies below the data folder, and what must be true of that folder before it is
used."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rag_assets.core.errors import MissingInput, NewerDataFolder, ReadOnlyFolder
from rag_assets.core.incremental import EVERYBODY, read_sealed

OPENING_LOCK = "opening.lock"
"""Beside the dagster.yaml that our commands write into `Paths.dagster`."""


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
    version = _Below("cache", "version.json")
    """Which version of the software wrote the folder last."""
    kept = _Below("cache", "kept.sqlite3")
    """Replies of models, vectors of questions, parsed documents and images of pages; see
    `rag_assets.core.kept`."""
    known_files = _Below("cache", ".paper_files.json")
    """What was found in the files of the papers folder."""
    parsed_index = _Below("cache", "parsed_index.parquet")
    records = _Below("cache", "papers.parquet")
    """The bibliographic record of each paper."""
    blocks = _Below("cache", "blocks.parquet")
    statements = _Below("cache", "statements.parquet")
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
    published_set = _Below("index", "published_set")
    """Links to the tables and indexes from which questions are answered."""

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
    def made(self) -> tuple[Path, ...]:
        """Folders of what can be made again: cache, indexes, answers."""
        return self.cache, self.chroma.parent, self.qa.parent

    @property
    def audits(self) -> tuple[Path, ...]:
        return self.qa_audit, self.quarantine_audit, self.evaluation_audit

    def answers_to(self, name: str) -> Path:
        """Folder of the answers to a question file that is not the configured one."""
        return self.qa.parent / name


DATA_VERSION = 1
"""Raise it with any change after which earlier versions of the software could not use what this one
writes into a data folder, such as other columns of a table."""


def says_nothing(config: Path) -> bool:
    """Whether a dagster.yaml is missing, or holds only blanks, comments and what a disk leaves of
    lost bytes."""
    lines = config.read_bytes().splitlines() if config.exists() else []
    return all(line.strip(b"\0 \t")[:1] in (b"", b"#") for line in lines)


def close_to_others(paths: Paths) -> None:
    """Let only this user into the made folders that everybody can enter, as earlier versions made
    them. A folder that is open to its group alone stays as it is."""
    logs, conversations = paths.qa_audit.parent, paths.conversations.parent
    for folder in (*paths.made, logs, conversations, paths.trash, paths.dagster):
        with suppress(OSError):  # it is not there, or belongs to another user
            if folder.stat().st_mode & EVERYBODY:
                folder.chmod(0o700)


def demand_data_folder(paths: Paths) -> None:
    """Raise MissingInput unless the data folder exists: a mistyped name must not make a new, empty
    one. Close it to others. Raise NewerDataFolder for one that this version would take for damaged."""
    if not paths.data.is_dir():
        what = "is not a folder" if paths.data.exists() else "does not exist"
        raise MissingInput(
            f"The data folder {paths.data} {what}. Nothing was made or changed. Create it with papers/ in it, or name "
            "another: --data DIR, RAG_ASSETS_DATA_DIR or data_dir in rag_assets.toml."
        )
    stated = read_sealed(paths.version) or {}
    if stated.get("data_version", 0) > DATA_VERSION:
        raise NewerDataFolder(
            f"The data folder {paths.data} was written by a newer version, rag_assets {stated['software']} (data "
            f"version {stated['data_version']}, here {DATA_VERSION}). Nothing was read or changed. Install that version "
            "or a later one, or name another data folder: --data DIR."
        )
    close_to_others(paths)


def demand_writable(paths: Paths) -> None:
    """Raise MissingInput unless the data folder exists, ReadOnlyFolder unless this user can write
    it."""
    demand_data_folder(paths)
    for folder in (paths.data, *paths.made, paths.qa_audit.parent):
        if folder.exists() and not os.access(folder, os.W_OK | os.X_OK):
            raise ReadOnlyFolder.at(folder)
