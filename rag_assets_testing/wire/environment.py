"""The environment variables that send a provider's SDK to a local server."""

from collections.abc import Callable

import pytest

from rag_assets_testing.wire.server import PROTOCOLS, WireServer

Wire = Callable[..., WireServer]
"""Begins a server for a test: provider, and what else a WireServer takes."""
ALSO_READ = (
    "GEMINI_API_KEY",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_GENAI_USE_ENTERPRISE",
    "ANTHROPIC_AUTH_TOKEN",
)
"""Variables that would lead an SDK elsewhere, or make it warn of two keys."""


def use_wire_environment(monkeypatch: pytest.MonkeyPatch, *servers: WireServer) -> None:
    """Point each server's provider to it, with its key, and leave every other provider without key
    and address."""
    for protocol in PROTOCOLS.values():
        monkeypatch.delenv(protocol.key_variable, raising=False)
        monkeypatch.delenv(protocol.base_url_variable, raising=False)
    for variable in ALSO_READ:
        monkeypatch.delenv(variable, raising=False)
    for server in servers:
        monkeypatch.setenv(server.protocol.key_variable, server.key)
        monkeypatch.setenv(server.protocol.base_url_variable, server.base_url)
