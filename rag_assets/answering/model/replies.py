"""The reply a model is asked for, and its texts as they are published.

The field descriptions reach the model as JSON schema. Whether a claim is true to the places that it
cites is decided in `verify.verification`. Nothing verifies the list of missing parts, so only parts
in words of the question are named.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field, model_validator

from rag_assets.answering.drafts import FIXED_SENTENCES, REFUSAL
from rag_assets.core.text.display import addresses_missing_in
from rag_assets.core.text.terms import may_be_english, terms_of, words_of

_LEAST_TELLING = 12
"""Fewer words of claims do not tell their language: they may be names."""
_MAX_MISSING, _MAX_MISSING_CHARS = 6, 300
_ANSWER_KEYS = ("answer", "final_answer", "response", "summary")
"""Fields in which models write an answer that should be in `claims`."""
_REFERENCE_MARKS = re.compile(
    r"(?:(?<!\s)\s+)?\[\s*(?:sources?\s*)?\d{1,3}(?:\.\d{1,4})?(?:\s*[,;–-]\s*\d{1,3}(?:\.\d{1,4})?)*\s*\]"
    r"(?!\s?(?:[%‰]|per ?cent\b|[mµnkc]?[glm]\b))",
    re.IGNORECASE,
)
"""Marks like [3.12] or [Source 1, 2]; not in front of a unit, since "[90]%" is a number."""
_ROUND = str.maketrans("[]【】⟦⟧", "()()()")
_MARKER = re.compile(r"[\[*_`]{0,4}\binsufficient[\s_-]+data\b[\]*_`]{0,4}[.:]?", re.IGNORECASE)


class ReplyClaim(BaseModel):
    """One statement of the answer."""

    text: str = Field(
        description="One statement that answers the question or a part of it, in one sentence."
    )
    cites: list[str] = Field(
        description='Ids of the sentences and rows that carry it, as "3.12". At least one.'
    )


class MendedClaim(ReplyClaim):
    """A statement in place of one that did not hold, or a further one."""

    replaces: int = Field(
        0, description="Number of the statement that it replaces; 0 for a further one."
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
            said = [text for key in _ANSWER_KEYS if (text := _text_of(reply.get(key)))]
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


def is_refusal(text: str) -> bool:
    """Whether a text is the refusal sentence, whatever marks and letter case it is written with."""
    return len(text) < 2 * len(REFUSAL) and _letters(text) == _letters(REFUSAL)


def claim_text(written: str) -> str:
    """A claim on one line, without control characters and marks like [3.12]. Square brackets become
    round ones: in an answer they enclose paper and page. Empty for a text that has one of the
    pipeline's own sentences."""
    text = " ".join(_REFERENCE_MARKS.sub("", _visible(written)).translate(_ROUND).split())
    return "" if any(sentence in text for sentence in FIXED_SENTENCES) else text


def is_insufficient(text: str) -> bool:
    """Whether a statement has the mark for missing data, so that it is not a claim."""
    return "[" in text and _MARKER.search(text) is not None


def is_in_language_of(question: str, claims: Sequence[ReplyClaim]) -> bool:
    """Whether claims may be in the language of the question: both English or both not. Few words do
    not tell, nor does a question that shares half of its words with them."""
    said = " ".join(claim.text for claim in claims)
    if len(words_of(said)) < _LEAST_TELLING or may_be_english(said) == may_be_english(question):
        return True
    asked = terms_of(question)
    return 2 * len(asked & terms_of(said)) >= len(asked)


def missing_parts(reply: ModelReply, question: str) -> tuple[str, ...]:
    """The parts that the reply calls missing in its own words, each once; an empty text for those
    of which less than half of the words, or an address, are not the question's."""
    said = [*reply.missing, *(claim.text for claim in reply.claims if is_insufficient(claim.text))]
    lines = [
        " ".join(_MARKER.sub(" ", _visible(text)).translate(_ROUND).split()).rstrip(".?!:; ")
        for text in said
    ]
    asked = terms_of(question)
    parts: list[str] = []
    for line in [line for line in lines if 0 < len(line) <= _MAX_MISSING_CHARS][:_MAX_MISSING]:
        terms = terms_of(line)
        is_asked = terms and 2 * len(terms & asked) >= len(terms)
        parts.append(line if is_asked and not any(addresses_missing_in(line, [question])) else "")
    return tuple(dict.fromkeys(parts))


def _visible(text: str) -> str:
    spaced = "".join(" " if unicodedata.category(c) == "Cc" else c for c in text)
    return "".join(c for c in spaced if unicodedata.category(c) not in {"Cf", "Cs", "Co"})


def _letters(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _text_of(value: Any) -> str:
    """A string without half characters, which no file can hold; empty for any other value."""
    return value.encode("utf-8", "replace").decode().strip() if isinstance(value, str) else ""
