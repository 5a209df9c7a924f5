"""The reply a model is asked for, its texts as they are published, and replies that are still
malformed after the model was asked to mend them.

The field descriptions reach the model as JSON schema. Whether a claim is true to its quotes is
decided in `verify.verification`. Nothing verifies the list of missing parts, in which a model could
write "all papers report that iron is safe": only words of the question are published of it. Of a
malformed reply any form is read, but no content is added: a claim whose end is missing is dropped.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field, model_validator

from rag_assets.answering.drafts import FIXED_SENTENCES, REFUSAL
from rag_assets.core.text.sentences import sentence_spans
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
    lines = [
        " ".join(_MARKER.sub(" ", _visible(text)).translate(_ROUND).split()).rstrip(".?!:; ")
        for text in said
    ]
    parts = []
    for line in [line for line in lines if 0 < len(line) <= _MAX_MISSING_CHARS][:_MAX_MISSING]:
        terms = terms_of(line)
        if not terms or not terms <= terms_of(question):
            shared = {one.text: len(terms & terms_of(one.text)) for one in read(question).parts}
            line = max(shared, key=lambda text: shared[text], default="")
            line = line if shared.get(line) else ""
        parts.append(line)
    return tuple(dict.fromkeys(parts))


def _visible(text: str) -> str:
    spaced = "".join(" " if unicodedata.category(c) == "Cc" else c for c in text)
    return "".join(c for c in spaced if unicodedata.category(c) not in {"Cf", "Cs", "Co"})


def _letters(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


MAX_CHARS = 1_000_000
"""Longer texts are not read."""
NO_SOURCE = 0
"""Source of a citation without a readable source. Sources count from 1, so it counts as
hallucinated."""
_MAX_CLAIMS = 200
_MAX_CITATIONS = 50
"""Bound the time that reading a runaway reply takes; `answerer` limits what an answer may have."""
_MAX_LINE_CHARS = 10_000
"""Longer paragraphs are not read as prose: splitting thousands of quotation marks takes quadratic
time."""
_CLAIMS_KEYS = ("claims", "statements")
_MISSING_KEYS = ("missing", "unanswered")
_TEXT_KEYS = ("text", "claim", "statement", "sentence")
_CITATIONS_KEYS = ("citations", "citation", "evidence", "sources", "references", "support")
_CLAIM_SOURCE_KEYS = ("source", "sourceid", "sourcenumber", "sourceno", "sourceindex")
_SOURCE_KEYS = (*_CLAIM_SOURCE_KEYS, "id", "number", "n", "index", "ref")
"""Beside a claim's text, "id" and "number" are the claim's own."""
_QUOTE_KEYS = ("quote", "quotes", "quotation", "excerpt", "snippet", "passage")
_SOURCE_NAME = re.compile(
    r"\W*(?:sources?|src|s|context|document|doc|ref)?\W*\d{1,3}(?:\W+(?:and\W+|source\W+|s)?\d{1,3})*\W*",
    re.I,
)
_NUMBER = re.compile(r"\d{1,3}")
_IN_MARKER = r"(?:sources?|src|s)?\s*#?\d{1,3}"
_SOURCE_MARK = re.compile(
    rf"(?:[\[【]|\((?=\s*s))\s*{_IN_MARKER}(?:\s*(?:,|;|and|&)\s*{_IN_MARKER}){{0,20}}\s*[\])】]",
    re.I,
)
"""[1], [S1, S2], 【1】, (source 1), but not (1), which may be anything."""
_LEADING_MARKERS = re.compile(rf"(?:\s*{_SOURCE_MARK.pattern}[.,;]?)+", re.I)
_QUOTED = re.compile(r"“([^“”]{3,2000})”|\"([^\"]{3,2000})\"|«([^«»]{3,2000})»")
_ENDED = re.compile(r"[.!?:)\]】\"”»*]\s*$")
_BULLET = re.compile(r"^\s*(?:[-*•>]|\d{1,2}[.)])\s+")
_REASONING_ENDS = "</think>"
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
"""Accepts line breaks in strings. The first of two equal keys counts: a brace between two claims is
missing."""
_OPENING = re.compile(r"[{\[]")
_LOOKS_LIKE_JSON = re.compile(r"\{\s*[\"'“]?\w+[\"'”]?\s*:")
_BACKSLASH = re.compile(r"\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4})?")
_QUOTE_INSIDE = re.compile(r"([^\s{\[,:\\]\s{0,9})\"(?!\s*(?:[,:}\]]|$))")
"""A quotation mark where no string can begin or end."""
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_MAX_SCANNED_CHARS, _ATTEMPT_CHARS = 20_000_000, 5_000
"""Bounds the work on JSON that does not parse, in characters, and the least that one attempt
counts."""


def read_tolerantly(text: str) -> ModelReply | None:
    """The reply in `text`; None if it is neither statements nor a refusal, or longer than
    `MAX_CHARS`. Never raises.

    Tried in this order: the refusal sentence alone, JSON (the last whole reply, or else the claims
    that are whole), prose with [N] markers.
    """
    if len(text) > MAX_CHARS:
        return None
    said = text.rpartition(_REASONING_ENDS)[2].encode("utf-8", "replace").decode("utf-8")
    if is_refusal(said):
        return ModelReply(claims=[])
    # commas before a closing bracket removed, quotation marks inside strings escaped
    mended = _TRAILING_COMMA.sub("", _QUOTE_INSIDE.sub(r'\1\\"', said))
    readings = [read for text in (said, mended) if (read := _read_json(_unescaped(text)))]
    if readings:  # the first if equal, as it was written
        return max(readings, key=lambda read: len(read.claims))
    claims = [] if _LOOKS_LIKE_JSON.search(said) else list(_prose_claims(said))[:_MAX_CLAIMS]
    return ModelReply(claims=claims) if claims else None


def _read_json(text: str) -> ModelReply | None:
    objects = [item for value in _json_values(text) for item in _objects(value)]
    with_claims = [item for item in objects if isinstance(_first(item, _CLAIMS_KEYS), list)]
    replies = with_claims or [item for item in objects if isinstance(item.get("answer"), str)]
    if replies and (reply := _reply(replies[-1])):
        return reply
    # claims that stand alone: the whole ones of a reply that was cut off
    claims = [
        claim
        for item in objects
        if _first(item, _CITATIONS_KEYS + _QUOTE_KEYS) is not None
        and (claim := _claim(item))
        and claim.citations
    ][:_MAX_CLAIMS]
    return ModelReply(claims=claims) if claims else None


def _json_values(text: str) -> Iterator[Any]:
    """The outermost objects and lists that parse, in order; of a reply that was cut off, its whole
    claims."""
    at, n_left = 0, _MAX_SCANNED_CHARS
    while n_left > 0 and (opening := _OPENING.search(text, at)):
        try:
            value, at = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError) as error:
            at = opening.end()
            n_left -= max(getattr(error, "pos", at) - at, 0) + _ATTEMPT_CHARS
        else:
            yield value


def _unescaped(text: str) -> str:
    return _BACKSLASH.sub(lambda match: match[0] if len(match[0]) > 1 else r"\\", text)


def _objects(root: Any) -> Iterator[Mapping[str, Any]]:
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield {re.sub(r"[\W_]", "", key).lower(): item for key, item in value.items()}
            waiting.extend(reversed(list(value.values())))
        elif isinstance(value, list):
            waiting.extend(reversed(value))


def _reply(item: Mapping[str, Any]) -> ModelReply | None:
    """None for a reply without claims whose answer is not a refusal."""
    answer = text_of(_first(item, ANSWER_KEYS))
    if is_refusal(answer):
        return ModelReply(claims=[])
    listed = _first(item, _CLAIMS_KEYS)
    claims = (
        _listed_claims(listed)
        if isinstance(listed, list) and listed
        else list(_prose_claims(answer))
    )
    if not claims and (listed or answer):
        return None
    return ModelReply(claims=claims, missing=_quotes(_first(item, _MISSING_KEYS)))


def _listed_claims(listed: list[Any]) -> list[ReplyClaim]:
    plain = (next(_objects(item)) if isinstance(item, dict) else item for item in listed)
    claims = (
        _claim(item) if isinstance(item, dict) else next(_prose_claims(text_of(item)), None)
        for item in plain
    )
    return [claim for claim in claims if claim][:_MAX_CLAIMS]


def _claim(item: Mapping[str, Any]) -> ReplyClaim | None:
    """A claim with its citations; None if its text is missing."""
    text = text_of(_first(item, _TEXT_KEYS))
    if not text:
        return None
    own_sources = _numbers(_first(item, _CLAIM_SOURCE_KEYS))
    proposed = _first(item, _CITATIONS_KEYS)
    listed = proposed if isinstance(proposed, list) else [] if proposed is None else [proposed]
    listed = listed or own_sources
    quotes = _quotes(_first(item, _QUOTE_KEYS)) or _quoted_or_whole(text)
    citations = [
        citation for entry in listed for citation in _citations(entry, quotes, own_sources)
    ]
    return ReplyClaim(text=text, citations=citations[:_MAX_CITATIONS])


def _citations(
    entry: Any, quotes_of_claim: list[str], sources_of_claim: list[int]
) -> Iterator[ReplyCitation]:
    if isinstance(entry, dict):
        item = next(_objects(entry))
        sources = _numbers(_first(item, _SOURCE_KEYS)) or sources_of_claim
        quotes = _quotes(_first(item, (*_QUOTE_KEYS, "text"))) or quotes_of_claim
    else:
        sources, quotes = _numbers(entry), quotes_of_claim
    yield from (
        ReplyCitation(source=n, quote=quote) for n in sources or [NO_SOURCE] for quote in quotes
    )


def _first(item: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((item[key] for key in keys if item.get(key) is not None), None)


def _quotes(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [text for entry in listed[:_MAX_CITATIONS] if (text := text_of(entry))]


def _numbers(value: Any) -> list[int]:
    """Source numbers in 1, 1.0, "1", "S1", "[1]", "Source 1", "[1, 2]" or a list of those; else
    none."""
    if isinstance(value, list):
        return [
            number
            for entry in value[:_MAX_CITATIONS]
            if not isinstance(entry, list)
            for number in _numbers(entry)
        ]
    if isinstance(value, bool):
        return []
    if isinstance(value, (int, float)):
        return [int(value)] if abs(value) < 1000 and value == int(value) else []
    if isinstance(value, str) and len(value) < 200 and _SOURCE_NAME.fullmatch(value):
        return [int(number) for number in _NUMBER.findall(value)]
    return []


def _prose_claims(text: str) -> Iterator[ReplyClaim]:
    for sentence in _prose_sentences(text):
        sources = [
            int(n) for marker in _SOURCE_MARK.findall(sentence) for n in _NUMBER.findall(marker)
        ]
        bare = " ".join(_SOURCE_MARK.sub("", _BULLET.sub("", sentence)).split())
        plain = re.sub(r"\s+([.,;:!?])", r"\1", bare)
        if sources and plain and _ENDED.search(sentence):
            yield ReplyClaim(
                text=plain,
                citations=[
                    ReplyCitation(source=source, quote=quote)
                    for source in dict.fromkeys(sources)
                    for quote in _quoted_or_whole(plain)
                ][:_MAX_CITATIONS],
            )


def _prose_sentences(text: str) -> list[str]:
    sentences: list[str] = []
    for line in (line for line in text.splitlines() if len(line) <= _MAX_LINE_CHARS):
        is_first = True
        for start, end in sentence_spans(line):
            sentence = line[start:end]
            leading = _LEADING_MARKERS.match(sentence)
            if leading and not is_first:
                sentences[-1] += " " + leading[0].strip()
                sentence = sentence[leading.end() :]
            if sentence.strip():
                sentences.append(sentence)
                is_first = False
    return sentences


def _quoted_or_whole(sentence: str) -> list[str]:
    quoted = [next(filter(None, groups)).strip() for groups in _QUOTED.findall(sentence)]
    return [quote for quote in quoted if len(quote.split()) >= 3] or [sentence]
