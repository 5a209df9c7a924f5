"""Reading a file of a paper: once per process, and in the worker exactly the bytes that were hashed before."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from rag_assets.core.errors import UnreadableDocument

_HEAD_BYTES = 65_536
_BLOCK_BYTES = 1_048_576


@dataclass(frozen=True)
class RawFile:
    """A file as a parser gets it. A parser's errors are phrases that can follow its path."""

    paper_id: str
    path: str
    """From the papers folder, with forward slashes."""
    content: bytes


def head_and_sha256(path: Path) -> tuple[bytes, str]:
    """The first 64 KB of a file, and the SHA-256 of all its bytes, 64 hex digits. Raises OSError."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
        digest = hashlib.sha256(head)
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return head, digest.hexdigest()


def hashed_content(path: Path, sha256: str) -> bytes:
    """The bytes of a file. Raises UnreadableDocument when they are not those of that hash, or cannot be read."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UnreadableDocument(f"cannot be read ({error.strerror}). Check that the file is still there.") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise UnreadableDocument("changed while it was read. Run again when it is complete.")
    return content
