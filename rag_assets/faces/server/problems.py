"""Errors as problem details (RFC 9457): what happened, and what the caller or the operator can do.

Messages of our own errors may name files, addresses of servers and what a provider wrote. They go
to the log under the request's id; a reply holds fixed sentences, except where the message is about
the request alone.
"""

import logging
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from http import HTTPStatus
from math import ceil
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException as AnyHTTPException

from rag_assets.core import errors
from rag_assets.core.domain import cost_words
from rag_assets.core.errors import DiskFull, RagAssetsError, disk_full, is_full_disk

logger = logging.getLogger(__name__)
PROBLEM_TYPE = "application/problem+json"
_TYPE_PREFIX = "tag:rag-assets,2026:"
"""Types are tag URIs (RFC 4151), which RFC 9457 recommends for types that are no web pages."""
_SHOWN_ERRORS = 5
request_id: ContextVar[str] = ContextVar("request_id", default="-")
"""The id of the request that is being answered; also in replies, and in the log."""


class Problem(BaseModel):
    """The body of every reply that is an error."""

    type: str = Field(
        description='Identifies the kind of problem; "about:blank" where the status says it all.'
    )
    title: str
    status: int
    detail: str = Field(description="What happened here, and what to do about it.")
    request_id: str = Field(description="Under which the server's log has more.")


