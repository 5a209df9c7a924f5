"""Answers who wrote a paper, and where and when it appeared, from its title page.

The title page of a TEI file is a section of lines, "Authors: A. Lund; B. Moe". Other formats keep the authors as lines
of names on the first page, or in a citation of the paper itself. What says it is published as it stands; nothing else
is an answer: a sentence with the words of the title does not say who wrote it.

Which paper is meant is told by the words of its title or, since questions say it in other words, by its meaning: what
was found of it must hold something like each word that describes the paper, clearly more than any other paper does.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from rag_assets.answering.drafts import DraftCitation, DraftClaim, TokenReader
from rag_assets.answering.extractive.relevance import nearness_of
from rag_assets.answering.extractive.words import terms_of, words_of
from rag_assets.domain import TITLE_PAGE_HEADING, Context
from rag_assets.text.person_names import lists_names

_ASKED = (
    (re.compile(r"\b(?:which|what|whose) journals?\b|\bpublished in\b", re.IGNORECASE), "Published in"),
    (re.compile(r"\bwhen\b|\bpublication (?:date|year)\b|\bwhat year\b", re.IGNORECASE), "Publication date"),
    (re.compile(r"\binstitutions?\b|\buniversit|\baffiliat", re.IGNORECASE), "Affiliations"),
    (re.compile(r"\bdoi\b", re.IGNORECASE), "DOI"),
    (re.compile(r"\bwho\b|\bauthor|\bwritten by\b", re.IGNORECASE), "Authors"),
)
"""What a question asks for, and the label of the line that says it; the first that fits."""
_WRITTEN_BY = re.compile(
    r"\bwho (?:wrote|authored|co-?authored)\b|\bwritten by\b|\bauthors? of (?:the|this)\b|\b(?:is|are) the authors?\b",
    re.IGNORECASE,
)
_MADE_BY = re.compile(r"\bwho (?:developed|created|built|designed|introduced|proposed|invented)\b", re.IGNORECASE)
"""Answered by the authors of the paper whose title names the thing; else by what papers say of it."""
_AUTHORS, _TITLE = "Authors", "Title"
_ABOUT_PUBLISHING = terms_of(
    "wrote write written developed created built designed introduced proposed invented author authors authored "
    "coauthored published publish publication appear appeared journal article study title year date doi institution "
    "university affiliation affiliated first last lead"
)
"""Words that tell no paper from another."""
_NAMED_FROM = 0.6
"""Share of the other words of the question that a paper's title must have."""
_BESIDE_BEST = 0.9
_MEANT_FROM, _MEANT_BEFORE = 0.5, 0.04
"""Nearness from which a paper is meant, and by how much it must pass the next one. 110 papers of one journal, described
by half of the words of a sentence of their abstract: the right paper for .83 of them, a wrong one for none; with the
right one left out, another for .16."""
_FIRST_LINES = 12
_LABELLED = {
    _AUTHORS: re.compile(r"authors?: ", re.IGNORECASE),
    "Publication date": re.compile(r"(?:.{0,200} )?(?:publication )?date: .*\d{4}", re.IGNORECASE),
    "DOI": re.compile(r"doi: |https?://(?:dx\.)?doi\.org/", re.IGNORECASE),
}
"""Lines of first pages that say it, in formats without a header."""
_CITES_ITSELF = re.compile(r"(?P<names>.{5,400}?)[.,]? \(?(?:19|20)\d\d\)?[.,:] ")


@dataclass(frozen=True)
class _TitlePage:
    """What a context says about the publication of its paper."""

    context: Context
    lines: tuple[str, ...]
    """The lines that answer."""
    title: frozenset[str]
    """Words of the paper's title, where it has one, and of its file's name."""
    named: frozenset[str]
    """Those, and words that stand in the paper where it has no title page."""


def asks_for_authors(question: str) -> bool:
    return _WRITTEN_BY.search(question) is not None


