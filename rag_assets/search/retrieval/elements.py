"""Elements of papers that a question asks for: by a label, "Figure 2", "section 3.2", or by the
name of a section.

"What are the limitations of <title>?" asks for a section by its name, because all its other words
are words of the paper's title or have no content.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from rag_assets.core.domain import PaperFacts, Passage, SectionKind
from rag_assets.core.text.headings import section_kinds
from rag_assets.core.text.labels import Label, label_before, label_of_section, labels_in
from rag_assets.core.text.terms import terms_of
from rag_assets.search.retrieval.named_works import distinctive_stems

ITSELF, NEAR = 2, 1
"""How well a text fits: it is the element that the question asks for; or it only refers to that
element, or is a section of the same kind. 0 means that it does not fit."""
_OTHER_WORDINGS = (
    (re.compile(r"\bwho (?:took part|participated)\b|\bsubjects\b", re.IGNORECASE), "participants"),
    (re.compile(r"\b(?:weakness(?:es)?|shortcomings?|caveats?)\b", re.IGNORECASE), "limitations"),
    (re.compile(r"\bwhat (?:was|were) (?:found|observed|discovered)\b", re.IGNORECASE), "results"),
    (re.compile(r"\b(?:recommend|advise)(?:s|d|ed)?\b", re.IGNORECASE), "recommendations"),
    (re.compile(r"\bconcluded?\b", re.IGNORECASE), "conclusions"),
    (
        re.compile(
            r"\bhow (?:was|were) (?=.*\b(?:done|made|carried|conducted|performed)\b)", re.IGNORECASE
        ),
        "methods ",
    ),
)
"""Wordings of questions, and the name of the section that they ask for."""
_SAY_NOTHING = terms_of(
    "main key major important overall done made carry carried out conducted performed applied employed took part "
    "draw drawn reach reached plan planned shown show depict display illustrate list listed state stated contain "
    "present presented describe described summarise summarize discuss discussed there section"
)
_ASKS_FOR_A_DETAIL = re.compile(r"\b(?:how|when|where|why)\b", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d_]+(?: work)?")


class AskedElements(NamedTuple):
    """What a question asks for."""

    labels: frozenset[Label]
    """Labels as "Figure 2"; empty where a section is asked for by its name."""
    name: str
    """The name of a section; empty where labels are asked for."""
    rest: frozenset[str]
    """Stems of the other content words of the question. They describe the paper, or what is asked
    about the element."""

    def is_titled(self, title: str) -> int:
        """Whether a section with that heading is asked for: `ITSELF`, `NEAR` or 0."""
        if self.labels:
            return ITSELF if label_of_section(title) in self.labels else 0
        if terms_of(self.name) <= terms_of(title):
            return ITSELF
        kinds = section_kinds([title]) - {SectionKind.OTHER}
        return NEAR if kinds & section_kinds([self.name]) else 0

    def is_in(self, passage: Passage) -> int:
        """Whether a passage has an element that is asked for, in one of its lines or as its
        section: `ITSELF`, `NEAR` or 0."""
        lines = passage.text.split("\n")
        titles = [
            *passage.section_path.split(" > "),
            *(line for line in lines if len(line) <= _MAX_TITLE_CHARS),
        ]
        fit = max(map(self.is_titled, titles))
        if self.labels.isdisjoint(mention.label for mention in labels_in(passage.text)):
            return fit
        if any(label_before(line) in self.labels for line in lines):
            return ITSELF
        return max(fit, NEAR)


_MAX_TITLE_CHARS = 80
"""A longer line is no heading."""


@lru_cache(512)
def asked_for(question: str) -> AskedElements | None:
    """The elements that a question asks for; None where it asks for none."""
    if mentions := list(labels_in(question)):
        rest = question[: mentions[0].start] + question[mentions[-1].end :]
        return AskedElements(
            frozenset(mention.label for mention in mentions),
            "",
            frozenset(distinctive_stems(rest)) - _SAY_NOTHING,
        )
    for wording, name in _OTHER_WORDINGS:
        question = wording.sub(name, question)
    names = [
        name for name in _NAME.findall(question) if section_kinds([name]) != {SectionKind.OTHER}
    ]
    if len(names) != 1 or _ASKS_FOR_A_DETAIL.search(question):
        return None
    return AskedElements(
        frozenset(),
        names[0],
        frozenset(distinctive_stems(question.replace(names[0], " "))) - _SAY_NOTHING,
    )


def papers_asked(asked: AskedElements, papers: Mapping[str, PaperFacts]) -> list[str]:
    """The papers whose titles or ids have the most of the question's other words (`asked.rest`).

    If no title has any of them, all papers are returned. If a section is asked for by its name, a
    title must have all of these words: otherwise the question may ask about something else.
    """
    shared = {id_: asked.rest & words_of_title(id_, facts) for id_, facts in papers.items()}
    most = max(map(len, shared.values()), default=0)
    return [
        id_
        for id_, words in shared.items()
        if len(words) == most and (asked.labels or words == asked.rest)
    ]


def words_of_title(paper_id: str, facts: PaperFacts) -> frozenset[str]:
    """Stems of the words of a paper's title and id."""
    return frozenset((*distinctive_stems(facts.title), *distinctive_stems(paper_id)))


def absent(asked: AskedElements, title: str, passages: Sequence[Passage]) -> list[str]:
    """A note for each label that is asked for, with the labels of the same kind that the paper has:
    "No Table 9 was found in Iron, which has Table 1, Table 2.".

    title: of the paper. passages: all of the paper.
    """
    found = [label_before(line) for passage in passages for line in passage.text.split("\n")]
    found += [
        label_of_section(heading)
        for passage in passages
        for heading in passage.section_path.split(" > ")
    ]
    notes = []
    for label in asked.labels:
        others = dict.fromkeys(str(one) for one in found if one and one.kind == label.kind)
        has_others = f", which has {', '.join(others)}" if others else ""
        notes.append(f"No {label} was found in {title}{has_others}.")
    return notes
