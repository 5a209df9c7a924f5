"""Lines that interrupt a sentence: a header, footer or title that an extraction left between its two halves.

    "... were seen in most of the" / "JOURNAL OF IRON 12" / "patients who were treated ..."

Whoever quotes the sentence leaves the line out. Two sentences are never joined: the first half has no end mark, the
second goes on in lower case, and the line between does not.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.answering.verify.fuzzy_match import changes_meaning
from rag_assets.answering.verify.table_quotes.rows import SEPARATOR

_MAX_LINE_CHARS = 150
_INTERRUPTION = re.compile(
    rf"(?<=[^\W_]|[,)\]-])[ \t]*\n+((?![a-zà-ÿ])\S[^\n]{{0,{_MAX_LINE_CHARS}}}\n+){{1,2}}(?=[a-zà-ÿ])"
)


@dataclass(frozen=True)
class Joined:
    """A text without the lines that interrupt its sentences."""

    text: str
    cuts: tuple[tuple[int, int], ...]
    """Where each stood, and how many characters were taken out there, a line break being left."""

    def original(self, at: int) -> int:
        """The offset in the original text of the character at an offset."""
        return at + sum(n_characters for cut, n_characters in self.cuts if cut < at)


@lru_cache(maxsize=64)
def without_interruptions(text: str) -> Joined:
    """The text with the halves of its sentences joined; a line that could turn what they say stays."""
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
    return Joined("".join([*kept, text[behind:]]), tuple(cuts))
