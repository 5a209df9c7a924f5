"""What the fields of a dataclass mean: the texts that stand below them in the source."""

import ast
import inspect
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
        (class_,) = ast.parse(dedent(inspect.getsource(base))).body
        assert isinstance(class_, ast.ClassDef)
        for field, below in pairwise(class_.body):
            match field, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                    value=ast.Constant(value=str(text))
                ):
                    docs[name] = " ".join(text.split())
    return docs
