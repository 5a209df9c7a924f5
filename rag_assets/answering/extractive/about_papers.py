"""Answers about the papers themselves: who wrote one, where and when it appeared, and which papers,
or how many, say something.

The text of every paper begins with a title page that is made from its record, one statement per
line. The line that answers is published unchanged. A sentence of a paper is never an answer to such
a question: it may have the words of a title and still not say who wrote the work.

The answer to "Which papers use X?" is one claim per paper. "How many papers use X?" has a first
claim with their number: "At least three", because only the papers that were found are counted. The
claim of a paper quotes the sentence or row that says it, has the names of the question, and does
not deny it. If a counting question has no name, the quote must have all its content words: a
sentence that is only similar may say something else.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from rag_assets.answering.drafts import DraftCitation, DraftClaim
from rag_assets.answering.extractive.candidates import Candidate
from rag_assets.answering.extractive.relevance import RestrictedPart, ScoredPart
from rag_assets.answering.extractive.selection import claims_of
from rag_assets.answering.verify.names import names_in, names_missing_in
from rag_assets.answering.verify.polarity import turned_round
from rag_assets.answering.verify.quote_search import is_long_enough
from rag_assets.core.domain import TITLE_PAGE_HEADING, Context
from rag_assets.core.text.terms import terms_of
from rag_assets.questions import QuestionPart
from rag_assets.questions.reading import STUDY, THIS_PAPER, asked_of_each, counted, points_at_papers
from rag_assets.search.retrieval.named_works import (
    distinctive_stems,
    papers_meant,
    writers_asked_for,
)

_ASKED = (
    (
        re.compile(
            r"\b(?:which|what|whose) journals?\b|\bpublished in\b(?! \d)"
            r"|\bwhere (?:was|were|did)\b.*\b(?:publish|appear)",
            re.IGNORECASE,
        ),
        "Published in",
    ),
    (
        re.compile(
            r"^\W*(?:\w+\W+){0,2}when\b|\bpublication (?:date|year)\b|\b(?:which|what) (?:year|date)\b",
            re.IGNORECASE,
        ),
        "Publication date",
    ),
    (
        re.compile(
            r"\b(?:which|what|whose) (?:institutions?|universit)|\baffiliat|\bwhere do(?:es)?\b.*\bwork",
            re.IGNORECASE,
        ),
        "Affiliations",
    ),
    (re.compile(r"\bdoi\b(?!:| ?10\.)", re.IGNORECASE), "DOI"),
    (re.compile(rf"\b(?:which|what|list) (?:\w+ ){{0,3}}?{STUDY}\b", re.IGNORECASE), "Title"),
)
"""Wordings of a question, and the label of the line that answers it; the first match counts."""
_AUTHORS = "Authors"
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
Score = Callable[[Sequence[RestrictedPart]], tuple[Sequence[Candidate], Sequence[ScoredPart]]]


def names_a_paper(question: str) -> bool:
    """Whether a question about publication has words that tell which paper it means."""
    return bool(distinctive_stems(question))


def asks_about_a_work(question: str) -> bool:
    """Whether a question asks who wrote a paper, or where and when it was published. Only a title
    page can answer it, no sentence of a paper."""
    return _OF_A_WORK.search(question) is not None or bool(writers_asked_for(question))


def publication_claims(
    asked: str, searched: str, contexts: Sequence[Context], lines: Sequence[str] = ()
) -> list[DraftClaim]:
    """Claims of the lines of title pages that answer a question, best first; empty if there is no
    title page of the paper that the question means.

    asked: a question or a part of one, "and when did it appear?". searched: the text that tells
    which paper is meant, if `asked` does not. lines: as in `questions.reading.Asked`; without them
    the wording decides which line answers.
    """
    pages = [
        one for one in contexts if one.section_title == TITLE_PAGE_HEADING and not one.is_generated
    ]
    papers = {one.paper_id: one.paper for one in pages}
    question = asked if names_a_paper(asked) else searched
    # "the reply to this paper" names another work, so wordings that rules know are not enough
    is_one = lines and THIS_PAPER in asked and len({one.paper_id for one in contexts}) == 1
    if names_a_paper(question) and not is_one:
        meant = papers_meant(question, papers)
    elif len(papers) == 1 or points_at_papers(question):
        meant = dict.fromkeys(papers, 1.0)
    else:
        meant = {}
    labels = ("Title", _AUTHORS) if writers_asked_for(asked) else lines or (_label(asked),)
    claims = {}
    for page in sorted(pages, key=lambda one: -meant.get(one.paper_id, 0.0)):
        of_page = page.text.split("\n")
        for line in (one for label in labels for one in of_page if one.startswith(f"{label}: ")):
            if page.paper_id in meant:
                citation = DraftCitation(page.chunk_id, _quote(line, page.text))
                claims[page.paper_id, line] = DraftClaim(
                    line, (citation,), relevance=round(meant[page.paper_id], 4)
                )
    return list(claims.values())


def _label(asked: str) -> str:
    """The label of the title page's line that answers: "Authors" if the question fits no other."""
    return next((label for wording, label in _ASKED if wording.search(asked)), _AUTHORS)


def _quote(line: str, text: str) -> str:
    """The quote that proves a line of a title page: the line, or if it is short, the line with the
    lines before and after it. A short quote would be found in many places."""
    if is_long_enough(line):
        return line
    lines = text.split("\n")
    nth = lines.index(line)
    return "\n".join(lines[max(0, nth - 1) : nth + 2])


def claims_of_papers(
    part: QuestionPart, contexts: Sequence[Context], score: Score, floor: float
) -> tuple[DraftClaim, ...]:
    """One claim per paper that says what a part asks of each, the most relevant paper first. If
    their number is asked for, a claim with the number comes before them.

    A preprint and its published version are one paper. score: see `relevance.read_closely`. floor:
    the least relevance of a candidate that counts.
    """
    works = {one.paper_id: one.paper.work or one.paper_id for one in contexts}
    names, asked = names_in(part.searched), replace(part, searched=asked_of_each(part.searched))
    candidates, scored = score([RestrictedPart(asked, paper) for paper in works])

    def says_it(one: Candidate) -> bool:
        """Whether a candidate has the decisive names of the question and does not deny it."""
        is_denied = turned_round(one.text, [asked.searched]) or turned_round(
            asked.searched, [one.text]
        )
        is_missing = any(name.is_decisive for name in names_missing_in([one.text, one.lead], names))
        return not (is_denied or is_missing)

    found: dict[str, tuple[Candidate, float]] = {}
    for work, one in zip(works.values(), scored, strict=True):
        order = (-one.relevance).argsort(kind="stable").tolist()
        for nth in order:
            if one.relevance[nth] >= floor and says_it(candidates[nth]):
                found.setdefault(work, (candidates[nth], float(one.relevance[nth])))
                break
    best = sorted(found.values(), key=lambda pair: -pair[1])
    if counted(part.text, 1) and not names:
        terms = terms_of(asked.searched)
        best = [pair for pair in best if terms <= terms_of(f"{pair[0].lead} {pair[0].text}")]
    claims = tuple(claims_of(best, contexts))
    number = counted(part.text, len(best))
    citations = tuple(cited for claim in claims for cited in claim.citations)
    return (DraftClaim(number, citations, relevance=1.0), *claims) if claims and number else claims
