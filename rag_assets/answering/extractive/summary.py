"""Summarises one paper by sentences on what was asked, done and found, and what limits it; or by what it found alone.

They are chosen as those of the published summaries are (`points`), among what was found: a paper that was found in
parts is summarised by these.
"""

from collections.abc import Sequence, Set

from rag_assets.answering.drafts import DraftAnswer, DraftClaim
from rag_assets.answering.extractive.named_works import is_quoted, papers_named
from rag_assets.answering.extractive.points import told_points
from rag_assets.domain import Context, Point
from rag_assets.text.terms import terms_of

_HELD_FROM = 0.6
"""Share of the words of a question that the paper whose findings are told must have."""
_ABOUT_SUMMARIES = terms_of(
    "summarise summarize sum up work summary overview gist paper study article about find findings main points results "
    "conclusions conclude show report key research review survey trial experiment"
)


def summary(question: str, contexts: Sequence[Context]) -> DraftAnswer:
    """Sentences for each point of the paper that the question names; the points without one are unanswered.

    Without a claim where nothing that was found holds a word of the question, or no paper bears the name in it.
    """
    meant = papers_named(question, contexts) if is_quoted(question) else {_paper(_subject(question), contexts)}
    told = told_points([one for one in contexts if one.paper_id in meant], in_order=False)
    claims = tuple(claim for own in told.values() for claim in own)
    return DraftAnswer(claims, tuple(point.in_words for point, own in told.items() if not own) if claims else ())


def findings(question: str, contexts: Sequence[Context]) -> list[DraftClaim]:
    """The sentences that tell what the paper found that the question names, best first; none where no sentence does,
    or no paper has most words of the question."""
    wanted = _subject(question)
    paper_id = _paper(wanted, contexts)
    own = [one for one in contexts if one.paper_id == paper_id]
    held = wanted & terms_of(" ".join(text for one in own for text in (one.paper_id, one.section_title, one.text)))
    is_told = len(held) >= _HELD_FROM * len(wanted) if wanted else len({one.paper_id for one in contexts}) == 1
    return findings_in(own) if is_told else []


def findings_in(contexts: Sequence[Context]) -> list[DraftClaim]:
    """The sentences that tell what a paper found, best first. contexts: of the paper."""
    return told_points(contexts, in_order=False)[Point.FOUND]


def names_a_subject(question: str) -> bool:
    """Whether a question about findings has words that tell which paper it means."""
    return bool(_subject(question))


def _subject(question: str) -> frozenset[str]:
    return terms_of(question) - _ABOUT_SUMMARIES


def _paper(wanted: Set[str], contexts: Sequence[Context]) -> str | None:
    """The paper whose contexts hold most of the question's words; of equal ones, that of the best context. None where
    the question names something and no paper holds any of it."""
    texts: dict[str, list[str]] = {}
    for context in contexts:
        name = context.paper_id.replace("_", " ")
        texts.setdefault(context.paper_id, [name]).extend((context.section_title, context.text))
    held = {paper_id: len(wanted & terms_of(" ".join(of_paper))) for paper_id, of_paper in texts.items()}
    best = max(held, key=lambda paper_id: held[paper_id], default=None)
    return None if best is None or (wanted and not held[best]) else best
