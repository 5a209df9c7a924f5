"""Where everything lies below the data folder."""

import shlex
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Paths:
    """Where everything lies below the data folder."""

    data: Path

    @property
    def option(self) -> str:
        """What a command needs to work on this folder, with a blank before it; nothing for the default folder."""
        return "" if self.data == Path("data") else f" --data {shlex.quote(str(self.data))}"

    @property
    def papers(self) -> Path:
        return self.data / "papers"

    @property
    def questions(self) -> Path:
        return self.data / "questions"

    @property
    def cache(self) -> Path:
        return self.data / "cache"

    @property
    def documents(self) -> Path:
        """Parsed documents by content fingerprint, kept so that a killed run does not parse them again."""
        return self.cache / "documents"

    @property
    def dagster(self) -> Path:
        """History of the runs that wrote this folder, unless DAGSTER_HOME names another place."""
        return self.data / ".dagster"

    @property
    def parsed_index(self) -> Path:
        return self.cache / "parsed_index.parquet"

    @property
    def blocks(self) -> Path:
        return self.cache / "blocks.parquet"

    @property
    def chunks(self) -> Path:
        return self.cache / "chunks.parquet"

    @property
    def chunk_stats(self) -> Path:
        return self.cache / "chunk_stats.json"

    @property
    def tokenizer_pin(self) -> Path:
        return self.cache / "tokenizer.json"

    @property
    def passages(self) -> Path:
        return self.cache / "passages.parquet"

    @property
    def embeddings(self) -> Path:
        return self.cache / "embeddings"

    @property
    def models(self) -> Path:
        return self.cache / "models"

    @property
    def answers(self) -> Path:
        """Answers by fingerprint of question, contexts, prompt and model."""
        return self.cache / "answers"

    @property
    def verdicts(self) -> Path:
        """What a judging model said of claims, by claims and quotes."""
        return self.cache / "verdicts"

    @property
    def query_vectors(self) -> Path:
        """Vectors of questions by model and text, kept for models that cost money."""
        return self.cache / "query_vectors"

    @property
    def chroma(self) -> Path:
        return self.data / "index" / "chroma"

    @property
    def bm25(self) -> Path:
        return self.data / "index" / "bm25"

    @property
    def index_meta(self) -> Path:
        return self.cache / "index_meta.json"

    @property
    def qa(self) -> Path:
        return self.data / "output" / "qa.jsonl"

    @property
    def qa_meta(self) -> Path:
        """What the published answers were made from."""
        return self.cache / "qa_meta.json"

    def answers_to(self, name: str) -> Path:
        """Folder of the answers to a question file that is not the configured one."""
        return self.qa.parent / name

    @property
    def qa_audit(self) -> Path:
        return self.data / "logs" / "qa_audit.csv"

    @property
    def raw_replies(self) -> Path:
        """What models wrote that could not be understood as asked for, by the reply's fingerprint."""
        return self.data / "logs" / "replies"

    @property
    def evaluation(self) -> Path:
        return self.data / "output" / "eval"
