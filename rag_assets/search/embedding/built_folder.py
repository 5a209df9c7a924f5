"""A folder with a model that is built once from the packaged weights, and checked each time it is used.

It appears under its final name only when it is complete: a kill, a full disk or a damaged file leads to another build
(a few seconds), never to another model.
"""

import json
import logging
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from rag_assets.core.errors import MissingModel
from rag_assets.core.incremental import STAGED_SUFFIX, file_sha256

logger = logging.getLogger(__name__)

_MANIFEST = "manifest.json"
_ABANDONED_AFTER_S = 600.0


def ready_folder(folder: Path, write: Callable[[Path], None]) -> Path:
    """The folder, built first where it is not there or not as it was built. write: puts the model's files into an empty
    folder."""
    if not folder.exists():
        _build(folder, write)
    elif damage := _damage(folder):
        logger.warning("%s: building the model again.", damage)
        shutil.rmtree(folder)
        _build(folder, write)
    return folder


def _build(folder: Path, write: Callable[[Path], None]) -> None:
    logger.info("Building the model %s (once).", folder.name)
    started = time.monotonic()
    _remove_abandoned_builds(folder)
    staged = folder.with_name(f"{folder.name}.{uuid4().hex}{STAGED_SUFFIX}")
    staged.mkdir(parents=True)
    try:
        write(staged)
        _write_manifest(staged)
        _publish(staged, folder)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    logger.info("Built %s in %.1f s.", folder, time.monotonic() - started)


def _write_manifest(folder: Path) -> None:
    files = {path.name: file_sha256(path) for path in sorted(folder.iterdir())}
    (folder / _MANIFEST).write_text(json.dumps(files, indent=2) + "\n", "utf-8")


def _damage(folder: Path) -> str:
    """What is wrong with a built folder; empty when it is as it was built."""
    try:
        files: dict[str, str] = json.loads((folder / _MANIFEST).read_text("utf-8"))
        for name, sha256 in files.items():
            if file_sha256(folder / name) != sha256:
                return f"{folder / name} is not as it was built"
    except (OSError, ValueError, AttributeError) as error:
        return f"{folder} is incomplete ({error})"
    return ""


def _publish(staged: Path, folder: Path) -> None:
    """Give the staged folder its final name; if another process was faster, its folder stays."""
    for path in staged.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
    try:
        staged.rename(folder)
    except OSError as error:
        if not folder.is_dir():
            raise MissingModel(f"The model cannot be put into {folder} ({error}).") from error


def _remove_abandoned_builds(folder: Path) -> None:
    """A killed build leaves its staged folder; a young one may belong to a process that is still building."""
    for staged in folder.parent.glob(f"{folder.name}.*{STAGED_SUFFIX}"):
        if time.time() - staged.stat().st_mtime > _ABANDONED_AFTER_S:
            shutil.rmtree(staged, ignore_errors=True)
