"""The real SDK classes, pointed at a local server: what stands between a test and the wire."""

import asyncio

from pydantic_ai import Agent, NativeOutput
from pydantic_ai.agent import AgentRunResult
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.settings import ModelSettings

from rag_assets.answering.model.replies import ModelReply
from rag_assets_testing.wire.server import ProtocolName

MODEL_NAMES: dict[ProtocolName, str] = {
    "google": "gemini-2.5-flash",
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-5-mini",
    "ollama": "llama3.2",
}
TIMEOUT_S = 15.0
"""No local server takes so long, however busy the machine is."""


def model_from_environment(protocol: ProtocolName) -> Model:
    """The chat model of a provider that finds key and address in the environment."""
    name = MODEL_NAMES[protocol]
    match protocol:
        case "google":
            return GoogleModel(name)
        case "anthropic":
            return AnthropicModel(name)
        case "openai":
            return OpenAIChatModel(name)
        case "ollama":
            return OllamaModel(
                name, profile=OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
            )


def ask(
    protocol: ProtocolName, question: str, *, timeout_s: float = TIMEOUT_S
) -> AgentRunResult[ModelReply]:
    """Ask for a structured answer, with one repair round and without the SDK's own retries."""
    settings: ModelSettings = {"max_retries": 0, "timeout": timeout_s, "max_tokens": 200}

    async def run() -> AgentRunResult[ModelReply]:
        async with model_from_environment(protocol) as model:
            agent = Agent(
                model,
                output_type=NativeOutput(ModelReply),
                instructions="Answer from the sources only.",
                retries=1,
                model_settings=settings,
            )
            return await agent.run(question)

    return asyncio.run(run())
