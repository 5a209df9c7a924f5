"""Units counted in tokens, those longer than a chunk cut, short sections merged: what cuts are chosen from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from rag_assets.core.domain import BlockKind
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import ChunkingSettings
from rag_assets.core.text.tokens import TokenCounter
from rag_assets.corpus.chunking.oversize import fitting_pieces, leading_piece
from rag_assets.corpus.chunking.sections import Run
from rag_assets.corpus.chunking.short_sections import common_path, merged_runs
from rag_assets.corpus.chunking.units import Unit, clipped_spans, fragments

_TITLE_SHARE = 4
"""A repeated title takes at most one part in so many of a chunk."""


@dataclass(frozen=True, slots=True)
class SizedRun:
    """A run whose units fit the maximum, with their sizes in tokens (gap included, at least 1)."""

    run: Run
    units: tuple[Unit, ...]
    """Its text; where sections were merged, also the headings between them."""
    sizes: tuple[int, ...]
    prefix_sizes: tuple[int, ...]
    """Of the title that a chunk beginning with the unit repeats, line end included."""


def sized_runs(runs: Sequence[Run], settings: ChunkingSettings, counter: TokenCounter) -> list[SizedRun]:
    """The runs that chunks are cut from: units counted, long ones cut to fit, short sections merged."""
    counted = [*_counted(runs, settings, counter)]
    n_tokens = [sum(one.sizes[len(one.units) - _n_body(one) :]) for one in counted]
    return [_merged(counted[first:last]) for first, last in merged_runs(runs, n_tokens, settings)]


def _counted(runs: Sequence[Run], settings: ChunkingSettings, counter: TokenCounter) -> list[SizedRun]:
    """Each run with its headings before its text; all are counted in one call."""
    titles = _Titles(runs, settings.max_tokens, counter)
    counts = iter(counter.count_all([unit.gap + unit.text for run in runs for unit in (*run.headings, *run.units)]))
    counted = []
    for run in runs:
        units: list[Unit] = []
        sizes: list[int] = []
        for unit in (*run.headings, *run.units):
            size = next(counts)
            whole = titles.shortened(unit)
            budget = max(1, settings.max_tokens - titles.size(whole))
            parts = _cut_to(whole, budget, counter) if size > budget else [whole]
            units += parts
            sizes += [size] if len(parts) == 1 else counter.count_all([part.gap + part.text for part in parts])
        counted.append(
            SizedRun(run, tuple(units), tuple(max(1, n) for n in sizes), tuple(titles.size(unit) for unit in units))
        )
    return counted


class _Titles:
    """The titles that chunks repeat, shortened where they would fill a chunk, and their sizes."""

    def __init__(self, runs: Sequence[Run], max_tokens: int, counter: TokenCounter) -> None:
        whole = sorted({unit.prefix for run in runs for unit in run.units} - {""})
        self._short: Mapping[str, str] = {
            title: leading_piece(title, max_tokens // _TITLE_SHARE, counter.count_all) for title in whole
        }
        short = list(dict.fromkeys(self._short.values()))
        counts = counter.count_all([as_line(text) for text in short])
        self._sizes = {"": 0} | dict(zip(short, counts, strict=True))

    def shortened(self, unit: Unit) -> Unit:
        if not unit.prefix:
            return unit
        short = self._short[unit.prefix]
        return replace(unit, prefix=short, prefix_spans=clipped_spans(unit.prefix_spans, 0, len(short), None))

    def size(self, unit: Unit) -> int:
        return self._sizes[unit.prefix]


def as_line(prefix: str) -> str:
    """A repeated title as it stands in the text of a chunk."""
    return f"{prefix}\n" if prefix else ""


def _cut_to(unit: Unit, budget: int, counter: TokenCounter) -> list[Unit]:
    pieces = fitting_pieces(unit.text, budget, counter.count_all)
    return fragments(unit, pieces) if len(pieces) > 1 else [unit]


def _n_body(one: SizedRun) -> int:
    return sum(unit.kind is not BlockKind.HEADING for unit in one.units)


def _merged(members: Sequence[SizedRun]) -> SizedRun:
    """One run of all members; the first one's headings only where the common path does not name them."""
    first = members[0]
    run = first.run
    if len(members) == 1:
        n_named = len(first.units) - _n_body(first)
    else:
        path = common_path([one.run.section_path for one in members])
        n_named = sum(1 for _ in takewhile(lambda unit: is_named_by(path, unit), first.units))
        merged_from = fingerprint("sections", [one.run.section_id for one in members])[:12]
        run = replace(run, section_path=path, section_id=f"{run.section_id.rpartition(':')[0]}:{merged_from}")
    return SizedRun(
        run=run,
        units=tuple(unit for one in members for unit in one.units)[n_named:],
        sizes=tuple(size for one in members for size in one.sizes)[n_named:],
        prefix_sizes=tuple(size for one in members for size in one.prefix_sizes)[n_named:],
    )


def is_named_by(path: tuple[str, ...], unit: Unit) -> bool:
    """Whether the unit is the heading of one of the sections on a path."""
    return unit.kind is BlockKind.HEADING and unit.section_path == path[: len(unit.section_path)]
