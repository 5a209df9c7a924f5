"""Embedding models behind an API: what must be known of one before any request, and which one a
setting means.

Their tokens are counted with the packaged WordPiece tokenizer: a provider's count would take one
request per text, and each tokenizer is a download. Its errors are covered by a margin and, before a
text is sent, by a bound that always holds (`StandInTokenizer.fitted`). Asking the models is in
`hosted_embedder`.
"""

import logging
import math
import re
from dataclasses import dataclass

from rag_assets.core.errors import InvalidSettings
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
from rag_assets.search.embedding.base import (
    ARCTIC_2,
    BGE_EN,
    EMBEDDING_GEMMA,
    NO_PREFIXES,
    NOMIC,
    QWEN_3,
    EmbedderFacts,
    Prefixes,
)
from rag_assets.search.embedding.local_model import PACKAGED_TOKENIZER_ID, packaged_tokenizer

logger = logging.getLogger(__name__)
SETTING = "embedding.model"
REQUEST_VERSION = 1
"""Raise it with every change to what is sent that changes a vector."""


@dataclass(frozen=True)
class KnownModel:
    """Facts from the provider's documentation."""

    dimension: int
    max_tokens: int
    """Token limit according to the provider's documentation."""
    least_dimension: int | None = None
    """The shortest vectors it can be asked for; None when it has one length only."""
    is_wordpiece: bool = False
    """Its tokenizer is the uncased BERT WordPiece, which is packaged here: counts are exact."""
    prefixes: Prefixes = NO_PREFIXES
    """For a provider that adds none itself: Ollama's endpoint for embeddings applies no
    template."""


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
"""Where a model reads more, an Ollama server still reads what its own OLLAMA_CONTEXT_LENGTH allows,
and cuts the rest off without an error; this is the smallest default it has had. Set
`embedding.max_tokens` for a larger one."""
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
"""By `provider:name`. Sources: the vendors' model pages, Ollama's library and the model cards
behind it (the lengths all-MiniLM was trained for). `embedding.dimensions` and `.max_tokens`
describe a model that is not listed."""
_SHUT_DOWN = {"google:text-embedding-004": ("14 January 2026", "google:gemini-embedding-001")}


@dataclass(frozen=True)
class ChosenModel:
    """A model behind an API and what a request to it needs."""

    name: ModelName
    access: Access
    facts: EmbedderFacts
    prefixes: Prefixes
    asked_dimension: int | None
    """What the provider is asked for; None: as the model has it."""
    max_text_tokens: int | None
    """The limit of one text as the model's maker counts; None where the counts here are exact."""
    limits: EmbeddingRequest


def is_hosted(model: str) -> bool:
    """Whether a setting `provider:model` names a model behind an API."""
    return model.partition(":")[0] in EMBEDDING_REQUESTS


def chosen_model(settings: EmbeddingSettings) -> ChosenModel:
    """The model behind an API that `settings` name; sends nothing.

    Raises InvalidSettings for a name or size that cannot be, MissingKey when the provider's key is
    not set.
    """
    name = ModelName.parse(settings.model, setting=SETTING, instead="a model that runs here")
    known = KNOWN_MODELS.get(str(name).removesuffix(":latest"))
    if shut_down := _SHUT_DOWN.get(str(name)):
        logger.warning(
            "%s was announced to be shut down on %s; its successor is %s.", name, *shut_down
        )
    access = require_access(name.provider)
    dimension, asked = _dimension(name, known, settings)
    max_tokens = settings.max_tokens or (known.max_tokens if known else 0)
    prefixes = _prefixes(name, settings)
    is_exact = known is not None and known.is_wordpiece
    window = max_tokens if is_exact else int(max_tokens * MARGIN)
    reach = window - StandInTokenizer().count_plain([prefixes.passage])[0]
    if not dimension or reach < 1:
        raise InvalidSettings(
            f"{SETTING} = {settings.model!r} is not known here: set embedding.dimensions (length of its vectors) and "
            "embedding.max_tokens (what it reads), and embedding.query_prefix and embedding.passage_prefix if its "
            f"model card asks for them. Known are: {', '.join(KNOWN_MODELS)}."
        )
    facts = EmbedderFacts(
        _identity(name, access, prefixes, dimension), dimension, reach, PACKAGED_TOKENIZER_ID
    )
    limit = None if is_exact else max_tokens
    return ChosenModel(
        name, access, facts, prefixes, asked, limit, EMBEDDING_REQUESTS[name.provider]
    )


