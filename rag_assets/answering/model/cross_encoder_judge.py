"""A model for natural language inference as a judge: it reads quotes and claim together, on this
machine with ONNX.

Any sequence classifier with `tokenizer.json`, `tokenizer_config.json` and `config.json` works:
MiniCheck's smaller models, or one trained on NLI. Nothing is loaded before the first claim.
"""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.model.judges import ClaimVerdicts, document_of, on_one_line
from rag_assets.answering.verify.verification import Outcome
from rag_assets.core.domain import Usage
from rag_assets.core.errors import MissingModel
from rag_assets.search.reranking.cross_encoder import CrossEncoderFiles

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_VERSION = 1
"""Raise it when pairs are put together, or outputs read, in another way."""
_SUPPORTING = frozenset({"entailment", "supported"})


class CrossEncoderJudge:
    """See `ClaimJudge`. It gives no reasons; its support is a probability, so 0.5 need not mean
    half support."""

    def __init__(self, name: str, files: CrossEncoderFiles, n_threads: int) -> None:
        """name: the value of the setting."""
        self._name = name
        self._files = files
        self._n_threads = n_threads
        self._loading = Lock()
        self._loaded: _Classifier | None = None

    @property
    def identity(self) -> str:
        """Names the content of the model's files; answers made while they are missing are made
        again afterwards."""
        try:
            content = self._files.content[:12]
        except MissingModel:
            content = "missing"
        return f"{self._name} {content} cross-encoder-{_VERSION}"

    def verdicts(self, outcomes: Sequence[Outcome]) -> ClaimVerdicts:
        model = self._model()
        started = time.monotonic()
        supports = tuple(
            model.support(document_of(one), on_one_line(one.proposed.text)) for one in outcomes
        )
        return ClaimVerdicts(
            supports, ("",) * len(outcomes), Usage(), round(time.monotonic() - started, 3)
        )

    def _model(self) -> "_Classifier":
        with self._loading:
            if self._loaded is None:
                folder = self._files.folder
                try:
                    self._loaded = _Classifier(
                        folder, folder / self._files.model_file, self._n_threads
                    )
                except Exception as error:  # onnxruntime's and the tokenizer's loading errors share no narrower base
                    raise MissingModel(
                        f"The judge in {folder} cannot be loaded ({type(error).__name__}: {error}). It needs an ONNX "
                        "sequence classifier, tokenizer.json, tokenizer_config.json and config.json."
                    ) from error
            return self._loaded


class _Classifier:
    """One loaded model."""

    def __init__(self, folder: Path, model_file: Path, n_threads: int) -> None:
        from fastembed.common.preprocessor_utils import load_tokenizer
        from onnxruntime import InferenceSession, SessionOptions

        options = SessionOptions()
        options.intra_op_num_threads = n_threads
        self._labels: Mapping[str, str] = json.loads(
            (folder / "config.json").read_text("utf-8")
        ).get("id2label", {})
        self._tokenizer: Tokenizer = load_tokenizer(folder)[0]
        self._session = InferenceSession(model_file, options, providers=["CPUExecutionProvider"])
        self._inputs = [one.name for one in self._session.get_inputs()]

    def support(self, premise: str, hypothesis: str) -> float:
        """Probability of support for one pair; in a batch, quantised models would see the
        padding."""
        encoding = self._tokenizer.encode(premise, hypothesis)
        given: dict[str, Any] = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        try:
            outputs = self._session.run(
                None, {name: np.array([given[name]], np.int64) for name in self._inputs}
            )
            logits = np.asarray(outputs[0], np.float64)[0]
        except Exception as error:  # a graph with other inputs fails when it is run
            raise MissingModel(
                f"The judge is not a sequence classifier ({type(error).__name__}: {error})."
            ) from error
        if logits.ndim != 1 or not np.isfinite(logits).all():
            raise MissingModel(
                "The judge is not a sequence classifier: its scores are not numbers."
            )
        return _probability(logits, self._labels)


def _probability(logits: NDArray[np.float64], labels: Mapping[str, str]) -> float:
    if len(logits) == 1:
        logits, nth = (
            np.array([0.0, logits[0]]),
            1,
        )  # the softmax of these two is the sigmoid of the one
    else:
        named = [int(key) for key, label in labels.items() if label.casefold() in _SUPPORTING]
        if not named and len(logits) != 2:
            raise MissingModel(
                f"No label of the judge is {' or '.join(sorted(_SUPPORTING))}: {list(labels.values())}."
            )
        nth = named[0] if named else 1
    exponents = np.exp(logits - logits.max())
    return float(exponents[nth] / exponents.sum())
