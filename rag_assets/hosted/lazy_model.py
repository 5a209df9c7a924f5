"""A model behind an API that is asked for output of one type, opened by the first prompt.

No SDK is loaded before. How it is asked is in `structured`, which imports the SDK layer.
"""

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import BaseModel

from rag_assets.hosted.access import ModelName, require_access
from rag_assets.hosted.connections import Connections

if TYPE_CHECKING:
    from rag_assets.hosted.structured import StructuredModel, StructuredReply

Output = TypeVar("Output", bound=BaseModel | str)


@dataclass
class LazyModel(Generic[Output]):
    """See `StructuredModel`. Safe to use from several threads. Making it opens nothing; it raises MissingKey and
    InvalidSettings as `require_access` does."""

    name: ModelName
    connections: Connections
    output_type: type[Output]
    _: KW_ONLY
    instructions: str
    max_output_tokens: int

    def __post_init__(self) -> None:
        self._access = require_access(self.name.provider)

    @property
    def model_id(self) -> str:
        """The model, readably; another server's model has another."""
        return self._access.model_id(self.name)

    def ask(self, prompt: str, within_s: float | None = None) -> "StructuredReply[Output]":
        """The reply, as `StructuredModel.ask` gives it."""
        return self._model.ask(prompt, within_s)

    @cached_property
    def _model(self) -> "StructuredModel[Output]":
        from rag_assets.hosted.structured import StructuredModel

        return StructuredModel(
            self.name,
            self.connections.to(self._access),
            self.output_type,
            instructions=self.instructions,
            max_output_tokens=self.max_output_tokens,
        )
