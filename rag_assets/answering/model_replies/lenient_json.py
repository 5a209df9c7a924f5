"""JSON as models write it when they do not keep to JSON: whatever values can be made out in a text.

Read in one pass without recursion: prose around it, code fences, comments, trailing and missing commas, single or
curly quotes, unquoted keys, Python's literals, line breaks and quotation marks inside strings, brackets of the wrong
kind and a cut-off end. What a cut left open says so by its type, since half a quote must not pass for a whole one.
What the values mean is `parsing`'s matter.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

_MAX_DEPTH = 32
_MAX_KEY_CHARS = 100
_CLOSING = {'"': '"', "'": "'", "“": "”"}
_KEY = r"(?:[\"'“][^\"'“”\n]{1,40}[\"'”]|[A-Za-z_]\w{0,39})\s{0,50}:"
_ENDS_VALUE = re.compile(rf"\s{{0,200}}(?:,\s{{0,200}}(?:{_KEY}|[}}\]]|//|/\*|#|$)|[}}\]]|\n\s{{0,200}}{_KEY}|$)")
_ENDS_KEY = re.compile(r"\s{0,200}(?:/\*[^*]{0,200}\*/\s{0,200})?:")
_ENDS_ITEM = re.compile(r"\s{0,200}(?:,|[}\]]|\n\s{0,200}[\"'“{\[]|$)")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?(?:\*/|$)", re.DOTALL)
_BARE = re.compile(r"[A-Za-z_][\w-]{0,60}|[+-]?\d[\d.eE+-]{0,40}")
_OPENING = re.compile(r"[{\[]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "/": "/", "\\": "\\", "\n": "\n"}
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "none": None}


class CutObject(dict[str, Any]):
    """An object whose end is missing."""


class CutList(list[Any]):
    """A list whose end is missing."""


def read_values(text: str) -> list[Any]:
    """The objects and lists in `text` that lie in no other, in order; never raises.

    Nothing below 32 levels of nesting is read.
    """
    reader = _Reader(text)
    while reader.step():
        pass
    return reader.finished()


@dataclass
class _Open:
    """An object or list that is being read."""

    value: dict[str, Any] | list[Any]
    key: str | None = None
    has_colon: bool = False

    @property
    def wants_key(self) -> bool:
        return isinstance(self.value, dict) and not self.has_colon

    def take(self, value: Any) -> None:
        if isinstance(self.value, list):
            self.value.append(value)
        elif self.has_colon and self.key is not None:
            self.value.setdefault(self.key, value)
            self.key, self.has_colon = None, False
        elif isinstance(value, str):
            self.key = value

    def cut(self) -> Any:
        return CutObject(self.value) if isinstance(self.value, dict) else CutList(self.value)


@dataclass
class _Reader:
    text: str
    at: int = 0
    stack: list[_Open] = field(default_factory=list)
    roots: list[Any] = field(default_factory=list)
    may_open_string: bool = True
    """Whether a string may begin here: after a bracket, a comma, a colon or a line break; else a quote is a letter."""

    def step(self) -> bool:
        """Read one token; False at the end."""
        if not self.stack:
            return self._find_opening()
        if self.at >= len(self.text):
            return False
        character = self.text[self.at]
        if character.isspace():
            self.may_open_string |= character == "\n"
            self.at += 1
        elif character in "{}[]:,":
            return self._take_mark(character)
        elif character in _CLOSING and self.may_open_string:
            return self._take_string(_CLOSING[character])
        elif comment := _COMMENT.match(self.text, self.at):
            self.at = comment.end()
        else:
            self._take_bare()
        return True

    def finished(self) -> list[Any]:
        while self.stack:
            self._close(self.stack[-1].cut())
        return self.roots

    def _find_opening(self) -> bool:
        opening = _OPENING.search(self.text, self.at)
        if opening:
            self.at = opening.start()
            return self._take_mark(opening[0])
        return False

    def _take_mark(self, mark: str) -> bool:
        self.at += 1
        self.may_open_string = mark in "{[:,"
        if mark in "{[":
            if len(self.stack) >= _MAX_DEPTH:
                return False
            self.stack.append(_Open({} if mark == "{" else []))
        elif mark in "}]":
            self._close_through(dict if mark == "}" else list)
        elif mark == ":":
            self.stack[-1].has_colon = self.stack[-1].key is not None
        else:
            self.stack[-1].key, self.stack[-1].has_colon = None, False
        return True

    def _close_through(self, kind: type) -> None:
        """Close the innermost of that kind and with it what is open inside; a stray bracket closes nothing."""
        if any(isinstance(item.value, kind) for item in self.stack):
            while not isinstance(self.stack[-1].value, kind):
                self._close(self.stack[-1].value)
            self._close(self.stack[-1].value)

    def _close(self, value: Any) -> None:
        self.stack.pop()
        if self.stack:
            self.stack[-1].take(value)
        else:
            self.roots.append(value)

    def _take_string(self, closing: str) -> bool:
        """A string ends at a quotation mark behind which the structure goes on; others belong to it."""
        inside = self.stack[-1]
        ends = _ENDS_KEY if inside.wants_key else _ENDS_VALUE if isinstance(inside.value, dict) else _ENDS_ITEM
        start = end = self.at + 1
        last = start + _MAX_KEY_CHARS if inside.wants_key else len(self.text)
        while (end := self.text.find(closing, end, last)) >= 0:
            n_backslashes = _n_backslashes_before(self.text, start, end)
            if n_backslashes % 2 == 0 and ends.match(self.text, end + 1):
                inside.take(_unescaped(self.text[start:end]))
                self.at, self.may_open_string = end + 1, False
                return True
            end += 1
        if inside.wants_key:
            self.at, self.may_open_string = start, False
            return True
        return False

    def _take_bare(self) -> None:
        bare = _BARE.match(self.text, self.at)
        self.at = bare.end() if bare else self.at + 1
        if bare:
            self.stack[-1].take(bare[0] if self.stack[-1].wants_key else _bare_value(bare[0]))


def _n_backslashes_before(text: str, start: int, end: int) -> int:
    """Backslashes directly before `end`, at most 16 of them looked at."""
    run = text[max(start, end - 16) : end]
    return len(run) - len(run.rstrip("\\"))


def _bare_value(word: str) -> Any:
    try:
        return json.loads(word)
    except ValueError:
        return _WORDS.get(word.lower(), word)


def _unescaped(raw: str) -> str:
    """A string's escapes resolved; a backslash that escapes nothing (LaTeX) stays."""
    text = _ESCAPE.sub(_character, raw) if "\\" in raw else raw
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def _character(match: re.Match[str]) -> str:
    first, second, other = match.groups()
    if first:
        units = [int(first, 16), *([int(second, 16)] if second else [])]
        return b"".join(unit.to_bytes(2, "little") for unit in units).decode("utf-16-le", "replace")
    return _ESCAPED.get(other, match[0])
