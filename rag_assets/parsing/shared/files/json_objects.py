"""Reading untrusted JSON: bounded in nesting, and each field checked for its type."""

import json
import re
from typing import Any

from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.parsing.shared.files.raw import MAX_DEPTH

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]+")


def load_json_object(content: bytes) -> dict[str, Any]:
    """The JSON object in `content`; UTF-8, UTF-16 and UTF-32 with or without a byte order mark.

    Raises DocumentLimit when it is nested deeper than `MAX_DEPTH`, and UnreadableDocument
    for anything that is not one JSON object; the message is a phrase that can follow the name of
    the file.
    """
    try:
        parsed = json.loads(content)
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:
        raise UnreadableDocument(f"is not valid JSON ({error}). Export the paper again.") from error
    if not isinstance(parsed, dict):
        raise UnreadableDocument(
            f"holds a JSON {type(parsed).__name__}, not an object. Export it again."
        )
    if _is_too_deep(parsed):
        raise _too_deep()
    return parsed


def mapping(value: Any) -> dict[str, Any]:
    """`value` if it is a JSON object, else an empty one: a field of the wrong type reads as a
    missing field."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """`value` if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []


def text_field(value: Any) -> str:
    """`value` if it is a string, else an empty one.

    Line ends become "\\n", control characters spaces, and half surrogate pairs, which no file can
    hold, "?".
    """
    if not isinstance(value, str):
        return ""
    lines = value.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub(" ", lines).encode("utf-8", "replace").decode("utf-8")


def number(value: Any) -> float | None:
    """`value` as a float if it is a finite JSON number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    as_float = float(value) if abs(value) < 1e308 else float("inf")
    return as_float if as_float - as_float == 0 else None


def whole_number(value: Any) -> int | None:
    """`value` if it is a JSON integer."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _is_too_deep(parsed: Any) -> bool:
    level = [parsed]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _too_deep() -> DocumentLimit:
    return DocumentLimit(f"has JSON nested more than {MAX_DEPTH} deep. No known export does that.")
