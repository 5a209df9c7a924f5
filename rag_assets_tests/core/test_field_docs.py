"""The texts below the fields of a dataclass."""

import ast
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rag_assets.core.domain.chunks import Place
from rag_assets.core.tables import field_docs


@contextmanager
def source_is_parsed_by_the_collector() -> Iterator[None]:
    """What happens when the collector ends a forgotten connection: the error that is logged is
    shown with its source."""

    def parse(phase: str, _: Any, depth: int = 30) -> None:
        if depth:
            parse(phase, _, depth - 1)
        else:
            ast.parse("shown = 1")

    before = gc.get_threshold()
    gc.callbacks.append(parse)
    gc.set_threshold(1)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(parse)


def test_fields_are_described_while_garbage_is_collected() -> None:
    """The first reader of the API's description got a server error."""
    field_docs.cache_clear()

    with source_is_parsed_by_the_collector():
        docs = field_docs(Place)

    assert "page_start" in docs
    assert gc.isenabled()
