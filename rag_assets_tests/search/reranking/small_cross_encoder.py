"""A cross-encoder small enough for a test: it counts the tokens that question and passage have in
common."""

from pathlib import Path

import numpy as np

from rag_assets_testing.packaged_tokenizer import write_tokenizer
from rag_assets_tests.search.onnx_models import write_onnx


def write_cross_encoder(folder: Path, *, bias: float = -4.0, output: str = "logits") -> Path:
    """`folder` with the model, and the tokenizer of the packaged one. A logit is the number of
    pairs of equal tokens, plus `bias`. Returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(folder, max_tokens=64)
    whole = {"one": [1], "two": [2], "last": [1, 2]}
    constants = {name: np.array(values, np.int64) for name, values in whole.items()}
    constants["bias"] = np.array([bias], np.float32)
    write_onnx(
        folder / "model.onnx", [*_NODES, f"{output} = Add scores bias"], constants, ["texts", 1]
    )
    return folder


_NODES = [
    "columns = Unsqueeze input_ids two",
    "rows = Unsqueeze input_ids one",
    "equal = Equal columns rows",
    "equal.f = Cast equal",
    "of_passage = Mul token_type_ids attention_mask",
    "of_question = Sub attention_mask of_passage",
    "of_passage.f = Cast of_passage",
    "of_question.f = Cast of_question",
    "question.columns = Unsqueeze of_question.f two",
    "passage.rows = Unsqueeze of_passage.f one",
    "across = Mul question.columns passage.rows",
    "common = Mul across equal.f",
    "n_common = ReduceSum common last",
    "scores = Unsqueeze n_common one",
]
