"""Where sentences end, and what marks point to the reference list. Chunks, passages and extractive
answers never cut through a sentence.

The boundaries come from sentencex; this module mends what scientific prose does to a general
segmenter: citation marks and brackets that stand alone, statistics in brackets, "Eq. 2", "Sect.
4.1", periods set apart from the bracket before them, and breaks before a lower-case continuation.
"""

import re
from collections.abc import Iterator

import sentencex

from rag_assets.core.text.folding import lowered_as_plain

_ENDS_WITH_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:Eqs?|Sects?|Secs?|Figs?|Tabs?|Refs?|Nos?|Vols?|Chaps?|Apps?|Suppl|pp?|cf|ca|approx|resp|vs|al|"
    r"e\.g|i\.e|viz|Dr|Prof|St|spp?|var|subsp)\.[\s\u00a0]*$",
    re.IGNORECASE,
)
_ENDS_WITH_TITLE = re.compile(r"(?:^|[\s(\[])Ms\.[\s\u00a0]*$")
"""Before a name, whatever that begins with. sentencex knows the other titles."""
_CONTINUES = re.compile(r"^[\s\u00a0]*(?:[a-z0-9,;:)\]%=<>±]|\(\d)")
_HAS_WORD = re.compile(r"[^\W\d_]{2}")
_MAY_END = re.compile(r"[.!?…][\"'”’)\]]*\s|[。！？।]|\n")
_PERIOD_APART = re.compile(r"(?<=[)\]]) \.(?=\s)")
"""In "(Temin, 1985) . The", sentencex cuts at the comma and misses the period."""
RAISED_MARK = r"[⁰¹²³⁴-⁹][⁰¹²³⁴-⁹⁻,;–-]*"
"""The number of a note or reference behind the period: it belongs to the sentence before it."""
_RAISED_MARK = re.compile(rf"({RAISED_MARK})(?:\s+|$)")
_BRACKET = re.compile(r"[(\[)\]\n]")
_MAX_BRACKET_CHARS = 300
_HIDDEN = str.maketrans(" \u00a0.!?;:•()[]", "____________")
_NO_BRACKETS = str.maketrans("<>", "==")
"""Signs of relation: sentencex takes "p < .05. All ps > .1" for text in brackets."""
_INLINE_MARK = re.compile(r"(?<=\S )\(?\w{1,4}\)|(?<=\d )•(?= \d)")
"""In the middle of a line, "(a)", "2)" and a sign of multiplication: sentencex takes them for the
marks of a list, and reads no other end of a sentence in its items."""
_MAX_UNBROKEN_CHARS = 5_000
"""sentencex takes minutes on longer stretches that end nowhere; prose has none."""
_ABBREVIATION_CHARS = 20
"""The end of a sentence that is searched for an abbreviation; the longest has 7 characters with its
period."""
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character, which broken extractions leave and sentencex cannot read."""
_MONTHS = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?|In|Since|From|Until|Between|During)\b"
)
_NAME = r"[\w'’-]{1,40}"
"""Bounded, because a text of A'A'A'A would take quadratic time."""
_AUTHORS = rf"\b(?!{_MONTHS})[A-Z]{_NAME}(?:(?:,| and| &) [A-Z]{_NAME}|,? et al\.?){{0,6}}"
_YEARS = r"(?:19|20)\d\d[a-z]?(?:,\s?(?:(?:19|20)\d\d[a-z]?|[a-z]\b|pp?\.\s?\d+(?:[-–]\d+)?))*"
REFERENCE_MARK = re.compile(
    r"\[\s?\d{1,4}(?:\s?[,;–-]\s?\d{1,4})*\s?\]"
    rf"|\((?:e\.g\.,? |see (?:also )?|cf\. |reviewed (?:in|by) )?{_AUTHORS},? {_YEARS}"
    rf"(?:;\s?(?:see also )?{_AUTHORS},? {_YEARS})*\)"
    rf"|{_AUTHORS} \({_YEARS}\)"
)
"""Marks that point to the reference list: "[12, 13]", "(Smith et al., 2019)", "Smith and Jones
(2019)"."""


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of the sentences of `text`, in order, without the white space between them.

    Every character that is not white space lies in exactly one span.
    """
    spans: list[tuple[int, int]] = []
    at = 0
    for n_characters in _segments(text):
        start, at = at, at + n_characters
        piece = text[start:at]
        stripped = piece.strip()
        if not stripped:
            continue
        start += len(piece) - len(piece.lstrip())
        end = start + len(stripped)
        if spans and (mark := _RAISED_MARK.match(text, start, end)):
            spans[-1] = (spans[-1][0], mark.end(1))
            start = mark.end()
            if start == end:
                continue
        if spans and _belongs_to_previous(text, spans[-1], start, end):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _segments(text: str) -> Iterator[int]:
    text = _SURROGATE.sub(
        "\ufffd", lowered_as_plain(_with_quiet_brackets(_PERIOD_APART.sub(". ", text)))
    )
    cuts, at = [0], 0
    for end in (*(match.end() for match in _MAY_END.finditer(text)), len(text)):
        if end - at > _MAX_UNBROKEN_CHARS:
            cuts.extend(range(at + _MAX_UNBROKEN_CHARS, end, _MAX_UNBROKEN_CHARS))
        at = end
    for start, end in zip(cuts, (*cuts[1:], len(text)), strict=True):
        at = start
        for piece in sentencex.segment("en", text[start:end]):  # it loses a character of odd texts
            if (start_of_piece := text.find(piece, at, end)) >= 0:
                yield start_of_piece + len(piece) - at
                at = start_of_piece + len(piece)
        if at < end:
            yield end - at


def _with_quiet_brackets(text: str) -> str:
    """`text` with nothing in brackets that could end a sentence, and no list within a line.

    Brackets that are not closed on their line, or not soon, change nothing.
    """
    characters = list(text.translate(_NO_BRACKETS))
    open_at: list[int] = []
    for match in _BRACKET.finditer(text):
        at = match.start()
        if match[0] == "\n":
            open_at.clear()
        elif match[0] in "([":
            open_at.append(at)
        elif open_at and (start := open_at.pop()) >= at - _MAX_BRACKET_CHARS:
            characters[start + 1 : at] = text[start + 1 : at].translate(_HIDDEN)
    return _INLINE_MARK.sub(lambda mark: mark[0].translate(_HIDDEN), "".join(characters))


def _belongs_to_previous(text: str, previous: tuple[int, int], start: int, end: int) -> bool:
    between = text[previous[1] : start]
    if between.count("\n") > 1:
        return False
    if not _HAS_WORD.search(text, start, end):
        return True
    before = text[max(previous[0], previous[1] - _ABBREVIATION_CHARS) : previous[1]]
    if _ENDS_WITH_TITLE.search(before):
        return True
    return bool(_ENDS_WITH_ABBREVIATION.search(before) and _CONTINUES.match(text[start:end]))
