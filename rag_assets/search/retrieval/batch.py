"""Many questions from a file, their hits and contexts into a file.

One JSON object per line on both sides. In: `id`, `question`, optionally `paper_ids` and `where`
(search only there); other keys are ignored, so that a file of expectations serves too. Out: `id`,
`hits`, `context`, `queries`.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rag_assets.core.domain import Evidence
from rag_assets.core.errors import MissingInput
from rag_assets.core.incremental import staging
from rag_assets.questions import Question, load_questions


def retrieve_batch(
    questions_file: Path,
    results_file: Path,
    retrieve: Callable[[Question], Evidence],
    report: Callable[[int, int], None] | None = None,
) -> int:
    """Write hits and contexts of every line of `questions_file`; returns their number.

    The results appear whole or not at all. Raises MissingInput for an absent file and
    InvalidQuestions, before anything is searched, for a line that cannot be used.
    """
    if results_file.is_dir():
        raise MissingInput(f"{results_file} is a folder. Name the file that the results go into.")
    questions = load_questions(questions_file)
    with staging() as staged:
        with staged.path(results_file).open("w", encoding="utf-8") as out:
            for n_done, question in enumerate(questions, start=1):
                row = evidence_row(question, retrieve(question))
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                if report:
                    report(n_done, len(questions))
        staged.publish()
    return len(questions)


def evidence_row(question: Question, evidence: Evidence) -> dict[str, Any]:
    """Hits and contexts of a question, JSON-ready."""
    return {
        "id": question.id,
        "hits": [
            {
                "rank": hit.rank,
                "score": hit.score,
                "paper_id": hit.chunk.paper_id,
                "chunk_id": hit.chunk.chunk_id,
                "page_start": hit.chunk.page_start,
                "page_end": hit.chunk.page_end,
                "page_label": hit.chunk.page_label,
                "text": hit.chunk.text,
                "passage": hit.passage.text,
                "relevance": hit.relevance,
                "band": hit.band,
                "similarity": hit.dense_score,
                "section": hit.passage.section_path,
                "passage_page_start": hit.passage.page_start,
                "passage_page_end": hit.passage.page_end,
                "passage_page_label": hit.place.page_label,
                "is_by_ocr": hit.place.is_by_ocr,
                "boxes": [asdict(box) for box in hit.place.boxes],
                "found_by": list(hit.found_by),
            }
            for hit in evidence.hits
        ],
        "context": [
            {
                "paper_id": context.paper_id,
                "chunk_id": context.chunk_id,
                "page_start": context.page_start,
                "page_end": context.page_end,
                "n_tokens": context.n_tokens,
                "text": context.text,
                "is_generated": context.is_generated,
            }
            for context in evidence.contexts
        ],
        "queries": [asdict(query) for query in evidence.queries],
    }
