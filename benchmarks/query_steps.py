"""Where the time of a question goes: the functions that do the work, timed one by one while they
are called.

A step's time is that of the processor in all threads, and its own, without that of the steps it
calls; so one question is asked at a time. Vectors are compared one by one, as they are up to
660,000 passages.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from rag_assets.search.embedding.providers import KeptVectors
from rag_assets.search.embedding.token_vectors import LocalTokenEncoder
from rag_assets.search.indexing.exact_vectors import ExactVectors
from rag_assets.search.indexing.tantivy_index import TantivyIndex
from rag_assets.search.reranking.base import SkippingReranker
from rag_assets.search.retrieval import ranking, search
from rag_assets.search.retrieval.library import Library

STEPS: dict[str, tuple[Any, str]] = {
    "embed the question": (KeptVectors, "embed_query"),
    "vector index": (ExactVectors, "search"),
    "cosines of what words found": (ExactVectors, "cosines"),
    "word index": (TantivyIndex, "search"),
    "fusion": (ranking, "fused"),
    "reranking": (SkippingReranker, "judge"),
    "token vectors of passages": (LocalTokenEncoder, "encode"),
    "read passages": (Library, "passages"),
    "read chunks": (Library, "chunks"),
    "packing": (search, "pack_contexts"),
}
"""Function by step, as the attribute of a class or module."""


class StepTimes:
    """Seconds of the processor by step."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STEPS, 0.0)
        self._called: list[float] = []

    def timed(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **keywords: Any) -> Any:
            self._called.append(0.0)
            started = time.process_time()
            try:
                return function(*args, **keywords)
            finally:
                spent = time.process_time() - started
                self.seconds[step] += spent - self._called.pop()
                if self._called:
                    self._called[-1] += spent

        return call


@contextmanager
def timed_steps() -> Iterator[StepTimes]:
    """Times every step that is called inside the `with`."""
    times = StepTimes()
    with ExitStack() as patched:
        for step, (owner, name) in STEPS.items():
            patched.enter_context(
                patch.object(owner, name, times.timed(step, getattr(owner, name)))
            )
        yield times
