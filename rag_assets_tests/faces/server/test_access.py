"""Who may ask: hosts, origins and tokens."""

from collections.abc import Iterator

import httpx2
import pytest

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import ServerSettings
from rag_assets.faces.listening import required_token
from rag_assets.faces.server import middleware
from rag_assets_testing.world import World
from rag_assets_tests.faces.server.live import Live, served

TOKEN = "a token of a test 0123456789".replace(" ", "-")
QUESTION = {"question": "How much did ferritin fall?"}


@pytest.fixture(scope="module")
def guarded(built: World) -> Iterator[Live]:
    """A server that asks for a token."""
    with served(built.paths.data, TOKEN) as running:
        yield running


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        bearer(TOKEN[:-1]),
        bearer(TOKEN + "0"),
        bearer(TOKEN.upper()),
        {"Authorization": TOKEN},
        {"Authorization": f"Basic {TOKEN}"},
        {"X-Token": TOKEN},
        {"Cookie": f"token={TOKEN}"},
    ],
)
@pytest.mark.parametrize(
    "path", ["/api/health", "/api/search", "/api/openapi.json", "/api/nowhere"]
)
def test_without_the_token_nothing_is_told(
    guarded: Live, headers: dict[str, str], path: str
) -> None:
    """Whoever reaches the address could read every paper, even which papers there are."""
    reply = guarded.client.get(path, headers=headers)

    assert reply.status_code in {401, 429}, reply.text  # 429: too many wrong ones in a minute
    assert reply.headers["content-type"] == "application/problem+json"
    assert TOKEN not in reply.text
    if reply.status_code == 401:
        assert reply.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_with_the_token_questions_are_answered(guarded: Live, scheme: str) -> None:
    """RFC 9110: the scheme is written in any case."""
    reply = guarded.client.post(
        "/api/search", json=QUESTION, headers={"Authorization": f"{scheme} {TOKEN}"}
    )

    assert reply.status_code == 200


def test_tokens_cannot_be_tried_by_the_thousand(
    built: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token is only as good as the number of guesses it takes; the owner is not locked out
    meanwhile."""
    waits: list[float] = []

    async def waited(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(middleware, "sleep", waited)
    with served(built.paths.data, TOKEN) as live:
        guesses = [
            live.client.get("/api/health", headers=bearer(f"guess {n}")).status_code
            for n in range(25)
        ]
        owner = live.client.get("/api/health", headers=bearer(TOKEN)).status_code

    assert guesses[:20] == [401] * 20
    assert set(guesses[20:]) == {429}
    assert owner == 200
    assert len(waits) == 5
    assert min(waits) >= 1, (
        "256 connections that guess without waiting are thousands of guesses in a second"
    )


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("127.0.0.1:80", 200),
        ("localhost:8000", 200),
        ("LOCALHOST", 200),
        ("[::1]:8000", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example:8000", 421),
        ("evil.example:127", 421),
        ("localhost@evil.example", 421),
        ("", 421),
    ],
)
def test_the_server_answers_to_its_own_names_only(live: Live, host: str, status: int) -> None:
    """A page of evil.example can point that name at 127.0.0.1, and would then read as the server's
    own page."""
    reply = live.client.get("/api/health", headers={"Host": host})

    assert reply.status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://{host}"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "http://{host}.evil.example"}, 403),
        ({"Origin": "http://{host}@evil.example"}, 403),
        ({"Origin": "file://"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        (
            {
                "Sec-Fetch-Site": "cross-site",
                "Sec-Fetch-Mode": "no-cors",
                "Sec-Fetch-Dest": "image",
            },
            403,
        ),
        ({"Origin": "http://{host}", "Sec-Fetch-Site": "cross-site"}, 200),
    ],
)
def test_pages_of_other_sites_may_not_ask(live: Live, headers: dict[str, str], status: int) -> None:
    """Any page that is open in the same browser could otherwise ask the papers, or delete them."""
    own = live.address.removeprefix("http://")
    sent = {name: value.format(host=own) for name, value in headers.items()}

    asked = live.client.post("/api/search", json=QUESTION, headers=sent)
    read = live.client.get("/api/health", headers=sent)

    assert (asked.status_code, read.status_code) == (status, status)
    assert "access-control-allow-origin" not in asked.headers


def test_two_origins_in_one_request_are_refused(live: Live) -> None:
    """Whichever of the two is looked at, the other is the forged one."""
    origins = [("Origin", live.address), ("Origin", "http://evil.example")]

    assert live.client.get("/api/health", headers=httpx2.Headers(origins)).status_code == 403


def test_a_form_of_another_site_cannot_be_sent_as_a_question(live: Live) -> None:
    """Browsers send such forms without asking; only the type of the body tells them from a request
    of our page."""
    reply = live.client.post(
        "/api/search", content='{"question": "x"}', headers={"Content-Type": "text/plain"}
    )

    assert reply.status_code == 422


def test_cors_is_closed_until_it_is_set(built: World, live: Live) -> None:
    """An open door that nobody asked for is found by everybody else first."""
    preflight = {"Origin": "https://notes.example", "Access-Control-Request-Method": "POST"}
    with served(
        built.paths.data, TOKEN, server={"cors_origins": ["https://notes.example"]}
    ) as opened:
        allowed = opened.client.options("/api/search", headers=preflight)
        asked = opened.client.post(
            "/api/search",
            json=QUESTION,
            headers={"Origin": "https://notes.example", **bearer(TOKEN)},
        )
        foreign = opened.client.post(
            "/api/search",
            json=QUESTION,
            headers={"Origin": "https://evil.example", **bearer(TOKEN)},
        )

    assert live.client.options("/api/search", headers=preflight).status_code == 403
    assert allowed.headers["access-control-allow-origin"] == "https://notes.example"
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (
        200,
        "https://notes.example",
    )
    assert foreign.status_code == 403
    assert "access-control-allow-origin" not in foreign.headers


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "papers.example"])
def test_other_machines_are_not_served_without_a_token(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One forgotten variable would publish the papers to the whole network."""
    monkeypatch.delenv("RAG_ASSETS_SERVER_TOKEN", raising=False)
    with pytest.raises(InvalidSettings, match="RAG_ASSETS_SERVER_TOKEN"):
        required_token(ServerSettings(host=host))

    monkeypatch.setenv("RAG_ASSETS_SERVER_TOKEN", "short")
    with pytest.raises(InvalidSettings, match="at least 16 characters"):
        required_token(ServerSettings(host=host))

    monkeypatch.setenv("RAG_ASSETS_SERVER_TOKEN", TOKEN)
    token = required_token(ServerSettings(host=host))
    assert token is not None
    assert TOKEN not in repr(token), "it would be in the log with the settings"
