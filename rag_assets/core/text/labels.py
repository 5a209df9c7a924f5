"""Finds labels of elements in questions and papers: "Figure 2", "Tab. S1", "section 3.2", "Theorem
2".

A label is a word for an element, and a number. `search.retrieval.elements` finds the element itself
in a paper.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rag_assets.core.text.headings import heading_number

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
