"""The real SDK classes, pointed at a local server: what stands between a test and the wire."""

import asyncio
from collections.abc import Sequence

from openai import AsyncOpenAI
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.agent import AgentRunResult
from pydantic_ai.embeddings import EmbeddingModel, EmbeddingSettings
from pydantic_ai.embeddings.google import GoogleEmbeddingModel
from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from rag_assets.answering.model_replies.parsing import ModelReply
from rag_assets_testing.wire.server import ProtocolName, WireServer

MODEL_NAMES: dict[ProtocolName, str] = {
    "google": "gemini-2.5-flash",
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-5-mini",
    "ollama": "llama3.2",
}
EMBEDDING_MODEL_NAMES: dict[ProtocolName, str] = {
    "google": "gemini-embedding-001",
    "openai": "text-embedding-3-small",
    "ollama": "nomic-embed-text",
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
            return OllamaModel(name, profile=OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False))


def ask(
    protocol: ProtocolName, question: str, *, timeout_s: float = TIMEOUT_S, max_tokens: int | None = 200
) -> AgentRunResult[ModelReply]:
    """Ask for a structured answer, with one repair round and without the SDK's own retries."""
    settings: ModelSettings = {"max_retries": 0, "timeout": timeout_s}
    if max_tokens is not None:
        settings["max_tokens"] = max_tokens

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


def embed(server: WireServer, texts: Sequence[str], *, n_dimensions: int | None = None) -> list[list[float]]:
    """Embed texts as documents, in one request and without the SDK's own retries."""
    settings: EmbeddingSettings = {} if n_dimensions is None else {"dimensions": n_dimensions}

    async def run() -> list[list[float]]:
        if server.protocol_name == "google":
            async with GoogleProvider(base_url=server.base_url, api_key=server.key) as provider:
                model: EmbeddingModel = GoogleEmbeddingModel(EMBEDDING_MODEL_NAMES["google"], provider=provider)
                result = await model.embed(list(texts), input_type="document", settings=settings)
        else:
            async with AsyncOpenAI(base_url=server.base_url, api_key=server.key, max_retries=0) as client:
                wrap = OllamaProvider if server.protocol_name == "ollama" else OpenAIProvider
                name = EMBEDDING_MODEL_NAMES[server.protocol_name]
                model = OpenAIEmbeddingModel(name, provider=wrap(openai_client=client))
                result = await model.embed(list(texts), input_type="document", settings=settings)
        return [list(vector) for vector in result.embeddings]

    return asyncio.run(run())
