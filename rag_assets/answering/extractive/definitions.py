"""Sentences that say what something is: "PUE is a ratio ...", where the question asks what it is or means."""

import re

_ASKED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^what (?:is|are) meant by (?:the )?(?:terms? |words? )?(?P<term>.+?)(?: in .+)?$",
        r"^what does (?:the )?(?:terms? |words? |tokens? |codes? |abbreviation |acronym )?(?P<term>.+?) "
        r"(?:mean|stand for|refer to)\b.*$",
        r"^(?:how (?:is|are)|define) (?:the )?(?P<term>.+?)(?: defined.*)?$",
        r"^what (?:is|are) (?:an? |the )?(?P<term>\S+(?: \S+){0,3})$",
    )
)
_MOST_TERM_WORDS = 5
_IN_BRACKETS = re.compile(r"\s*\(([^)]+)\)\s*$")
_SAYS_WHAT_IT_IS = (
    r"\)?(?:\s*\([^)]{{1,60}}\))?,?\s(?:(?:is|are|was|were) (?:an?|the|defined|any|one|used to|a type|a kind|that)\b"
    r"|(?:refers?|means?|denotes?|stands?|describes?|represents?|consists?|involves?)\b|, an? )"
)
_CALLS_IT_SO = r"(?:called|named|known as|termed|referred to as|defined as|define|dubbed|introduce|present|propose)\s"


def defines(question: str, text: str) -> bool:
    """Whether the question asks what something is, and the text says so in one of the usual ways."""
    return any(
        re.search(rf"\b{re.escape(term)}\b{_SAYS_WHAT_IT_IS.format()}", text, re.IGNORECASE)
        or re.search(rf"\b{_CALLS_IT_SO}(?:[\"“'‘]|an? |the )?{re.escape(term)}\b", text, re.IGNORECASE)
        for term in _terms(question)
    )


def _terms(question: str) -> list[str]:
    """What the question asks the meaning of, with and without what stands in brackets; nothing for other questions."""
    asked = " ".join(question.split()).rstrip("?. ")
    found = next((match for pattern in _ASKED if (match := pattern.match(asked))), None)
    if found is None or len(found["term"].split()) > _MOST_TERM_WORDS:
        return []
    term = found["term"].strip("\"“”'‘’ ")
    short = _IN_BRACKETS.search(term)
    return [_IN_BRACKETS.sub("", term), short[1]] if short else [term]
