"""Finds the lines of a table of contents, which repeat the headings of a text and say nothing of
their own."""

import re
from collections import Counter
from collections.abc import Sequence

from rag_assets.core.text.folding import letters_of

_NAME = re.compile(r"(?:table of )?contents|list of (?:figures|tables)")
_PAGE = re.compile(r"(?:(?:[.·]\s?){3,}|[…_]{2,}|\s{2}|\t)\s*\d{1,4}\s*$")
"""Behind a row of points or a gap."""
_LINK = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\[([^\]]*)\]\(#[^)]*\)\s*$")
_ENDS_OF_ENTRY = ".·…_)"
"""Before its page number, or behind its link: a gap alone may be one between the columns of a
table."""
_MAX_CHARS = 200
_LEAST_ENTRIES, _LEAST_SIGNS = 3, 2


def lines_of_contents(lines: Sequence[str]) -> frozenset[int]:
    """Indices of the lines of tables of contents, their names included.

    An entry has a page number behind a row of points or is a link into the text, and its title
    stands alone on another line, which the names of a table's rows do not. Below a name
    ("Contents") one of both is enough, for three entries or more.
    """
    short = {at: line for at, line in enumerate(lines) if line.strip() and len(line) <= _MAX_CHARS}
    marked = {at for at, line in short.items() if _PAGE.search(line) or _LINK.match(line)}
    titles = {
        at: letters_of(_LINK.sub(r"\1", _PAGE.sub("", line))).lstrip("0123456789")
        for at, line in short.items()
    }
    n_alone = Counter(title for at, title in titles.items() if at not in marked)
    found: set[int] = set()
    seen: set[str] = set()
    below: list[int] = []
    """A name and the entries right below it."""
    for at, line in short.items():
        title, is_marked = titles[at], at in marked
        stands_again = n_alone[title] > (not is_marked) and title not in seen
        is_sure = stands_again and is_marked and line.rstrip("0123456789 \t")[-1:] in _ENDS_OF_ENTRY
        if not title or is_marked + stands_again + bool(below) < _LEAST_SIGNS:
            below = [at] if _NAME.fullmatch(line.strip(" #*_:").casefold()) else []
        else:
            below += [at] if below else []
            seen.add(title)
            found.update(
                below
                if len(below) == _LEAST_ENTRIES + 1
                else [at]
                if is_sure or len(below) > _LEAST_ENTRIES
                else []
            )
    return frozenset(found if len(found) >= _LEAST_ENTRIES else ())
