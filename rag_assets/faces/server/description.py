"""The API's description of itself (OpenAPI): what the fields of replies mean, how problems look,
where a token goes."""

from collections.abc import Iterator, Sequence
from dataclasses import is_dataclass
from typing import Any, get_args, get_type_hints

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from pydantic import BaseModel

from rag_assets.core.field_docs import field_docs
from rag_assets.faces.server.problems import Problem


class DescribedAPI(FastAPI):
    """An application whose description has the schema of problems, the token, and the texts below
    the fields of dataclasses.

    pydantic could read those texts, too (`use_attribute_docstrings`), but does it while the first
    request waits; and while Python 3.11 reads source in two threads at once, one of them fails
    ("AST constructor recursion depth mismatch", CPython issue 106905).
    """

    def __init__(self, routers: Sequence[APIRouter], **described: Any) -> None:
        """routers: the first whose route matches a request answers it. described: what `FastAPI`
        takes."""
        super().__init__(**described)
        self._routers = routers
        for router in routers:
            self.include_router(router)

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            schema = super().openapi()
            parts = schema.setdefault("components", {})
            schemas = parts.setdefault("schemas", {})
            for route in (route for router in self._routers for route in router.routes):
                for kind in (
                    _dataclasses_in(route.response_model) if isinstance(route, APIRoute) else ()
                ):
                    fields = schemas.get(kind.__name__, {}).get("properties", {})
                    for name, text in field_docs(kind).items():
                        fields.get(name, {}).setdefault("description", text)
            schemas["Problem"] = Problem.model_json_schema()
            parts["securitySchemes"] = {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Where the server asks for one.",
                }
            }
            schema["security"] = [{}, {"token": []}]
        return super().openapi()


def _dataclasses_in(kind: Any) -> Iterator[type]:
    """The dataclasses that a value of this type may hold, at any depth."""
    for part in get_args(kind):
        yield from _dataclasses_in(part)
    if isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, BaseModel)):
        if is_dataclass(kind):
            yield kind
        for part in get_type_hints(kind).values():
            yield from _dataclasses_in(part)
