"""The description of the API: what FastAPI derives from the routes, and the errors that any of them may answer."""

from typing import Any

from fastapi import FastAPI

from rag_assets.faces.server.problems import PROBLEM_TYPE, Problem

_PROBLEM = {"content": {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "The request cannot be answered; the detail says what to change.", **_PROBLEM},
    "5XX": {"description": "The server, or a model it uses, failed; the detail says what to do.", **_PROBLEM},
}
"""Replies of every route that are no success."""


class DescribedAPI(FastAPI):
    """An application whose description has the schema of problems, and the token."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            schema = super().openapi()
            parts = schema.setdefault("components", {})
            parts.setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
            parts["securitySchemes"] = {
                "token": {"type": "http", "scheme": "bearer", "description": "Where the server asks for one."}
            }
            schema["security"] = [{}, {"token": []}]
        return super().openapi()
