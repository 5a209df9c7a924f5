"""Trains the network of `rag_assets.search.retrieval.question_reader`, and counts what it reads
rightly.

The questions beside this file were written by language models that saw papers and reports, or
titles, and no code, with what each asks for and with its words that name a work or an author:
`train.jsonl`, `check.jsonl` (looked at while it was made) and `final.jsonl` (scored once; nobody
read what was missed). Their labels "summary" and "papers" are not trained. Questions about content
come from `reader_training/written`, and from SQuAD and XQuAD, if a folder with them is given. XQuAD
is split by article: one half is trained on, one half counts false alarms.

Usage: python -m benchmarks.question_reader [--reader FOLDER] [--final] [--write]
"""

import argparse
import gzip
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from rag_assets.core.settings import load_settings
from rag_assets.questions.reading import THIS_PAPER
from rag_assets.search.embedding.local_model import E5_INNER_LAYERS, E5_INT8, MultilingualE5
from rag_assets.search.retrieval.question_reader import (
    FILE,
    LABELS,
    LEAST_LABEL,
    LEAST_MARK,
    MARKS,
    SHARPNESS,
    scores,
)

HERE = Path(__file__).parent
WRITTEN = HERE.parent / "reader_training" / "written"
MOST_OF_SQUAD = 3_000
N_HIDDEN, N_NETWORKS = 48, 3
"""Hidden units of a network, and how many are trained and put side by side."""
EPOCHS, BATCH, RATE, DECAY, DROPPED, LABELLED_TIMES = 14, 64, 2e-3, 0.1, 0.2, 2
"""DECAY: of the weights, as a share of each step. LABELLED_TIMES: how often a written question is
shown for each showing of the others."""
MARKED_TOKENS = 8
"""The loss of all marks of a question counts as that of so many tokens."""
REPLACED_EVERY, QUOTES = 3, "\"'“”„«»‘’「」『』《》"
"""Of so many questions that name a work one is shown with "this paper" for the name, too."""
Array = NDArray[np.float32]
Weights = dict[str, Array]


@dataclass(frozen=True)
class Example:
    """A question as the inner layers see it."""

    states: Array
    """Shape (n_tokens, n_layers * 384), each column centred and of about unit variance."""
    asked: Array
    """Shape (n labels,): 1 for each label."""
    marks: Array
    """Shape (n_tokens, n marks)."""
    has_marks: bool
    """Whether the question was marked."""
    language: str


@dataclass(frozen=True)
class Batch:
    """Questions side by side, filled up with zeros to the longest."""

    states: Array
    mask: Array
    """Shape (n_questions, n_tokens): 1 for a token, 0 for filling."""
    asked: Array
    marks: Array
    has_marks: Array


def rows(file: Path) -> list[dict[str, Any]]:
    data = file.read_bytes()
    text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode()
    return [json.loads(line) for line in text.splitlines()]


def about_content(name: str) -> list[dict[str, Any]]:
    """The questions of `reader_training` that ask for nothing of this."""
    asked = rows(WRITTEN / f"{name}.jsonl")
    return [row for row in asked if row["kind"] not in ("record", "section")]


def of_xquad(folder: Path, parity: int) -> list[dict[str, Any]]:
    found = rows(folder / "xquad.jsonl.gz")
    own = set(sorted({row["title"] for row in found})[parity::2])
    return [row for row in found if row["title"] in own][::4]


