"""Reads a question and a sentence together, and estimates how likely the sentence answers the
question.

Vectors made separately show whether two texts have the same subject. To find out which of ten
sentences on that subject answers the question, each must be read together with it (a cross-encoder,
Nogueira and Cho 2019, "Passage Re-ranking with BERT"). The model is all-MiniLM-L6-v2 with trained
additions to its weights (docs/adr/0023). The addition to a matrix is the product of two small
matrices (LoRA, Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models"), so the file
has a fiftieth of the model's size.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag_assets.core.settings import Settings
from rag_assets.core.text.tokens import ModelTokenizer
from rag_assets.search.embedding.base import MINILM, SEGMENT_IDS, SEGMENTS, loaded_bert
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
"""Endings of the names of the two small matrices: the product UP @ DOWN is added to a matrix of the
model."""
HEAD_WEIGHT, HEAD_NEARNESS, HEAD_CONSTANT = "head.weight", "head.nearness", "head.constant"


@dataclass(frozen=True)
class Head:
    """Turns the encoder's output for a question and a sentence into one number."""

    start: Matrix
    """Weights of the first token's vector, shape (n_hidden,)."""
    mean: Matrix
    """Weights of the mean vector of the sentence's tokens, shape (n_hidden,)."""
    nearness: float
    """Weight of the nearness: for each token of the question the best cosine with a token of the
    sentence, averaged."""
    constant: float


def trained(file: Path = FILE, sha256: str = SHA256) -> Mapping[str, Matrix]:
    """The tensors in the file, by name. Raises MissingModel if the file is missing or is not the
    trained one."""
    from safetensors.numpy import load_file

    checked = checked_file(file, sha256, "the sentence reader")
    return {name: values.astype(np.float32) for name, values in load_file(checked).items()}


def head_of(tensors: Mapping[str, Matrix]) -> Head:
    start, mean = np.split(tensors[HEAD_WEIGHT], 2)
    return Head(start, mean, float(tensors[HEAD_NEARNESS][0]), float(tensors[HEAD_CONSTANT][0]))


def merged(tensors: Mapping[str, Matrix]) -> dict[str, Matrix]:
    """The packaged weights with the trained additions, and the vectors of the segments."""
    weights = dict(read_weights())
    for name in [name.removesuffix(DOWN) for name in tensors if name.endswith(DOWN)]:
        weights[f"{name}.weight"] = (
            weights[f"{name}.weight"] + tensors[name + UP] @ tensors[name + DOWN]
        )
    return weights | {SEGMENTS: tensors[SEGMENTS]}


READER_VERSION = 2
"""Raise it if a change here or in `onnx_graph` changes scores."""
MAX_QUESTION, MAX_BEFORE, MAX_SENTENCE = 32, 20, 64
"""Most tokens of question, text before the sentence, and sentence. Of the text before, the last
ones are read, of the others the first ones."""
QUESTION, BEFORE, SENTENCE = 0, 1, 2
"""Numbers of the segments. The special token after the question belongs to the question, the last
one to the sentence."""
SHAPE = replace(MINILM, n_segments=3)
_START, _END = 101, 102
"""[CLS] and [SEP] in BERT's vocabulary."""
_MODEL = "model.onnx"
_KEPT_SCORES = 20_000
"""Scores kept in memory: if too few papers answer, a question is asked again with more contexts,
and sentences read before are not read again."""
Scores = NDArray[np.float32]
_Ids = NDArray[np.int64]


class PrecededText(NamedTuple):
    """A sentence or a table row, and the text before it."""

    text: str
    before: str = ""
    """The text before it in its paragraph, or the end of that text."""


@dataclass(frozen=True)
class _Loaded:
    """The loaded model. ids: makes the token ids of a text."""

    session: "InferenceSession"
    head: Head
    ids: Callable[[str], list[int]]


class TrainedReader:
    """The model, which is built below `models_folder` and loaded for the first question. Safe to
    use from several threads."""

    def __init__(self, models_folder: Path, n_threads: int) -> None:
        self._models_folder = models_folder
        self._n_threads = n_threads
        self._cached_score = lru_cache(_KEPT_SCORES)(self._score)

    @property
    def identity(self) -> str:
        """Part of the key of everything that depends on the scores. It also names the folder of the
        model."""
        return f"sentence-reader-{WEIGHTS_SHA256[:8]}-{SHA256[:8]}-v{READER_VERSION}"

    def scores(self, question: str, sentences: Sequence[PrecededText]) -> Scores:
        """For each sentence the logarithm of the odds that it answers the question, shape
        (len(sentences),).

        A score depends on the question, the sentence and the text before it only. Raises
        MissingModel if the model cannot be loaded.
        """

        def score(sentence: PrecededText) -> float:
            return self._cached_score(question, sentence.before, sentence.text)

        with ThreadPoolExecutor(self._n_threads) as pool:
            return np.array(list(pool.map(score, sentences)), np.float32)

    def _score(self, question: str, before: str, text: str) -> float:
        model = self._model
        ids, segments = joined(model.ids(question), model.ids(before), model.ids(text))
        inputs = {
            "input_ids": ids[None],
            "attention_mask": np.ones_like(ids)[None],
            SEGMENT_IDS: segments[None],
        }
        (hidden,) = model.session.run(None, inputs)
        return _score_of(hidden[0], segments, model.head)

    @cached_property
    def _model(self) -> _Loaded:
        folder = ready_folder(self._models_folder / self.identity, _write)
        return _Loaded(loaded_bert(folder / _MODEL), head_of(trained()), open_tokenizer())


def open_sentence_reader(settings: Settings) -> TrainedReader:
    return TrainedReader(settings.paths.models, settings.execution.n_workers)


def open_tokenizer() -> Callable[[str], list[int]]:
    """A function that makes the token ids of a text, without special tokens."""
    tokenizer = ModelTokenizer(packaged_tokenizer())
    return lambda text: list(tokenizer.encoded(text).ids[1:-1])


def joined(
    question: Sequence[int], before: Sequence[int], sentence: Sequence[int]
) -> tuple[_Ids, _Ids]:
    """The input of the model: the token ids of the question, of the text before the sentence and of
    the sentence, joined; and the segment of each token. Both have shape (n_tokens,)."""
    parts = [
        [_START, *question[:MAX_QUESTION], _END],
        list(before[-MAX_BEFORE:]),
        [*sentence[:MAX_SENTENCE], _END],
    ]
    ids = np.array([token for part in parts for token in part], np.int64)
    segments = np.repeat([QUESTION, BEFORE, SENTENCE], [len(part) for part in parts])
    return ids, segments.astype(np.int64)


def _score_of(hidden: NDArray[np.float32], segments: _Ids, head: Head) -> float:
    """The head's score. hidden: the encoder's output, shape (n_tokens, n_hidden)."""
    unit = hidden / np.linalg.norm(hidden, axis=1, keepdims=True)
    # the first token stands for both texts, so it does not count as a token of the question
    in_question, in_sentence = (segments == QUESTION)[1:], segments == SENTENCE
    nearness = (unit[1:][in_question] @ unit[in_sentence].T).max(axis=1).mean()
    score = (
        head.start @ hidden[0]
        + head.mean @ hidden[in_sentence].mean(axis=0)
        + head.nearness * nearness
        + head.constant
    )
    return float(score)


def _write(folder: Path) -> None:
    """Write the model's file into an empty folder."""
    from rag_assets.search.embedding import onnx_graph

    onnx_graph.write_int8(merged(trained()), SHAPE, folder / _MODEL)
