"""Answers who wrote a paper, and where and when it appeared, from its title page.

The title page of a TEI file is a section of lines, "Authors: A. Lund; B. Moe". Other formats keep the authors as lines
of names on the first page, with or without the place where each works, or in a citation of the paper itself. What says
it is published as it stands; nothing else is an answer: a sentence with the words of the title does not say who wrote
it.

Which paper is meant is told by the words of its title or, since questions say it in other words, by its meaning: what
was found of it must hold something like each word that describes the paper, clearly more than any other paper does.
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import takewhile

from rag_assets.answering.citations.quote_search import is_long_enough
from rag_assets.answering.drafts import DraftCitation, DraftClaim, TokenReader
from rag_assets.answering.extractive.close_reading import texts_of
from rag_assets.answering.extractive.relevance import nearness_of
from rag_assets.domain import TITLE_PAGE_HEADING, Context
from rag_assets.text.person_names import (
    begins_with_a_name,
    lists_names,
    names_an_institution,
    names_only,
    ordinary_words,
)
from rag_assets.text.terms import terms_of, words_of

_AUTHORS, _PLACES, _TITLE, _DATE = "Authors", "Affiliations", "Title", "Publication date"
_ASKED = (
    (re.compile(r"\b(?:which|what|whose) journals?\b|\bpublished in\b", re.IGNORECASE), "Published in"),
    (re.compile(r"\bwhen\b|\bpublication (?:date|year)\b|\bwhat (?:year|date)\b", re.IGNORECASE), _DATE),
    (
        re.compile(
            r"\b(?:which|what|whose) (?:institutions?|universit)|\baffiliat|\bwhere do(?:es)?\b.*\bwork", re.IGNORECASE
        ),
        _PLACES,
    ),
    (re.compile(r"\bdoi\b", re.IGNORECASE), "DOI"),
    (re.compile(r"\bwho\b|\bauthor|\bwritten by\b", re.IGNORECASE), _AUTHORS),
)
"""What a question asks for, and the label of the line that says it; the first that fits."""
_WRITTEN_BY = re.compile(
    r"\bwho (?:wrote|authored|co-?authored)\b|\bwritten by\b|\bauthors? of (?:the|this)\b|\b(?:is|are) the authors?\b"
    r"|\bwho (?:carried out|conducted|did|ran|performed|led|undertook)\b"
    r"|\bpeople behind\b|\b(?:is|are|were|was) behind\b",
    re.IGNORECASE,
)
_MADE_BY = re.compile(r"\bwho (?:developed|created|built|designed|introduced|proposed|invented)\b", re.IGNORECASE)
"""Answered by the authors of the paper whose title names the thing; else by what papers say of it."""
_ABOUT_PUBLISHING = terms_of(
    "wrote write written developed created built designed introduced proposed invented author authors authored "
    "coauthored published publish publication appear appeared journal article study title year date doi institution "
    "university affiliation affiliated first last lead carried conducted did ran performed led undertook behind people "
    "research researchers team work works based names came out"
)
"""Words that tell no paper from another."""
_NAMED_FROM = 0.6
"""Share of the other words of the question that a paper's title must have."""
_BESIDE_BEST = 0.9
_MEANT_FROM, _MEANT_BEFORE = 0.5, 0.04
"""Nearness from which a paper is meant, and by how much it must pass the next one. 110 papers of one journal, described
by half of the words of a sentence of their abstract: the right paper for .83 of them, a wrong one for none; with the
right one left out, another for .16."""
_FIRST_LINES = 20
_ABSTRACT = re.compile(r"\W*(?:abstract|summary|introduction)\b", re.IGNORECASE)
_LABELLED = {
    _AUTHORS: re.compile(r"author(?:s|\(s\))?\s*[:|] ", re.IGNORECASE),
    _PLACES: re.compile(r"\W*(?:present|current|affiliations?)\s*(?:address)?\s*[:|] ", re.IGNORECASE),
    _DATE: re.compile(r"(?:.{0,200} )?(?:publication )?date: .*\d{4}", re.IGNORECASE),
    "DOI": re.compile(r"doi: |https?://(?:dx\.)?doi\.org/", re.IGNORECASE),
}
"""Lines of first pages that say it, in formats without a header."""
_DATE_BEHIND = re.compile(r"(?<=\S)\s\d{4}-\d\d-\d\d$")
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


def names_a_paper(question: str) -> bool:
    """Whether a question about publishing has words that tell which paper it means."""
    return bool(terms_of(question) - _ABOUT_PUBLISHING)


def asks_for_authors(question: str) -> bool:
    return _WRITTEN_BY.search(question) is not None


