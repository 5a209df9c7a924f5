"""Embedding models behind an API: what is known about a model before any request, which model a
setting means, and requests through pydantic-ai.

Tokens are counted with the packaged WordPiece tokenizer, not with each model's own: that would need
one request per text, or a download per model. The count may be wrong, so passages are made shorter
by a margin, and each text is cut before it is sent if it could still be too long
(`StandInTokenizer.fitted`). Keys, retries, limits and the budget are in `rag_assets.hosted`.
"""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.core.domain import Usage
from rag_assets.core.errors import ContextTooLong, InvalidSettings, ModelUnavailable
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import EmbeddingSettings
from rag_assets.core.text.tokens import ModelTokenizer
from rag_assets.hosted.access import (
    EMBEDDING_REQUESTS,
    Access,
    EmbeddingRequest,
    ModelName,
    require_access,
)
from rag_assets.hosted.budget import usage_of
from rag_assets.hosted.connections import Connections
from rag_assets.search.embedding.base import (
    ARCTIC_2,
    BGE_EN,
    EMBEDDING_GEMMA,
    NO_PREFIXES,
    NOMIC,
    QWEN_3,
    EmbedderFacts,
    ModelEmbedder,
    Prefixes,
    Role,
    Vectors,
    slug,
    unit,
)
from rag_assets.search.embedding.local_model import PACKAGED_TOKENIZER_ID, packaged_tokenizer

if TYPE_CHECKING:
    from pydantic_ai.embeddings import EmbeddingModel, EmbeddingResult
    from pydantic_ai.embeddings.result import EmbedInputType

logger = logging.getLogger(__name__)
SETTING = "embedding.model"
REQUEST_VERSION = 1
"""Raise it if a change of the request changes vectors."""


@dataclass(frozen=True)
class KnownModel:
    """Facts from the provider's documentation."""

    dimension: int
    max_tokens: int
    """Token limit according to the provider's documentation."""
    least_dimension: int | None = None
    """The shortest vectors that can be requested; None if the length is fixed."""
    is_wordpiece: bool = False
    """Whether the model's tokenizer is the packaged one (uncased BERT WordPiece), so that counts
    are exact."""
    prefixes: Prefixes = NO_PREFIXES
    """Prefixes that are sent with the text, because the provider adds none (Ollama's endpoint for
    embeddings uses no template)."""


_GOOGLE = {
    "gemini-embedding-001": KnownModel(3072, 2048, least_dimension=128),
    "gemini-embedding-2": KnownModel(3072, 8192, least_dimension=128),
    "text-embedding-004": KnownModel(768, 2048, least_dimension=1),
}
_OPENAI = {
    "text-embedding-3-small": KnownModel(1536, 8191, least_dimension=1),
    "text-embedding-3-large": KnownModel(3072, 8191, least_dimension=1),
    "text-embedding-ada-002": KnownModel(1536, 8191),
}
_OLLAMA_READS = 2048
"""Limit of models that can read more. An Ollama server reads only OLLAMA_CONTEXT_LENGTH tokens and
cuts off the rest without an error; this is the smallest default it has had. For a larger value, set
`embedding.max_tokens`."""
_MINILM = KnownModel(384, 256, is_wordpiece=True)
_BGE_LARGE = KnownModel(1024, 512, is_wordpiece=True, prefixes=BGE_EN)
_BGE_M3 = KnownModel(1024, _OLLAMA_READS)
_EMBEDDING_GEMMA = KnownModel(768, _OLLAMA_READS, prefixes=EMBEDDING_GEMMA)
_NOMIC = KnownModel(768, _OLLAMA_READS, is_wordpiece=True, prefixes=NOMIC)
_QWEN_3_LARGE = KnownModel(4096, _OLLAMA_READS, prefixes=QWEN_3)
_ARCTIC_SMALL = KnownModel(384, 512, is_wordpiece=True, prefixes=BGE_EN)
_ARCTIC_2 = KnownModel(1024, _OLLAMA_READS, prefixes=ARCTIC_2)
_OLLAMA = {
    "all-minilm": _MINILM,
    "all-minilm:22m": _MINILM,
    "all-minilm:33m": KnownModel(384, 128, is_wordpiece=True),
    "bge-large": _BGE_LARGE,
    "bge-large:335m": _BGE_LARGE,
    "bge-m3": _BGE_M3,
    "bge-m3:567m": _BGE_M3,
    "embeddinggemma": _EMBEDDING_GEMMA,
    "embeddinggemma:300m": _EMBEDDING_GEMMA,
    "mxbai-embed-large": _BGE_LARGE,
    "mxbai-embed-large:335m": _BGE_LARGE,
    "nomic-embed-text": _NOMIC,
    "nomic-embed-text:v1.5": _NOMIC,
    "qwen3-embedding": _QWEN_3_LARGE,
    "qwen3-embedding:0.6b": KnownModel(1024, _OLLAMA_READS, prefixes=QWEN_3),
    "qwen3-embedding:4b": KnownModel(2560, _OLLAMA_READS, prefixes=QWEN_3),
    "qwen3-embedding:8b": _QWEN_3_LARGE,
    "snowflake-arctic-embed": _BGE_LARGE,
    "snowflake-arctic-embed:335m": _BGE_LARGE,
    "snowflake-arctic-embed:137m": KnownModel(
        768, _OLLAMA_READS, is_wordpiece=True, prefixes=BGE_EN
    ),
    "snowflake-arctic-embed:110m": KnownModel(768, 512, is_wordpiece=True, prefixes=BGE_EN),
    "snowflake-arctic-embed:33m": _ARCTIC_SMALL,
    "snowflake-arctic-embed:22m": _ARCTIC_SMALL,
    "snowflake-arctic-embed2": _ARCTIC_2,
    "snowflake-arctic-embed2:568m": _ARCTIC_2,
}
KNOWN_MODELS: dict[str, KnownModel] = {
    **{f"google:{name}": model for name, model in _GOOGLE.items()},
    **{f"openai:{name}": model for name, model in _OPENAI.items()},
    **{f"ollama:{name}": model for name, model in _OLLAMA.items()},
}
"""The facts of each model, by `provider:name`. Sources: the providers' model pages, Ollama's
library and the model cards it refers to (all-MiniLM: the lengths it was trained for). For other
models, `embedding.dimensions` and `embedding.max_tokens` must be set."""
_SHUT_DOWN = {"google:text-embedding-004": ("14 January 2026", "google:gemini-embedding-001")}
"""Date of the announced end, and the successor."""


