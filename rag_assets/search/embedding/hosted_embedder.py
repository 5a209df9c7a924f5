"""Vectors from a model behind an API, through pydantic-ai.

Which models there are lives in `hosted_models`; keys, retries, limits and the budget in
`rag_assets.hosted`; vectors of questions that were asked before in `kept`.
"""

import math
from collections.abc import Sequence
from pkgutil import resolve_name
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.core.domain import Usage
from rag_assets.core.errors import ContextTooLong, InvalidSettings, ModelUnavailable
from rag_assets.hosted.budget import usage_of
from rag_assets.hosted.connections import Connections
from rag_assets.search.embedding.base import EmbedderFacts, ModelEmbedder, Role, Vectors, unit
from rag_assets.search.embedding.hosted_models import MARGIN, ChosenModel, StandInTokenizer

if TYPE_CHECKING:
    from pydantic_ai.embeddings import EmbeddingModel, EmbeddingResult
    from pydantic_ai.embeddings.result import EmbedInputType

_KINDS: "dict[Role, EmbedInputType]" = {"query": "query", "passage": "document"}
_LENGTH_TOLERANCE = 1e-3
_NUMBERS = "fiu"
"""Kinds of numpy types; the SDKs hand on whatever is in a reply."""


class HostedEmbedder(ModelEmbedder):
    """A model that is asked over the network; the first vector opens a connection.

    Tokens are counted with a `StandInTokenizer`. May be used by several threads.
    """

    def __init__(self, chosen: ChosenModel, connections: Connections | None) -> None:
        self._chosen = chosen
        self.prefixes = chosen.prefixes
        self._connections = connections
        self._tokens = StandInTokenizer()

    @property
    def facts(self) -> EmbedderFacts:
        return self._chosen.facts

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._tokens.count_tokens(texts)

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        limits = self._chosen.limits
        sizes: list[int] = []
        n_tokens = 0
        for n_of_text in self._tokens.count_tokens(texts):
            n_new = math.ceil(n_of_text / MARGIN)
            if not sizes or sizes[-1] >= limits.n_texts or n_tokens + n_new > limits.n_tokens:
                sizes.append(0)
                n_tokens = 0
            sizes[-1] += 1
            n_tokens += n_new
        return sizes

    def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        """See `ModelEmbedder`; one request. Raises BudgetExhausted, and a ModelFault when it is not
        answered."""
        chosen = self._chosen
        if self._connections is None:
            raise ValueError(f"{chosen.name} is behind an API, and no connections were given")
        connection = self._connections.to(chosen.access)
        dimension = chosen.asked_dimension
        model: EmbeddingModel = resolve_name(chosen.access.sdk.embedding_model)(
            chosen.name.name,
            provider=connection.sdk_provider,
            settings={"dimensions": dimension} if dimension else None,
        )
        limit, kind = chosen.max_text_tokens, _KINDS[role]
        inputs = [text if limit is None else self._tokens.fitted(text, limit) for text in texts]

        async def request() -> "tuple[EmbeddingResult, list[Vectors]]":
            result = await model.embed(inputs, input_type=kind)
            return result, self._unit_vectors(result, len(inputs))

        try:
            _, vectors = connection.run(request, lambda reply: self._usage_of(reply[0], inputs))
        except ContextTooLong as error:
            raise ContextTooLong(
                f"{self._chosen.name} says that a text is longer than it reads. Set embedding.max_tokens to what it "
                f"reads, less than {self._chosen.facts.max_tokens}."
            ) from error
        if lengths := {len(vector) for vector in vectors} - {self.facts.dimension}:
            raise InvalidSettings(
                f"{chosen.name} answered with vectors of {max(lengths)} numbers, this run asks for "
                f"{self.facts.dimension}. Set embedding.dimensions = {max(lengths)} in rag_assets.toml, or name "
                "another model in embedding.model."
            )
        return np.stack(vectors)

    def _usage_of(self, result: "EmbeddingResult", inputs: Sequence[str]) -> Usage:
        """Google's API reports no tokens for embeddings: they are estimated with the stand-in
        tokenizer."""
        used = result.usage
        if not used.input_tokens:
            from pydantic_ai.usage import RequestUsage

            used = RequestUsage(input_tokens=sum(self._tokens.count_tokens(inputs)))
        return usage_of(self._chosen.name, self._chosen.access, used)

    def _unit_vectors(self, result: "EmbeddingResult", n_wanted: int) -> list[Vectors]:
        """Raises ModelUnavailable, so that it is asked again, for an answer that cannot be used."""
        n_found = len(result.embeddings)
        if n_found != n_wanted:
            raise ModelUnavailable(
                f"{self._chosen.name} was sent {n_wanted} texts and answered with {n_found} vectors."
            )
        found = [np.array(vector) for vector in result.embeddings]
        if not all(vector.ndim == 1 and vector.dtype.kind in _NUMBERS for vector in found):
            raise ModelUnavailable(
                f"{self._chosen.name} answered with something else than vectors of numbers. Check that it is an "
                "embedding model."
            )
        with np.errstate(over="ignore"):  # a length that overflows shows in the vector
            vectors = [unit(vector) for vector in found]
        if not np.allclose(
            [np.linalg.norm(vector) for vector in vectors], 1.0, atol=_LENGTH_TOLERANCE
        ):
            raise ModelUnavailable(
                f"{self._chosen.name} answered with a vector that is no direction (zeros, NaN, or numbers too small or "
                "too large to have a length)."
            )
        return vectors
