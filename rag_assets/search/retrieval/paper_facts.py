"""What is known of a paper besides its text: title, authors, year. For those who read its passages."""

import re
from collections.abc import Collection
from threading import Lock

from rag_assets.core.domain import TITLE_PAGE_HEADING, PaperFacts
from rag_assets.search.retrieval.library import Library

_FIRST_PASSAGES = 3
"""A title page stands among them, if the paper has one."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


class KnownPapers:
    """Reads the facts of papers when they are asked for, each once. May be used by several threads."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = Lock()
        self._known: dict[str, PaperFacts] = {}

    def of(self, paper_ids: Collection[str]) -> dict[str, PaperFacts]:
        """By id."""
        with self._lock:
            for paper in paper_ids:
                if paper not in self._known:
                    self._known[paper] = self._read(paper)
            return {paper: self._known[paper] for paper in paper_ids}

    def _read(self, paper_id: str) -> PaperFacts:
        stated = self._title_page(paper_id)
        authors = tuple(name.strip() for name in stated.get("Authors", "").split(";") if name.strip())
        year = _YEAR.search(stated.get("Publication date", ""))
        return PaperFacts(self._library.title_of(paper_id), authors, year[0] if year else "")

    def _title_page(self, paper_id: str) -> dict[str, str]:
        """The lines "Authors: A. Lund; B. Moe" of the paper's title page, by label; empty where it has none."""
        places = list(self._library.places_of(paper_id))[:_FIRST_PASSAGES]
        for passage in self._library.passages(places):
            if passage.section_title == TITLE_PAGE_HEADING:
                lines = (line.partition(": ") for line in passage.text.split("\n"))
                return {label: said for label, _, said in lines}
        return {}
