"""A model of each provider, and the settings of a hurried user."""

from pydantic import BaseModel

from rag_assets.core.settings import ModelAccessSettings
from rag_assets_testing.wire import ProtocolName

MODELS: dict[ProtocolName, str] = {
    "google": "gemini-2.5-flash",
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-5-mini",
    "ollama": "llama3.2",
}
HURRIED = ModelAccessSettings(
    timeout_s=10.0,
    max_attempts=3,
    max_wait_s=0.2,
    max_concurrent=4,
    requests_per_minute=60_000,
)


class Colour(BaseModel):
    """What the tests ask a model for."""

    name: str
