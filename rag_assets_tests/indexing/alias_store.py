"""An index that is no folder: collections in a database, of which an alias names the one that readers see.

It stands for a server such as Qdrant. Two collections take turns: the next version goes on from the one before the
published one, so nothing is copied, and publishing moves the alias.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rag_assets.incremental import plan_update
from rag_assets.indexing.protocols import (
    Examination,
    GraphWear,
    IndexIdentity,
    IndexManifest,
    IndexRow,
    Report,
)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS points (collection, passage_id, fingerprint, text, PRIMARY KEY (collection, passage_id));
CREATE TABLE IF NOT EXISTS alias (name PRIMARY KEY, collection, manifest);
"""


IDENTITY = IndexIdentity("alias", "test-model", "")


def _database(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(_SCHEMA)
    return connection


@dataclass(frozen=True)
class AliasTarget:
    """See `IndexTarget`."""

    path: Path
    identity: IndexIdentity = IDENTITY

    def published(self) -> IndexManifest | None:
        found = _database(self.path).execute("SELECT manifest FROM alias").fetchone()
        if found is None:
            return None
        manifest = json.loads(found[0])
        wear = manifest["wear"]
        return IndexManifest(
            IndexIdentity(**manifest["identity"]),
            manifest["passages"],
            manifest["n_passages"],
            GraphWear(**wear) if wear else None,
        )

    def fingerprints(self) -> dict[str, str]:
        return AliasVersion(self.path, self.seen()).fingerprints()

    def stage(self) -> "AliasVersion":
        return AliasVersion(self.path, "green" if self.seen() == "blue" else "blue")

    def stage_empty(self) -> "AliasVersion":
        version = self.stage()
        version.discard()
        return version

    def seen(self) -> str:
        """The collection that readers ask."""
        found = _database(self.path).execute("SELECT collection FROM alias").fetchone()
        return str(found[0]) if found else ""


class AliasVersion:
    """See `IndexVersion`."""

    def __init__(self, path: Path, collection: str) -> None:
        self._database = _database(path)
        self._collection = collection

    def fingerprints(self) -> dict[str, str]:
        query = "SELECT passage_id, fingerprint FROM points WHERE collection = ?"
        return dict(self._database.execute(query, [self._collection]))

    def write(self, rows: Mapping[str, IndexRow], report: Report) -> None:
        plan = plan_update(self.fingerprints(), {id_: row.fingerprint for id_, row in rows.items()})
        for id_ in plan.to_drop:
            self._database.execute(
                "DELETE FROM points WHERE collection = ? AND passage_id = ?", [self._collection, id_]
            )
        for n_done, id_ in enumerate(plan.to_build, start=1):
            row = (self._collection, id_, rows[id_].fingerprint, rows[id_].text)
            self._database.execute("INSERT INTO points VALUES (?, ?, ?, ?)", row)
            report(n_done, len(plan.to_build))

    def examined(self, sample: Sequence[IndexRow]) -> Examination:
        query = "SELECT passage_id, text FROM points WHERE collection = ?"
        texts = dict(self._database.execute(query, [self._collection]))
        return Examination(tuple(row.passage_id for row in sample if texts.get(row.passage_id) != row.text))

    def publish(self, manifest: IndexManifest) -> None:
        row = ("papers", self._collection, json.dumps(asdict(manifest)))
        self._database.execute("INSERT OR REPLACE INTO alias VALUES (?, ?, ?)", row)

    def discard(self) -> None:
        self._database.execute("DELETE FROM points WHERE collection = ?", [self._collection])
