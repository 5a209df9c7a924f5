"""Asks a model behind an API for output of one type.

pydantic-ai writes the schema into the request if the provider enforces schemas, otherwise into the
prompt. If a reply does not fit the schema, it asks once more. The model has no tools, whatever a
prompt contains.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import Generic, Literal, TypeVar

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
    ThinkingPart,
    ToolCallPart,
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
"""Keys in the metadata of a response: the time that the provider took, and whether the output limit
cut the reply."""
_REFUSED = "refusal"
"""Is in pydantic-ai's message if the model itself refused to answer, not the provider's content
filter."""
_SHORTER = "Your reply was cut by the output limit. Write fewer and shorter statements."
_REJECT_TEMPERATURE = ("openai_supports_reasoning", "anthropic_disallows_sampling_settings")
Output = TypeVar("Output", bound=BaseModel)
Ended = Literal["text", "cut", "tool call", "reasoning only", "empty", "refused", "withheld"]
"""How a reply ended: with text, cut by the output limit, with a call of a tool (it has none), with
reasoning but no text, with nothing, refused by the model, or withheld by the provider's content
filter."""


@dataclass(frozen=True)
class StructuredReply(Generic[Output]):
    """The reply to one prompt, including a repair."""

    output: Output | None
    """None if the provider withheld it, or if it was still malformed after the repair."""
    texts: tuple[str, ...]
    """The texts that the model wrote, in order. After a repair there are several."""
    ended: Ended
    """How the last reply ended."""
    usage: Usage
    seconds: float
    """Time that the provider took for all answered requests, without the pauses between them."""
    fault: RagAssetsError | None = None
    """The error that interrupted the repair of a malformed reply, if asking again later can help.
    None if there was no such error, or if the provider rejected the repair."""


class StructuredModel(Generic[Output]):
    """One model that is asked for one type of output. Safe to use from several threads."""

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
        enforces_schemas = model.profile.get("supports_json_schema_output", False)
        output_spec: OutputSpec[Output] = (
            NativeOutput(output_type) if enforces_schemas else PromptedOutput(output_type)
        )
        self._agent: Agent[Callable[[Output], str] | None, Output] = Agent(
            _Guarded(model, name, connection),
            output_type=output_spec,
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
        """Ask the model. within_s: time limit of all attempts and pauses together; None for no
        limit. fault_of: returns what is wrong with an output, or "". The model is told this once,
        and asked again.

        Raises the errors of `Connection.guarded`, and ModelUnavailable when the time is over.
        """
        return self._connection.call(lambda: self._ask_in_time(prompt, within_s, fault_of))

    async def _ask_in_time(
        self, prompt: str, within_s: float | None, fault_of: Callable[[Output], str] | None
    ) -> StructuredReply[Output]:
        with anyio.move_on_after(within_s):
            return await self._ask(prompt, fault_of)
        raise ModelUnavailable(f"{self._name} gave no answer within {within_s} s.")

    async def _ask(
        self, prompt: str, fault_of: Callable[[Output], str] | None
    ) -> StructuredReply[Output]:
        """The reply to a prompt. A reply that could not be repaired is returned without an
        output."""
        with capture_run_messages() as messages:
            try:
                run = await self._agent.run(prompt, deps=fault_of)
            except ContentFilterError as refusal:
                ended: Ended = "refused" if _REFUSED in str(refusal).lower() else "withheld"
                return replace(self._reply(messages), ended=ended)
            except UnexpectedModelBehavior:
                return self._reply(messages)
            except (ModelFault, BudgetExhausted) as fault:
                if not _responses(messages):
                    raise
                # the first reply was paid for, so it is returned although its repair failed
                is_final = isinstance(fault, RequestRejected)
                return replace(self._reply(messages), fault=None if is_final else fault)
        return replace(self._reply(messages), output=run.output)

    def _reply(self, messages: Sequence[ModelMessage]) -> StructuredReply[Output]:
        """The reply that the messages contain, without the output."""
        responses = _responses(messages)
        access = self._connection.access
        seconds = sum((response.metadata or {}).get(_SECONDS, 0.0) for response in responses)
        return StructuredReply(
            output=None,
            texts=tuple(response.text or "" for response in responses),
            ended=_ended(responses[-1]) if responses else "empty",
            usage=summed([usage_of(self._name, access, response.usage) for response in responses]),
            seconds=round(seconds, 3),
        )


def _repaired_once(run: RunContext[Callable[[Output], str] | None], output: Output) -> Output:
    """The output. If it has a fault and was not repaired yet, raises ModelRetry, so that the model
    is told of the fault."""
    if run.deps and not run.last_attempt and (fault := run.deps(output)):
        raise ModelRetry(fault)
    return output


class _Guarded(WrapperModel):
    """Wraps a model: sends each of its requests, repairs included, through `Connection.guarded`,
    and removes the key from replies."""

    def __init__(self, wrapped: Model, name: ModelName, connection: Connection) -> None:
        super().__init__(wrapped)
        self._name = name
        self._connection = connection
        self._accepts_schemas = True
        self._has_warned_of_cut = False

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Send a request. If the server rejects the schema in it, the schema is written into the
        prompt instead, for this and all later requests."""
        schema_in_prompt = replace(model_request_parameters, output_mode="prompted")
        if model_request_parameters.output_mode != "native" or not self._accepts_schemas:
            return await self._send(messages, model_settings, schema_in_prompt)
        try:
            return await self._send(messages, model_settings, model_request_parameters)
        except SchemaRefused:
            response = await self._send(messages, model_settings, schema_in_prompt)
            # only now is it certain that the server refused the schema, and nothing else
            self._accepts_schemas = False
            return response

    async def _send(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Send a request through the connection, and clean the reply. If the output limit cut an
        earlier reply, the request also asks for a shorter one."""
        last = messages[-1]
        was_cut = any((reply.metadata or {}).get(_IS_CUT) for reply in _responses(messages))
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
            facts = {
                _SECONDS: anyio.current_time() - started_s,
                _IS_CUT: response.finish_reason == "length",
            }
            return replace(response, usage=_token_usage(response, messages), metadata=facts)

        response = await self._connection.guarded(
            request, lambda response: usage_of(self._name, self._connection.access, response.usage)
        )
        # remove the key, and halves of characters (from a cut escape), which cannot be encoded
        parts = []
        for part in response.parts:
            if isinstance(part, TextPart):
                text = _json_in(part.content.encode("utf-8", "replace").decode())
                part = replace(part, content=self._connection.access.redacted(text))
            parts.append(part)
        # pydantic-ai does not ask for a repair if the reason is "length"
        is_cut = response.finish_reason == "length"
        return replace(
            response, parts=parts, finish_reason="stop" if is_cut else response.finish_reason
        )

    def _warn_of_cut(self, n_read: int, messages: Sequence[ModelMessage]) -> None:
        """Warn once if the server read fewer tokens than the prompt has words.

        This is no error: if the beginning of a prompt is the same as in the one before, old
        versions of Ollama count only the rest.
        """
        n_sent = sum(len(text.split()) for text in _texts(messages))
        if 0 < n_read < n_sent and not self._has_warned_of_cut:
            self._has_warned_of_cut = True
            logger.warning(
                "%s read %d tokens of a prompt of %d words or more: Ollama leaves out what its context does not hold, "
                "and answers rest on the rest. Start Ollama with a larger OLLAMA_CONTEXT_LENGTH (24576 holds the "
                "default retrieval.budget_tokens and the longest answer), or lower retrieval.budget_tokens.",
                self._name,
                n_read,
                n_sent,
            )


def _json_in(text: str) -> str:
    """The JSON object in a text, without words and code fences around it. The whole text if it has
    no object."""
    start, end = text.find("{"), text.rfind("}") + 1
    return text[start:end] if 0 <= start < end else text


def _chat_model(name: str, connection: Connection) -> Model:
    """pydantic-ai's model, with the corrections of `Sdk.profile`."""
    sdk = connection.access.sdk
    model_class = resolve_name(sdk.chat_model)
    model: Model = model_class(name, provider=connection.sdk_provider)
    # a model must exist to know its profile, so a corrected one is made again
    if sdk.profile is not None:
        model = model_class(
            name, provider=connection.sdk_provider, profile=sdk.profile(model.profile)
        )
    return model


def _sampling(model: Model) -> ModelSettings:
    """Temperature 0, since sources are to be quoted, not varied: the providers' defaults go up to 1
    (Ollama's is .8). Empty for models that reject a temperature (OpenAI's reasoning models and
    newer ones of Anthropic, as pydantic-ai knows)."""
    rejects = any(model.profile.get(name) for name in _REJECT_TEMPERATURE)
    return ModelSettings() if rejects else ModelSettings(temperature=0.0)


def _token_usage(response: ModelResponse, messages: Sequence[ModelMessage]) -> RequestUsage:
    """The tokens that the server reports. If it reports none, they are counted here, so that
    budgets work with such servers too."""
    if response.usage.input_tokens:
        return response.usage
    counter = token_counter("wordpiece")
    return RequestUsage(
        input_tokens=sum(counter.count_all(_texts(messages))),
        output_tokens=response.usage.output_tokens or sum(counter.count_all(_texts([response]))),
    )


def _texts(messages: Sequence[ModelMessage]) -> list[str]:
    """All texts in the messages: the instructions, then the content of each part."""
    instructions = next(
        (message.instructions or "" for message in messages if isinstance(message, ModelRequest)),
        "",
    )
    return [
        instructions,
        *(
            str(part.content)
            for message in messages
            for part in message.parts
            if hasattr(part, "content")
        ),
    ]


def _ended(response: ModelResponse) -> Ended:
    """How a reply that was not refused ended."""
    if (response.metadata or {}).get(_IS_CUT):
        return "cut"
    if any(isinstance(part, ToolCallPart) for part in response.parts):
        return "tool call"
    if (response.text or "").strip():
        return "text"
    has_thought = any(isinstance(part, ThinkingPart) for part in response.parts)
    return "reasoning only" if has_thought else "empty"


def _responses(messages: Sequence[ModelMessage]) -> list[ModelResponse]:
    return [message for message in messages if isinstance(message, ModelResponse)]
