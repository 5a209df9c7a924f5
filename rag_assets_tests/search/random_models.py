"""Models of fastembed's hub with random weights, in their true shapes, where a download would put
them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from string import ascii_letters
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from rag_assets.search.embedding.base import SEGMENTS, BertShape
from rag_assets.search.embedding.onnx_graph import write_bert
from rag_assets_testing.packaged_tokenizer import write_tokenizer

N_WORDS, MAX_TOKENS = 30_522, 512
_SPREAD = 0.02
"""As BERT was initialised: with more, layers wash out what tells the tokens of a text apart."""
Tensors = dict[str, np.ndarray[Any, np.dtype[np.float32]]]


def write_wordpiece(folder: Path) -> None:
    """The tokenizer of BERT's models."""
    write_tokenizer(folder, max_tokens=MAX_TOKENS)


def write_unigram(folder: Path) -> None:
    """The tokenizer of XLM-RoBERTa's models, with letters instead of its 250,002 pieces."""
    special = ("<s>", "<pad>", "</s>", "<unk>")
    letters = [*ascii_letters, *(f"\N{LOWER ONE EIGHTH BLOCK}{letter}" for letter in ascii_letters)]
    pieces = [*((name, 0.0) for name in special), *((letter, -5.0) for letter in letters)]
    tokenizer = Tokenizer(models.Unigram(pieces, special.index("<unk>"), False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"model_max_length": MAX_TOKENS, "pad_token": "<pad>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 1}))


def write_model(
    models_folder: Path,
    repository: str,
    file: str,
    shape: BertShape,
    head: int | None = None,
    write_its_tokenizer: Callable[[Path], None] = write_wordpiece,
) -> Path:
    """Returns the ONNX file. repository: as huggingface_hub names its folder. head: None, logits per
    text (1) or per token (the number of words)."""
    place = models_folder / repository
    model = place / "snapshots" / "0123" / file
    model.parent.mkdir(parents=True)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text("0123")
    write_its_tokenizer(place / "snapshots" / "0123")
    draw = np.random.default_rng(1)
    weights = {
        name: draw.standard_normal(size, dtype=np.float32) * np.float32(_SPREAD)
        + np.float32(name.endswith("LayerNorm.weight"))
        for name, size in _sizes(shape).items()
    }
    write_bert(weights, shape, model)
    if head is not None:
        matrix = draw.standard_normal((shape.n_hidden, head), dtype=np.float32) * np.float32(0.05)
        _add_head(model, matrix, of_first_token=head == 1)
    return model


def _sizes(shape: BertShape) -> Mapping[str, tuple[int, ...]]:
    n = shape.n_hidden
    sizes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (N_WORDS, n),
        "embeddings.position_embeddings.weight": (MAX_TOKENS, n),
        "embeddings.token_type_embeddings.weight": (1, n),
        SEGMENTS: (2, n),
    }
    norms = ["embeddings"]
    for at in (f"encoder.layer.{index}" for index in range(shape.n_layers)):
        dense = {f"attention.self.{part}": (n, n) for part in ("query", "key", "value")}
        dense |= {"attention.output.dense": (n, n), "intermediate.dense": (4 * n, n)}
        for name, size in (dense | {"output.dense": (n, 4 * n)}).items():
            sizes |= {f"{at}.{name}.weight": size, f"{at}.{name}.bias": size[:1]}
        norms += [f"{at}.attention.output", f"{at}.output"]
    return sizes | {f"{at}.LayerNorm.{part}": (n,) for at in norms for part in ("weight", "bias")}


def _add_head(file: Path, matrix: np.ndarray[Any, Any], *, of_first_token: bool) -> None:
    """Replace the output by `logits`."""
    model = onnx.load(file)
    graph = model.graph
    hidden = graph.output[0].name
    graph.initializer.append(numpy_helper.from_array(matrix, "head"))
    shape = ["texts", "tokens", matrix.shape[1]]
    if of_first_token:
        graph.initializer.append(numpy_helper.from_array(np.array(0, np.int64), "first"))
        graph.node.append(helper.make_node("Gather", [hidden, "first"], ["pooled"], axis=1))
        hidden = "pooled"
        del shape[1]
    graph.node.append(helper.make_node("MatMul", [hidden, "head"], ["logits"]))
    del graph.output[:]
    graph.output.append(helper.make_tensor_value_info("logits", TensorProto.FLOAT, shape))
    onnx.save(model, file)
