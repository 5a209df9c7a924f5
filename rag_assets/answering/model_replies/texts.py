"""The texts of a reply that are published: claims as plain lines, and what the model says it found nothing about.

Whether a claim is true to its quotes is decided in `citations.verification`. A sentence about missing data cannot be
verified, and "all papers report that iron is safe" can be said in the question's own words: only a stretch of the
question is published behind the marker.
"""

import re
import unicodedata

from py_rust_stemmers import SnowballStemmer

from rag_assets.answering.drafts import FIXED_SENTENCES, INSUFFICIENT
from rag_assets.answering.model_replies.parsing import ModelReply
from rag_assets.text.sentences import sentence_spans

MAX_CLAIM_CHARS = 1_000
"""A claim is one sentence; a longer text is dropped."""
_REFERENCE_MARKS = re.compile(
    r"\s*\[\s*(?:sources?\s*)?\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*\](?!\s?(?:[%‰]|per ?cent\b|[mµnkc]?[glm]\b))",
    re.IGNORECASE,
)
"""Not in front of a unit: "[90]%" is a number."""
_ROUND = str.maketrans("[]【】⟦⟧", "()()()")
UNNAMED_PART = f"{INSUFFICIENT} for a part of the question."
_MARKER = re.compile(
    r"[*_`]{0,3}(?:\[\s*insufficient[\s_-]+data\s*\]|\binsufficient[ _-]data\b)[*_`]{0,3}(?P<stop>[.:]?)",
    re.IGNORECASE,
)
_BARE_MARKER = re.compile(r"\bINSUFFICIENT[ _-]DATA\b")
_WORD = re.compile(r"[^\W_]+(?:[.'’-][^\W_]+)*")
_STEMMER = SnowballStemmer("english")
_WORDS_OF_ABSENCE = (
    "a about above according actually address addressed addresses all also an and answer answered any are article "
    "as at available be because been by can cannot cited concerning contain contained contains context contexts "
    "corpus could cover covered data describe described detail details did directly discuss discussed do documents "
    "does don either enough evidence excerpts explicitly for found from further give given gives has have how i in "
    "include included information insufficient is it its lack lacks mention mentioned mentions missing more neither "
    "no none nor not nothing of on only or other paper papers part passages present provide provided provides "
    "question regarding relevant remains report reported reports respect say says so source sources specific "
    "specified specify state stated states stretches studies study sufficient text texts that the their there these "
    "they this those to unable unanswered unavailable unclear unknown was we were what when where whether which who "
    "why with within"
)
_MOST_CHARS = 20_000
_ABSENCE = frozenset(_STEMMER.stem_word(word) for word in _WORDS_OF_ABSENCE.split())


def claim_text(written: str) -> str:
    """A claim on one line, without control characters and marks like [3], with round brackets for square ones:
    in an answer, square brackets hold paper and page. Empty where it cannot be a claim: too long, or one of the
    pipeline's own sentences."""
    if len(written) > MAX_CLAIM_CHARS:
        return ""
    visible = "".join(" " if unicodedata.category(c) == "Cc" else c for c in written)
    visible = "".join(c for c in visible if unicodedata.category(c) not in {"Cf", "Cs", "Co"})
    text = " ".join(_REFERENCE_MARKS.sub("", visible).translate(_ROUND).split())
    return "" if any(sentence in text for sentence in FIXED_SENTENCES) else text


def insufficient_notes(reply: ModelReply, question: str) -> tuple[str, ...]:
    """For each marked sentence of a reply the marker and the part of the question it names, each once.

    A sentence that names no word of the question, or has words beyond those and words of absence, gives `UNNAMED_PART`.
    """
    said = [reply.answer, *(claim.text for claim in reply.claims)]
    sentences = [sentence for text in said for sentence in _marked_sentences(text[:_MOST_CHARS])]
    return tuple(dict.fromkeys(_note(sentence, question) for sentence in sentences))


def _note(sentence: str, question: str) -> str:
    named = _stems(sentence.replace(INSUFFICIENT, " ")) - _ABSENCE
    words = list(_WORD.finditer(question))
    found = [match for match in words if _STEMMER.stem_word(match[0].lower()) in named]
    if not found or not named <= _stems(question):
        return UNNAMED_PART
    return f"{INSUFFICIENT} {question[found[0].start() : found[-1].end()]}"


def is_insufficient(text: str) -> bool:
    """Whether a text has the marker, and therefore is no claim."""
    return bool(_marked_sentences(text))


def _marked_sentences(text: str) -> list[str]:
    """Sentences with the marker, which may stand at their end."""
    marked = _MARKER.sub(_spelt, text)
    pieces = (marked[start:end] for start, end in sentence_spans(marked))
    return [" ".join(line.split()) for piece in pieces for line in piece.split("\n") if INSUFFICIENT in line]


def _spelt(match: re.Match[str]) -> str:
    """The marker in its spelling; without brackets only in capitals, since prose may say "insufficient data".

    A full stop behind a marker that begins a sentence is dropped, because it would end the sentence.
    """
    if "[" not in match[0] and not _BARE_MARKER.search(match[0]):
        return match[0]
    before = match.string[: match.start()].rstrip()[-1:]
    return INSUFFICIENT if before in ".!?" else INSUFFICIENT + match["stop"]


def _stems(text: str) -> frozenset[str]:
    return frozenset(_STEMMER.stem_word(word) for word in _WORD.findall(text.lower()))
