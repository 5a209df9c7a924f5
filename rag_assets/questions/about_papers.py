"""Questions about the papers themselves: which of them, or how many, say or do something; and the
years by which a question names papers: "since 2019", "between 2015 and 2018".

"How many studies were included?" asks what a review says, and is none.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rag_assets.core.domain import NumberRange
from rag_assets.core.text.terms import QUESTION_WORDS

_PAPERS = r"(?:papers|articles|publications|studies|works|reports|preprints|documents)"
_BY_OTHERS = (
    r"(?:(?:was|were|are|have been|had been|did (?:they|the (?:authors|review))) )(?:\w+ )?"
    r"(?:includ|exclud|identif|screen|retriev|review|eligib|select|assess|found|analy[sz]|retain|cited)"
)
_ASKS_WHICH = re.compile(
    rf"(?:\b(?:in|by) )?\b(?:(?:how many|which|what)(?: of (?:the|these|my|our))?|(?:list|name) (?:all |the )*|"
    rf"(?:do|are there) any)(?: [\w-]+)?? ?\b{_PAPERS}\b(?! {_BY_OTHERS})(?: that\b)?",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(
    rf"\bhow many (?:of (?:the|these|my|our) )?(?P<papers>(?:[\w-]+ )??{_PAPERS})\b", re.IGNORECASE
)
_PREDICATE = re.compile(
    r"\s+(?!(?:do|did|can|could|was|is|does|there)\b)(?P<said>\w.*?)[\s?.!]*$", re.DOTALL
)
_IN_WORDS = "no one two three four five six seven eight nine ten eleven twelve".split()
_YEAR = r"(?:the year )?((?:19|20)\d\d)\b"
_YEARS = re.compile(
    rf"\b(?:(?:between|from) {_YEAR} (?:and|to|until) {_YEAR}|(of|in|from|since|after|before|until) {_YEAR})",
    re.IGNORECASE,
)
_RANGES: Mapping[str, Callable[[int], NumberRange]] = {
    "since": lambda year: NumberRange(year, None),
    "after": lambda year: NumberRange(year + 1, None),
    "before": lambda year: NumberRange(1, year - 1),
    "until": lambda year: NumberRange(1, year),
}
"""What a word before a year means; any other word means the year itself."""


def asks_which_papers(question: str) -> bool:
    """Whether a question asks which papers, or how many, say or do something."""
    return _ASKS_WHICH.search(question) is not None


def asked_of_each(question: str) -> str:
    """What is looked for in each paper: "the Veldt library" for "Which papers use the Veldt
    library?"."""
    words = _ASKS_WHICH.sub(" ", question, count=1).strip(" ?.!").split()
    telling = [nth for nth, word in enumerate(words) if word.lower() not in QUESTION_WORDS]
    return " ".join(words[telling[0] : telling[-1] + 1] if telling else words)


def counted(question: str, n_papers: int) -> str:
    """The answer to "How many papers ...?" where so many were found; empty for "Which papers ...?".

    More may say it than were found.
    """
    asked = _HOW_MANY.search(question)
    if asked is None:
        return ""
    number = _IN_WORDS[n_papers] if n_papers < len(_IN_WORDS) else str(n_papers)
    said = (
        _PREDICATE.match(question, asked.end()) if not question[: asked.start()].strip() else None
    )
    papers = asked["papers"] if n_papers > 1 else "paper"
    return f"At least {number} {papers} " + (
        f"{said['said']}." if said else f"(“{asked_of_each(question)}”)."
    )


@dataclass(frozen=True, slots=True)
class YearsAsked:
    """Years, and where a question has them."""

    years: NumberRange
    start: int
    end: int


def years_asked_for(question: str) -> Iterator[YearsAsked]:
    """In the order of the question; two years in the wrong order are no range."""
    for match in _YEARS.finditer(question):
        first, last, word, year = match.groups()
        if year:
            one = int(year)
            of_word = _RANGES.get(word.lower())
            yield YearsAsked(of_word(one) if of_word else NumberRange(one, one), *match.span())
        elif int(first) <= int(last):
            yield YearsAsked(NumberRange(int(first), int(last)), *match.span())
