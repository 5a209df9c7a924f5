"""What a quote leaves out of its sentence: words that govern what it quotes, and lines that interrupt the sentence.

"We do not believe that iron helps" denies "iron helps"; in "Zinc did not help, but the iron did in men" the negation
governs its own clause only. Clauses are told apart only where the sentence shows it: by a semicolon, or a comma with a
conjunction, before a new subject ("may lower pain, but raise mortality" has one clause). A continuation about the words
quoted ("but this did not last", "but not in women") governs them, and so do conditions, doubts and reported speech in
any clause. In doubt, a word governs.

An extraction may leave a header, footer or title between the two halves of a sentence: "... were seen in most of the" /
"JOURNAL OF IRON 12" / "patients who were treated ...". Two sentences are never joined: the first half has no end mark,
the second goes on in lower case, the line between does not.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.answering.verify.fuzzy_match import Words
from rag_assets.answering.verify.normalized_text import normalized
from rag_assets.answering.verify.quoted_text import SEPARATOR
from rag_assets.answering.verify.word_differences import MEANING_CHANGING, OF_ITS_CLAUSE

_NEW = r"(?:an?|some|many|several|others?|another|most|each|every|all)\b"
_SUBJECT = rf"(?:{_NEW}|(?:the|this|these|those|its|their|our|it|we|they|he|she|there|both)\b|[A-Z\d])"
_BEGINS = re.compile(
    rf"[,;]\s+whereas\s+|(?:;|[,;]\s+(?:but|yet|while|although|though))\s+(?={_SUBJECT})"
    r"|,\s+and\s+(?=(?:we|they|he|she|it|there)\b)"
)
"""Before a clause that the clauses before it do not govern; after a comma, up to the next one: "This did not last,
although it was seen, in men"."""
_CONCEDED = re.compile(rf"(?i:even\s+)?(?i:although|though|while|whereas)\b[^;:]*,\s+(?={_SUBJECT}[^,;]*\Z)")
"""A first clause that concedes something: the only comma that surely ends it is the last one of the sentence."""
_GOES_ON = re.compile(
    rf"[,;]\s+whereas\s+|[,;]\s+while\s+(?={_SUBJECT})|(?:;|[,;]\s+(?:and|but|yet|although|though))\s+(?={_NEW})"
)
"""Before a clause that does not govern the clauses before it."""
_LIST = re.compile(r";\s+(?:and|or|nor)\b")
"""Semicolons that separate items, which one negation governs together."""
_COMPLEMENT = frozenset("that whether if how why what".split())
_POINTS_BACK = frozenset("it its this that these those they them their such so".split())
_MAX_LINE_CHARS = 150
_INTERRUPTION = re.compile(
    rf"(?<=[^\W_]|[,)\]-])[ \t]*\n+((?![a-zà-ÿ])\S[^\n]{{0,{_MAX_LINE_CHARS}}}\n+){{1,2}}(?=[a-zà-ÿ])"
)


def changes_meaning(left_out: str) -> bool:
    """Whether leaving this text out of a sentence could change what the rest says."""
    folded = normalized(left_out).text
    return not MEANING_CHANGING.isdisjoint(_words(left_out)) or "n't" in folded or "?" in folded


def is_governed(text: str, sentence: tuple[int, int], start: int, end: int) -> bool:
    """Whether words of the sentence outside `text[start:end]` could change what those inside say."""
    first, last = sentence
    whole, start, end = text[first:last], start - first, end - first
    begin = _begin_of_clause(whole, start)
    clause_end, next_begin = _end_of_clause(whole, end)
    own_clause = (whole[begin:start], whole[end:clause_end])
    return any(map(changes_meaning, own_clause)) or _reaches(whole[:begin]) or _reaches(whole[next_begin:])


def _begin_of_clause(sentence: str, start: int) -> int:
    """Where the clause of the word at `start` begins, as far as the sentence shows it."""
    conceded = _CONCEDED.match(sentence)
    begins = [conceded.end()] if conceded else []
    for match in _BEGINS.finditer(sentence):
        is_clause = _separates_clauses(sentence, match.start())
        if is_clause and (match[0][0] == ";" or "," not in sentence[match.end() : start]):
            begins.append(match.end())
    begin = max((at for at in begins if at <= start), default=0)
    return 0 if _takes_complement(sentence[:begin]) else begin


def _end_of_clause(sentence: str, end: int) -> tuple[int, int]:
    """Where the clause of the word before `end` ends, and the next one begins."""
    for match in _GOES_ON.finditer(sentence, end):
        is_new = _POINTS_BACK.isdisjoint(_words(sentence[match.end() :]))
        if is_new and _separates_clauses(sentence, match.start()):
            return match.start(), match.end()
    return len(sentence), len(sentence)


def _separates_clauses(sentence: str, at: int) -> bool:
    """Whether a comma or semicolon separates clauses: it is outside brackets, and not the semicolon of a list."""
    before = sentence[:at]
    is_open = any(before.count(opening) != before.count(closing) for opening, closing in ("()", "[]"))
    return not is_open and not (sentence[at] == ";" and _LIST.search(sentence))


def _takes_complement(before: str) -> bool:
    """Whether what is denied or hedged follows: "It is not clear that A fell, but B rose"."""
    words = _words(before)
    turned = next((at for at, word in enumerate(words) if word in OF_ITS_CLAUSE or word.endswith("n't")), len(words))
    return not _COMPLEMENT.isdisjoint(words[turned:])


def _reaches(clause: str) -> bool:
    """Whether another clause has a word whose meaning reaches beyond it."""
    return "?" in clause or not (MEANING_CHANGING - OF_ITS_CLAUSE).isdisjoint(_words(clause))


def _words(text: str) -> tuple[str, ...]:
    return Words.of(text).words


@dataclass(frozen=True)
class JoinedText:
    """A text without the lines that interrupt its sentences."""

    text: str
    cuts: tuple[tuple[int, int], ...]
    """Offset in `text` of each cut, and the number of characters removed there; a line break is left."""

    def original(self, at: int) -> int:
        """The offset in the original text of the character at an offset."""
        return at + sum(n_characters for cut, n_characters in self.cuts if cut < at)


@lru_cache(maxsize=64)
def without_interruptions(text: str) -> JoinedText:
    """The text with the halves of its sentences joined; a line that could change what they say is kept."""
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
