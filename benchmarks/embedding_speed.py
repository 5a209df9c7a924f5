"""How fast passages become vectors: precisions and ways of batching, side by side in one run.

    python benchmarks/embedding_speed.py [--passages 48] [--rounds 3] [--threads 2]

Correctness comes first: the worst cosine to a 64-bit reference, and whether a text has the same
vector among other neighbours. A contender below 0.96 gets no time. Then the contenders alternate
for some rounds; the table shows the median rate, and the median and the worst round relative to
ours (1.00 = as fast, less = slower). On a busy machine the ratios hold better than the rates.
"""

import argparse
import importlib.metadata
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_assets.core.settings import EmbeddingSettings
from rag_assets.search.embedding.providers import open_embedder
from rag_assets_testing.numpy_bert import NumpyBert
from rag_assets_testing.packaged_tokenizer import write_tokenizer

FLOAT32 = EmbeddingSettings(model="local:all-MiniLM-L6-v2")
INT8 = EmbeddingSettings(model="local:all-MiniLM-L6-v2-int8")
LEAST_COSINE = 0.96
N_REFERENCE_TEXTS = 12
BATCH = 16
WORDS = (
    "serum ferritin levels patients treated control group weeks decreased increased significant measured response "
    "protein expression binding receptor cells assay temperature samples model results analysis observed effect dose "
    "infection antibody sequence mutation clinical trial placebo outcome cohort baseline inflammation marker lung"
).split()

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True)
class Contender:
    """One way to make the vectors."""

    name: str
    embed: Embed


@dataclass(frozen=True)
class Correctness:
    """What must be known before a time means anything."""

    mean_cosine: float
    worst_cosine: float
    depends_on_neighbours: bool


def passages(n_passages: int) -> list[str]:
    """Seeded sentences, 60 to 220 words a passage: as uneven as real passages are."""
    draw = random.Random(11)
    return [
        " ".join(
            " ".join(draw.choices(WORDS, k=15)).capitalize() + "."
            for _ in range(draw.randint(4, 14))
        )
        for _ in range(n_passages)
    ]


def contenders(models_folder: Path, n_threads: int) -> list[Contender]:
    """Ours first."""
    int8 = open_embedder(INT8, models_folder, n_threads=n_threads)
    float32 = open_embedder(FLOAT32, models_folder, n_threads=n_threads)
    for embedder in (int8, float32):
        embedder.embed_query("build and load")
    batched_int8 = plain_fastembed(models_folder / int8.identity, n_threads)
    batched_float32 = plain_fastembed(models_folder / float32.identity, n_threads)
    return [
        Contender("int8, one by one, side by side (ours)", int8.embed_passages),
        Contender("float32, one by one, side by side (ours)", float32.embed_passages),
        Contender("int8, one by one, threads inside", lambda texts: batched_int8(texts, 1)),
        Contender(f"int8, batches of {BATCH}", lambda texts: batched_int8(texts, BATCH)),
        Contender(
            f"int8, batches of {BATCH} by length",
            by_length(lambda texts: batched_int8(texts, BATCH)),
        ),
        Contender(f"float32, batches of {BATCH}", lambda texts: batched_float32(texts, BATCH)),
    ]


def plain_fastembed(folder: Path, n_threads: int) -> Callable[[Sequence[str], int], Vectors]:
    """fastembed as its documentation shows it, with the model in `folder`."""
    from fastembed import TextEmbedding

    write_tokenizer(folder, max_tokens=256)
    model = TextEmbedding(
        "sentence-transformers/all-MiniLM-L6-v2",
        cache_dir=str(folder.parent),
        threads=n_threads,
        specific_model_path=str(folder),
    )
    return lambda texts, batch_size: np.stack(list(model.embed(list(texts), batch_size=batch_size)))


def by_length(embed: Embed) -> Embed:
    """The same, with the texts sorted by length before and put back after."""

    def sorted_embed(texts: Sequence[str]) -> Vectors:
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        vectors = embed([texts[at] for at in order])
        return vectors[np.argsort(order)]

    return sorted_embed


def correctness(embed: Embed, texts: Sequence[str], reference: NDArray[np.float64]) -> Correctness:
    vectors = embed(texts)
    cosines = (vectors[: len(reference)] * reference).sum(axis=1)
    alone = np.concatenate([embed([text]) for text in texts[: len(reference)]])
    return Correctness(
        cosines.mean(), cosines.min(), not np.array_equal(vectors[: len(reference)], alone)
    )


def seconds_by_round(
    rivals: Iterable[Contender], texts: Sequence[str], n_rounds: int
) -> dict[str, list[float]]:
    """Contenders alternate, so that a busy minute hits all of them."""
    seconds: dict[str, list[float]] = {rival.name: [] for rival in rivals}
    for _ in range(n_rounds):
        for rival in rivals:
            started = time.perf_counter()
            rival.embed(texts)
            seconds[rival.name].append(time.perf_counter() - started)
    return seconds


def report(found: dict[str, Correctness], seconds: dict[str, list[float]], n_passages: int) -> None:
    ours = next(iter(seconds.values()))
    print(
        f"{'':42} {'cosine':>7} {'worst':>7} {'own text only':>14} {'1/s':>6} {'ratio':>6} {'worst':>6}"
    )
    for name, check in found.items():
        independent = "no" if check.depends_on_neighbours else "yes"
        line = f"{name:42} {check.mean_cosine:7.4f} {check.worst_cosine:7.4f} {independent:>14}"
        if name in seconds:
            ratios = [own / other for own, other in zip(ours, seconds[name], strict=True)]
            rate = n_passages / statistics.median(seconds[name])
            line += f" {rate:6.1f} {statistics.median(ratios):6.2f} {min(ratios):6.2f}"
        print(line)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare ways of embedding passages.")
    parser.add_argument("--passages", type=int, default=48, help="passages a round")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of all contenders")
    parser.add_argument(
        "--threads", type=int, default=os.cpu_count() or 1, help="threads each contender may use"
    )
    return parser.parse_args()


def main() -> None:
    asked = arguments()
    texts = passages(asked.passages)
    bert = NumpyBert()
    reference = np.stack([bert.embed(text) for text in texts[:N_REFERENCE_TEXTS]])
    with tempfile.TemporaryDirectory() as folder:
        n_tokens = open_embedder(INT8, Path(folder)).count_tokens(texts)
        rivals = contenders(Path(folder), asked.threads)
        found = {rival.name: correctness(rival.embed, texts, reference) for rival in rivals}
        fit = [rival for rival in rivals if found[rival.name].worst_cosine >= LEAST_COSINE]
        seconds = seconds_by_round(fit, texts, asked.rounds)
    versions = [
        f"{name} {importlib.metadata.version(name)}"
        for name in ("fastembed", "onnxruntime", "onnx", "numpy")
    ]
    print(
        f"{len(texts)} passages of {statistics.mean(n_tokens):.0f} tokens (longest {max(n_tokens)}), ",
        end="",
    )
    print(f"{asked.threads} threads, {asked.rounds} rounds; {', '.join(versions)}")
    report(found, seconds, len(texts))


if __name__ == "__main__":
    main()
