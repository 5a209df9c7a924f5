"""A cross-encoder small enough for a test: it counts the tokens that question and passage have in
common."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from rag_assets_testing.packaged_tokenizer import write_tokenizer


def write_cross_encoder(folder: Path, *, bias: float = -4.0, output: str = "logits") -> Path:
    """`folder` with the model, and the tokenizer of the packaged one. A logit is the number of
    pairs of equal tokens, plus `bias`. Returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(folder, max_tokens=64)
    onnx.save(_graph(bias, output), str(folder / "model.onnx"))
    return folder


def _graph(bias: float, output: str) -> onnx.ModelProto:
    inputs = ("input_ids", "token_type_ids", "attention_mask")
    nodes = [
        helper.make_node("Unsqueeze", ["input_ids", "two"], ["columns"]),
        helper.make_node("Unsqueeze", ["input_ids", "one"], ["rows"]),
        helper.make_node("Equal", ["columns", "rows"], ["equal"]),
        helper.make_node("Cast", ["equal"], ["equal.f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["token_type_ids", "attention_mask"], ["of_passage"]),
        helper.make_node("Sub", ["attention_mask", "of_passage"], ["of_question"]),
        helper.make_node("Cast", ["of_passage"], ["of_passage.f"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["of_question"], ["of_question.f"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["of_question.f", "two"], ["question.columns"]),
        helper.make_node("Unsqueeze", ["of_passage.f", "one"], ["passage.rows"]),
        helper.make_node("Mul", ["question.columns", "passage.rows"], ["across"]),
        helper.make_node("Mul", ["across", "equal.f"], ["common"]),
        helper.make_node("ReduceSum", ["common", "last"], ["n_common"], keepdims=0),
        helper.make_node("Unsqueeze", ["n_common", "one"], ["scores"]),
        helper.make_node("Add", ["scores", "bias"], [output]),
    ]
    constants = {"one": [1], "two": [2], "last": [1, 2]}
    initializers = [
        numpy_helper.from_array(np.array(values, np.int64), name)
        for name, values in constants.items()
    ]
    initializers.append(numpy_helper.from_array(np.array([bias], np.float32), "bias"))
    graph = helper.make_graph(
        nodes,
        "counts common tokens",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "length"])
            for name in inputs
        ],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["n", 1])],
        initializers,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