def of_squad(folder: Path) -> list[dict[str, Any]]:
    by_question = {row["question"]: row for row in rows(folder / "squad_sentences.jsonl.gz")}
    return list(by_question.values())[:: max(1, len(by_question) // MOST_OF_SQUAD)]


def as_replaced(row: Mapping[str, Any]) -> dict[str, Any]:
    """The question with "this paper" in place of the first name of a work, as a search replaces it
    where it knows the paper."""
    name = re.compile(f"[{QUOTES}]?{re.escape(row['work'][0])}[{QUOTES}]?")
    text = name.sub(THIS_PAPER, row["question"], count=1)
    return {**row, "question": text, "work": [one for one in row["work"][1:] if one in text]}


class Reader:
    """Makes examples of questions."""

    def __init__(self) -> None:
        self._model = MultilingualE5(E5_INT8, load_settings().paths.models, 1)
        self.centre: Array = np.zeros(384 * len(E5_INNER_LAYERS), np.float32)
        self.scale = 1.0

    def fit(self, questions: Sequence[Mapping[str, Any]]) -> None:
        """Takes centre and scale from the tokens of these questions."""
        states = np.concatenate([self._model.inner_states(row["question"])[0] for row in questions])
        self.centre, self.scale = states.mean(axis=0), float(states.std())

    def examples(self, questions: Sequence[Mapping[str, Any]]) -> list[Example]:
        with ThreadPoolExecutor(2) as pool:
            return [one for one in pool.map(self._example, questions) if len(one.states)]

    def _example(self, row: Mapping[str, Any]) -> Example:
        text = row["question"]
        states, spans = self._model.inner_states(text)
        marks = np.zeros((len(spans), len(MARKS)), np.float32)
        for column, mark in enumerate(MARKS):
            for name in row.get(mark, ()):
                start = text.find(name)
                while start >= 0:
                    end = start + len(name)
                    marks[(spans[:, 0] < end) & (spans[:, 1] > start), column] = 1
                    start = text.find(name, end)
        asked = np.array([label in row.get("labels", ()) for label in LABELS], np.float32)
        states = (states - self.centre) / self.scale
        return Example(states, asked, marks, "work" in row, row.get("language", ""))


def batch_of(examples: Sequence[Example]) -> Batch:
    longest = max(len(one.states) for one in examples)

    def filled(arrays: Sequence[Array]) -> Array:
        return np.stack([np.pad(one, ((0, longest - len(one)), (0, 0))) for one in arrays])

    return Batch(
        filled([one.states for one in examples]),
        filled([np.ones((len(one.states), 1), np.float32) for one in examples])[:, :, 0],
        np.stack([one.asked for one in examples]),
        filled([one.marks for one in examples]),
        np.array([one.has_marks for one in examples], np.float32),
    )


def first_weights(random: np.random.Generator) -> Weights:
    n_states, n, m = 384 * len(E5_INNER_LAYERS), len(LABELS), len(MARKS)
    shapes = {
        "tokens": (n_states, N_HIDDEN, 1.0),
        "context": (n_states, N_HIDDEN, 0.3),
        "highest": (N_HIDDEN, n, 0.3),
        "mean": (N_HIDDEN, n, 0.1),
        "marks": (3 * N_HIDDEN, m, 0.3),
    }
    weights = {
        name: random.normal(0, size / np.sqrt(rows), (rows, columns)).astype(np.float32)
        for name, (rows, columns, size) in shapes.items()
    }
    return weights | {
        "constant": np.zeros(N_HIDDEN, np.float32),
        "label_constant": np.full(n, -2, np.float32),
        "mark_constant": np.full(m, -2, np.float32),
    }


def with_neighbours(hidden: Array) -> Array:
    padded = np.pad(hidden, ((0, 0), (1, 1), (0, 0)))
    return np.concatenate([padded[:, :-2], hidden, padded[:, 2:]], axis=2)


def shares(of_scores: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(of_scores, -30, 30))), np.float32)


