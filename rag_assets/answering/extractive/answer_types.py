"""Raises candidates that hold what a question asks for: a count, a time, an age, money, a place, a reason,
a meaning.

A question is answered by what its first words ask for, not only by what is near it: "When do symptoms peak?" by the
sentence with the days. A candidate without it keeps its relevance, so that nothing is refused because of its wording.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.extractive.candidates import Candidate, CandidateKind
from rag_assets.answering.extractive.definitions import defined_names, raised_by_definition
from rag_assets.settings import ExtractiveSettings
from rag_assets.text.numbers.words import POWERS_OF_TEN, TENS, UP_TO_NINETEEN
from rag_assets.text.terms import stem_of

_NEAR_WORDS = 4
"""A number belongs to a noun at most so many words away: "80,863 manually annotated pages"."""
_NUMBER = "|".join((r"\d[\d.,]*", *UP_TO_NINETEEN, *TENS, *POWERS_OF_TEN, "half", "third", "quarter", "dozen"))
_TIMES = r"(?:seconds?|min(?:ute)?s?|hours?|days?|nights?|evenings?|weeks?|months?|years?|decades?)"
_MONTHS = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_WORD = re.compile(r"[^\W_]+(?:[.,-][^\W_]+)*")
_IS_NUMBER = re.compile(_NUMBER, re.IGNORECASE)
_IS_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_PEOPLE = frozenset(
    stem_of(word)
    for word in (
        "people persons participants subjects individuals respondents volunteers children child kids boys girls babies "
        "infants toddlers preschoolers students pupils undergraduates adults adolescents teenagers teens patients "
        "cases men women males females couples dyads families households passengers members workers employees users "
        "recipients players sample n"
    ).split()
)
"""Papers and readers call those who took part by different names."""
Holds = Callable[[str], float]
"""How clearly a text holds what is asked for, 0 to 1."""


@dataclass(frozen=True)
class _AnswerType:
    """What a kind of question asks for."""

    asked: re.Pattern[str]
    held: re.Pattern[str]
    """Wordings of candidates that hold it."""


def _type(asked: str, held: str) -> _AnswerType:
    return _AnswerType(re.compile(asked, re.IGNORECASE), re.compile(held))


_COUNTED = re.compile(r"\bhow many (?:of the |different |other )?(?P<nouns>[a-z-]+(?: [a-z-]+)?)", re.IGNORECASE)
_TOOK_PART = re.compile(
    r"\b(?:took part|take part|participat\w+|recruited|enrol\w+|surveyed|tested|studied|involved?|included?|"
    r"analy[sz]ed|examined|sample|in total|altogether|start(?:ed)? with|interviewed)\b",
    re.IGNORECASE,
)
_SAMPLE = re.compile(
    rf"\b(?:participants|subjects|sample|respondents|patients|children|students|couples|individuals|volunteers) "
    rf"(?:were|was|included|comprised|consisted of|of) (?:the )?(?:{_NUMBER})\b"
    rf"|\b(?:sample|total|cohort) (?:\w+ ){{0,3}}?(?:of|was|included|comprised|consisted|composed) (?:\w+ ){{0,3}}?"
    rf"(?:{_NUMBER})\b"
    r"|\brecruited\b|\bn ?= ?\d|\b\d[\d,]* (?:\w+ ){0,3}(?:participants|subjects|volunteers|respondents)\b",
    re.IGNORECASE,
)
_TYPES = (
    _type(
        r"\bwho (?:has |have )?(?:funded|financed|sponsored|paid for)\b",
        r"(?i:\b(?:support(?:ed)? (?:by|from)|financial support|fund\w*|grants?|financed|sponsor\w*)\b)",
    ),
    _type(
        r"\b(?:paid|payment|compensat\w*|rewards?|earn(?:ed)?|cost|price|money|dollars?|euros?|incentives?)\b",
        r"[$€£¥]|(?i:\b(?:dollars?|euros?|cents?|pounds?|yen|rupees?|renminbi|rmb|usd|eur|gbp|course credits?)\b)",
    ),
    _type(r"\bhow old\b|\b(?:mean|average|what) age\b", r"(?i:\bages?\b|\baged\b|\byears? old\b|\bM ?age\b)"),
    _type(
        rf"\bhow long\b|\bwhat .{{0,20}}\b(?:duration|period)\b|\bhow many (?:{_TIMES})\b",
        rf"(?i:\b(?:{_NUMBER})[ -](?:\w+ )?{_TIMES}\b)",
    ),
    _type(
        r"\b(?:what|which) (?:percentage|percent|proportion|share|fraction|part)\b|\bhow (?:common|often)\b",
        r"(?i:%|\bper ?cent\b|\b(?:half|third|quarter|fourth|majority)s?\b|\b\d+ (?:of|out of) (?:the )?\d+\b"
        r"|\bone in\b|\b(?:once|twice|times|daily|weekly)\b)",
    ),
    _type(
        r"\bhow (?:many|much|large|big|far|high|fast|closely|strong(?:ly)?)\b"
        r"|\b(?:what|which) (?:\w+ ){0,3}(?:number|dose|size|temperature|rate|accuracy|coefficient|correlation|value|"
        r"score|ratio|risk|interval|rating)\b"
        r"|\bwhat (?:is|are|was|were) the (?:\w+ ){0,3}(?:number|proportion|prevalence|incidence|mean|median|average|"
        r"amount)\b",
        r"\d",
    ),
    _type(
        r"\bwhen (?:was|were|did|is|are|do|does|will|can|should|had)\b|\b(?:what|which) (?:years?|date|month|day)\b",
        rf"\b(?:1[5-9]|20)\d\d\b|\b{_MONTHS}\b"
        r"|(?i:\b(?:days?|weeks?|months?|years?|hours?|minutes?|after|before|during|until)\b)",
    ),
    _type(
        r"\bwhere (?:was|were|did|is|are|do|does|had)\b"
        r"|\b(?:what|which) (?:countr(?:y|ies)|cit(?:y|ies)|places?|regions?|towns?|nations?|hospitals?|schools?)\b",
        r"\b(?:in|at|from|of|across) (?:the )?(?:[\w-]+ )?[A-Z][a-z]{2,}|\b(?:University|Hospital|Institute)\b",
    ),
    _type(
        r"\bwho\b(?! (?:is|are) (?:more|most|less|at)\b)",
        r"(?i:\bet al\b|\b(?:university|institute|ministry|commission|committee|department|organi[sz]ation|college)\b"
        r"|\b(?:centers? for|company|team of|researchers|authors)\b)"
        r"|\b(?:Dr|Prof)\b|(?<=[a-z,] )[A-Z][a-z]+ [A-Z][a-z]",
    ),
    _type(
        r"\bwhy\b|\bwhat (?:caused|causes|explains?|(?:might|could|may) explain)\b"
        r"|\bwhat (?:\w+ ){0,3}(?:causes?|reasons?|explanations?)\b",
        r"(?i:\b(?:because|due to|owing to|as a result|result(?:s|ed|ing)? from|caused?|causes|causing|therefore|thus|"
        r"hence|reasons?|expla\w+|attribut(?:ed|able)|led to|leads to|leading to|so that|in order to|since|"
        r"consequently|suspect|may (?:be|have)|might|could (?:be|have)|likely|contribut\w+|allow\w*|enabl\w*|"
        r"to (?:avoid|ensure|prevent|reduce|keep|minimi[sz]e))\b)",
    ),
)


def raised_by_type(
    question: str, candidates: Sequence[Candidate], relevance: NDArray[np.float32], settings: ExtractiveSettings
) -> NDArray[np.float32]:
    """The relevance of each sentence, shape (n,), raised by up to `answer_type_bonus` where it holds what is asked for,
    up to 1. Sentences below `min_relevance` stay there: holding a number makes no refusal an answer; only one that
    defines what the question asks the meaning of answers by itself."""
    if names := defined_names(question):
        return raised_by_definition(names, candidates, relevance)
    holds = _held_by(question)
    if holds is None or not settings.answer_type_bonus:
        return relevance
    shares = np.array([holds(one.text) if one.kind is CandidateKind.SENTENCE else 0.0 for one in candidates])
    shares[relevance < settings.min_relevance] = 0.0
    return np.minimum(relevance * (1 + settings.answer_type_bonus * shares), 1.0).astype(np.float32)


def _held_by(question: str) -> Holds | None:
    """What tells whether a text holds what a question asks for; None where the question does not say."""
    counted = _COUNTED.search(question)
    nouns = frozenset(stem_of(word.lower()) for word in counted["nouns"].split()) if counted else frozenset[str]()
    kind = next((one for one in _TYPES if one.asked.search(question)), None)
    if counted is None or re.match(_TIMES, counted["nouns"], re.IGNORECASE):
        return None if kind is None else lambda text: float(kind.held.search(text) is not None)
    if nouns.isdisjoint(_PEOPLE):
        return lambda text: float(_counts(text, nouns))
    people, is_of_sample = nouns | _PEOPLE, _TOOK_PART.search(question) is not None
    return lambda text: _counts_people(text, people, is_of_sample)


def _counts_people(text: str, people: frozenset[str], is_of_sample: bool) -> float:
    """Half for a number of people; all of it for the size of a sample where that is asked for, else for any."""
    if not _counts(text, people):
        return 0.0
    return 0.5 if is_of_sample and _SAMPLE.search(text) is None else 1.0


def _counts(text: str, nouns: frozenset[str]) -> bool:
    """Whether a number stands near a noun that is counted."""
    words = _WORD.findall(text)
    numbers = [at for at, word in enumerate(words) if _IS_NUMBER.fullmatch(word) and not _IS_YEAR.fullmatch(word)]
    places = [at for at, word in enumerate(words) if stem_of(word.lower()) in nouns] if numbers else []
    return any(abs(number - at) <= _NEAR_WORDS for number in numbers for at in places)
