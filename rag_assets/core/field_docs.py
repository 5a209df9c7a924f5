"""What the fields of a dataclass mean: the texts that stand below them in the source."""

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
    """Field name -> its text on one line, those of base classes included; fields without a text are
    left out."""
    docs: dict[str, str] = {}
    for base in filter(is_dataclass, reversed(kind.__mro__)):
        with _no_garbage_collected():
            (class_,) = ast.parse(dedent(inspect.getsource(base))).body
        assert isinstance(class_, ast.ClassDef)
        for field, below in pairwise(class_.body):
            match field, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                    value=ast.Constant(value=str(text))
                ):
                    docs[name] = " ".join(text.split())
    return docs


@contextmanager
def _no_garbage_collected() -> Iterator[None]:
    """Parse no source within a parse: in Python 3.11, what the collector ends may log an error, an
    error is shown with its source parsed, and the outer parse fails with "AST constructor recursion
    depth mismatch" (CPython issue 106905)."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
