"""Elements of papers that a question asks for by their label or by the name of a section.

Labels are those of figures, tables, sections, theorems, code (`core.text.labels`). An element begins where a block, a
caption or a short sentence begins with its label, and ends with its block, or with the one after it: a label may stand
alone, or above code. A section is all text below its heading. "What are the limitations of <title>?" asks for a section by
its name: every other word of it is of the paper's title, or says nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple, Protocol

from rag_assets.core.domain import PaperFacts, SectionKind, UnitKind
from rag_assets.core.text.labels import Label, label_before, label_of_section, labels_in
from rag_assets.core.text.section_names import section_kinds
from rag_assets.core.text.terms import terms_of, words_of
from rag_assets.search.retrieval.library import Library
from rag_assets.search.retrieval.named_works import telling

WORDS_OF_A_LABEL = 4
"""A block with no more words is a label without its text, "Algorithm 2 (Search)"."""
_PAPERS_KEPT, _MOST_PLACES = 50, 6
_FORMULA_NUMBER = re.compile(r"\((\d+(?:\.\d+)*[a-z]?)\)\W*$")
_OTHER_WORDINGS = (
    (re.compile(r"\bwho (?:took part|participated|were they)\b|\bsubjects\b", re.IGNORECASE), "participants"),
    (re.compile(r"\b(?:weakness(?:es)?|shortcomings?|caveats?)\b", re.IGNORECASE), "limitations"),
    (re.compile(r"\bwhat (?:was|were) (?:found|observed|discovered)\b", re.IGNORECASE), "results"),
    (re.compile(r"\bhow (?:was|were) (?=.*\b(?:done|made|carried out|conducted|performed)\b)", re.IGNORECASE), "methods "),
)
"""Wordings of questions, and the name of the section that they ask for."""
_SAY_NOTHING = terms_of(
    "main key major important overall done made carry carried out conducted performed applied employed took part "
    "draw drawn reach reached plan planned shown show depict display illustrate list listed state stated contain present presented describe described "
    "summarise summarize discuss discussed written content contents there"
)
_ASKS_FOR_A_DETAIL = re.compile(r"\b(?:how|when|where|why)\b", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d_]+(?: work)?")


class Unit(Protocol):
    """A unit of a chunk or of a context."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def kind(self) -> UnitKind: ...
    @property
    def block(self) -> int: ...


class Element(NamedTuple):
    """`text[start:end]` is the element with that label, or the section with that title."""

    label: Label | None
    start: int
    end: int
    title: str = ""
    is_mention: bool = False
    """A sentence that refers to the element, which may be lost with its picture."""


class Asked(NamedTuple):
    """What a question asks for."""

    labels: tuple[Label, ...]
    name: str
    """Of a section; empty where labels are asked for."""
    rest: frozenset[str]
    """Stems of the other words that tell something: of the paper, or of what is asked about the element."""

    def met_by(self, elements: Iterable[Element]) -> list[Element]:
        """The elements with one of the labels, else the sentences that refer to one; the sections with the name in their
        title, else those of the kind that it is a usual name of."""
        elements, kinds = list(elements), section_kinds([self.name])
        if self.labels:
            met = [one for one in elements if one.label in self.labels]
            return [one for one in met if not one.is_mention] or met
        sections = [one for one in elements if one.title]
        named = [one for one in sections if terms_of(self.name) <= terms_of(one.title)]
        return named or [one for one in sections if not kinds.isdisjoint(section_kinds([one.title]))]


@lru_cache(512)
def asked_for(question: str) -> Asked | None:
    """The elements that a question asks for; None where it asks for none."""
    if placed := list(labels_in(question)):
        rest = question
        for one in placed:
            rest = rest.replace(question[one.start : one.end], " ")
        return Asked(tuple(one.label for one in placed), "", frozenset(telling(rest)) - _SAY_NOTHING)
    for wording, name in _OTHER_WORDINGS:
        question = wording.sub(name, question)
    names = [name for name in _NAME.findall(question) if section_kinds([name]) != {SectionKind.OTHER}]
    if len(names) != 1 or _ASKS_FOR_A_DETAIL.search(question):
        return None
    return Asked((), names[0].lower(), frozenset(telling(question.replace(names[0], " "))) - _SAY_NOTHING)


