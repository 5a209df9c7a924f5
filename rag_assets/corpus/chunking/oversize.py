"""The last resort: a sentence, row, item or line that alone is longer than what is allowed is cut.

At the end of a clause if one lies in the second half, else between words, and inside a word (a gene sequence, a
base64 dump) only where the word alone is too long.
"""

import re
from collections.abc import Callable, Sequence

CountAll = Callable[[Sequence[str]], list[int]]

_WORD = re.compile(r"\S+")
_ENDS_CLAUSE = re.compile(r"[,;:.!?)\]]$|^\|$")


def fitting_pieces(text: str, budget: int, count_all: CountAll) -> list[tuple[int, int]]:
    """Offsets of consecutive pieces of `text`, each of at most `budget` tokens, without white space at their ends.

    A piece of one character may be longer: there is nothing left to cut.
    """
    pieces = _packed(text, _words(text, budget, count_all), budget)
    fitting = []
    for (start, end), n_tokens in zip(pieces, count_all([text[a:b] for a, b in pieces]), strict=True):
        if n_tokens <= budget or end - start == 1:
            fitting.append((start, end))
        else:  # tokens of a text are not always the sum of its words'
            tighter = max(1, min(budget - 1, 2 * budget - n_tokens))
            inner = fitting_pieces(text[start:end], tighter, count_all)
            fitting += [(start + a, start + b) for a, b in inner]
    return fitting


def leading_piece(text: str, budget: int, count_all: CountAll) -> str:
    """The first words of `text` that fit `budget` tokens; all of it when it fits."""
    if budget < 1 or not text:
        return ""
    start, end = fitting_pieces(text, budget, count_all)[0]
    return text[start:end]


def _words(text: str, budget: int, count_all: CountAll) -> list[tuple[int, int, int]]:
    """Start, end and tokens of each word; one that is too long is cut into runs of characters."""
    spans = [match.span() for match in _WORD.finditer(text)]
    before = [0, *(end for _, end in spans)]
    counts = count_all([text[at:end] for at, (_, end) in zip(before, spans, strict=False)])
    words = []
    for (start, end), n_tokens in zip(spans, counts, strict=True):
        if n_tokens <= budget:
            words.append((start, end, n_tokens))
            continue
        step = max(1, (end - start) * budget // n_tokens)
        words += [(at, min(at + step, end), budget) for at in range(start, end, step)]
    return words


def _packed(text: str, words: Sequence[tuple[int, int, int]], budget: int) -> list[tuple[int, int]]:
    pieces, first = [], 0
    while first < len(words):
        last, used = first, words[first][2]
        while last + 1 < len(words) and used + words[last + 1][2] <= budget:
            last += 1
            used += words[last][2]
        if last + 1 < len(words):
            last = _last_clause_end(text, words, first, last)
        pieces.append((words[first][0], words[last][1]))
        first = last + 1
    return pieces


def _last_clause_end(text: str, words: Sequence[tuple[int, int, int]], first: int, last: int) -> int:
    for at in range(last, (first + last) // 2, -1):
        if _ENDS_CLAUSE.search(text[words[at][0] : words[at][1]]):
            return at
    return last
