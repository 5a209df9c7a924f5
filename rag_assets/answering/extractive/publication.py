"""Answers who wrote a paper, and where and when it appeared, from its title page.

The title page of a TEI file is a section of lines, "Authors: A. Lund; B. Moe". Other formats keep the authors as a line
of names above the abstract. The line is published as it stands. Nothing else is an answer: a sentence with the words of
the title does not say who wrote it.
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from rag_assets.answering.drafts import DraftCitation, DraftClaim
from rag_assets.answering.extractive.words import terms_of
from rag_assets.domain import TITLE_PAGE_HEADING, Context

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
_AUTHORS, _TITLE = "Authors", "Title"
_ABOUT_PUBLISHING = terms_of(
    "wrote write written author authors authored coauthored published publish publication appear appeared journal "
    "article study title year date doi institution university affiliation affiliated first last lead"
)
"""Words that tell no paper from another."""
_NAMED_FROM = 0.5
"""Share of the other words of the question that a paper's title must have."""
_BESIDE_BEST = 0.9
_NAME = r"[A-Z][\w.’'-]*(?: (?:[A-Z][\w.’'-]*|de|van|von|der|den|la|di|da|dos|el|al)){1,4}"
_SEPARATOR = r"(?:\s*(?:,|;|&|\band\b)\s*)+"
_NAMES = re.compile(rf"{_NAME}(?:{_SEPARATOR}{_NAME}){{1,40}}[\s,.]*")
_BESIDE_NAMES = re.compile(
    r"\[[\d -]+\]|\b[A-Z]\w{0,3}\.?(?:[A-Z]\.){1,3}(?=[\s,;]|$)|\b(?:MD|PhD|MSc|BSc|MB|ChB|Jr)\b\.?|[\d*†‡§¹²³⁴⁵]+"
)
"""Identifiers, degrees and marks of footnotes."""
_MAX_LINE_CHARS, _FIRST_LINES = 2000, 6


@dataclass(frozen=True)
class _TitlePage:
    """What a context says about the publication of its paper."""

    context: Context
    line: str
    """The line that answers."""
    named: frozenset[str]
    """Words that name the paper."""


def asks_for_authors(question: str) -> bool:
    return _WRITTEN_BY.search(question) is not None


def publication_claims(question: str, contexts: Sequence[Context]) -> list[DraftClaim]:
    """The lines of title pages that answer, best first; none where no title page found names the paper."""
    label = next((label for asked, label in _ASKED if asked.search(question)), _AUTHORS)
    wanted = terms_of(question) - _ABOUT_PUBLISHING
    pages = [
        page for context in contexts if not context.is_generated for page in _title_pages(context, label, contexts)
    ]
    shares = [_share(wanted, page.named) for page in pages]
    best = max(shares, default=0.0)
    chosen = [
        (share, page)
        for share, page in zip(shares, pages, strict=True)
        if share >= max(_NAMED_FROM, _BESIDE_BEST * best)
    ]
    claims = {
        (page.context.paper_id, page.line): DraftClaim(
            page.line, (DraftCitation(page.context.chunk_id, page.line),), relevance=round(share, 4)
        )
        for share, page in sorted(chosen, key=lambda one: -one[0])
    }
    return list(claims.values())


def _share(wanted: Set[str], named: Set[str]) -> float:
    """Share of the wanted words that name a paper; 1 where the question names no paper."""
    return len(wanted & named) / len(wanted) if wanted else 1.0


def _title_pages(context: Context, label: str, contexts: Sequence[Context]) -> Iterator[_TitlePage]:
    lines = [line for line in context.text.split("\n") if len(line) <= _MAX_LINE_CHARS]
    of_file = context.paper_id.replace("_", " ")
    if context.section_title == TITLE_PAGE_HEADING:
        title = next((line for line in lines if line.startswith(f"{_TITLE}: ")), "")
        found = next((line for line in lines if line.startswith(f"{label}: ")), None)
        if found is not None:
            yield _TitlePage(context, found, terms_of(f"{title} {of_file}"))
    elif label == _AUTHORS and not context.section_title and context.page_start in (1, None):
        found = next((line for line in lines[:_FIRST_LINES] if _is_names(line)), None)
        if found is not None:
            own = " ".join(one.text for one in contexts if one.paper_id == context.paper_id)
            yield _TitlePage(context, found, terms_of(f"{of_file} {own}"))


def _is_names(line: str) -> bool:
    """Whether a line is a list of persons: names and what stands beside them, no sentence."""
    bare = " ".join(_BESIDE_NAMES.sub(" ", line.title() if line.isupper() else line).split())
    return _NAMES.fullmatch(re.sub(r"(?:\s*,)+", ",", bare).strip(" ,")) is not None
