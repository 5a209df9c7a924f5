"""What a model replied, kept by a fingerprint of what it was asked: drafts, verdicts, queries.

A reply is saved the moment it exists: a killed run repeats no finished question, and going back to an earlier model,
setting or question file is not paid for again. Verification is not cached, it runs on every draft that is used.
"""

import errno
import json
import logging
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from pydantic import TypeAdapter, ValidationError

from rag_assets.checksums import CHECKSUM_KEY, sealed, unsealed
from rag_assets.incremental import write_atomically

logger = logging.getLogger(__name__)
MAX_REPLIES = 10_000
"""About 40 MB of drafts; those not asked for longest go first."""
_REPLY_KEY = "reply"
_SEAL = f'"{CHECKSUM_KEY}"'.encode()
Reply = TypeVar("Reply")


class ReplyCache(Generic[Reply]):
    """One small JSON file a reply, below one folder."""

    def __init__(self, folder: Path, kind: type[Reply], *, max_replies: int = MAX_REPLIES) -> None:
        self._folder = folder
        self._max_replies = max_replies
        self._kind = TypeAdapter(kind)
        self._guard = Lock()
        self._locks: WeakValueDictionary[str, Lock] = WeakValueDictionary()

    @contextmanager
    def held(self, fingerprint: str) -> Iterator[None]:
        """While one thread asks, others that want the same wait for it."""
        with self._guard:
            lock = self._locks.get(fingerprint) or self._locks.setdefault(fingerprint, Lock())
        with lock:
            yield

    def get(self, fingerprint: str) -> Reply | None:
        path = self._path(fingerprint)
        if not path.exists():
            return None
        reply = self._read(path)
        if reply is None:
            logger.warning("%s is damaged and is written anew.", path)
        else:
            with suppress(OSError):  # in a folder that may only be read
                os.utime(path)
        return reply

    def put(self, fingerprint: str, reply: Reply) -> None:
        """Keep a reply; one that cannot be written costs the next run a request. A folder that may only be read keeps
        none, which is no fault."""
        path = self._path(fingerprint)
        content = sealed({_REPLY_KEY: self._kind.dump_python(reply, mode="json")})
        try:
            write_atomically(path, json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n")
        except OSError as error:
            if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
                return
            logger.warning("%s cannot be written (%s): its question will be asked again.", path, error)

    def prune(self, keep: Collection[str], is_usable: Callable[[Reply], bool]) -> None:
        """Forget what is not among the fingerprints `keep`: replies that are not usable any more, and of the others
        those not asked for longest, beyond the number that is kept."""
        spare = [path for path in self._folder.glob("*.json") if path.stem not in keep]
        usable = [path for path in spare if (reply := self._read(path)) is not None and is_usable(reply)]
        latest = sorted(usable, key=lambda path: path.stat().st_mtime_ns, reverse=True)
        remaining = set(latest[: max(0, self._max_replies - len(keep))])
        for path in spare:
            if path not in remaining:
                path.unlink(missing_ok=True)

    def remove_damaged(self) -> None:
        """Delete replies that are not as they were written, and say so; they are asked for again when needed."""
        for path in sorted(self._folder.glob("*.json")):
            if self._read(path) is None:
                logger.warning("%s was damaged and is asked for again when it is needed.", path)
                path.unlink(missing_ok=True)

    def _read(self, path: Path) -> Reply | None:
        """None for a damaged file. Files of earlier versions hold the reply alone, without a checksum."""
        content = path.read_bytes()
        try:
            if _SEAL not in content:
                return self._kind.validate_json(content)
            found = unsealed(content)
            return None if found is None else self._kind.validate_json(json.dumps(found[_REPLY_KEY]))
        except (ValidationError, KeyError):
            return None

    def _path(self, fingerprint: str) -> Path:
        return self._folder / f"{fingerprint}.json"
