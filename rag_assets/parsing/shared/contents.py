"""Finds the lines of a table of contents, which repeat the headings of a text and say nothing of their own."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from rag_assets.core.text.folding import letters_of

_NAME = re.compile(r"(?:table of )?contents|list of (?:figures|tables)")
_PAGE = re.compile(r"(?:(?:[.·]\s?){3,}|[…_]{2,}|\s{2}|\t)\s*(\d{1,4})\s*$")
"""Behind a row of points or a gap."""
_LINK = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\[([^\]]*)\]\(#[^)]*\)\s*$")
_MAX_CHARS = 200
_MAX_GAP = 2
"""Lines between two entries, or between the name and the first one: a title over several lines, "Page"."""
_LEAST_ENTRIES = 3


def lines_of_contents(lines: Sequence[str]) -> frozenset[int]:
    """Indices of the lines of tables of contents, their names included.

    Entries have page numbers that never fall, are links into the text, or, below a name ("Contents"), stand again as
    lines of their own. Without a name at least half of them must: the rows of a table do not.
    """
    titles = {at: _title_of(line) for at, line in enumerate(lines) if line.strip()}
    n_times = Counter(titles.values())
    found: set[int] = set()
    order = list(titles)
    nth = 0
    while nth < len(order):
        is_named = _NAME.fullmatch(lines[order[nth]].strip(" #*_:").casefold()) is not None
        entries = _entries(lines, order, nth, titles, n_times, is_named=is_named)
        n_again = sum(n_times[titles[order[at]]] > 1 for at in entries)
        if len(entries) >= _LEAST_ENTRIES and (is_named or 2 * n_again >= len(entries)):
            found.update(range(order[nth], order[entries[-1]] + 1))
        nth = max([nth, *entries]) + 1
    return frozenset(found)


def _entries(
    lines: Sequence[str], order: Sequence[int], first: int, titles: Mapping[int, str], n_times: Mapping[str, int], *,
    is_named: bool,
) -> list[int]:
    """Positions in `order` of the entries from `first` on, up to a title that was there before."""
    entries: list[int] = []
    seen, last_page, last = set(), 0, first
    for nth in range(first + is_named, len(order)):
        line, title = lines[order[nth]], titles[order[nth]]
        page = _PAGE.search(line[:_MAX_CHARS])
        if nth > last + _MAX_GAP + 1 or title in seen or (page and int(page[1]) < last_page):
            break
        if title and (page or _LINK.match(line) or (is_named and n_times[title] > 1)):
            entries.append(nth)
            seen.add(title)
            last, last_page = nth, int(page[1]) if page else last_page
        elif not entries and not is_named:
            break
    return entries


def _title_of(line: str) -> str:
    """What an entry and the heading that it names share; empty for a line that is too long to be either."""
    link = _LINK.match(line)
    return letters_of(link[1] if link else _PAGE.sub("", line)) if len(line) <= _MAX_CHARS else ""
