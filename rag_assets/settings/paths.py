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
    documents = _Below("cache", "documents")
    """Parsed documents by content fingerprint, kept so that a killed run does not parse them again."""
    parsed_index = _Below("cache", "parsed_index.parquet")
    blocks = _Below("cache", "blocks.parquet")
    chunks = _Below("cache", "chunks.parquet")
    chunk_stats = _Below("cache", "chunk_stats.json")
    tokenizer_pin = _Below("cache", "tokenizer.json")
    summaries = _Below("cache", "summaries.parquet")
    summary_replies = _Below("cache", "summaries")
    """What a model wrote of chunks and documents, by what it was asked."""
    paper_summaries = _Below("cache", "paper_summaries.parquet")
    paper_summary_replies = _Below("cache", "paper_summaries")
    """What a model wrote of papers, by what it was asked."""
    passages = _Below("cache", "passages.parquet")
    profiles = _Below("cache", "profiles.parquet")
    embeddings = _Below("cache", "embeddings")
    sparse_vectors = _Below("cache", "sparse_vectors")
    models = _Below("cache", "models")
    token_vectors = _Below("cache", "token_vectors")
    """Of passages, for comparing them with questions word by word."""
    index_meta = _Below("cache", "index_meta.json")
    answers = _Below("cache", "answers")
    """Drafts of answers by fingerprint of question, contexts, prompt and model."""
    verdicts = _Below("cache", "verdicts")
    """What a judging model said of claims, by claims and quotes."""
    queries = _Below("cache", "queries")
    """Queries that a model wrote for questions, by question, prompt and model."""
    plans = _Below("cache", "plans")
    """How a model took questions apart for thorough answers, by question, prompt and model."""
    query_vectors = _Below("cache", "query_vectors")
    """Vectors of questions by model and text, kept for models that cost money."""
    qa_meta = _Below("cache", "qa_meta.json")
    """What the published answers were made from."""

    page_images = _Below("cache", "page_images")
    """Pages of PDFs as they were shown, by content of the file, page, width and marks."""

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
