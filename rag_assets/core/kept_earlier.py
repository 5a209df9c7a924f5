"""What earlier versions kept in folders beside the file of `kept`: one small file for each entry.

Can be deleted once no data folder of version 0.1 is left to be opened.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from rag_assets.core.checksums import unsealed

_REPLIES = (
    "answers",
    "verdicts",
    "summaries",
    "paper_summaries",
    "queries/parts",
    "queries/wordings",
    "plans/plans",
    "plans/other_words",
)
_OTHERS = {"documents": ".document", "query_vectors": ".vector"}
"""Suffix of the files, which begin with the SHA-256 of the rest."""
_DIGEST_BYTES = 32


def earlier_entries(folder: Path) -> Iterator[tuple[str, str, bytes]]:
    """Kind, key and content of every undamaged entry below a folder; page images are left out."""
    for kind in _REPLIES:
        for path in sorted((folder / kind).glob("*.json")):
            if (found := unsealed(path.read_bytes())) is not None:
                yield kind, path.stem, json.dumps(found["reply"]).encode()
    for kind, suffix in _OTHERS.items():
        for path in sorted((folder / kind).rglob(f"*{suffix}")):
            sealed = path.read_bytes()
            if hashlib.sha256(content := sealed[_DIGEST_BYTES:]).digest() == sealed[:_DIGEST_BYTES]:
                yield kind, path.stem, content


def remove_earlier(folder: Path) -> str:
    """Delete the folders of all kinds; returns the names of those that were there, empty if none was."""
    names = sorted({kind.partition("/")[0] for kind in (*_REPLIES, *_OTHERS, "page_images")})
    found = [name for name in names if (folder / name).is_dir()]
    for name in found:
        shutil.rmtree(folder / name, ignore_errors=True)
    return ", ".join(found)
