"""Answers who wrote a paper, and where and when it appeared, from its title page.

The title page of a TEI file is a section of lines, "Authors: A. Lund; B. Moe". Other formats keep the authors as lines
of names on the first page, with or without the place where each works, or in a citation of the paper itself. What says
it is published as it stands; nothing else is an answer: a sentence with the words of the title does not say who wrote
it.

Which paper is meant is told by its name (`named_works`). Only a question that describes a paper, "the study of X", may
say it in other words: by some of those of the title, or by its meaning, if what was found of the paper holds something
like each word of the description, clearly more than any other paper does.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import takewhile

from rag_assets.answering.drafts import DraftCitation, DraftClaim, TokenReader
from rag_assets.answering.extractive.named_works import (
    calls_a_study,
    describes_a_paper,
    is_among,
    papers_named,
    telling,
    titles_of,
    works_compared,
    writers_asked_for,
)
from rag_assets.answering.extractive.relevance import nearness_of, texts_of
from rag_assets.answering.verify.names import missing_names
from rag_assets.answering.verify.quote_search import is_long_enough
from rag_assets.core.domain import TITLE_PAGE_HEADING, Context
from rag_assets.core.text.names import (
    begins_with_a_name,
    lists_names,
    names_an_institution,
    names_only,
    ordinary_words,
)
from rag_assets.core.text.terms import words_of
from rag_assets.questions.reading import STUDY

_AUTHORS, _PLACES, _TITLE, _DATE = "Authors", "Affiliations", "Title", "Publication date"
_ASKED = (
    (
        re.compile(
            r"\b(?:which|what|whose) journals?\b|\bpublished in\b|\bwhere (?:was|were|did)\b.*\b(?:publish|appear)",
            re.IGNORECASE,
        ),
        "Published in",
    ),
    (re.compile(r"\bwhen\b|\bpublication (?:date|year)\b|\b(?:which|what) (?:year|date)\b", re.IGNORECASE), _DATE),
    (
        re.compile(
            r"\b(?:which|what|whose) (?:institutions?|universit)|\baffiliat|\bwhere do(?:es)?\b.*\bwork", re.IGNORECASE
        ),
        _PLACES,
    ),
    (re.compile(r"\bdoi\b", re.IGNORECASE), "DOI"),
    (re.compile(r"\bwho\b|\bauthor|\bwritten by\b", re.IGNORECASE), _AUTHORS),
)
"""Wordings of a question, and the label of the line that answers it; the first match counts."""
_OF_A_WORK = re.compile(
    r"\bwho (?:wrote|authored|co-?authored|published)\b|\b(?:written|authored) by\b|\bauthors? of\b"
    r"|\b(?:is|are) the authors?\b|\bwho (?:carried out|conducted|did|ran|performed|led|undertook)\b"
    r"|\bpeople behind\b|\b(?:is|are|were|was) behind\b|\b(?:write|written)\W*$"
    r"|\b(?:when|where|in (?:which|what) (?:journal|year)) (?:was|were|did|has)\b.*\b(?:published?|come out)\b"
    r"|\bin (?:which|what) journal (?:did|has)\b.*\bappear(?:ed)?\b"
    rf"|\b(?:when|where) did (?:the [\w'’ -]{{0,40}}{STUDY}\b|[\"“«]).*\bappear\b"
    r"|\bpublication (?:date|year)\b|\bdoi\b",
    re.IGNORECASE,
)
_MADE_BY = re.compile(r"\bwho (?:developed|created|built|designed|introduced|proposed|invented)\b", re.IGNORECASE)
"""Answered by the authors of the paper whose title names the thing; else by what papers say of it."""
_NAMED_FROM = 0.6
"""Share of the telling words of a description that a paper's title must have."""
_BESIDE_BEST = 0.9
_MEANT_FROM, _MEANT_BEFORE = 0.5, 0.04
"""Nearness from which a paper is meant, and by how much it must pass the next one. 64 papers of two collections, each
described by half of the words of a sentence of its abstract: the right paper for .52, a wrong one for none; with the
right one left out, another for .08. Without a word of the title .77 and .02, and .23."""
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
    """The lines of a context about the publication of its paper."""

    context: Context
    lines: tuple[str, ...]
    """The lines that answer."""
    authors: str
    """The lines that name them."""
    titles: frozenset[str]
    """Telling words of what the paper is called."""

    @property
    def paper_id(self) -> str:
        return self.context.paper_id

    @property
    def record(self) -> Context:
        """The paper's title page, without its text."""
        text = self.context.text if self.context.section_title == TITLE_PAGE_HEADING else self.authors
        return replace(self.context, text=f"{text} {self.context.paper.title}")


