"""The words before and after a chunk in its outermost section, for readers who see the chunk alone.

They are not part of its text or id.
"""

from collections.abc import Sequence

from rag_assets.core.domain import BlockKind
from rag_assets.corpus.chunking.sections import Run
from rag_assets.corpus.chunking.units import Unit

_WORDS_A_TOKEN = 0.75


class Neighbourhood:
    """All units of a paper in reading order; headings and what a model wrote are passed over."""

    def __init__(self, runs: Sequence[tuple[Run, Sequence[Unit], Sequence[int]]], n_tokens: int) -> None:
        """`runs`: each run with its units and their sizes in tokens; `n_tokens`: most tokens of a context."""
        self._n_tokens = n_tokens
        self._places: list[list[int]] = []
        """Of each run, how many of the units below stand before each of its own, and behind them all."""
        self._sections: list[list[tuple[str, ...]]] = []
        self._units: list[tuple[str, int, tuple[str, ...]]] = []
        for run, units, sizes in runs:
            places = [len(self._units)]
            for unit, size in zip(units, sizes, strict=True):
                if not run.is_generated and unit.kind is not BlockKind.HEADING:
                    self._units.append((unit.text, size, _outermost(run, unit)))
                places.append(len(self._units))
            self._places.append(places)
            self._sections.append([_outermost(run, unit) for unit in units])

    def before(self, run: int, unit: int) -> str:
        """The last whole sentences before the unit of that index in the run, or the last words of a longer one."""
        places = range(self._places[run][unit] - 1, -1, -1)
        taken, cut = self._taken(places, self._sections[run][unit])
        return " ".join(reversed(taken)) or " ".join(cut.split()[-self._n_words :])

    def after(self, run: int, unit: int) -> str:
        """The first whole sentences from the unit of that index in the run on, or the first words of a longer one."""
        places = range(self._places[run][unit], len(self._units))
        taken, cut = self._taken(places, self._sections[run][unit - 1])
        return " ".join(taken) or " ".join(cut.split()[: self._n_words])

    @property
    def _n_words(self) -> int:
        return max(1, int(self._n_tokens * _WORDS_A_TOKEN))

    def _taken(self, places: range, section: tuple[str, ...]) -> tuple[list[str], str]:
        """Whole units along `places` as far as they fit, and the first text that did not."""
        taken: list[str] = []
        n_tokens = 0
        for place in places if self._n_tokens else ():
            text, size, own_section = self._units[place]
            if own_section != section:
                break
            if n_tokens + size > self._n_tokens:
                return taken, text
            taken.append(text)
            n_tokens += size
        return taken, ""


def _outermost(run: Run, unit: Unit) -> tuple[str, ...]:
    return (run.zone, *unit.section_path[:1])