@dataclass(frozen=True)
class ChosenModel:
    """A model behind an API, with everything that a request to it needs."""

    name: ModelName
    access: Access
    facts: EmbedderFacts
    prefixes: Prefixes
    asked_dimension: int | None
    """Length of the vectors in a request; None for the model's default."""
    max_text_tokens: int | None
    """The provider's limit for one text; None if tokens are counted exactly here, so that no text
    is too long."""
    limits: EmbeddingRequest


def is_hosted(model: str) -> bool:
    """Whether a setting `provider:model` names a model behind an API."""
    return model.partition(":")[0] in EMBEDDING_REQUESTS


def chosen_model(settings: EmbeddingSettings) -> ChosenModel:
    """The model behind an API that `settings` name. Sends nothing.

    Raises InvalidSettings for an unknown name or an impossible size, MissingKey if the provider's
    key is not set.
    """
    name = ModelName.parse(settings.model, setting=SETTING, instead="a model that runs here")
    known_model = KNOWN_MODELS.get(str(name).removesuffix(":latest"))
    if shut_down := _SHUT_DOWN.get(str(name)):
        logger.warning(
            "%s was announced to be shut down on %s; its successor is %s.", name, *shut_down
        )
    access = require_access(name.provider)
    dimension, asked_dimension = _dimension(name, known_model, settings)
    max_tokens = settings.max_tokens or (known_model.max_tokens if known_model else 0)
    prefixes = _prefixes(name, settings)
    is_exact = known_model is not None and known_model.is_wordpiece
    # the limit in tokens as they are counted here
    counted_limit = max_tokens if is_exact else int(max_tokens * MARGIN)
    max_passage_tokens = counted_limit - StandInTokenizer().count_plain([prefixes.passage])[0]
    if not dimension or max_passage_tokens < 1:
        raise InvalidSettings(
            f"{SETTING} = {settings.model!r} is not known here: set embedding.dimensions (length of its vectors) and "
            "embedding.max_tokens (what it reads), and embedding.query_prefix and embedding.passage_prefix if its "
            f"model card asks for them. Known are: {', '.join(KNOWN_MODELS)}."
        )
    facts = EmbedderFacts(
        _identity(name, access, prefixes, dimension),
        dimension,
        max_passage_tokens,
        PACKAGED_TOKENIZER_ID,
    )
    max_text_tokens = None if is_exact else max_tokens
    return ChosenModel(
        name,
        access,
        facts,
        prefixes,
        asked_dimension,
        max_text_tokens,
        EMBEDDING_REQUESTS[name.provider],
    )


def _dimension(
    name: ModelName, known_model: KnownModel | None, settings: EmbeddingSettings
) -> tuple[int, int | None]:
    """The length of the vectors (0 if neither table nor settings give it), and the length to ask
    the provider for (None for its default)."""
    configured = settings.dimensions
    if known_model is None or configured is None or configured == known_model.dimension:
        return configured or (known_model.dimension if known_model else 0), None
    if known_model.least_dimension is None:
        raise InvalidSettings(
            f"embedding.dimensions = {configured}, but the vectors of {name} have {known_model.dimension} numbers and cannot be "
            "shortened. Leave it empty."
        )
    if not known_model.least_dimension <= configured <= known_model.dimension:
        raise InvalidSettings(
            f"embedding.dimensions = {configured}, but the vectors of {name} have {known_model.least_dimension} to "
            f"{known_model.dimension} numbers."
        )
    return configured, configured


