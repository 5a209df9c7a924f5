"""Finds the place of a quote in a text, and how much of the text is published for it.

The source's own words are published: those quoted or, where the rest of the sentence has a word
that changes their meaning ("In none of the trials did ..."), the whole sentence. Other sentences
are not considered. Parts joined by an ellipsis within a sentence are published with what they leave
out, and so is a header or footer in the middle of a sentence. `fuzzy_match` finds quotes that were
tidied; `verification` decides about the claim.
"""

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import lru_cache

from rag_assets.answering.verify.fuzzy_match import (
    MAY_BE_LEFT_OUT,
    changes_meaning,
    fuzzy_match,
    without_interruptions,
    words_of,
)
from rag_assets.answering.verify.quoted_text import SEPARATOR, QuotedText
from rag_assets.core.domain import BREAK, Verification
from rag_assets.core.text.folding import (
    UNREAD,
    Folded,
    begins_and_ends_whole,
    digit_groups,
    normalized,
)
from rag_assets.core.text.sentences import sentence_spans

MIN_QUOTE_CHARS = 15
"""A shorter quote would be found almost anywhere."""
MAX_ADDED_CHARS = 600
"""A quote is not published if its whole sentence must be, and is longer by more than this."""

_OPENING, _CLOSING = "\"'“‘«„`", "\"'”’»“`"
_STRAY_END = " .,;:…"
_HYPHENS = "‐‑–−﹣－-"  # the plain hyphen last, where a character class takes it literally
_DASHES = "⁻‒—―─➖﹘" + _HYPHENS
_THOUSANDS = r"[ \u00a0\u2007\u2009\u202f'’]"
_CUTS = tuple(
    (re.compile(rf"(?:{before})\Z", re.IGNORECASE), re.compile(after, re.IGNORECASE))
    for before, after in (
        # digits, decimals and thousands of a number
        (r"\d", r"\d|[.,·]\d|[^\W\d_]"),
        (r"\d[.,·]|\.", r"\d"),
        (r"(?<![\d.,])\d{1,3}", rf"{_THOUSANDS}\d{{3}}(?!\d)"),
        (rf"(?<![\d.,])\d{{1,3}}{_THOUSANDS}", r"\d{3}(?!\d)"),
        # factors, exponents, fractions, ranges
        (r"\d", rf"\s?(?:[/×x*⋅]|[{_DASHES}])\s?\d|[:^]\d"),
        (r"\d\s?[/×x*⋅]\s?|\d:|\^[-−+]?|\d[eE][-−+]?", r"\d"),
        # what a number counts
        (r"\d", r"\s?(?:[%‰‱°]|per\s?cent|fold\b|dozen|hundred|thousand|(?:m|b|tr)illion)"),
        # signs
        (rf"(?:[±∓<>≤≥⩽⩾≪≫≲≳~∼≈≃≅≠¬√]|[{_DASHES}])\s?", r"\s?\.?\d"),
        (r"\w", r"[+⁺⁻−]"),
        # parts of a compound
        (r"\w", rf"[\u00ad{_HYPHENS}]\s?\w"),
        (rf"\w[\u00ad{_HYPHENS}]\s?", r"\w"),
    )
)
"""Patterns before and behind a cut that makes another word or number: "HIV|-negative", "5|
million"."""
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))
_CUT_CHARS = 16
"""Characters on either side of a cut that those patterns are matched against."""
_COPIED_QUOTE_SIGN = re.compile(r"\A(?:>\s+)+(?=[^\W\d])")
_COPIED_MARK = re.compile(r"\s?\[\d{1,4}(?:\s?[,–-]\s?\d{1,4})*\][.\s]*\Z")
"""A reference mark behind a quote, which may be the number of a source in the prompt."""
_BEGINS_PIECE = re.compile(r"[,;:]\s+(?:(?:and|but|or|so|yet)\s+)?\Z")
"""A comma, with a conjunction or without, before a piece of a sentence."""
_UNMARKED_END = re.compile(r"\s?(?:\Z|[.,;:!?](?!\s?\[))")
_ELLIPSIS = re.compile(
    r"(?:(?<!\s)\s+)?(?:\[\s*(?:\.{3}|…)\s*\]|\(\s*(?:\.{3}|…)\s*\)|\.(?:\s?\.){2,}|…)\s*"
)