def gradient_of(weights: Weights, batch: Batch, kept: Array) -> Weights:
    """The gradient of the loss (cross-entropy) of what `question_reader.scores` says of a batch.
    kept: factors of the hidden units (dropout), shape (n_questions, 1, n_hidden)."""
    # forward
    mask = batch.mask[:, :, np.newaxis]
    lengths = mask.sum(axis=1)
    mean_state = batch.states.sum(axis=1) / lengths
    before = batch.states @ weights["tokens"] + weights["constant"]
    before += (mean_state @ weights["context"])[:, np.newaxis]
    hidden = np.maximum(before, 0) * mask * kept
    of_tokens = np.where(mask > 0, SHARPNESS * (hidden @ weights["highest"]), -np.inf)
    highest = of_tokens.max(axis=1, keepdims=True)
    parts = np.exp(of_tokens - highest)
    total = parts.sum(axis=1)
    pooled = (highest[:, 0] + np.log(total / lengths)) / SHARPNESS
    mean = hidden.sum(axis=1) / lengths
    of_labels = pooled + mean @ weights["mean"] + weights["label_constant"]
    near = with_neighbours(hidden)
    of_marks = near @ weights["marks"] + weights["mark_constant"]
    # backward
    by_label = (shares(of_labels) - batch.asked) / len(batch.asked)
    counted = mask * batch.has_marks[:, np.newaxis, np.newaxis]
    by_mark = (shares(of_marks) - batch.marks) * counted
    by_mark /= MARKED_TOKENS * max(1.0, float(batch.has_marks.sum()))
    by_token = parts / total[:, np.newaxis] * by_label[:, np.newaxis]
    by_near = by_mark @ weights["marks"].T
    by_hidden = by_token @ weights["highest"].T
    by_hidden += (by_label @ weights["mean"].T / lengths)[:, np.newaxis]
    by_hidden += by_near[:, :, N_HIDDEN : 2 * N_HIDDEN]
    by_hidden[:, :-1] += by_near[:, 1:, :N_HIDDEN]
    by_hidden[:, 1:] += by_near[:, :-1, 2 * N_HIDDEN :]
    by_before = by_hidden * (before > 0) * mask * kept
    by_mean_state = by_before.sum(axis=1)
    return {
        "tokens": np.tensordot(batch.states, by_before, ([0, 1], [0, 1])),
        "context": mean_state.T @ by_mean_state,
        "constant": by_mean_state.sum(axis=0),
        "highest": np.tensordot(hidden, by_token, ([0, 1], [0, 1])),
        "mean": mean.T @ by_label,
        "label_constant": by_label.sum(axis=0),
        "marks": np.tensordot(near, by_mark, ([0, 1], [0, 1])),
        "mark_constant": by_mark.sum(axis=(0, 1)),
    }


