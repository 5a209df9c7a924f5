"""What a model replied, kept by a fingerprint of what it was asked: drafts of answers, verdicts of a judge.

A reply is saved the moment it exists: a killed run repeats no finished question, and a model is never paid twice
for one prompt. Verification is not cached, it runs on every draft that is used.
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from rag_assets.incremental import write_atomically

logger = logging.getLogger(__name__)
Reply = TypeVar("Reply")


class ReplyCache(Generic[Reply]):
    """One small JSON file a reply, below one folder."""

    def __init__(self, folder: Path, kind: type[Reply]) -> None:
        self._folder = folder
        self._kind = TypeAdapter(kind)
        self._locks: defaultdict[str, Lock] = defaultdict(Lock)

    @contextmanager
    def held(self, fingerprint: str) -> Iterator[None]:
        """While one thread asks, others that want the same wait for it."""
        with self._locks[fingerprint]:
            yield

    def get(self, fingerprint: str) -> Reply | None:
        path = self._path(fingerprint)
        if not path.exists():
            return None
        try:
            return self._kind.validate_json(path.read_bytes())
        except ValidationError:
            logger.warning("%s is damaged and is written anew.", path)
            return None

    def put(self, fingerprint: str, reply: Reply) -> None:
        write_atomically(self._path(fingerprint), self._kind.dump_json(reply, indent=1) + b"\n")

    def prune(self, keep: Collection[str]) -> None:
        """Forget every reply that no current answer used."""
        for path in self._folder.glob("*.json"):
            if path.stem not in keep:
                path.unlink()

    def _path(self, fingerprint: str) -> Path:
        return self._folder / f"{fingerprint}.json"
