"""Which papers' chunks and passages must be made anew, and the table that results.

Tables in, tables out: reading, auditing and publishing them is the assets' business. Work runs over papers, on the
executor that is handed in or else right here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import pyarrow as pa

from rag_assets.chunking.chunker import CHUNKER_VERSION, chunk_paper
from rag_assets.chunking.oversize import CountAll
from rag_assets.chunking.passages import PASSAGER_VERSION, cut_passages
from rag_assets.chunking.promises import broken_by_chunks, broken_by_passages
from rag_assets.chunking.quarantine import CutPaper, QuarantinedPaper, cut_or_quarantined
from rag_assets.chunking.sections import is_indexable
from rag_assets.domain import Block, BlockKind, Zone
from rag_assets.errors import GuardrailBroken
from rag_assets.incremental import UpdatePlan, fingerprint, plan_update
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
from rag_assets.text.tokens import TokenCounter

_PAPERS_A_TASK = 16

Work = Callable[[pa.Table], list[tuple[str, CutPaper]]]
"""The rows of some papers -> (paper_id, what it came to) of each."""


class Updated(NamedTuple):
    """A table brought up to date."""

    table: pa.Table
    plan: UpdatePlan
    quarantined: list[QuarantinedPaper]
    """Papers without rows, because what was made of them broke a promise; sorted by paper_id."""


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
    quarantined: Sequence[QuarantinedPaper] = (),
) -> Updated:
    """Bring the chunks up to date with the blocks, paper by paper.

    `published`: schema CHUNKS. `blocks`: schema BLOCKS, a paper's rows in order. `quarantined`: by the run before.
    Returns the new table, sorted by paper and ordinal. A paper whose chunks break a promise has no rows in it. Raises
    GuardrailBroken when all of several papers do.
    """
    indexable = _indexable(blocks)
    wanted = {
        paper: fingerprint(made_of, settings.fingerprint(), counter.name, CHUNKER_VERSION)
        for paper, made_of in fingerprints_by(indexable, "paper_id").items()
    }
    work = partial(_chunk_papers, settings=settings, counter=counter, wanted=wanted)
    return _update(published, quarantined, blocks, wanted, partial(_run, work, executor))


def update_passages(
    published: pa.Table,
    chunks: pa.Table,
    settings: PassageSettings,
    window: ReadingWindow,
    executor: Executor | None = None,
    quarantined: Sequence[QuarantinedPaper] = (),
) -> Updated:
    """Bring the passages up to date with the chunks, paper by paper.

    `published`: schema PASSAGES. `chunks`: schema CHUNKS, as `update_chunks` returns it. `quarantined`: by the run
    before. Returns the new table, in the order of the chunks and of the passages in them. Papers whose passages break
    a promise are treated as in `update_chunks`.
    """
    wanted = {
        paper: fingerprint(made_of, settings.fingerprint(), window.name, window.max_tokens, PASSAGER_VERSION)
        for paper, made_of in fingerprints_by(chunks, "paper_id").items()
    }
    work = partial(_cut_papers, settings=settings, window=window, wanted=wanted)
    return _update(published, quarantined, chunks, wanted, partial(_run, work, executor))


def _indexable(blocks: pa.Table) -> pa.Table:
    """The blocks that can become text of a chunk: a paper without any has no chunks and is not waited for."""
    columns = (blocks[name].to_pylist() for name in ("kind", "text", "zone", "title"))
    mask = [
        is_indexable(Block(BlockKind(kind), text, zone=Zone(zone), title=title))
        for kind, text, zone, title in zip(*columns, strict=True)
    ]
    return blocks.filter(pa.array(mask, pa.bool_()))


def _update(
    published: pa.Table,
    quarantined: Sequence[QuarantinedPaper],
    inputs: pa.Table,
    wanted: Mapping[str, str],
    run: Callable[[Iterable[pa.Table]], Iterable[list[tuple[str, CutPaper]]]],
) -> Updated:
    before = {one.paper_id: one for one in quarantined}
    known = {one.paper_id: one.fingerprint for one in quarantined} | fingerprints_by(published, "paper_id")
    plan = plan_update(known, wanted)
    if plan.is_noop:
        return Updated(published, plan, list(quarantined))
    made = dict(paper for batch in run(_batches(inputs, plan.to_build)) for paper in batch)
    if len(made) > 1 and not plan.unchanged and all(paper.rows is None for paper in made.values()):
        first = next(iter(made.values())).error
        raise GuardrailBroken(f"None of the {len(made)} papers can be used, so nothing was changed. The first: {first}")
    tables = [paper.rows for paper in made.values() if paper.rows is not None]
    new = pa.concat_tables([published.schema.empty_table(), *tables])
    kept = rows_without(published, "paper_id", plan.to_drop)
    table = merged(kept, new, ["paper_id"])  # the sort is stable: a paper's rows stay in order
    failed = {paper_id: paper.error for paper_id, paper in made.items() if paper.rows is None}
    files = dict(zip(inputs["paper_id"].to_pylist(), inputs["file_path"].to_pylist(), strict=True)) if failed else {}
    stay = [before[paper_id] for paper_id in plan.unchanged if paper_id in before]
    news = [QuarantinedPaper(paper_id, files[paper_id], error, wanted[paper_id]) for paper_id, error in failed.items()]
    return Updated(table, plan, sorted([*stay, *news], key=lambda one: one.paper_id))


def _run(work: Work, executor: Executor | None, batches: Iterable[pa.Table]) -> Iterable[list[tuple[str, CutPaper]]]:
    return executor.map(work, batches) if executor else map(work, batches)


def _batches(inputs: pa.Table, papers: Sequence[str]) -> Iterable[pa.Table]:
    for first in range(0, len(papers), _PAPERS_A_TASK):
        yield rows_of(inputs, "paper_id", papers[first : first + _PAPERS_A_TASK]).sort_by("paper_id")


def _chunk_papers(
    blocks: pa.Table, *, settings: ChunkingSettings, counter: TokenCounter, wanted: Mapping[str, str]
) -> list[tuple[str, CutPaper]]:
    def cut(paper_id: str, own: pa.Table) -> tuple[str, CutPaper]:
        file_path, source = own["file_path"][0].as_py(), own["source"][0].as_py()

        def chunks() -> pa.Table:
            made = chunk_paper(paper_id, blocks_from(own), file_path, source, settings, counter, wanted[paper_id])
            return to_table([chunk_row(chunk) for chunk in made], CHUNKS)

        return paper_id, cut_or_quarantined(
            paper_id, file_path, chunks, lambda made: broken_by_chunks(made, own, settings)
        )

    return map_papers(blocks, cut)


def _cut_papers(
    chunks: pa.Table, *, settings: PassageSettings, window: ReadingWindow, wanted: Mapping[str, str]
) -> list[tuple[str, CutPaper]]:
    def cut(paper_id: str, own: pa.Table) -> tuple[str, CutPaper]:
        def passages() -> pa.Table:
            made = cut_passages(chunks_from(own), settings, window.count_tokens, window.max_tokens)
            return to_table([passage_row(passage, wanted[paper_id]) for passage in made], PASSAGES)

        return paper_id, cut_or_quarantined(
            paper_id,
            own["file_path"][0].as_py(),
            passages,
            lambda made: broken_by_passages(made, window.max_tokens),
        )

    return map_papers(chunks, cut)
