"""Any dense model in fastembed's own list, fetched once from its hub into the models folder.

Nothing here is run unless the settings name such a model. fastembed must be imported for each fact, since it alone
knows its models.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.embedding.base import EmbedderFacts
from rag_assets.errors import InvalidSettings, MissingModel
from rag_assets.incremental import file_sha256, fingerprint

if TYPE_CHECKING:
    from fastembed.common.model_description import DenseModelDescription


@dataclass(frozen=True)
class HubModel:
    """A model of fastembed's list; its files are kept below `models_folder`."""

    fastembed_name: str
    models_folder: Path

    @cached_property
    def facts(self) -> EmbedderFacts:
        from fastembed.common.preprocessor_utils import load_tokenizer

        truncation = load_tokenizer(model_dir=self._folder)[0].truncation or {}
        files = [self._description.model_file, *self._description.additional_files, "tokenizer.json"]
        content = fingerprint({name: file_sha256(self._folder / name) for name in files})
        return EmbedderFacts(
            model_id=f"fastembed-{re.sub(r'[^A-Za-z0-9.]+', '-', self.fastembed_name)}-{content[:12]}",
            dimension=int(self._description.dim or 0),
            max_tokens=int(truncation["max_length"]),
        )

    def tokenizer_file(self) -> Path:
        return self._folder / "tokenizer.json"

    def ready_folder(self) -> Path:
        return self._folder

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
