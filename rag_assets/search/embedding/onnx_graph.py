"""Writes a BERT encoder as an ONNX graph, using onnxruntime's fused operators where they are
faster, and quantises it to int8.

This module knows tensors and operators, but no folders: `local_model` reads the tensors and manages
the files. Pooling and normalisation are not in the graph; the caller does them. Importing this
module imports onnx.

The operators (domain com.microsoft) are described in onnxruntime's docs/ContribOperators.md.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from rag_assets.search.embedding.base import (
    EMBEDDINGS,
    LAST_OUTPUT,
    SEGMENT_IDS,
    SEGMENTS,
    BertShape,
)

Weights = Mapping[str, NDArray[np.float32]]

_FUSED = "com.microsoft"
_PLAIN = ""
_OPSETS = {_PLAIN: 17, _FUSED: 1}
_IR_VERSION = 10  # read by every onnxruntime from 1.18 on


class _BertGraph:
    """The nodes and constants of one encoder, collected in the order of the data flow. Its methods
    add nodes, and return the name of the output."""

    def __init__(self, weights: Weights, shape: BertShape) -> None:
        self._weights = weights
        self._shape = shape
        self._epsilon = {"epsilon": shape.layer_norm_epsilon}
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def embeddings(self) -> str:
        """Add the normalised sum of word, position and segment embeddings, and, as `n_tokens`, the
        length of each text.

        All tokens have token type 0, so the vector of that type is added to the position vectors
        here, once.
        """
        if self._shape.is_fed_embeddings:
            return self._node(
                "LayerNormalization",
                [EMBEDDINGS, *self._layer_norm("embeddings")],
                ["embeddings.normalised"],
                domain=_PLAIN,
                attributes=self._epsilon,
            )
        for name in self._shape.inputs:
            self._node(
                "Cast",
                [name],
                [f"{name}.int32"],
                domain=_PLAIN,
                attributes={"to": TensorProto.INT32},
            )
        types = self._weights["embeddings.token_type_embeddings.weight"]
        positions = self._weights["embeddings.position_embeddings.weight"] + types[0]
        words = self._constant("embeddings.word_embeddings.weight")
        typed_positions = self._made_constant("embeddings.typed_positions", positions)
        # in ONNX, an empty name is an optional input that is not given
        segments, table = "", ""
        if self._shape.n_segments:
            segments, table = f"{SEGMENT_IDS}.int32", self._constant(SEGMENTS)
        inputs = [
            "input_ids.int32",
            segments,
            words,
            typed_positions,
            table,
            *self._layer_norm("embeddings"),
        ]
        self._node(
            "EmbedLayerNormalization",
            [*inputs, "attention_mask.int32"],
            ["embeddings.normalised", "n_tokens"],
            attributes=self._epsilon,
        )
        return "embeddings.normalised"

    def layer(self, name: str, hidden: str, output: str) -> str:
        """Add self-attention and feed-forward. After each, its input is added to its output, and
        the sum is normalised. name: of the layer in the weights."""
        attended = self._normalised_sum(
            self._attention(name, hidden), hidden, f"{name}.attention.output", f"{name}.attended"
        )
        wide = self._product(attended, f"{name}.intermediate.dense")
        bias = self._constant(f"{name}.intermediate.dense.bias")
        active = self._node("BiasGelu", [wide, bias], [f"{name}.active"])
        return self._normalised_sum(active, attended, f"{name}.output", output)

    def _attention(self, layer_name: str, hidden: str) -> str:
        """Add self-attention, with the three weights of query, key and value joined, as the fused
        operator needs them."""
        parts = [f"{layer_name}.attention.self.{part}" for part in ("query", "key", "value")]
        weight = np.concatenate([self._weights[f"{part}.weight"].T for part in parts], axis=1)
        bias = np.concatenate([self._weights[f"{part}.bias"] for part in parts])
        inputs = [
            hidden,
            self._made_constant(f"{layer_name}.attention.weight", weight),
            self._made_constant(f"{layer_name}.attention.bias", bias),
            *([] if self._shape.is_fed_embeddings else ["n_tokens"]),
        ]
        return self._node(
            "Attention",
            inputs,
            [f"{layer_name}.heads"],
            attributes={"num_heads": self._shape.n_heads},
        )

    def _normalised_sum(self, values: str, residual: str, dense_at: str, output: str) -> str:
        """Add a dense layer on `values`, the sum with `residual`, and its normalisation.

        The fused operator SkipLayerNormalization is avoided, since it takes seven times as long on
        a CPU. The node is `Sum`, since onnxruntime would fuse two `Add` nodes into that operator.
        """
        product = self._product(values, f"{dense_at}.dense")
        bias = self._constant(f"{dense_at}.dense.bias")
        total = self._node("Sum", [product, bias, residual], [f"{dense_at}.sum"], domain=_PLAIN)
        inputs = [total, *self._layer_norm(dense_at)]
        return self._node(
            "LayerNormalization", inputs, [output], domain=_PLAIN, attributes=self._epsilon
        )

    def _product(self, values: str, name: str) -> str:
        """Add the product of `values` with a weight matrix."""
        matrix = self._made_constant(f"{name}.matrix", self._weights[f"{name}.weight"].T)
        return self._node("MatMul", [values, matrix], [f"{name}.product"], domain=_PLAIN)

    def _layer_norm(self, name: str) -> list[str]:
        return [self._constant(f"{name}.LayerNorm.{part}") for part in ("weight", "bias")]

    def _constant(self, name: str) -> str:
        return self._made_constant(name, self._weights[name])

    def _made_constant(self, name: str, values: NDArray[np.float32]) -> str:
        self.constants[name] = numpy_helper.from_array(
            np.ascontiguousarray(values, dtype=np.float32), name
        )
        return name

    def _node(
        self,
        operator: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        *,
        domain: str = _FUSED,
        attributes: Mapping[str, float | int] | None = None,
    ) -> str:
        node = helper.make_node(operator, inputs, outputs, name=outputs[0], domain=domain)
        node.attribute.extend(
            helper.make_attribute(key, value) for key, value in (attributes or {}).items()
        )
        self.nodes.append(node)
        return outputs[0]


def write_bert(weights: Weights, shape: BertShape, path: Path) -> None:
    """Write the float32 encoder to `path`.

    weights: the tensors by their names in a Hugging Face `BertModel`; for a shape with segments
    also `SEGMENTS`. Inputs of the graph: `shape.inputs`, int64 (n_texts, n_tokens), padded on the
    right, or `EMBEDDINGS`. Outputs: `LAST_OUTPUT` and `shape.inner_outputs`, each float32 (n_texts,
    n_tokens, n_hidden).
    """
    graph = _BertGraph(weights, shape)
    hidden = graph.embeddings()
    given = {shape.n_layers: LAST_OUTPUT}
    given |= zip(shape.inner_layers, shape.inner_outputs, strict=True)
    for number in range(1, shape.n_layers + 1):
        layer_name = f"encoder.layer.{number - 1}"
        hidden = graph.layer(layer_name, hidden, given.get(number, f"{layer_name}.normalised"))
    tokens = ["n_texts", "n_tokens_padded"]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "bert",
            [_input(name, tokens, shape) for name in shape.inputs],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, [*tokens, shape.n_hidden])
                for name in given.values()
            ],
            list(graph.constants.values()),
        ),
        opset_imports=[helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()],
        ir_version=_IR_VERSION,
    )
    onnx.save(model, str(path))


def _input(name: str, tokens: Sequence[str], shape: BertShape) -> onnx.ValueInfoProto:
    """The type and shape of a graph input."""
    if name == EMBEDDINGS:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [*tokens, shape.n_hidden])
    return helper.make_tensor_value_info(name, TensorProto.INT64, tokens)


def write_int8(weights: Weights, shape: BertShape, path: Path) -> None:
    """Like `write_bert`, but with int8 weights of which seven bits are used, and one scale per
    output channel.

    Seven bits, because x86 processors without VNNI add pairs of products in 16 bits. Two products
    of 255 x 64 fit; two of 255 x 127 are silently cut off, so vectors would depend on the
    processor. Activations are quantised while the model runs, with one scale per tensor. Texts that
    are run together share this scale, so each text must be run by itself.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    exact = path.with_name("float32.onnx")
    write_bert(weights, shape, exact)
    with _quiet_root_logger():
        quantize_dynamic(
            exact,
            path,
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            # onnx cannot infer the types of outputs of fused operators; without this option
            # the quantiser fails
            extra_options={"DefaultTensorType": TensorProto.FLOAT},
        )
    exact.unlink()


@contextmanager
def _quiet_root_logger() -> Iterator[None]:
    """Drop warnings of the root logger: onnxruntime's quantiser logs advice there that does not
    apply to graphs of fused operators."""
    root = logging.getLogger()
    previous_level = root.level
    root.setLevel(logging.ERROR)
    try:
        yield
    finally:
        root.setLevel(previous_level)
