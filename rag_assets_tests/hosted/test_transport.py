"""What may befall a reply on its way: it is compressed, sent from elsewhere, or holds what no
terminal should see."""

import pytest

from rag_assets.core.errors import AccessDenied, RequestRejected
from rag_assets.hosted import connection
from rag_assets.hosted.access import PROVIDERS
from rag_assets_testing.wire import (
    Compressed,
    ProtocolName,
    Reply,
    Status,
)
from rag_assets_tests.hosted.conftest import Open
from rag_assets_tests.hosted.models import MODELS, Colour

every_provider = pytest.mark.parametrize("provider", list(MODELS))
GREEN = Reply('{"name": "green"}')


LIMIT_BYTES = 4_000_000
BOMB = Compressed(Status(200, bytes(2 * LIMIT_BYTES), {"content-type": "application/json"}))
"""Twice what is read of a reply, from a few kB on the wire."""


@every_provider
def test_a_small_reply_that_unfolds_without_end_is_cut(
    provider: ProtocolName, monkeypatch: pytest.MonkeyPatch, opened: Open
) -> None:
    """2 MB on the wire took 5 GB of memory; a retry would do so again."""
    monkeypatch.setattr(connection, "MAX_REPLY_BYTES", LIMIT_BYTES)
    server, model, _ = opened(provider)
    server.answer_with(BOMB)

    with pytest.raises(RequestRejected, match=f"a reply of more than {LIMIT_BYTES} bytes"):
        model.ask("Which colour has grass?")

    assert len(server.requests) == 1


@every_provider
def test_a_reply_that_is_compressed_unasked_is_read(provider: ProtocolName, opened: Open) -> None:
    """Proxies compress whatever they pass on."""
    server, model, _ = opened(provider)
    server.answer_with(Compressed(GREEN))

    reply = model.ask("Which colour has grass?")

    assert reply.output == Colour(name="green")
    assert server.requests[0].headers["accept-encoding"] == "identity"


ELSEWHERE = (
    "https://user:pass-word@Elsewhere.example.org/v1?token=hidden",
    "https://elsewhere.example.org/v1",
)


@pytest.mark.parametrize(
    ("provider", "code", "location", "shown"),
    [
        *((provider, 302, *ELSEWHERE) for provider in MODELS),
        (
            "openai",
            307,
            "http://elsewhere.example.org:8080/login",
            "http://elsewhere.example.org:8080/login",
        ),
        ("openai", 307, "/v2/models?token=hidden", "{origin}/v2/models"),
    ],
)
def test_a_redirect_ends_the_run_and_names_where_it_points(
    provider: ProtocolName, code: int, location: str, shown: str, opened: Open
) -> None:
    """Following it would send key and question elsewhere; retrying would meet it again."""
    server, model, _ = opened(provider)
    origin = "/".join(server.base_url.split("/")[:3])
    server.answer_with(Status(code, b"", {"location": location}))

    with pytest.raises(AccessDenied) as raised:
        model.ask("Which colour has grass?")

    assert str(raised.value) == (
        f"{provider} redirects to {shown.format(origin=origin)}. "
        f"Let {PROVIDERS[provider].base_url_variable} lead there."
    )
    assert len(server.requests) == 1


@pytest.mark.parametrize("provider", ["openai"])
def test_what_a_server_says_cannot_steer_the_terminal(provider: ProtocolName, opened: Open) -> None:
    """Error texts are printed: they could clear the screen, or overwrite it."""
    said = "no \x1b[2J\x1b]0;title\x07 such\x9b31m\u202e field\r\n at\tall\x00"
    server, model, _ = opened(provider)
    server.answer_with(Status(400, {"error": {"message": said, "type": "invalid_request_error"}}))

    with pytest.raises(RequestRejected) as raised:
        model.ask("Which colour has grass?")

    assert (
        str(raised.value)
        == f"{provider} rejects the request (HTTP 400): no [2J]0;title such31m field at all"
    )
