"""Finds the sentences that define what a question asks the meaning of: "What is meant by AI hyperrealism?".

A sentence about a thing holds the question's words as often as the one that defines it; what tells them apart is the
wording around the name. The wordings are English. Where no sentence has one, nothing changes.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.extractive.candidates import Candidate, CandidateKind

_MOST_WORDS = 7
"""A longer phrase is a question about something, not the name of a thing."""
_ASKED = (
    r"what (?:is|are|was|were) (?:exactly )?meant by (?P<term>.+)",
    r"what (?:do|does|did) (?:the authors?|they|researchers|the paper|he|she) mean by (?P<term>.+)",
    r"what (?:do|does|did) (?:the (?:term|word|acronym|abbreviation|name) )?(?P<term>.+?) "
    r"(?:mean|stand for|refer to|denote|abbreviate)",
    r"(?:what is|give|find) (?:the|a) (?:definition|meaning) of (?P<term>.+)",
    r"how (?:is|are|was|were|do|does|did) (?:the authors? |they )?(?:define )?(?P<term>.+?) (?:defined|understood)",
    r"how (?:do|does|did) (?:the authors?|they|the paper) define (?P<term>.+)",
    r"(?:define|explain) (?P<term>.+)",
    r"what (?:is|are|was|were) (?P<term>.+?) (?:made (?:up )?of|composed of)",
    r"what (?:do|does|did) (?P<term>.+?) consist of",
    r"what(?: is| are|'s|’s) (?P<term>.+)",
)
_QUESTIONS = tuple(re.compile(rf"^\W*(?:and |so )?{asked}$", re.IGNORECASE) for asked in _ASKED)
_AROUND_TERM = re.compile(
    r"^(?:the (?:term|word|concept|notion|phrase|acronym|abbreviation) (?:of )?|an? |the )?[\"“”'‘’]*|"
    r"[\"“”'‘’?.\s]*(?:\([^()]*\))?[\"“”'‘’?.\s]*$"
    r"|,? (?:in|according to|by) (?:the|this|that) (?:paper|study|article|context|authors?)\b.*$",
    re.IGNORECASE,
)
_FIELD = re.compile(r"^(?P<name>\S+ .*?\S) (?:in|within|among) .+$", re.IGNORECASE)
"""A name with the field that it belongs to: "gold model in machine unlearning"."""
_SHORT = re.compile(r"\((\w[\w-]{1,12})\)\W*$")
_NAMED = (
    r"(?:(?:we|i|they|authors?|researchers|is|are|been|was|were|be|often|also|sometimes|commonly|so-)\s*"
    r"(?:\w+ly )?(?:term(?:ed)?|call(?:ed)?|define[ds]?|dub(?:bed)?|label(?:l?ed)?|coin(?:ed)?|name[ds]?)"
    r"|\bknown as|\breferred? to(?: this| it| these)?(?: \w+){0,6} as|\bthe term|\bdefinition of)"
    r"(?: (?:this|these|such)(?: \w+){1,2}?)?(?: (?:this|it|these|that|here|the|an?|as))*[\s\"“'‘(]+"
)
_IS_DEFINED = (
    r"[\"”'’]?,?\s+(?:(?:is|are|was|were|can be|may be|has been|have been) (?:\w+ly )?"
    r"(?:defined|conceptuali[sz]ed|understood|characteri[sz]ed|described|operationali[sz]ed)"
    r"|which (?:(?:we|i|they|the authors) (?:\w+ly )?(?:define|understand|describe)d?"
    r"|(?:is|are|was|were) (?:\w+ly )?(?:defined|understood)|refers? to|means?)"
    r"|refers? to|denotes?|means?\b(?! for\b)|stands? for|describes?|defined as|i\.e\.|that is,)"
)
_CONSISTS = r"[\"”'’]?(?: \w+)? (?:consists? of|(?:is|are) (?:made (?:up )?of|composed of))\b"
_IS_A = r"[\"”'’]?\s+(?:is|are|was|were) (?:an?|the|one|any|when|where|how|those|what|simply|essentially)\b"
_APPOSED = r"[\"”'’]?(?:\s*[—–:]|,)\s*(?:or|an?|the|namely|which (?:is|are|means))\b"
_SMALL = frozenset("a an and at by for in of on or the to with".split())
_SURE, _LIKELY, _POSSIBLE = 1.0, 0.95, 0.85
_OTHERS_SHARE = 0.5
_OWN_SHARE = 0.1
"""Of a sentence's own relevance beside its wording: it orders sentences of equal wording."""


