"""Finds the sentences of a text, and the marks that refer to the reference list. Chunks, passages
and extractive answers never cut a sentence.

The boundaries come from the library sentencex. This module corrects its errors in scientific text:
separate citation marks and brackets, statistics in brackets, "Eq. 2", "Sect. 4.1", a space between
a bracket and the period, and a boundary before a small letter.
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
"""A title before a name. sentencex knows the other titles."""
_CONTINUES = re.compile(r"^[\s\u00a0]*(?:[a-z0-9,;:)\]%=<>±]|\(\d)")
_HAS_WORD = re.compile(r"[^\W\d_]{2}")
_MAY_END = re.compile(r"[.!?…][\"'”’)\]]*\s|[。！？।]|\n")
_PERIOD_APART = re.compile(r"(?<=[)\]]) \.(?=\s)")
"""A period with a space before it: in "(Temin, 1985) . The", sentencex cuts at the comma and misses
the period."""
RAISED_MARK = r"[⁰¹²³⁴-⁹][⁰¹²³⁴-⁹⁻,;–-]*"
"""The number of a note or reference after the period, which belongs to the sentence before it."""
_RAISED_MARK = re.compile(rf"({RAISED_MARK})(?:\s+|$)")
_BRACKET = re.compile(r"[(\[)\]\n]")
_MAX_BRACKET_CHARS = 300
_HIDDEN = str.maketrans(" \u00a0.!?;:•()[]", "____________")
_NO_BRACKETS = str.maketrans("<>", "==")
"""Replaces "<" and ">", because sentencex takes "p < .05. All ps > .1" for text in brackets."""
_INLINE_MARK = re.compile(r"(?<=\S )\(?\w{1,4}\)|(?<=\d )•(?= \d)")
""" "(a)", "2)" or a sign of multiplication in the middle of a line: sentencex takes them for marks
of a list, and then finds no ends of sentences in its items."""
_MAX_UNBROKEN_CHARS = 5_000
"""A longer text without an end of a sentence is cut, because sentencex would take minutes; prose
has none."""
_ABBREVIATION_CHARS = 20
"""Number of characters at the end of a sentence that are searched for an abbreviation; the longest
has 7 with its period."""
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which faulty extraction leaves and sentencex cannot read."""
_MONTHS = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?|In|Since|From|Until|Between|During)\b"
)
_NAME = r"[\w'’-]{1,40}"
"""With a limit, because a text like A'A'A'A would take quadratic time."""
_AUTHORS = rf"\b(?!{_MONTHS})[A-Z]{_NAME}(?:(?:,| and| &) [A-Z]{_NAME}|,? et al\.?){{0,6}}"
_YEARS = r"(?:19|20)\d\d[a-z]?(?:,\s?(?:(?:19|20)\d\d[a-z]?|[a-z]\b|pp?\.\s?\d+(?:[-–]\d+)?))*"
REFERENCE_MARK = re.compile(
    r"\[\s?\d{1,4}(?:\s?[,;–-]\s?\d{1,4})*\s?\]"
    rf"|\((?:e\.g\.,? |see (?:also )?|cf\. |reviewed (?:in|by) )?{_AUTHORS},? {_YEARS}"
    rf"(?:;\s?(?:see also )?{_AUTHORS},? {_YEARS})*\)"
    rf"|{_AUTHORS} \({_YEARS}\)"
)
"""Marks that refer to the reference list: "[12, 13]", "(Smith et al., 2019)", "Smith and Jones
(2019)"."""


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence of `text`, in order, without the white space between them.

    Every character that is not white space is in exactly one sentence.
    """
    spans: list[tuple[int, int]] = []
    segment_end = 0
    for n_characters in _segment_lengths(text):
        start, segment_end = segment_end, segment_end + n_characters
        piece = text[start:segment_end]
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


def _segment_lengths(text: str) -> Iterator[int]:
    """The lengths of the segments that sentencex finds; together they cover the text. Before, all
    that misleads sentencex is replaced by other characters; offsets stay the same."""
    text = _SURROGATE.sub(
        "\ufffd", lowered_as_plain(_without_ends_in_brackets(_PERIOD_APART.sub(". ", text)))
    )
    cuts, end_before = [0], 0
    for end in (*(match.end() for match in _MAY_END.finditer(text)), len(text)):
        if end - end_before > _MAX_UNBROKEN_CHARS:
            cuts.extend(range(end_before + _MAX_UNBROKEN_CHARS, end, _MAX_UNBROKEN_CHARS))
        end_before = end
    for start, end in zip(cuts, (*cuts[1:], len(text)), strict=True):
        position = start
        # sentencex may lose a character of odd texts, so each segment is searched
        for segment in sentencex.segment("en", text[start:end]):
            if (found := text.find(segment, position, end)) >= 0:
                yield found + len(segment) - position
                position = found + len(segment)
        if position < end:
            yield end - position


def _without_ends_in_brackets(text: str) -> str:
    """`text` with "_" for every character inside brackets that could end a sentence, and for marks
    of a list within a line.

    Brackets that are not closed on the same line, or not within 300 characters, are left as they
    are.
    """
    characters = list(text.translate(_NO_BRACKETS))
    opened: list[int] = []
    for match in _BRACKET.finditer(text):
        end = match.start()
        if match[0] == "\n":
            opened.clear()
        elif match[0] in "([":
            opened.append(end)
        elif opened and (start := opened.pop()) >= end - _MAX_BRACKET_CHARS:
            characters[start + 1 : end] = text[start + 1 : end].translate(_HIDDEN)
    return _INLINE_MARK.sub(lambda mark: mark[0].translate(_HIDDEN), "".join(characters))


def _belongs_to_previous(text: str, previous: tuple[int, int], start: int, end: int) -> bool:
    """Whether `text[start:end]` is part of the sentence before it (`previous`: its start and end):
    it has no word, or that sentence ends in an abbreviation."""
    between = text[previous[1] : start]
    if between.count("\n") > 1:
        return False
    if not _HAS_WORD.search(text, start, end):
        return True
    before = text[max(previous[0], previous[1] - _ABBREVIATION_CHARS) : previous[1]]
    if _ENDS_WITH_TITLE.search(before):
        return True
    return bool(_ENDS_WITH_ABBREVIATION.search(before) and _CONTINUES.match(text[start:end]))
