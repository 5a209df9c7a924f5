"""Brings chunks and passages up to date: a worker turns the packed rows of one paper into packed
rows.

Assets check and publish what is made.
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
    """Names the tokenizer; another name makes all passages anew."""
    count_tokens: CountAll
    """Tokens of each text, special tokens included, not truncated. Can be pickled, since workers
    call it."""
    max_tokens: int


@dataclass(frozen=True)
class AddedText:
    """Text that is searched with the passages without being part of them."""

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

    `published`: schema CHUNKS. `blocks`: schema BLOCKS. A paper whose chunks break a promise is
    quarantined.
    """
    cut_by = (settings.fingerprint(), counter.name, CHUNKER_VERSION)
    cut = partial(cut_chunks, settings=settings, counter=counter)
    return update_each(published, blocks, lambda _: cut_by, cut, spread)


def update_passages(
    published: RowsByPaper,
    chunks: RowsByPaper,
    settings: PassageSettings,
    window: ReadingWindow,
    spread: Spread,
    added: AddedText = AddedText(),
) -> PapersUpdate:
    """Bring the passages up to date with the chunks, as `update_chunks`.

    `published`: schema PASSAGES. `chunks`: schema CHUNKS.
    """
    reads = (settings.fingerprint(), window.name, window.max_tokens, PASSAGER_VERSION)

    def made_with(paper: str) -> list[object]:
        title, summaries = added.of(paper)
        return [title, [*chain(*summaries.items())], *reads]

    cut = partial(cut_passages_of, settings=settings, window=window)
    return update_each(published, chunks, made_with, cut, spread, texts=added.of)


def cut_chunks(job: PaperJob, settings: ChunkingSettings, counter: TokenCounter) -> PaperOutcome:
    """Rows of schema CHUNKS; the job has rows of schema BLOCKS."""

    def cut(own: pa.Table) -> pa.Table:
        source = own["source"][0].as_py()
        blocks = blocks_from(own)
        made = chunk_paper(
            job.paper_id, blocks, job.file_path, source, settings, counter, job.fingerprint
        )
        return to_table(list(map(chunk_row, made)), CHUNKS)

    return _cut_or_quarantined(job, cut, lambda made, own: broken_by_chunks(made, own, settings))


def cut_passages_of(
    job: PaperJob, settings: PassageSettings, window: ReadingWindow
) -> PaperOutcome:
    """Rows of schema PASSAGES; the job has rows of schema CHUNKS."""

    def cut(own: pa.Table) -> pa.Table:
        chunks = chunks_from(own)
        made = cut_passages(
            chunks, settings, window.count_tokens, window.max_tokens, job.title, job.summaries
        )
        return to_table([passage_row(passage, job.fingerprint) for passage in made], PASSAGES)

    return _cut_or_quarantined(
        job, cut, lambda made, _: broken_by_passages(made, window.max_tokens)
    )


def _cut_or_quarantined(
    job: PaperJob,
    cut: Callable[[pa.Table], pa.Table],
    broken: Callable[[pa.Table, pa.Table], Iterable[str]],
) -> PaperOutcome:
    """A failure that no paper can cause (a missing model, a full disk) is raised: it would
    quarantine them all. One of memory is raised too, and told by the workforce."""
    own = unpacked(job.packed)
    try:
        made = cut(own)
    except (RagAssetsError, OSError, MemoryError):
        raise
    except Exception as error:  # any error: one paper must not stop the others
        logger.exception("%s could not be cut", job.paper_id)
        reason = f"could not be cut, for a reason that was not foreseen ({type(error).__name__}: {error})"
    else:
        if (problem := next(iter(broken(made, own)), None)) is None:
            return packed(made)
        reason = problem
    message = f"{job.file_path} {reason}. Please report it with the file."
    return QuarantinedPaper(job.paper_id, job.file_path, message, job.fingerprint)
