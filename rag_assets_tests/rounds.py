"""Which rounds of a test run always, and which only in the whole group."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_of(values: Iterable[Any]) -> list[Any]:
    """Parameters of a test: the first value always runs, the others carry the mark `whole`."""
    first, *others = values
    return [first, *(_in_whole(value) for value in others)]


def _in_whole(value: Any) -> Any:
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.whole)
