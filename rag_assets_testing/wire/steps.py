"""What a scripted server does with one request, in words that mean the same for every provider.

How a step looks on the wire is each protocol's business (`google_wire`, `anthropic_wire`,
`openai_wire`, `ollama_wire`); what befalls it on its way (`Compressed`, `Slow`, `CutOff`, `Drop`,
`Garbage`) is the server's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Reply:
    """The model's text, as a complete answer unless `finish` says otherwise."""

    text: str
    n_input_tokens: int = 10
    n_output_tokens: int = 5
    finish: Literal["stop", "length", "filtered"] = "stop"
    """`length`: cut by the output limit. `filtered`: the provider's filter ended it, what was
    written is still sent."""


@dataclass(frozen=True)
class EmptyReply:
    """A 200 without any answer in it: no candidates, no choices, no content."""


@dataclass(frozen=True)
class ProviderRefusal:
    """A 200 in which the provider declines to answer."""

    stage: Literal["prompt", "answer"] = "answer"
    """Google refuses a prompt (`promptFeedback`) and an answer (`finishReason`) differently; the
    others do not."""


@dataclass(frozen=True)
class Status:
    """An error status with the body this provider sends for it, or the one given."""

    code: int
    body: Mapping[str, Any] | bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RateLimited:
    """Too many requests; goes away by waiting."""

    retry_after_s: float | None = 1.0
    """The wait the provider asks for, where it says one: Google in the body, the others in a
    header."""


@dataclass(frozen=True)
class QuotaExhausted:
    """The account is used up; waiting does not help."""


@dataclass(frozen=True)
class BadKey:
    """The key is not known to the provider."""


@dataclass(frozen=True)
class ContextTooLong:
    """The prompt has more tokens than the model reads."""


@dataclass(frozen=True)
class Overloaded:
    """The provider has no capacity left for anybody."""


@dataclass(frozen=True)
class Vectors:
    """The embeddings of the texts asked for, by `vectors.text_vector`; also what an unscripted
    request gets."""


Answer = (
    Reply
    | EmptyReply
    | ProviderRefusal
    | Status
    | RateLimited
    | QuotaExhausted
    | BadKey
    | ContextTooLong
    | Overloaded
)


@dataclass(frozen=True)
class Compressed:
    """`of` as a proxy in front of the provider compresses it, asked or not."""

    of: Answer | Vectors


@dataclass(frozen=True)
class CutOff:
    """The connection is closed after `after_bytes` bytes of the body."""

    after_bytes: int = 40
    of: Answer | Vectors = field(
        default_factory=lambda: Reply("The first half of an answer that never ends.")
    )
    framing: Literal["length", "chunked"] = "length"
    """`length`: Content-Length promises more than comes. `chunked`: the last chunk never comes."""


@dataclass(frozen=True)
class Drop:
    """The connection is closed without a byte of response."""


@dataclass(frozen=True)
class Garbage:
    """A 200 whose body is not what the content type promises."""

    body: bytes = b"<<< this is not JSON"
    content_type: str = "application/json"


@dataclass(frozen=True)
class Slow:
    """`then`, but only after `seconds`; ends early when the server closes."""

    seconds: float
    then: "Step" = field(default_factory=lambda: Reply("too late"))


Step = Answer | Vectors | Compressed | CutOff | Drop | Garbage | Slow
