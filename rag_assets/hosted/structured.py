"""Asks a model behind an API for output of one type; `str` is plain text, without a schema.

pydantic-ai writes the schema into the request where the provider enforces schemas, else into the
prompt, and asks once more when a reply does not fit. The model is given no tools, whatever a prompt
contains.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import Generic, TypeVar

import anyio
from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    ModelRetry,
    NativeOutput,
    PromptedOutput,
    RunContext,
    capture_run_messages,
)
from pydantic_ai.exceptions import ContentFilterError, UnexpectedModelBehavior
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.output import OutputSpec
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from rag_assets.core.domain import Usage, summed
from rag_assets.core.errors import (
    BudgetExhausted,
    ModelFault,
    ModelUnavailable,
    RagAssetsError,
    RequestRejected,
    SchemaRefused,
)
from rag_assets.core.text.tokens import token_counter
from rag_assets.hosted.access import PROVIDERS, ModelName
from rag_assets.hosted.budget import usage_of
from rag_assets.hosted.connection import Connection

logger = logging.getLogger(__name__)
ONE_REPAIR = 1
_SECONDS, _IS_CUT = "seconds", "is_cut"
"""Keys in the metadata of a response: time that the provider took, and whether the output limit
ended it."""
_SHORTER = "Your reply was cut by the output limit. Write fewer and shorter statements."
_REJECT_TEMPERATURE = ("openai_supports_reasoning", "anthropic_disallows_sampling_settings")
Output = TypeVar("Output", bound=BaseModel | str)


@dataclass(frozen=True)
class StructuredReply(Generic[Output]):
    """The reply to one prompt, a repair included."""

    output: Output | None
    """None if it was withheld, or still malformed after the repair."""
    texts: tuple[str, ...]
    """The texts that the model wrote, in order; more than one after a repair."""
    is_withheld: bool
    """The provider refused to answer (a content filter)."""
    is_cut: bool
    """The output limit ended the last text."""
    usage: Usage
    seconds: float
    """Time that the provider took for the answered requests, without waiting between them."""
    fault: RagAssetsError | None = None
    """Error that interrupted the repair of a malformed reply and is worth retrying; None if the
    repair was rejected."""


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
        model = _chat_model(name.name, connection)
        output: OutputSpec[Output] = output_type
        if not issubclass(output_type, str):
            in_schema = model.profile.get("supports_json_schema_output", False)
            output = NativeOutput(output_type) if in_schema else PromptedOutput(output_type)
        self._agent: Agent[Callable[[Output], str] | None, Output] = Agent(
            _Guarded(model, name, connection),
            output_type=output,
            instructions=instructions or None,
            retries=ONE_REPAIR,
            model_settings=_sampling(model) | ModelSettings(max_tokens=max_output_tokens),
        )
        self._agent.output_validator(_repaired_once)

    def ask(
        self,
        prompt: str,
        within_s: float | None = None,
        fault_of: Callable[[Output], str] | None = None,
    ) -> StructuredReply[Output]:
        """within_s: time limit of all attempts and pauses together; None for no limit. fault_of:
        says what is wrong with an output, or an empty text; the model is told once.

        Raises what `Connection.guarded` raises, and ModelUnavailable when the time is over.
        """
        return self._connection.call(lambda: self._asked_in_time(prompt, within_s, fault_of))

    async def _asked_in_time(
        self, prompt: str, within_s: float | None, fault_of: Callable[[Output], str] | None
    ) -> StructuredReply[Output]:
        with anyio.move_on_after(within_s):
            return await self._asked(prompt, fault_of)
        raise ModelUnavailable(f"{self._name} gave no answer within {within_s} s.")

    async def _asked(
        self, prompt: str, fault_of: Callable[[Output], str] | None
    ) -> StructuredReply[Output]:
        with capture_run_messages() as messages:
            try:
                run = await self._agent.run(prompt, deps=fault_of)
            except ContentFilterError:
                return replace(self._reply(messages), is_withheld=True)
            except UnexpectedModelBehavior:
                return self._reply(messages)
            except (ModelFault, BudgetExhausted) as fault:
                if not _responses(messages):
                    raise
                # the reply was paid for
                is_final = isinstance(fault, RequestRejected)
                return replace(self._reply(messages), fault=None if is_final else fault)
        return replace(self._reply(messages), output=run.output)

    def _reply(self, messages: Sequence[ModelMessage]) -> StructuredReply[Output]:
        """The texts written so far, without an output."""
        responses = _responses(messages)
        access = self._connection.access
        seconds = sum((response.metadata or {}).get(_SECONDS, 0.0) for response in responses)
        return StructuredReply(
            output=None,
            texts=tuple(response.text or "" for response in responses),
            is_withheld=False,
            is_cut=bool(responses) and bool((responses[-1].metadata or {}).get(_IS_CUT)),
            usage=summed([usage_of(self._name, access, response.usage) for response in responses]),
            seconds=round(seconds, 3),
        )


def _repaired_once(run: RunContext[Callable[[Output], str] | None], output: Output) -> Output:
    """The output; one with a fault goes back to the model, unless it comes from there."""
    if run.deps and not run.last_attempt and (fault := run.deps(output)):
        raise ModelRetry(fault)
    return output


class _Guarded(WrapperModel):
    """Sends every request of a model, repairs included, through `Connection.guarded`, and removes
    the key from replies."""

    def __init__(self, wrapped: Model, name: ModelName, connection: Connection) -> None:
        super().__init__(wrapped)
        self._name = name
        self._connection = connection
        self._takes_schemas = True
        self._is_known_to_cut = False

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Writes the schema into the prompt once a server has rejected a request with a schema."""
        if model_request_parameters.output_mode == "text":
            return await self._sent(messages, model_settings, model_request_parameters)
        in_prompt = replace(model_request_parameters, output_mode="prompted")
        if model_request_parameters.output_mode != "native" or not self._takes_schemas:
            return await self._sent(messages, model_settings, in_prompt)
        try:
            return await self._sent(messages, model_settings, model_request_parameters)
        except SchemaRefused:
            response = await self._sent(messages, model_settings, in_prompt)
            self._takes_schemas = False  # only now: the refusal may have been about something else
            return response

    async def _sent(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> ModelResponse:
        last = messages[-1]
        was_cut = any((one.metadata or {}).get(_IS_CUT) for one in _responses(messages))
        if was_cut and isinstance(last, ModelRequest):
            messages = [
                *messages[:-1],
                replace(last, parts=[*last.parts, UserPromptPart(_SHORTER)]),
            ]

        async def request() -> ModelResponse:
            started_s = anyio.current_time()
            response = await self.wrapped.request(messages, model_settings, parameters)
            if PROVIDERS[self._name.provider].cuts_long_prompts:
                self._warn_of_cut(response.usage.input_tokens, messages)
            told = {
                _SECONDS: anyio.current_time() - started_s,
                _IS_CUT: response.finish_reason == "length",
            }
            return replace(response, usage=_counted(response, messages), metadata=told)

        response = await self._connection.guarded(
            request, lambda response: usage_of(self._name, self._connection.access, response.usage)
        )
        # without the key, and without half characters (a cut escape), which no file can hold
        parts = []
        for part in response.parts:
            if isinstance(part, TextPart):
                text = part.content.encode("utf-8", "replace").decode()
                if parameters.output_mode != "text":
                    text = _json_in(text)
                part = replace(part, content=self._connection.access.redacted(text))
            parts.append(part)
        # pydantic-ai has no reply repaired that the output limit ended
        is_cut = response.finish_reason == "length"
        return replace(
            response, parts=parts, finish_reason="stop" if is_cut else response.finish_reason
        )

    def _warn_of_cut(self, n_read: int, messages: Sequence[ModelMessage]) -> None:
        """Warn once if fewer tokens were read than the prompt has words.

        This is not an error: if a prompt resembles the one before, old versions of Ollama count
        only the new part.
        """
        n_sent = sum(len(text.split()) for text in _texts(messages))
        if 0 < n_read < n_sent and not self._is_known_to_cut:
            self._is_known_to_cut = True
            logger.warning(
                "%s read %d tokens of a prompt of %d words or more: Ollama leaves out what its context does not hold, "
                "and answers rest on the rest. Start Ollama with a larger OLLAMA_CONTEXT_LENGTH (24576 holds the "
                "default retrieval.budget_tokens and the longest answer), or lower retrieval.budget_tokens.",
                self._name,
                n_read,
                n_sent,
            )


def _json_in(text: str) -> str:
    """The object in a text without the words and fences around it; the text where it has none."""
    start, end = text.find("{"), text.rfind("}") + 1
    return text[start:end] if 0 <= start < end else text


def _chat_model(name: str, connection: Connection) -> Model:
    sdk = connection.access.sdk
    model_class = resolve_name(sdk.chat_model)
    model: Model = model_class(name, provider=connection.sdk_provider)
    if sdk.profile is not None:
        model = model_class(
            name, provider=connection.sdk_provider, profile=sdk.profile(model.profile)
        )
    return model


def _sampling(model: Model) -> ModelSettings:
    """Temperature 0 where the model takes one: providers' own goes up to 1 (Ollama's is .8), and
    sources are to be quoted, not varied. OpenAI's reasoning models and newer ones of Anthropic
    reject it, as pydantic-ai knows."""
    rejects = any(model.profile.get(name) for name in _REJECT_TEMPERATURE)
    return ModelSettings() if rejects else ModelSettings(temperature=0.0)


def _counted(response: ModelResponse, messages: Sequence[ModelMessage]) -> RequestUsage:
    """The reported tokens, or tokens counted here, so that budgets hold for servers that report
    none."""
    if response.usage.input_tokens:
        return response.usage
    counter = token_counter("wordpiece")
    return RequestUsage(
        input_tokens=sum(counter.count_all(_texts(messages))),
        output_tokens=response.usage.output_tokens or sum(counter.count_all(_texts([response]))),
    )


def _texts(messages: Sequence[ModelMessage]) -> list[str]:
    """The texts that a request gives the model to read."""
    instructions = next(
        (message.instructions or "" for message in messages if isinstance(message, ModelRequest)),
        "",
    )
    return [
        instructions,
        *(str(part.content) for m in messages for part in m.parts if hasattr(part, "content")),
    ]


def _responses(messages: Sequence[ModelMessage]) -> list[ModelResponse]:
    return [message for message in messages if isinstance(message, ModelResponse)]
