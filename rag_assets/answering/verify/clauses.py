"""Tells whether words of a sentence that a quote leaves out govern the words it quotes.

"We do not believe that iron helps" denies "iron helps"; in "Zinc did not help, but the iron did in men" the negation
stays in a clause of its own. A clause is told apart only where the sentence shows it: a semicolon or a comma with a
conjunction, and a subject of its own behind it ("may lower pain, but raise mortality" has one clause). What goes on
about the words quoted ("but this did not last", "but not in women") governs them, and so does what reaches over
clauses: conditions, doubts, and what only others say. In doubt, a word governs.
"""

import re

from rag_assets.answering.verify.fuzzy_match import Words, changes_meaning
from rag_assets.answering.verify.word_differences import MEANING_CHANGING, OF_ITS_CLAUSE

_NEW = r"(?:an?|some|many|several|others?|another|most|each|every|all)\b"
_SUBJECT = rf"(?:{_NEW}|(?:the|this|these|those|its|their|our|it|we|they|he|she|there|both)\b|[A-Z\d])"
_BEGINS = re.compile(
    rf"[,;]\s+whereas\s+|(?:;|[,;]\s+(?:but|yet|while|although|though))\s+(?={_SUBJECT})"
    r"|,\s+and\s+(?=(?:we|they|he|she|it|there)\b)"
)
"""Before a clause that the clauses before it do not govern; behind a comma, up to the next one: "This did not last,
although it was seen, in men"."""
_CONCEDED = re.compile(rf"(?i:even\s+)?(?i:although|though|while|whereas)\b[^;:]*,\s+(?={_SUBJECT}[^,;]*\Z)")
"""A first clause that concedes something: the only comma that surely ends it is the last one of the sentence."""
_GOES_ON = re.compile(
    rf"[,;]\s+whereas\s+|[,;]\s+while\s+(?={_SUBJECT})|(?:;|[,;]\s+(?:and|but|yet|although|though))\s+(?={_NEW})"
)
"""Before a clause that does not govern the clauses before it."""
_LIST = re.compile(r";\s+(?:and|or|nor)\b")
"""Semicolons part items here, which one negation governs together."""
_COMPLEMENT = frozenset("that whether if how why what".split())
_POINTS_BACK = frozenset("it its this that these those they them their such so".split())


def is_governed(text: str, sentence: tuple[int, int], start: int, end: int) -> bool:
    """Whether words of the sentence outside `text[start:end]` could change what those inside say."""
    first, last = sentence
    whole, start, end = text[first:last], start - first, end - first
    begin = _begin_of_clause(whole, start)
    behind, next_begin = _end_of_clause(whole, end)
    own = (whole[begin:start], whole[end:behind])
    return any(map(changes_meaning, own)) or _reaches(whole[:begin]) or _reaches(whole[next_begin:])


def _begin_of_clause(sentence: str, start: int) -> int:
    """Where the clause of the word at `start` begins, as far as the sentence shows it."""
    conceded = _CONCEDED.match(sentence)
    begins = [conceded.end()] if conceded else []
    for match in _BEGINS.finditer(sentence):
        is_clause = _parts_clauses(sentence, match.start())
        if is_clause and (match[0][0] == ";" or "," not in sentence[match.end() : start]):
            begins.append(match.end())
    begin = max((at for at in begins if at <= start), default=0)
    return 0 if _takes_complement(sentence[:begin]) else begin


def _end_of_clause(sentence: str, end: int) -> tuple[int, int]:
    """Where the clause of the word before `end` ends, and the next one begins."""
    for match in _GOES_ON.finditer(sentence, end):
        is_new = _POINTS_BACK.isdisjoint(Words.of(sentence[match.end() :]).words)
        if is_new and _parts_clauses(sentence, match.start()):
            return match.start(), match.end()
    return len(sentence), len(sentence)


def _parts_clauses(sentence: str, at: int) -> bool:
    """Whether a comma or semicolon parts clauses: it stands in no bracket, and is no semicolon of a list."""
    before = sentence[:at]
    is_open = any(before.count(one) != before.count(other) for one, other in ("()", "[]"))
    return not is_open and not (sentence[at] == ";" and _LIST.search(sentence))


def _takes_complement(before: str) -> bool:
    """Whether what is denied or hedged goes on behind: "It is not clear that A fell, but B rose"."""
    words = Words.of(before).words
    turned = next((at for at, word in enumerate(words) if word in OF_ITS_CLAUSE or word.endswith("n't")), len(words))
    return not _COMPLEMENT.isdisjoint(words[turned:])


def _reaches(clause: str) -> bool:
    """Whether another clause has a word whose meaning reaches beyond it."""
    return "?" in clause or not (MEANING_CHANGING - OF_ITS_CLAUSE).isdisjoint(Words.of(clause).words)
