"""Reads the docstrings below the fields of a dataclass from its source."""

import ast
import gc
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import cache
from itertools import pairwise
from textwrap import dedent


@cache
def field_docs(kind: type) -> dict[str, str]:
    """Field name -> docstring below the field, on one line. Includes the fields of base classes;
    fields without a docstring are left out."""
    docs: dict[str, str] = {}
    for base in filter(is_dataclass, reversed(kind.__mro__)):
        with _no_garbage_collected():
            (class_,) = ast.parse(dedent(inspect.getsource(base))).body
        assert isinstance(class_, ast.ClassDef)
        for statement, next_statement in pairwise(class_.body):
            match statement, next_statement:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                    value=ast.Constant(value=str(text))
                ):
                    docs[name] = " ".join(text.split())
    return docs


@contextmanager
def _no_garbage_collected() -> Iterator[None]:
    """Turn the garbage collector off within the block.

    The collector may delete an object whose deletion logs an error, and Python parses source code
    to show an error. In Python 3.11 such a second parse makes the first one fail with "AST
    constructor recursion depth mismatch" (CPython issue 106905).
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
