"""Which papers' chunks and passages must be made anew, and the table that results.

Tables in, tables out; assets read, check and publish them.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import pyarrow as pa

from rag_assets.core.errors import GuardrailBroken
from rag_assets.core.incremental import UpdatePlan, fingerprint, plan_update
from rag_assets.core.settings import ChunkingSettings, PassageSettings
from rag_assets.core.tables import (
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
from rag_assets.core.text.tokens import TokenCounter
from rag_assets.corpus.chunking.chunker import CHUNKER_VERSION, chunk_paper
from rag_assets.corpus.chunking.oversize import CountAll
from rag_assets.corpus.chunking.passages import PASSAGER_VERSION, cut_passages
from rag_assets.corpus.chunking.promises import broken_by_chunks, broken_by_passages
from rag_assets.corpus.chunking.quarantine import QuarantinedPaper, cut_or_quarantined

Cut = Callable[[str, pa.Table], pa.Table | QuarantinedPaper]
"""A paper and its rows of the input -> its rows of the output, or why it has none."""


class Updated(NamedTuple):
    """A table brought up to date."""

    table: pa.Table
    plan: UpdatePlan
    quarantined: list[QuarantinedPaper]
    """Papers without rows, because what was made of them broke a promise; sorted by paper_id."""


@dataclass(frozen=True)
class ReadingWindow:
    """What an embedding model can read."""

    name: str
    """Names the tokenizer; another name makes all passages anew."""
    count_tokens: CountAll
    """Tokens of each text, special tokens included, not truncated."""
    max_tokens: int


@dataclass(frozen=True)
class Beside:
    """What is searched with passages and is none of their text."""

    titles: Mapping[str, str] = field(default_factory=dict)
    """Of the papers that have one, by paper_id."""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """Of the chunks that have one, by chunk_id."""


def update_chunks(
    published: pa.Table,
    blocks: pa.Table,
    settings: ChunkingSettings,
    counter: TokenCounter,
    quarantined: Sequence[QuarantinedPaper] = (),
) -> Updated:
    """Bring the chunks up to date with the blocks, paper by paper.

    `published`: schema CHUNKS. `blocks`: schema BLOCKS, sorted by paper, a paper's rows in order. `quarantined`: by the
    run before. Returns the new table, sorted by paper and ordinal. A paper whose chunks break a promise has no rows in
    it. Raises GuardrailBroken when all of several papers do.
    """
    known = blocks.select(["paper_id", "fingerprint"])
    with_text = known.filter(blocks["is_indexable"])  # a paper without has no chunks and is not waited for
    wanted = {
        paper: fingerprint(made_of, settings.fingerprint(), counter.name, CHUNKER_VERSION)
        for paper, made_of in fingerprints_by(with_text, "paper_id").items()
    }

    def cut(paper_id: str, own: pa.Table) -> pa.Table | QuarantinedPaper:
        file_path, source = own["file_path"][0].as_py(), own["source"][0].as_py()

        def chunks() -> pa.Table:
            made = chunk_paper(paper_id, blocks_from(own), file_path, source, settings, counter, wanted[paper_id])
            return to_table([chunk_row(chunk) for chunk in made], CHUNKS)

        broken = partial(broken_by_chunks, blocks=own, settings=settings)
        return cut_or_quarantined(paper_id, file_path, wanted[paper_id], chunks, broken)

    return _update(published, quarantined, blocks, wanted, cut)


def update_passages(
    published: pa.Table,
    chunks: pa.Table,
    settings: PassageSettings,
    window: ReadingWindow,
    quarantined: Sequence[QuarantinedPaper] = (),
    beside: Beside = Beside(),
) -> Updated:
    """Bring the passages up to date with the chunks, paper by paper.

    `published`: schema PASSAGES. `chunks`: schema CHUNKS, as `update_chunks` returns it. `quarantined`: by the run
    before. `beside`: titles and summaries. Returns the new table, in the order of the chunks and of
    the passages in them. Papers whose passages break a promise are treated as in `update_chunks`.
    """
    summaries = _by_paper(chunks, beside.summaries)
    reads = (settings.fingerprint(), window.name, window.max_tokens, PASSAGER_VERSION)
    wanted = {
        paper: fingerprint(made_of, beside.titles.get(paper, ""), summaries.get(paper, []), *reads)
        for paper, made_of in fingerprints_by(chunks, "paper_id").items()
    }

    def cut(paper_id: str, own: pa.Table) -> pa.Table | QuarantinedPaper:
        def passages() -> pa.Table:
            title = beside.titles.get(paper_id, "")
            made = cut_passages(
                chunks_from(own), settings, window.count_tokens, window.max_tokens, title, beside.summaries
            )
            return to_table([passage_row(passage, wanted[paper_id]) for passage in made], PASSAGES)

        broken = partial(broken_by_passages, max_tokens=window.max_tokens)
        return cut_or_quarantined(paper_id, own["file_path"][0].as_py(), wanted[paper_id], passages, broken)

    return _update(published, quarantined, chunks, wanted, cut)


def _by_paper(chunks: pa.Table, summaries: Mapping[str, str]) -> dict[str, list[str]]:
    """Chunk ids and summaries of each paper that has any."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for paper, chunk in zip(chunks["paper_id"].to_pylist(), chunks["chunk_id"].to_pylist(), strict=True):
        if chunk in summaries:
            found[paper] += [chunk, summaries[chunk]]
    return found


def _update(
    published: pa.Table,
    quarantined: Sequence[QuarantinedPaper],
    inputs: pa.Table,
    wanted: Mapping[str, str],
    cut: Cut,
) -> Updated:
    known = {one.paper_id: one.fingerprint for one in quarantined} | fingerprints_by(published, "paper_id")
    plan = plan_update(known, wanted)
    if plan.is_noop:
        return Updated(published, plan, list(quarantined))
    made = map_papers(rows_of(inputs, "paper_id", plan.to_build), cut)
    failed = [one for one in made if isinstance(one, QuarantinedPaper)]
    if len(made) > 1 and not plan.unchanged and len(failed) == len(made):
        raise GuardrailBroken(
            f"None of the {len(made)} papers can be used, so nothing was changed. The first: {failed[0].error}"
        )
    new = pa.concat_tables([published.schema.empty_table(), *(one for one in made if isinstance(one, pa.Table))])
    kept = rows_without(published, "paper_id", plan.to_drop)
    table = merged(kept, new, ["paper_id"])  # the sort is stable: a paper's rows stay in order
    still = [one for one in quarantined if one.paper_id in plan.unchanged]
    return Updated(table, plan, sorted([*still, *failed], key=lambda one: one.paper_id))
