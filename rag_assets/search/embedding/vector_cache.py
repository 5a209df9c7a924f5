"""What models made of passages, kept by content: no text is given to the same model twice.

Vectors, sparse vectors and token vectors are entries of one file (`core.kept`), by a hash of model
and text. A batch is committed as a whole, so a kill loses the running batch at most. `keep_only`
and `prune_other_models` forget what is no longer wanted: nothing may remain of a deleted paper.
Making what is missing is in `missing_vectors`.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from rag_assets.core.errors import MissingInput, ReadOnlyFolder
from rag_assets.core.full_disk import demand_room
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import Kept, KeptFile
from rag_assets.search.embedding.base import EmbedderFacts, Vectors

logger = logging.getLogger(__name__)
Value = TypeVar("Value")
_VECTORS = "vectors"
_PAPERS = "papers of models"
"""Kind of the one entry that says of which papers the vectors of each model are; the model used
last is last."""
_BYTES_PER_MB = 1_000_000
_MOST_MB = 2000.0
_LENGTH_TOLERANCE = 1e-3


def vector_file(path: Path) -> KeptFile:
    """The file of a data folder, which keeps everything."""
    return KeptFile(path)


class MadeOfTexts(Generic[Value]):
    def __init__(
        self,
        file: KeptFile,
        kind: str,
        identity: str,
        dump: Callable[[Value], bytes],
        load: Callable[[bytes], Value],
    ) -> None:
        """kind: of value. identity: of the model."""
        self.file = file
        self.identity = identity
        self.kind = f"{kind} {fingerprint(identity)}"
        self._kept = Kept(file, self.kind, dump, load)

    def key_of(self, text: str) -> str:
        """32 hex digits that name what this model makes of `text`."""
        return fingerprint(self.identity, text)

    def missing(self, texts: Iterable[str]) -> list[str]:
        """The texts of which nothing is kept, or something that is damaged; each once, in the order
        given."""
        by_key = {self.key_of(text): text for text in texts}
        return [by_key[key] for key in self._kept.missing(by_key)]

    def add(self, texts: Sequence[str], values: Iterable[Value]) -> None:
        """Keep a finished batch; it survives a kill from here on. Raises DiskFull, or
        ReadOnlyFolder, when it cannot be written."""
        if not self._kept.put_all(dict(zip(map(self.key_of, texts), values, strict=True))):
            demand_room(self.file.path.parent)
            raise ReadOnlyFolder.at(self.file.path.parent)

    def found(self, texts: Iterable[str]) -> dict[str, Value]:
        """What is kept, by text."""
        by_key = {self.key_of(text): text for text in texts}
        return {by_key[key]: value for key, value in self._kept.get_all(by_key).items()}

    def load(self, texts: Sequence[str]) -> list[Value]:
        """What is kept of the texts, in that order. Raises MissingInput when one is missing or
        damaged by now."""
        found = self.found(texts)
        if n_missing := sum(text not in found for text in texts):
            raise MissingInput(
                f"{self.file.path} has no vector for {n_missing} of {len(texts)} passages. "
                "Materialize `embeddings` first: rag-assets run --select embeddings"
            )
        return [found[text] for text in texts]

    def keep_only(self, texts: Iterable[str]) -> int:
        """Forget what was made of all other texts; returns of how many."""
        gone = self._kept.keys() - {self.key_of(text) for text in texts}
        if gone:
            self._kept.drop(gone)
        return len(gone)


class VectorCache(MadeOfTexts[Vectors]):
    """The vectors of one model, shape (dimension,) each."""

    def __init__(self, file: KeptFile, facts: EmbedderFacts) -> None:
        super().__init__(
            file, _VECTORS, facts.identity, lambda one: one.astype("<f4").tobytes(), self._vector_of
        )
        self.facts = facts
        self.refused: dict[str, str] = {}
        """What is wrong with vectors that were to be added, by text."""

    def add(self, texts: Sequence[str], values: Iterable[Vectors]) -> None:
        """Keep the vectors of length 1 of a finished batch; see `MadeOfTexts.add`."""
        lengths = {
            text: (vector, float(np.linalg.norm(vector)))
            for text, vector in zip(texts, values, strict=True)
        }
        sound = {
            text: vector
            for text, (vector, length) in lengths.items()
            if abs(length - 1.0) <= _LENGTH_TOLERANCE  # NaN is not <= either
        }
        self.refused |= {
            text: f"length {lengths[text][1]:.4f}, not 1" for text in lengths.keys() - sound.keys()
        }
        super().add(list(sound), sound.values())

    def _vector_of(self, content: bytes) -> Vectors:
        vector = np.frombuffer(content, "<f4")
        if vector.shape != (self.facts.dimension,):
            raise ValueError(f"{self.facts.identity} has vectors of {self.facts.dimension} numbers")
        return vector


def note_papers(
    file: KeptFile, made: Mapping[MadeOfTexts[Any], Mapping[str, Iterable[str]]]
) -> None:
    """Write down whose vectors there are, before the first of them is made. made: texts by
    paper_id, by cache."""
    known = _notes(file).get(_PAPERS) or {}
    wanted = {
        cache.kind: {
            paper: sorted({cache.key_of(text) for text in own})
            for paper, own in sorted(papers.items())
        }
        for cache, papers in made.items()
    }
    noted = {kind: papers for kind, papers in known.items() if kind not in wanted} | wanted
    if list(noted.items()) != list(known.items()):
        _notes(file).put(_PAPERS, noted)


def prune_other_models(
    file: KeptFile,
    in_use: Iterable[MadeOfTexts[Any]],
    papers: Collection[str],
    *,
    max_mb: float = _MOST_MB,
) -> None:
    """Delete what models that are not in use have of papers that are not among `papers`; then all
    of the models that were not used for longest, until the others take `max_mb`.

    The rest is kept, so that going back to an earlier model is not paid for again. What is not
    known to be of a paper goes too.
    """
    used, known = {cache.kind for cache in in_use}, _notes(file).get(_PAPERS) or {}
    kept, left = dict(known), max_mb * _BYTES_PER_MB
    for kind in sorted(
        file.kinds().keys() - used - {_PAPERS}, key=[*known, *file.kinds()].index, reverse=True
    ):
        entries = Kept(file, kind, bytes, bytes)
        kept[kind] = {paper: keys for paper, keys in known.get(kind, {}).items() if paper in papers}
        entries.drop(entries.keys() - {key for keys in kept[kind].values() for key in keys})
        left -= file.kinds().get(kind, 0)
        if left < 0:
            logger.info(
                "The %s are deleted: what earlier models made takes more than %.0f MB.",
                kind,
                max_mb,
            )
            entries.drop(entries.keys())
    there = used | file.kinds().keys()
    if (kept := {kind: own for kind, own in kept.items() if kind in there}) != known:
        _notes(file).put(_PAPERS, kept)


def _notes(file: KeptFile) -> Kept[dict[str, dict[str, list[str]]]]:
    """Keys by paper_id, by kind."""
    return file.replies(_PAPERS, dict[str, dict[str, list[str]]])
