"""The trained weights of the sentence reader: what is added to the packaged all-MiniLM-L6-v2, and the head that scores.

What is added to a matrix is a product of two thin ones (LoRA, Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large
Language Models"), so that the file is a fiftieth of the model. How they were trained: docs/adr/0047.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_assets.search.embedding.local_weights import SEGMENTS, checked_file, read_weights

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
    """The file's tensors by name. Raises MissingModel when it is not there or not the one that was trained."""
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
        weights[f"{name}.weight"] = weights[f"{name}.weight"] + tensors[name + UP] @ tensors[name + DOWN]
    return weights | {SEGMENTS: tensors[SEGMENTS]}
