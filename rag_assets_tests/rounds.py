"""Which rounds of a test run always, and which only in the whole group."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_of(values: Iterable[Any]) -> list[Any]:
    """Parameters of a test: the first value always runs, the others carry the mark `whole`."""
    first, *others = values
    return [first, *(pytest.param(value, marks=pytest.mark.whole) for value in others)]
