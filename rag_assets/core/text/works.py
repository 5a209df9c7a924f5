"""Identifies works: DOIs, arXiv ids and PubMed ids in one form each; papers that are the same work (a
preprint and its published version, two files of one paper); and papers that say of themselves that
they were retracted.

A retraction is a label beside the title, a stamp, or a notice at an end. A paper about retractions
uses the same words of others, mostly in the plural; there only a label or a stamp in capitals
counts. idutils is imported late: it compiles large patterns for .3 s, which neither a question nor a paper
without identifiers need wait for.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from rapidfuzz.fuzz import token_set_ratio

from rag_assets.core.domain import Record
from rag_assets.core.text.folding import letters_of, title_key
from rag_assets.core.text.headings import unspaced

_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}|\\^`\[\]]{1,200}", re.IGNORECASE)
_AFTER_DOI = re.compile(r"(?:[.,;:'’”]|\.[a-z]\d{3}|,?\s*(?:Impact|ISSN).*)+$", re.IGNORECASE)
_ARXIV = re.compile(
    r"\barxiv:\s?(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.IGNORECASE
)
_VERSION = re.compile(r"v\d+$")
_MAX_CHARS = 300


def normal_doi(text: str | None) -> str | None:
    """In lower case, without a resolver; None for what is no DOI."""
    if not (text := (text or "").strip()[:_MAX_CHARS]):
        return None
    import idutils

    return str(idutils.normalize_doi(text)).lower() if idutils.is_doi(text) else None


def normal_arxiv(text: str | None) -> str | None:
    """The id without prefix, version and class: "2206.01062"; None if the text is no arXiv id."""
    if not (bare := re.sub(r"\s*\[[\w.-]+\]\s*$", "", (text or "").strip()[:_MAX_CHARS])):
        return None
    import idutils

    if not idutils.is_arxiv(bare):
        return None
    identifier = str(idutils.normalize_arxiv(bare)).split(":", 1)[1]
    return _VERSION.sub("", identifier.split(" ")[0])


def normal_pmid(text: str | None) -> str | None:
    if not (text := (text or "").strip()[:_MAX_CHARS]):
        return None
    import idutils

    return str(idutils.normalize_pmid(text)) if idutils.is_pmid(text) else None


def dois_in(text: str) -> list[str]:
    """Each once, in order; one that is the beginning of another was cut at the end of a line."""
    written = (_AFTER_DOI.sub("", match[0]).rstrip(").,;").lower() for match in _DOI.finditer(text))
    dois = list(dict.fromkeys(filter(_DOI.fullmatch, written)))
    return [
        doi for doi in dois if not any(other != doi and other.startswith(doi) for other in dois)
    ]


def without_dois(text: str) -> str:
    """With a blank in the place of each: DOIs may hold years."""
    return _DOI.sub(" ", text)


def arxiv_ids_in(text: str) -> list[str]:
    """Each once, in order, without version."""
    return list(dict.fromkeys(match[1] for match in _ARXIV.finditer(text)))


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
    first_versions: dict[str, str] = {}
    for paper_id in sorted(records):
        keys = list(_keys(records[paper_id]))
        earlier = (
            candidate
            for key in keys
            for candidate in first.get(key, ())[:_MOST_COMPARED]
            if key[0] in ("doi", "arxiv")
            or _are_versions(records[candidate], records[paper_id], key[0])
        )
        if first_version := next(earlier, None):
            first_versions[paper_id] = first_versions.get(first_version, first_version)
        for key in keys:
            first.setdefault(key, []).append(paper_id)
    return first_versions


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


_KIND = r"(?:article|paper|publication|chapter|manuscript|preprint)"
_NOUN = r"retraction(?:\s+(?:note|notice|statement))?"
_STAMP = re.compile(rf"\W*(?:RETRACTED(?:\s+(?i:{_KIND}))?|Retracted\s+(?i:{_KIND}))\W*")
_LABEL = re.compile(
    rf"\W*(?:(?:retracted(?:\s+{_KIND})?|{_NOUN})(?:\s*[:\])|]|\s+[–—-]\s)\W*(?=(?-i:[A-Z0-9]))"
    rf"|(?-i:RETRACTED)(?:\s+{_KIND})?\s+(?=(?-i:[A-Z][a-z])))",
    re.IGNORECASE,
)
"""Before a title: "RETRACTED: ", "[Retracted] ", "Retraction: ", "RETRACTED ARTICLE "."""
_LABEL_BEHIND = re.compile(
    rf"[(\[–—|-]\s*retracted(?:\s+{_KIND})?(?:[.:,;][^()\[\]]{{0,80}})?[)\]]?\W*$", re.IGNORECASE
)
_DONE = r"(?:has|was|is)\s+(?:now\s+)?(?:been\s+|being\s+)?(?:\w+ly\s+)?retracted\b"
_NOTICE = re.compile(
    rf"^\W*(?:(?:{_NOUN}|notice|note|warning)\W+)?(?:"
    rf"(?:this|the\s+present)\s+(?:\w+\s+){{0,2}}?{_KIND}\s+{_DONE}"
    rf"|the\s+above\s+(?:\w+\s+){{0,2}}?{_KIND}\b.{{0,240}}?{_DONE}"
    rf"|[^.]{{0,80}}?\bretract(?:ed|ing)?\s+(?:this|the\s+above)\s+{_KIND}\b)",
    re.IGNORECASE | re.MULTILINE,
)
_OF_OTHERS = re.compile(
    rf"\bretractions\b|\bretracted\s+(?:\w+\s+){{0,2}}?(?:{_KIND}s|studies|works|trials|literature)\b",
    re.IGNORECASE,
)
_MANY = 3


def is_stamp(text: str) -> bool:
    """Whether a text is nothing but a stamp: "RETRACTED", "Retracted article"."""
    return _STAMP.fullmatch(unspaced(text)) is not None


def is_about_retractions(texts: Iterable[str]) -> bool:
    """Whether a paper speaks of retractions of others."""
    return sum(len(_OF_OTHERS.findall(text)) for text in texts) >= _MANY


def is_label_of(title: str, *, in_capitals: bool = False) -> bool:
    """Whether a title begins, or ends, with the label of a retracted paper. in_capitals: no other
    counts."""
    label = _LABEL.match(title) or _LABEL_BEHIND.search(title)
    return label is not None and (not in_capitals or "RETRACTED" in label[0])


def opens_with_label(text: str) -> bool:
    """Whether a text begins with such a label: "Retraction: the figures of this paper were made
    up."."""
    return _LABEL.match(text) is not None


def is_notice(text: str) -> bool:
    """Whether a line of a text begins by saying that the paper itself was retracted."""
    return _NOTICE.search(text) is not None
