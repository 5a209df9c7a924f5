"""Finds a quote that was tidied when it was copied: a hyphen, an article, a plural, a spelling, a
dropped word.

A quote matches when the two texts are alike (`MIN_SCORE`) and every difference between their words
is one that tidying makes. Likeness alone cannot tell: "increased by 12%" and "decreased by 13%" are
as alike as any tidied pair. So no other word, number, negation, comparison or quantity is ever
accepted. What is published is the source's own words at that place. Quotes that are only typeset
differently are found in `quote_search`. Words are compared folded: lower case, no ligatures.

Whether words that a quote leaves out may change its meaning is told here too, and a header or
footer between the two halves of a sentence is taken out: the first half has no end mark, the second
goes on in lower case.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count

from py_rust_stemmers import SnowballStemmer
from rapidfuzz import fuzz
from rapidfuzz.distance import Prefix

from rag_assets.answering.verify.quoted_text import SEPARATOR
from rag_assets.core.text.folding import digit_groups, normalized
from rag_assets.core.text.sentences import REFERENCE_MARK

DETERMINERS = frozenset("a an the this that these those its their our".split())
ARTICLES = frozenset("a an the".split())
MAY_BE_ADDED = DETERMINERS | frozenset(
    "of in on at for and is are was were be been has have had also which to".split()
)
"""Words that tidying may add."""
MEANING_CHANGING = frozenset(
    # negations and limits
    "not no nor never neither none nobody nothing nowhere non without cannot fail fails failed failing failure lack "
    "lacks lacked lacking absence absent unable although though but whereas only hardly rarely seldom barely scarcely "
    "few fewer little less least may might could would should "
    # what turns a statement round
    "except unless despite instead if unlikely unlike contrary contradict contradicts contradicted contradicting "
    "disprove disproved disproven refute refutes refuting myth against false incorrect incorrectly wrong denied "
    "rejected refuted exclude excludes excluded excluding avoid avoids avoided prevent prevents prevented stop stopped "
    "cease ceased "
    # how sure the authors are
    "possibly perhaps probably likely potentially presumably apparently suggest suggests suggested seem seems seemed "
    "appear appears appeared whether hypothesis hypotheses hypothesize hypothesized hypothesise hypothesised "
    "hypothetically theoretically assume assumed assuming allegedly supposedly purportedly reportedly doubt doubts "
    "doubted doubtful "
    # what others say, and what was found to be wrong or nothing
    "claim claims claimed argue argues argued believe believes believed said deny denies untrue wrongly falsely "
    "falsified debunked retracted misconception vanished insignificant insignificantly nonsignificant "
    "nonsignificantly".split()
)
"""Words that change the meaning of the words beside them."""
MAY_BE_LEFT_OUT = MAY_BE_ADDED | frozenset(
    "very quite rather too indeed itself themselves however thus therefore hence then accordingly consequently "
    "moreover furthermore additionally besides finally lastly interestingly importantly notably remarkably "
    "surprisingly overall respectively namely i.e e.g there here now as by from with".split()
)
_LIMITING = MEANING_CHANGING | frozenset(
    "while more most much many some several all any each every both either half part partly partially mostly mainly "
    "almost nearly about approximately around over under above below than up down first second third last one two "
    "three four five six seven eight nine ten eleven twelve hundred thousand million billion twice once double triple "
    "single solely exclusively sometimes often always usually generally increase increases increased decrease "
    "decreases decreased reduce reduces reduced higher lower high low greater smaller larger better worse longer "
    "shorter slightly somewhat marginally minimally moderately partially temporarily transiently initially before "
    "after during until since between among can or vs versus per percent mg kg ml mm cm km nm ms hz mv "
    "min hours days weeks months years".split()
)
"""MEANING_CHANGING, quantities, comparisons and units: words that limit what follows them."""
_COMPARATIVE = re.compile(r"[a-z]{3,}(?:er|est|less)")
_NOT_JOINED = frozenset("a an i in im un no not or less be".split())
""" "not able" and "notable", "a typical" and "atypical" are spelt alike and mean the opposite."""
_ENDINGS = frozenset(["", "s", "es", "e", "ed", "d", "ing", "y", "ies", "ied", "'s"])
_MIN_INFLECTED_CHARS = 4
_MIN_MISSPELT_CHARS = 7
_SPELLINGS = tuple(
    (re.compile(pattern), spelt)
    for pattern, spelt in (
        (r"(?<=\w\w)isation", "ization"),
        (r"(?<=\w\w)is(?=(?:e|es|ed|ing|er|ers)$)", "iz"),
        (r"(?<=\w)ys(?=(?:e|es|ed|ing|er|ers)$)", "yz"),
        (r"(?<=\w\w)our", "or"),
        (r"(?<=[bt])re(?=s?$)", "er"),
        (r"ogue(?=s?$)", "og"),
        (r"(?<=\w)[ao]e", "e"),
        (r"^[ao]e", "e"),
        (r"(?<=\w{4})ll(?=(?:ed|ing|er|ers)$)", "l"),
        (r"mme(?=s?$)", "m"),
        (r"(?<=en)c(?=es?$)", "s"),
    )
)
_STEMMER = SnowballStemmer("english")


def comes_before_number(words: Sequence[str], at: int) -> bool:
    """Whether the word at index `at` is right before a number and can change its meaning: "fell
    20%" and "fell to 20%" are different statements. An article changes nothing."""
    return words[at] not in ARTICLES and at + 1 < len(words) and words[at + 1][0].isdigit()


