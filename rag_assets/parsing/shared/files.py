"""Reads the untrusted files of papers: their bytes (a worker gets exactly the bytes that were
hashed), their encoding, and JSON, with a limit of nesting and a check of each field's type. XML is
read in `formats.tei.text`, which imports lxml.
"""

import codecs
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_assets.core.errors import DocumentLimit, UnreadableDocument

MAX_DEPTH = 200
"""Deepest nesting of XML, of JSON, or of the items of a document that is accepted."""
_HEAD_BYTES = 65_536
_BLOCK_BYTES = 1_048_576


@dataclass(frozen=True)
class RawFile:
    """A file as a parser gets it. The errors of a parser are phrases that can follow its path."""

    paper_id: str
    path: str
    """Path from the papers folder, with forward slashes."""
    content: bytes


def head_and_sha256(path: Path) -> tuple[bytes, str]:
    """The first 64 KB of a file, and the SHA-256 of all its bytes, 64 hex digits. Raises
    OSError."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
        digest = hashlib.sha256(head)
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return head, digest.hexdigest()


def hashed_content(path: Path, sha256: str) -> bytes:
    """The bytes of a file. Raises UnreadableDocument when they cannot be read or have another
    hash."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UnreadableDocument(
            f"cannot be read ({error.strerror}). Check that the file is still there."
        ) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise UnreadableDocument("changed while it was read. Run again when it is complete.")
    return content


BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""UTF-32 before UTF-16, because the mark of UTF-32-LE starts with the mark of UTF-16-LE."""
_SAMPLE_BYTES = 65_536
_MAX_BROKEN_SHARE = 0.001
_MAX_WESTERN_HIGH_SHARE = 0.15
"""Western European prose has up to about 8 % bytes above 127; Cyrillic, Greek or CJK encodings have
more than 30 %."""
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MAX_CONTROL_SHARE = 0.01


@dataclass(frozen=True)
class Decoded:
    """A text and what had to be assumed to read it."""

    text: str
    notes: tuple[str, ...] = ()


def decoded(content: bytes) -> Decoded:
    """The text of a file. Tries in this order: byte order mark, UTF-16 without mark, UTF-8,
    Windows-1252, and the encoding that `charset_normalizer` finds most likely.

    Raises UnreadableDocument for bytes that are not text.
    """
    for mark, encoding in BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return _replaced(content[len(mark) :], encoding)
    if encoding_without_mark := _utf16_without_mark(content[:_SAMPLE_BYTES]):
        return _replaced(content, encoding_without_mark)
    _demand_text(content)
    try:
        return Decoded(content.decode("utf-8"))
    except UnicodeDecodeError:
        return _not_quite_utf8(content)


def _utf16_without_mark(sample: bytes) -> str | None:
    """The name of the UTF-16 encoding, or None. In UTF-16, every second byte of Latin text is
    zero."""
    n_units = len(sample) // 2
    if n_units < 2:
        return None
    n_even, n_odd = sample[0::2].count(0), sample[1::2].count(0)
    if n_odd > 0.7 * n_units and n_even < 0.1 * n_units:
        return "utf-16-le"
    if n_even > 0.7 * n_units and n_odd < 0.1 * n_units:
        return "utf-16-be"
    return None


def _demand_text(content: bytes) -> None:
    sample = content[:_SAMPLE_BYTES]
    if len(_CONTROLS.findall(sample)) > _MAX_CONTROL_SHARE * len(sample) or b"\0" in sample:
        raise UnreadableDocument(
            "holds binary data, not text. Remove it, or export the paper as text again."
        )


def _replaced(content: bytes, encoding: str) -> Decoded:
    """Decode; broken characters are replaced and counted in a note. Raises UnreadableDocument if
    there are many."""
    text = content.decode(encoding, "replace")
    n_broken = text.count("�")
    if n_broken > _MAX_CONTROL_SHARE * len(text):
        raise UnreadableDocument(
            f"is not the {encoding} text it claims to be. Save it again as UTF-8."
        )
    return Decoded(text, (f"{n_broken} broken characters replaced",) if n_broken else ())


def _not_quite_utf8(content: bytes) -> Decoded:
    """Decode text that is not valid UTF-8: a few broken characters in UTF-8 are replaced; else few
    bytes above 127 mean a Western encoding, and many mean another one, which is guessed."""
    as_utf8 = content.decode("utf-8", "replace")
    n_broken = as_utf8.count("�")
    n_valid = sum(character > "\x7f" for character in as_utf8) - n_broken
    if n_valid > n_broken and n_broken <= max(1, _MAX_BROKEN_SHARE * len(as_utf8)):
        return Decoded(as_utf8, (f"{n_broken} broken characters replaced",))
    n_high = len(content.translate(None, bytes(range(128))))
    if n_high <= _MAX_WESTERN_HIGH_SHARE * len(content):
        try:
            return Decoded(content.decode("cp1252"), ("not UTF-8: read as Windows-1252",))
        except UnicodeDecodeError:
            return Decoded(content.decode("latin-1"), ("not UTF-8: read as Latin-1",))
    return _guessed(content)


def _guessed(content: bytes) -> Decoded:
    from charset_normalizer import from_bytes

    best = from_bytes(content).best()
    if best is None:
        raise UnreadableDocument(
            "holds binary data, or text in an unknown encoding. Save it as UTF-8."
        )
    return Decoded(str(best), (f"not UTF-8: read as {best.encoding}, which is a guess",))


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
    """`value` if it is a JSON object, else an empty one: a field of the wrong type counts as
    missing."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """`value` if it is a JSON array, else an empty list."""
    return value if isinstance(value, list) else []


def text_field(value: Any) -> str:
    """`value` if it is a string, else an empty one.

    Line ends become "\\n", control characters become spaces, and half surrogate pairs, which cannot
    be written to a file, become "?".
    """
    if not isinstance(value, str):
        return ""
    lines = value.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub(" ", lines).encode("utf-8", "replace").decode("utf-8")


def number(value: Any) -> float | None:
    """`value` as a float if it is a finite JSON number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not abs(value) < 1e308:  # also nan; `float` would raise for a larger integer
        return None
    return float(value)


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
