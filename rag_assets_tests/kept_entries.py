"""What the file of `rag_assets.core.kept` holds, and damage to it."""

import sqlite3
from contextlib import closing
from pathlib import Path

from rag_assets.core.kept import Kept, KeptFile

A_DAY_S = 86_400.0


def raw(path: Path, kind: str) -> Kept[bytes]:
    """The entries of a kind as they are written."""
    return Kept(KeptFile(path), kind, bytes, bytes)


def contents(path: Path, kind: str) -> dict[str, bytes]:
    """By key; also while another process writes."""
    return dict(raw(path, kind).items()) if path.exists() else {}


def all_contents(path: Path) -> dict[tuple[str, str], bytes]:
    """By kind and key."""
    kinds = KeptFile(path).kinds() if path.exists() else {}
    return {(kind, key): content for kind in kinds for key, content in contents(path, kind).items()}


def damage(path: Path, kind: str, n_entries: int | None = None) -> list[str]:
    """Flip a bit at the end of entries of a kind, of all unless told; returns their keys."""
    found = dict(list(contents(path, kind).items())[:n_entries])
    with closing(sqlite3.connect(path)) as database, database:
        for key, content in found.items():
            flipped = content[:-1] + bytes([content[-1] ^ 4])
            database.execute(
                "UPDATE entries SET content = ? WHERE kind = ? AND key = ?", (flipped, kind, key)
            )
    return list(found)


def age(path: Path) -> None:
    """Let a day pass since every entry was used."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE entries SET used = used - ?", (A_DAY_S,))