def limits(word: str) -> bool:
    """Whether a word changes the meaning of the others: "most patients" are not "the patients"."""
    if word in MAY_BE_LEFT_OUT:
        return False
    return (
        word in _LIMITING
        or not word[0].isalpha()
        or word.endswith("n't")
        or bool(_COMPARATIVE.fullmatch(word))
    )


def are_joined(whole: str, parts: Sequence[str]) -> bool:
    """Whether a word is two words written as one: "baseline" and "base line". False where joining
    can give another meaning, as in "not able" and "notable"."""
    return len(parts) == 2 and whole == parts[0] + parts[1] and not _NOT_JOINED.intersection(parts)


def are_variants(one: str, other: str) -> bool:
    """Whether two words are the same word with another ending, another spelling or one missing
    letter."""
    if not (one[0].isalpha() and other[0].isalpha()):
        return False
    return (
        _differ_in_ending(one, other)
        or _spelt(one) == _spelt(other)
        or _differ_in_one_letter(one, other)
    )


def _differ_in_ending(one: str, other: str) -> bool:
    """Whether two words have the same stem and differ only in an inflection: "group" and "groups",
    "study" and "studies"."""
    if min(len(one), len(other)) < _MIN_INFLECTED_CHARS or _STEMMER.stem_word(
        one
    ) != _STEMMER.stem_word(other):
        return False
    n_common = Prefix.similarity(one, other)
    return one[n_common:] in _ENDINGS and other[n_common:] in _ENDINGS


@lru_cache(maxsize=4096)
def _spelt(word: str) -> str:
    """A word in one spelling: "tumour" and "tumor", "analyse" and "analyze" give the same."""
    for pattern, spelling in _SPELLINGS:
        word = pattern.sub(spelling, word)
    return word


def _differ_in_one_letter(one: str, other: str) -> bool:
    """Whether one of two long words is the other without one letter inside it: "signficant" and
    "significant". A missing first or last letter does not count, because it can change the meaning
    (typical, atypical)."""
    short, long = sorted((one, other), key=len)
    if len(short) < _MIN_MISSPELT_CHARS or short[-1] != long[-1]:
        return False
    n_common = Prefix.similarity(short, long)
    return n_common > 0 and short[n_common:] == long[n_common + 1 :]


