"""Opening a Chroma database in a folder.

Vectors are always handed over: the collection has no embedding function, so nothing can be downloaded. Chroma's own
client cache is not used, because it is keyed by path and would go on serving a folder that was replaced.

Chroma must never open a folder that is not as it was closed, see `indexing.folders`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chromadb.api import ServerAPI
    from chromadb.api.models.Collection import Collection
    from chromadb.config import System

COLLECTION = "passages"
DATABASE_FILE = "chroma.sqlite3"


def started(folder: Path) -> "tuple[System, ServerAPI]":
    from chromadb.api.rust import RustBindingsAPI
    from chromadb.config import Settings, System

    system = System(Settings(anonymized_telemetry=False, is_persistent=True, persist_directory=str(folder)))
    api = system.instance(RustBindingsAPI)
    system.start()
    return system, api


def collection_of(api: "ServerAPI", model: Any) -> "Collection":
    from chromadb.api.models.Collection import Collection

    return Collection(api, model, embedding_function=None)


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """A panic in Chroma's Rust code becomes a RuntimeError; pyo3 derives it from BaseException."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise RuntimeError(f"Chroma failed: {error}") from error
