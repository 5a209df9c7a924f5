"""Elements of papers that a question asks for: by a label, "Figure 2", "section 3.2", or by the
name of a section.

A label is a word for an element, and a number. "What are the limitations of <title>?" asks for a
section by its name, because all its other words are words of the paper's title or have no content.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from rag_assets.core.domain import PaperFacts, Passage, SectionKind
from rag_assets.core.text.headings import heading_number, section_kinds
from rag_assets.core.text.terms import terms_of
from rag_assets.search.retrieval.named_works import distinctive_stems

_WITHOUT_ABBREVIATION = "lemma conjecture remark example assumption axiom claim observation listing box scheme exhibit protocol".split()
_WORDS = {
    "figure": r"fig(?:ure)?s?\b\.?",
    "table": r"tab(?:le)?s?\b\.?",
    "section": r"(?:sec(?:t|tion)?s?\b\.?|§{1,2}|chapters?\b|chap\b\.?)",
    "appendix": r"(?:app(?:endix|endices)?\b\.?|annex(?:es)?\b|supplement\b)",
    "equation": r"eq(?:uation|n)?s?\b\.?",
    "algorithm": r"alg(?:orithm)?s?\b\.?",
    "theorem": r"(?:theorems?|thm)\b\.?",
    "definition": r"def(?:inition)?s?\b\.?",
    "proposition": r"prop(?:osition)?s?\b\.?",
    "corollary": r"(?:corollar(?:y|ies)|cor)\b\.?",
    **{word: rf"{word}s?\b" for word in _WITHOUT_ABBREVIATION},
}
_NUMBER = r"(?:[A-Z]\.?)?\d+(?:\.\d+)*[a-z]?\b|(?-i:[IVX]{2,5}|[A-Z])(?:\.\d+)*\b(?!['’.]\w)"
_KIND = "|".join(f"(?P<{kind}>{word})" for kind, word in _WORDS.items())
_LABEL = re.compile(
    rf"(?<![\w-])(?:{_KIND})\s?\(?(?P<number>{_NUMBER})\)?(?P<more>(?:\s?(?:,|and|&|or)\s?(?:{_NUMBER}))*)",
    re.IGNORECASE,
)
_NUMBERS = re.compile(_NUMBER, re.IGNORECASE)
_MOST_CHARS = 120
"""Only this many characters are searched for a label at the beginning of a text."""
_OPENS = re.compile(r"\W{0,4}")
_ROMAN = dict(zip("I II III IV V VI VII VIII IX X".split(), map(str, range(1, 11)), strict=True))
_ENDS = re.compile(r"\s*(?:[.:|)\]—–(-]|$)|\s+[^\W\da-z]")
"""Text after the label of an element: punctuation, or the capital letter of its title."""


class Label(NamedTuple):
    """The label of an element."""

    kind: str
    """ "figure", "section", ..., also if the text has an abbreviation."""
    number: str
    """The number in capitals, and a Roman number in digits: "3.2", "S1", "B"."""

    def __str__(self) -> str:
        return f"{self.kind.capitalize()} {self.number}"


class PlacedLabel(NamedTuple):
    """A label in a text: `text[start:end]`."""

    label: Label
    start: int
    end: int


def labels_in(text: str) -> Iterator[PlacedLabel]:
    """Every label of a text, in order; "Figures 2 and 3" gives two labels with the same offsets."""
    for match in _LABEL.finditer(text):
        kind = next(kind for kind in _WORDS if match[kind])
        for number in (match["number"], *_NUMBERS.findall(match["more"])):
            if number != "I" or match[kind][0].isupper():  # "the figure I saw"
                yield PlacedLabel(Label(kind, _ROMAN.get(number, number.upper())), *match.span())


def label_before(text: str) -> Label | None:
    """The label at the beginning of an element's text ("Theorem 2 (Moe).", "Fig. 3 Map of"); None
    for other text, such as a sentence about an element ("Figure 2 shows")."""
    first = next(labels_in(text[:_MOST_CHARS]), None)
    opening = _OPENS.match(text)
    if first is None or opening is None or first.start > opening.end():
        return None
    return first.label if _ENDS.match(text, first.end) else None


def label_of_section(title: str) -> Label | None:
    """The label of a section from its heading: "3.2 Soot", "IV. Results", "Appendix B: Proofs",
    "Chapter 3". None if the heading has no number."""
    number = heading_number(title)
    if number is None:
        return label_before(title)
    text = _ROMAN.get(number.text, number.text)
    is_appendix = number.label or number.style == "letter"
    return Label("appendix" if is_appendix else "section", text.upper())


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