def papers_asked(asked: Asked, papers: Mapping[str, PaperFacts]) -> list[str]:
    """The papers with the most of the question's other words in their titles or ids; all of them, where none has any.

    papers: by id, in the order of the answer.
    """
    held = {id_: len(asked.rest & words_of_title(id_, facts)) for id_, facts in papers.items()}
    return [id_ for id_ in papers if held[id_] == max(held.values())]


def words_of_title(paper_id: str, facts: PaperFacts) -> frozenset[str]:
    """Stems of the words of a paper's title and id."""
    return frozenset((*telling(facts.title), *telling(paper_id.replace("_", " "))))


def elements_in(text: str, units: Sequence[Unit], sections: Iterable[tuple[int, str]]) -> Iterator[Element]:
    """The elements of a chunk or of a context. sections: where each begins, and the titles above it."""
    places = [*sections, (len(text), "")]
    for (start, path), (end, _) in zip(places, places[1:], strict=False):
        for title in path.split(" > "):
            yield Element(None, start, end, title)
            if label := label_of_section(title):
                yield Element(label, start, end)
    blocks = [list(block) for _, block in groupby(units, key=lambda unit: unit.block)]
    for block, after in zip(blocks, [*blocks[1:], []], strict=False):
        for nth, unit in enumerate(block):
            own = text[unit.start : unit.end]
            is_opening = nth == 0 or unit.kind is UnitKind.CAPTION or len(words_of(own)) <= WORDS_OF_A_LABEL
            if is_opening and (label := label_before(own)):
                goes_on = len(words_of(text[unit.start : block[-1].end])) <= WORDS_OF_A_LABEL
                goes_on = bool(after) and (goes_on or after[0].kind is UnitKind.LINE)
                yield Element(label, unit.start, after[-1].end if goes_on else block[-1].end)
                continue
            for mentioned in labels_in(own) if unit.kind is UnitKind.SENTENCE else ():
                yield Element(mentioned.label, unit.start, unit.end, is_mention=True)
            if unit.kind is UnitKind.FORMULA and (number := _FORMULA_NUMBER.search(own)):
                yield Element(Label("equation", number[1].upper()), unit.start, unit.end)


class PaperElements:
    """The elements of each paper; may be used by several threads."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._of = lru_cache(_PAPERS_KEPT)(self._read)

    def places(self, paper_id: str, asked: Asked) -> list[int]:
        """The places of the passages with what is asked for, in the order of the paper."""
        places = self._of(paper_id)
        return sorted({place for one in asked.met_by(places) for place in places[one]})[:_MOST_PLACES]

    def labels(self, paper_id: str) -> tuple[Label, ...]:
        """The labels that a paper has, in its order."""
        return tuple(dict.fromkeys(one.label for one in self._of(paper_id) if one.label and not one.is_mention))

    def _read(self, paper_id: str) -> dict[Element, list[int]]:
        places = self._library.places_of(paper_id)
        passages = dict(zip(places, self._library.passages(places), strict=True))
        found: dict[Element, list[int]] = {}
        for chunk in self._library.chunks(dict.fromkeys(one.chunk_id for one in passages.values())).values():
            for one in elements_in(chunk.text, chunk.units, [(part.start, part.section_path) for part in chunk.sections]):
                its = [
                    place
                    for place, passage in passages.items()
                    if passage.chunk_id == chunk.chunk_id and passage.chunk_start < one.end and one.start < passage.chunk_end
                ]
                found.setdefault(one, []).extend(its)
        return dict(sorted(found.items(), key=lambda pair: pair[1]))
