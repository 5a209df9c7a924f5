"""How a paper says of itself that it was retracted: a label beside its title, a stamp, a notice at
an end.

A paper about retractions uses the same words of others, mostly in the plural; there only a label or
a stamp in capitals counts. A sentence about another paper is none of these.
"""

import re
from collections.abc import Iterable

from rag_assets.core.text.section_names import unspaced

_KIND = r"(?:article|paper|publication|chapter|manuscript|preprint)"
_NOUN = r"retraction(?:\s+(?:note|notice|statement))?"
_STAMP = re.compile(rf"\W*(?:RETRACTED(?:\s+(?i:{_KIND}))?|Retracted\s+(?i:{_KIND}))\W*")
_LABEL = re.compile(
    rf"\W*(?:(?:retracted(?:\s+{_KIND})?|{_NOUN})(?:\s*[:\])|]|\s+[–—-]\s)\W*(?=(?-i:[A-Z0-9]))"
    rf"|(?-i:RETRACTED)(?:\s+{_KIND})?\s+(?=(?-i:[A-Z][a-z])))",
    re.IGNORECASE,
)
"""Before a title: "RETRACTED: ", "[Retracted] ", "Retraction: ", "RETRACTED ARTICLE "."""
_LABEL_BEHIND = re.compile(
    rf"[(\[–—|-]\s*retracted(?:\s+{_KIND})?(?:[.:,;][^()\[\]]{{0,80}})?[)\]]?\W*$", re.IGNORECASE
)
_DONE = r"(?:has|was|is)\s+(?:now\s+)?(?:been\s+|being\s+)?(?:\w+ly\s+)?retracted\b"
_NOTICE = re.compile(
    rf"^\W*(?:(?:{_NOUN}|notice|note|warning)\W+)?(?:"
    rf"(?:this|the\s+present)\s+(?:\w+\s+){{0,2}}?{_KIND}\s+{_DONE}"
    rf"|the\s+above\s+(?:\w+\s+){{0,2}}?{_KIND}\b.{{0,240}}?{_DONE}"
    rf"|[^.]{{0,80}}?\bretract(?:ed|ing)?\s+(?:this|the\s+above)\s+{_KIND}\b)",
    re.IGNORECASE | re.MULTILINE,
)
_OF_OTHERS = re.compile(
    rf"\bretractions\b|\bretracted\s+(?:\w+\s+){{0,2}}?(?:{_KIND}s|studies|works|trials|literature)\b",
    re.IGNORECASE,
)
_MANY = 3


def is_stamp(text: str) -> bool:
    """Whether a text is nothing but a stamp: "RETRACTED", "Retracted article"."""
    return _STAMP.fullmatch(unspaced(text)) is not None


def is_about_retractions(texts: Iterable[str]) -> bool:
    """Whether a paper speaks of retractions of others."""
    return sum(len(_OF_OTHERS.findall(text)) for text in texts) >= _MANY


def is_label_of(title: str, *, in_capitals: bool = False) -> bool:
    """Whether a title begins, or ends, with the label of a retracted paper. in_capitals: no other
    counts."""
    found = _LABEL.match(title) or _LABEL_BEHIND.search(title)
    return found is not None and (not in_capitals or "RETRACTED" in found[0])


def opens_with_label(text: str) -> bool:
    """Whether a text begins with such a label: "Retraction: the figures of this paper were made
    up."."""
    return _LABEL.match(text) is not None


def is_notice(text: str) -> bool:
    """Whether a line of a text begins by saying that the paper itself was retracted."""
    return _NOTICE.search(text) is not None