def _dimension(
    name: ModelName, known: KnownModel | None, settings: EmbeddingSettings
) -> tuple[int, int | None]:
    """Length of the vectors, and the length asked for; 0 when neither table nor settings have
    it."""
    wanted = settings.dimensions
    if known is None or wanted is None or wanted == known.dimension:
        return wanted or (known.dimension if known else 0), None
    if known.least_dimension is None:
        raise InvalidSettings(
            f"embedding.dimensions = {wanted}, but the vectors of {name} have {known.dimension} numbers and cannot be "
            "shortened. Leave it empty."
        )
    if not known.least_dimension <= wanted <= known.dimension:
        raise InvalidSettings(
            f"embedding.dimensions = {wanted}, but the vectors of {name} have {known.least_dimension} to "
            f"{known.dimension} numbers."
        )
    return wanted, wanted


def _prefixes(name: ModelName, settings: EmbeddingSettings) -> Prefixes:
    """Prefixes of the model; another tag of a known model has those of the model without a tag."""
    family = KNOWN_MODELS.get(f"{name.provider}:{name.name.partition(':')[0]}")
    own = family.prefixes if family else NO_PREFIXES
    return own.overridden(settings.query_prefix, settings.passage_prefix)


def _identity(name: ModelName, access: Access, prefixes: Prefixes, dimension: int) -> str:
    """Contains no key; contains the hash of an address other than the provider's own."""
    digest = fingerprint(
        str(name), access.server, prefixes.query, prefixes.passage, REQUEST_VERSION
    )[:8]
    return f"{name.provider}-{re.sub(r'[^A-Za-z0-9.]+', '-', name.name)}-{dimension}-{digest}"


MARGIN = 0.7
"""Share of a model's limit that passages may fill by this count: a model's own tokenizer may cut a
text into 1.4 times as many tokens. An allowance, not a measurement: of the vendors' tokenizers none
is at hand."""
_UNKNOWN = "[UNK]"


class StandInTokenizer(ModelTokenizer):
    """The uncased BERT vocabulary of all-MiniLM-L6-v2."""

    def __init__(self) -> None:
        super().__init__(packaged_tokenizer())

    def most_tokens(self, text: str) -> int:
        """More than any model's own tokenizer is expected to make of `text`.

        WordPiece takes a run of characters it does not know, or one of more than 100 without a
        space, for a single token: those count one token per byte, the rest with the margin.
        """
        encoding = self.encoded(text)
        unknown = [
            place
            for token, place in zip(encoding.tokens, encoding.offsets, strict=True)
            if token == _UNKNOWN
        ]
        n_unknown_bytes = sum(len(text[start:end].encode()) for start, end in unknown)
        return math.ceil((len(encoding.ids) - len(unknown)) / MARGIN) + n_unknown_bytes

    def fitted(self, text: str, max_tokens: int) -> str:
        """`text`, or the beginning of it that no tokenizer can make more than `max_tokens` of.

        No tokenizer makes more tokens than there are bytes. Passages are cut by count to what a
        model reads, so only one with long runs of unknown characters (encoded data, a picture of
        characters) loses its end here.
        """
        content = text.encode()
        if len(content) <= max_tokens or self.most_tokens(text) <= max_tokens:
            return text
        return content[:max_tokens].decode(errors="ignore")
