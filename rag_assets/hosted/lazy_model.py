"""A model behind an API that is asked for output of one type, opened by the first prompt.

No SDK is loaded before. How it is asked is in `structured`, which imports the SDK layer.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import BaseModel

from rag_assets.hosted.access import ModelName, require_access
from rag_assets.hosted.connections import Connections

if TYPE_CHECKING:
    from rag_assets.hosted.structured import StructuredModel, StructuredReply

Output = TypeVar("Output", bound=BaseModel | str)


class LazyModel(Generic[Output]):
    """See `StructuredModel`. Safe to use from several threads."""

    def __init__(
        self,
        name: ModelName,
        connections: Connections,
        output_type: type[Output],
        *,
        instructions: str,
        max_output_tokens: int,
    ) -> None:
        """Raises MissingKey, InvalidSettings as `require_access`; nothing is opened yet."""
        self._name = name
        self._access = require_access(name.provider)
        self._connections = connections
        self._output_type = output_type
        self.instructions = instructions
        self._max_output_tokens = max_output_tokens

    @property
    def model_id(self) -> str:
        """The model, readably; another server's model has another."""
        return self._access.model_id(self._name)

    def ask(self, prompt: str, within_s: float | None = None) -> "StructuredReply[Output]":
        """As `StructuredModel.ask`."""
        return self._model.ask(prompt, within_s)

    @cached_property
    def _model(self) -> "StructuredModel[Output]":
        from rag_assets.hosted.structured import StructuredModel

        return StructuredModel(
            self._name,
            self._connections.to(self._access),
            self._output_type,
            instructions=self.instructions,
            max_output_tokens=self._max_output_tokens,
        )
