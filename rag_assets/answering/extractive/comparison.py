"""Finds the two sides of a question that compares them: "Compare A and B in C", "How do A and B differ?".

An answer about one side alone looks whole. A side that no chosen sentence names gets a sentence or row of its own, or
is said to be unanswered.
"""

import re

from rag_assets.text.terms import terms_of

_MAX_SIDE_WORDS = 6
_BETWEEN = r"(?: and | with | to | versus | vs\.? )"
_REST = r"(?: (?:on|in|for|at|by|under|as|when|with respect to) .+)?"
_ARTICLE = re.compile(r"^(?:the|an?) ", re.IGNORECASE)
_COMPARISONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^compare (?:the .{{1,60}}? of )?(?P<one>.+?){_BETWEEN}(?P<other>.+?){_REST}$",
        r"^how (?:do|does|did) (?P<one>.+?)(?: and | versus | vs\.? )(?P<other>.+?) (?:compare|differ)\b.*$",
        rf"^how (?:do|does|did) (?P<one>.+?) (?:compare|differ)(?: with | to | from )(?P<other>.+?){_REST}$",
        rf"^what (?:is|are) the differences? (?:in .{{1,60}}? )?between (?P<one>.+?) and (?P<other>.+?){_REST}$",
        rf"^how (?:do|does|did) .{{1,60}}? differ between (?P<one>.+?) and (?P<other>.+?){_REST}$",
    )
)


def compared_sides(question: str) -> dict[str, frozenset[str]]:
    """The two sides as they were written, each with the stems that the other does not have; none where the question
    compares nothing, or its sides are too long to be names."""
    asked = " ".join(question.split()).rstrip("?. ")
    found = next((match for pattern in _COMPARISONS if (match := pattern.match(asked))), None)
    if found is None or any(len(side.split()) > _MAX_SIDE_WORDS for side in found.groups()):
        return {}
    first, second = (_ARTICLE.sub("", side) for side in found.groups())
    one, other = terms_of(first), terms_of(second)
    sides = {first: one - other, second: other - one}
    return sides if all(sides.values()) else {}
