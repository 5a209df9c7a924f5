"""Looking a quote up in the whole corpus: where it is, how it was found, and how it differs. No
model is asked.

Chunks that share its words come from the word index; the code that verifies the citations of
answers decides whether one of them has the quote. A passage that is only much like the quote is
shown with every word that differs, never as a verification.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from rapidfuzz import fuzz

from rag_assets.answering.verify.fuzzy_match import Words, words_of
from rag_assets.answering.verify.quote_search import MIN_QUOTE_CHARS, find_quote, is_long_enough
from rag_assets.core.domain import Chunk, Place, Verification
from rag_assets.core.errors import InvalidQuote

MAX_QUOTE_CHARS = 4000
CANDIDATE_CHUNKS = 24
"""Chunks that are read for one quote, those that share most of its words first."""
MIN_LIKENESS, MIN_SAME_WORDS = 80.0, 0.6
"""Needed of a passage that is shown as near: likeness of the characters, 0-100, and share of the
quote's words that are there in their order; another sentence may be alike by its small words.
Measured by benchmarks/quotes.py."""


class Verdict(StrEnum):
    """Whether a quote is in the corpus."""

    VERIFIED = "verified"
    """Word for word; only typesetting may differ."""
    NEAR = "near"
    """Something much like it is there; the differences say what."""
    NOT_FOUND = "not_found"
    """Nothing like it is in the searched text; reference lists and quarantined papers are not
    searched."""


@dataclass(frozen=True)
class Difference:
    """Words of the quote, and what the source has in their place; one of the two may be empty."""

    quote: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteMatch(Place):
    """The place of a quote, or of a passage much like it."""

    quote: str
    """The text as it is in the source."""
    section_path: str
    """Titles of the sections around it, from the outermost inwards, joined with " > "."""
    verdict: Verdict
    verification: Verification | None
    """None where the words differ in more than tidying changes."""
    likeness: float
    """Likeness of the words, 0-100."""
    differences: tuple[Difference, ...]
    """In the order of the quote; empty for a verified one."""


def demand_quote(quote: str) -> str:
    """The quote without blanks around it. Raises InvalidQuote when it is too short or too long to
    be looked up."""
    quote = quote.strip()
    if not is_long_enough(quote):
        raise InvalidQuote(
            f"A quote has {MIN_QUOTE_CHARS} characters at least; a shorter one would be found almost anywhere. "
            "Give more of the sentence."
        )
    if len(quote) > MAX_QUOTE_CHARS:
        raise InvalidQuote(
            f"The quote has {len(quote):,} characters, more than {MAX_QUOTE_CHARS:,}. Look it up by its paragraphs."
        )
    return quote


def matches_of(quote: str, candidates: Sequence[Chunk]) -> list[QuoteMatch]:
    """The places of a quote in the candidates, verified ones first, then the most alike. A passage
    that two chunks share is given once."""
    found = [match for chunk in candidates if (match := _match_in(quote, chunk))]
    found.sort(
        key=lambda match: (
            match.verdict is not Verdict.VERIFIED,
            match.verification is None,
            -match.likeness,
        )
    )
    distinct: dict[tuple[str, str], QuoteMatch] = {}
    for match in found:
        distinct.setdefault((match.paper_id, match.quote), match)
    return list(distinct.values())


def _match_in(quote: str, chunk: Chunk) -> QuoteMatch | None:
    places = find_quote(quote, chunk.text)
    if not places:
        return _like(quote, chunk)
    start, end = places[0].start, places[-1].end
    kinds = {place.verification for place in places}
    given, found = Words.of(quote), Words.of(chunk.text[start:end])
    # where the rest of the sentence changes the meaning of what is quoted, the whole sentence is
    # found
    is_verified = Verification.APPROXIMATE not in kinds and len(found.words) <= len(given.words)
    verification = places[0].verification if len(kinds) == 1 else Verification.APPROXIMATE
    likeness = fuzz.ratio(given.joined, found.joined)
    return _matched(quote, chunk, (start, end), verification, likeness, is_verified=is_verified)


def _like(quote: str, chunk: Chunk) -> QuoteMatch | None:
    """The passage most like the quote, if it is like it at all."""
    wanted, source = Words.of(quote), words_of(chunk.text)
    if not wanted.words or not source.words or len(wanted.joined) > len(source.joined):
        return None
    near = fuzz.partial_ratio_alignment(wanted.joined, source.joined, score_cutoff=MIN_LIKENESS)
    if near is None:
        return None
    first = _word_at(source, near.dest_start)
    last = _word_at(source, max(near.dest_start, near.dest_end - 1))
    shared = SequenceMatcher(
        None, wanted.words, source.words[first : last + 1], autojunk=False
    ).get_matching_blocks()
    if sum(block.size for block in shared) < MIN_SAME_WORDS * len(wanted.words):
        return None
    place = source.places[first][0], source.places[last][1]
    return _matched(quote, chunk, place, None, near.score, is_verified=False)


def _matched(
    quote: str,
    chunk: Chunk,
    place: tuple[int, int],
    verification: Verification | None,
    likeness: float,
    *,
    is_verified: bool,
) -> QuoteMatch:
    start, end = place
    source = chunk.text[start:end]
    differences = []
    if not is_verified:
        # what the two do not share, by their folded words, each side as it is written
        one, other = Words.of(quote), Words.of(source)
        compared = SequenceMatcher(None, one.words, other.words, autojunk=False)
        for tag, a, b, c, d in compared.get_opcodes():
            if tag != "equal":
                differences.append(
                    Difference(_slice(quote, one, a, b), _slice(source, other, c, d))
                )
    return QuoteMatch.within(
        chunk,
        start,
        end,
        quote=source,
        section_path=chunk.section_at(start)[1],
        verdict=Verdict.VERIFIED if is_verified else Verdict.NEAR,
        verification=verification,
        likeness=likeness,
        differences=tuple(differences),
    )


def _word_at(words: Words, offset: int) -> int:
    """The word that a character of the joined words belongs to."""
    return max(0, bisect_right(words.starts, offset) - 1)


def _slice(text: str, words: Words, start: int, end: int) -> str:
    return text[words.places[start][0] : words.places[end - 1][1]] if end > start else ""
