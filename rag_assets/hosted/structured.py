"""Asking a model behind an API for output of one type.

pydantic-ai writes the schema into the request where the provider enforces schemas, into the prompt where it does not,
and gives a reply that does not fit one round of repair. No tools are given, whatever a prompt contains.
"""

from collections.abc import Awaitable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import anyio
from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput, PromptedOutput, capture_run_messages
from pydantic_ai.exceptions import ContentFilterError, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from rag_assets.errors import BudgetExhausted, ModelFault
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connection import Connection
from rag_assets.hosted.prices import usage_of
from rag_assets.model import Usage, summed

ONE_REPAIR = 1
_seconds: ContextVar[list[float]] = ContextVar("seconds of the requests of one question")
Output = TypeVar("Output", bound=BaseModel)


@dataclass(frozen=True)
class StructuredReply(Generic[Output]):
    """What came back."""

    output: Output | None
    """None when it was withheld, or still malformed after the repair."""
    texts: tuple[str, ...]
    """What the model wrote, in order; more than one after a repair."""
    is_withheld: bool
    """The provider refused to answer (a content filter)."""
    usage: Usage
    seconds: float
    """How long the provider took over all requests; waiting for a turn or between attempts is not part of it."""


class StructuredModel(Generic[Output]):
    """One model, asked for one type of output. Safe to use from several threads."""

    def __init__(
        self,
        name: ModelName,
        connection: Connection,
        output_type: type[Output],
        *,
        instructions: str,
        max_output_tokens: int,
    ) -> None:
        self._name = name
        self._connection = connection
        model = _opened(name, connection)
        in_schema = model.profile.get("supports_json_schema_output", False)
        self._agent = Agent(
            _Guarded(model, name, connection),
            output_type=NativeOutput(output_type) if in_schema else PromptedOutput(output_type),
            instructions=instructions,
            retries=ONE_REPAIR,
            model_settings=ModelSettings(max_tokens=max_output_tokens),
        )

    def ask(self, prompt: str) -> StructuredReply[Output]:
        """Raises what `Connection.guarded` raises."""
        return self._connection.call(lambda: self._asked(prompt))

    async def _asked(self, prompt: str) -> StructuredReply[Output]:
        _seconds.set([])
        with capture_run_messages() as messages:
            try:
                run = await self._agent.run(prompt)
            except ContentFilterError:
                return replace(self._reply(messages), is_withheld=True)
            except UnexpectedModelBehavior:
                return self._reply(messages)
            except (ModelFault, BudgetExhausted):
                if not _responses(messages):
                    raise
                return self._reply(messages)  # the repair was not to be had, but what it should mend was paid for
        return replace(self._reply(messages), output=run.output)

    def _reply(self, messages: Sequence[ModelMessage]) -> StructuredReply[Output]:
        """What was written so far, without an output."""
        responses = _responses(messages)
        return StructuredReply(
            output=None,
            texts=tuple(response.text or "" for response in responses),
            is_withheld=False,
            usage=summed([usage_of(self._name, self._connection.access, response.usage) for response in responses]),
            seconds=round(sum(_seconds.get()), 3),
        )


class _Guarded(WrapperModel):
    """A model whose every request, repairs included, goes through the connection's limits and retries, and whose
    replies hold no key, should a server echo it."""

    def __init__(self, wrapped: Model, name: ModelName, connection: Connection) -> None:
        super().__init__(wrapped)
        self._name = name
        self._connection = connection

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        response = await self._connection.guarded(
            lambda: _timed(self.wrapped.request(messages, model_settings, model_request_parameters)),
            lambda response: usage_of(self._name, self._connection.access, response.usage),
        )
        return replace(
            response,
            parts=[
                replace(part, content=self._clean(part.content)) if isinstance(part, TextPart) else part
                for part in response.parts
            ],
        )

    def _clean(self, text: str) -> str:
        """Without the key, and without half characters (a cut escape), which no file and no repair can hold."""
        return self._connection.access.redacted(text.encode("utf-8", "replace").decode())


def _responses(messages: Sequence[ModelMessage]) -> list[ModelResponse]:
    return [message for message in messages if isinstance(message, ModelResponse)]


async def _timed(request: Awaitable[ModelResponse]) -> ModelResponse:
    started = anyio.current_time()
    try:
        return await request
    finally:
        _seconds.get().append(anyio.current_time() - started)


def _opened(name: ModelName, connection: Connection) -> Model:
    match name.provider:
        case "google":
            from pydantic_ai.models.google import GoogleModel

            return GoogleModel(name.name, provider=connection.provider)
        case "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel

            return AnthropicModel(name.name, provider=connection.provider)
        case "ollama":
            from pydantic_ai.models.ollama import OllamaModel

            return OllamaModel(name.name, provider=connection.provider)
        case _:
            from pydantic_ai.models.openai import OpenAIChatModel

            return OpenAIChatModel(name.name, provider=connection.provider)