MIN_SCORE = 85.0
"""Lowest likeness (0-100) of a quote and the source's words; measured by
benchmarks/verifier_errors.py."""
MIN_WORDS = 5
"""Shorter quotes must be there word by word: two or three words are too few to tell a tidied quote
from a common phrase."""
MAX_WORDS = 100
"""Longer quotes must be there word by word: among repetitions the search grows with the square of
the words, to 0.3 s for 100."""

_COARSE_SCORE = 75.0
"""Lower than `MIN_SCORE`, because the coarse search cuts words at the edges."""
_MARGIN_WORDS = 8
_WORDS_AN_EDIT, _STEP_COST = 4, 3
"""At most one word left out or put in per four words of the quote; the other steps cost less."""

_WORD = re.compile(
    r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+(?:[.,]\d+)*|-(?=\s?\.?\d)|[%‰<>=±≤≥≈~×+°$€£*^√∞→←↑↓≠≪≫≲≳∉∈¬⇒/]"
)
_CHARGE = re.compile(r"\w[−⁻](?!\w)|\d[-–](?=\s[^\W\d])")
"""The minus of "CD4− cells", which is folded like a hyphen."""
_MARKED = re.compile(r"\w+")
_LETTER = re.compile(r"[^\W_]")
_MARK_DISTANCE = 3


@dataclass(frozen=True)
class Words:
    """The words of a text, folded, with their offsets; marks that point to the reference list are
    left out."""

    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    """Offsets of each word in the original text."""
    joined: str
    starts: tuple[int, ...]
    """Offset of each word in `joined`."""

    marks: tuple[tuple[int, int], ...]
    """Offsets of the reference marks in the original text."""

    @classmethod
    def of(cls, text: str) -> "Words":
        """Reads the words of a text, folded. Words inside reference marks such as "[12]" are left
        out; the places of these marks are in `marks`."""
        folded = normalized(text)
        marks = tuple(match.span() for match in REFERENCE_MARK.finditer(text))
        words, places = [], []
        for match in _WORD.finditer(folded.text):
            place = folded.span(*match.span())
            if not any(start <= place[0] < end for start, end in marks):
                words.append(match[0])
                places.append(place)
        starts, at = [], 0
        for word in words:
            starts.append(at)
            at += len(word) + 1
        return cls(tuple(words), tuple(places), " ".join(words), tuple(starts), marks)


@dataclass(frozen=True, slots=True)
class FuzzyMatch:
    """The place of a tidied quote in the source: `text[start:end]`."""

    start: int
    end: int
    score: float
    """Likeness of the words, 0-100."""


@dataclass(frozen=True, slots=True)
class _EditStep:
    """One way to match the next words of quote and source."""

    name: str
    n_quote: int
    """Words of the quote it takes."""
    n_source: int
    """Words of the source it takes."""
    cost: int


_SAME = _EditStep("the same word", 1, 1, 0)
_VARIANT = _EditStep("another ending or spelling", 1, 1, 2)
_JOINED = _EditStep("two words of the source written as one", 1, 2, 2)
_PARTED = _EditStep("one word of the source written as two", 2, 1, 2)
_FILLER_LEFT_OUT = _EditStep("a filler word of the source left out", 0, 1, 3)
_LEFT_OUT = _EditStep("another word of the source left out", 0, 1, 5)
_PUT_IN = _EditStep("a word put in", 1, 0, 3)


def fuzzy_match(quote: str, text: str) -> FuzzyMatch | None:
    """The place of `text` that a tidied quote was taken from; None when there is none."""
    found = align_tidied(quote, text)
    return found if found and found.score >= MIN_SCORE else None


