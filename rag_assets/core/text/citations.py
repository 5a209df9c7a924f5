"""How papers cite: "Lund & Moe (2019)" in a running text, and entries of reference lists, known by
their form (authors with initials, a year, and where it was published).

Reference lists without a heading, or with one in another language, are found by that form. The
titles in them are no findings.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from string import ascii_lowercase
from textwrap import shorten

from rag_assets.core.domain import Person, Record

_SUBTITLE = re.compile(r"[:?.] | [-–—] ")


def cited_names(records: Mapping[str, Record]) -> dict[str, str]:
    """Each paper as a text cites it, by id: by its authors and year, "Lund et al. (2019)".

    Papers that would be cited alike are cited with the main part of their titles, "Lund, “Iron in
    winter” (2019)"; or by letters in the order of their ids, "Lund (2019a)", where those do not
    tell them apart. A paper whose authors are not known is cited by its id.
    """
    alike: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for paper_id in sorted(records):
        record = records[paper_id]
        if record.authors:
            alike[_authors(record.authors), str(record.year or "n.d.")].append(paper_id)
    named = {paper_id: paper_id for paper_id in records}
    for (authors, year), papers in alike.items():
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
    if len(authors) == 2:
        return f"{authors[0].family} & {authors[1].family}"
    return authors[0].family if len(authors) == 1 else f"{authors[0].family} et al."


def letters(nth: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
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
    """Whether a text is one entry of a reference list, or several in a row."""
    start = text[:_MAX_CHARS]
    if _AUTHORS_FIRST.match(start) is None:
        return False
    return bool(_YEAR_AFTER_AUTHORS.search(start)) or bool(
        _YEAR.search(start) and _PLACE.search(start)
    )
