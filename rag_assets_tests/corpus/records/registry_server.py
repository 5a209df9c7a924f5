"""A local server that speaks as Crossref and OpenAlex do about single works, and says what it is
told to say."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import unquote

from rag_assets.corpus.records.registries import REGISTRIES, Registry
from rag_assets_testing.listening import listening


@dataclass
class RegistryServer:
    """What it knows, by DOI, and what it was asked."""

    crossref: dict[str, dict[str, Any]] = field(default_factory=dict)
    openalex: dict[str, dict[str, Any]] = field(default_factory=dict)
    status: int = 200
    """Of all replies about works that it knows; another one has no body."""
    body: bytes | None = None
    """Instead of what it knows."""
    asked: list[str] = field(default_factory=list)
    """Paths of all requests."""
    registries: tuple[Registry, ...] = ()
    """The two services at this address."""


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr."""

    def do_GET(self) -> None:
        state: RegistryServer = self.server.state  # type: ignore[attr-defined]
        state.asked.append(self.path)
        _, name, doi = unquote(self.path.partition("?")[0]).split("/", 2)
        known = state.crossref if name == "crossref" else state.openalex
        work = known.get(doi)
        reply = {"status": "ok", "message": work} if name == "crossref" else work
        body = state.body if state.body is not None else json.dumps(reply).encode()
        self.send_response(404 if work is None else state.status)
        if state.status == 302:
            self.send_header("Location", "/crossref/10.1234/elsewhere")
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def registry_server() -> Iterator[RegistryServer]:
    """The server, running on a free port of this machine."""
    with listening(_Handler) as server:
        address = f"http://127.0.0.1:{server.server_port}"
        crossref, openalex = REGISTRIES
        state = RegistryServer(
            registries=(
                replace(crossref, address=f"{address}/crossref/"),
                replace(openalex, address=f"{address}/openalex/"),
            )
        )
        server.state = state  # type: ignore[attr-defined]
        yield state


CROSSREF_WORK: dict[str, Any] = {
    "DOI": "10.1234/Iron.7",
    "type": "journal-article",
    "title": ["RETRACTED: Iron in <i>mountain</i> sheep"],
    "author": [{"given": "Other", "family": "Person", "sequence": "first"}],
    "issued": {"date-parts": [[2021, 5]]},
    "container-title": ["Sheep &amp; Goats"],
    "volume": "12",
    "page": "3-9",
    "updated-by": [{"DOI": "10.1234/iron.8", "type": "retraction", "source": "retraction-watch"}],
}
OPENALEX_WORK: dict[str, Any] = {
    "doi": "https://doi.org/10.1234/iron.7",
    "title": "Iron in mountain sheep",
    "publication_year": 2019,
    "authorships": [
        {"author": {"display_name": "Ada B. Lund"}},
        {"author": {"display_name": "Bo van Moe"}},
    ],
    "primary_location": {"source": {"display_name": "Sheep Letters"}},
    "biblio": {"volume": "4", "issue": None, "first_page": "10", "last_page": "12"},
    "type_crossref": "journal-article",
    "is_retracted": True,
}
