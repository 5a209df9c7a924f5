"""The words around a chunk: what stands before and after it in the same outermost section.

For a reader (or a model) who meets the chunk alone. It is no part of the chunk's text or id.
"""

from collections.abc import Sequence

from rag_assets.chunking.sections import Run
from rag_assets.chunking.units import Unit

_WORDS_A_TOKEN = 0.75


class Neighbourhood:
    """All units of a paper in reading order, sections too short for a chunk included, model-written ones not."""

    def __init__(self, runs: Sequence[tuple[Run, Sequence[Unit], Sequence[int]]], n_tokens: int) -> None:
        """`runs`: each run with its units and their sizes in tokens; `n_tokens`: most tokens of a context."""
        self._n_tokens = n_tokens
        self._runs = [run for run, _, _ in runs]
        self._starts: list[int] = []
        self._units: list[tuple[str, int]] = []
        self._sections: list[tuple[str, ...]] = []
        for run, units, sizes in runs:
            self._starts.append(len(self._units))
            if not run.is_generated:
                self._units += [(unit.text, size) for unit, size in zip(units, sizes, strict=True)]
                self._sections += [_outermost(run)] * len(units)

    def before(self, run: int, unit: int) -> str:
        """The last whole sentences before the unit of that index in the run, or the last words of a longer one."""
        taken, cut = self._taken(run, range(self._place(run, unit) - 1, -1, -1))
        return " ".join(reversed(taken)) or " ".join(cut.split()[-self._n_words :])

    def after(self, run: int, unit: int) -> str:
        """The first whole sentences from the unit of that index in the run on, or the first words of a longer one."""
        taken, cut = self._taken(run, range(self._place(run, unit), len(self._units)))
        return " ".join(taken) or " ".join(cut.split()[: self._n_words])

    @property
    def _n_words(self) -> int:
        return max(1, int(self._n_tokens * _WORDS_A_TOKEN))

    def _place(self, run: int, unit: int) -> int:
        return self._starts[run] + (0 if self._runs[run].is_generated else unit)

    def _taken(self, run: int, places: range) -> tuple[list[str], str]:
        """Whole units along `places` as far as they fit, and the first text that did not."""
        taken: list[str] = []
        n_tokens = 0
        for place in places if self._n_tokens else ():
            text, size = self._units[place]
            if self._sections[place] != _outermost(self._runs[run]):
                break
            if n_tokens + size > self._n_tokens:
                return taken, text
            taken.append(text)
            n_tokens += size
        return taken, ""


def _outermost(run: Run) -> tuple[str, ...]:
    return (run.zone, *run.section_path[:1])
