"""Elements of papers that a question asks for: by a label, "Figure 2", "section 3.2", or by the
name of a section.

"What are the limitations of <title>?" asks for a section by its name: every other word of it is of
the paper's title, or says nothing.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from rag_assets.core.domain import PaperFacts, Passage, SectionKind
from rag_assets.core.text.headings import section_kinds
from rag_assets.core.text.labels import Label, label_before, label_of_section, labels_in
from rag_assets.core.text.terms import terms_of
from rag_assets.search.retrieval.named_works import telling

ITSELF, NEAR = 2, 1
"""Whether a text is what is asked for; or only refers to it, or is a section of the same kind."""
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
    name: str
    """The name of a section; empty where labels are asked for."""
    rest: frozenset[str]
    """Stems of the other words that tell something: of the paper, or of what is asked about the
    element."""

    def is_titled(self, title: str) -> int:
        """Whether a section with that heading is asked for: `ITSELF`, `NEAR` or 0."""
        if self.labels:
            return ITSELF * (label_of_section(title) in self.labels)
        kinds = section_kinds([title]) - {SectionKind.OTHER}
        return (
            ITSELF
            if terms_of(self.name) <= terms_of(title)
            else NEAR * bool(kinds & section_kinds([self.name]))
        )

    def is_in(self, passage: Passage) -> int:
        """Whether a passage has what is asked for, in one of its lines or in its section."""
        lines = passage.text.split("\n")
        titles = [
            *passage.section_path.split(" > "),
            *(line for line in lines if len(line) <= _MOST_OF_TITLE),
        ]
        found = max(map(self.is_titled, titles))
        if self.labels.isdisjoint(one.label for one in labels_in(passage.text)):
            return found
        return max(
            found, ITSELF if any(label_before(line) in self.labels for line in lines) else NEAR
        )


_MOST_OF_TITLE = 80


@lru_cache(512)
def asked_for(question: str) -> AskedElements | None:
    """The elements that a question asks for; None where it asks for none."""
    if placed := list(labels_in(question)):
        rest = question[: placed[0].start] + question[placed[-1].end :]
        return AskedElements(
            frozenset(one.label for one in placed), "", frozenset(telling(rest)) - _SAY_NOTHING
        )
    for wording, name in _OTHER_WORDINGS:
        question = wording.sub(name, question)
    names = [
        name for name in _NAME.findall(question) if section_kinds([name]) != {SectionKind.OTHER}
    ]
    if len(names) != 1 or _ASKS_FOR_A_DETAIL.search(question):
        return None
    return AskedElements(
        frozenset(), names[0], frozenset(telling(question.replace(names[0], " "))) - _SAY_NOTHING
    )


def papers_asked(asked: AskedElements, papers: Mapping[str, PaperFacts]) -> list[str]:
    """The papers with the most of the question's other words in their titles or ids; all of them,
    where none has any. A section is asked for by its name only where the title has all of them."""
    held = {id_: asked.rest & words_of_title(id_, facts) for id_, facts in papers.items()}
    most = max(map(len, held.values()), default=0)
    return [
        id_ for id_, its in held.items() if len(its) == most and (asked.labels or its == asked.rest)
    ]


def words_of_title(paper_id: str, facts: PaperFacts) -> frozenset[str]:
    """Stems of the words of a paper's title and id."""
    return frozenset((*telling(facts.title), *telling(paper_id)))


def absent(asked: AskedElements, title: str, passages: Sequence[Passage]) -> list[str]:
    """Notes on labels of which a paper has others of the kind. passages: all of the paper."""
    has = [label_before(line) for one in passages for line in one.text.split("\n")]
    has += [
        label_of_section(one) for passage in passages for one in passage.section_path.split(" > ")
    ]
    those = {
        label: dict.fromkeys(str(one) for one in has if one and one.kind == label.kind)
        for label in asked.labels
    }
    return [
        f"No {label} was found in {title}" + (f", which has {', '.join(its)}." if its else ".")
        for label, its in those.items()
    ]
