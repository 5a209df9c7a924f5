"""all-MiniLM-L6-v2 and the sentence reader once more, in plain numpy and 64 bits, from Devlin et
al. 2019.

Shares no code with the product: what both get right, a mistake in one of them would break.
"""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from rag_assets.core.text.tokens import packaged_model_folder

N_LAYERS, N_HEADS, MAX_TOKENS = 6, 12, 256
Array = NDArray[np.float64]


def _erf(x: Array) -> Array:
    """To 1.5e-7: Abramowitz and Stegun 1964, 7.1.26."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = t * (
        0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
    )
    return np.sign(x) * (1 - series * np.exp(-x * x))


class NumpyBert:
    def __init__(self) -> None:
        folder = packaged_model_folder()
        self._weights = {
            name: w.astype(np.float64)
            for name, w in load_file(folder / "model.safetensors").items()
        }
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.no_padding()

    def embed(self, text: str) -> Array:
        """Unit vector: the mean of the last layer over all tokens, special ones included."""
        mean: Array = self.hidden(text).mean(axis=0)
        unit: Array = mean / np.linalg.norm(mean)
        return unit

    def hidden(self, text: str) -> Array:
        """The last layer: a row for each token, special ones included."""
        return self._hidden_of(self._tokenizer.encode(text).ids, 0.0)

    def _hidden_of(self, ids: list[int], added: Array | float) -> Array:
        """added: to the embeddings of the tokens."""
        hidden = self._embeddings(ids, added)
        for index in range(N_LAYERS):
            hidden = self._layer(f"encoder.layer.{index}", hidden)
        return hidden

    def _embeddings(self, ids: list[int], added: Array | float) -> Array:
        words, positions, types = (
            self._weights[f"embeddings.{kind}_embeddings.weight"]
            for kind in ("word", "position", "token_type")
        )
        return self._norm(
            "embeddings.LayerNorm", words[ids] + positions[: len(ids)] + types[0] + added
        )

    def _layer(self, at: str, hidden: Array) -> Array:
        attended = self._dense(
            f"{at}.attention.output.dense", self._attention(f"{at}.attention.self", hidden)
        )
        hidden = self._norm(f"{at}.attention.output.LayerNorm", hidden + attended)
        wide = self._dense(f"{at}.intermediate.dense", hidden)
        active = wide * 0.5 * (1 + _erf(wide / math.sqrt(2)))
        return self._norm(
            f"{at}.output.LayerNorm", hidden + self._dense(f"{at}.output.dense", active)
        )

    def _attention(self, at: str, hidden: Array) -> Array:
        query, key, value = (
            self._dense(f"{at}.{part}", hidden).reshape(len(hidden), N_HEADS, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(1, 2) / math.sqrt(query.shape[-1])
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed: Array = weights / weights.sum(axis=-1, keepdims=True) @ value
        return mixed.swapaxes(0, 1).reshape(hidden.shape)

    def _dense(self, at: str, values: Array) -> Array:
        result: Array = values @ self._weights[f"{at}.weight"].T + self._weights[f"{at}.bias"]
        return result

    def _norm(self, at: str, values: Array) -> Array:
        centred = values - values.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt(values.var(axis=-1, keepdims=True) + 1e-12)
        result: Array = scaled * self._weights[f"{at}.weight"] + self._weights[f"{at}.bias"]
        return result


class NumpyReader(NumpyBert):
    """The sentence reader: the same encoder with what was trained added (Hu et al. 2021, LoRA), and
    its head."""

    def __init__(self, trained: Path) -> None:
        super().__init__()
        self._trained = {
            name: values.astype(np.float64) for name, values in load_file(trained).items()
        }
        for name in self._trained:
            if name.endswith(".up"):
                matrix = name.removesuffix(".up")
                added = self._trained[name] @ self._trained[f"{matrix}.down"]
                self._weights[f"{matrix}.weight"] = self._weights[f"{matrix}.weight"] + added

    def score(self, question: str, before: str, sentence: str) -> float:
        asked, preceding, read = (
            self._tokenizer.encode(text, add_special_tokens=False).ids
            for text in (question, before, sentence)
        )
        parts = [[101, *asked[:32], 102], preceding[-20:], [*read[:64], 102]]
        segments = np.repeat([0, 1, 2], [len(part) for part in parts])
        tokens = [token for part in parts for token in part]
        hidden = self._hidden_of(tokens, self._trained["embeddings.segments.weight"][segments])
        unit = hidden / np.linalg.norm(hidden, axis=1, keepdims=True)
        own = np.flatnonzero(segments == 2)
        nearness = np.mean([max(unit[i] @ unit[j] for j in own) for i in range(1, len(parts[0]))])
        seen = np.concatenate([hidden[0], hidden[own].mean(axis=0)])
        total = seen @ self._trained["head.weight"] + nearness * self._trained["head.nearness"][0]
        return float(total + self._trained["head.constant"][0])
