"""Which of the collections of a data folder readers see, and what they are called.

Each identity of an index (model, settings) has two collections that take turns, `<prefix>.<identity>.a` and `.b`. The
alias `<prefix>` names the one that is published. A collection that is whole says so in a point of its own, its marker,
which is taken away before anything in the collection is changed. `manifest.json` in the data folder repeats what the
marker says: readers open the collection it names, and learn from its time that another one was published.
"""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self
from uuid import UUID, uuid4

from rag_assets.checksums import sealed, unsealed
from rag_assets.incremental import fingerprint, read_json, write_atomically
from rag_assets.indexing.manifest import MANIFEST_FILE
from rag_assets.indexing.protocols import GraphWear, IndexIdentity, IndexManifest
from rag_assets.indexing.qdrant.connection import Connection

MARKER = str(UUID(int=0))
"""Id of the point that is a collection's marker; it has no vector, so that no search finds it."""
_PREFIX_FILE = "collections.json"
_EMBEDDED_PREFIX = "rag_assets"


@dataclass(frozen=True)
class Publication:
    """A whole version of an index."""

    collection: str
    token: str
    """Another one for each publication."""
    manifest: IndexManifest

    @classmethod
    def new(cls, collection: str, manifest: IndexManifest) -> Self:
        return cls(collection, uuid4().hex, manifest)

    def payload(self) -> dict[str, Any]:
        """As JSON, for the marker and for `manifest.json`."""
        return asdict(self.manifest) | {"collection": self.collection, "token": self.token}

    @classmethod
    def of_payload(cls, payload: dict[str, Any]) -> Self | None:
        """None when it is that of another version of this project."""
        try:
            wear = payload["wear"]
            manifest = IndexManifest(
                IndexIdentity(**payload["identity"]),
                str(payload["passages"]),
                int(payload["n_passages"]),
                GraphWear(**wear) if wear else None,
            )
            return cls(str(payload["collection"]), str(payload["token"]), manifest)
        except (TypeError, KeyError, ValueError):
            return None


def noted(folder: Path) -> Publication | None:
    """What `manifest.json` in `folder` says is published; None when there is none or it is damaged."""
    try:
        content = unsealed((folder / MANIFEST_FILE).read_bytes())
    except OSError:
        return None
    return Publication.of_payload(content) if content else None


def note(folder: Path, publication: Publication) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / MANIFEST_FILE, json.dumps(sealed(publication.payload()), indent=2).encode() + b"\n")


def marked(connection: Connection, collection: str) -> Publication | None:
    """What the marker of a collection says; None when the collection is not there, or not whole."""
    with connection.calls() as client:
        if not client.collection_exists(collection):
            return None
        found = client.retrieve(collection, [MARKER], with_payload=True)
    return Publication.of_payload(found[0].payload or {}) if found else None


def is_untouched(connection: Connection, publication: Publication) -> bool:
    """Whether its collection still is that version. One request; raises StaleIndex when the collection is gone."""
    with connection.calls() as client:
        found = client.retrieve(publication.collection, [MARKER], with_payload=["token"])
    return bool(found) and (found[0].payload or {}).get("token") == publication.token


@dataclass(frozen=True)
class Names:
    """The names of the collections of one data folder."""

    prefix: str

    @property
    def alias(self) -> str:
        return self.prefix

    def turns(self, identity: IndexIdentity) -> tuple[str, str]:
        """The two collections of an index of that identity."""
        name = f"{self.prefix}.{fingerprint(asdict(identity))[:12]}"
        return f"{name}.a", f"{name}.b"

    def is_own(self, collection: str) -> bool:
        return re.fullmatch(re.escape(self.prefix) + r"\.[0-9a-f]{12}\.[ab]", collection) is not None


def names_for(folder: Path, wanted: str, *, is_embedded: bool) -> Names:
    """The names for the data folder that `folder` lies in: those of the setting `wanted`, else of its own.

    A name of its own is made once and kept in `folder`. A copied data folder gets another one, so that the two do not
    write each other's collections: it knows where it was made, and that the original is still there.
    """
    if wanted or is_embedded:
        return Names(wanted or _EMBEDDED_PREFIX)
    file, here = folder / _PREFIX_FILE, str(folder.resolve())
    kept = _kept_prefix(file)
    if kept is not None and kept == {"prefix": kept["prefix"], "folder": here}:
        return Names(kept["prefix"])
    is_copy = kept is not None and _kept_prefix(Path(kept["folder"]) / _PREFIX_FILE) == kept
    prefix = f"rag_assets_{uuid4().hex[:12]}" if kept is None or is_copy else kept["prefix"]
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(file, json.dumps({"prefix": prefix, "folder": here}, indent=2).encode() + b"\n")
    return Names(prefix)


def _kept_prefix(file: Path) -> dict[str, str] | None:
    kept = read_json(file)
    is_whole = isinstance(kept, dict) and all(isinstance(kept.get(name), str) for name in ("prefix", "folder"))
    return kept if is_whole else None
