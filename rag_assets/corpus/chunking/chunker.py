"""A paper's blocks become its chunks: what is read and cited.

`units` and `table_rows` define the smallest pieces, `sections` decides which blocks belong
together, `cuts` where a cut may fall, and `planned_chunks` puts the text of a chunk together.
"""

from collections.abc import Sequence
from itertools import accumulate

from rag_assets.core.domain import (
    BLOCK_SEPARATOR,
    Block,
    BlockKind,
    Chunk,
    known_spans,
    n_text_chars,
    page_range,
)
from rag_assets.core.incremental import fingerprint as hash_of
from rag_assets.core.settings import ChunkingSettings
from rag_assets.core.text.tokens import TokenCounter
from rag_assets.corpus.chunking.planned_chunks import (
    PATH_SEPARATOR,
    PlannedChunk,
    SizedRun,
    planned_chunks,
    sized_runs,
)
from rag_assets.corpus.chunking.sections import read_runs
from rag_assets.corpus.chunking.units import Unit

CHUNKER_VERSION = 17
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
    for at, (one, counted) in enumerate(
        zip(runs, _fitting_chunks(runs, settings, counter), strict=True)
    ):
        for nth, (planned, n_tokens) in enumerate(counted, start=1):
            made = planned.rendered
            page_start, page_end = page_range(known_spans(made.spans, made.own_start))
            own = range(planned.first, planned.last)
            kinds = {one.units[place].kind for place in own} - {BlockKind.HEADING}
            n_own_chars = sum(_n_chars(one.units, place, document) for place in own)
            chunks.append(
                Chunk(
                    paper_id=paper_id,
                    section_id=one.run.section_id,
                    section_title=planned.section_path[-1] if planned.section_path else "",
                    chunk_id=_chunk_id(paper_id, planned, repeats),
                    text=made.text,
                    n_tokens=n_tokens,
                    page_start=page_start,
                    page_end=page_end,
                    file_path=file_path,
                    source=source,
                    ordinal=len(chunks),
                    section_path=PATH_SEPARATOR.join(planned.section_path),
                    chunk_type=str(kinds.pop()) if len(kinds) == 1 else "mixed",
                    split_sequence=f"{nth}/{len(counted)}" if len(counted) > 1 else None,
                    is_continuation=nth > 1,
                    context_before=neighbourhood.before(at, planned.start),
                    context_after=neighbourhood.after(at, planned.last),
                    char_start=one.units[planned.start].start,
                    char_end=one.units[planned.last - 1].end,
                    is_generated=one.run.is_generated,
                    spans=made.spans,
                    fingerprint=fingerprint,
                    own_start=made.own_start,
                    n_own_chars=n_own_chars,
                    sections=made.sections,
                    units=made.units,
                )
            )
    return chunks


def _n_chars(units: Sequence[Unit], at: int, document: str) -> int:
    """Characters of the paper that a unit represents, 0 for a heading. For a row of a table these
    are its line and the lines since the row before, whose names it repeats."""
    unit, before = units[at], units[at - 1] if at else None
    if unit.kind is BlockKind.HEADING:
        return 0
    is_next_row = (
        unit.is_linearised and before and before.is_linearised and before.block == unit.block
    )
    start = before.end if before and is_next_row else unit.start
    return n_text_chars(unit.text if unit.is_caption else document[start : unit.end])


def _chunk_id(paper_id: str, chunk: PlannedChunk, repeats: dict[str, int]) -> str:
    id_ = f"{paper_id}:{hash_of('chunk', chunk.section_path, chunk.rendered.text)[:12]}"
    repeats[id_] = repeats.get(id_, 0) + 1
    return id_ if repeats[id_] == 1 else f"{id_}-{repeats[id_]}"


def _fitting_chunks(
    runs: Sequence[SizedRun], settings: ChunkingSettings, counter: TokenCounter
) -> list[list[tuple[PlannedChunk, int]]]:
    """Each run's chunks with their exact sizes, at least 1: some tokenizers read no token in odd
    characters.

    A text may have more tokens than its units counted one by one; such a run is cut again with a
    tighter limit, down to one unit per chunk. The steps double, so that few rounds suffice.
    """
    fitting: list[list[tuple[PlannedChunk, int]]] = [[] for _ in runs]
    pending = dict.fromkeys(range(len(runs)), settings.max_tokens)
    step = 1
    while pending:
        planned = {at: planned_chunks(runs[at], settings, limit) for at, limit in pending.items()}
        counts = iter(
            counter.count_all([chunk.rendered.text for at in pending for chunk in planned[at]])
        )
        for at, limit in list(pending.items()):
            counted = [(chunk, max(1, next(counts))) for chunk in planned[at]]
            excess = max((n_tokens for _, n_tokens in counted), default=0) - settings.max_tokens
            if excess > 0 and limit > 0:
                pending[at] = limit - step * excess
            else:
                fitting[at] = counted
                del pending[at]
        step *= 2
    return fitting


_CONTEXT_TOKENS, _CONTEXT_WORDS = 60, 45
"""Most tokens of the words around a chunk; the words that are taken of a sentence longer than that."""


class Neighbourhood:
    """The words before and after a chunk in its outermost section, for readers who see the chunk
    alone.

    Headings and text that a model wrote are passed over.
    """

    def __init__(self, runs: Sequence[SizedRun]) -> None:
        self._first_units = [0, *accumulate(len(one.units) for one in runs)]
        """Index in `_units` of the first unit of each run."""
        self._units = [
            (one.run, unit, size)
            for one in runs
            for unit, size in zip(one.units, one.sizes, strict=True)
        ]

    def before(self, run: int, unit: int) -> str:
        """The last whole sentences before the unit of that index in the run, or the last words of a
        longer one."""
        at = self._first_units[run] + unit
        taken, cut = self._taken(range(at - 1, -1, -1), at)
        return " ".join(reversed(taken)) or " ".join(cut.split()[-_CONTEXT_WORDS:])

    def after(self, run: int, unit: int) -> str:
        """The first whole sentences from the unit of that index in the run on, or the first words
        of a longer one."""
        at = self._first_units[run] + unit
        taken, cut = self._taken(range(at, len(self._units)), at - 1)
        return " ".join(taken) or " ".join(cut.split()[:_CONTEXT_WORDS])

    def _taken(self, places: range, beside: int) -> tuple[list[str], str]:
        """Whole units along `places`, in the section of the unit `beside`, as far as they fit, and
        the first text that did not."""
        taken: list[str] = []
        n_tokens = 0
        for place in places:
            run, unit, size = self._units[place]
            if run.is_generated or unit.kind is BlockKind.HEADING:
                continue
            if self._outermost(place) != self._outermost(beside):
                break
            if n_tokens + size > _CONTEXT_TOKENS:
                return taken, unit.text
            taken.append(unit.text)
            n_tokens += size
        return taken, ""

    def _outermost(self, place: int) -> tuple[str, ...]:
        run, unit, _ = self._units[place]
        return (run.zone, *unit.section_path[:1])