def _prefixes(name: ModelName, settings: EmbeddingSettings) -> Prefixes:
    """The model's prefixes. A tag that is not in the table ("nomic-embed-text:v9") has those of the
    model without tag."""
    family = KNOWN_MODELS.get(f"{name.provider}:{name.name.partition(':')[0]}")
    default = family.prefixes if family else NO_PREFIXES
    return default.overridden(settings.query_prefix, settings.passage_prefix)


def _identity(name: ModelName, access: Access, prefixes: Prefixes, dimension: int) -> str:
    """The model's identity. It contains no key, but a hash that covers the address of the
    server."""
    digest = fingerprint(
        str(name), access.server, prefixes.query, prefixes.passage, REQUEST_VERSION
    )[:8]
    return f"{name.provider}-{slug(name.name)}-{dimension}-{digest}"


MARGIN = 0.7
"""Passages fill only this share of a model's limit, by the count here: the model's own tokenizer
may find 1.4 times as many tokens. The value is an estimate, since the providers' tokenizers are not
available here."""
_UNKNOWN = "[UNK]"


class StandInTokenizer(ModelTokenizer):
    """The uncased BERT tokenizer of all-MiniLM-L6-v2, used in place of a provider's own."""

    def __init__(self) -> None:
        super().__init__(packaged_tokenizer())

    def most_tokens(self, text: str) -> int:
        """An upper estimate of the tokens that any model's own tokenizer makes of `text`.

        WordPiece makes a single token of a run of unknown characters, and of a word of more than
        100 characters. Each byte of these counts as one token; all other tokens are counted with
        the margin.
        """
        encoding = self.encoded(text)
        unknown_spans = [
            span
            for token, span in zip(encoding.tokens, encoding.offsets, strict=True)
            if token == _UNKNOWN
        ]
        n_unknown_bytes = sum(len(text[start:end].encode()) for start, end in unknown_spans)
        return math.ceil((len(encoding.ids) - len(unknown_spans)) / MARGIN) + n_unknown_bytes

    def fitted(self, text: str, max_tokens: int) -> str:
        """`text`, or its beginning that has at most `max_tokens` tokens with any tokenizer.

        No tokenizer makes more tokens than the text has bytes. Passages are already short enough by
        count, so only a passage with long runs of unknown characters (encoded data) is cut here.
        """
        content = text.encode()
        if len(content) <= max_tokens or self.most_tokens(text) <= max_tokens:
            return text
        return content[:max_tokens].decode(errors="ignore")


_KINDS: "dict[Role, EmbedInputType]" = {"query": "query", "passage": "document"}
_LENGTH_TOLERANCE = 1e-3
_NUMBERS = "fiu"
"""Kinds of numpy types that are numbers. SDKs do not check what a reply contains."""


class HostedEmbedder(ModelEmbedder):
    """A model that is asked over the network. The connection is opened for the first vector.

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
        for n_counted in self._tokens.count_tokens(texts):
            n_estimated = math.ceil(n_counted / MARGIN)
            # begin the next request if this text does not fit into the current one
            if not sizes or sizes[-1] >= limits.n_texts or n_tokens + n_estimated > limits.n_tokens:
                sizes.append(0)
                n_tokens = 0
            sizes[-1] += 1
            n_tokens += n_estimated
        return sizes

    def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        """See `ModelEmbedder`. Sends one request. Raises BudgetExhausted, or a ModelFault if the
        request fails."""
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
        """The tokens and the cost of a request. Google's API reports no tokens for embeddings, so
        these are counted with the stand-in tokenizer."""
        used = result.usage
        if not used.input_tokens:
            from pydantic_ai.usage import RequestUsage

            used = RequestUsage(input_tokens=sum(self._tokens.count_tokens(inputs)))
        return usage_of(self._chosen.name, self._chosen.access, used)

    def _unit_vectors(self, result: "EmbeddingResult", n_wanted: int) -> list[Vectors]:
        """The vectors of a reply, scaled to length 1. Raises ModelUnavailable for an unusable
        reply, so that the request is repeated."""
        n_found = len(result.embeddings)
        if n_found != n_wanted:
            raise ModelUnavailable(
                f"{self._chosen.name} was sent {n_wanted} texts and answered with {n_found} vectors."
            )
        arrays = [np.array(vector) for vector in result.embeddings]
        if not all(vector.ndim == 1 and vector.dtype.kind in _NUMBERS for vector in arrays):
            raise ModelUnavailable(
                f"{self._chosen.name} answered with something else than vectors of numbers. Check that it is an "
                "embedding model."
            )
        with np.errstate(over="ignore"):  # a length that overflows is found below
            vectors = [unit(vector) for vector in arrays]
        if not np.allclose(
            [np.linalg.norm(vector) for vector in vectors], 1.0, atol=_LENGTH_TOLERANCE
        ):
            raise ModelUnavailable(
                f"{self._chosen.name} answered with a vector that is no direction (zeros, NaN, or numbers too small or "
                "too large to have a length)."
            )
        return vectors
