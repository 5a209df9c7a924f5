"""The reply a model is asked for, and what is read of one that stays malformed after the model was asked to mend it.

The field descriptions of the models are part of the prompt: they reach the model as JSON schema. A malformed reply is
read tolerantly in form, never in content: a claim whose end is missing is dropped, none is completed. Whether quotes
are true is decided in `citations.verification`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field, model_validator

from rag_assets.answering.drafts import REFUSAL
from rag_assets.core.text.sentences import sentence_spans

MAX_CHARS = 1_000_000
"""Longer texts are not read."""
NO_SOURCE = 0
"""Source of a citation that names no readable one. Sources count from 1, so it counts as hallucinated."""
_MAX_CLAIMS = 200
_MAX_CITATIONS = 50
"""Bound the time that reading a runaway reply takes; `hosted_answerer` limits what an answer may have."""
_MAX_LINE_CHARS = 10_000
"""Longer paragraphs are not read as prose: finding sentences in thousands of quotation marks takes quadratic time."""
_ANSWER_KEYS = ("answer", "finalanswer", "response", "summary")
_CLAIMS_KEYS = ("claims", "statements")
_MISSING_KEYS = ("missing", "unanswered")
_TEXT_KEYS = ("text", "claim", "statement", "sentence")
_CITATIONS_KEYS = ("citations", "citation", "evidence", "sources", "references", "support")
_CLAIM_SOURCE_KEYS = ("source", "sourceid", "sourcenumber", "sourceno", "sourceindex")
_SOURCE_KEYS = (*_CLAIM_SOURCE_KEYS, "id", "number", "n", "index", "ref")
"""Beside a claim's text, "id" and "number" are the claim's own."""
_QUOTE_KEYS = ("quote", "quotes", "quotation", "excerpt", "snippet", "passage")
_SOURCE_NAME = re.compile(
    r"\W*(?:sources?|src|s|context|document|doc|ref)?\W*\d{1,3}(?:\W+(?:and\W+|source\W+|s)?\d{1,3})*\W*", re.I
)
_NUMBER = re.compile(r"\d{1,3}")
_IN_MARKER = r"(?:sources?|src|s)?\s*#?\d{1,3}"
_MARKER = re.compile(
    rf"(?:[\[【]|\((?=\s*s))\s*{_IN_MARKER}(?:\s*(?:,|;|and|&)\s*{_IN_MARKER}){{0,20}}\s*[\])】]", re.I
)
"""[1], [S1, S2], 【1】, (source 1), but not (1), which may be anything."""
_LEADING_MARKERS = re.compile(rf"(?:\s*{_MARKER.pattern}[.,;]?)+", re.I)
_QUOTED = re.compile(r"“([^“”]{3,2000})”|\"([^\"]{3,2000})\"|«([^«»]{3,2000})»")
_ENDED = re.compile(r"[.!?:)\]】\"”»*]\s*$")
_BULLET = re.compile(r"^\s*(?:[-*•>]|\d{1,2}[.)])\s+")
_REASONING_ENDS = "</think>"
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
"""Takes line breaks in strings. Of a key that comes twice the first counts: a brace between two claims is missing."""
_OPENING = re.compile(r"[{\[]")
_LOOKS_LIKE_JSON = re.compile(r"\{\s*[\"'“]?\w+[\"'”]?\s*:")
_BACKSLASH = re.compile(r"\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4})?")
_SINGLE_QUOTED = re.compile(r"(?<=[{\[,:\s])'((?:[^'\\\n]|\\.){0,5000})'(?=\s*[,:\]}])")
_QUOTE_INSIDE = re.compile(r"([^\s{\[,:\\]\s{0,9})\"(?!\s*(?:[,:}\]]|$))")
"""A quotation mark where no string can begin or end."""
_BARE_KEY = re.compile(r"(?<=[{,])(\s*)([A-Za-z_]\w{0,39})(?=\s*:)")
_COMMENT = re.compile(r"(?<=[{}\[\],])\s{0,99}//[^\n]*")
_NONE = re.compile(r"(?<=:)\s*None\b")
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_MAX_SCANNED_CHARS, _ATTEMPT_CHARS = 20_000_000, 5_000
"""Work spent on JSON that does not parse, in characters; every attempt counts for so many at least."""


class ReplyCitation(BaseModel):
    """One quote that supports a claim."""

    source: int = Field(description="Number of the source the quote stands in.")
    quote: str = Field(description="The words of that source that support the claim, copied exactly, in one piece.")


class ReplyClaim(BaseModel):
    """One statement of the answer."""

    text: str = Field(description="One statement that answers the question or a part of it, in one sentence.")
    citations: list[ReplyCitation] = Field(description="At least one.")


class MendedClaim(ReplyClaim):
    """A statement in place of one that did not hold, or a further one."""

    replaces: int = Field(description="Number of the statement that it replaces; 0 for a further one.")


class ModelReply(BaseModel):
    """The statements of an answer, and what it leaves open."""

    claims: Sequence[ReplyClaim] = Field(description="Every statement of the answer, in reading order; empty for none.")
    missing: list[str] = Field([], description="Parts of the question that the sources do not answer, in its words.")

    @model_validator(mode="before")
    @classmethod
    def _says_nothing_elsewhere(cls, reply: Any) -> Any:
        """A reply without claims that tells its answer in another field is no refusal, and is asked for again."""
        if isinstance(reply, dict) and not reply.get("claims"):
            said = [text for key in _ANSWER_KEYS if (text := _text(reply.get(key)))]
            if any(not _is_refusal(text) for text in said):
                raise ValueError("every statement of the answer belongs into `claims`, with its citations")
        return reply


class MendedReply(ModelReply):
    """Statements in place of those that did not hold, and further ones."""

    claims: Sequence[MendedClaim] = Field(description="The mended statements, then further ones; empty for none.")


def read_tolerantly(text: str) -> ModelReply | None:
    """The reply in `text`; None where it is neither statements nor a refusal, or longer than `MAX_CHARS`. Never raises.

    Tried in this order: the refusal sentence alone, JSON (the last whole reply, or else the claims that are whole),
    prose with [N] markers.
    """
    if len(text) > MAX_CHARS:
        return None
    said = text.rpartition(_REASONING_ENDS)[2].encode("utf-8", "replace").decode("utf-8")
    if _is_refusal(said):
        return _refusal()
    readings = [read for written in (_unescaped(said), _as_json(said)) if (read := _read_json(written))]
    if readings:
        return max(readings, key=lambda read: len(read.claims))  # of equal ones the first, as it was written
    return None if _LOOKS_LIKE_JSON.search(said) else _prose(said)


def _double_quoted(match: re.Match[str]) -> str:
    inside = match[1].replace("\\'", "'").replace('\\"', '"').replace('"', '\\"')
    return f'"{inside}"'


def _read_json(text: str) -> ModelReply | None:
    objects = [item for value in _json_values(text) for item in _objects(value)]
    return _reply_among(objects) or _loose_claims(objects)


def _json_values(text: str) -> Iterator[Any]:
    """The objects and lists in `text` that parse as JSON and lie in no other that does, in order.

    Of a reply that was cut off, or is malformed at one place, these are the claims that are whole.
    """
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
    """Backslashes that escape nothing, as in LaTeX, doubled."""
    return _BACKSLASH.sub(lambda match: match[0] if len(match[0]) > 1 else r"\\", text)


def _as_json(text: str) -> str:
    """Python and JavaScript literals, and quotation marks inside strings, as JSON spells them; simple cases only."""
    double_quoted = _SINGLE_QUOTED.sub(_double_quoted, _COMMENT.sub("", text))
    keyed = _BARE_KEY.sub(r'\1"\2"', _NONE.sub(" null", double_quoted))
    return _unescaped(_TRAILING_COMMA.sub("", _QUOTE_INSIDE.sub(r'\1\\"', keyed)))


def _refusal() -> ModelReply:
    return ModelReply(claims=[])


def _is_refusal(text: str) -> bool:
    return _letters(text) == _letters(REFUSAL) if len(text) < 2 * len(REFUSAL) else False


def _letters(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _objects(root: Any) -> Iterator[Mapping[str, Any]]:
    """Every object inside a value, outer ones first; keys in lower case, letters and digits only."""
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield {re.sub(r"[\W_]", "", key).lower(): item for key, item in value.items()}
            waiting.extend(reversed(list(value.values())))
        elif isinstance(value, list):
            waiting.extend(reversed(value))


def _reply_among(objects: list[Mapping[str, Any]]) -> ModelReply | None:
    """The last object with claims; failing that the last with an answer."""
    with_claims = [item for item in objects if isinstance(_first(item, _CLAIMS_KEYS), list)]
    answers = [item for item in objects if isinstance(item.get("answer"), str)]
    return next((_reply(fitting[-1]) for fitting in (with_claims, answers) if fitting), None)


def _reply(item: Mapping[str, Any]) -> ModelReply | None:
    """None for a reply without claims that says something all the same."""
    answer = _text(_first(item, _ANSWER_KEYS))
    if _is_refusal(answer):
        return _refusal()
    listed = _first(item, _CLAIMS_KEYS)
    claims = _claims(listed) if isinstance(listed, list) and listed else list(_prose_claims(answer))
    if not claims and (listed or answer):
        return None
    return ModelReply(claims=claims, missing=_quotes(_first(item, _MISSING_KEYS)))


def _loose_claims(objects: list[Mapping[str, Any]]) -> ModelReply | None:
    """Claims in a bare list, or one after the other."""
    claims = [
        claim
        for item in objects
        if _first(item, _CITATIONS_KEYS + _QUOTE_KEYS) is not None and (claim := _claim(item)) and claim.citations
    ][:_MAX_CLAIMS]
    return ModelReply(claims=claims) if claims else None


def _claims(listed: list[Any]) -> list[ReplyClaim]:
    plain = (next(_objects(item)) if isinstance(item, dict) else item for item in listed)
    claims = (_claim(item) if isinstance(item, dict) else next(_prose_claims(_text(item)), None) for item in plain)
    return [claim for claim in claims if claim][:_MAX_CLAIMS]


def _claim(item: Mapping[str, Any]) -> ReplyClaim | None:
    """A claim with its citations; None where its text is missing."""
    text = _text(_first(item, _TEXT_KEYS))
    if not text:
        return None
    own_quotes, own_sources = _quotes(_first(item, _QUOTE_KEYS)), _numbers(_first(item, _CLAIM_SOURCE_KEYS))
    proposed = _first(item, _CITATIONS_KEYS)
    listed = proposed if isinstance(proposed, list) else [] if proposed is None else [proposed]
    if not listed and own_sources:
        listed = list(own_sources)
    quotes = own_quotes or _quoted_or_whole(text)
    citations = [citation for entry in listed for citation in _citations(entry, quotes, own_sources)]
    return ReplyClaim(text=text, citations=citations[:_MAX_CITATIONS])


def _citations(entry: Any, quotes_of_claim: list[str], sources_of_claim: list[int]) -> Iterator[ReplyCitation]:
    """The citations in one entry: an object, or a source alone, which then gets the quotes of the claim."""
    if isinstance(entry, dict):
        item = next(_objects(entry))
        sources = _numbers(_first(item, _SOURCE_KEYS)) or sources_of_claim
        quotes = _quotes(_first(item, (*_QUOTE_KEYS, "text"))) or quotes_of_claim
    else:
        sources, quotes = _numbers(entry), quotes_of_claim
    yield from (ReplyCitation(source=n, quote=quote) for n in sources or [NO_SOURCE] for quote in quotes)


def _first(item: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((item[key] for key in keys if item.get(key) is not None), None)


def _text(value: Any) -> str:
    """Without half characters, which no file can hold."""
    return value.encode("utf-8", "replace").decode().strip() if isinstance(value, str) else ""


def _quotes(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [text for entry in listed[:_MAX_CITATIONS] if (text := _text(entry))]


def _numbers(value: Any) -> list[int]:
    """Source numbers in 1, 1.0, "1", "S1", "[1]", "Source 1", "[1, 2]" or a list of those; else none."""
    if isinstance(value, list):
        return [number for entry in value[:_MAX_CITATIONS] if not isinstance(entry, list) for number in _numbers(entry)]
    if isinstance(value, bool):
        return []
    if isinstance(value, (int, float)):
        return [int(value)] if abs(value) < 1000 and value == int(value) else []
    if isinstance(value, str) and len(value) < 200 and _SOURCE_NAME.fullmatch(value):
        return [int(number) for number in _NUMBER.findall(value)]
    return []


def _prose(text: str) -> ModelReply | None:
    claims = list(_prose_claims(text))[:_MAX_CLAIMS]
    return ModelReply(claims=claims) if claims else None


def _prose_claims(text: str) -> Iterator[ReplyClaim]:
    """One claim per sentence with markers, except a last one that was cut off."""
    for sentence in _prose_sentences(text):
        sources = [int(n) for marker in _MARKER.findall(sentence) for n in _NUMBER.findall(marker)]
        plain = _without_markers(sentence)
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
    """Sentences, each with the markers that stand behind its full stop."""
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


def _without_markers(sentence: str) -> str:
    bare = _MARKER.sub("", _BULLET.sub("", sentence))
    return re.sub(r"\s+([.,;:!?])", r"\1", " ".join(bare.split()).strip())


def _quoted_or_whole(sentence: str) -> list[str]:
    """The quotations of at least three words in a sentence; without any, the sentence itself."""
    quoted = [next(filter(None, groups)).strip() for groups in _QUOTED.findall(sentence)]
    return [quote for quote in quoted if len(quote.split()) >= 3] or [sentence]
