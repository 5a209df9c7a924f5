"""Uploaded files: received into a hidden folder, told by their content, then moved into the papers
folder at once.

The name a client gives is untrusted: only its last part is used (RFC 7578, section 4.2), and it
becomes the id of the paper, so that the sweep of the papers folder finds the paper under the id
that the client was told.
"""

import hashlib
import os
import re
import shutil
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import IO

from rag_assets.core.domain import Source
from rag_assets.core.errors import CorpusConflict, UploadRefused, UploadTooLarge
from rag_assets.core.settings import Settings
from rag_assets.core.workforce.processes import WorkerPool
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.library.paper_uploads.trash import (
    changing_papers,
    demand_changeable,
    present_papers,
    shown,
)
from rag_assets.parsing.discovery import Paper, PaperFile, is_library, is_passed_over, safe_id
from rag_assets.parsing.registry import (
    Format,
    expected_sources,
    installed_extras,
    sniff,
    stem_of,
    suffix_of,
)
from rag_assets.parsing.shared.files.raw import head_and_sha256

_MAX_STEM_BYTES = 200
"""File systems take 255 bytes for a name, a suffix and ours for half-written files included."""
_SEPARATORS = re.compile(r"[/\\]")
_BYTES_PER_MB = 1_000_000
_BLOCK_BYTES = 262_144
_RECEIVING = ".receiving-"
"""Begins the names of the folders that files are received in; hidden, so that no sweep looks into
them."""
_ABANDONED_AFTER_S = 3600.0
_READABLE = 0o644
"""The rights of files that a user copies into the folder, under the usual umask."""


@dataclass(frozen=True)
class UploadedPaper:
    """A file that is in the papers folder now."""

    paper_id: str
    file_name: str
    is_new: bool
    """False where it joins a paper that has files of other formats."""


class PaperUploads:
    """Takes files into the papers folder; safe to use from several threads. To be closed.

    The content of a file is looked at in a process of its own that can be killed, as parsing does.
    """

    def __init__(self, settings: Settings) -> None:
        """Starts no process yet; removes what a killed process left half received."""
        self._settings = settings
        self._max_bytes = int(settings.server.max_upload_mb * _BYTES_PER_MB)
        self._workers = WorkerPool(n_workers=1)
        _remove_abandoned(settings.paths.papers)

    def close(self) -> None:
        """End the process that looks at files, whatever it is doing."""
        self._workers.close()

    def add(self, name: str, content: IO[bytes]) -> UploadedPaper:
        """Read `content` to its end and keep it as a paper. name: as the client gave it.

        Raises UploadRefused for a file that cannot be a paper, UploadTooLarge, CorpusConflict when
        the paper is there already, and what `changing_papers` raises. Then nothing is left of the
        file.
        """
        given = plain_name(name)
        demand_changeable(self._settings)
        with self._received(given, content) as received:
            known = self._format_of(received, given)
            kept = kept_name(given, known)
            paper_id = safe_id(stem_of(kept) or kept)
            with changing_papers(self._settings):
                others = _files_of(paper_id, present_papers(self._settings))
                _demand_room(paper_id, known.source, others)
                received.replace(self._settings.paths.papers / kept)
        return UploadedPaper(paper_id, kept, is_new=not others)

    @contextmanager
    def _received(self, given: str, content: IO[bytes]) -> Iterator[Path]:
        """The content in a file beside the papers, flushed to the disk; deleted unless it was
        moved."""
        folder = Path(mkdtemp(prefix=_RECEIVING, dir=self._settings.paths.papers))
        try:
            received = folder / "file"
            with received.open("wb") as file:
                n_bytes = 0
                while block := content.read(_BLOCK_BYTES):
                    n_bytes += len(block)
                    if n_bytes > self._max_bytes:
                        raise UploadTooLarge(
                            f"{shown(given)} has more than {self._settings.server.max_upload_mb:g} MB "
                            "(server.max_upload_mb). Put it into the papers folder itself, or raise the limit."
                        )
                    file.write(block)
                file.flush()
                os.fsync(file.fileno())
            if not n_bytes:
                raise UploadRefused(f"{shown(given)} is empty (0 bytes). Upload the paper again.")
            received.chmod(_READABLE)
            yield received
        finally:
            shutil.rmtree(folder)

    def _format_of(self, received: Path, given: str) -> Format:
        """The format, by the content. Raises UploadRefused for what the settings or the
        installation cannot read."""
        found = self._workers.submit(
            look_at, (received, given), self._settings.parsing.limits
        ).result()
        if isinstance(found, Failure):
            raise UploadRefused(f"{shown(given)} {found.reason}")
        parsing = self._settings.parsing
        if found.needs and found.needs not in installed_extras():
            raise UploadRefused(
                f"{shown(given)} is a {found.suffixes[0]} file, which needs an optional dependency on the server: "
                f"pip install 'rag_assets[{found.needs}]'. Export it as PDF, or install that."
            )
        if found.source not in parsing.source_order or (
            found.source is Source.TEXT and not parsing.use_text_txt
        ):
            raise UploadRefused(
                f"{shown(given)} is {found.source}, which this corpus leaves out (parsing.source_order)."
            )
        return found


