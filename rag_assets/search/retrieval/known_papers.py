"""Which entries of reference lists are papers of this corpus."""

import re
from collections import Counter
from collections.abc import Mapping

from rag_assets.core.domain import PaperFacts
from rag_assets.core.text.folding import plain_lower
from rag_assets.core.text.identifiers import dois_in

_WORD = re.compile(r"[^\W_]+")
_KEY_WORDS = 4
"""A title is looked up by its first words and then compared whole; a shorter one is no sure sign of a work."""


class KnownPapers:
    """Finds the paper whose DOI an entry states, else the one whose whole title it holds, word for word. A DOI or a
    title that two papers share finds neither; nor does a title if both state a DOI, and not the same."""

    def __init__(self, papers: Mapping[str, PaperFacts]) -> None:
        """papers: by paper_id."""
        self._dois = {paper: facts.doi for paper, facts in papers.items() if facts.doi}
        by_doi = Counter(self._dois.values())
        self._by_doi = {doi: paper for paper, doi in self._dois.items() if by_doi[doi] == 1}
        by_title: dict[tuple[str, ...], list[str]] = {}
        for paper, facts in papers.items():
            words = _words(facts.title)
            if len(words) >= _KEY_WORDS:
                by_title.setdefault(words, []).append(paper)
        self._by_start: dict[tuple[str, ...], list[tuple[tuple[str, ...], str]]] = {}
        for words, own in by_title.items():
            if len(own) == 1:
                self._by_start.setdefault(words[:_KEY_WORDS], []).append((words, own[0]))

    def paper_of(self, entry: str, *, besides: str) -> str | None:
        """Of several titles in the entry the longest counts; `besides` is the paper that cites."""
        stated = dois_in(entry)
        for paper in filter(None, map(self._by_doi.get, stated)):
            return paper if paper != besides else None
        words = _words(entry)
        found = [
            (len(title), paper)
            for at in range(len(words) - _KEY_WORDS + 1)
            for title, paper in self._by_start.get(words[at : at + _KEY_WORDS], ())
            if paper != besides
            and words[at : at + len(title)] == title
            and not (stated and self._dois.get(paper, stated[0]) not in stated)
        ]
        return max(found)[1] if found else None


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(plain_lower(text)))