@dataclass(frozen=True)
class QuotePlace:
    """The place of a quote, or of one part of it: `text[start:end]`."""

    start: int
    end: int
    verification: Verification


@lru_cache(maxsize=256)
def is_long_enough(quote: str) -> bool:
    """Whether a quote has MIN_QUOTE_CHARS characters, with blanks folded and ligatures counted
    once.

    A wide character of East Asian scripts counts twice: it says as much as several letters."""
    n_wide = sum(unicodedata.east_asian_width(character) == "W" for character in quote)
    return min(len(quote), len(Folded.of(quote).text)) + n_wide >= MIN_QUOTE_CHARS


def is_evidence(quote: str, text: str) -> bool:
    """Whether a quote of a chunk's text is long enough, or all of it: a line of authors may be a
    chunk of its own."""
    return is_long_enough(quote) or quote == text.strip()


def find_quote(quote: str, text: str) -> list[QuotePlace]:
    """The places of `quote` in `text` that are published; empty if any part of it is missing, or in
    a sentence with a BREAK.

    One place, or one per sentence that the parts of a quote with ellipses come from. The parts must
    occur in the order quoted; within a sentence they may not leave out a word that changes the
    meaning. A part in another sentence must begin it or a piece of it: the ends of two sentences
    together would state what neither of them does.
    """
    quote = quote.strip()
    if quote and quote == text.strip() and BREAK not in quote:
        return [
            _sealed(
                QuotePlace(start := text.index(quote), start + len(quote), Verification.EXACT), text
            )
        ]
    whole = _find_in_one_piece(quote, text)
    found = [whole] if whole else _find_parts(quote, text)
    if not found:
        near = _find_tidied(quote, text) or _find_interrupted(quote, text)
        found = [near] if near else []
    published = [_with_sentence_if_needed(text, place) for place in found]
    kept = [one for one in published if one and is_long_enough(text[one.start : one.end])]
    return [_sealed(one, text) for one in kept] if len(kept) == len(found) else []


def place_at(start: int, end: int, text: str) -> QuotePlace:
    """Returns the place of a sentence or row. If it is too short to be evidence, the sentences
    before it are added, or those behind it if there are none before it, until it is long enough."""
    starts, spans = _sentences(text)
    first, last = (max(0, bisect_right(starts, at) - 1) for at in (start, end - 1))
    while not is_evidence(text[start:end], text) and (first > 0 or last < len(spans) - 1):
        first, last = (first - 1, last) if first > 0 else (first, last + 1)
        start, end = min(start, spans[first][0]), max(end, spans[last][1])
    return _sealed(QuotePlace(start, end, Verification.EXACT), text)


def _sealed(place: QuotePlace, text: str) -> QuotePlace:
    """Returns the place as it is shown to readers. A place with a sign that could not be read is
    UNREAD. A place in a row of which it is not certain
    whose values it has becomes UNPLACED, because its words prove nothing by themselves. A place
    that was found only approximately stays APPROXIMATE."""
    if UNREAD in text[place.start : place.end]:
        return replace(place, verification=Verification.UNREAD)
    is_proven = (
        place.verification is Verification.APPROXIMATE
        or QuotedText(text, place.start, place.end).is_certain
    )
    return place if is_proven else replace(place, verification=Verification.UNPLACED)


