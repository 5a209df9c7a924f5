"""Decides which papers' chunks and passages must be made again, and makes them: a worker turns the
packed rows of one paper into packed rows.

Assets check and publish what is made.
"""

import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

import pyarrow as pa

from rag_assets.core.errors import RagAssetsError
from rag_assets.core.incremental import UpdatePlan, fingerprint, plan_update
from rag_assets.core.paper_tables import Made, PapersUpdate, QuarantinedPaper, RowsByPaper
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
from rag_assets.core.workforce.seam import Spread
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.corpus.chunking.chunker import CHUNKER_VERSION, chunk_paper
from rag_assets.corpus.chunking.cuts import CountAll
from rag_assets.corpus.chunking.passages import PASSAGER_VERSION, cut_passages
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


@dataclass(frozen=True)
class AddedText:
    """Text that is searched with the passages without being part of them."""

    titles: Mapping[str, str] = field(default_factory=dict)
    """Titles of papers, by paper_id; papers without one are left out."""
    summaries: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Summaries of chunks, by paper_id and chunk_id; chunks without one are left out."""


def update_chunks(
    published: RowsByPaper,
    blocks: RowsByPaper,
    settings: ChunkingSettings,
    counter: TokenCounter,
    spread: Spread,
) -> PapersUpdate:
    """Bring the chunks up to date with the blocks, paper by paper.

    `published`: schema CHUNKS. `blocks`: schema BLOCKS, a paper's rows in order. `spread`: does the
    work on papers. A paper whose chunks break a promise, or that ends its worker, is quarantined.
    """
    cut_by = (settings.fingerprint(), counter.name, CHUNKER_VERSION)
    wanted = {paper: fingerprint(made_of, *cut_by) for paper, made_of in blocks.papers.items()}
    plan = plan_update(published.known, wanted)
    cut = partial(cut_chunks, settings=settings, counter=counter)
    return PapersUpdate(plan, wanted, _made(_papers(blocks, plan, wanted), partial(spread, cut)))


def update_passages(
    published: RowsByPaper,
    chunks: RowsByPaper,
    settings: PassageSettings,
    window: ReadingWindow,
    spread: Spread,
    added: AddedText = AddedText(),
) -> PapersUpdate:
    """Bring the passages up to date with the chunks, paper by paper.

    `published`: schema PASSAGES. `chunks`: schema CHUNKS, a paper's rows in order. `spread`: as in
    `update_chunks`, and papers whose passages break a promise are treated as there.
    """
    reads = (settings.fingerprint(), window.name, window.max_tokens, PASSAGER_VERSION)
    wanted = {
        paper: fingerprint(
            made_of,
            added.titles.get(paper, ""),
            [*chain(*added.summaries.get(paper, {}).items())],
            *reads,
        )
        for paper, made_of in chunks.papers.items()
    }
    plan = plan_update(published.known, wanted)

    def papers() -> Iterator[PaperToCut]:
        for paper in _papers(chunks, plan, wanted):
            own = added.summaries.get(paper.paper_id, {})
            yield replace(paper, title=added.titles.get(paper.paper_id, ""), summaries=own)

    cut = partial(cut_passages_of, settings=settings, window=window)
    return PapersUpdate(plan, wanted, _made(papers(), partial(spread, cut)))


def _papers(
    inputs: RowsByPaper, plan: UpdatePlan, wanted: Mapping[str, str]
) -> Iterator[PaperToCut]:
    """The papers to build, one at a time."""
    for paper_id, own in inputs.rows(plan.to_build):
        yield PaperToCut(paper_id, own["file_path"][0].as_py(), packed(own), wanted[paper_id])


def _made(
    papers: Iterator[PaperToCut],
    cut: Callable[[Iterator[PaperToCut]], Generator[tuple[PaperToCut, Cut | Failure]]],
) -> Generator[tuple[str, Made]]:
    """cut: the work on each paper, as `Workforce.map` yields it."""
    with closing(cut(papers)) as results:
        for paper, result in results:
            if isinstance(result, Failure):
                result = QuarantinedPaper.lost(
                    paper.paper_id, paper.file_path, result, paper.fingerprint
                )
            yield paper.paper_id, unpacked(result) if isinstance(result, bytes) else result
