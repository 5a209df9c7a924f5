"""BERT encoders that are built here: their dimensions, and running them on onnxruntime.

`onnx_graph` writes the graphs; `local_model` and the sentence reader (`reranking`) read weights and
keep the files.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.core.errors import MissingModel
from rag_assets.search.embedding.base import shared

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

SEGMENT_IDS = "token_type_ids"
"""Input of a graph whose inputs have segments: the number of each token's segment, 0-based."""
EMBEDDINGS = "embeddings"
"""Input of a graph that is fed the sum of word, position and segment vectors, shape (n_texts,
n_tokens, n_hidden); each text is as long as the others."""
SEGMENTS = "embeddings.segments.weight"
"""Name of the vectors that are added to the tokens of each segment, shape (n_segments,
n_hidden)."""


@dataclass(frozen=True)
class BertShape:
    """Dimensions of a BERT encoder that its weights do not show; the defaults are
    all-MiniLM-L6-v2's (config.json)."""

    n_layers: int = 6
    n_heads: int = 12
    n_hidden: int = 384
    layer_norm_epsilon: float = 1e-12
    max_tokens: int = 256
    """Longest input the model was trained for, special tokens included
    (sentence_bert_config.json)."""
    n_segments: int = 0
    """Parts of an input that are distinguished, each by a vector of its own."""
    is_fed_embeddings: bool = False
    """Whether the vectors of a text's tokens come from outside, and no table of them is within."""

    @property
    def inputs(self) -> tuple[str, ...]:
        if self.is_fed_embeddings:
            return (EMBEDDINGS,)
        return ("input_ids", "attention_mask", *([SEGMENT_IDS] if self.n_segments else []))


MINILM = BertShape()


def loaded_bert(file: Path) -> "InferenceSession":
    """The encoder in a file, on one thread. Raises MissingModel when it cannot be loaded."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        return shared(
            file, lambda: InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        )
    except Exception as error:  # onnxruntime's loading errors share no narrower base
        raise MissingModel(
            f"The model in {file.parent} cannot be loaded ({type(error).__name__}: {error}). "
            "Delete that folder and run again: it will be made anew."
        ) from error
