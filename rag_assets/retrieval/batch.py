"""Many questions from a file, their hits and contexts into a file.

One JSON object a line on both sides. In: `id`, `question`, optionally `paper_ids` (search only there); other keys are
ignored, so that a file of expectations serves too. Out: `id`, `hits`, `context`.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_assets.errors import InvalidQuestions, MissingInput
from rag_assets.incremental import drafting
from rag_assets.model import Context, Hit
from rag_assets.retrieval.search import Searcher


@dataclass(frozen=True, slots=True)
class BatchQuestion:
    """One line of a batch file."""

    id: str
    question: str
    paper_ids: tuple[str, ...] | None = None
    """Papers to search in; None for all."""


def retrieve_batch(
    questions_file: Path,
    results_file: Path,
    searcher: Searcher,
    *,
    k: int,
    budget_tokens: int,
    report: Callable[[int, int], None] | None = None,
) -> int:
    """Answer every line of `questions_file` with its best `k` chunks and its packed contexts; returns their number.

    The results appear whole or not at all. Raises MissingInput for an absent file and InvalidQuestions, before
    anything is searched, for a line that cannot be used.
    """
    questions = read_batch(questions_file)
    with drafting() as draft:
        with draft.path(results_file).open("w", encoding="utf-8") as out:
            for n_done, question in enumerate(questions, start=1):
                result = _result(question, searcher, k, budget_tokens)
                out.write(json.dumps(result, ensure_ascii=False) + "\n")
                if report:
                    report(n_done, len(questions))
        draft.publish()
    return len(questions)


def read_batch(path: Path) -> list[BatchQuestion]:
    """The questions of a file, in order; blank lines are passed over. Raises as `retrieve_batch`."""
    if not path.is_file():
        raise MissingInput(f"{path} does not exist. Give a JSONL file with an id and a question a line.")
    questions = list(_questions(path))
    seen: set[str] = set()
    for number, question in questions:
        if question.id in seen:
            raise InvalidQuestions.at(path, number, f"the id {question.id!r} occurs twice")
        seen.add(question.id)
    return [question for _, question in questions]


def _questions(path: Path) -> Iterator[tuple[int, BatchQuestion]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield number, _question(json.loads(line.decode("utf-8-sig")))
            except (ValueError, RecursionError) as error:
                raise InvalidQuestions.at(path, number, str(error)) from error


def _question(row: Any) -> BatchQuestion:
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    id_, text, papers = row.get("id"), row.get("question"), row.get("paper_ids")
    if isinstance(id_, int) and not isinstance(id_, bool):
        id_ = str(id_)
    if not isinstance(id_, str) or not id_:
        raise ValueError("no id (a string)")
    if not isinstance(text, str):
        raise ValueError("no question (a string)")
    if papers is not None and not (isinstance(papers, list) and all(isinstance(paper, str) for paper in papers)):
        raise ValueError("paper_ids is not a list of strings")
    return BatchQuestion(id_, text, None if papers is None else tuple(papers))


def _result(question: BatchQuestion, searcher: Searcher, k: int, budget_tokens: int) -> dict[str, Any]:
    ranking = searcher.rank(question.question, question.paper_ids)
    return {
        "id": question.id,
        "hits": _hit_rows(searcher.hits(ranking, k)),
        "context": _context_rows(searcher.contexts(ranking, budget_tokens)),
    }


def _hit_rows(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    return [
        {
            "rank": hit.rank,
            "score": hit.score,
            "paper_id": hit.chunk.paper_id,
            "chunk_id": hit.chunk.chunk_id,
            "page_start": hit.chunk.page_start,
            "page_end": hit.chunk.page_end,
            "text": hit.chunk.text,
            "passage": hit.passage.text,
        }
        for hit in hits
    ]


def _context_rows(contexts: Sequence[Context]) -> list[dict[str, Any]]:
    return [
        {
            "paper_id": context.paper_id,
            "chunk_id": context.chunk_id,
            "page_start": context.page_start,
            "page_end": context.page_end,
            "n_tokens": context.n_tokens,
            "text": context.text,
        }
        for context in contexts
    ]
