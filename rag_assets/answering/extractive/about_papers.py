"""Answers about the papers themselves: who wrote one, where and when it appeared, what it says as a
whole, and which papers, or how many, say something.

The text of every paper begins with a title page that is made from its record, one statement per
line. The line that answers is published unchanged. A sentence of a paper is never an answer to such
a question: it may have the words of a title and still not say who wrote the work.

The answer to "Which papers use X?" is one claim per paper. "How many papers use X?" has a first
claim with their number: "At least three", because only the papers that were found are counted. The
claim of a paper quotes the sentence or row that says it, has the names of the question, and does
not deny it. If a counting question has no name, the quote must have all its content words: a
sentence that is only similar may say something else.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace

from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim
from rag_assets.answering.extractive.candidates import Candidate, sentences
from rag_assets.answering.extractive.relevance import RestrictedPart, ScoredPart
from rag_assets.answering.extractive.selection import claims_of
from rag_assets.answering.verify.names import names_in, names_missing_in
from rag_assets.answering.verify.polarity import turned_round
from rag_assets.answering.verify.quote_search import is_long_enough
from rag_assets.core.domain import BLOCK_SEPARATOR, TITLE_PAGE_HEADING, Context, PaperFacts
from rag_assets.core.text.headings import is_of_abstract
from rag_assets.core.text.terms import terms_of
from rag_assets.questions import QuestionPart
from rag_assets.questions.reading import (
    AUTHORS_LINE,
    THIS_PAPER,
    TITLE_LINE,
    Asked,
    asked_of_each,
    counted,
    points_at_papers,
)
from rag_assets.search.retrieval.named_works import (
    papers_meant,
    papers_named,
    works_compared,
    works_quoted,
)

_NO_ABSTRACT = (
    "No abstract of {papers} was found, and without a model a summary is quoted from the abstract."
)
Score = Callable[[Sequence[RestrictedPart]], tuple[Sequence[Candidate], Sequence[ScoredPart]]]


def publication_claims(part: QuestionPart, contexts: Sequence[Context]) -> list[DraftClaim]:
    """Claims of the lines of title pages that answer a part of a question, best first; empty if
    there is no title page of the paper that it means."""
    pages = [
        one for one in contexts if one.section_title == TITLE_PAGE_HEADING and not one.is_generated
    ]
    papers, asked = {one.paper_id: one.paper for one in pages}, part.asked
    is_one = THIS_PAPER in part.text and len({one.paper_id for one in contexts}) == 1
    meant = None if is_one else papers_meant(part.searched, asked, papers)
    if meant is None:
        is_clear = len(papers) == 1 or points_at_papers(part.searched)
        meant = dict.fromkeys(papers, 1.0) if is_clear else {}
    lines = asked.lines or (AUTHORS_LINE,)
    if asked.asks_for_titles and asked.persons:
        lines = (TITLE_LINE, AUTHORS_LINE)
    claims = {}
    for page in sorted(pages, key=lambda one: -meant.get(one.paper_id, 0.0)):
        of_page = page.text.split("\n")
        for line in (one for label in lines for one in of_page if one.startswith(f"{label}: ")):
            if page.paper_id in meant:
                citation = DraftCitation(page.chunk_id, _quote(line, page.text))
                claims[page.paper_id, line] = DraftClaim(
                    line, (citation,), relevance=round(meant[page.paper_id], 4)
                )
    return list(claims.values())


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


def papers_of(contexts: Sequence[Context]) -> Mapping[str, PaperFacts]:
    return {context.paper_id: context.paper for context in contexts}


def summary(
    question: str, asked: Asked, contexts: Sequence[Context], max_claims: int
) -> DraftAnswer:
    """The abstract of each paper that the question names, or of the one that its words fit best.

    If such a paper has no abstract in the contexts, the draft has a note instead; if there is no
    such paper, the draft is empty. asked: what was read in the question.
    """
    if quoted := works_quoted(question):
        meant: Set[str] = papers_named(quoted, papers_of(contexts))
    else:
        meant = works_compared(question, papers_of(contexts)).keys() or _nearest(asked, contexts)
    own = [one for one in contexts if one.paper_id in meant]
    claims = tuple(claims_of([(one, 1.0) for one in _of_abstracts(own)], own))[:max_claims]
    if claims or not meant:
        return DraftAnswer(claims)
    return DraftAnswer(unanswered=(_NO_ABSTRACT.format(papers=", ".join(sorted(meant))),))


def _of_abstracts(contexts: Sequence[Context]) -> list[Candidate]:
    """The sentences below the heading of an abstract, or in a paragraph that begins with
    "Abstract"."""
    found = []
    for one in sentences(contexts):
        context = contexts[one.context]
        start = context.text.rfind(BLOCK_SEPARATOR, 0, one.start)
        paragraph = context.text[start + len(BLOCK_SEPARATOR) if start >= 0 else 0 :]
        if is_of_abstract(context.section_title.split(" > "), paragraph):
            found.append(one)
    return found


def _nearest(asked: Asked, contexts: Sequence[Context]) -> Set[str]:
    """The id of the paper whose contexts have the most words by which the question names one. Empty
    if there are such words and no paper has any of them."""
    wanted = terms_of(" ".join((*asked.works, *asked.persons)))
    texts: dict[str, list[str]] = {}
    for context in contexts:
        texts.setdefault(context.paper_id, [context.paper_id]).extend(
            (context.section_title, context.text)
        )
    n_shared = {
        paper_id: len(wanted & terms_of(" ".join(own_texts)))
        for paper_id, own_texts in texts.items()
    }
    best = max(n_shared, key=lambda paper_id: n_shared[paper_id], default=None)
    if best is None or (wanted and not n_shared[best]):
        return frozenset()
    return frozenset({best})
