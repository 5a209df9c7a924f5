"""Decides which papers' chunks and passages must be made again, and makes them.

Assets check and publish what is made. `work` is what a worker does with one paper.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

from rag_assets.core.incremental import UpdatePlan, fingerprint, plan_update
from rag_assets.core.paper_tables import Made, PapersUpdate, QuarantinedPaper, RowsByPaper
from rag_assets.core.settings import ChunkingSettings, PassageSettings
from rag_assets.core.tables import packed, unpacked
from rag_assets.core.text.tokens import TokenCounter
from rag_assets.core.workforce.seam import Spread
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.corpus.chunking.chunker import CHUNKER_VERSION
from rag_assets.corpus.chunking.passages import PASSAGER_VERSION
from rag_assets.corpus.chunking.work import (
    Cut,
    PaperToCut,
    ReadingWindow,
    cut_chunks,
    cut_passages_of,
)


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