def names_a_paper(question: str) -> bool:
    """Whether a question about publishing has words that tell which paper it means."""
    return bool(telling(question))


def asks_about_a_work(question: str) -> bool:
    """Whether a question asks who wrote a paper, or where and when it was published: no sentence answers it."""
    return _OF_A_WORK.search(question) is not None


def publication_claims(asked: str, searched: str, contexts: Sequence[Context], reader: TokenReader) -> list[DraftClaim]:
    """The lines of title pages that answer, best first; none where no title page is of the paper that is meant.

    asked: a question or a part of one, "and when did it appear?". searched: the words that tell the paper.
    """
    label = next((label for wording, label in _ASKED if wording.search(asked)), _AUTHORS)
    own = [context for context in contexts if not context.is_generated]
    labels = (_TITLE, label) if writers_asked_for(asked) else (label,)
    pages = [page for context in own for page in _title_pages(context, labels, own)]
    meant = _meant_papers(asked if names_a_paper(asked) else searched, pages, own, reader)
    claims = {
        (page.paper_id, line): DraftClaim(
            line, (DraftCitation(page.context.chunk_id, _quote(line, page.context.text)),), relevance=round(share, 4)
        )
        for paper_id, share in sorted(meant.items(), key=lambda one: -one[1])
        for page in pages
        if page.paper_id == paper_id
        for line in page.lines
    }
    return list(claims.values())


def _meant_papers(
    asked: str, pages: Sequence[_TitlePage], contexts: Sequence[Context], reader: TokenReader
) -> Mapping[str, float]:
    """How surely each paper is meant, up to 1: those that bear the name in the question, else that fit it."""
    if not names_a_paper(asked):
        return {page.paper_id: 1.0 for page in pages}
    if writers := writers_asked_for(asked):
        return {page.paper_id: 1.0 for page in pages if all(is_among(one, page.authors) for one in writers)}
    is_made = _MADE_BY.search(asked) is not None
    if named := papers_named(asked, contexts, in_full=is_made):
        return dict.fromkeys(sorted(named), 1.0)
    if compared := works_compared(asked, contexts):
        return dict.fromkeys(sorted(compared), 1.0)
    if is_made or not (describes_a_paper(asked) or calls_a_study(asked)):
        return {}
    return _described_papers(asked, pages, contexts, reader)


def _described_papers(
    asked: str, pages: Sequence[_TitlePage], contexts: Sequence[Context], reader: TokenReader
) -> Mapping[str, float]:
    """Papers whose titles have most of its words; else the nearest one. Names in it must be on the title page."""
    fitting = [page for page in pages if not any(one.is_decisive for one in missing_names(asked, [page.record]))]
    wanted = frozenset(telling(asked))
    shares = {page.paper_id: len(wanted & page.titles) / len(wanted) for page in fitting}
    best, is_described = max(shares.values(), default=0.0), describes_a_paper(asked)
    if best >= (_NAMED_FROM if is_described else 1.0):
        return {paper: share for paper, share in shares.items() if share >= _BESIDE_BEST * best}
    paper, nearness = _nearest_paper(asked, contexts, reader) if is_described and best else (None, 0.0)
    return {paper: nearness} if paper is not None and shares.get(paper) else {}


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


def _nearest_paper(question: str, contexts: Sequence[Context], reader: TokenReader) -> tuple[str | None, float]:
    """The paper that comes nearest to what the question says of it, and how near; None where that is not clear."""
    described = " ".join(word for word in words_of(question) if telling(word))
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


def _title_pages(context: Context, labels: Sequence[str], contexts: Sequence[Context]) -> Iterator[_TitlePage]:
    if context.section_title == TITLE_PAGE_HEADING:
        lines = context.text.split("\n")
        found = {label: [line for line in lines if line.startswith(f"{label}: ")][:1] for label in (*labels, _AUTHORS)}
    elif _is_first(context, contexts):
        of_paper = [one.text for one in contexts if one.paper_id == context.paper_id]
        found = {label: _front_lines(context, label, of_paper) for label in (*labels, _AUTHORS)}
    else:
        return
    if answers := [line for label in labels for line in found[label]]:
        titles = frozenset(telling(" ".join(titles_of(context))))
        yield _TitlePage(context, tuple(answers), "\n".join(found[_AUTHORS]), titles)


def _is_first(context: Context, contexts: Sequence[Context]) -> bool:
    """Whether a context may be of a first page: on page 1, or without page and section, and without a header."""
    has_header = any(one.section_title == TITLE_PAGE_HEADING for one in contexts if one.paper_id == context.paper_id)
    return not has_header and (context.page_start == 1 or (context.page_start is None and not context.section_title))


def _front_lines(context: Context, label: str, texts: Sequence[str]) -> list[str]:
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
