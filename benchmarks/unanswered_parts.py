"""How often "No sentence was found for: ..." is said, and when it should be, for compound questions over COVID-QA.

    python benchmarks/unanswered_parts.py CORPORA MODELS [--questions N]

CORPORA: a folder with qa/covidqa. MODELS: where the embedded model's files are or may be put. Two questions are joined
with "and"; the contexts are those paragraphs of the first question's paper that share most words with either. The note
is due for the second question when it is of another paper, or when no published sentence holds its expert's answer;
it is not due when one does.
"""

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from pathlib import Path

from rag_assets.answering.drafts import Readers
from rag_assets.answering.extractive import ExtractiveAnswerer
from rag_assets.domain import Context
from rag_assets.embedding.token_vectors import PassageTokens, open_token_encoder
from rag_assets.questions import question_parts
from rag_assets.reranking import TrainedReader
from rag_assets.settings import Settings

SEED = 18
N_CONTEXTS = 8


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]{3,}", text.lower()))


def contexts_of(paper_id: str, text: str, question: str) -> list[Context]:
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if len(part) > 200]
    rarity = Counter(word for part in paragraphs for word in words(part))
    asked = words(question)
    best = sorted(paragraphs, key=lambda part: -sum(1 / rarity[word] for word in asked & words(part)))[:N_CONTEXTS]
    return [
        Context(paper_id, f"{paper_id}:{nth}", None, None, len(part.split()), part) for nth, part in enumerate(best)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("models", type=Path)
    parser.add_argument("--questions", type=int, default=60)
    given = parser.parse_args()
    folder = given.corpora / "qa" / "covidqa"
    if not folder.is_dir():
        print(f"Nothing measured: {folder} is not there.")
        return
    settings = Settings()
    answerer = ExtractiveAnswerer(
        Readers(
            PassageTokens(open_token_encoder(settings.embedding, given.models)),
            TrainedReader(given.models, n_threads=1),
        ),
        settings.answering.extractive,
        min_sources=2,
    )
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    rows = [row for row in rows if re.match(r"(?:What|How|Why|Who|When|Where|Which) ", row["question"])]
    by_paper = defaultdict(list)
    for row in rows:
        by_paper[row["article_id"]].append(row)
    rng = random.Random(SEED)
    said: dict[str, Counter[bool]] = defaultdict(Counter)
    while sum(count.total() for count in said.values()) < given.questions:
        first = rng.choice(rows)
        paper = first["article_id"]
        is_of_other = rng.random() < 0.5
        second = rng.choice(rows if is_of_other else by_paper[paper])
        if (second["article_id"] == paper) == is_of_other or second is first:
            continue
        joined = f"{first['question'].rstrip(' ?')}, and {second['question'][0].lower()}{second['question'][1:]}"
        parts = question_parts(joined)
        if len(parts) != 2:
            continue
        text = json.loads((folder / "papers" / f"{paper}.json").read_text("utf-8"))["text"]
        draft = answerer.draft(joined, contexts_of(str(paper), text, joined))
        if not draft.claims:
            continue
        is_held = any(second["answer_text"].lower() in claim.text.lower() for claim in draft.claims)
        kind = "due: of another paper" if is_of_other else "not due: published" if is_held else "due: not published"
        said[kind][parts[1].text in draft.unanswered] += 1
    print("| the note for the second question | n | said |\n|---|---:|---:|")
    for kind, count in sorted(said.items()):
        print(f"| {kind} | {count.total()} | {count[True]} ({count[True] / count.total():.0%}) |")


if __name__ == "__main__":
    main()
