"""Recognises formal sentences of papers: copyright, correspondence, dates, competing interests, funding, thanks.

They answer no question about the subject of a paper, but are full of its names and words. The extractive answerer uses
one only where the question asks for it ("Who funded the study?"). The wordings are English.
"""

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class _Kind:
    """One kind of formal sentences."""

    stated: re.Pattern[str]
    asked: re.Pattern[str]
    """Wordings of questions that ask for it."""


def _kind(stated: tuple[str, ...], asked: str) -> _Kind:
    """stated: alternatives; their repetitions are bounded, because sentences are untrusted."""
    return _Kind(re.compile("|".join(stated), re.IGNORECASE), re.compile(asked, re.IGNORECASE))


_LICENCE = _kind(
    (
        r"©\s*(?:the\b|by\b|\w)",
        r"\(c\) (?:19|20)\d\d",
        r"\bcopyright(?::| (?:19|20)\d\d)",
        r"all rights reserved",
        r"\b(?:this|article|paper|work)\b.{0,40}\b(?:distributed|licensed|published|available) under\b"
        r".{0,60}\blicen[cs]e",
        r"\bopen[ -]access article\b",
        r"creative commons attribution",
        r"permits (?:unrestricted|any non-?commercial) use",
        r"original (?:work|author\S{0,3})\b.{0,40}\b(?:credited|properly cited)",
        r"reproduced (?:here )?with (?:the )?permission",
    ),
    r"licen[cs]|copyright|open[ -]access|creative commons|\brights\b|permission|\breuse",
)
_CORRESPONDENCE = _kind(
    (
        r"\bcorresponding author\b.{0,80}(?:\S@\S|:)",
        r"\bcorrespondence\b(?: (?:to:|should|and requests)|.{0,80}(?:\S@\S|\baddressed\b))|^\W*correspondence\b",
        r"^.{0,200}[\w.+-]{1,64}@[\w-]{1,64}\.[a-z]{2,}",
        r"\bauthors? contributed equally\b",
        r"\bpresent address\b",
    ),
    r"correspond|e-?mail|contact(?:ed)? (?:the )?authors?|postal address|contributed equally",
)
_DATE = r"(?:\d{1,2}(?:st|nd|rd|th)?\.?\s+[a-z]{3,9}\.?,?\s+\d{4}|[a-z]{3,9}\.?\s+\d{1,2},?\s+\d{4}|\d{4}-\d\d-\d\d)"
_DATES_AND_CITATION = _kind(
    (
        r"^\W*(?:received|accepted|revised|submitted|published(?: online)?|available online)\b:?\s+(?:on |in )?"
        rf"{_DATE}",
        rf"\breceived:?\s+{_DATE}.{{0,60}}\baccepted\b",
        r"^\W*(?:citation|how to cite|cite this article)\b.{0,20}:",
        r"\bISSN\b|^\W*doi\b",
    ),
    r"\bwhen\b|\bdate|\bcit(?:e|ed|ation)\b|\bissn\b|\bdoi\b|"
    r"\b(?:paper|article|manuscript|study|preprint)\b.{0,30}\b(?:received|accepted|submitted|published)\b",
)
_INTERESTS = _kind(
    (
        r"\b(?:authors?|they|we|he|she|[A-Z]{2,3})\b.{0,60}\b(?:declared?|declares|reports?|states?|disclosed?|have|has)\b"
        r".{0,80}\b(?:competing|conflicts?|conflicting)\b.{0,40}\binterests?",
        r"\b(?:no|any) (?:(?:potential|known|other|relevant) )?(?:conflicts? of|competing(?: financial)?) interests?",
        r"^\W*(?:competing|conflicts? of|declaration of)\b.{0,20}\binterests?\W*[:.]",
        r"\bno (?:relevant )?financial (?:or non-financial )?(?:disclosures?|interests?|relationships?)",
    ),
    r"\b(?:competing|financial|vested|declared?)\b.{0,30}\binterests?|\bconflict|disclos",
)
_FUNDING = _kind(
    (
        r"\b(?:this|the|our|present) (?:\w{1,30} )?(?:work|study|research|project|paper|article|publication|trial)\b"
        r".{0,80}\b(?:supported|funded|financed|sponsored|funding|grants?) (?:in part|by|from|through|under)\b",
        r"\b(?:grant|award|contract|fellowship):? (?:(?:no\b\.?|number:?|#) ?)?\(?(?=[\w/-]{0,8}\d{3})",
        r"\breceived no (?:specific |external )?(?:grant|funding|financial support)",
        r"\breceived (?:no )?(?:\w{1,20} )?funding\b",
        r"\bfinancial support for this\b|\bthe funders?\b.{0,40}\bno role|^\W*funding\W*[:.]",
    ),
    r"fund|financ|sponsor|\bmoney\b|\bgrants?\b|\bpaid\b|\bpays?\b|"
    r"\bsupport(?:ed|s)? (?:the|this) (?:study|work|research|trial|project)",
)
_ROLE = (
    r"(?:conceptuali[sz]ation|data curation|formal analysis|funding acquisition|investigation|methodology|"
    r"project administration|resources|software|supervision|validation|visuali[sz]ation|writing\b.{0,4}\w+ \w+)"
)
"""Roles of authors by the CRediT taxonomy (credit.niso.org)."""
_THANKS_AND_CONTRIBUTIONS = _kind(
    (
        r"\ball (?:the )?authors\b.{0,60}\b(?:read|approved|contributed|reviewed)\b.{0,60}"
        r"\b(?:manuscript|version|article|work)",
        r"\bauthor(?:s'?|s’|'s|’s)? contributions?\W*:",
        rf"\b{_ROLE}; ?{_ROLE}\b",
        r"\b(?:we|the authors) (?:would like to |wish to )?"
        r"(?:thank\b|acknowledge (?!that\b|,)|are (?:grateful|indebted) to\b)",
    ),
    r"contribut|\bauthors?\b|\bthank|acknowledg"
    r"|\bwho (?:collected|drafted|analy[sz]ed|conceived|supervised|designed|wrote)\b",
)
_KINDS = (_LICENCE, _CORRESPONDENCE, _DATES_AND_CITATION, _INTERESTS, _FUNDING, _THANKS_AND_CONTRIBUTIONS)


def states_only_formalities(sentence: str, question: str) -> bool:
    """Whether a sentence is formal, and the question does not ask for that kind."""
    return any(not kind.asked.search(question) for kind in _kinds_stated(sentence))


@lru_cache(maxsize=2**13)
def _kinds_stated(sentence: str) -> tuple[_Kind, ...]:
    """Kept for some thousand sentences: passages are found again and again."""
    return tuple(kind for kind in _KINDS if kind.stated.search(sentence))
