"""Connections to Qdrant: to a server by address and key, or to a folder that only this process has
open.

Every call has a time limit, and errors of the client are translated into our own here. The key
comes from the environment or `.env`. It is given to the client only, and removed from the server's
messages.
"""

import logging
import re
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from rag_assets.core.errors import (
    MissingExtra,
    ReadOnlyFolder,
    StaleIndex,
    StoreRefused,
    StoreUnavailable,
)
from rag_assets.core.incremental import make_folder
from rag_assets.core.settings import QdrantSettings, host_of, key_for

if TYPE_CHECKING:
    from qdrant_client import QdrantClient
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

logger = logging.getLogger(__name__)
KEY_VARIABLE = "QDRANT_API_KEY"
_WITHOUT_SERVER = 'indexing.vector_store = "chroma" needs no server.'
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_MOST_SHOWN = 300
_TIMEOUT_S = 30
"""Time limit of one request."""
_IS_GONE = re.compile(r"Collection \S+ not found")
_STORAGES: "weakref.WeakValueDictionary[Path, QdrantConnection]" = weakref.WeakValueDictionary()
_OPENING = Lock()


class QdrantConnection:
    """An open client. It is closed when the last reference to this object is dropped. Safe to use
    from several threads."""

    def __init__(
        self, client: "QdrantClient", location: str, *, key: str = "", lock: FileLock | None = None
    ) -> None:
        """location: the address or folder, shown in messages. key: the key, if one is sent. lock:
        given if the storage is embedded; locked while it is open."""
        self._client = client
        self._location = location
        self._key = key
        self._one_at_a_time = Lock()
        self.is_embedded = lock is not None
        # also at the end of the process; `_close` must not refer to this object
        weakref.finalize(self, _close, client, lock)

    def __str__(self) -> str:
        return self._location

    @contextmanager
    def calls(self) -> Iterator["QdrantClient"]:
        """Lend the client for a few calls. An embedded storage is lent to one thread at a time.

        Raises StoreUnavailable if the server cannot be reached, takes too long or fails;
        StoreRefused if it refuses the key or the request; StaleIndex if it does not have the
        collection.
        """
        from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        try:
            if not self.is_embedded:
                yield self._client
                return
            with (
                self._one_at_a_time,
                warnings.catch_warnings(action="ignore", category=UserWarning),
            ):
                yield self._client
        except ResponseHandlingException as error:
            # `from None`, since the original error may show the headers, and in them the key
            raise self._unanswered(error) from None
        except ResourceExhaustedResponse:
            raise StoreUnavailable(
                f"Qdrant at {self} is asked too much at the moment. Run again later."
            ) from None
        except UnexpectedResponse as error:
            raise self._refused(error) from None
        except JSONDecodeError:
            raise self._not_understood() from None
        except ValueError as error:  # raised by the client, which checks requests before sending
            if self.is_embedded and _IS_GONE.fullmatch(str(error)):
                raise self._gone() from None
            raise StoreRefused(
                f"Qdrant at {self} refused a request: {self._shown(str(error))}"
            ) from error

    def _unanswered(self, error: "ResponseHandlingException") -> Exception:
        """Our error for a request that got no usable answer."""
        import httpx

        source = error.source
        if isinstance(source, httpx.TimeoutException):
            return StoreUnavailable(
                f"Qdrant at {self} did not answer within {_TIMEOUT_S} s. Run again later; see its log."
            )
        if isinstance(source, httpx.TransportError):
            return StoreUnavailable(
                f"Qdrant at {self} cannot be reached ({self._shown(str(source))}). Start it, or correct "
                f"indexing.qdrant.url; {_WITHOUT_SERVER}"
            )
        return self._not_understood()

    def _not_understood(self) -> Exception:
        from importlib.metadata import version

        return StoreRefused(
            f"What answers at {self} is not Qdrant, or a version that this client ({version('qdrant-client')}) does "
            f"not understand. Correct indexing.qdrant.url, or install a server of about that version; {_WITHOUT_SERVER}"
        )

    def _refused(self, error: "UnexpectedResponse") -> Exception:
        """Our error for an answer with an HTTP status of failure."""
        status = error.status_code or 0
        if status in (401, 403):
            problem = f"refuses the key in {KEY_VARIABLE}" if self._key else "asks for a key"
            return StoreRefused(
                f"Qdrant at {self} {problem}. Set {KEY_VARIABLE} in the environment or in .env to a key that may write."
            )
        if status == 404:
            return self._gone()
        message = self._shown(error.content.decode("utf-8", "replace"))
        if status == 429 or status >= 500:
            return StoreUnavailable(
                f"Qdrant at {self} failed ({status}: {message}). Run again later; see its log."
            )
        return StoreRefused(f"Qdrant at {self} refused a request ({status}: {message}).")

    def _gone(self) -> Exception:
        return StaleIndex(
            f"What was published at {self} is not there any more. Ask again; if that does not help, run rag-assets "
            "index build."
        )

    def _shown(self, text: str) -> str:
        """A text for a message: without the key, and not too long."""
        return (text.replace(self._key, "[key]") if self._key else text)[:_MOST_SHOWN]


def connect(settings: QdrantSettings, storage: Path) -> QdrantConnection:
    """A connection to the server that `settings` name, or to the folder `storage` if they name
    none.

    No request is sent. Raises MissingExtra; InvalidSettings as `host_of` and `key_for`;
    StoreUnavailable if another process has the folder open; ReadOnlyFolder if the folder cannot be
    written to (the client writes even when it only reads).
    """
    try:
        from qdrant_client import QdrantClient
    except ImportError:
        raise MissingExtra.named("qdrant", purpose='indexing.vector_store = "qdrant"') from None
    if not settings.url:
        return _embedded(storage.absolute())
    host = host_of("indexing.qdrant.url", settings.url)
    key = key_for("indexing.qdrant.url", settings.url, [KEY_VARIABLE])
    if key and settings.url.startswith("http:") and host not in _LOOPBACK:
        logger.warning(
            "The key of Qdrant is sent to %s without encryption. Use https if you can.",
            settings.url,
        )
    client = QdrantClient(
        url=settings.url,
        headers={"api-key": key} if key else None,
        timeout=_TIMEOUT_S,
        # the check would send a request in another thread, and warn if the server is down
        check_compatibility=False,
    )
    return QdrantConnection(client, settings.url, key=key)


def _embedded(storage: Path) -> QdrantConnection:
    """The connection to the storage in a folder. All of this process share one connection, since a
    second client could not open the folder."""
    from qdrant_client import QdrantClient

    with _OPENING:
        open_connection = _STORAGES.get(storage)
        if open_connection is not None:
            return open_connection
        lock = FileLock(storage.with_suffix(".lock"), blocking=False, thread_local=False)
        try:
            make_folder(storage)
            lock.acquire()
        except Timeout:
            raise StoreUnavailable(
                f"{storage} is open in another process, and embedded Qdrant serves one at a time. End that one (rag-"
                f"assets ui, an open engine), or run a server and set indexing.qdrant.url; {_WITHOUT_SERVER}"
            ) from None
        except OSError:
            raise ReadOnlyFolder.at(storage.parent) from None
        try:
            # the client warns of a large storage; the setting's description says so already
            with warnings.catch_warnings(action="ignore", category=UserWarning):
                client = QdrantClient(path=str(storage), force_disable_check_same_thread=True)
        except BaseException:
            lock.release()
            raise
        connection = _STORAGES[storage] = QdrantConnection(client, str(storage), lock=lock)
        return connection


def _close(client: "QdrantClient", lock: FileLock | None) -> None:
    client.close()
    if lock is not None:
        lock.release()
