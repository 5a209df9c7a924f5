"""How often the embedded answerer answers and refuses, by answering.extractive.min_relevance.

Three kinds of questions over an index of the COVID-QA papers: their own (should be answered), the same with the paper
that answers them left out (mostly should be refused, some other papers know), and questions from other fields (should
all be refused). Build the index first, from the papers as text files:
    rag-assets index build --data DIR
    python benchmarks/refusal_threshold.py DIR CORPORA
DIR: the data folder. CORPORA: a folder with qa/covidqa/questions.jsonl and qa/cranfield/queries.jsonl.
"""

import json
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from rag_assets.answering.extractive import ExtractiveAnswerer
from rag_assets.domain import Context
from rag_assets.embedding.token_vectors import PassageTokens, open_token_encoder
from rag_assets.engine import open_engine
from rag_assets.questions import Question
from rag_assets.settings import Settings, load_settings

THRESHOLDS = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55)
N_QUESTIONS = 100


def questions_by_kind(settings: Settings, corpora: Path) -> dict[str, list[Question]]:
    """The three kinds, each drawn with a fixed seed."""
    rows = [json.loads(line) for line in (corpora / "qa/covidqa/questions.jsonl").read_text().splitlines()]
    rows = random.Random(3).sample(rows, N_QUESTIONS)
    papers = {path.stem for path in settings.paths.papers.iterdir()}
    other = [json.loads(line) for line in (corpora / "qa/cranfield/queries.jsonl").read_text().splitlines()]
    return {
        "own": [Question(id=row["id"], question=row["question"]) for row in rows],
        "paper left out": [
            Question(id=row["id"], question=row["question"], paper_ids=tuple(sorted(papers - {str(row["article_id"])})))
            for row in rows
        ],
        "other field": [
            Question(id=str(n), question=row.get("text") or row["query"])
            for n, row in enumerate(random.Random(3).sample(other, N_QUESTIONS))
        ],
    }


def share_answered(
    questions: Sequence[Question], contexts: Callable[[Question], Sequence[Context]], answerer: ExtractiveAnswerer
) -> float:
    return float(np.mean([bool(answerer.draft(q.question, contexts(q)).claims) for q in questions]))


def main(data: Path, corpora: Path) -> None:
    settings = load_settings({"data_dir": str(data)})
    with open_engine(settings) as engine:
        found: dict[tuple[str, tuple[str, ...] | None], Sequence[Context]] = {}

        def contexts(question: Question) -> Sequence[Context]:
            key = (question.question, question.paper_ids)
            if key not in found:
                found[key] = engine.evidence(question).contexts
            return found[key]

        encoder = open_token_encoder(settings.embedding, settings.paths.models, settings.execution.n_workers)
        reader = PassageTokens(encoder, max_mb=2000.0)
        kinds = questions_by_kind(settings, corpora)
        print(f"share answered of {N_QUESTIONS} questions each\nmin_relevance  " + "  ".join(f"{k:>14}" for k in kinds))
        for threshold in THRESHOLDS:
            answerer = ExtractiveAnswerer(
                reader,
                settings.answering.extractive.model_copy(update={"min_relevance": threshold}),
                min_sources=settings.answering.min_sources,
            )
            shares = [share_answered(questions, contexts, answerer) for questions in kinds.values()]
            print(f"{threshold:>13.2f}  " + "  ".join(f"{share:>14.2f}" for share in shares), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
