"""Images of pages kept on disk up to a size; those not looked at for longest go first."""

import logging
import os
import threading
from contextlib import suppress
from pathlib import Path

from rag_assets.incremental import write_atomically

logger = logging.getLogger(__name__)
_FILL_AFTER_PRUNING = 0.8
"""Share of the size that is left after pruning, so that not every image prunes."""
_BYTES_PER_MB = 1_000_000


class ImageCache:
    """A folder of images, `ab/abcd….png`; may be used by several threads.

    A folder that cannot be written keeps nothing: reading a data folder needs no right to write it.
    """

    def __init__(self, folder: Path, max_mb: float) -> None:
        self._folder = folder
        self._max_bytes = max_mb * _BYTES_PER_MB
        self._n_bytes: int | None = None
        """Of all images; None until they are counted."""
        self._has_warned = False
        self._lock = threading.Lock()

    def get(self, key: str) -> bytes | None:
        """The image of that key (hex digits), if it is there."""
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        with suppress(OSError):
            os.utime(path)  # the time of change tells when it was looked at last
        return content or None

    def put(self, key: str, content: bytes) -> None:
        """Keep an image, and drop others if there is no room."""
        if len(content) > self._max_bytes:
            return
        try:
            with self._lock:
                write_atomically(self._path(key), content)
                self._n_bytes = self._counted() if self._n_bytes is None else self._n_bytes + len(content)
                if self._n_bytes > self._max_bytes:
                    self._n_bytes = self._pruned()
        except OSError as error:
            level = logging.DEBUG if self._has_warned else logging.WARNING
            self._has_warned = True
            logger.log(level, "An image of a page is not kept: %s cannot be written (%s).", self._folder, error)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.png"

    def _counted(self) -> int:
        return sum(size for _, size, _ in self._images())

    def _pruned(self) -> int:
        """Delete the images looked at longest ago; returns the bytes that are left."""
        images = sorted(self._images())
        left = sum(size for _, size, _ in images)
        for _, size, path in images:
            if left <= self._max_bytes * _FILL_AFTER_PRUNING:
                break
            path.unlink(missing_ok=True)
            left -= size
        return left

    def _images(self) -> list[tuple[int, int, Path]]:
        """When it was looked at last, size, path."""
        found = []
        for path in self._folder.glob("??/*.png"):
            with suppress(OSError):
                stat = path.stat()
                found.append((stat.st_mtime_ns, stat.st_size, path))
        return found
