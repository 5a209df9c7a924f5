"""How often the embedded answerer answers and refuses, by answering.extractive.min_relevance.

Three kinds of questions over an index of the COVID-QA papers: their own (should be answered), the
same with the paper that answers them left out (mostly should be refused, some other papers know),
and questions from other fields (should all be refused). Papers at even places of the list sorted by
name are the tuning half, by which the default was chosen, those at odd places the checking half.
Build the index first, from the papers as text files:
    rag-assets index build --data DIR
    python benchmarks/refusal_threshold.py DIR CORPORA
DIR: the data folder. CORPORA: a folder with qa/covidqa/questions.jsonl and
qa/cranfield/queries.jsonl. Each question is answered once, without a floor, and without the bonus
that only sentences above the floor get: it is answered at every floor that its best sentence or row
reaches.
"""

import json
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from rag_assets.answering.drafts import Readers
from rag_assets.answering.extractive import ExtractiveAnswerer
from rag_assets.core.settings import Settings, load_settings
from rag_assets.engine import open_engine
from rag_assets.questions import Question
from rag_assets.search.embedding.token_vectors import PassageTokens, open_token_encoder
from rag_assets.search.reranking.trained_reader import open_sentence_reader

FLOORS = (0.5, 0.55, 0.6, 0.62, 0.64, 0.66, 0.68, 0.7, 0.75)
N_QUESTIONS = 100
"""Of each kind, of each half."""


def questions_by_kind(
    settings: Settings, corpora: Path
) -> Mapping[str, Mapping[str, Sequence[Question]]]:
    """The three kinds of each half, drawn with a fixed seed."""
    rows = [
        json.loads(line)
        for line in (corpora / "qa/covidqa/questions.jsonl").read_text().splitlines()
    ]
    other = [
        json.loads(line)
        for line in (corpora / "qa/cranfield/queries.jsonl").read_text().splitlines()
    ]
    papers = sorted(path.stem for path in settings.paths.papers.iterdir())
    halves = {}
    for nth, half in enumerate(("tuning", "checking")):
        of_half = [row for row in rows if papers.index(str(row["article_id"])) % 2 == nth]
        drawn = random.Random(3).sample(of_half, N_QUESTIONS)
        halves[half] = {
            "own": [Question(id=row["id"], question=row["question"]) for row in drawn],
            "paper left out": [
                Question(
                    id=row["id"],
                    question=row["question"],
                    paper_ids=tuple(one for one in papers if one != str(row["article_id"])),
                )
                for row in drawn
            ],
            "other field": [
                Question(id=str(n), question=row.get("text") or row["query"])
                for n, row in enumerate(random.Random(nth).sample(other, N_QUESTIONS))
            ],
        }
    return halves


def main(data: Path, corpora: Path) -> None:
    settings = load_settings({"data_dir": str(data)})
    encoder = open_token_encoder(
        settings.embedding, settings.paths.models, settings.execution.n_workers
    )
    answerer = ExtractiveAnswerer(
        Readers(PassageTokens(encoder, max_mb=2000.0), open_sentence_reader(settings)),
        settings.answering.extractive.model_copy(
            update={"min_relevance": 0.0, "answer_type_bonus": 0.0}
        ),
        min_sources=1,
    )
    with open_engine(settings) as engine:
        for half, kinds in questions_by_kind(settings, corpora).items():
            best: dict[str, list[float]] = {}
            for kind, questions in kinds.items():
                drafts = [
                    answerer.draft(one.question, engine.evidence(one).contexts) for one in questions
                ]
                best[kind] = [
                    max((claim.relevance or 0.0 for claim in draft.claims), default=-1.0)
                    for draft in drafts
                ]
            print(f"\n{half} half: share answered of {N_QUESTIONS} questions each")
            print("min_relevance  " + "  ".join(f"{kind:>14}" for kind in best))
            for floor in FLOORS:
                shares = [
                    float(np.mean([one >= floor for one in of_kind])) for of_kind in best.values()
                ]
                print(
                    f"{floor:>13.2f}  " + "  ".join(f"{share:>14.2f}" for share in shares),
                    flush=True,
                )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
