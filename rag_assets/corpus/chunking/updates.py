"""Which papers' chunks and passages must be made anew, and the table that results.

Tables in, tables out; assets read, check and publish them. `work` is what a worker does with one paper.
"""

from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import pyarrow as pa

from rag_assets.core.errors import GuardrailBroken
from rag_assets.core.incremental import UpdatePlan, fingerprint, plan_update
from rag_assets.core.settings import ChunkingSettings, PassageSettings
from rag_assets.core.tables import by_paper, fingerprints_by, merged, packed, rows_of, rows_without, unpacked
from rag_assets.core.text.tokens import TokenCounter
from rag_assets.core.workforce.seam import Spread
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.corpus.chunking.chunker import CHUNKER_VERSION
from rag_assets.corpus.chunking.passages import PASSAGER_VERSION
from rag_assets.corpus.chunking.promises import QuarantinedPaper
from rag_assets.corpus.chunking.work import Cut, PaperToCut, ReadingWindow, cut_chunks, cut_passages_of


class Updated(NamedTuple):
    """A table brought up to date."""

    table: pa.Table
    plan: UpdatePlan
    quarantined: list[QuarantinedPaper]
    """Papers without rows, because what was made of them broke a promise; sorted by paper_id."""


@dataclass(frozen=True)
class AddedText:
    """Text that is searched with the passages without being part of them."""

    titles: Mapping[str, str] = field(default_factory=dict)
    """Titles of papers, by paper_id; papers without one are left out."""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """Summaries of chunks, by chunk_id; chunks without one are left out."""


def update_chunks(
    published: pa.Table,
    blocks: pa.Table,
    settings: ChunkingSettings,
    counter: TokenCounter,
    spread: Spread,
    quarantined: Sequence[QuarantinedPaper] = (),
) -> Updated:
    """Bring the chunks up to date with the blocks, paper by paper.

    `published`: schema CHUNKS. `blocks`: schema BLOCKS, sorted by paper, a paper's rows in order. `spread`: does the
    work on papers. `quarantined`: by the run before. Returns the new table, sorted by paper and ordinal. A paper whose
    chunks break a promise, or that ends its worker, has no rows in it. Raises GuardrailBroken when all of several
    papers do.
    """
    with_text = blocks.select(["paper_id", "fingerprint"]).filter(blocks["is_indexable"])  # the others have no chunks
    wanted = {
        paper: fingerprint(made_of, settings.fingerprint(), counter.name, CHUNKER_VERSION)
        for paper, made_of in fingerprints_by(with_text, "paper_id").items()
    }

    def papers(plan: UpdatePlan) -> Iterator[PaperToCut]:
        return _papers(rows_of(blocks, "paper_id", plan.to_build), wanted)

    cut = partial(spread, partial(cut_chunks, settings=settings, counter=counter))
    return _update(published, quarantined, wanted, papers, cut)


def update_passages(
    published: pa.Table,
    chunks: pa.Table,
    settings: PassageSettings,
    window: ReadingWindow,
    spread: Spread,
    quarantined: Sequence[QuarantinedPaper] = (),
    added: AddedText = AddedText(),
) -> Updated:
    """Bring the passages up to date with the chunks, paper by paper.

    `published`: schema PASSAGES. `chunks`: schema CHUNKS, as `update_chunks` returns it. `spread`, `quarantined`: as
    there. Returns the new table, in the order of the chunks and of the passages in them. Papers whose passages break a
    promise are treated as in `update_chunks`.
    """
    summaries: defaultdict[str, list[str]] = defaultdict(list)
    for paper, chunk in zip(chunks["paper_id"].to_pylist(), chunks["chunk_id"].to_pylist(), strict=True):
        if chunk in added.summaries:
            summaries[paper] += [chunk, added.summaries[chunk]]
    reads = (settings.fingerprint(), window.name, window.max_tokens, PASSAGER_VERSION)
    wanted = {
        paper: fingerprint(made_of, added.titles.get(paper, ""), summaries.get(paper, []), *reads)
        for paper, made_of in fingerprints_by(chunks, "paper_id").items()
    }

    def papers(plan: UpdatePlan) -> Iterator[PaperToCut]:
        for paper in _papers(rows_of(chunks, "paper_id", plan.to_build), wanted):
            told = summaries.get(paper.paper_id, [])
            own = dict(zip(told[::2], told[1::2], strict=True))
            yield replace(paper, title=added.titles.get(paper.paper_id, ""), summaries=own)

    cut = partial(spread, partial(cut_passages_of, settings=settings, window=window))
    return _update(published, quarantined, wanted, papers, cut)


def _papers(inputs: pa.Table, wanted: Mapping[str, str]) -> Iterator[PaperToCut]:
    """The papers of a table, one at a time."""
    for paper_id, own in by_paper(inputs):
        yield PaperToCut(paper_id, own["file_path"][0].as_py(), packed(own), wanted[paper_id])


def _update(
    published: pa.Table,
    quarantined: Sequence[QuarantinedPaper],
    wanted: Mapping[str, str],
    papers: Callable[[UpdatePlan], Iterator[PaperToCut]],
    cut: Callable[[Iterator[PaperToCut]], Generator[tuple[PaperToCut, Cut | Failure]]],
) -> Updated:
    """papers: those that the plan builds. cut: the work on each, as `Workforce.map` yields it."""
    known = {paper.paper_id: paper.fingerprint for paper in quarantined} | fingerprints_by(published, "paper_id")
    plan = plan_update(known, wanted)
    if plan.is_noop:
        return Updated(published, plan, list(quarantined))
    made: dict[str, pa.Table] = {}
    failed: list[QuarantinedPaper] = []
    with closing(cut(papers(plan))) as results:
        for paper, result in results:
            if isinstance(result, bytes):
                made[paper.paper_id] = unpacked(result)
            else:
                failed.append(result if isinstance(result, QuarantinedPaper) else paper.quarantined(_blame(result)))
    if len(failed) > 1 and not plan.unchanged and not made:
        first = min(failed, key=lambda paper: paper.paper_id)
        raise GuardrailBroken(
            f"None of the {len(failed)} papers can be used, so nothing was changed. The first: {first.error}"
        )
    new = pa.concat_tables([published.schema.empty_table(), *(made[paper_id] for paper_id in sorted(made))])
    kept = rows_without(published, "paper_id", plan.to_drop)
    table = merged(kept, new, ["paper_id"])  # the sort is stable: a paper's rows stay in order
    still = [paper for paper in quarantined if paper.paper_id in plan.unchanged]
    return Updated(table, plan, sorted([*still, *failed], key=lambda paper: paper.paper_id))


def _blame(failure: Failure) -> str:
    """Why the paper is left out. Raises what no paper can cause."""
    if failure.raised:
        raise failure.raised
    return failure.reason