def publication_claims(question: str, contexts: Sequence[Context], reader: TokenReader) -> list[DraftClaim]:
    """The lines of title pages that answer, best first; none where no title page is of the paper that is meant."""
    label = next((label for asked, label in _ASKED if asked.search(question)), _AUTHORS)
    wanted = terms_of(question) - _ABOUT_PUBLISHING
    own = [context for context in contexts if not context.is_generated]
    pages = [page for context in own for page in _title_pages(context, label, own)]
    shares = [_share(wanted, page.named) for page in pages]
    best = max(shares, default=0.0)
    if _MADE_BY.search(question):
        shares = [float(share == 1 and wanted <= page.title) for share, page in zip(shares, pages, strict=True)]
    elif best < _NAMED_FROM:
        meant, best = _meant_paper(question, own, reader)
        shares = [best if page.context.paper_id == meant else 0.0 for page in pages]
    chosen = [
        (share, page) for share, page in zip(shares, pages, strict=True) if share and share >= _BESIDE_BEST * best
    ]
    claims = {
        (page.context.paper_id, line): DraftClaim(
            line, (DraftCitation(page.context.chunk_id, line),), relevance=round(share, 4)
        )
        for share, page in sorted(chosen, key=lambda one: -one[0])
        for line in page.lines
    }
    return list(claims.values())


def _share(wanted: Set[str], named: Set[str]) -> float:
    """Share of the wanted words that name a paper; 1 where the question names no paper."""
    return len(wanted & named) / len(wanted) if wanted else 1.0


def _meant_paper(question: str, contexts: Sequence[Context], reader: TokenReader) -> tuple[str | None, float]:
    """The paper that comes nearest to what the question says of it, and how near; None where that is not clear."""
    described = " ".join(word for word in words_of(question) if terms_of(word) - _ABOUT_PUBLISHING)
    texts: dict[str, list[str]] = {}
    for context in contexts:
        texts.setdefault(context.paper_id, []).extend([one.text for one in context.passages] or [context.text])
    if not described:
        return None, 0.0
    (asked,) = reader.of_texts([described])
    near: Mapping[str, float] = {
        paper: max(nearness_of(asked.vectors, [one.vectors for one in reader.of_texts(own)]).tolist(), default=0.0)
        for paper, own in texts.items()
    }
    first, *others = sorted(near, key=lambda paper: -near[paper])
    is_clear = near[first] >= _MEANT_FROM and all(near[first] - near[other] >= _MEANT_BEFORE for other in others[:1])
    return (first, near[first]) if is_clear else (None, 0.0)


def _title_pages(context: Context, label: str, contexts: Sequence[Context]) -> Iterator[_TitlePage]:
    of_file = context.paper_id.replace("_", " ")
    lines = context.text.split("\n")
    if context.section_title == TITLE_PAGE_HEADING:
        title = next((line for line in lines if line.startswith(f"{_TITLE}: ")), "")
        found = [line for line in lines if line.startswith(f"{label}: ")][:1]
        title_terms = named = terms_of(f"{title} {of_file}")
    else:
        found = [line for line in lines[:_FIRST_LINES] if _says(line, label)] if _is_first(context, contexts) else []
        title_terms = terms_of(of_file)
        named = title_terms.union(*(terms_of(one.text) for one in contexts if one.paper_id == context.paper_id))
    if found:
        yield _TitlePage(context, tuple(found), title_terms, named)


def _is_first(context: Context, contexts: Sequence[Context]) -> bool:
    """Whether a context may be of a first page: on page 1, or without page and section, and without a header."""
    has_header = any(one.section_title == TITLE_PAGE_HEADING for one in contexts if one.paper_id == context.paper_id)
    return not has_header and (context.page_start == 1 or (context.page_start is None and not context.section_title))


def _says(line: str, label: str) -> bool:
    labelled = _LABELLED.get(label)
    if labelled is not None and labelled.match(line):
        return True
    cited = _CITES_ITSELF.match(line) if label == _AUTHORS else None
    return label == _AUTHORS and (lists_names(line) or (cited is not None and lists_names(cited["names"])))