def align_tidied(quote: str, text: str) -> FuzzyMatch | None:
    """Returns the place that `fuzzy_match` looks for, but also where the two texts are less alike
    than `MIN_SCORE`; None where a difference is not one that tidying makes."""
    wanted, source = Words.of(quote), words_of(text)
    if not MIN_WORDS <= len(wanted.words) <= MAX_WORDS or len(wanted.joined) > len(source.joined):
        return None
    coarse = fuzz.partial_ratio_alignment(wanted.joined, source.joined, score_cutoff=_COARSE_SCORE)
    if coarse is None:
        return None
    first = max(0, bisect_right(source.starts, coarse.dest_start) - 1 - _MARGIN_WORDS)
    last = bisect_right(source.starts, coarse.dest_end) + _MARGIN_WORDS
    aligned = _aligned_words(wanted.words, source.words[first:last])
    if aligned is None:
        return None
    start, end = first + aligned[0], first + aligned[1]
    place = _with_marks(source, source.places[start][0], source.places[end - 1][1], quote)
    found = text[slice(*place)]
    if not _has_numbers_and_marks(quote, found) or len(_CHARGE.findall(quote)) != len(
        _CHARGE.findall(found)
    ):
        return None
    return FuzzyMatch(*place, fuzz.ratio(wanted.joined, " ".join(source.words[start:end])))


@lru_cache(maxsize=64)
def words_of(text: str) -> Words:
    """The words of a chunk, kept because the citations of an answer share their chunks."""
    return Words.of(text)


def _with_marks(source: Words, start: int, end: int, quote: str) -> tuple[int, int]:
    """Returns the place `start:end` of the source, extended over a reference mark directly before
    or behind it if the quote begins or ends with such a mark. This is needed because `Words` leaves
    out the marks, so the words alone do not include them."""
    in_quote = [match.span() for match in REFERENCE_MARK.finditer(quote)]
    if any(not _LETTER.search(quote, 0, mark[0]) for mark in in_quote):
        start = min(
            (mark[0] for mark in source.marks if start - _MARK_DISTANCE <= mark[1] <= start),
            default=start,
        )
    if any(not _LETTER.search(quote, mark[1]) for mark in in_quote):
        end = max(
            (mark[1] for mark in source.marks if end <= mark[0] <= end + _MARK_DISTANCE),
            default=end,
        )
    return start, end


def _has_numbers_and_marks(quote: str, found: str) -> bool:
    """Whether the found text has exactly the digits of the quote, apart from reference marks, and
    all reference marks of the quote in the same order. It may have more marks than the quote."""
    outside = [digit_groups(REFERENCE_MARK.sub(" ", text)) for text in (quote, found)]
    wanted, there = (
        [w for mark in REFERENCE_MARK.findall(text) for w in _MARKED.findall(mark)]
        for text in (quote, found)
    )
    remaining = iter(there)
    return outside[0] == outside[1] and all(word in remaining for word in wanted)


def _aligned_words(quote: Sequence[str], source: Sequence[str]) -> tuple[int, int] | None:
    """Returns what `_aligned` gives. If there is nothing and the quote begins with an article, the
    quote is tried without it, but only where the word before the place does not limit the meaning:
    "the patients" is not found in "most patients"."""
    aligned = _aligned(quote, source)
    if aligned or quote[0] not in ARTICLES:
        return aligned
    aligned = _aligned(quote[1:], source)
    return aligned if aligned and not (aligned[0] and limits(source[aligned[0] - 1])) else None


