"""The packaged all-MiniLM-L6-v2: its files, the proof that they are the right ones, and the model's dimensions.

What is made of them (an ONNX graph) lives in `onnx_graph`, where that is kept in `local_model`.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_assets.core.errors import MissingModel
from rag_assets.core.incremental import file_sha256
from rag_assets.core.text.tokens import REINSTALL, packaged_model_folder

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of model.safetensors, here as in the official sentence-transformers/all-MiniLM-L6-v2."""
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
"""Of tokenizer.json; another vocabulary would make other vectors of the same weights."""
PACKAGED_TOKENIZER_ID = f"wordpiece-{TOKENIZER_SHA256[:8]}"
SEGMENT_IDS = "token_type_ids"
"""Input of a graph whose inputs have segments: the number of each token's segment, 0-based."""
SEGMENTS = "embeddings.segments.weight"
"""Name of the vectors that are added to the tokens of each segment, shape (n_segments, n_hidden)."""


@dataclass(frozen=True)
class BertShape:
    """Dimensions of a BERT encoder that its weights do not tell; the defaults are all-MiniLM-L6-v2's (config.json)."""

    n_layers: int = 6
    n_heads: int = 12
    n_hidden: int = 384
    layer_norm_epsilon: float = 1e-12
    max_tokens: int = 256
    """Longest input the model was trained for, special tokens included (sentence_bert_config.json)."""
    n_segments: int = 0
    """Parts of an input that are told apart, each by a vector of its own; 0: none are."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return ("input_ids", "attention_mask", *([SEGMENT_IDS] if self.n_segments else []))


MINILM = BertShape()


def read_weights() -> dict[str, NDArray[np.float32]]:
    """Tensor name -> float32 array; raises MissingModel when the folder is not installed or holds other weights."""
    from safetensors.numpy import load_file

    return load_file(checked_file(packaged_model_folder() / "model.safetensors", WEIGHTS_SHA256))


def packaged_tokenizer() -> Path:
    """The packaged tokenizer.json; raises MissingModel when the folder is not installed or holds another one."""
    return checked_file(packaged_model_folder() / "tokenizer.json", TOKENIZER_SHA256)


def checked_file(path: Path, sha256: str, model: str = "the official all-MiniLM-L6-v2") -> Path:
    """The path given, if the file there has that SHA-256; raises MissingModel otherwise. model: whose file it is."""
    if not path.is_file():
        raise MissingModel(f"{path}, a file of {model}, does not exist. {REINSTALL}")
    if (found := file_sha256(path)) != sha256:
        raise MissingModel(f"{path} is not the file of {model}: its SHA-256 is {found}, not {sha256}. {REINSTALL}")
    return path
