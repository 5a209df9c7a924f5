"""Finds papers that are the same work: a preprint and its published version, or two files of one paper."""

from collections.abc import Iterator, Mapping

from rapidfuzz.fuzz import token_set_ratio

from rag_assets.core.domain import Record
from rag_assets.core.text.folding import letters_of, title_key

_MOST_COMPARED = 20
"""Papers of one title that a further one is compared with; a title of more, "Supplementary information", names no work
and would cost time by the square of their number."""
_ALIKE = 85.0
"""Likeness of two abstracts from which they are versions of one text, 0 to 100."""


def same_works(records: Mapping[str, Record]) -> dict[str, str]:
    """The papers that are the same work as an earlier one, by id, with the first of them by id.

    Same are papers with one DOI or one arXiv id; else papers of one title, unless their first authors or their
    abstracts differ.
    """
    first: dict[tuple[str, str], list[str]] = {}
    found: dict[str, str] = {}
    for paper_id in sorted(records):
        keys = list(_keys(records[paper_id]))
        earlier = (
            one
            for key in keys
            for one in first.get(key, ())[:_MOST_COMPARED]
            if key[0] != "title" or _are_versions(records[one], records[paper_id])
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


def _are_versions(one: Record, other: Record) -> bool:
    if one.authors and other.authors:
        return letters_of(one.authors[0].family) == letters_of(other.authors[0].family)
    if one.abstract and other.abstract:
        return token_set_ratio(one.abstract, other.abstract) >= _ALIKE
    return False
