"""Which papers' chunks and passages must be made anew, and the table that results.

Tables in, tables out: reading, auditing and publishing them is the assets' business. Work runs over papers, on the
executor that is handed in or else right here.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.chunking.chunker import CHUNKER_VERSION, chunk_paper
from rag_assets.chunking.oversize import CountAll
from rag_assets.chunking.passages import PASSAGER_VERSION, cut_passages
from rag_assets.incremental import UpdatePlan, fingerprint, plan_update
from rag_assets.model import BlockKind, Zone
from rag_assets.settings import ChunkingSettings, PassageSettings
from rag_assets.tables import (
    CHUNKS,
    PASSAGES,
    blocks_from,
    chunk_row,
    chunks_from,
    fingerprints_by,
    map_papers,
    merged,
    passage_row,
    rows_of,
    rows_without,
    to_table,
)
from rag_assets.tokens import TokenCounter

_PAPERS_A_TASK = 16

Work = Callable[[pa.Table], pa.Table]


@dataclass(frozen=True)
class ReadingWindow:
    """What an embedding model can read. Must survive pickling when an executor of processes is used."""

    name: str
    """Names the tokenizer; another name makes all passages anew."""
    count_tokens: CountAll
    """Tokens of each text, special tokens included, not truncated."""
    max_tokens: int


def update_chunks(
    published: pa.Table,
    blocks: pa.Table,
    settings: ChunkingSettings,
    counter: TokenCounter,
    executor: Executor | None = None,
) -> tuple[pa.Table, UpdatePlan]:
    """Bring the chunks up to date with the blocks, paper by paper.

    `published`: schema CHUNKS. `blocks`: schema BLOCKS, a paper's rows in order. Returns the new table, sorted by
    paper and ordinal, and what was done.
    """
    indexable = _indexable(blocks)
    wanted = {
        paper: fingerprint(made_of, settings.fingerprint(), counter.name, CHUNKER_VERSION)
        for paper, made_of in fingerprints_by(indexable, "paper_id").items()
    }
    work = partial(_chunk_papers, settings=settings, counter=counter, wanted=wanted)
    return _update(published, blocks, wanted, work, executor)


def update_passages(
    published: pa.Table,
    chunks: pa.Table,
    settings: PassageSettings,
    window: ReadingWindow,
    executor: Executor | None = None,
) -> tuple[pa.Table, UpdatePlan]:
    """Bring the passages up to date with the chunks, paper by paper.

    `published`: schema PASSAGES. `chunks`: schema CHUNKS, as `update_chunks` returns it. Returns the new table, in
    the order of the chunks and of the passages in them, and what was done.
    """
    wanted = {
        paper: fingerprint(made_of, settings.fingerprint(), window.name, window.max_tokens, PASSAGER_VERSION)
        for paper, made_of in fingerprints_by(chunks, "paper_id").items()
    }
    work = partial(_cut_papers, settings=settings, window=window, wanted=wanted)
    return _update(published, chunks, wanted, work, executor)


def _indexable(blocks: pa.Table) -> pa.Table:
    """The blocks that can become text of a chunk: a paper without any has no chunks and is not waited for."""
    return blocks.filter(
        pc.and_(
            pc.and_(pc.not_equal(blocks["kind"], str(BlockKind.HEADING)), pc.not_equal(blocks["zone"], str(Zone.BACK))),
            pc.match_substring_regex(blocks["text"], r"\S"),
        )
    )


def _update(
    published: pa.Table, inputs: pa.Table, wanted: dict[str, str], work: Work, executor: Executor | None
) -> tuple[pa.Table, UpdatePlan]:
    plan = plan_update(fingerprints_by(published, "paper_id"), wanted)
    if plan.is_noop:
        return published, plan
    run: Callable[[Work, Iterable[pa.Table]], Iterable[pa.Table]] = executor.map if executor else map
    made = list(run(work, _batches(inputs, plan.to_build)))
    kept = rows_without(published, "paper_id", plan.to_drop)
    new = pa.concat_tables([published.schema.empty_table(), *made])
    return merged(kept, new, ["paper_id"]), plan  # the sort is stable: a paper's rows stay in order


def _batches(inputs: pa.Table, papers: Sequence[str]) -> Iterable[pa.Table]:
    for first in range(0, len(papers), _PAPERS_A_TASK):
        yield rows_of(inputs, "paper_id", papers[first : first + _PAPERS_A_TASK]).sort_by("paper_id")


def _chunk_papers(
    blocks: pa.Table, *, settings: ChunkingSettings, counter: TokenCounter, wanted: dict[str, str]
) -> pa.Table:
    def rows(paper_id: str, own: pa.Table) -> list[dict[str, object]]:
        file_path, source = own["file_path"][0].as_py(), own["source"][0].as_py()
        chunks = chunk_paper(paper_id, blocks_from(own), file_path, source, settings, counter, wanted[paper_id])
        return [chunk_row(chunk) for chunk in chunks]

    return to_table([row for paper in map_papers(blocks, rows) for row in paper], CHUNKS)


def _cut_papers(
    chunks: pa.Table, *, settings: PassageSettings, window: ReadingWindow, wanted: dict[str, str]
) -> pa.Table:
    def rows(paper_id: str, own: pa.Table) -> list[dict[str, object]]:
        passages = cut_passages(chunks_from(own), settings, window.count_tokens, window.max_tokens)
        return [passage_row(passage, wanted[paper_id]) for passage in passages]

    return to_table([row for paper in map_papers(chunks, rows) for row in paper], PASSAGES)
