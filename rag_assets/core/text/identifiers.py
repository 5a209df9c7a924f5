"""DOIs, arXiv ids and PubMed ids in one form each, so that two of them can be compared.

idutils is imported late: it compiles large patterns for .3 s, which a question need not wait for.
"""

import re

_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}|\\^`\[\]]{1,200}", re.IGNORECASE)
_AFTER_DOI = re.compile(r"(?:[.,;:'’”]|\.[a-z]\d{3}|,?\s*(?:Impact|ISSN).*)+$", re.IGNORECASE)
_ARXIV = re.compile(
    r"\barxiv:\s?(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.IGNORECASE
)
_VERSION = re.compile(r"v\d+$")
_MAX_CHARS = 300


def normal_doi(text: str | None) -> str | None:
    """In lower case, without a resolver; None for what is no DOI."""
    import idutils

    text = (text or "").strip()[:_MAX_CHARS]
    return str(idutils.normalize_doi(text)).lower() if idutils.is_doi(text) else None


def normal_arxiv(text: str | None) -> str | None:
    """The id without prefix, version and class: "2206.01062"; None if the text is no arXiv id."""
    import idutils

    bare = re.sub(r"\s*\[[\w.-]+\]\s*$", "", (text or "").strip()[:_MAX_CHARS])
    if not idutils.is_arxiv(bare):
        return None
    found = str(idutils.normalize_arxiv(bare)).split(":", 1)[1]
    return _VERSION.sub("", found.split(" ")[0])


def normal_pmid(text: str | None) -> str | None:
    import idutils

    text = (text or "").strip()[:_MAX_CHARS]
    return str(idutils.normalize_pmid(text)) if idutils.is_pmid(text) else None


def dois_in(text: str) -> list[str]:
    """Each once, in order; one that is the beginning of another was cut at the end of a line."""
    found = (_AFTER_DOI.sub("", match[0]).rstrip(").,;").lower() for match in _DOI.finditer(text))
    dois = list(dict.fromkeys(filter(_DOI.fullmatch, found)))
    return [
        doi for doi in dois if not any(other != doi and other.startswith(doi) for other in dois)
    ]


def without_dois(text: str) -> str:
    """With a blank in the place of each: DOIs may hold years."""
    return _DOI.sub(" ", text)


def arxiv_ids_in(text: str) -> list[str]:
    """Each once, in order, without version."""
    return list(dict.fromkeys(match[1] for match in _ARXIV.finditer(text)))
