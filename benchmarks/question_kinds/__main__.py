"""Trains the layer of `rag_assets.search.retrieval.question_kinds`, and counts what it reads rightly.

The questions beside this file were written by four language models that had papers and reports to
look at and no code, with what each asks for: `train.jsonl`, `check.jsonl` (looked at while the way
of pooling was chosen) and `final.jsonl` (looked at once). Their label "summary" is not trained.
Questions that ask for none of it come from `reader_training/written`, and from SQuAD and XQuAD, if
a folder with them is given. XQuAD is split by article: one half is trained on, one half counts
false alarms.

Usage: python -m benchmarks.question_kinds [--reader FOLDER] [--write]
"""

import argparse
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from scipy.optimize import minimize  # type: ignore[import-untyped]

from rag_assets.core.settings import EmbeddingSettings, load_settings
from rag_assets.search.embedding.token_vectors import open_token_encoder
from rag_assets.search.retrieval.question_kinds import FILE, LABELS, SHARPNESS

HERE = Path(__file__).parent
WRITTEN = HERE.parent / "reader_training" / "written"
MEAN_DECAY, TOKEN_DECAY = 10.0, 3.0
"""Weights of the squares of the layer's numbers in the loss (L2)."""
MOST_OF_SQUAD = 3_000
Array = NDArray[np.float32]
Layers = NDArray[np.float64]
"""Shape (n labels, 2 * 384 + 1): for tokens, for the mean, and the constant."""
Labelled = Sequence[tuple[str, Sequence[str]]]


@dataclass(frozen=True)
class Questions:
    """Encoded questions. vectors: of all tokens, one question after the other."""

    vectors: Array
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    means: Array
    asked: NDArray[np.bool_]
    """Shape (n questions, n labels)."""


def rows(file: Path) -> list[dict[str, Any]]:
    data = file.read_bytes()
    text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode()
    return [json.loads(line) for line in text.splitlines()]


def written(name: str) -> Labelled:
    """The questions of `reader_training` that ask for nothing of this."""
    asked = rows(WRITTEN / f"{name}.jsonl")
    return [(row["question"], []) for row in asked if row["kind"] not in ("record", "section")]


def labelled(name: str) -> Labelled:
    return [(row["question"], row["labels"]) for row in rows(HERE / f"{name}.jsonl")]


def of_xquad(folder: Path, parity: int) -> Labelled:
    found = rows(folder / "xquad.jsonl.gz")
    titles = sorted({row["title"] for row in found})
    own = set(titles[parity::2])
    return [(row["question"], []) for row in found if row["title"] in own][::4]


