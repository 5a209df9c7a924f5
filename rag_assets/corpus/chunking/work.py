"""What a worker makes of one paper: its chunks, or the passages of its chunks. Bytes in, bytes out.

`updates` decides which papers are sent and puts the results together.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from rag_assets.core.errors import RagAssetsError
from rag_assets.core.paper_tables import QuarantinedPaper
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
from rag_assets.corpus.chunking.chunker import chunk_paper
from rag_assets.corpus.chunking.cuts import CountAll
from rag_assets.corpus.chunking.passages import cut_passages
from rag_assets.corpus.chunking.promises import broken_by_chunks, broken_by_passages

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
class PaperToCut:
    """A paper as it is sent to a worker."""

    paper_id: str
    file_path: str
    """For messages."""
    packed: bytes
    """Its rows of the table it is cut from, see `tables.packed`."""
    fingerprint: str
    """That the rows made of them are given."""
    title: str = ""
    """Searched with its passages."""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """Likewise, by chunk_id; chunks without one are left out."""

    def quarantined(self, reason: str) -> QuarantinedPaper:
        """reason: a phrase that can follow the name of the file."""
        return QuarantinedPaper(
            self.paper_id, self.file_path, f"{self.file_path} {reason}", self.fingerprint
        )


Cut = bytes | QuarantinedPaper
"""The packed rows made of a paper, or why it cannot be used."""


def cut_chunks(paper: PaperToCut, settings: ChunkingSettings, counter: TokenCounter) -> Cut:
    """Rows of schema CHUNKS; the paper's own rows are of schema BLOCKS."""

    def cut(own: pa.Table) -> pa.Table:
        source = own["source"][0].as_py()
        blocks = blocks_from(own)
        made = chunk_paper(
            paper.paper_id, blocks, paper.file_path, source, settings, counter, paper.fingerprint
        )
        return to_table([chunk_row(chunk) for chunk in made], CHUNKS)

    return _cut_or_quarantined(paper, cut, lambda made, own: broken_by_chunks(made, own, settings))


def cut_passages_of(paper: PaperToCut, settings: PassageSettings, window: ReadingWindow) -> Cut:
    """Rows of schema PASSAGES; the paper's own rows are of schema CHUNKS."""

    def cut(own: pa.Table) -> pa.Table:
        chunks = chunks_from(own)
        made = cut_passages(
            chunks, settings, window.count_tokens, window.max_tokens, paper.title, paper.summaries
        )
        return to_table([passage_row(passage, paper.fingerprint) for passage in made], PASSAGES)

    return _cut_or_quarantined(
        paper, cut, lambda made, _: broken_by_passages(made, window.max_tokens)
    )


def _cut_or_quarantined(
    paper: PaperToCut,
    cut: Callable[[pa.Table], pa.Table],
    broken: Callable[[pa.Table, pa.Table], Iterable[str]],
) -> Cut:
    """A failure that no paper can cause (a missing model, a full disk) is raised: it would
    quarantine them all. One of memory is raised too, and told by the workforce."""
    own = unpacked(paper.packed)
    try:
        made = cut(own)
    except (RagAssetsError, OSError, MemoryError):
        raise
    except Exception as error:  # any error: one paper must not stop the others
        logger.exception("%s could not be cut", paper.paper_id)
        reason = f"could not be cut, for a reason that was not foreseen ({type(error).__name__}: {error})"
    else:
        if (problem := next(iter(broken(made, own)), None)) is None:
            return packed(made)
        reason = problem
    return paper.quarantined(f"{reason}. Please report it with the file.")
