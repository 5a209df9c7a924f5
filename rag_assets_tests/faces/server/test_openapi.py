"""The description of the API against the code: requests made from it, replies checked against
it."""

import ast
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from rag_assets_testing.world import QUESTIONS, World
from rag_assets_tests.faces.server.live import served
from rag_assets_tests.rounds import first_of

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


@pytest.fixture(scope="module")
def described(built: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The description of a server over a folder of its own, because some requests change the
    folder."""
    with served(built.copy_to(tmp_path_factory.mktemp("described")).paths.data) as live:
        yield schemathesis.openapi.from_url(f"{live.address}/api/openapi.json")


@pytest.mark.parametrize(
    "mode",
    first_of([GenerationMode.POSITIVE, GenerationMode.NEGATIVE]),
    ids=lambda mode: mode.value,
)
def test_replies_are_as_described(described: Any, mode: GenerationMode) -> None:
    """Programs are written, and generated, from the description; where it is wrong, they fail at
    their users'."""
    checked = set()
    for operation in (found.ok() for found in described.get_all_operations()):
        if (operation.path, operation.method, mode) == (
            "/api/papers",
            "post",
            GenerationMode.POSITIVE,
        ):
            # a file that happens to be a paper starts a run; tests of uploads send good ones
            continue
        if mode is GenerationMode.NEGATIVE and not (list(operation.body) or list(operation.query)):
            continue  # any text is an id, so such a request cannot be wrong

        @settings(
            max_examples=12,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case: schemathesis.Case) -> None:
            case.call_and_validate(checks=CHECKS)

        check()
        checked.add(operation.path)

    assert {"/api/search", "/api/answers", "/api/verify"} <= checked


def test_every_route_says_what_it_does(described: Any) -> None:
    """The description is the documentation of the API."""
    for path, operations in described.raw_schema["paths"].items():
        for method, operation in operations.items():
            assert operation.get("description"), f"{method} {path}"
            assert {"4XX", "5XX"} <= operation["responses"].keys(), f"{method} {path}"


def test_fields_say_what_they_mean(described: Any) -> None:
    """Whoever writes a client reads nothing else; a field of a base class is a field, too."""
    schemas = described.raw_schema["components"]["schemas"]

    for reply, field in (
        ("ShownAnswer", "withheld"),
        ("Citation", "page_start"),
        ("QuoteMatch", "likeness"),
    ):
        assert schemas[reply]["properties"][field].get("description"), f"{reply}.{field}"


def test_no_source_is_read_while_a_question_waits(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two threads that read source at once fail in Python 3.11, and with them the questions that
    they answer."""

    def refuses(*_: Any, **__: Any) -> None:
        raise SystemError("AST constructor recursion depth mismatch")

    with served(world.paths.data) as live:
        monkeypatch.setattr(ast, "parse", refuses)
        reply = live.ask(QUESTIONS[1]["question"], keep=False)

    assert reply.status_code == 200