def of_squad(folder: Path) -> Labelled:
    asked = dict.fromkeys(row["question"] for row in rows(folder / "squad_sentences.jsonl.gz"))
    return [(question, []) for question in list(asked)[:: max(1, len(asked) // MOST_OF_SQUAD)]]


def encoded(questions: Labelled) -> Questions:
    encoder = open_token_encoder(EmbeddingSettings(), load_settings().paths.models, 2)
    texts, labels = zip(*questions, strict=True)
    kept = [
        (tokens.vectors, wanted)
        for tokens, wanted in zip(encoder.encode(texts, "query"), labels, strict=True)
        if len(tokens.vectors)
    ]
    lengths = np.array([len(vectors) for vectors, _ in kept])
    return Questions(
        np.concatenate([vectors for vectors, _ in kept]),
        np.concatenate([[0], np.cumsum(lengths)[:-1]]),
        lengths,
        np.stack([vectors.mean(axis=0) for vectors, _ in kept]),
        np.array([[label in wanted for label in LABELS] for _, wanted in kept]),
    )


def scored(
    layer: NDArray[np.float64], questions: Questions, scale: tuple[float, float]
) -> tuple[NDArray[np.float64], Array]:
    """The score of one label for each question, and the share of each token in it."""
    n = questions.means.shape[1]
    of_tokens = SHARPNESS * (questions.vectors / scale[0] @ layer[:n].astype(np.float32))
    highest = np.maximum.reduceat(of_tokens, questions.starts)
    weights = np.exp(of_tokens - np.repeat(highest, questions.lengths))
    total = np.add.reduceat(weights, questions.starts)
    pooled = (highest + np.log(total / questions.lengths)) / SHARPNESS
    score = pooled + questions.means / scale[1] @ layer[n : 2 * n] + layer[-1]
    return score, weights / np.repeat(total, questions.lengths)


def trained(questions: Questions, nth: int, scale: tuple[float, float]) -> NDArray[np.float64]:
    """The numbers of one label: of tokens, of the mean, and the constant."""
    n, wanted = questions.means.shape[1], questions.asked[:, nth].astype(float)

    def loss(layer: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        score, shares = scored(layer, questions, scale)
        wrong = 1 / (1 + np.exp(-score)) - wanted
        of_tokens = (np.repeat(wrong, questions.lengths) * shares).astype(np.float32)
        gradient = np.concatenate(
            [
                questions.vectors.T @ of_tokens / scale[0] + TOKEN_DECAY * layer[:n],
                questions.means.T @ wrong / scale[1] + MEAN_DECAY * layer[n : 2 * n],
                [wrong.sum()],
            ]
        )
        squares = TOKEN_DECAY * (layer[:n] ** 2).sum() + MEAN_DECAY * (layer[n : 2 * n] ** 2).sum()
        return float((np.logaddexp(0, score) - wanted * score).sum() + squares / 2), gradient

    start = np.random.default_rng(0).normal(0, 0.01, 2 * n + 1)
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B").x)


def report(name: str, layers: Layers, questions: Questions, scale: tuple[float, float]) -> None:
    scores = np.stack([scored(layer, questions, scale)[0] for layer in layers], axis=1)
    read, asked = scores > 0, questions.asked
    counts = " ".join(
        f"{label} {(read & asked)[:, nth].sum()}/{asked[:, nth].sum()}+{(read & ~asked)[:, nth].sum()}"
        for nth, label in enumerate(LABELS)
    )
    has_any, is_exact = asked.any(axis=1), (read == asked).all(axis=1)
    print(f"{name}: {counts}")
    print(
        f"  exactly read {is_exact[has_any].sum()} of {has_any.sum()}, "
        f"false alarms {read[~has_any].any(axis=1).sum()} of {(~has_any).sum()}"
    )


def write(layers: Layers, scale: tuple[float, float]) -> None:
    n = (layers.shape[1] - 1) // 2
    tensors: Mapping[str, Any] = {
        "tokens": layers[:, :n] / scale[0],
        "mean": layers[:, n : 2 * n] / scale[1],
        "constant": layers[:, -1],
    }
    save_file({name: values.astype(np.float32) for name, values in tensors.items()}, FILE)
    print(f"wrote {FILE.name}; SHA256 = {hashlib.sha256(FILE.read_bytes()).hexdigest()!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reader", type=Path, help="folder with squad_sentences and xquad")
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    parser.add_argument("--final", action="store_true", help="count on the final questions, too")
    options = parser.parse_args()
    examples = [*labelled("train"), *written("train")]
    if options.reader:
        examples += [*of_squad(options.reader), *of_xquad(options.reader, 0)]
    training = encoded(examples)
    scale = float(training.vectors.std()), float(training.means.std())
    layers = np.stack([trained(training, nth, scale) for nth in range(len(LABELS))])
    for name in ("check", *(["final"] if options.final else [])):
        report(name, layers, encoded(labelled(name)), scale)
        report(f"written {name}", layers, encoded(written(name)), scale)
    if options.reader:
        report("XQuAD, other articles", layers, encoded(of_xquad(options.reader, 1)), scale)
    if options.write:
        write(layers, scale)


if __name__ == "__main__":
    main()
