"""What a folder holds, byte for byte."""

import hashlib
from pathlib import Path


def snapshot(folder: Path) -> dict[str, tuple[str, int]]:
    """Digest and modification time of every file."""
    return {
        str(path.relative_to(folder)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