def _find_parts(quote: str, text: str) -> list[QuotePlace]:
    """Finds the parts of a quote with ellipses. Each part must be behind the part before it; parts
    in the same sentence become one place. The list is empty if a part is missing, or if the text
    between two parts may not be left out. A quote with an ellipsis only at its beginning or end has
    a single part, which is looked for as it is."""
    parts = [part for part in _ELLIPSIS.split(_unwrapped(quote)) if part.strip()]
    if len(parts) < 2:
        return [place for part in parts if (place := _find_in_one_piece(part, text))]
    found: list[QuotePlace] = []
    for part in parts:
        after = found[-1].end if found else 0
        rest = text[after:]
        place = _find_in_one_piece(part, rest) or _find_tidied(part, rest)
        if place is None:
            return []
        place = replace(place, start=after + place.start, end=after + place.end)
        if not found:
            found.append(place)
        elif (joined := _join_parts(text, found[-1], place)) is not None:
            found[-1:] = joined
        else:
            return []
    return found


def _join_parts(text: str, one: QuotePlace, other: QuotePlace) -> list[QuotePlace] | None:
    """Two parts as they are published; None when the text between them may not be left out.

    In one sentence or row they become one place with everything between them, because "12 % ... in
    the placebo arm" may join a number with the wrong arm. In two sentences they stay two places;
    the second must begin its sentence, or begin after a comma, colon or semicolon of it, and is
    published from the beginning of the sentence.
    """
    second_start, _ = _sentence_at(text, other.start)
    if second_start < one.end:
        if changes_meaning(text[one.end : other.start]) or other.start - one.end > MAX_ADDED_CHARS:
            return None
        return [QuotePlace(one.start, other.end, Verification.APPROXIMATE)]
    skipped = text[second_start : other.start]
    if MAY_BE_LEFT_OUT.issuperset(words_of(skipped).words):
        return [one, other]
    is_piece = _BEGINS_PIECE.search(skipped) is not None and len(skipped) <= MAX_ADDED_CHARS
    return [one, replace(other, start=second_start)] if is_piece else None


def _with_sentence_if_needed(text: str, place: QuotePlace) -> QuotePlace | None:
    """Returns the place, extended to its whole sentence if the rest of the sentence could change
    the meaning of the quote; None if that would add more than MAX_ADDED_CHARS characters, and in a
    sentence with a BREAK."""
    start, end = _sentence_at(text, place.start)[0], _sentence_at(text, place.end - 1)[1]
    start, end = min(start, place.start), max(end, place.end)
    if BREAK in text[start:end]:
        return None
    if not (changes_meaning(text[start : place.start]) or changes_meaning(text[place.end : end])):
        return place
    if place.start - start + end - place.end > MAX_ADDED_CHARS:
        return None
    return replace(place, start=start, end=end)


def _sentence_at(text: str, at: int) -> tuple[int, int]:
    starts, spans = _sentences(text)
    return spans[max(0, bisect_right(starts, at) - 1)] if spans else (0, len(text))


@lru_cache(maxsize=64)
def _sentences(text: str) -> tuple[list[int], list[tuple[int, int]]]:
    spans = [piece for span in sentence_spans(text) for piece in _rows(text, *span)]
    return [start for start, _ in spans], spans


