"""Writes citations as papers do, "Lund & Moe (2019)", and recognises entries of reference lists by
their form: authors with initials, a year, and a place of publication.

By that form, reference lists are found that have no heading, or one in another language. Their
titles must not be quoted as findings of the paper.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from string import ascii_lowercase
from textwrap import shorten

from rag_assets.core.domain import Person, Record

_SUBTITLE = re.compile(r"[:?.] | [-–—] ")


def cited_names(records: Mapping[str, Record]) -> dict[str, str]:
    """Id of each paper -> its citation by authors and year, "Lund et al. (2019)".

    If several papers have the same authors and year, the main part of the title is added: "Lund,
    “Iron in winter” (2019)". If the titles do not differ either, letters are added in the order of
    the ids: "Lund (2019a)". A paper without known authors is cited by its id.
    """
    by_authors: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for paper_id in sorted(records):
        record = records[paper_id]
        if record.authors:
            by_authors[_authors(record.authors), str(record.year or "n.d.")].append(paper_id)
    named = {paper_id: paper_id for paper_id in records}
    for (authors, year), papers in by_authors.items():
        titles = [_main_title(records[paper_id].title or "") for paper_id in papers]
        for nth, (paper_id, title) in enumerate(zip(papers, titles, strict=True)):
            if len(papers) == 1:
                named[paper_id] = f"{authors} ({year})"
            elif all(titles) and len(set(titles)) == len(papers):
                named[paper_id] = f"{authors}, “{title}” ({year})"
            else:
                named[paper_id] = f"{authors} ({year}{letters(nth)})"
    return named


def _main_title(title: str) -> str:
    """The title up to its subtitle, with at most 60 characters."""
    return shorten(_SUBTITLE.split(title, 1)[0], 60, placeholder=" …")


def _authors(authors: tuple[Person, ...]) -> str:
    """The family names as in a citation: "Lund", "Lund & Moe" or "Lund et al."."""
    if len(authors) == 2:
        return f"{authors[0].family} & {authors[1].family}"
    return authors[0].family if len(authors) == 1 else f"{authors[0].family} et al."


def letters(nth: int) -> str:
    """The letters for an index from 0: a, b, ..., z, aa, ab, ..."""
    more, last = divmod(nth, len(ascii_lowercase))
    return (letters(more - 1) if more else "") + ascii_lowercase[last]


_SURNAME = r"[^\W\d_a-z][\w'’-]{1,30}(?: [^\W\d_a-z][\w'’-]{1,30})?"
_INITIALS = r"(?:[^\W\d_a-z]\.?[ -]?){1,4}"
_MARK = r"(?:\[?\d{1,3}[\].]?\s+|\[\w{1,12}\]\s+)?"
_AUTHORS_FIRST = re.compile(
    _MARK + rf"(?:{_SURNAME},? {_INITIALS}(?=[\s,.(&;:]|$)|{_INITIALS}\s?{_SURNAME},)"
)
_YEAR = re.compile(r"\b(?:1[6-9]|20)\d\d[a-z]?\b")
_YEAR_AFTER_AUTHORS = re.compile(r"^[^()]{3,200}\((?:1[6-9]|20)\d\d[a-z]?\)[.,:]")
_PLACE = re.compile(
    r"\b\d{1,4}\s?(?:\(\d{1,4}\)|\((?:1[6-9]|20)\d\d\))?\s?[,:]\s?(?:p{1,2}\.? ?|e)?\d{1,6}|\b\d{1,5}[–-]\d{1,5}\b"
    r"|\bdoi\b|https?://|\b(?:pp?|vol|no|eds?)\.|(?:Press|Verlag|Proceedings|arXiv)\b",
)
_MAX_CHARS = 600


def looks_like_reference(text: str) -> bool:
    """Whether a text looks like an entry of a reference list, or several of them: it begins with an
    author, and has a year and a place of publication."""
    start = text[:_MAX_CHARS]
    if _AUTHORS_FIRST.match(start) is None:
        return False
    return bool(_YEAR_AFTER_AUTHORS.search(start)) or bool(
        _YEAR.search(start) and _PLACE.search(start)
    )
