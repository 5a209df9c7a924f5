"""Raises candidates that hold what a question asks for: a number, a time, a person or institution, a reason, a meaning.

A question is answered by what its first words ask for, not only by what is near it: "When do symptoms peak?" by the
sentence with the days. A candidate without it keeps its relevance, so that nothing is refused because of its wording.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.extractive.candidates import Candidate, CandidateKind
from rag_assets.answering.extractive.definitions import defined_names, raised_by_definition
from rag_assets.answering.extractive.words import stem_of
from rag_assets.settings import ExtractiveSettings

_NEAR_WORDS = 4
"""A number belongs to a noun at most so many words away: "80,863 manually annotated pages"."""
_NUMBER = (
    r"\d[\d.,]*|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|"
    r"sixty|seventy|eighty|ninety|hundred|thousand|million|billion|half|third|quarter|dozen)"
)
_WORD = re.compile(r"[^\W_]+(?:[.,-][^\W_]+)*")


@dataclass(frozen=True)
class _AnswerType:
    """What a kind of question asks for."""

    asked: re.Pattern[str]
    held: re.Pattern[str]
    """Wordings of candidates that hold it."""


def _type(asked: str, held: str) -> _AnswerType:
    return _AnswerType(re.compile(asked, re.IGNORECASE), re.compile(held))


_COUNTED = re.compile(r"\bhow many (?:of the |different |other )?(?P<noun>[a-z]+)", re.IGNORECASE)
_IS_NUMBER = re.compile(_NUMBER, re.IGNORECASE)
_TYPES = (
    _type(
        r"\bhow (?:many|much|long|old|large|big|often|far|high|fast)\b"
        r"|\b(?:what|which) (?:percentage|percent|proportion|share|fraction|number|dose|size|age|temperature|rate)\b"
        r"|\bwhat (?:is|are|was|were) the (?:\w+ ){0,3}(?:number|percentage|proportion|rate|prevalence|incidence|"
        r"duration|mean|median|average|ratio|dose|amount|cost|price)\b",
        rf"(?i:\b(?:{_NUMBER})\b)",
    ),
    _type(
        r"\bwhen (?:was|were|did|is|are|do|does|will|can|should)\b|\b(?:what|which) (?:year|date|month|day)\b",
        r"\b(?:1[5-9]|20)\d\d\b|\b(?:January|February|March|April|May|June|July|August|September|October|November|"
        r"December)\b|(?i:\b(?:days?|weeks?|months?|years?|hours?|minutes?|after|before|during|until)\b)",
    ),
    _type(
        r"\bwho\b(?! (?:is|are) (?:more|most|less|at)\b)",
        r"(?i:\bet al\b|\b(?:university|institute|ministry|commission|committee|department|organi[sz]ation|college)\b"
        r"|\b(?:centers? for|company|team of|researchers|authors)\b)"
        r"|\b(?:Dr|Prof)\b|(?<=[a-z,] )[A-Z][a-z]+ [A-Z][a-z]",
    ),
    _type(
        r"\bwhy\b|\bwhat (?:caused|causes)\b|\bwhat (?:is|are|was|were) the (?:cause|reason)s?\b",
        r"(?i:\b(?:because|due to|owing to|as a result|result(?:s|ed|ing)? from|caused?|causes|causing|therefore|thus|"
        r"hence|reasons?|explain\w*|attribut\w+|led to|leads to|leading to|so that|in order to|since|consequently)\b)",
    ),
)


def raised_by_type(
    question: str, candidates: Sequence[Candidate], relevance: NDArray[np.float32], settings: ExtractiveSettings
) -> NDArray[np.float32]:
    """The relevance of each sentence, shape (n,), raised by `answer_type_bonus` where it holds what is asked for, up
    to 1. Sentences below `min_relevance` stay there: holding a number makes no refusal an answer; only one that defines
    what the question asks the meaning of answers by itself."""
    if names := defined_names(question):
        return raised_by_definition(names, candidates, relevance)
    bonus = settings.answer_type_bonus
    kind = next((one for one in _TYPES if one.asked.search(question)), None)
    if kind is None or not bonus:
        return relevance
    counted = _COUNTED.search(question)
    noun = stem_of(counted["noun"].lower()) if counted else ""
    holds = [
        one.kind is CandidateKind.SENTENCE and (_counts(one.text, noun) if noun else bool(kind.held.search(one.text)))
        for one in candidates
    ]
    is_raised = np.array(holds, bool) & (relevance >= settings.min_relevance)
    return np.where(is_raised, np.minimum(relevance * (1 + bonus), 1.0), relevance).astype(np.float32)


def _counts(text: str, noun: str) -> bool:
    """Whether a number stands near the noun that is counted."""
    words = _WORD.findall(text)
    numbers = [at for at, word in enumerate(words) if _IS_NUMBER.fullmatch(word)]
    nouns = [at for at, word in enumerate(words) if stem_of(word.lower()) == noun] if numbers else []
    return any(abs(number - at) <= _NEAR_WORDS for number in numbers for at in nouns)
