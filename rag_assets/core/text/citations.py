"""How a running text cites a paper: "Lund & Moe (2019)"."""

from collections import defaultdict
from collections.abc import Mapping
from string import ascii_lowercase

from rag_assets.core.domain import Person, Record


def cited_names(records: Mapping[str, Record]) -> dict[str, str]:
    """Each paper as a text cites it, by id: by its authors and year, "Lund et al. (2019)".

    Papers that would be cited alike get a letter in the order of their ids, "Lund (2019a)"; one whose authors are not
    known is cited by its id.
    """
    alike: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for paper_id in sorted(records):
        record = records[paper_id]
        if record.authors:
            alike[_authors(record.authors), str(record.year or "n.d.")].append(paper_id)
    named = {paper_id: paper_id for paper_id in records}
    for (authors, year), papers in alike.items():
        for nth, paper_id in enumerate(papers):
            named[paper_id] = f"{authors} ({year}{letters(nth) if len(papers) > 1 else ''})"
    return named


def _authors(authors: tuple[Person, ...]) -> str:
    if len(authors) == 2:
        return f"{authors[0].family} & {authors[1].family}"
    return authors[0].family if len(authors) == 1 else f"{authors[0].family} et al."


def letters(nth: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    more, last = divmod(nth, len(ascii_lowercase))
    return (letters(more - 1) if more else "") + ascii_lowercase[last]
