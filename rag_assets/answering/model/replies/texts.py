"""The texts of a reply that are published: claims as plain lines, and what the model found nothing about.

Whether a claim is true to its quotes is decided in `citations.verification`. What is missing cannot be verified, and
"all papers report that iron is safe" can be said in such a list, too: only words of the question are published of it.
"""

import re
import unicodedata
from collections.abc import Iterator

from rag_assets.answering.drafts import FIXED_SENTENCES, INSUFFICIENT
from rag_assets.answering.model.replies.parsing import ModelReply
from rag_assets.core.text.terms import terms_of
from rag_assets.questions import read

MAX_CLAIM_CHARS = 1_000
"""A claim is one sentence; a longer text is dropped."""
_MAX_MISSING, _MAX_MISSING_CHARS = 10, 300
_REFERENCE_MARKS = re.compile(
    r"\s*\[\s*(?:sources?\s*)?\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*\](?!\s?(?:[%‰]|per ?cent\b|[mµnkc]?[glm]\b))",
    re.IGNORECASE,
)
"""Not in front of a unit: "[90]%" is a number."""
_ROUND = str.maketrans("[]【】⟦⟧", "()()()")
_MARKER = re.compile(r"[\[*_`]{0,4}\binsufficient[\s_-]+data\b[\]*_`]{0,4}[.:]?", re.IGNORECASE)
_MISSING = INSUFFICIENT + " The sources do not say: {part}"
UNNAMED_PART = f"{INSUFFICIENT} The sources do not answer a part of the question."


def claim_text(written: str) -> str:
    """A claim on one line, without control characters and marks like [3], with round brackets for square ones:
    in an answer, square brackets hold paper and page. Empty where it cannot be a claim: too long, or one of the
    pipeline's own sentences."""
    if len(written) > MAX_CLAIM_CHARS:
        return ""
    text = " ".join(_REFERENCE_MARKS.sub("", _visible(written)).translate(_ROUND).split())
    return "" if any(sentence in text for sentence in FIXED_SENTENCES) else text


def is_insufficient(text: str) -> bool:
    """Whether a statement says that data are missing, by the mark for it, and is no claim."""
    return "[" in text and _MARKER.search(text) is not None


def missing_notes(reply: ModelReply, question: str) -> tuple[str, ...]:
    """A sentence for each part of the question that the reply calls missing, each once.

    The part is told in the words of the reply if all of them are words of the question; else as the part of the
    question that shares most words with it; else it is not named.
    """
    said = [*reply.missing, *(claim.text for claim in reply.claims if is_insufficient(claim.text))]
    return tuple(dict.fromkeys(_note(text, question) for text in list(_lines(said))[:_MAX_MISSING]))


def _lines(texts: list[str]) -> Iterator[str]:
    for text in texts:
        line = " ".join(_MARKER.sub(" ", _visible(text)).translate(_ROUND).split()).rstrip(".?!:; ")
        if line and len(line) <= _MAX_MISSING_CHARS:
            yield line


def _note(part: str, question: str) -> str:
    named = terms_of(part)
    if named and named <= terms_of(question):
        return _MISSING.format(part=f"{part}.")
    shared = {one.text: len(named & terms_of(one.text)) for one in read(question).parts}
    nearest = max(shared, key=lambda text: shared[text], default="")
    return _MISSING.format(part=nearest) if shared.get(nearest) else UNNAMED_PART


def _visible(text: str) -> str:
    spaced = "".join(" " if unicodedata.category(c) == "Cc" else c for c in text)
    return "".join(c for c in spaced if unicodedata.category(c) not in {"Cf", "Cs", "Co"})
