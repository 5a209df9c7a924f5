"""Brings chunks and passages up to date. A worker process gets the packed rows of one paper and
returns packed rows.

The assets check the result and publish it.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

import pyarrow as pa

from rag_assets.core.errors import RagAssetsError
from rag_assets.core.paper_tables import PapersUpdate, QuarantinedPaper, RowsByPaper
from rag_assets.core.settings import ChunkingSettings, PassageSettings
from rag_assets.core.tables import (
    CHUNKS,
    PASSAGES,
    blocks_from,
    chunk_row,
    chunks_from,
    packed,
    passage_row,
    to_table,
    unpacked,
)
from rag_assets.core.text.tokens import TokenCounter
from rag_assets.core.workforce.workforce import Spread
from rag_assets.corpus.chunking.chunker import CHUNKER_VERSION, chunk_paper
from rag_assets.corpus.chunking.cuts import CountAll
from rag_assets.corpus.chunking.passages import PASSAGER_VERSION, cut_passages
from rag_assets.corpus.chunking.promises import broken_by_chunks, broken_by_passages
from rag_assets.corpus.each_paper import PaperJob, PaperOutcome, update_each

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReadingWindow:
    """What an embedding model can read."""

    name: str
    """Name of the tokenizer. All passages are made again if it changes."""
    count_tokens: CountAll
    """Tokens of each text, special tokens included, not truncated. Must be picklable, since worker
    processes call it."""
    max_tokens: int


@dataclass(frozen=True)
class AddedText:
    """Texts that are searched together with the passages."""

    titles: Mapping[str, str] = field(default_factory=dict)
    """Titles of papers, by paper_id; papers without one are left out."""
    summaries: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Summaries of chunks, by paper_id and chunk_id; chunks without one are left out."""

    def of(self, paper_id: str) -> tuple[str, Mapping[str, str]]:
        return self.titles.get(paper_id, ""), self.summaries.get(paper_id, {})


def update_chunks(
    published: RowsByPaper,
    blocks: RowsByPaper,
    settings: ChunkingSettings,
    counter: TokenCounter,
    spread: Spread,
) -> PapersUpdate:
    """Bring the chunks up to date with the blocks; see `update_each`.

    `published`: schema CHUNKS. `blocks`: schema BLOCKS. A paper is cut again if its blocks, the
    settings, the tokenizer or `CHUNKER_VERSION` changed. A paper whose chunks break a promise is
    quarantined.
    """
    versions = (settings.fingerprint(), counter.name, CHUNKER_VERSION)
    cut_paper = partial(cut_chunks, settings=settings, counter=counter)
    return update_each(published, blocks, lambda _: versions, cut_paper, spread)


def update_passages(
    published: RowsByPaper,
    chunks: RowsByPaper,
    settings: PassageSettings,
    window: ReadingWindow,
    spread: Spread,
    added: AddedText = AddedText(),
) -> PapersUpdate:
    """Bring the passages up to date with the chunks, like `update_chunks`.

    `published`: schema PASSAGES. `chunks`: schema CHUNKS.
    """
    versions = (settings.fingerprint(), window.name, window.max_tokens, PASSAGER_VERSION)

    def other_inputs(paper_id: str) -> list[object]:
        title, summaries = added.of(paper_id)
        return [title, [*chain(*summaries.items())], *versions]

    cut_paper = partial(cut_passages_of, settings=settings, window=window)
    return update_each(published, chunks, other_inputs, cut_paper, spread, texts=added.of)


def cut_chunks(job: PaperJob, settings: ChunkingSettings, counter: TokenCounter) -> PaperOutcome:
    """Cut one paper into chunks: rows of schema CHUNKS, made from the job's rows of schema
    BLOCKS."""

    def cut(paper_rows: pa.Table) -> pa.Table:
        source = paper_rows["source"][0].as_py()
        blocks = blocks_from(paper_rows)
        chunks = chunk_paper(
            job.paper_id, blocks, job.file_path, source, settings, counter, job.fingerprint
        )
        return to_table(list(map(chunk_row, chunks)), CHUNKS)

    return _cut_or_quarantined(
        job, cut, lambda chunks, paper_rows: broken_by_chunks(chunks, paper_rows, settings)
    )


def cut_passages_of(
    job: PaperJob, settings: PassageSettings, window: ReadingWindow
) -> PaperOutcome:
    """Cut one paper's chunks into passages: rows of schema PASSAGES, made from the job's rows of
    schema CHUNKS."""

    def cut(paper_rows: pa.Table) -> pa.Table:
        chunks = chunks_from(paper_rows)
        passages = cut_passages(
            chunks, settings, window.count_tokens, window.max_tokens, job.title, job.summaries
        )
        return to_table([passage_row(passage, job.fingerprint) for passage in passages], PASSAGES)

    return _cut_or_quarantined(
        job, cut, lambda passages, _: broken_by_passages(passages, window.max_tokens)
    )


def _cut_or_quarantined(
    job: PaperJob,
    cut: Callable[[pa.Table], pa.Table],
    broken: Callable[[pa.Table, pa.Table], Iterable[str]],
) -> PaperOutcome:
    """The packed rows that `cut` makes of the paper, or the paper as quarantined with the first
    promise it breaks.

    A failure that is not the paper's fault (a missing model, a full disk) is raised, since it would
    quarantine every paper. A lack of memory is raised as well; the workforce handles it.
    """
    paper_rows = unpacked(job.packed)
    try:
        rows = cut(paper_rows)
    except (RagAssetsError, OSError, MemoryError):
        raise
    except Exception as error:  # any error: one paper must not stop the others
        logger.exception("%s could not be cut", job.paper_id)
        reason = f"could not be cut, for a reason that was not foreseen ({type(error).__name__}: {error})"
    else:
        reason = next(iter(broken(rows, paper_rows)), "")
        if not reason:
            return packed(rows)
    message = f"{job.file_path} {reason}. Please report it with the file."
    return QuarantinedPaper(job.paper_id, job.file_path, message, job.fingerprint)
