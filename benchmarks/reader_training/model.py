"""The sentence reader in torch: the packaged encoder, which stays as it is, and what is trained
beside it.

The model of `rag_assets.search.reranking.trained_reader`, in batches and with gradients. A matrix
of the encoder is trained as two thin ones whose product is added to it (LoRA, Hu et al. 2021).
Importing this module imports torch.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.reader_training.lines import Line
from rag_assets.search.embedding.base import SEGMENTS
from rag_assets.search.embedding.local_model import read_weights
from rag_assets.search.reranking.trained_reader import (
    DOWN,
    HEAD_CONSTANT,
    HEAD_NEARNESS,
    HEAD_WEIGHT,
    QUESTION,
    SENTENCE,
    SHAPE,
    UP,
    Matrix,
    joined,
    open_tokenizer,
)

_SCALE = 2.0
"""Of the product of the two thin matrices; in the file it is part of the second."""
_FIRST_SPREAD = 0.02
_FIRST_NEARNESS, _FIRST_CONSTANT = 5.0, -2.0
"""Where training begins: the score is the nearness alone, on a scale where 0 is not far from
right."""
_TEXTS_AT_ONCE = 16
_FAR_BELOW = -1e4
_PLACES = "embeddings.typed_positions"


class ReaderInTraining:
    """Scores lines for questions; `trained` holds what is learned, by the names of the file.

    precision: of the encoder's products, bfloat16 for speed; sums, norms and the head are float32
    with either.
    """

    def __init__(self, rank: int, precision: torch.dtype = torch.bfloat16) -> None:
        self._precision = precision
        weights = {name: torch.from_numpy(values) for name, values in read_weights().items()}
        self._adapted = {
            name.removesuffix(".weight")
            for name, values in weights.items()
            if name.startswith("encoder.layer.") and values.ndim == 2
        }
        types = weights.pop("embeddings.token_type_embeddings.weight")
        weights[_PLACES] = weights.pop("embeddings.position_embeddings.weight") + types[0]
        dense = {f"{name}.{part}" for name in self._adapted for part in ("weight", "bias")}
        self._frozen = {
            name: values.to(precision) if name in dense else values
            for name, values in weights.items()
        }
        self.trained = self._first_values(rank)

    def scores(self, question: str, lines: Sequence[Line]) -> Tensor:
        """As `TrainedReader.scores`, shape (len(lines),), float32, with gradients unless torch is
        told otherwise."""
        return self.scores_of_pairs([(question, line.before, line.text) for line in lines])

    def scores_of_pairs(self, texts: Sequence[tuple[str, str, str]]) -> Tensor:
        """As `scores`, of (question, what stands before, sentence). Texts of like length run
        together."""
        pairs = [joined(*(self._ids(part) for part in parts)) for parts in texts]
        order = sorted(range(len(pairs)), key=lambda place: len(pairs[place][0]))
        made = [
            self._batch_scores(
                *_padded([pairs[place] for place in order[start : start + _TEXTS_AT_ONCE]])
            )
            for start in range(0, len(order), _TEXTS_AT_ONCE)
        ]
        return torch.cat(made)[torch.argsort(torch.tensor(order))]

    def tensors(self) -> dict[str, Matrix]:
        """What was learned, as float32 arrays by the names of the file."""
        scaled = {
            name: value * _SCALE if name.endswith(UP) else value
            for name, value in self.trained.items()
        }
        return {name: value.detach().float().numpy() for name, value in scaled.items()}

    @cached_property
    def _ids(self) -> Callable[[str], list[int]]:
        return open_tokenizer()

    def _first_values(self, rank: int) -> dict[str, Tensor]:
        """The second thin matrix is zero, so that training begins with the packaged model."""
        values = {SEGMENTS: torch.zeros(SHAPE.n_segments, SHAPE.n_hidden)}
        for name in sorted(self._adapted):
            n_out, n_in = self._frozen[f"{name}.weight"].shape
            values[name + DOWN] = torch.randn(rank, n_in) * _FIRST_SPREAD
            values[name + UP] = torch.zeros(n_out, rank)
        values[HEAD_WEIGHT] = torch.zeros(2 * SHAPE.n_hidden)
        values[HEAD_NEARNESS] = torch.tensor([_FIRST_NEARNESS])
        values[HEAD_CONSTANT] = torch.tensor([_FIRST_CONSTANT])
        return {name: value.requires_grad_() for name, value in values.items()}

    def _batch_scores(self, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """ids, segments, mask: shape (n_texts, n_tokens), of mask 1 where a token stands. As
        `score_of`."""
        with torch.autocast("cpu", self._precision, enabled=self._precision is not torch.float32):
            hidden = self._encoded(ids, segments, mask).float()
        asked, own = (segments == QUESTION) & mask.bool(), (segments == SENTENCE) & mask.bool()
        asked[:, 0] = False
        unit = functional.normalize(hidden, dim=-1)
        cosines = torch.bmm(unit, unit.transpose(1, 2)).masked_fill(~own[:, None, :], -1.0)
        nearness = (cosines.max(2).values * asked).sum(1) / asked.sum(1)
        mean = (hidden * own[..., None]).sum(1) / own.sum(1, keepdim=True)
        parts = torch.cat([hidden[:, 0], mean], 1) @ self.trained[HEAD_WEIGHT]
        return parts + self.trained[HEAD_NEARNESS] * nearness + self.trained[HEAD_CONSTANT]

    def _encoded(self, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """What the encoder makes of each token, shape (n_texts, n_tokens, n_hidden)."""
        words = self._frozen["embeddings.word_embeddings.weight"][ids]
        hidden = words + self._frozen[_PLACES][: ids.shape[1]] + self.trained[SEGMENTS][segments]
        hidden = self._normalised(hidden, "embeddings")
        masked = ((1 - mask) * _FAR_BELOW).to(self._precision)[:, None, None, :]
        for nth in range(SHAPE.n_layers):
            at = f"encoder.layer.{nth}"
            attended = self._dense(
                self._attended(hidden, masked, at), f"{at}.attention.output.dense"
            )
            hidden = self._normalised(hidden + attended, f"{at}.attention.output")
            wide = functional.gelu(self._dense(hidden, f"{at}.intermediate.dense"))
            hidden = self._normalised(
                hidden + self._dense(wide, f"{at}.output.dense"), f"{at}.output"
            )
        return hidden

    def _attended(self, hidden: Tensor, masked: Tensor, at: str) -> Tensor:
        n_texts, n_tokens, n_hidden = hidden.shape
        n_each = n_hidden // SHAPE.n_heads

        def heads(part: str) -> Tensor:
            made = self._dense(hidden, f"{at}.attention.self.{part}")
            return made.view(n_texts, n_tokens, SHAPE.n_heads, n_each).transpose(1, 2)

        shares = torch.softmax(
            (heads("query") * n_each**-0.5) @ heads("key").transpose(2, 3) + masked, -1
        )
        return (shares @ heads("value")).transpose(1, 2).reshape(n_texts, n_tokens, n_hidden)

    def _dense(self, values: Tensor, at: str) -> Tensor:
        made = functional.linear(values, self._frozen[f"{at}.weight"], self._frozen[f"{at}.bias"])
        thin = functional.linear(values, self.trained[at + DOWN])
        return made + functional.linear(thin, self.trained[at + UP]) * _SCALE

    def _normalised(self, values: Tensor, at: str) -> Tensor:
        weight, bias = (self._frozen[f"{at}.LayerNorm.{part}"] for part in ("weight", "bias"))
        return functional.layer_norm(values, weight.shape, weight, bias, SHAPE.layer_norm_epsilon)


def _padded(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[Tensor, Tensor, Tensor]:
    """Ids, segments and mask of several joined texts, shape (len(pairs), n_tokens of the
    longest)."""
    padded = np.zeros((3, len(pairs), max(len(ids) for ids, _ in pairs)), np.int64)
    for nth, (ids, segments) in enumerate(pairs):
        padded[:, nth, : len(ids)] = ids, segments, np.ones_like(ids)
    ids, segments, mask = torch.from_numpy(padded)
    return ids, segments, mask
