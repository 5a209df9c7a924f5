"""Graphs of ONNX that are small enough to be written down in a test."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

INPUTS = ("input_ids", "token_type_ids", "attention_mask")


def write_onnx(
    file: Path,
    nodes: Sequence[str],
    constants: Mapping[str, np.ndarray[Any, Any]],
    output_shape: Sequence[str | int],
) -> None:
    """The model of these nodes, each written as "output = Operator input input"; the last one is
    the output of the model."""
    made = []
    for node in nodes:
        output, _, operator, *inputs = node.split()
        how = {"Cast": {"to": TensorProto.FLOAT}, "ReduceSum": {"keepdims": 0}}.get(operator, {})
        made.append(helper.make_node(operator, inputs, [output], **how))
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in INPUTS
    ]
    outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, output_shape)]
    kept = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(made, "small", inputs, outputs, kept)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), file
    )
