"""Stores what models made of passages, by content, so that no text is given to the same model
twice.

Vectors, sparse vectors and token vectors are entries of one file (`core.kept`); the key is a hash
of model and text. A batch is saved as a whole, so a kill loses at most the current batch.
`keep_only` and `prune_other_models` delete what is no longer needed: nothing may remain of a
deleted paper. Missing entries are made in `missing_vectors`.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Generic, TypeVar

import numpy as np

from rag_assets.core.errors import MissingInput, ReadOnlyFolder, demand_room
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import Kept, KeptFile
from rag_assets.search.embedding.base import EmbedderFacts, Vectors

logger = logging.getLogger(__name__)
Value = TypeVar("Value")
_VECTORS = "vectors"
_PAPERS = "papers of models"
"""Kind of the single entry that lists, for each model, the papers and the keys of their texts. The
model that was used last comes last."""
_BYTES_PER_MB = 1_000_000
_MOST_MB = 2000.0
_LENGTH_TOLERANCE = 1e-3
_KEYS_KEPT = 100_000


class TextCache(Generic[Value]):
    """What one model made of texts (one kind of value), stored by content."""

    def __init__(
        self,
        file: KeptFile,
        kind: str,
        identity: str,
        dump: Callable[[Value], bytes],
        load: Callable[[bytes], Value],
    ) -> None:
        """kind: of the values, such as "tokens". identity: of the model. dump, load: turn a value
        into bytes and back."""
        self.file = file
        self.identity = identity
        self.kind = f"{kind} {fingerprint(identity)}"
        self._kept = Kept(file, self.kind, dump, load)
        self.key_of = lru_cache(_KEYS_KEPT)(partial(fingerprint, identity))
        """32 hex digits that name what this model makes of a text; a run asks for each four times."""

    def missing(self, texts: Iterable[str]) -> list[str]:
        """The texts without a stored value, or with a damaged one; each once, in order."""
        by_key = {self.key_of(text): text for text in texts}
        return [by_key[key] for key in self._kept.missing(by_key)]

    def add(self, texts: Sequence[str], values: Iterable[Value]) -> None:
        """Save the values of a batch. Afterwards they survive a kill. Raises DiskFull or
        ReadOnlyFolder if they cannot be written."""
        if not self._kept.put_all(dict(zip(map(self.key_of, texts), values, strict=True))):
            demand_room(self.file.path.parent)
            raise ReadOnlyFolder.at(self.file.path.parent)

    def get_all(self, texts: Iterable[str]) -> dict[str, Value]:
        """The stored values, by text."""
        by_key = {self.key_of(text): text for text in texts}
        return {by_key[key]: value for key, value in self._kept.get_all(by_key).items()}

    def load(self, texts: Sequence[str]) -> list[Value]:
        """The value of each text, in order. Raises MissingInput if one is missing or damaged."""
        values = self.get_all(texts)
        if n_missing := sum(text not in values for text in texts):
            raise MissingInput(
                f"{self.file.path} has no vector for {n_missing} of {len(texts)} passages. "
                "Materialize `embeddings` first: rag-assets run --select embeddings"
            )
        return [values[text] for text in texts]

    def keep_only(self, texts: Iterable[str]) -> int:
        """Delete the values of all other texts. Returns how many were deleted."""
        unwanted = self._kept.keys() - {self.key_of(text) for text in texts}
        if unwanted:
            self._kept.drop(unwanted)
        return len(unwanted)


class VectorCache(TextCache[Vectors]):
    """The vectors of passages made by one model, shape (dimension,) each."""

    def __init__(self, file: KeptFile, facts: EmbedderFacts) -> None:
        super().__init__(
            file, _VECTORS, facts.identity, lambda one: one.astype("<f4").tobytes(), self._vector_of
        )
        self.facts = facts
        self.refused: dict[str, str] = {}
        """By text, why its vector was refused by `add`."""

    def add(self, texts: Sequence[str], values: Iterable[Vectors]) -> None:
        """Save those vectors of a batch whose length is 1, and note why the others were refused;
        see `TextCache.add`."""
        valid: dict[str, Vectors] = {}
        for text, vector in zip(texts, values, strict=True):
            length = float(np.linalg.norm(vector))
            if abs(length - 1.0) <= _LENGTH_TOLERANCE:  # False for NaN
                valid[text] = vector
            else:
                self.refused[text] = f"length {length:.4f}, not 1"
        super().add(list(valid), valid.values())

    def _vector_of(self, content: bytes) -> Vectors:
        """The vector in an entry. Raises ValueError if its length is wrong; the entry then counts
        as damaged."""
        vector = np.frombuffer(content, "<f4")
        if vector.shape != (self.facts.dimension,):
            raise ValueError(f"{self.facts.identity} has vectors of {self.facts.dimension} numbers")
        return vector


def note_papers(
    file: KeptFile, texts_by_cache: Mapping[TextCache[Any], Mapping[str, Iterable[str]]]
) -> None:
    """Write down the papers and keys of each cache, before the first value is made, so that no
    value of a deleted paper can be overlooked.

    texts_by_cache: for each cache, the texts of each paper by paper_id.
    """
    old_notes = _notes(file).get(_PAPERS) or {}
    new_notes = {
        cache.kind: {
            paper: sorted({cache.key_of(text) for text in texts})
            for paper, texts in sorted(papers.items())
        }
        for cache, papers in texts_by_cache.items()
    }
    all_notes = {
        kind: papers for kind, papers in old_notes.items() if kind not in new_notes
    } | new_notes
    if list(all_notes.items()) != list(old_notes.items()):
        _notes(file).put(_PAPERS, all_notes)


def prune_other_models(
    file: KeptFile,
    in_use: Iterable[TextCache[Any]],
    papers: Collection[str],
    *,
    max_mb: float = _MOST_MB,
) -> None:
    """Delete values of models that are not in use. First the values of papers that are not in
    `papers`; values without a known paper are deleted too. Then all values of the models that were
    used longest ago, until the other unused models take at most `max_mb`.

    The rest is kept, so that nothing is paid for again if an earlier model is used again.
    """
    used_kinds, old_notes = {cache.kind for cache in in_use}, _notes(file).get(_PAPERS) or {}
    new_notes, bytes_left = dict(old_notes), max_mb * _BYTES_PER_MB
    # the model that was used last comes first
    for kind in sorted(
        file.kinds().keys() - used_kinds - {_PAPERS},
        key=[*old_notes, *file.kinds()].index,
        reverse=True,
    ):
        entries = Kept(file, kind, bytes, bytes)
        new_notes[kind] = {
            paper: keys for paper, keys in old_notes.get(kind, {}).items() if paper in papers
        }
        # delete what belongs to no paper of `papers`, then count what is left
        entries.drop(entries.keys() - {key for keys in new_notes[kind].values() for key in keys})
        bytes_left -= file.kinds().get(kind, 0)
        if bytes_left < 0:
            logger.info(
                "The %s are deleted: what earlier models made takes more than %.0f MB.",
                kind,
                max_mb,
            )
            entries.drop(entries.keys())
    existing_kinds = used_kinds | file.kinds().keys()
    new_notes = {kind: noted for kind, noted in new_notes.items() if kind in existing_kinds}
    if new_notes != old_notes:
        _notes(file).put(_PAPERS, new_notes)


def _notes(file: KeptFile) -> Kept[dict[str, dict[str, list[str]]]]:
    """For each kind of value and each paper_id, the keys of its texts."""
    return file.replies(_PAPERS, dict[str, dict[str, list[str]]])
