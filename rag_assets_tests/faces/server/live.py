"""A running server for tests: uvicorn as `rag-assets serve` sets it up, in a thread of the test."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
from fastapi import FastAPI
from pydantic import SecretStr

from rag_assets.core.settings import load_settings
from rag_assets.faces.listening import listening_socket
from rag_assets.faces.server.app import Server, create_app
from rag_assets.faces.server.dependencies import Shared
from rag_assets_testing.world import TOKENIZER

DEADLINE_S = 120.0
JSON = {"Content-Type": "application/json"}
EVENTS = {"Accept": "text/event-stream"}


@dataclass(frozen=True)
class Live:
    """A server that runs."""

    app: FastAPI
    port: int
    server: Server
    client: httpx2.Client
    """Talks to it; paths are enough as addresses."""

    @property
    def shared(self) -> Shared:
        shared: Shared = self.app.state.shared
        return shared

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, question: object, *, as_events: bool = False, **more: object) -> httpx2.Response:
        """What is answered over HTTP. more: fields of the request beside the question."""
        return self.client.post(
            "/api/answers",
            json={"question": question, **more},
            headers=EVENTS if as_events else None,
        )


@contextmanager
def served(data: Path, token: str | None = None, **settings: Any) -> Iterator[Live]:
    """A server over a data folder, on a port of its own. settings: by group, as the launchpad gives
    them."""
    given = {
        **TOKENIZER,
        **settings,
        "data_dir": str(data),
        "server": {"port": 0, **settings.get("server", {})},
    }
    loaded = load_settings(given)
    app = create_app(loaded, SecretStr(token) if token else None)
    server = Server(app)
    with listening_socket(loaded.server) as listening:
        thread = Thread(target=server.run, args=([listening],))
        thread.start()
        port = listening.getsockname()[1]
        try:
            with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=DEADLINE_S) as client:
                yield Live(app, port, server, client)
        finally:
            server.should_exit = True
            thread.join(DEADLINE_S)


def events_of(reply: httpx2.Response) -> list[tuple[str, Any]]:
    """Name and data of the events of a stream; comments are left out."""
    found = []
    for block in reply.text.split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        fields: Mapping[str, str] = dict(line.split(": ", 1) for line in lines)  # type: ignore[misc]
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found
