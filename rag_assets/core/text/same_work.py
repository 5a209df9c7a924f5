"""Finds papers that are the same work: a preprint and its published version, or two files of one
paper."""

from collections.abc import Iterator, Mapping

from rapidfuzz.fuzz import token_set_ratio

from rag_assets.core.domain import Record
from rag_assets.core.text.folding import letters_of, title_key

_MOST_COMPARED = 20
"""Papers of one title that a further one is compared with; a title of more, "Supplementary
information", names no work and would cost time by the square of their number."""
_ALIKE = 85.0
"""Likeness of two abstracts from which they are versions of one text, 0 to 100."""
_OPENING = 60
"""Letters at the start of an abstract that its versions share, where the title was changed."""


def same_works(records: Mapping[str, Record]) -> dict[str, str]:
    """The papers that are the same work as an earlier one, by id, with the first of them by id.

    Same are papers with one DOI or one arXiv id; papers of one title with one first author or like
    abstracts; and papers of one first author whose abstracts are alike and open with the same
    words.
    """
    first: dict[tuple[str, str], list[str]] = {}
    found: dict[str, str] = {}
    for paper_id in sorted(records):
        keys = list(_keys(records[paper_id]))
        earlier = (
            one
            for key in keys
            for one in first.get(key, ())[:_MOST_COMPARED]
            if key[0] in ("doi", "arxiv") or _are_versions(records[one], records[paper_id], key[0])
        )
        if one := next(earlier, None):
            found[paper_id] = found.get(one, one)
        for key in keys:
            first.setdefault(key, []).append(paper_id)
    return found


def _keys(record: Record) -> Iterator[tuple[str, str]]:
    if record.doi:
        yield "doi", record.doi
    if record.arxiv:
        yield "arxiv", record.arxiv
    if title := title_key(record.title):
        yield "title", title
    if len(opening := letters_of(record.abstract or "")[:_OPENING]) == _OPENING:
        yield "text", opening


def _are_versions(one: Record, other: Record, shared: str) -> bool:
    """shared: "title" or "text", what both have."""
    is_like = bool(one.abstract and other.abstract) and (
        token_set_ratio(one.abstract or "", other.abstract or "") >= _ALIKE
    )
    is_by_one = bool(one.authors and other.authors) and _may_be_one(
        one.authors[0].family, other.authors[0].family
    )
    return is_like or is_by_one if shared == "title" else is_like and is_by_one


def _may_be_one(family: str, other: str) -> bool:
    """Whether two family names may be one: "Anthony" is how one reader cuts "Wolff Anthony"."""
    shorter, longer = sorted((letters_of(family), letters_of(other)), key=len)
    return bool(shorter) and longer.endswith(shorter)
