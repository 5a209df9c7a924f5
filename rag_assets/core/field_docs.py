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
    """Keep the garbage collector off within the block.

    Ending a forgotten object may log an error, and Python parses source to show an error. In Python
    3.11 that makes a parse that is going on fail with "AST constructor recursion depth mismatch"
    (CPython issue 106905).
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
