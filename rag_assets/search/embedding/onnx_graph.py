"""A BERT encoder as an ONNX graph, with onnxruntime's fused operators where they are faster, and
its int8 quantisation.

Knows tensors and operators, no folders: `local_model` reads the tensors and keeps the files.
Pooling and normalisation are not in the graph; fastembed does them. Importing this module imports
onnx.

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

from rag_assets.search.embedding.bert import EMBEDDINGS, SEGMENT_IDS, SEGMENTS, BertShape

Weights = Mapping[str, NDArray[np.float32]]

_FUSED = "com.microsoft"
_PLAIN = ""
_OPSETS = {_PLAIN: 17, _FUSED: 1}
_IR_VERSION = 10  # read by every onnxruntime from 1.18 on
_OUTPUT = "last_hidden_state"


class _BertGraph:
    """Nodes and constants of one encoder, collected in the order the data flows."""

    def __init__(self, weights: Weights, shape: BertShape) -> None:
        self._weights = weights
        self._shape = shape
        self._epsilon = {"epsilon": shape.layer_norm_epsilon}
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def embeddings(self) -> str:
        """Normalised sum of word, position and segment embeddings; beside it the length of each
        text (`n_tokens`).

        All text has token type 0, so that row is added to the positions once, here.
        """
        if self._shape.is_fed_embeddings:
            norm = [EMBEDDINGS, *self._layer_norm("embeddings")]
            return self._node(
                "LayerNormalization",
                norm,
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

    def layer(self, at: str, hidden: str, output: str) -> str:
        """Self-attention, then feed-forward, each added to what it was made from and normalised."""
        attended = self._normalised_sum(
            self._attention(at, hidden), hidden, f"{at}.attention.output", f"{at}.attended"
        )
        wide = self._product(attended, f"{at}.intermediate.dense")
        bias = self._constant(f"{at}.intermediate.dense.bias")
        active = self._node("BiasGelu", [wide, bias], [f"{at}.active"])
        return self._normalised_sum(active, attended, f"{at}.output", output)

    def _attention(self, at: str, hidden: str) -> str:
        parts = [f"{at}.attention.self.{part}" for part in ("query", "key", "value")]
        weight = np.concatenate([self._weights[f"{part}.weight"].T for part in parts], axis=1)
        bias = np.concatenate([self._weights[f"{part}.bias"] for part in parts])
        inputs = [
            hidden,
            self._made_constant(f"{at}.attention.weight", weight),
            self._made_constant(f"{at}.attention.bias", bias),
            *([] if self._shape.is_fed_embeddings else ["n_tokens"]),
        ]
        return self._node(
            "Attention", inputs, [f"{at}.heads"], attributes={"num_heads": self._shape.n_heads}
        )

    def _normalised_sum(self, values: str, residual: str, dense_at: str, output: str) -> str:
        """Avoids the fused operator SkipLayerNormalization, which takes seven times as long on a
        CPU; `Sum` and not `Add`, because onnxruntime would fuse two of those into it."""
        product = self._product(values, f"{dense_at}.dense")
        bias = self._constant(f"{dense_at}.dense.bias")
        total = self._node("Sum", [product, bias, residual], [f"{dense_at}.sum"], domain=_PLAIN)
        inputs = [total, *self._layer_norm(dense_at)]
        return self._node(
            "LayerNormalization", inputs, [output], domain=_PLAIN, attributes=self._epsilon
        )

    def _product(self, values: str, at: str) -> str:
        matrix = self._made_constant(f"{at}.matrix", self._weights[f"{at}.weight"].T)
        return self._node("MatMul", [values, matrix], [f"{at}.product"], domain=_PLAIN)

    def _layer_norm(self, at: str) -> list[str]:
        return [self._constant(f"{at}.LayerNorm.{part}") for part in ("weight", "bias")]

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
    """Write the fp32 encoder to `path`.

    weights: the tensors by their names in a Hugging Face `BertModel`; of a shape with segments,
    their vectors too, (n_segments, n_hidden). Inputs of the graph: `shape.inputs`, int64 (n_texts,
    n_tokens), padded at the right, or `EMBEDDINGS`. Output: `last_hidden_state`, float32 (n_texts, n_tokens,
    n_hidden).
    """
    graph = _BertGraph(weights, shape)
    hidden = graph.embeddings()
    for index in range(shape.n_layers):
        at = f"encoder.layer.{index}"
        hidden = graph.layer(
            at, hidden, _OUTPUT if index == shape.n_layers - 1 else f"{at}.normalised"
        )
    tokens = ["n_texts", "n_tokens_padded"]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "bert",
            [_input(name, tokens, shape) for name in shape.inputs],
            [helper.make_tensor_value_info(_OUTPUT, TensorProto.FLOAT, [*tokens, shape.n_hidden])],
            list(graph.constants.values()),
        ),
        opset_imports=[helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()],
        ir_version=_IR_VERSION,
    )
    onnx.save(model, str(path))


def _input(name: str, tokens: Sequence[str], shape: BertShape) -> onnx.ValueInfoProto:
    if name == EMBEDDINGS:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [*tokens, shape.n_hidden])
    return helper.make_tensor_value_info(name, TensorProto.INT64, tokens)


def write_int8(weights: Weights, shape: BertShape, path: Path) -> None:
    """`write_bert` with int8 weights of seven used bits, one scale an output channel.

    Seven bits, because x86 without VNNI adds pairs of products in 16 bits: two of 255 x 64 fit, two
    of 255 x 127 are silently cut off, and vectors would depend on the processor. Activations are
    quantised while the model runs, with one scale per tensor: texts that are run together share it,
    so a text must be run by itself to have a vector of its own.
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
            # onnx cannot infer the types of the fused operators' outputs; without this the
            # quantiser stops at them
            extra_options={"DefaultTensorType": TensorProto.FLOAT},
        )
    exact.unlink()


@contextmanager
def _quiet_root_logger() -> Iterator[None]:
    """Advice about pre-processing that does not fit a graph of fused operators goes to the root
    logger; drop it."""
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.ERROR)
    try:
        yield
    finally:
        root.setLevel(before)
