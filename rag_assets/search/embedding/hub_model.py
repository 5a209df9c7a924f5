"""Any dense model in fastembed's own list, fetched once from its hub into the models folder.

Nothing here is run unless the settings name such a model. fastembed must be imported for each fact, since it alone
knows its models.
"""

import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.core.errors import InvalidSettings, MissingModel
from rag_assets.core.incremental import file_sha256, fingerprint
from rag_assets.core.settings import EmbeddingSettings
from rag_assets.search.embedding.base import EmbedderFacts
from rag_assets.search.embedding.fastembed_model import FastembedModel
from rag_assets.search.embedding.prefixes import NO_PREFIXES, fastembed_prefixes

if TYPE_CHECKING:
    from fastembed.common.model_description import DenseModelDescription


class HubModel(FastembedModel):
    """A model of fastembed's list; its files are kept below `models_folder`."""

    def __init__(self, name: str, settings: EmbeddingSettings, models_folder: Path, n_threads: int) -> None:
        super().__init__(name, models_folder, n_threads)
        self.prefixes = fastembed_prefixes(name).overridden(settings.query_prefix, settings.passage_prefix)

    @cached_property
    def facts(self) -> EmbedderFacts:
        files = [self._description.model_file, *self._description.additional_files, "tokenizer.json"]
        content = fingerprint({name: file_sha256(self._folder / name) for name in files})
        identity = f"fastembed-{re.sub(r'[^A-Za-z0-9.]+', '-', self.fastembed_name)}-{content[:12]}"
        if self.prefixes != NO_PREFIXES:
            identity += f"-p{fingerprint(self.prefixes.query, self.prefixes.passage)[:8]}"
        tokenizer = self._cutting_tokenizer()
        max_tokens = int(tokenizer.truncation["max_length"])
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return EmbedderFacts(
            identity=identity,
            dimension=int(self._description.dim or 0),
            max_tokens=max_tokens - len(tokenizer.encode(self.prefixes.passage, add_special_tokens=False).ids),
            tokenizer_id=f"tokenizer-{file_sha256(self.tokenizer_file())[:12]}",
        )

    def tokenizer_file(self) -> Path:
        return self._folder / "tokenizer.json"

    def ready_folder(self) -> Path:
        return self._folder

    def _cutting_tokenizer(self) -> Any:
        """As fastembed loads it: cut at what the model reads."""
        if self._description.model_file.endswith(".safetensors"):  # a static model: a table of vectors, no ONNX graph
            from fastembed.text.static_embedding import load_static_tokenizer

            return load_static_tokenizer(self._folder)[0]
        from fastembed.common.preprocessor_utils import load_tokenizer

        return load_tokenizer(self._folder)[0]

    @cached_property
    def _description(self) -> "DenseModelDescription":
        from fastembed import TextEmbedding
        from fastembed.common.model_description import DenseModelDescription, ModelSource

        known = {model["model"]: model for model in TextEmbedding.list_supported_models()}
        if self.fastembed_name not in known:
            names = ", ".join(sorted(known))
            raise InvalidSettings(f"embedding.model: fastembed does not know {self.fastembed_name!r}, only: {names}.")
        model = known[self.fastembed_name]
        return DenseModelDescription(**(model | {"sources": ModelSource(**model["sources"])}))

    @cached_property
    def _folder(self) -> Path:
        from fastembed import TextEmbedding

        description = self._description
        self.models_folder.mkdir(parents=True, exist_ok=True)
        try:
            return TextEmbedding.download_model(description, cache_dir=str(self.models_folder))
        except (OSError, ValueError) as error:
            raise MissingModel(
                f"{self.fastembed_name} is not in {self.models_folder} and cannot be fetched from its hub ({error}). "
                'Connect once, or set embedding.model = "local:all-MiniLM-L6-v2-int8" in rag_assets.toml.'
            ) from error
