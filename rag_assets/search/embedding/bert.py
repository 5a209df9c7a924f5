"""BERT encoders whose graphs are built here: their dimensions, and how they are loaded into
onnxruntime.

`onnx_graph` writes the graphs; `local_model` and the sentence reader (`reranking`) read the weights
and manage the files.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.core.errors import MissingModel
from rag_assets.search.embedding.base import shared

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

SEGMENT_IDS = "token_type_ids"
"""Graph input: the number of each token's segment, from 0. Only graphs with segments have it."""
EMBEDDINGS = "embeddings"
"""Graph input instead of token ids: the sum of word, position and segment vectors, shape (n_texts,
n_tokens, n_hidden). All texts of a call have the same length."""
SEGMENTS = "embeddings.segments.weight"
"""Name of the tensor of segment vectors, shape (n_segments, n_hidden): each is added to the tokens
of its segment."""


@dataclass(frozen=True)
class BertShape:
    """Dimensions of a BERT encoder that cannot be read from its weights. The defaults are those of
    all-MiniLM-L6-v2 (config.json)."""

    n_layers: int = 6
    n_heads: int = 12
    n_hidden: int = 384
    layer_norm_epsilon: float = 1e-12
    max_tokens: int = 256
    """Longest input the model was trained for, special tokens included
    (sentence_bert_config.json)."""
    n_segments: int = 0
    """Number of different segments in an input, each with its own vector; 0 for none."""
    is_fed_embeddings: bool = False
    """Whether the caller gives the vectors of the tokens. Then the graph has no table of them."""

    @property
    def inputs(self) -> tuple[str, ...]:
        if self.is_fed_embeddings:
            return (EMBEDDINGS,)
        return ("input_ids", "attention_mask", *([SEGMENT_IDS] if self.n_segments else []))


MINILM = BertShape()


def loaded_bert(file: Path) -> "InferenceSession":
    """The encoder in a file, running on one thread. Raises MissingModel if it cannot be loaded."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        return shared(
            file, lambda: InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        )
    except Exception as error:  # onnxruntime's loading errors have no common class
        raise MissingModel(
            f"The model in {file.parent} cannot be loaded ({type(error).__name__}: {error}). "
            "Delete that folder and run again: it will be made anew."
        ) from error
