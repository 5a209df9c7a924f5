"""Finds every regular expression of the package, and makes the texts that are worst for each: runs
of the letters that it looks for, and of the pieces that it is made of."""

import ast
import importlib
import pkgutil
import re
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import rag_assets

_METHODS = {"search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"}
_LETTERS = "aA1 \n.,-(@é;:/\"'["
_RUNS = "aA1 \n.,-([{*&/"
_REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT)
_SHORT_CHARS, _SHORT_S = 4_000, 0.004
_LONG_CHARS, _LONG_S = 16_000, 0.1
"""A text that takes longer than the first is tried with the second length. A pattern whose time
grows with the square needs .13 s and more there, the slowest other .04 s."""
_TRIES = 3
"""The fastest of these is taken, because other processes slow one down."""


@dataclass(frozen=True)
class Use:
    """A pattern and how the code uses it."""

    pattern: str
    flags: int
    name: str
    """Where it is: "rag_assets.core.text.names._ADDRESS"."""
    methods: tuple[str, ...]
    """ "match", "fullmatch", or "search" for everything that begins anywhere in a text."""


def patterns_in_use() -> list[Use]:
    """Every pattern that a module of the package has: by name, within a tuple or dict, or inside a
    function."""
    methods: defaultdict[tuple[str, int, str], set[str]] = defaultdict(set)
    for module in _modules():
        tree = ast.parse(Path(str(module.__file__)).read_text())
        called = _methods_by_name(tree)
        for name, value in list(vars(module).items()):
            for pattern in _patterns_in(value):
                key = (pattern.pattern, pattern.flags, f"{module.__name__}.{name}")
                methods[key] |= called.get(name) or {"search", "match"}
        for pattern, method, line in _inline(tree, module):
            methods[pattern.pattern, pattern.flags, f"{module.__name__}:{line}"].add(method)
    uses = [
        Use(*key, tuple(sorted({it if "match" in it else "search" for it in found})))
        for key, found in methods.items()
        if isinstance(key[0], str)
    ]
    once = {(use.pattern, use.flags, use.methods): use for use in reversed(uses)}
    return list(once.values())


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(rag_assets.__path__, "rag_assets."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def _patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif type(value) is dict:
        yield from _patterns_in([*value.keys(), *value.values()])
    elif type(value) in (list, tuple, set, frozenset):
        for one in value:  # type: ignore[attr-defined]
            yield from _patterns_in(one)


def _methods_by_name(tree: ast.AST) -> dict[str, set[str]]:
    """The methods that a module calls of each name; nothing for a name that it hands on."""
    called: defaultdict[str, set[str]] = defaultdict(set)
    n_loads: defaultdict[str, int] = defaultdict(int)
    n_known: defaultdict[str, int] = defaultdict(int)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            n_loads[node.id] += 1
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            n_known[node.value.id] += 1
            if node.attr in _METHODS:
                called[node.value.id].add(node.attr)
    return {name: found for name, found in called.items() if n_loads[name] == n_known[name]}


def _inline(tree: ast.AST, module: ModuleType) -> Iterator[tuple[re.Pattern[str], str, int]]:
    """Patterns that are written where they are used, unless they depend on a local value."""
    for node in ast.walk(tree):
        if not (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in _METHODS
        ):
            continue
        flags = [
            vars(re)[it.attr]
            for it in ast.walk(node)
            if isinstance(it, ast.Attribute) and isinstance(vars(re).get(it.attr), re.RegexFlag)
        ]
        try:
            found = eval(ast.unparse(node.args[0]), dict(vars(module)))
        except NameError:
            continue
        if isinstance(found, str):
            yield re.compile(found, sum(flags)), node.func.attr, node.lineno


def is_bad(use: Use, most_items: int, most_variants: int) -> str:
    """Runs in a worker. A text for which the time grows faster than its length; "" if none is
    found.

    most_items: how many neighbouring items of the pattern are repeated together. most_variants: how
    many texts are made for each such piece.
    """
    pattern = re.compile(use.pattern, use.flags)
    for prefix, piece in _worst(pattern, most_items, most_variants):
        for method in use.methods:
            if _seconds(pattern, method, _text(prefix, piece, _SHORT_CHARS)) > _SHORT_S:
                text = _text(prefix, piece, _LONG_CHARS)
                seconds = min(_seconds(pattern, method, text) for _ in range(_TRIES))
                if seconds > _LONG_S:
                    return f"{method} of {prefix!r} and {piece!r} again and again: {seconds:.2f} s"
    return ""


def _text(prefix: str, piece: str, n_chars: int) -> str:
    return prefix + (piece * (n_chars // len(piece) + 1))[:n_chars] + "\x00"


def _seconds(pattern: re.Pattern[str], method: str, text: str) -> float:
    before = time.process_time()
    if method == "search":
        for _ in pattern.finditer(text):
            pass
    else:
        getattr(pattern, method)(text)
    return time.process_time() - before


def _worst(pattern: re.Pattern[str], most_items: int, most_variants: int) -> list[tuple[str, str]]:
    """What comes first in a text, and what is then repeated."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    found = {("", letter): None for letter in _RUNS}
    for before, items in _sequences(tree, ()):
        for start in range(len(items)):
            for end in range(start + 1, min(len(items), start + most_items) + 1):
                for variant in range(most_variants):
                    piece = _sample(items[start:end], variant)
                    if piece:
                        found["", piece] = None
                        if end - start <= 2 <= most_items:
                            found[_sample([*before, *items[:start]], variant), piece] = None
    return list(found)


def _sequences(items: Any, before: Sequence[Any]) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
    """Every run of items of a pattern, with what comes before it."""
    yield before, list(items)
    for index, (kind, value) in enumerate(items):
        inner = [*before, *items[:index]]
        for part in _parts(kind, value):
            yield from _sequences(part, inner)


def _parts(kind: object, value: Any) -> Sequence[Any]:
    if kind is code.BRANCH:
        return list(value[1])
    if kind is code.SUBPATTERN:
        return [value[3]]
    if kind in _REPEATS:
        return [value[2]]
    if kind in (code.ASSERT, code.ASSERT_NOT):
        return [value[1]]
    return [value] if kind is code.ATOMIC_GROUP else []


def _sample(items: Sequence[Any], variant: int) -> str:
    """A text that these items match, without what is optional in an even variant."""
    text = ""
    for kind, value in items:
        if kind is code.LITERAL:
            text += chr(value)
        elif kind is code.NOT_LITERAL:
            text += next(letter for letter in _LETTERS[variant:] if ord(letter) != value)
        elif kind is code.ANY:
            text += "a1 A"[variant % 4]
        elif kind is code.IN:
            members = _members(value)
            text += members[variant % len(members)]
        elif kind is code.BRANCH:
            text += _sample(value[1][variant % len(value[1])], variant)
        elif kind in _REPEATS:
            least, most, inner = value
            text += _sample(inner, variant) * min(max(least, variant % 2), most)
        elif kind in (code.SUBPATTERN, code.ATOMIC_GROUP):
            text += _sample(_parts(kind, value)[0], variant)
    return text


def _members(items: Sequence[Any]) -> list[str]:
    """Some characters of a class, of different kinds."""
    written = [
        chr(value if kind is code.LITERAL else value[0])
        for kind, value in items
        if kind in (code.LITERAL, code.RANGE)
    ]
    is_negated = items[0][0] is code.NEGATE
    letters = [it for it in _LETTERS if any(_is_in(it, *item) for item in items) != is_negated]
    return [*letters, *(() if is_negated else written)] or ["\u4e2d"]


def _is_in(letter: str, kind: object, value: Any) -> bool:
    if kind is code.LITERAL:
        return ord(letter) == value
    if kind is code.RANGE:
        return bool(value[0] <= ord(letter) <= value[1])
    if kind is not code.CATEGORY:
        return False
    is_word = letter.isalnum() or letter == "_"
    name = str(value)
    is_of = {"DIGIT": letter.isdigit(), "SPACE": letter.isspace(), "WORD": is_word}
    return is_of[name.rpartition("_")[2]] != ("_NOT_" in name)
