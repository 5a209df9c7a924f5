"""Reads a question and a sentence together and estimates how surely the sentence answers the
question.

Vectors that were made apart show whether two texts have the same subject. Which of ten sentences on
that subject answers is found only by reading each with the question (a cross-encoder, Nogueira and
Cho 2019, "Passage Re-ranking with BERT"). The model is the packaged one with weights added to it
that were trained on questions of readers (docs/adr/0041). Each addition to a matrix is a product of
two thin ones (LoRA, Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models"), so the
file is a fiftieth of the model.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag_assets.core.settings import Settings
from rag_assets.core.text.tokens import ModelTokenizer
from rag_assets.search.embedding.bert import MINILM, SEGMENT_IDS, SEGMENTS, loaded_bert
from rag_assets.search.embedding.local_model import (
    WEIGHTS_SHA256,
    checked_file,
    packaged_tokenizer,
    read_weights,
    ready_folder,
)

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

Matrix = NDArray[np.float32]

FILE = Path(__file__).with_name("sentence_reader.safetensors")
SHA256 = "6d349d975a6aa5f1116974ea72f5680c39d1082aa6780cd3c1a034c639a70772"
DOWN, UP = ".down", ".up"
"""End the names of the two thin matrices whose product UP @ DOWN is added to one of the model's."""
HEAD_WEIGHT, HEAD_NEARNESS, HEAD_CONSTANT = "head.weight", "head.nearness", "head.constant"


@dataclass(frozen=True)
class Head:
    """Turns what the encoder makes of question and sentence into one number."""

    start: Matrix
    """Weights of the first token, shape (n_hidden,)."""
    mean: Matrix
    """Weights of the mean of the sentence's tokens, shape (n_hidden,)."""
    nearness: float
    """Weight of the mean over the question's tokens of the best cosine among the sentence's."""
    constant: float


def trained(file: Path = FILE, sha256: str = SHA256) -> Mapping[str, Matrix]:
    """The file's tensors by name. Raises MissingModel when it is not there or not the one that was
    trained."""
    from safetensors.numpy import load_file

    checked = checked_file(file, sha256, "the sentence reader")
    return {name: values.astype(np.float32) for name, values in load_file(checked).items()}


def head_of(tensors: Mapping[str, Matrix]) -> Head:
    start, mean = np.split(tensors[HEAD_WEIGHT], 2)
    return Head(start, mean, float(tensors[HEAD_NEARNESS][0]), float(tensors[HEAD_CONSTANT][0]))


def merged(tensors: Mapping[str, Matrix]) -> dict[str, Matrix]:
    """The packaged weights with what was trained added to them, and the vectors of the segments."""
    weights = dict(read_weights())
    for name in [name.removesuffix(DOWN) for name in tensors if name.endswith(DOWN)]:
        weights[f"{name}.weight"] = (
            weights[f"{name}.weight"] + tensors[name + UP] @ tensors[name + DOWN]
        )
    return weights | {SEGMENTS: tensors[SEGMENTS]}


READER_VERSION = 2
"""Raise it with every change here or in `onnx_graph` that changes a score."""
MAX_QUESTION, MAX_BEFORE, MAX_SENTENCE = 32, 20, 64
"""Tokens that are read of each; of the text before the sentence the last ones."""
QUESTION, BEFORE, SENTENCE = 0, 1, 2
"""Numbers of the segments. The token behind the question belongs to the question, the last one to
the sentence."""
SHAPE = replace(MINILM, n_segments=3)
_START, _END = 101, 102
"""[CLS] and [SEP] in BERT's vocabulary."""
_MODEL = "model.onnx"
_KEPT_SCORES = 20_000
"""When too few papers answer, a question is asked of more contexts; what was read is not read
again."""
Scores = NDArray[np.float32]
_Ids = NDArray[np.int64]


class PrecededText(NamedTuple):
    """A sentence or a row of a table."""

    text: str
    before: str = ""
    """The text before it in its paragraph; the end of that is enough."""


