"""Vectors of models that were used before, kept so that going back to one of them is not paid for again.

Beside the folder of each model a small file lists which papers its vectors are of. What is known of no paper in the
corpus is deleted: nothing may remain of a deleted paper. The vectors of the model in use live in `vector_cache`.
"""

import json
import logging
import os
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from rag_assets.core.incremental import sealed, unsealed, write_atomically
from rag_assets.search.embedding.vector_cache import SUFFIX, keep_rows

logger = logging.getLogger(__name__)
_LIST_SUFFIX = ".papers.json"
_BYTES_PER_MB = 1_000_000
_MOST_MB = 2000.0


def note_papers(model_folder: Path, keys_by_paper: Mapping[str, Iterable[str]]) -> None:
    """Write down whose vectors `model_folder` holds, before the first of them is made or published.

    keys_by_paper: paper_id -> keys of the vectors of its passages.
    """
    keys = {paper_id: sorted(set(keys)) for paper_id, keys in sorted(keys_by_paper.items())}
    write_atomically(_list_of(model_folder), json.dumps(sealed({"keys": keys})).encode() + b"\n")


def prune_earlier_models(in_use: Path, papers: Collection[str], *, max_mb: float = _MOST_MB) -> None:
    """Delete what other models have of papers that are not among `papers`; then whole models until they take `max_mb`.

    in_use: the folder of the model in use, beside those of the others; it is left alone, and marked as used last. The
    models not used for longest go first. A model whose list is missing or damaged goes too.
    """
    if in_use.exists():
        os.utime(in_use)
    others = [folder for folder in in_use.parent.glob("*/") if folder != in_use]
    for folder in others:
        _forget_papers(folder, papers)
    left = max_mb * _BYTES_PER_MB
    for folder in sorted((one for one in others if one.exists()), key=lambda one: one.stat().st_mtime_ns, reverse=True):
        left -= sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        if left < 0:
            logger.info("%s is deleted: vectors of earlier models took more than %.0f MB.", folder, max_mb)
            _delete(folder)
    for path in in_use.parent.glob(f"*{_LIST_SUFFIX}"):  # of a folder whose deletion was interrupted
        if path != _list_of(in_use) and not path.with_name(path.name.removesuffix(_LIST_SUFFIX)).exists():
            path.unlink()


def _forget_papers(folder: Path, papers: Collection[str]) -> None:
    keys_by_paper = _read(folder)
    living = {paper_id: keys for paper_id, keys in keys_by_paper.items() if paper_id in papers}
    if not living:
        if not keys_by_paper:
            logger.warning("%s is deleted: it is not known any more which papers its vectors are of.", folder)
        _delete(folder)
        return
    if len(living) == len(keys_by_paper):
        return
    last_used = folder.stat().st_mtime_ns
    wanted = {key for keys in living.values() for key in keys}
    for path in folder.rglob(f"*{SUFFIX}"):
        keep_rows(path, wanted)
    note_papers(folder, living)  # last: a kill before it leads to the same again
    os.utime(folder, ns=(last_used, last_used))


def _delete(folder: Path) -> None:
    shutil.rmtree(folder)
    _list_of(folder).unlink(missing_ok=True)


def _read(folder: Path) -> dict[str, list[str]]:
    """paper_id -> keys; empty when the list is missing or damaged."""
    try:
        found = unsealed(_list_of(folder).read_bytes()) or {}
    except OSError:
        return {}
    keys: dict[str, list[str]] = found.get("keys", {})
    return keys


def _list_of(folder: Path) -> Path:
    return folder.with_name(folder.name + _LIST_SUFFIX)
