"""The reply a model is asked for, and its texts as they are published: claims as plain lines, and
missing parts.

The field descriptions reach the model as JSON schema. Whether a claim is true to its quotes is
decided in `verify.verification`. Nothing verifies the list of missing parts, in which a model could
write "all papers report that iron is safe": only words of the question are published of it.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, Field, model_validator

from rag_assets.answering.drafts import FIXED_SENTENCES, REFUSAL
from rag_assets.core.text.terms import terms_of
from rag_assets.questions import read

ANSWER_KEYS = ("answer", "finalanswer", "response", "summary")
"""Fields, in lower case, in which models write an answer that should be in `claims`."""
MAX_CLAIM_CHARS = 1_000
"""A claim is one sentence; a longer text is dropped."""
_MAX_MISSING, _MAX_MISSING_CHARS = 10, 300
_REFERENCE_MARKS = re.compile(
    r"\s*\[\s*(?:sources?\s*)?\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*\](?!\s?(?:[%‰]|per ?cent\b|[mµnkc]?[glm]\b))",
    re.IGNORECASE,
)
"""Marks like [3] or [Source 1, 2]; not in front of a unit, since "[90]%" is a number."""
_ROUND = str.maketrans("[]【】⟦⟧", "()()()")
_MARKER = re.compile(r"[\[*_`]{0,4}\binsufficient[\s_-]+data\b[\]*_`]{0,4}[.:]?", re.IGNORECASE)


class ReplyCitation(BaseModel):
    """One quote that supports a claim."""

    source: int = Field(description="Number of the source the quote stands in.")
    quote: str = Field(
        description="The words of that source that support the claim, copied exactly, in one piece."
    )


class ReplyClaim(BaseModel):
    """One statement of the answer."""

    text: str = Field(
        description="One statement that answers the question or a part of it, in one sentence."
    )
    citations: list[ReplyCitation] = Field(description="At least one.")


class MendedClaim(ReplyClaim):
    """A statement in place of one that did not hold, or a further one."""

    replaces: int = Field(
        description="Number of the statement that it replaces; 0 for a further one."
    )


class ModelReply(BaseModel):
    """The statements of an answer, and what it leaves open."""

    claims: Sequence[ReplyClaim] = Field(
        description="Every statement of the answer, in reading order; empty for none."
    )
    missing: list[str] = Field(
        [], description="Parts of the question that the sources do not answer, in its words."
    )

    @model_validator(mode="before")
    @classmethod
    def _says_nothing_elsewhere(cls, reply: Any) -> Any:
        if isinstance(reply, dict) and not reply.get("claims"):
            said = [text for key in ANSWER_KEYS if (text := text_of(reply.get(key)))]
            if any(not is_refusal(text) for text in said):
                raise ValueError(
                    "every statement of the answer belongs into `claims`, with its citations"
                )
        return reply


class MendedReply(ModelReply):
    """Statements in place of those that did not hold, and further ones."""

    claims: Sequence[MendedClaim] = Field(
        description="The mended statements, then further ones; empty for none."
    )


def text_of(value: Any) -> str:
    """A string without half characters, which no file can hold; empty for any other value."""
    return value.encode("utf-8", "replace").decode().strip() if isinstance(value, str) else ""


def is_refusal(text: str) -> bool:
    """Whether a text is the refusal sentence, whatever marks and letter case it is written with."""
    return len(text) < 2 * len(REFUSAL) and _letters(text) == _letters(REFUSAL)


def claim_text(written: str) -> str:
    """A claim on one line, without control characters and marks like [3]. Square brackets become
    round ones: in an answer they enclose paper and page. Empty for a text that is too long or has
    one of the pipeline's own sentences."""
    if len(written) > MAX_CLAIM_CHARS:
        return ""
    text = " ".join(_REFERENCE_MARKS.sub("", _visible(written)).translate(_ROUND).split())
    return "" if any(sentence in text for sentence in FIXED_SENTENCES) else text


def is_insufficient(text: str) -> bool:
    """Whether a statement has the mark for missing data, so that it is not a claim."""
    return "[" in text and _MARKER.search(text) is not None


def missing_parts(reply: ModelReply, question: str) -> tuple[str, ...]:
    """The parts of the question that the reply calls missing, each once.

    A part is named in the words of the reply if all of them are words of the question, else as the
    part of the question that shares most words with it, else by an empty text.
    """
    said = [*reply.missing, *(claim.text for claim in reply.claims if is_insufficient(claim.text))]
    return tuple(
        dict.fromkeys(_named(text, question) for text in list(_lines(said))[:_MAX_MISSING])
    )


def _lines(texts: list[str]) -> Iterator[str]:
    for text in texts:
        line = " ".join(_MARKER.sub(" ", _visible(text)).translate(_ROUND).split()).rstrip(".?!:; ")
        if line and len(line) <= _MAX_MISSING_CHARS:
            yield line


def _named(part: str, question: str) -> str:
    named = terms_of(part)
    if named and named <= terms_of(question):
        return part
    shared = {one.text: len(named & terms_of(one.text)) for one in read(question).parts}
    nearest = max(shared, key=lambda text: shared[text], default="")
    return nearest if shared.get(nearest) else ""


def _visible(text: str) -> str:
    spaced = "".join(" " if unicodedata.category(c) == "Cc" else c for c in text)
    return "".join(c for c in spaced if unicodedata.category(c) not in {"Cf", "Cs", "Co"})


def _letters(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
