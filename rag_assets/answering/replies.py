"""Drafts kept by fingerprint, so that the same question over the same contexts is never answered twice.

A draft is saved the moment it exists: a killed run repeats no finished question, and a model is never paid twice
for one prompt. Verification is not cached, it runs on every draft that is used.
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from pydantic import TypeAdapter, ValidationError

from rag_assets.answering.drafts import DraftAnswer
from rag_assets.incremental import write_atomically

logger = logging.getLogger(__name__)
_DRAFT = TypeAdapter(DraftAnswer)


class ReplyCache:
    """One small JSON file a draft, below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._locks: defaultdict[str, Lock] = defaultdict(Lock)

    @contextmanager
    def held(self, fingerprint: str) -> Iterator[None]:
        """While one thread makes a draft, others that want the same wait for it."""
        with self._locks[fingerprint]:
            yield

    def get(self, fingerprint: str) -> DraftAnswer | None:
        path = self._path(fingerprint)
        if not path.exists():
            return None
        try:
            return _DRAFT.validate_json(path.read_bytes())
        except ValidationError:
            logger.warning("%s is damaged and is written anew.", path)
            return None

    def put(self, fingerprint: str, draft: DraftAnswer) -> None:
        write_atomically(self._path(fingerprint), _DRAFT.dump_json(draft, indent=1) + b"\n")

    def prune(self, keep: Collection[str]) -> None:
        """Forget every draft that no current answer used."""
        for path in self._folder.glob("*.json"):
            if path.stem not in keep:
                path.unlink()

    def _path(self, fingerprint: str) -> Path:
        return self._folder / f"{fingerprint}.json"