@dataclass(frozen=True)
class _Loaded:
    session: "InferenceSession"
    head: Head
    ids: Callable[[str], list[int]]


class TrainedReader:
    """Built below `models_folder` and loaded when the first question is read. Safe to use from
    several threads."""

    def __init__(self, models_folder: Path, n_threads: int) -> None:
        self._models_folder = models_folder
        self._n_threads = n_threads
        self._loading = Lock()
        self._model: _Loaded | None = None
        self._score = lru_cache(_KEPT_SCORES)(self._read)

    @property
    def identity(self) -> str:
        """Part of the key of whatever follows from the scores; names the folder of the model."""
        return f"sentence-reader-{WEIGHTS_SHA256[:8]}-{SHA256[:8]}-v{READER_VERSION}"

    def scores(self, question: str, sentences: Sequence[PrecededText]) -> Scores:
        """For each sentence the logarithm of the odds that it answers the question, shape
        (len(sentences),).

        A score depends on the question and its own sentence only. Raises MissingModel when the
        model cannot be loaded.
        """

        def score(sentence: PrecededText) -> float:
            return self._score(question, sentence.before, sentence.text)

        with ThreadPoolExecutor(self._n_threads) as pool:
            return np.array(list(pool.map(score, sentences)), np.float32)

    def _read(self, question: str, before: str, text: str) -> float:
        model = self._loaded()
        ids, segments = joined(model.ids(question), model.ids(before), model.ids(text))
        fed = {
            "input_ids": ids[None],
            "attention_mask": np.ones_like(ids)[None],
            SEGMENT_IDS: segments[None],
        }
        (hidden,) = model.session.run(None, fed)
        return _scored(hidden[0], segments, model.head)

    def _loaded(self) -> _Loaded:
        with self._loading:
            if self._model is None:
                folder = ready_folder(self._models_folder / self.identity, _write)
                self._model = _Loaded(
                    loaded_bert(folder / _MODEL), head_of(trained()), open_tokenizer()
                )
            return self._model


def open_sentence_reader(settings: Settings) -> TrainedReader:
    """Opening it is free; see `TrainedReader`."""
    return TrainedReader(settings.paths.models, settings.execution.n_workers)


def open_tokenizer() -> Callable[[str], list[int]]:
    """Makes the token ids that the model reads of a text, without special tokens."""
    tokenizer = ModelTokenizer(packaged_tokenizer())
    return lambda text: list(tokenizer.encoded(text).ids[1:-1])


def joined(
    question: Sequence[int], before: Sequence[int], sentence: Sequence[int]
) -> tuple[_Ids, _Ids]:
    """Token ids of what is read together, and the segment of each, both of shape (n_tokens,)."""
    parts = [
        [_START, *question[:MAX_QUESTION], _END],
        list(before[-MAX_BEFORE:]),
        [*sentence[:MAX_SENTENCE], _END],
    ]
    segments = [
        segment
        for segment, part in zip((QUESTION, BEFORE, SENTENCE), parts, strict=True)
        for _ in part
    ]
    return np.array([token for part in parts for token in part], np.int64), np.array(
        segments, np.int64
    )


def _scored(hidden: NDArray[np.float32], segments: _Ids, head: Head) -> float:
    """hidden: shape (n_tokens, n_hidden)."""
    unit = hidden / np.linalg.norm(hidden, axis=1, keepdims=True)
    asked, own = (segments == QUESTION)[1:], segments == SENTENCE
    nearness = (unit[1:][asked] @ unit[own].T).max(axis=1).mean()
    score = (
        head.start @ hidden[0]
        + head.mean @ hidden[own].mean(axis=0)
        + head.nearness * nearness
        + head.constant
    )
    return float(score)


def _write(folder: Path) -> None:
    from rag_assets.search.embedding import onnx_graph

    onnx_graph.write_int8(merged(trained()), SHAPE, folder / _MODEL)
