"""Reads what a question asks: its parts, and the kinds of things it asks for.

"Why is X scaled, and who proposed Y?" asks twice: each part is searched and answered by itself. The wordings are
English; a question in other words is one part of no kind, which is searched as it stands.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.core.text.terms import QUESTION_WORDS
from rag_assets.questions.wordings import Kind, kinds_of, study_with_findings

MIN_PART_WORDS = 4
"""Words of a part of a question; one less where one of them is a name ("Who runs Amcor?")."""
MOST_PARTS = 8
"""Each part costs a search and its time; with more of them it is one question."""
_MOST_READ = 400
"""Characters of a sentence that is looked through for wordings; a longer one has none. Bounds the time of patterns that
look for one word behind another."""
_ASKING = r"(?:how|what|which|why|who|whom|whose|when|where|whether)"
_AUXILIARY = r"(?:did|does|do|is|are|was|were|has|have|can|could|should|will|would)"
_PREPOSITION = r"(?:in|of|for|on|with|by|at|from|to|among|during|under|against|between|over|after)"
_SENTENCE_END = re.compile(r"(?<=[?!])\s+|(?<=\.)\s+(?=[A-Z])")
_NEW_QUESTION = re.compile(
    rf"[,;]?\s+and,?\s+(?=(?:{_PREPOSITION}\s+)?{_ASKING}\b)|[,;]\s+(?:but|while|whereas)\s+(?={_ASKING}\b)"
    rf"|[,;]\s+and\s+(?={_AUXILIARY}\b)|,\s+(?=how\s+(?:many|much|long|old|often|far|large)\b)|;\s+(?:and\s+)?",
    re.IGNORECASE,
)
"""What stands between two questions."""
_AND_FIRST = re.compile(r"^(?:and|but|also),?\s+", re.IGNORECASE)
_ASKS = re.compile(rf"\b{_ASKING}\b|^{_AUXILIARY}\b|\?$", re.IGNORECASE)
_BEGINS = re.compile(rf"(?:{_PREPOSITION}\s+)?(?:{_ASKING}|{_AUXILIARY})\b|.*\?$", re.IGNORECASE | re.DOTALL)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_POINTS_BACK = re.compile(r"\b(?:it|its|they|them|their|this|these|he|she|his|her)\b", re.IGNORECASE)
_LEAST_ALONE, _LEAST_POINTING_BACK = 2, 5
"""Content words that a part must have to mean something without the rest, and one that points back."""


@dataclass(frozen=True)
class QuestionPart:
    """One of the questions inside a question."""

    text: str
    """As it was asked: "how was it chosen?"."""
    searched: str
    """What is looked for; the whole question where the part points back and means nothing alone."""
    kinds: frozenset[Kind]
    """What it asks for."""
    study: str = ""
    """The thing whose findings it asks for, "the trial of X" or a title; empty where it asks for none."""


@dataclass(frozen=True)
class QuestionReading:
    """What a question asks."""

    parts: tuple[QuestionPart, ...]
    """In order; the question itself where it is one."""
    kinds: frozenset[Kind]
    """What the whole asks for."""


@lru_cache(maxsize=512)
def read(question: str) -> QuestionReading:
    """The reading of a question; kept, so that search and answering read it once."""
    kinds = _kinds(question)
    whole = _part(question, question)
    if Kind.SUMMARY in kinds:
        return QuestionReading((whole,), kinds)
    texts = [_AND_FIRST.sub("", text.strip(" ?;")) + "?" for text in _asked_in(question)]
    parts = [_part(text, text if _means_something(text) else question) for text in texts]
    is_compound = 1 < len(parts) <= MOST_PARTS and all(_is_long_enough(part.searched) for part in parts)
    is_compound = is_compound and any(part.searched != question for part in parts)
    return QuestionReading(tuple(parts) if is_compound else (whole,), kinds)


def _part(text: str, searched: str) -> QuestionPart:
    study = study_with_findings(text) if len(text) <= _MOST_READ else ""
    return QuestionPart(text, searched, _kinds(text), study)


def _kinds(text: str) -> frozenset[Kind]:
    sentences = (one for one in _SENTENCE_END.split(text) if len(one) <= _MOST_READ)
    return frozenset[Kind]().union(*map(kinds_of, sentences))


def _asked_in(question: str) -> list[str]:
    """The texts of the parts. What asks nothing belongs to the part before it: "Use what the table shows."."""
    found: list[str] = []
    for sentence in _SENTENCE_END.split(question):
        for text in _NEW_QUESTION.split(sentence):
            if found and not (_BEGINS.match(text) and _ASKS.search(found[-1])):
                found[-1] = f"{found[-1]} {text}"
            else:
                found.append(text)
    return found


def _is_long_enough(part: str) -> bool:
    words = part.split()
    has_name = any(word[0].isupper() for word in words[1:])
    return len(words) >= (MIN_PART_WORDS - 1 if has_name else MIN_PART_WORDS)


def _means_something(part: str) -> bool:
    """Whether a part means something without the rest: it holds a name or enough words; both, where it points back."""
    words = [word for word in _WORD.findall(part)[1:] if word.lower() not in QUESTION_WORDS]
    has_name = any(word[0].isupper() for word in words)
    if _POINTS_BACK.search(part):
        return has_name and len(words) >= _LEAST_POINTING_BACK
    return has_name or len(words) >= _LEAST_ALONE
