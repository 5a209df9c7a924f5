"""Which papers' chunks and passages must be made anew, and the table that results.

Tables in, tables out; assets read, check and publish them.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from rag_assets.core.errors import GuardrailBroken, RagAssetsError
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
from rag_assets.corpus.chunking.cuts import CountAll
from rag_assets.corpus.chunking.passages import PASSAGER_VERSION, cut_passages
from rag_assets.corpus.chunking.promises import (
    QuarantinedPaper,
    broken_by_chunks,
    broken_by_passages,
)

logger = logging.getLogger(__name__)


logger = logging.getLogger(__name__)


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
    quarantined: Sequence[QuarantinedPaper] = (),
) -> Updated:
    """Bring the chunks up to date with the blocks, paper by paper.

    `published`: schema CHUNKS. `blocks`: schema BLOCKS, sorted by paper, a paper's rows in order. `quarantined`: by the
    run before. Returns the new table, sorted by paper and ordinal. A paper whose chunks break a promise has no rows in
    it. Raises GuardrailBroken when all of several papers do.
    """
    with_text = blocks.select(["paper_id", "fingerprint"]).filter(blocks["is_indexable"])  # the others have no chunks
    wanted = {
        paper: fingerprint(made_of, settings.fingerprint(), counter.name, CHUNKER_VERSION)
        for paper, made_of in fingerprints_by(with_text, "paper_id").items()
    }

    def cut(paper_id: str, own: pa.Table) -> pa.Table:
        file_path, source = own["file_path"][0].as_py(), own["source"][0].as_py()
        made = chunk_paper(paper_id, blocks_from(own), file_path, source, settings, counter, wanted[paper_id])
        return to_table([chunk_row(chunk) for chunk in made], CHUNKS)

    def broken(made: pa.Table, own: pa.Table) -> Iterable[str]:
        return broken_by_chunks(made, own, settings)

    return _update(published, quarantined, blocks, wanted, cut, broken)


def update_passages(
    published: pa.Table,
    chunks: pa.Table,
    settings: PassageSettings,
    window: ReadingWindow,
    quarantined: Sequence[QuarantinedPaper] = (),
    added: AddedText = AddedText(),
) -> Updated:
    """Bring the passages up to date with the chunks, paper by paper.

    `published`: schema PASSAGES. `chunks`: schema CHUNKS, as `update_chunks` returns it. `quarantined`: by the run
    before. Returns the new table, in the order of the chunks and of the passages in them. Papers whose passages break a
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

    def cut(paper_id: str, own: pa.Table) -> pa.Table:
        title = added.titles.get(paper_id, "")
        made = cut_passages(chunks_from(own), settings, window.count_tokens, window.max_tokens, title, added.summaries)
        return to_table([passage_row(passage, wanted[paper_id]) for passage in made], PASSAGES)

    def broken(made: pa.Table, _own: pa.Table) -> Iterable[str]:
        return broken_by_passages(made, window.max_tokens)

    return _update(published, quarantined, chunks, wanted, cut, broken)


def _update(
    published: pa.Table,
    quarantined: Sequence[QuarantinedPaper],
    inputs: pa.Table,
    wanted: Mapping[str, str],
    cut: Callable[[str, pa.Table], pa.Table],
    broken: Callable[[pa.Table, pa.Table], Iterable[str]],
) -> Updated:
    """cut: makes the rows of a paper from its id and its rows of `inputs`. broken: the promises that the rows made of
    a paper break, given them and its rows of `inputs`."""

    def cut_or_quarantined(paper_id: str, own: pa.Table) -> pa.Table | QuarantinedPaper:
        """A failure that no paper can cause (a missing model, a full disk) is raised: it would quarantine them all."""
        try:
            made = cut(paper_id, own)
        except (RagAssetsError, OSError, MemoryError):
            raise
        except Exception as error:  # any error: one paper must not stop the others
            logger.exception("%s could not be cut", paper_id)
            reason = f"could not be cut, for a reason that was not foreseen ({type(error).__name__}: {error})"
        else:
            if (problem := next(iter(broken(made, own)), None)) is None:
                return made
            reason = problem
        file_path = own["file_path"][0].as_py()
        message = f"{file_path} {reason}. Please report it with the file."
        return QuarantinedPaper(paper_id, file_path, message, wanted[paper_id])

    known = {paper.paper_id: paper.fingerprint for paper in quarantined} | fingerprints_by(published, "paper_id")
    plan = plan_update(known, wanted)
    if plan.is_noop:
        return Updated(published, plan, list(quarantined))
    results = map_papers(rows_of(inputs, "paper_id", plan.to_build), cut_or_quarantined)
    failed = [result for result in results if isinstance(result, QuarantinedPaper)]
    if len(results) > 1 and not plan.unchanged and len(failed) == len(results):
        raise GuardrailBroken(
            f"None of the {len(results)} papers can be used, so nothing was changed. The first: {failed[0].error}"
        )
    new = pa.concat_tables([published.schema.empty_table(), *(made for made in results if isinstance(made, pa.Table))])
    kept = rows_without(published, "paper_id", plan.to_drop)
    table = merged(kept, new, ["paper_id"])  # the sort is stable: a paper's rows stay in order
    still = [paper for paper in quarantined if paper.paper_id in plan.unchanged]
    return Updated(table, plan, sorted([*still, *failed], key=lambda paper: paper.paper_id))