def _rows(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Returns the lines of a stretch of text as places of their own if they are rows of a table;
    else the stretch as a whole."""
    if SEPARATOR not in text[start:end]:
        return [(start, end)]
    lines = list(re.finditer(r"[^\n]+", text[start:end]))
    if sum(SEPARATOR in line[0] for line in lines) < min(2, len(lines)):
        return [(start, end)]  # prose with a sign in it, as in "P(a | b)"
    return [(start + line.start(), start + line.end()) for line in lines]


def _find_in_one_piece(quote: str, text: str) -> QuotePlace | None:
    """Finds a quote without gaps, however its signs are typed; None if it is not there or is too
    short. The quote is tried as it is, without quotation marks around it, and at last without a
    reference mark at its end."""
    bare = _stripped(quote)
    if not is_long_enough(bare):
        return None
    if place := _find_exact(quote, text):
        return place
    candidates = dict.fromkeys((quote, _unwrapped(quote), bare))
    place = next((place for one in candidates if (place := _find_normalized(one, text))), None)
    if place or not _COPIED_MARK.search(bare):
        return place
    place = _find_normalized(_stripped(_COPIED_MARK.sub("", bare)), text)
    return place if place and _UNMARKED_END.match(text, place.end) else None


def _find_tidied(quote: str, text: str) -> QuotePlace | None:
    """Finds a quote that was tidied when it was copied (see `fuzzy_match`); None if it is not
    there."""
    bare = _stripped(quote)
    near = fuzzy_match(bare, text) if is_long_enough(bare) else None
    if near is None or not _ends_between_words(text, near.start, near.end):
        return None
    return QuotePlace(near.start, near.end, Verification.APPROXIMATE)


def _find_interrupted(quote: str, text: str) -> QuotePlace | None:
    """Finds a quote in the text without the headers and footers that interrupt its sentences; None
    if it is not there. The place is given in the original text."""
    joined = without_interruptions(text)
    if not joined.cuts:
        return None
    place = _find_in_one_piece(quote, joined.text) or _find_tidied(quote, joined.text)
    return place and QuotePlace(
        joined.original(place.start), joined.original(place.end - 1) + 1, Verification.APPROXIMATE
    )


def _find_exact(quote: str, text: str) -> QuotePlace | None:
    """The first place that has the quote character by character and cuts no word or number; None if
    there is none."""
    at = text.find(quote)
    while at >= 0:
        if _ends_between_words(text, at, at + len(quote)):
            return QuotePlace(at, at + len(quote), Verification.EXACT)
        at = text.find(quote, at + 1)
    return None


def _find_normalized(quote: str, text: str) -> QuotePlace | None:
    """The first place that is the same text as the quote when both are normalized, with the same
    numbers: "57" is not "5-7". None if there is none."""
    folded, wanted = normalized(text), normalized(quote).text
    at = folded.text.find(wanted) if wanted else -1
    while at >= 0:
        end_at = at + len(wanted)
        start, end = folded.span(at, end_at)
        if (
            begins_and_ends_whole(folded, at, end_at)
            and _ends_between_words(text, start, end)
            and digit_groups(text[start:end]) == digit_groups(quote)
        ):
            return QuotePlace(start, end, Verification.NORMALIZED)
        at = folded.text.find(wanted, at + 1)
    return None


def _ends_between_words(text: str, start: int, end: int) -> bool:
    """Whether neither end of a place cuts a word or a number: "typical" is not in "atypical", nor
    12 in 12.5."""
    return not (_cuts_word(text, start) or _cuts_word(text, end))


def _cuts_word(text: str, at: int) -> bool:
    """Whether a cut at offset `at` goes through a word or a number, as in "atyp|ical" and "12|.5".
    Invisible characters beside the cut are ignored. The beginning and the end of the text cut
    nothing."""
    before, after = (
        side.translate(_INVISIBLE)
        for side in (text[max(0, at - _CUT_CHARS) : at], text[at : at + _CUT_CHARS])
    )
    if not before or not after:
        return False
    # letters of scripts with upper and lower case, which put blanks between words
    is_within_word = all(letter.lower() != letter.upper() for letter in (before[-1], after[0]))
    if is_within_word or unicodedata.combining(after[0]):
        return True
    return any(one.search(before) and other.match(after) for one, other in _CUTS)


def _unwrapped(quote: str) -> str:
    """A quote without the ">" of a copied quotation, and without quotation marks around it."""
    bare = _COPIED_QUOTE_SIGN.sub("", quote.strip())
    is_wrapped = len(bare) > 1 and bare[0] in _OPENING and bare.rstrip(_STRAY_END)[-1:] in _CLOSING
    return bare.rstrip(_STRAY_END)[1:-1].strip() if is_wrapped else bare


def _stripped(quote: str) -> str:
    return _unwrapped(quote).rstrip(_STRAY_END)
