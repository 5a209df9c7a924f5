"""One fuzzed paper through parser, chunker and passages, as the pipeline runs them, with every
promise looked at."""

import json
import random
import tempfile
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import pyarrow as pa

from rag_assets.core import tables
from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.settings import (
    ChunkingSettings,
    EmbeddingSettings,
    ParsingSettings,
    PassageSettings,
)
from rag_assets.core.text.tokens import TokenCounter, token_counter
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.corpus.chunking import promises
from rag_assets.corpus.chunking.chunker import ReadingWindow, update_chunks, update_passages
from rag_assets.corpus.statements.making import update_statements
from rag_assets.parsing import corpus
from rag_assets.parsing.attempts import ParseJob, parse_papers
from rag_assets.parsing.corpus import pages_outside
from rag_assets.parsing.discovery import Paper, PaperFile
from rag_assets.parsing.known_files import examined
from rag_assets.parsing.store import DocumentStore
from rag_assets.search.embedding.providers import open_embedder
from rag_assets_testing.fuzzing.mutations import legal, mutated
from rag_assets_testing.fuzzing.texts import random_text
from rag_assets_testing.in_place import Item, Result, in_place
from rag_assets_testing.paper_rows import InMemory, updated

PARSED, QUARANTINED = "parsed", "quarantined"
_SHARE_OF_RANDOM_TEXT = 0.25
_CHUNKING, _PASSAGES = ChunkingSettings(), PassageSettings()
_PAPER = "paper"
_MARKS = ("# ", "", "| a | b |\n|---|---|\n| ", "## 1. ", "* ", "> ", "```\n", "", "")
"""What the texts of a Markdown paper begin with, in turn."""


@dataclass(frozen=True)
class Case:
    """One file to be made: a mutation of `source`, or random text in its format; the same whenever
    it is made."""

    source: Path
    seed: str
    most_words: int = 2000
    """Of one random text; few make a case fast."""

    @property
    def suffix(self) -> str:
        return (
            "".join(self.source.suffixes[-2:])
            if self.source.suffix in (".xml", ".json")
            else self.source.suffix
        )

    def content(self) -> bytes:
        rng = random.Random(self.seed)
        original = self.source.read_bytes()
        if rng.random() < _SHARE_OF_RANDOM_TEXT and (
            random_paper := _random_paper(self.source.suffix, original, self._random_texts(rng))
        ):
            return random_paper
        return mutated(original, self.source.suffix, rng)

    def _random_texts(self, rng: random.Random) -> list[str]:
        sizes = [min(size, self.most_words) for size in (1, 20, 300, 300, 2000)]
        return [random_text(rng, rng.choice(sizes)) for _ in range(rng.randint(1, 6))]


@dataclass(frozen=True)
class Ending:
    """How a case ended."""

    how: str
    """PARSED or QUARANTINED."""
    reason: str = ""
    """Why it was quarantined."""
    n_chunks: int = 0
    n_passages: int = 0


def run_case(case: Case) -> Ending:
    """Run a case in this process. Raises what the code under test raises, and AssertionError for a
    broken promise."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{_PAPER}{case.suffix}"
        path.write_bytes(case.content())
        return run_file(path)


def run_file(path: Path) -> Ending:
    """The same for a file as it is."""
    store = DocumentStore(path.parent / "kept.sqlite3")
    job = ParseJob(ParsingSettings(), store, _unguarded)
    (paper,) = examined(Paper(_PAPER, (PaperFile(path, path.name),)), job.settings, job.known)
    try:
        (outcome,) = parse_papers([paper], job, lambda *_: None)
    except UnreadableDocument as error:
        return Ending(QUARANTINED, str(error))
    if outcome.summary is None:
        return Ending(QUARANTINED, outcome.error)
    (packed,) = store.each_packed([outcome.fingerprint])
    blocks = tables.unpacked(corpus.block_rows_of(corpus.BlocksToMake(_PAPER, "", packed, "")))
    row = {"paper_id": _PAPER, "status": "parsed", "n_pages": outcome.summary.n_pages}
    index = tables.to_table([row], tables.PARSED_INDEX)
    _demand(not len(pages_outside(blocks, index)), "pages_within_document")
    return _cut(blocks)


def _unguarded(
    work: Callable[[Item], Result], items: Iterable[Item]
) -> Generator[tuple[Item, Result | Failure]]:
    """A `Spread` that lets through what the work raises."""
    return ((item, work(item)) for item in items)


def _cut(blocks: pa.Table) -> Ending:
    statements = updated(
        lambda empty: update_statements(empty, InMemory(blocks), _counter(), in_place),
        tables.STATEMENTS,
    )
    for paper in statements.quarantined:
        raise AssertionError(f"quarantined by the statements: {paper.error}")
    chunks = updated(
        lambda empty: update_chunks(empty, statements.rows, _CHUNKING, _counter(), in_place),
        tables.CHUNKS,
    )
    for paper in chunks.quarantined:
        raise AssertionError(f"quarantined by the chunker: {paper.error}")
    _demand(len(chunks.table) > 0, "a parsed paper has a chunk")
    _demand(not len(promises.outside_token_bounds(chunks.table, _CHUNKING)), "token_bounds")
    passages = updated(
        lambda empty: update_passages(empty, chunks.rows, _PASSAGES, _window(), in_place),
        tables.PASSAGES,
    )
    for paper in passages.quarantined:
        raise AssertionError(f"quarantined by the passages: {paper.error}")
    _demand(
        not len(promises.longer_than_model_reads(passages.table, _window().max_tokens)),
        "fit_the_model",
    )
    return Ending(PARSED, n_chunks=len(chunks.table), n_passages=len(passages.table))


def _demand(holds: bool, promise: str) -> None:
    if not holds:
        raise AssertionError(f"broken: {promise}")


@cache
def _counter() -> TokenCounter:
    return token_counter("wordpiece")


@cache
def _window() -> ReadingWindow:
    folder = Path(tempfile.gettempdir()) / "fuzz_models"
    embedder = open_embedder(EmbeddingSettings(), folder)
    return ReadingWindow(
        embedder.facts.tokenizer_id, embedder.count_tokens, embedder.facts.max_tokens
    )


def _random_paper(suffix: str, original: bytes, texts: Sequence[str]) -> bytes | None:
    """A paper of those texts in that format; None for a format that is not text."""
    if suffix == ".txt":
        return "\n\n".join(texts).encode()
    if suffix == ".md":
        return "\n\n".join(
            mark + text for mark, text in zip(cycle(_MARKS), texts, strict=False)
        ).encode()
    if suffix == ".xml":
        body = "".join(
            f"<div><head>{_escaped(text[:60])}</head><p>{_escaped(text)}</p></div>"
            for text in texts
        )
        return f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body>{body}</body></text></TEI>'.encode()
    if suffix == ".json":
        return _with_random_texts(original, texts)
    return None


def _escaped(text: str) -> str:
    return legal(text).replace("&", "&amp;").replace("<", "&lt;")


def _with_random_texts(original: bytes, texts: Sequence[str]) -> bytes | None:
    """An export with all its longer texts replaced."""
    try:
        tree = json.loads(original)
    except ValueError:
        return None
    n_replaced = 0

    def replaced(value: Any) -> Any:
        nonlocal n_replaced
        if isinstance(value, dict):
            return {key: replaced(one) for key, one in value.items()}
        if isinstance(value, list):
            return [replaced(one) for one in value]
        if isinstance(value, str) and " " in value:
            n_replaced += 1
            return texts[n_replaced % len(texts)]
        return value

    return json.dumps(replaced(tree)).encode()
