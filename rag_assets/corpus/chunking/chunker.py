"""A paper's blocks become its chunks: what is read and cited. Chunks and passages are brought up
to date paper by paper: a worker process gets the packed rows of one paper and returns packed rows.

`units` and `table_rows` define the smallest pieces, `sections` decides which blocks belong
together, `cuts` where a cut may fall, and `planned_chunks` puts the text of a chunk together. The
assets check the result and publish it.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, chain

import pyarrow as pa

from rag_assets.core.domain import (
    BLOCK_SEPARATOR,
    Block,
    BlockKind,
    Chunk,
    known_spans,
    n_text_chars,
    page_range,
)
from rag_assets.core.errors import RagAssetsError
from rag_assets.core.incremental import fingerprint as hash_of
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
from rag_assets.corpus.chunking.cuts import CountAll
from rag_assets.corpus.chunking.passages import PASSAGER_VERSION, cut_passages
from rag_assets.corpus.chunking.planned_chunks import (
    PATH_SEPARATOR,
    PlannedChunk,
    SizedRun,
    planned_chunks,
    sized_runs,
)
from rag_assets.corpus.chunking.promises import broken_by_chunks, broken_by_passages
from rag_assets.corpus.chunking.sections import read_runs
from rag_assets.corpus.chunking.units import Unit
from rag_assets.corpus.each_paper import PaperJob, PaperOutcome, update_each

CHUNKER_VERSION = 18
"""Raise it when the same blocks and settings give other chunks than before."""


def chunk_paper(
    paper_id: str,
    blocks: Sequence[Block],
    file_path: str,
    source: str,
    settings: ChunkingSettings,
    counter: TokenCounter,
    fingerprint: str,
) -> list[Chunk]:
    """The chunks of one paper in reading order.

    `blocks` are all blocks of the paper: offsets count in their texts joined as in `Document.text`.
    No chunk is longer than `settings.max_tokens`: a unit that alone is longer is cut. All text
    outside headings and back matter is in a chunk.
    """
    document = BLOCK_SEPARATOR.join(block.text for block in blocks)
    runs = sized_runs(read_runs(paper_id, blocks), settings, counter)
    neighbourhood = Neighbourhood(runs)
    chunks: list[Chunk] = []
    repeats: dict[str, int] = {}
    for run_index, (sized_run, run_chunks) in enumerate(
        zip(runs, _fitting_chunks(runs, settings, counter), strict=True)
    ):
        for number, (planned, n_tokens) in enumerate(run_chunks, start=1):
            rendered = planned.rendered
            page_start, page_end = page_range(known_spans(rendered.spans, rendered.own_start))
            own_units = range(planned.first, planned.last)
            kinds = {sized_run.units[index].kind for index in own_units} - {BlockKind.HEADING}
            n_own_chars = sum(
                _n_source_chars(sized_run.units, index, document) for index in own_units
            )
            chunks.append(
                Chunk(
                    paper_id=paper_id,
                    section_id=sized_run.run.section_id,
                    section_title=planned.section_path[-1] if planned.section_path else "",
                    chunk_id=_chunk_id(paper_id, planned, repeats),
                    text=rendered.text,
                    n_tokens=n_tokens,
                    page_start=page_start,
                    page_end=page_end,
                    file_path=file_path,
                    source=source,
                    ordinal=len(chunks),
                    section_path=PATH_SEPARATOR.join(planned.section_path),
                    chunk_type=str(kinds.pop()) if len(kinds) == 1 else "mixed",
                    split_sequence=f"{number}/{len(run_chunks)}" if len(run_chunks) > 1 else None,
                    is_continuation=number > 1,
                    context_before=neighbourhood.before(run_index, planned.start),
                    context_after=neighbourhood.after(run_index, planned.last),
                    char_start=sized_run.units[planned.start].start,
                    char_end=sized_run.units[planned.last - 1].end,
                    is_generated=sized_run.run.is_generated,
                    spans=rendered.spans,
                    fingerprint=fingerprint,
                    own_start=rendered.own_start,
                    n_own_chars=n_own_chars,
                    sections=rendered.sections,
                    units=rendered.units,
                )
            )
    return chunks


def _n_source_chars(units: Sequence[Unit], index: int, document: str) -> int:
    """The number of the paper's characters that a unit represents; 0 for a heading.

    The text of a table row is written anew ("Site: lung | n: 12"), so its characters are counted in
    the document: from the end of the previous row to the end of this one. The lines skipped between
    them (a group's name, a header) are repeated in the row's text, so they are counted here.
    """
    unit, previous = units[index], units[index - 1] if index else None
    if unit.kind is BlockKind.HEADING:
        return 0
    is_next_row = (
        unit.is_linearised and previous and previous.is_linearised and previous.block == unit.block
    )
    start = previous.end if previous and is_next_row else unit.start
    return n_text_chars(unit.text if unit.is_caption else document[start : unit.end])


def _chunk_id(paper_id: str, chunk: PlannedChunk, repeats: dict[str, int]) -> str:
    """The chunk's id: a hash of its section path and text. A second chunk of the same path and text
    gets "-2", a third "-3"; `repeats` counts the ids of the paper so far."""
    id_ = f"{paper_id}:{hash_of('chunk', chunk.section_path, chunk.rendered.text)[:12]}"
    repeats[id_] = repeats.get(id_, 0) + 1
    return id_ if repeats[id_] == 1 else f"{id_}-{repeats[id_]}"


def _fitting_chunks(
    runs: Sequence[SizedRun], settings: ChunkingSettings, counter: TokenCounter
) -> list[list[tuple[PlannedChunk, int]]]:
    """For each run, its chunks with their exact sizes in tokens.

    A text may have more tokens than its units counted one by one. A run with a chunk above the
    maximum is cut again with a lower limit, in the end to one unit per chunk. Each round lowers the
    limit twice as fast as the round before, so few rounds are needed. A size is at least 1, since
    some tokenizers find no token in rare characters.
    """
    fitting: list[list[tuple[PlannedChunk, int]]] = [[] for _ in runs]
    pending = dict.fromkeys(range(len(runs)), settings.max_tokens)
    step_factor = 1
    while pending:
        planned = {
            index: planned_chunks(runs[index], settings, limit) for index, limit in pending.items()
        }
        counts = iter(
            counter.count_all(
                [chunk.rendered.text for index in pending for chunk in planned[index]]
            )
        )
        for index, limit in list(pending.items()):
            counted = [(chunk, max(1, next(counts))) for chunk in planned[index]]
            excess = max((n_tokens for _, n_tokens in counted), default=0) - settings.max_tokens
            if excess > 0 and limit > 0:
                pending[index] = limit - step_factor * excess
            else:
                fitting[index] = counted
                del pending[index]
        step_factor *= 2
    return fitting


_CONTEXT_TOKENS, _CONTEXT_WORDS = 60, 45
"""Limits of the text around a chunk: whole sentences of at most 60 tokens together. If the nearest
sentence alone is longer, 45 of its words."""


class Neighbourhood:
    """Finds the text before and after a chunk in its outermost section, for readers who see the
    chunk alone.

    Headings and text that a model wrote are skipped.
    """

    def __init__(self, runs: Sequence[SizedRun]) -> None:
        self._first_units = [0, *accumulate(len(sized_run.units) for sized_run in runs)]
        """Index in `_units` of the first unit of each run."""
        self._units = [
            (sized_run.run, unit, size)
            for sized_run in runs
            for unit, size in zip(sized_run.units, sized_run.sizes, strict=True)
        ]

    def before(self, run: int, unit: int) -> str:
        """The last whole sentences before a unit, or the last words of the sentence before it if
        that one is too long. `unit` is an index in the run number `run`."""
        index = self._first_units[run] + unit
        sentences, too_long = self._fitting_texts(range(index - 1, -1, -1), index)
        return " ".join(reversed(sentences)) or " ".join(too_long.split()[-_CONTEXT_WORDS:])

    def after(self, run: int, unit: int) -> str:
        """The first whole sentences from a unit on, or the first words of that unit's sentence if
        it is too long. `unit` is an index in the run number `run`."""
        index = self._first_units[run] + unit
        sentences, too_long = self._fitting_texts(range(index, len(self._units)), index - 1)
        return " ".join(sentences) or " ".join(too_long.split()[:_CONTEXT_WORDS])

    def _fitting_texts(self, indexes: range, chunk_edge: int) -> tuple[list[str], str]:
        """The texts of the units at `indexes`, nearest first, while they fit together, and the text
        of the first unit that did not fit ("" if none).

        chunk_edge: index of the chunk's own unit next to them. The search stops where the outermost
        section differs from that of the chunk.
        """
        texts: list[str] = []
        n_tokens = 0
        for index in indexes:
            run, unit, size = self._units[index]
            if run.is_generated or unit.kind is BlockKind.HEADING:
                continue
            if self._outermost(index) != self._outermost(chunk_edge):
                break
            if n_tokens + size > _CONTEXT_TOKENS:
                return texts, unit.text  # callers use its words if `texts` is empty
            texts.append(unit.text)
            n_tokens += size
        return texts, ""

    def _outermost(self, index: int) -> tuple[str, ...]:
        """Zone and title of the outermost section of a unit."""
        run, unit, _ = self._units[index]
        return (run.zone, *unit.section_path[:1])


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