def plain_name(given: str) -> str:
    """The last part of the name a client gave, composed (Unicode NFC) and without white space
    around it.

    Raises UploadRefused for one that is empty, or by which the file would be hidden or passed over.
    """
    readable = given.encode("utf-8", "replace").decode("utf-8")
    name = unicodedata.normalize("NFC", _SEPARATORS.split(readable)[-1]).strip()
    if not name.strip(". "):
        raise UploadRefused(
            "The file has no name. Name it as the paper, for example smith2020.pdf."
        )
    if is_passed_over(name):
        raise UploadRefused(
            f"{shown(name)} cannot be the name of a paper: names that begin with a dot or a tilde, backups and READMEs "
            "are passed over. Rename the file."
        )
    return name


def kept_name(name: str, known: Format) -> str:
    """The name in the papers folder of a file of that format: its stem made safe, and a suffix of
    the format.

    Raises UploadRefused for a text that no suffix declares to be a paper.
    """
    suffix = suffix_of(name)
    if suffix not in known.suffixes:
        if known.sniff is None:
            raise UploadRefused(
                f"{shown(name)} holds plain text. If it is the paper, give its name the ending .txt or .md."
            )
        name, suffix = f"{stem_of(name) or name}{known.suffixes[0]}", known.suffixes[0]
    kept = f"{_short_enough(safe_id(name[: -len(suffix)]))}{suffix}"
    if is_passed_over(kept) or is_library(kept):
        raise UploadRefused(f"{shown(name)} cannot be the name of a paper. Rename the file.")
    return kept


def _short_enough(paper_id: str) -> str:
    encoded = paper_id.encode()
    if len(encoded) <= _MAX_STEM_BYTES:
        return paper_id
    short_hash = hashlib.sha256(encoded).hexdigest()[:8]
    return f"{encoded[: _MAX_STEM_BYTES - 9].decode('utf-8', 'ignore').rstrip(' .')}-{short_hash}"


def look_at(upload: tuple[Path, str]) -> Format:
    """The format of a received file that came under a name. Raises UnreadableDocument; runs in a
    worker."""
    received, given = upload
    head, _ = head_and_sha256(received)
    return sniff(given, head)


def _files_of(paper_id: str, papers: list[Paper]) -> list[PaperFile]:
    """The files that a file of this id would share its paper with, or its name where case does not
    count."""
    wanted = paper_id.casefold()
    files = [file for paper in papers for file in paper.files]
    return [
        file
        for file in files
        if safe_id(stem_of(file.path.name) or file.path.name).casefold() == wanted
    ]


def _demand_room(paper_id: str, source: Source, others: list[PaperFile]) -> None:
    """A paper may have one file of each format, all in one folder. Raises CorpusConflict."""
    is_taken = any(
        "/" in file.relative or source in expected_sources(file.path.name) for file in others
    )
    if is_taken or any(safe_id(stem_of(file.path.name) or "") != paper_id for file in others):
        raise CorpusConflict(
            f"There is a paper {shown(paper_id)} already. Delete it first, or give the file another name; nothing was "
            "changed."
        )


def _remove_abandoned(papers: Path) -> None:
    """What a killed process was receiving; another process may be at work on what is younger."""
    latest = time.time() - _ABANDONED_AFTER_S
    for folder in papers.glob(f"{_RECEIVING}*"):
        if folder.stat().st_mtime < latest:
            shutil.rmtree(folder, ignore_errors=True)
