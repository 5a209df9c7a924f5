"""Identifies works and cites them: DOIs, arXiv ids and PubMed ids in one form each; papers that are
the same work (a preprint and its published version, two files of one paper); papers that state that
they were retracted; entries of reference lists; and citations as papers write them, "Lund & Moe
(2019)".

A retracted paper has a label before or after the title, a stamp, or a notice at its beginning or
end. A paper about retractions of others uses the same words, mostly in the plural; in such a paper
only a label or a stamp in capitals counts.

Entries of reference lists are known by their form: authors with initials, a year, and a place of
publication. So lists are found that have no heading, or one in another language; their titles must
not be quoted as findings of the paper. idutils is imported late, because it compiles large
patterns for .3 s, for which neither a question nor a paper without identifiers should wait.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from string import ascii_lowercase
from textwrap import shorten

from rapidfuzz.fuzz import token_set_ratio

from rag_assets.core.domain import Person, Record
from rag_assets.core.text.folding import letters_of, title_key
from rag_assets.core.text.headings import unspaced

_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}|\\^`\[\]]{1,200}", re.IGNORECASE)
_AFTER_DOI = re.compile(r"(?:[.,;:'’”]|,.*|\.[a-z]0\d\d|(?<=\d{4})[a-z]{2,}\D*)+$", re.IGNORECASE)
"""Punctuation, the number of a figure (".g001"), and a word or address that lost the blank before
it: "10.1234/2019017iron.winter.org"."""
_ARXIV = re.compile(
    r"\barxiv:\s?(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.IGNORECASE
)
_ARXIV_DIGITS = re.compile(r"\d{4}\.\d{4}|/\d{7}")
"""Each arXiv id contains one of these (arXiv's "Understanding the arXiv identifier")."""
_VERSION = re.compile(r"v\d+$")
_MAX_CHARS = 300


def normal_doi(text: str | None) -> str | None:
    """A DOI in lower case, without the address of a resolver; None if the text is no DOI."""
    if not (text := (text or "").strip()[:_MAX_CHARS]):
        return None
    import idutils

    return _AFTER_DOI.sub("", idutils.normalize_doi(text)).lower() if idutils.is_doi(text) else None


def normal_arxiv(text: str | None) -> str | None:
    """An arXiv id without prefix, version and class: "2206.01062"; None if the text is no arXiv
    id."""
    bare = re.sub(r"(?:(?<!\s)\s+)?\[[\w.-]+\]\s*$", "", (text or "").strip()[:_MAX_CHARS])
    if not _ARXIV_DIGITS.search(bare):
        return None
    import idutils

    if not idutils.is_arxiv(bare):
        return None
    identifier = str(idutils.normalize_arxiv(bare)).split(":", 1)[1]
    return _VERSION.sub("", identifier.split(" ")[0])


def normal_pmid(text: str | None) -> str | None:
    """A PubMed id as a number in text; None if the text is no PubMed id."""
    if not (text := (text or "").strip()[:_MAX_CHARS]):
        return None
    import idutils

    return str(idutils.normalize_pmid(text)) if idutils.is_pmid(text) else None


def dois_in(text: str) -> list[str]:
    """The DOIs in a text, each once, in order. A DOI that is the beginning of another is left out,
    because it was cut at a line end."""
    matches = (_AFTER_DOI.sub("", match[0]).rstrip(").,;").lower() for match in _DOI.finditer(text))
    dois = list(dict.fromkeys(filter(_DOI.fullmatch, matches)))
    cut = {doi for doi, after in pairwise(sorted(dois)) if after.startswith(doi)}
    return [doi for doi in dois if doi not in cut]


def without_dois(text: str) -> str:
    """The text with a blank in place of each DOI, because a DOI may contain a year."""
    return _DOI.sub(" ", text)


def arxiv_ids_in(text: str) -> list[str]:
    """The arXiv ids in a text, each once, in order, without versions."""
    return list(dict.fromkeys(match[1] for match in _ARXIV.finditer(text)))


_MOST_COMPARED = 20
"""A paper is compared with at most this many papers of the same title. A title of more papers,
"Supplementary information", names no work, and would take quadratic time."""
_ALIKE = 85.0
"""Two abstracts with at least this similarity (0 to 100) are versions of one text."""
_OPENING_LETTERS = 60
"""Number of letters at the start of an abstract by which versions with different titles are
found."""


def same_works(records: Mapping[str, Record]) -> dict[str, str]:
    """Id of a paper that is the same work as another one -> id of the first paper of that work, in
    the order of ids. The first paper itself and single papers are not in the result.

    Papers are the same work if they have the same DOI or arXiv id; the same title, and the same
    first author or similar abstracts; the same first author and similar abstracts that begin with
    the same words; or the same text, as copies of a file have, and no other title or DOI.
    """
    papers_with: dict[tuple[str, str], list[str]] = {}
    """Kind and value of a key -> papers that have it."""
    first_versions: dict[str, str] = {}
    for paper_id in sorted(records):
        keys = list(_keys(records[paper_id]))
        earlier_versions = (
            candidate
            for kind, value in keys
            for candidate in papers_with.get((kind, value), ())[:_MOST_COMPARED]
            if kind in ("doi", "arxiv")
            or _are_versions(records[candidate], records[paper_id], kind)
        )
        if earlier := next(earlier_versions, None):
            first_versions[paper_id] = first_versions.get(earlier, earlier)
        for key in keys:
            papers_with.setdefault(key, []).append(paper_id)
    return first_versions


def _keys(record: Record) -> Iterator[tuple[str, str]]:
    """Kind and value of the keys of a paper. Papers that share none of them are not compared."""
    if record.doi:
        yield "doi", record.doi
    if record.arxiv:
        yield "arxiv", record.arxiv
    if title := title_key(record.title):
        yield "title", title
    opening = letters_of(record.abstract or "")[:_OPENING_LETTERS]
    if len(opening) == _OPENING_LETTERS:
        yield "text", opening
    if record.text_hash:
        yield "copy", record.text_hash


def _are_versions(record: Record, other: Record, shared: str) -> bool:
    """Whether two papers with the same title (shared: "title"), with abstracts that begin alike
    ("text") or with the same text ("copy") are versions of one work."""
    if shared == "copy":
        titles = title_key(record.title), title_key(other.title)
        stated = ((record.doi, other.doi), titles)
        return all(one == another or not (one and another) for one, another in stated)
    has_similar_abstract = bool(record.abstract and other.abstract) and (
        token_set_ratio(record.abstract or "", other.abstract or "") >= _ALIKE
    )
    has_same_author = bool(record.authors and other.authors) and _may_be_same_name(
        record.authors[0].family, other.authors[0].family
    )
    if shared == "title":
        return has_similar_abstract or has_same_author
    return has_similar_abstract and has_same_author


def _may_be_same_name(family: str, other: str) -> bool:
    """Whether two family names may be the same: of "Wolff Anthony" one program takes "Anthony",
    another all of it."""
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
"""A label before a title: "RETRACTED: ", "[Retracted] ", "Retraction: ", "RETRACTED ARTICLE "."""
_LABEL_AFTER = re.compile(
    rf"[(\[–—|-]\s*retracted(?:\s+{_KIND})?(?:[.:,;][^()\[\]]{{0,80}})?[)\]]?\W*$", re.IGNORECASE
)
_DONE = r"(?:has|was|is)\s+(?:now\s+)?(?:been\s+|being\s+)?(?:\w+ly\s+)?retracted\b"
_NOTICE = re.compile(
    rf"^[^\w\n]*+(?:(?:{_NOUN}|notice|note|warning)\W+)?(?:"
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
    """Whether a text consists of a stamp: "RETRACTED", "Retracted article"."""
    return _STAMP.fullmatch(unspaced(text)) is not None


def is_about_retractions(texts: Iterable[str]) -> bool:
    """Whether a paper is about retractions of other papers. texts: its text in parts."""
    return sum(len(_OF_OTHERS.findall(text)) for text in texts) >= _MANY


def is_label_of(title: str, *, in_capitals: bool = False) -> bool:
    """Whether a title begins or ends with the label of a retracted paper. in_capitals: only
    "RETRACTED" counts, not "Retracted"."""
    label = _LABEL.match(title) or _LABEL_AFTER.search(title)
    return label is not None and (not in_capitals or "RETRACTED" in label[0])


def opens_with_label(text: str) -> bool:
    """Whether a text begins with the label of a retracted paper: "Retraction: the figures of this
    paper were made up."."""
    return _LABEL.match(text) is not None


def is_notice(text: str) -> bool:
    """Whether a line of the text begins with a statement that this paper was retracted."""
    return _NOTICE.search(text) is not None


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
_MOST_CHARS_READ = 600


def looks_like_reference(text: str) -> bool:
    """Whether a text looks like an entry of a reference list, or several of them: it begins with an
    author, and has a year and a place of publication."""
    start = text[:_MOST_CHARS_READ]
    if _AUTHORS_FIRST.match(start) is None:
        return False
    return bool(_YEAR_AFTER_AUTHORS.search(start)) or bool(
        _YEAR.search(start) and _PLACE.search(start)
    )