class ProblemError(HTTPException):
    """Raised anywhere below a route; becomes a problem details reply."""

    def __init__(
        self,
        status: HTTPStatus,
        kind: str,
        title: str,
        detail: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """kind: a short name with hyphens, the end of the problem's type."""
        super().__init__(status, detail, dict(headers or {}))
        self.problem = Problem(
            type=_TYPE_PREFIX + kind,
            title=title,
            status=status,
            detail=detail,
            request_id=request_id.get(),
        )

    @property
    def response(self) -> JSONResponse:
        return JSONResponse(self.problem.model_dump(), self.status_code, self.headers, PROBLEM_TYPE)


def invalid_request(detail: str) -> ProblemError:
    """The request can be read, and asks for something that cannot be."""
    return ProblemError(
        HTTPStatus.UNPROCESSABLE_ENTITY, "invalid-request", "The request cannot be used", detail
    )


@dataclass(frozen=True)
class _ProblemKind:
    """What callers are told of a class of our errors."""

    status: HTTPStatus
    kind: str
    title: str
    detail: str | None
    """None: the error's own message, which is about the request alone."""
    retry_after_s: int | None = None


_SEE_LOG = "The server's log has the reason."
_KINDS: Mapping[type[RagAssetsError], _ProblemKind] = {
    errors.InvalidQuestions: _ProblemKind(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid-question", "No usable question", None),
    errors.InvalidFilter: _ProblemKind(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid-filter", "No usable filter", None),
    errors.InvalidQuote: _ProblemKind(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid-quote", "No usable quote", None),
    errors.UploadTooLarge: _ProblemKind(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", "The file is too large", None),
    errors.UploadRefused: _ProblemKind(HTTPStatus.UNPROCESSABLE_ENTITY, "upload-refused", "The file is no paper", None),
    errors.CorpusConflict: _ProblemKind(HTTPStatus.CONFLICT, "corpus-conflict", "It does not fit the papers there are", None),
    errors.UnknownConversation: _ProblemKind(HTTPStatus.NOT_FOUND, "not-found", "There is no such conversation", None),
    errors.TurnTooLarge: _ProblemKind(HTTPStatus.INSUFFICIENT_STORAGE, "not-kept", "The answer could not be kept", None),
    errors.NotFound: _ProblemKind(HTTPStatus.NOT_FOUND, "not-found", "It is not there", None),
    errors.UnreadableDocument: _ProblemKind(
        HTTPStatus.UNPROCESSABLE_ENTITY, "unreadable-document", "The document cannot be used", f"Try another file of "
        f"the paper. {_SEE_LOG}",
    ),
    errors.MissingInput: _ProblemKind(
        HTTPStatus.SERVICE_UNAVAILABLE, "corpus-not-built", "There is nothing to search yet",
        "Papers have not been indexed yet. Run rag-assets run on the server, or upload a paper and wait for its run.",
    ),
    errors.StaleIndex: _ProblemKind(
        HTTPStatus.SERVICE_UNAVAILABLE, "corpus-not-built", "The index does not fit the papers",
        f"Run rag-assets run on the server. {_SEE_LOG}",
    ),
    errors.MissingModel: _ProblemKind(
        HTTPStatus.SERVICE_UNAVAILABLE, "model-missing", "A model is not there",
        f"Whoever runs the server must provide its files. {_SEE_LOG}",
    ),
    errors.MissingExtra: _ProblemKind(
        HTTPStatus.SERVICE_UNAVAILABLE, "model-missing", "An optional part is not installed",
        f"Whoever runs the server must install it. {_SEE_LOG}",
    ),
    errors.MissingKey: _ProblemKind(
        HTTPStatus.SERVICE_UNAVAILABLE, "model-key-missing", "The model's key is not set",
        "Whoever runs the server must set the key of the model in the environment or .env, or choose the answers that "
        "need none: answering.model = extractive.",
    ),
    errors.ModelUnavailable: _ProblemKind(
        HTTPStatus.SERVICE_UNAVAILABLE, "model-unavailable", "The model does not answer for now",
        f"Ask again in a minute. {_SEE_LOG}", retry_after_s=60,
    ),
    errors.ModelFault: _ProblemKind(
        HTTPStatus.BAD_GATEWAY, "model-refused", "The model refused the request",
        f"Ask in other words, or choose another model on the server. {_SEE_LOG}",
    ),
    errors.BudgetExhausted: _ProblemKind(
        HTTPStatus.SERVICE_UNAVAILABLE, "budget-exhausted", "The budget for models is used up",
        "Whoever runs the server must raise model_access.budget_* and start it again.",
    ),
    errors.StoreUnavailable: _ProblemKind(
        HTTPStatus.SERVICE_UNAVAILABLE, "index-unavailable", "The database of the index does not answer for now",
        f"Ask again in a minute. {_SEE_LOG}", retry_after_s=60,
    ),
    errors.StoreRefused: _ProblemKind(
        HTTPStatus.BAD_GATEWAY, "index-unavailable", "The database of the index refuses requests",
        f"Whoever runs the server must look at its settings. {_SEE_LOG}",
    ),
    errors.BusyDataFolder: _ProblemKind(
        HTTPStatus.CONFLICT, "busy", "Another run is writing the data folder", "Try again when it is done.",
        retry_after_s=30,
    ),
    errors.ReadOnlyFolder: _ProblemKind(
        HTTPStatus.SERVICE_UNAVAILABLE, "read-only", "The data folder cannot be written",
        f"Whoever runs the server must give it the right to write. {_SEE_LOG}",
    ),
    DiskFull: _ProblemKind(
        HTTPStatus.INSUFFICIENT_STORAGE, "disk-full", "The server's disk is full",
        f"Whoever runs the server must make room on it. {_SEE_LOG}",
    ),
    errors.RagAssetsError: _ProblemKind(
        HTTPStatus.INTERNAL_SERVER_ERROR, "failed", "The request failed on the server", _SEE_LOG
    ),
}  # fmt: skip


def problem_of(error: RagAssetsError) -> ProblemError:
    """What the caller is told of one of our errors; the whole message goes to the log."""
    kind = next(_KINDS[cls] for cls in type(error).__mro__ if cls in _KINDS)
    asked_wait = getattr(error, "retry_after_s", None)
    wait = ceil(asked_wait) if asked_wait is not None else kind.retry_after_s
    if kind.detail is not None:
        logger.warning("Request %s failed: %s: %s", request_id.get(), type(error).__name__, error)
    headers = {} if wait is None else {"Retry-After": str(wait)}
    detail = kind.detail or str(error)
    if isinstance(error, errors.Unanswered) and error.spent:
        cost = cost_words(error.spent, error.seconds)
        detail += f" Spent on it: {cost}." if cost else ""
    return ProblemError(kind.status, kind.kind, kind.title, detail, headers)


def unexpected(error: Exception) -> ProblemError:
    """For an error that no code foresaw, or that of a full disk, which may be met anywhere."""
    if is_full_disk(error):
        return problem_of(disk_full(None))
    return ProblemError(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "failed",
        "The request failed on the server",
        f"Please report it. {_SEE_LOG}",
    )


def install_problem_handlers(app: FastAPI) -> None:
    """Answer every error of a route with problem details."""

    async def ours(_request: Request, error: RagAssetsError) -> JSONResponse:
        return problem_of(error).response

    async def http(_request: Request, error: AnyHTTPException) -> JSONResponse:
        return (error if isinstance(error, ProblemError) else _of_framework(error)).response

    async def validation(_request: Request, error: RequestValidationError) -> JSONResponse:
        return invalid_request(_readable(error.errors())).response

    app.exception_handler(RagAssetsError)(ours)
    app.exception_handler(AnyHTTPException)(http)
    app.exception_handler(RequestValidationError)(validation)


_REMEDIES = {
    HTTPStatus.NOT_FOUND: "There is nothing at this address. The addresses are listed in /api/openapi.json.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This address takes other methods; see the header Allow.",
    HTTPStatus.BAD_REQUEST: "The body cannot be read as what its header says. Send JSON.",
}


def _of_framework(error: AnyHTTPException) -> ProblemError:
    status = HTTPStatus(error.status_code)
    problem = ProblemError(
        status,
        "",
        status.phrase,
        _REMEDIES.get(status, "See /api/openapi.json for what is accepted."),
        error.headers,
    )
    problem.problem.type = "about:blank"
    return problem


def _readable(failures: Any) -> str:
    """The first errors of a validation as sentences, without the values: they may be long, or
    secret."""
    sentences = [
        f"{'.'.join(str(part) for part in error['loc'][1:]) or 'body'}: {error['msg']}"
        for error in failures
    ]
    more = len(sentences) - _SHOWN_ERRORS
    return "; ".join(sentences[:_SHOWN_ERRORS]) + (f"; and {more} more" if more > 0 else "")
