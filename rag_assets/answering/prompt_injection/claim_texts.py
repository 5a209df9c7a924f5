"""The words of a claim as a model wrote them, made fit to be read among others.

Whether a claim is true to its quotes is decided in `citations.verification`. Here it is kept from looking like
something else: a citation, a note of ours, several paragraphs, or text in another direction.
"""

import re
import unicodedata

from rag_assets.answering.drafts import FIXED_SENTENCES

MAX_CHARS = 1_000
"""A claim is one sentence; a longer one is no claim."""
_REFERENCE_MARKS = re.compile(
    r"\s*\[\s*(?:sources?\s*)?\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*\](?!\s?(?:[%‰]|per ?cent\b|[mµnkc]?[glm]\b))",
    re.IGNORECASE,
)
"""A number before a unit is none, whatever stands around it."""
_ROUND = str.maketrans("[]【】⟦⟧", "()()()")


def claim_text(written: str) -> str:
    """One line without control and format characters, without marks like [3], and with round brackets for square ones:
    in an answer those hold paper and page. Empty where it cannot be a claim: too long, or one of our own sentences."""
    if len(written) > MAX_CHARS:
        return ""
    visible = "".join(" " if unicodedata.category(c) == "Cc" else c for c in written)
    visible = "".join(c for c in visible if unicodedata.category(c) not in {"Cf", "Cs", "Co"})
    text = " ".join(_REFERENCE_MARKS.sub("", visible).translate(_ROUND).split())
    return "" if any(sentence in text for sentence in FIXED_SENTENCES) else text