def _aligned(quote: Sequence[str], source: Sequence[str]) -> tuple[int, int] | None:
    """First and last (exclusive) word of the source that the whole quote is a tidied form of; None
    if there are none.

    Finds the cheapest chain of allowed steps: Dijkstra's algorithm over pairs of word positions,
    which starts at every word of the source. If two chains reach the same pair by the same step,
    only the cheaper one continues.
    """
    most = _STEP_COST * max(1, len(quote) // _WORDS_AN_EDIT)
    order = count()  # breaks ties of the queue
    queue = [(0, next(order), 0, at, at, _SAME) for at in range(len(source))]
    seen: set[tuple[int, int, str]] = set()
    while queue:
        cost, _, i, j, begun, last = heappop(queue)
        if i == len(quote):
            return begun, j
        if (i, j, last.name) in seen:
            continue
        seen.add((i, j, last.name))
        for step in _steps(quote, source, i, j):
            if cost + step.cost <= most and _may_follow(step, last, quote, source, i, j):
                heappush(
                    queue,
                    (
                        cost + step.cost,
                        next(order),
                        i + step.n_quote,
                        j + step.n_source,
                        begun,
                        step,
                    ),
                )
    return None


def _steps(quote: Sequence[str], source: Sequence[str], i: int, j: int) -> Iterator[_EditStep]:
    """Yields the steps that may match the quote from word `i` on with the source from word `j` on.
    A word may be added only inside the quote. A word of the source may be left out only behind the
    first word of the quote, and never if it limits the meaning or is before a number."""
    is_inside = 0 < i < len(quote) - 1
    if is_inside and quote[i] in MAY_BE_ADDED and not comes_before_number(quote, i):
        yield _PUT_IN
    if j == len(source):
        return
    if quote[i] == source[j]:
        yield _SAME
    elif are_variants(quote[i], source[j]):
        yield _VARIANT
    if are_joined(quote[i], source[j : j + 2]):
        yield _JOINED
    if are_joined(source[j], quote[i : i + 2]):
        yield _PARTED
    if i > 0 and not limits(source[j]) and not comes_before_number(source, j):
        yield _FILLER_LEFT_OUT if source[j] in MAY_BE_LEFT_OUT else _LEFT_OUT


def _may_follow(
    step: _EditStep, last: _EditStep, quote: Sequence[str], source: Sequence[str], i: int, j: int
) -> bool:
    """Whether a step may follow the step before it. A word that is added next to a word that is
    left out would replace it; only a determiner may replace another one ("the" for "these")."""
    if _PUT_IN not in (step, last) or not {_LEFT_OUT, _FILLER_LEFT_OUT}.intersection((step, last)):
        return True
    put_in, left_out = (quote[i], source[j - 1]) if step is _PUT_IN else (quote[i - 1], source[j])
    return put_in in DETERMINERS and left_out in DETERMINERS


_MAX_LINE_CHARS = 150
_INTERRUPTION = re.compile(
    rf"(?<=[^\W_]|[,)\]-])[ \t]*\n+((?![a-zà-ÿ])\S[^\n]{{0,{_MAX_LINE_CHARS}}}\n+){{1,2}}(?=[a-zà-ÿ])"
)


def changes_meaning(left_out: str) -> bool:
    """Whether leaving this text out of a sentence could change what the rest says."""
    folded = normalized(left_out).text
    return (
        not MEANING_CHANGING.isdisjoint(Words.of(left_out).words)
        or "n't" in folded
        or "?" in folded
    )


@dataclass(frozen=True)
class JoinedText:
    """A text without the lines that interrupt its sentences."""

    text: str
    cuts: tuple[tuple[int, int], ...]
    """Offset in `text` of each cut, and the number of characters removed there; a line break is
    left."""

    def original(self, at: int) -> int:
        """The offset in the original text of the character at offset `at` of the joined text."""
        return at + sum(n_characters for cut, n_characters in self.cuts if cut < at)


@lru_cache(maxsize=64)
def without_interruptions(text: str) -> JoinedText:
    """The text without the headers and footers that interrupt its sentences. A line that could
    change the meaning of the sentence is kept."""
    kept: list[str] = []
    cuts: list[tuple[int, int]] = []
    behind = length = 0
    for match in _INTERRUPTION.finditer(text):
        if SEPARATOR in match[0] or changes_meaning(match[0]):
            continue
        kept += [text[behind : match.start()], "\n"]
        length += match.start() - behind
        cuts.append((length, len(match[0]) - 1))
        length += 1
        behind = match.end()
    return JoinedText("".join([*kept, text[behind:]]), tuple(cuts))