def publication_claims(asked: str, searched: str, contexts: Sequence[Context], reader: TokenReader) -> list[DraftClaim]:
    """The lines of title pages that answer, best first; none where no title page is of the paper that is meant.

    asked: a question or a part of one, "and when did it appear?". searched: the words that tell the paper.
    """
    label = next((label for wording, label in _ASKED if wording.search(asked)), _AUTHORS)
    wanted = terms_of(searched) - _ABOUT_PUBLISHING
    own = [context for context in contexts if not context.is_generated]
    pages = [page for context in own for page in _title_pages(context, label, own)]
    shares = [_share(wanted, page.named) for page in pages]
    best = max(shares, default=0.0)
    if _MADE_BY.search(asked):
        shares = [float(share == 1 and wanted <= page.title) for share, page in zip(shares, pages, strict=True)]
    elif best < _NAMED_FROM:
        meant, best = _meant_paper(searched, own, reader)
        shares = [best if page.context.paper_id == meant else 0.0 for page in pages]
    chosen = [
        (share, page) for share, page in zip(shares, pages, strict=True) if share and share >= _BESIDE_BEST * best
    ]
    claims = {
        (page.context.paper_id, line): DraftClaim(
            line, (DraftCitation(page.context.chunk_id, _quote(line, page.context.text)),), relevance=round(share, 4)
        )
        for share, page in sorted(chosen, key=lambda one: -one[0])
        for line in page.lines
    }
    return list(claims.values())


def _quote(line: str, text: str) -> str:
    """The line as its evidence; a short one, which would be found anywhere, with the line after it or before it."""
    if is_long_enough(line):
        return line
    around = [one for one in re.finditer(r"[^\n]+", text) if one[0].strip()]
    at = next((nth for nth, one in enumerate(around) if one[0] == line), None)
    if at is None or len(around) == 1:
        return line
    first, last = (at, at + 1) if at + 1 < len(around) else (at - 1, at)
    return text[around[first].start() : around[last].end()]


def _share(wanted: Set[str], named: Set[str]) -> float:
    """Share of the wanted words that name a paper; 1 where the question names no paper."""
    return len(wanted & named) / len(wanted) if wanted else 1.0


def _meant_paper(question: str, contexts: Sequence[Context], reader: TokenReader) -> tuple[str | None, float]:
    """The paper that comes nearest to what the question says of it, and how near; None where that is not clear."""
    described = " ".join(word for word in words_of(question) if terms_of(word) - _ABOUT_PUBLISHING)
    passages = list(dict.fromkeys(passage for context in contexts for passage in texts_of(context)))
    if not described or not passages:
        return None, 0.0
    (asked,) = reader.of_texts([described])
    near: dict[str, float] = {}
    for passage, nearness in zip(
        passages, nearness_of(asked.vectors, [one.vectors for one in reader.of(passages)]).tolist(), strict=True
    ):
        near[passage.paper_id] = max(nearness, near.get(passage.paper_id, 0.0))
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
        of_paper = [one.text for one in contexts if one.paper_id == context.paper_id]
        found = _front_lines(context, label, of_paper) if _is_first(context, contexts) else []
        title_terms = terms_of(of_file)
        named = title_terms.union(*(terms_of(text) for text in of_paper))
    if found:
        yield _TitlePage(context, tuple(found), title_terms, named)


def _is_first(context: Context, contexts: Sequence[Context]) -> bool:
    """Whether a context may be of a first page: on page 1, or without page and section, and without a header."""
    has_header = any(one.section_title == TITLE_PAGE_HEADING for one in contexts if one.paper_id == context.paper_id)
    return not has_header and (context.page_start == 1 or (context.page_start is None and not context.section_title))


def _front_lines(context: Context, label: str, texts: Sequence[str]) -> list[str]:
    """The lines of a first page that answer. texts: of the paper, whose ordinary words are no names."""
    ordinary = ordinary_words("\n".join(texts))
    lines = [line for line in context.text.split("\n") if line.strip()]
    front = list(takewhile(lambda line: _ABSTRACT.match(line) is None, lines[:_FIRST_LINES]))
    front = front or lines[:_FIRST_LINES]
    labelled = _LABELLED.get(label)
    found = [line for line in front if labelled and labelled.match(line)]
    if label == _DATE:
        return [line for line in front if line in found or (_DATE_BEHIND.search(line) and _says_names(line, ordinary))]
    if label == _AUTHORS:
        addressed = [line for line in front if "@" in line and begins_with_a_name(line, ordinary)]
        named = [line for line in front if _says_names(line, ordinary) or line in addressed]
        return found or named or [line for line in front if begins_with_a_name(line, ordinary)]
    if label == _PLACES:
        moved = [line for line in lines[_FIRST_LINES:] if labelled and labelled.match(line)]
        return [line for line in front if names_an_institution(line) or line in found] + moved
    return found


def _says_names(line: str, ordinary: Set[str]) -> bool:
    line = _DATE_BEHIND.sub("", line)
    cited = _CITES_ITSELF.match(line)
    if lists_names(line) or (cited is not None and lists_names(cited["names"])):
        return True
    return names_only(line, ordinary)
