"""Whether a sentence can hold what a question asks for where that is a number or a date: "How many", "When".

A sentence without any number cannot say how many. Years, references and numbers of figures are no such numbers.
"""

import re

from rag_assets.answering.extractive.answer_types import NUMBER

_ASKS_FOR_NUMBER = re.compile(
    r"\bhow (?:many|much|long|old|large|big|often|far|high|fast)\b"
    r"|\b(?:what|which) (?:percentage|percent|proportion|share|fraction|number|dose|age|temperature)\b",
    re.IGNORECASE,
)
_ASKS_FOR_SHARE = re.compile(r"\b(?:what|which) (?:percentage|percent|proportion|share|fraction)\b", re.IGNORECASE)
_ASKS_FOR_TIME = re.compile(
    r"\bwhen (?:was|were|did|is|are|do|does|will)\b|\b(?:what|which) (?:year|date|month|day)\b", re.IGNORECASE
)
_NO_FIGURE = re.compile(
    r"\b(?:1[5-9]|20)\d\d\b|\[[\d,;–\s-]+\]|\b(?:fig(?:ure)?s?\.?|tables?|sections?|experiments?|stud(?:y|ies)|panels?)"
    r" \d+\w?|[⁰¹²³⁴⁵⁶⁷⁸⁹]+",
    re.IGNORECASE,
)
_FIGURE = re.compile(rf"(?i:\b(?:{NUMBER})\b|\btwice\b|\bonce\b|\bdaily\b|\b(?:most|none|all) of\b|\d)")
_SHARE = re.compile(r"(?i:%|\bper ?cent\b|\b(?:half|third|quarter|majority|most|\d+ (?:of|out of) (?:the )?\d+)\b)")
_TIME = re.compile(
    r"\b(?:1[5-9]|20)\d\d\b|\b(?:January|February|March|April|May|June|July|August|September|October|November|"
    r"December)\b|(?i:\b(?:days?|weeks?|months?|years?|hours?|minutes?|century|after|before|during|until|when|once)\b)"
)


def lacks_figure(question: str, text: str) -> bool:
    """Whether the question asks for a number, a share or a time and the text has none."""
    if _ASKS_FOR_SHARE.search(question):
        return _SHARE.search(text) is None
    if _ASKS_FOR_NUMBER.search(question):
        return _FIGURE.search(_NO_FIGURE.sub(" ", text)) is None
    return _ASKS_FOR_TIME.search(question) is not None and _TIME.search(text) is None
