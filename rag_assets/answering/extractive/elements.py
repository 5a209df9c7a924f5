"""Answers that are an element of a paper: a figure's caption, a theorem, a section, by its label or its name.

Where the question asks for nothing but the element, the answer is its beginning. Where it asks something about it, the
sentences and rows inside are candidates, and its beginning is the answer if none of them is one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_assets.answering.drafts import DraftCitation, DraftClaim
from rag_assets.answering.extractive.candidates import MAX_WORDS, Candidate
from rag_assets.core.domain import Context, PaperFacts, UnitKind
from rag_assets.core.text.terms import words_of
from rag_assets.search.retrieval.elements import WORDS_OF_A_LABEL, Asked, Element, elements_in, papers_asked, words_of_title


@dataclass(frozen=True)
class FoundElements:
    """The elements that a question asks for, by the number of the context they are in."""

    asked: Asked
    contexts: Sequence[Context]
    places: Mapping[int, Sequence[Element]]

    @classmethod
    def of(cls, asked: Asked, contexts: Sequence[Context]) -> "FoundElements":
        """The elements of the papers that are asked; by name, only where no other word is asked about.

        Sections of a usual name are those with it in their title, else those of the same kind.
        """
        papers: dict[str, PaperFacts] = {one.paper_id: one.paper for one in contexts}
        meant = [paper for paper in papers_asked(asked, papers)]
        if asked.name:
            meant = [paper for paper in meant if asked.rest <= words_of_title(paper, papers[paper])]
        own = {nth: one for nth, one in enumerate(contexts) if one.paper_id in meant and not one.is_generated}
        found = [
            (one, nth) for nth, it in own.items() for one in elements_in(it.text, it.units, it.sections)
        ]
        met = asked.met_by(one for one, _ in found)
        places: dict[int, list[Element]] = {}
        for one, nth in found:
            if any(one is other for other in met):
                places.setdefault(nth, []).append(one)
        return cls(asked, contexts, places)

    @property
    def asks_for_nothing_else(self) -> bool:
        """Whether all other words of the question are those of the papers' titles."""
        papers = {self.contexts[nth].paper_id: self.contexts[nth].paper for nth in self.places}
        return any(self.asked.rest <= words_of_title(paper, facts) for paper, facts in papers.items())

    def holds(self, one: Candidate) -> bool:
        """Whether a candidate is inside one of the elements."""
        return any(it.start <= one.start and one.end <= it.end for it in self.places.get(one.context, ()))

    def beginnings(self) -> Iterator[DraftClaim]:
        """The first sentences, rows or lines of each element, once."""
        said = set()
        for nth, some in self.places.items():
            context = self.contexts[nth]
            for one in some:
                start, end = _beginning(context, one)
                text = context.text[start:end]
                if text and text not in said:
                    said.add(text)
                    yield DraftClaim(" ".join(text.split()), (DraftCitation(context.chunk_id, text),), relevance=1.0)


def _beginning(context: Context, element: Element) -> tuple[int, int]:
    """The first block of an element, as far as a claim may be long; more than that of a label that stands alone, and the
    code below one."""
    units = [one for one in context.units if element.start <= one.start and one.end <= element.end]
    units = [one for one in units if one.kind is not UnitKind.HEADING]
    start = end = units[0].start if units else element.start
    for before, unit in zip([*units[:1], *units], units, strict=False):
        is_whole = len(words_of(context.text[start:end])) > WORDS_OF_A_LABEL
        is_further = unit.kind is UnitKind.ROW or (unit.block != before.block and unit.kind is not UnitKind.LINE)
        is_too_long = len(words_of(context.text[start : unit.end])) > MAX_WORDS
        if end > start and (is_too_long or (is_whole and is_further)):
            break
        end = unit.end
    return start, end
