"""Where everything lies below the data folder."""

from dataclasses import dataclass
from pathlib import Path


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
    """Replies of models, vectors of questions, parsed documents and images of pages; see `rag_assets.core.kept`."""
    parsed_index = _Below("cache", "parsed_index.parquet")
    blocks = _Below("cache", "blocks.parquet")
    chunks = _Below("cache", "chunks.parquet")
    chunk_stats = _Below("cache", "chunk_stats.json")
    tokenizer_pin = _Below("cache", "tokenizer.json")
    summaries = _Below("cache", "summaries.parquet")
    paper_summaries = _Below("cache", "paper_summaries.parquet")
    passages = _Below("cache", "passages.parquet")
    profiles = _Below("cache", "profiles.parquet")
    embeddings = _Below("cache", "embeddings")
    sparse_vectors = _Below("cache", "sparse_vectors")
    models = _Below("cache", "models")
    token_vectors = _Below("cache", "token_vectors")
    """Of passages, for comparing them with questions word by word."""
    index_meta = _Below("cache", "index_meta.json")
    qa_meta = _Below("cache", "qa_meta.json")
    """What the published answers were made from."""

    chroma = _Below("index", "chroma")
    qdrant = _Below("index", "qdrant")
    """What is published on a Qdrant server, or its storage when there is no server."""
    bm25 = _Below("index", "bm25")

    qa = _Below("output", "qa.jsonl")
    reports = _Below("output", "reports")
    """One report per template, with the answers it is made of."""
    evaluation = _Below("output", "eval")
    qa_audit = _Below("logs", "qa_audit.csv")
    feedback = _Below("logs", "feedback.jsonl")
    """What readers said of answers, by the fingerprint of the answer."""
    raw_replies = _Below("logs", "replies")
    """What models wrote that could not be understood as asked for, by the reply's fingerprint."""

    requested_runs = _Below("logs", "requested_runs.log")
    """What the processes of runs that the server asked for print: errors, most of all."""

    def answers_to(self, name: str) -> Path:
        """Folder of the answers to a question file that is not the configured one."""
        return self.qa.parent / name