def trained(examples: Sequence[Example], seed: int) -> Weights:
    """One network, by Adam with decoupled decay of weights (Loshchilov and Hutter 2019)."""
    random = np.random.default_rng(seed)
    weights = first_weights(random)
    moments = {name: (np.zeros_like(one), np.zeros_like(one)) for name, one in weights.items()}
    n_steps, step = EPOCHS * -(-len(examples) // BATCH), 0
    for _ in range(EPOCHS):
        for batch in shuffled(examples, random):
            step += 1
            rate = RATE * min(1, step / 100) * (1 - 0.95 * step / n_steps)
            kept = (random.random((len(batch.asked), 1, N_HIDDEN)) > DROPPED) / (1 - DROPPED)
            gradient = gradient_of(weights, batch, kept.astype(np.float32))
            for name, (first, second) in moments.items():
                first += 0.1 * (gradient[name] - first)
                second += 0.001 * (gradient[name] ** 2 - second)
                change = first / (1 - 0.9**step)
                change = change / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
                if weights[name].ndim > 1:
                    change = change + DECAY * weights[name]
                weights[name] = (weights[name] - rate * change).astype(np.float32)
    return weights


def shuffled(examples: Sequence[Example], random: np.random.Generator) -> Iterator[Batch]:
    """All examples in batches of about the same length, in a random order."""
    lengths = np.array([len(one.states) for one in examples])
    order = np.argsort(lengths + 2 * random.random(len(examples)))
    batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
    for nth in random.permutation(len(batches)):
        yield batch_of([examples[i] for i in batches[nth]])


def joined(networks: Sequence[Weights]) -> Weights:
    """One network whose scores are the means of the networks' scores of tokens and marks: their
    hidden units side by side."""
    n = len(networks)
    whole = {
        name: np.concatenate([one[name] for one in networks], axis=-1)
        for name in ("tokens", "context", "constant")
    }
    whole |= {
        name: np.concatenate([one[name] for one in networks]) / n for name in ("highest", "mean")
    }
    by_place = [one["marks"].reshape(3, N_HIDDEN, -1) for one in networks]
    whole["marks"] = np.concatenate(by_place, axis=1).reshape(3 * n * N_HIDDEN, -1) / n
    for name in ("label_constant", "mark_constant"):
        whole[name] = np.mean([one[name] for one in networks], axis=0)
    return whole


def read(weights: Weights, examples: Sequence[Example]) -> tuple[Array, list[Array]]:
    """The scores of labels, shape (n_examples, n labels), and of the marks of each example."""
    found = [scores(one.states, weights) for one in examples]
    return np.stack([labels for labels, _ in found]), [marks for _, marks in found]


def report(name: str, weights: Weights, examples: Sequence[Example]) -> None:
    labels, marks = read(weights, examples)
    is_read, asked = labels > LEAST_LABEL, np.stack([one.asked for one in examples]) > 0
    counts = " ".join(
        f"{label} {(is_read & asked)[:, nth].sum()}/{asked[:, nth].sum()}+{(is_read & ~asked)[:, nth].sum()}"
        for nth, label in enumerate(LABELS)
    )
    print(f"{name}: {counts}")
    is_english = np.array([one.language == "en" for one in examples])
    has_any, is_exact = asked.any(axis=1), (is_read == asked).all(axis=1)
    for which, of in (("English", is_english), ("others", ~is_english)):
        if of.any():
            print(
                f"  {which}: exactly read {is_exact[of & has_any].sum()} of {(of & has_any).sum()}, false "
                f"alarms {is_read[of & ~has_any].any(axis=1).sum()} of {(of & ~has_any).sum()}"
            )
    for nth, mark in enumerate(MARKS):
        pairs = [
            (found[:, nth] > LEAST_MARK, one.marks[:, nth] > 0)
            for found, one in zip(marks, examples, strict=True)
            if one.has_marks
        ]
        if pairs:
            found, wanted = (np.concatenate(side) for side in zip(*pairs, strict=True))
            right = (found & wanted).sum()
            print(f"  {mark}: {right} of {wanted.sum()} tokens, {found.sum() - right} others")


def write(weights: Weights, reader: Reader) -> None:
    """Writes the weights for states as they come from the model."""
    of_states = {name: weights[name] / reader.scale for name in ("tokens", "context")}
    moved = reader.centre @ (of_states["tokens"] + of_states["context"])
    whole = weights | of_states | {"constant": weights["constant"] - moved}
    save_file({name: one.astype(np.float16) for name, one in whole.items()}, FILE)
    print(f"wrote {FILE.name}; SHA256 = {hashlib.sha256(FILE.read_bytes()).hexdigest()!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reader", type=Path, help="folder with squad_sentences and xquad")
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    parser.add_argument("--final", action="store_true", help="count on the final questions, too")
    options = parser.parse_args()
    labelled, others = rows(HERE / "train.jsonl"), about_content("train")
    labelled += map(as_replaced, [row for row in labelled if row["work"]][::REPLACED_EVERY])
    if options.reader:
        others += [*of_squad(options.reader), *of_xquad(options.reader, 0)]
    reader = Reader()
    reader.fit(labelled)
    examples = reader.examples(others) + LABELLED_TIMES * reader.examples(labelled)
    weights = joined([trained(examples, seed) for seed in range(N_NETWORKS)])
    for name in ("check", *(["final"] if options.final else [])):
        report(name, weights, reader.examples(rows(HERE / f"{name}.jsonl")))
        report(f"written {name}", weights, reader.examples(about_content(name)))
    if options.reader:
        report("XQuAD, other articles", weights, reader.examples(of_xquad(options.reader, 1)))
    if options.write:
        write(weights, reader)


if __name__ == "__main__":
    main()
