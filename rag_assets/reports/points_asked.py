"""Recognises columns that ask what the summary of a paper tells: what was asked, done or found, or what limits it.

Such a question holds no word about the paper's subject, so a search among its passages finds nothing near it. The
wordings are English; a column in other words is asked as a question.
"""

import re

from rag_assets.core.domain import Point

_WORD = re.compile(r"[a-z]+", re.IGNORECASE)
_OF_NO_POINT = frozenset(
    "a an and any are as be been by can did do does for has have how in is it its main key principal most important of "
    "on or that the their there these they this those to was were what which who why with according author authors "
    "paper papers study studies article work research researchers".split()
)
_WORDS = {
    Point.ASKED: "about aim aims aimed ask asked goal goals hypothesis hypotheses investigate investigated objective "
    "objectives purpose question questions topic want wanted know examine examined",
    Point.DONE: "approach carried conducted design designs did done method methods methodology procedure out "
    "performed used",
    Point.FOUND: "conclude concluded conclusion conclusions contribution find finding findings found outcome outcomes "
    "result results show showed shown",
    Point.LIMITS: "caveat caveats limit limitation limitations limited limits name named shortcomings state weakness "
    "weaknesses",
}
_POINT_OF = {word: point for point, words in _WORDS.items() for word in words.split()}


def point_asked(question: str) -> Point | None:
    """The point that a question about one paper asks for; None where it asks for more, or for something else."""
    words = [word.lower() for word in _WORD.findall(question)]
    named = {_POINT_OF.get(word) for word in words if word not in _OF_NO_POINT}
    return named.pop() if len(named) == 1 else None