def defined_names(question: str) -> tuple[str, ...]:
    """The names of the thing whose meaning is asked for, "power usage effectiveness" and "PUE", "gold model in machine
    unlearning" and "gold model"; none where none is."""
    text = question.strip().rstrip("?. ")
    found = next((match for asked in _QUESTIONS if (match := asked.match(text))), None)
    term = found["term"] if found else ""
    while (shorter := _AROUND_TERM.sub("", term).strip()) != term:
        term = shorter
    short = _SHORT.search(found["term"]) if found else None
    in_field = _FIELD.match(term)
    names = (term, *([short[1]] if short else []), *([in_field["name"]] if in_field else []))
    return names if 0 < len(term.split()) <= _MOST_WORDS else ()


def with_definitions_kept(candidates: Sequence[Candidate], parts: Sequence[str]) -> list[Candidate]:
    """The candidates; those that define what a part of the question asks for with their relevance to every part, so
    that they are kept wherever their passage came in the search."""
    asked = {part: [(name, _wordings_for(name)) for name in defined_names(part)] for part in parts}
    if not any(asked.values()):
        return list(candidates)
    found: list[Candidate] = []
    for one in candidates:
        is_sentence = one.kind is CandidateKind.SENTENCE
        sure = {
            part: max((_sure(one.text, *of_name) for of_name in names), default=0.0) if is_sentence else 0.0
            for part, names in asked.items()
        }
        found.append(replace(one, relevance=sure) if any(sure.values()) else one)
    return found


def raised_by_definition(
    names: Sequence[str], candidates: Sequence[Candidate], relevance: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The relevance of each candidate, shape (n,): from 0.76 on of a sentence that defines one of the names, and half
    of what it was of the others where one is sure to."""
    wordings = [(name, _wordings_for(name)) for name in names]
    sure = np.array(
        [
            max(_sure(one.text, *of_name) for of_name in wordings) if one.kind is CandidateKind.SENTENCE else 0.0
            for one in candidates
        ],
        np.float32,
    )
    defining = np.maximum(relevance, (1 - _OWN_SHARE) * sure + _OWN_SHARE * relevance)
    others = _OTHERS_SHARE * relevance if sure.max(initial=0.0) >= _LIKELY else relevance
    return np.minimum(np.where(sure > 0, defining, others), 1.0).astype(np.float32)


def _wordings_for(term: str) -> tuple[tuple[re.Pattern[str], float], ...]:
    """The wordings that define a name, and how sure each is."""
    name = r"[\s-]+".join(re.escape(word) for word in re.split(r"[\s-]+", term))
    name = rf"(?<![\w-]){name}(?:e?s)?(?![\w-])(?:\s*\([^()]{{1,60}}\))?"
    begins = rf"^(?:[\w'’,-]+ ){{0,4}}?(?:the |an? )?[\"“'‘]?{name}"
    return tuple(
        (re.compile(pattern, re.IGNORECASE), sure)
        for pattern, sure in (
            (_NAMED + name, _SURE),
            (name + _IS_DEFINED, _SURE),
            (name + _CONSISTS, _SURE),
            (begins + _IS_A, _LIKELY),
            (name + _APPOSED, _POSSIBLE),
        )
    )


def _sure(text: str, term: str, wordings: Sequence[tuple[re.Pattern[str], float]]) -> float:
    """How surely a sentence defines a name, 0 to 1."""
    if _spells_out(text, term):
        return _SURE
    return max((sure for wording, sure in wordings if wording.search(text)), default=0.0)


def _spells_out(text: str, term: str) -> bool:
    """Whether a text has the words that an acronym stands for, before it or behind it in brackets."""
    if not (term.isupper() and term.isalpha() and len(term) > 1):
        return False
    before = re.finditer(rf"((?:[\w/]+[\s-]+){{1,{2 * len(term)}}})\(\s*{term}s?\b", text)
    behind = re.finditer(rf"\b{term}s?\s*\(([^()]+)\)", text)
    return any(term in initials for found in (*before, *behind) for initials in _initials(found[1]))


def _initials(phrase: str) -> tuple[str, str]:
    """The initials of all words of a phrase, and of those that are no small words, in capitals."""
    words = [word for word in re.split(r"[\W_]+", phrase) if word]
    told = [word for word in words if word.lower() not in _SMALL]
    return "".join(word[0] for word in words).upper(), "".join(word[0] for word in told).upper()
