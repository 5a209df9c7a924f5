"""A case: a question, its answer, and what was found for it, with all that the metrics look at."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from rag_assets.answering.drafts import DraftAnswer
from rag_assets.core.domain import TITLE_PAGE_HEADING, Chunk, Hit, QAResult
from rag_assets.core.settings import Settings
from rag_assets.engine import Engine
from rag_assets.evaluation.source_files import SourceFiles
from rag_assets.questions import Question, has_words


@dataclass(frozen=True)
class Found:
    """A text that was found for a question, and its place."""

    paper_id: str
    chunk_id: str
    text: str
    page_start: int | None = None
    page_end: int | None = None


@dataclass(frozen=True)
class Verdict:
    """What a judge model says of an answer; each list follows the order of what it was shown, None:
    cannot tell."""

    supported: tuple[bool | None, ...] = ()
    """Whether the contexts say it, for each statement of the answer."""
    useful: tuple[bool | None, ...] = ()
    """Whether it helps to arrive at the reference, for each context."""
    covered: tuple[bool | None, ...] = ()
    """Whether the contexts say it, for each sentence of the reference."""
    correctness: float | None = None
    """1 the answer agrees with the reference, 0.5 in part, 0 it does not; None without a
    reference."""
    relevance: float | None = None
    """Mean cosine of the question and questions that the answer would answer, 0 to 1; 0 for an
    evasive answer."""
    abstained: int = 0
    """How often it could not tell, or passed over what it was asked."""


@dataclass(frozen=True)
class Case:
    """One question as it was asked, and everything that is measured of it."""

    question: Question
    result: QAResult
    hits: tuple[Found, ...] = ()
    """The best `k` chunks, best first."""
    contexts: tuple[Found, ...] = ()
    """The chunks that the answer was made from, in their order."""
    k: int = 6
    """Depth of the ranking metrics, in chunks."""
    quotes_in_file: tuple[bool, ...] = ()
    """Whether its words are in the file, for each quote whose file could be read. Quotes of a title
    page are left out: it has labels of our own, and may come from a bibliography."""
    seconds: float | None = None
    """How long the answer took; None where it was made before."""
    draft: DraftAnswer | None = None
    """What the answerer wrote, for a replay; None for a published answer."""
    verdict: Verdict | None = None
    """None without a judge, or where it could not be asked."""

    @property
    def is_answerable(self) -> bool:
        """Whether the corpus answers the question: yes, unless its label says no."""
        return self.question.answerable is not False


Judge = Callable[[Case], Verdict | None]


def case_of(
    engine: Engine,
    settings: Settings,
    files: SourceFiles,
    question: Question,
    result: QAResult,
    *,
    judge: Judge | None = None,
    seconds: float | None = None,
    draft: DraftAnswer | None = None,
) -> Case:
    """The case of a question that has its answer. Raises as `Engine.search`."""
    k = settings.evaluation.k
    chunks = engine.chunks([*result.contexts, *result.quoted_chunk_ids])
    case = Case(
        question,
        result,
        hits_of(engine, question, k),
        tuple(_of_chunk(chunks[chunk_id]) for chunk_id in result.contexts if chunk_id in chunks),
        k,
        files.hold(
            [
                (chunks[citation.chunk_id].file_path, citation.quote)
                for claim in result.claims
                for citation in claim.citations
                if citation.chunk_id in chunks and not citation.is_generated
                if chunks[citation.chunk_id].section_title != TITLE_PAGE_HEADING
            ]
        ),
        seconds,
        draft,
    )
    return replace(case, verdict=judge(case)) if judge and result.claims else case


def hits_of(engine: Engine, question: Question, k: int) -> tuple[Found, ...]:
    """The best k chunks, best first; none for a question without words. Raises as
    `Engine.search`."""
    meant = engine.standalone(question)
    return (
        tuple(_of_hit(hit) for hit in engine.search(meant, k)) if has_words(meant.question) else ()
    )


def _of_chunk(chunk: Chunk) -> Found:
    return Found(chunk.paper_id, chunk.chunk_id, chunk.text, chunk.page_start, chunk.page_end)


def _of_hit(hit: Hit) -> Found:
    passage = hit.passage
    return Found(
        hit.chunk.paper_id, hit.chunk.chunk_id, hit.chunk.text, passage.page_start, passage.page_end
    )
