"""One running server a provider, and clients that start fast."""

from collections.abc import Iterator
from pathlib import Path

import certifi
import pytest

from rag_assets_testing.wire import PROTOCOLS, WireServer, use_wire_environment

END_OF_CERTIFICATE = "-----END CERTIFICATE-----\n"


@pytest.fixture(scope="session")
def one_authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first of certifi's certificates."""
    path = tmp_path_factory.mktemp("certificates") / "one.pem"
    path.write_text(certifi.contents().partition(END_OF_CERTIFICATE)[0] + END_OF_CERTIFICATE)
    return path


@pytest.fixture(autouse=True)
def _few_authorities(one_authority: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here speaks TLS, and reading all authorities for each client was half of these tests'
    time."""
    monkeypatch.setenv("SSL_CERT_FILE", str(one_authority))


@pytest.fixture(params=PROTOCOLS)
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[WireServer]:
    """Each provider in turn, with the environment pointing at it."""
    with WireServer(request.param) as wire:
        use_wire_environment(monkeypatch, wire)
        yield wire
