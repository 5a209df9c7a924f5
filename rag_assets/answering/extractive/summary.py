"""Summarises one paper by its abstract, quoted as it stands."""

from collections.abc import Sequence, Set

from rag_assets.answering.drafts import DraftAnswer
from rag_assets.answering.extractive.candidates import Candidate, sentences
from rag_assets.answering.extractive.named_works import is_quoted, papers_named
from rag_assets.answering.extractive.publishing import claims_of
from rag_assets.core.domain import BLOCK_SEPARATOR, Context
from rag_assets.core.text.section_names import is_of_abstract
from rag_assets.core.text.terms import terms_of

NO_ABSTRACT = "No abstract of {papers} was found, and without a model a summary is quoted from the abstract."
_ABOUT_SUMMARIES = terms_of(
    "summarise summarize sum up work summary overview gist paper study article about find findings main points results "
    "conclusions conclude show report key research review survey trial experiment"
)


def summary(question: str, contexts: Sequence[Context], max_claims: int) -> DraftAnswer:
    """The sentences of the abstract of the paper that the question names, in their order.

    Without a claim where nothing that was found holds a word of the question, no paper bears the name in it, or the
    paper has no abstract; the last is said.
    """
    meant = papers_named(question, contexts) if is_quoted(question) else _nearest(question, contexts)
    own = [one for one in contexts if one.paper_id in meant]
    claims = tuple(claims_of([(one, 1.0) for one in _of_abstracts(own)], own))[:max_claims]
    if claims or not meant:
        return DraftAnswer(claims)
    return DraftAnswer(unanswered=(NO_ABSTRACT.format(papers=", ".join(sorted(meant))),))


def _of_abstracts(contexts: Sequence[Context]) -> list[Candidate]:
    """The sentences below the heading of an abstract, or in a paragraph that begins with "Abstract"."""
    return [
        one
        for one in sentences(contexts)
        if is_of_abstract(
            contexts[one.context].section_title.split(" > "), _paragraph(contexts[one.context], one.start)
        )
    ]


def _paragraph(context: Context, place: int) -> str:
    start = context.text.rfind(BLOCK_SEPARATOR, 0, place)
    return context.text[start + len(BLOCK_SEPARATOR) if start >= 0 else 0 :]


def _subject(question: str) -> frozenset[str]:
    return terms_of(question) - _ABOUT_SUMMARIES


def _nearest(question: str, contexts: Sequence[Context]) -> Set[str]:
    """The paper whose contexts hold most of the question's words; of equal ones, that of the best context. None where
    the question names something and no paper holds any of it."""
    wanted = _subject(question)
    texts: dict[str, list[str]] = {}
    for context in contexts:
        name = context.paper_id.replace("_", " ")
        texts.setdefault(context.paper_id, [name]).extend((context.section_title, context.text))
    held = {paper_id: len(wanted & terms_of(" ".join(of_paper))) for paper_id, of_paper in texts.items()}
    best = max(held, key=lambda paper_id: held[paper_id], default=None)
    return frozenset() if best is None or (wanted and not held[best]) else frozenset({best})
