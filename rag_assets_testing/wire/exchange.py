"""What travels between a provider's SDK and a scripted server: the request as recorded, the
response as sent."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from rag_assets_testing.wire.steps import Reply


@dataclass(frozen=True)
class RawRequest:
    """A POST as it arrived."""

    path: str
    """With the query string."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, Any]
    """The JSON object that was sent."""


@dataclass(frozen=True)
class WireRequest:
    """A request as recorded, read the way its provider reads it."""

    raw: RawRequest
    kind: Literal["chat", "embeddings"]
    model: str
    key: str | None
    """The API key as sent, without `Bearer`."""
    system: str = ""
    messages: tuple[tuple[str, str], ...] = ()
    """(role, text) in order, without the system text; roles in the provider's own words."""
    schema: Mapping[str, Any] | None = None
    """The JSON schema the answer was asked to follow."""
    texts: tuple[str, ...] = ()
    """Embeddings only: what to embed, in order."""
    n_dimensions: int | None = None
    """Embeddings only: the vector length asked for."""

    @property
    def path(self) -> str:
        """With the query string."""
        return self.raw.path

    @property
    def headers(self) -> Mapping[str, str]:
        """Names in lower case."""
        return self.raw.headers

    @property
    def body(self) -> Mapping[str, Any]:
        """The JSON object that was sent."""
        return self.raw.body

    @property
    def prompt(self) -> str:
        """The last text of the user."""
        return next((text for role, text in reversed(self.messages) if role == "user"), "")


@dataclass(frozen=True)
class Response:
    """A complete HTTP response; Content-Length is the server's to add."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class UnknownPath(AssertionError):
    """An SDK asked for a path this provider does not serve, or that the scripted server does not
    know."""


class UnknownField(AssertionError):
    """A request relies on a field that this provider passes over in silence."""


class WireProtocol(Protocol):
    """How one provider reads requests and words responses."""

    base_path: str
    """What the provider's base URL ends in."""
    base_url_variable: str
    key_variable: str
    key: str
    """Distinct for each provider, so that a test can search for a leak."""

    def read(self, raw: RawRequest) -> WireRequest:
        """Raises `UnknownPath` and `UnknownField`."""

    def reply(self, reply: Reply, request: WireRequest) -> Response: ...

    def empty_reply(self, request: WireRequest) -> Response: ...

    def refusal(self, stage: Literal["prompt", "answer"], request: WireRequest) -> Response: ...

    def status(self, code: int, request: WireRequest) -> Response:
        """The provider's usual error for a status code."""

    def rate_limited(self, retry_after_s: float | None, request: WireRequest) -> Response: ...

    def quota_exhausted(self, request: WireRequest) -> Response: ...

    def bad_key(self, request: WireRequest) -> Response: ...

    def context_too_long(self, request: WireRequest) -> Response: ...

    def overloaded(self, request: WireRequest) -> Response: ...

    def vectors(self, request: WireRequest) -> Response:
        """Embeddings, or the error with which the provider enforces its limits."""


def json_response(
    status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> Response:
    """A response with a JSON body."""
    return Response(
        status, json.dumps(body).encode(), {"content-type": "application/json", **(headers or {})}
    )


def proxy_page(status: int, reason: str) -> Response:
    """What a proxy in front of the provider sends when the provider itself does not answer."""
    page = (
        f"<html>\r\n<head><title>{status} {reason}</title></head>\r\n<body>\r\n"
        f"<center><h1>{status} {reason}</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
    )
    return Response(status, page.encode(), {"content-type": "text/html"})


def joined_text(content: str | Iterable[Mapping[str, Any]] | None) -> str:
    """The text of a message whose content is a string or a list of typed parts."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part["text"] for part in content if "text" in part)


def bearer_key(headers: Mapping[str, str]) -> str | None:
    """The key in an Authorization header."""
    value = headers.get("authorization")
    return value.removeprefix("Bearer ") if value is not None else None
