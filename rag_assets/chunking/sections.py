"""Which blocks of a paper may share a chunk: runs of one section, and the sections worth a chunk at all.

A run ends where the section, the zone or the author (people or a model) changes, and at back matter. Headings are
no text of a chunk; a chunk carries them as its section's titles.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rag_assets.chunking.table_rows import row_units
from rag_assets.chunking.units import (
    PlacedBlock,
    Strategy,
    Unit,
    figure_units,
    line_units,
    sentence_units,
    whole_unit,
)
from rag_assets.incremental import fingerprint
from rag_assets.model import BLOCK_SEPARATOR, Block, BlockKind, Zone
from rag_assets.settings import ChunkingSettings

STRATEGIES: dict[BlockKind, Strategy] = {
    BlockKind.PARAGRAPH: sentence_units,
    BlockKind.FOOTNOTE: sentence_units,
    BlockKind.FORMULA: whole_unit,
    BlockKind.LIST: line_units,
    BlockKind.CODE: line_units,
    BlockKind.TABLE: row_units,
    BlockKind.FIGURE: figure_units,
}


@dataclass(frozen=True)
class Run:
    """Consecutive units of one section that may share a chunk."""

    section_id: str
    section_path: tuple[str, ...]
    zone: Zone
    is_generated: bool
    units: tuple[Unit, ...]


def is_indexable(block: Block) -> bool:
    """Whether a block's text belongs into chunks."""
    return block.kind is not BlockKind.HEADING and block.zone is not Zone.BACK and bool(block.text.strip())


def read_runs(paper_id: str, blocks: Sequence[Block]) -> list[Run]:
    """The runs of a paper in reading order; their units carry the gap to the unit before."""
    document = BLOCK_SEPARATOR.join(block.text for block in blocks)
    runs: list[Run] = []
    run: list[PlacedBlock] = []
    headings: dict[tuple[str, ...], int] = {}

    def close() -> None:
        if run:
            occurrence = headings.get(run[0].block.section_path, 1)
            runs.append(_run(_section_id(paper_id, run[0].block.section_path, occurrence), run, document))
            run.clear()

    for placed in _placed(blocks):
        block = placed.block
        if not is_indexable(block):
            if block.text.strip():
                close()
            if block.kind is BlockKind.HEADING:
                headings[block.section_path] = headings.get(block.section_path, 0) + 1
            continue
        if run and _belonging(run[0].block) != _belonging(block):
            close()
        run.append(placed)
    close()
    return runs


def kept_runs(runs: Sequence[Run], n_tokens: Sequence[int], settings: ChunkingSettings) -> list[int]:
    """Indexes of the runs that are chunked. `n_tokens` has each run's size.

    A section shorter than the minimum (a stray line, a grant number, "None declared.") is left out. The front is kept
    when the settings say so, and everything is kept when the short sections are most of the paper: slides or a form
    under many headings would lose their content.
    """
    kept, n_kept = [], 0
    for _, members in groupby(range(len(runs)), key=lambda at: (runs[at].section_id, runs[at].zone)):
        section = list(members)
        size = sum(n_tokens[at] for at in section)
        n_chars = sum(len(unit.text) for at in section for unit in runs[at].units)
        is_long = size >= settings.min_tokens and n_chars >= settings.min_chars
        n_kept += size if is_long else 0
        if is_long or (settings.include_front and runs[section[0]].zone is Zone.FRONT):
            kept += section
    return kept if 2 * n_kept >= sum(n_tokens) else list(range(len(runs)))


def _belonging(block: Block) -> tuple[tuple[str, ...], Zone, bool]:
    return block.section_path, block.zone, block.is_generated


def _placed(blocks: Sequence[Block]) -> Iterator[PlacedBlock]:
    at = 0
    for index, block in enumerate(blocks):
        yield PlacedBlock(block, index, at)
        at += len(block.text) + len(BLOCK_SEPARATOR)


def _section_id(paper_id: str, path: tuple[str, ...], occurrence: int) -> str:
    digest = fingerprint("section", path)[:12]
    return f"{paper_id}:{digest}" if occurrence == 1 else f"{paper_id}:{digest}-{occurrence}"


def _run(section_id: str, placed: Sequence[PlacedBlock], document: str) -> Run:
    units: list[Unit] = []
    for one in placed:
        own = STRATEGIES[one.block.kind](one)
        if units and own:
            own[0] = replace(own[0], gap=document[units[-1].end : own[0].start])
        units += own
    first = placed[0].block
    return Run(section_id, first.section_path, first.zone, first.is_generated, tuple(units))
