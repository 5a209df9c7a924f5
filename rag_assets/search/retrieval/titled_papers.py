"""Which entries of reference lists are papers of this corpus."""

import re
from collections.abc import Mapping

from rag_assets.core.text.folding import without_accents

_WORD = re.compile(r"[^\W_]+")
_KEY_WORDS = 4
"""A title is looked up by its first words and then compared whole; a shorter one is no sure sign of a work."""


class TitledPapers:
    """Finds the paper whose whole title an entry holds, word for word. Titles that two papers share find neither."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        """titles: by paper_id."""
        by_title: dict[tuple[str, ...], list[str]] = {}
        for paper, title in titles.items():
            words = _words(title)
            if len(words) >= _KEY_WORDS:
                by_title.setdefault(words, []).append(paper)
        self._by_start: dict[tuple[str, ...], list[tuple[tuple[str, ...], str]]] = {}
        for words, papers in by_title.items():
            if len(papers) == 1:
                self._by_start.setdefault(words[:_KEY_WORDS], []).append((words, papers[0]))

    def paper_of(self, entry: str, *, besides: str) -> str | None:
        """The paper with the longest title in the entry; `besides` is the one that cites."""
        words = _words(entry)
        found = [
            (len(title), paper)
            for at in range(len(words) - _KEY_WORDS + 1)
            for title, paper in self._by_start.get(words[at : at + _KEY_WORDS], ())
            if paper != besides and words[at : at + len(title)] == title
        ]
        return max(found)[1] if found else None


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(without_accents(text)))
