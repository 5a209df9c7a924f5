"""Adding papers to the papers folder and taking them out of it, one change at a time, in a way that
can be undone.

Only the papers folder and the trash are written; what follows from a change is made by the ordinary
run. No web framework and no Dagster here.

An uploaded file is received into a hidden folder, told by its content, then moved into the papers
folder at once. The name a client gives is untrusted: only its last part is used (RFC 7578, section
4.2), and it becomes the id of the paper, so that the sweep of the papers folder finds the paper
under the id that the client was told.

Files of a deleted paper are moved to the trash, a folder for each deletion. `trash.json` says what
belongs there and is written first, so that a deletion or restoration that a kill cut short is
completed by `finish_interrupted`, never left half done. Nothing in the trash is ever deleted here.

Values of records that a person corrects are kept as CSL-JSON beside the papers, where the user may
edit them; the next run takes them.
"""

import hashlib
import json
import logging
import os
import re
import secrets
import shutil
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Literal, Self

from filelock import FileLock, Timeout

from rag_assets.core.domain import Record, SourceFormat
from rag_assets.core.errors import (
    BusyDataFolder,
    CorpusConflict,
    NotFound,
    ReadOnlyFolder,
    UploadRefused,
    UploadTooLarge,
)
from rag_assets.core.incremental import sealed, unsealed, write_atomically
from rag_assets.core.settings import Settings
from rag_assets.core.settings.paths import demand_data_folder
from rag_assets.core.text.display import legible
from rag_assets.core.workforce.processes import WorkerPool
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.corpus.records.citation_styles import csl_item
from rag_assets.parsing.bibliographies import CORRECTIONS
from rag_assets.parsing.discovery import (
    INDEX_NAME,
    Paper,
    discover,
    is_library,
    is_passed_over,
    safe_id,
)
from rag_assets.parsing.registry import (
    Format,
    expected_sources,
    installed_extras,
    sniff,
    stem_of,
    suffix_of,
)
from rag_assets.parsing.shared.files import head_and_sha256

logger = logging.getLogger(__name__)
_MANIFEST = "trash.json"
_FILES = "files"
_TRASH_ID = re.compile(r"\d{8}T\d{6}-[0-9a-f]{12}")
State = Literal["discarding", "kept", "restoring"]
_MAX_SHOWN_CHARS = 80
_LOCK_NAME = ".papers.lock"
_LOCK_TIMEOUT_S = 30.0


def demand_changeable(settings: Settings) -> None:
    """Make the papers folder if it is missing.

    Raises MissingInput without a data folder, CorpusConflict when a list names the papers,
    ReadOnlyFolder.
    """
    paths = settings.paths
    demand_data_folder(paths)
    if settings.paper_list_file or (paths.papers / INDEX_NAME).exists():
        raise CorpusConflict(
            "A list names the papers of this corpus, so files that are added or deleted here would change nothing. "
            "Change the list, or remove it."
        )
    try:
        paths.papers.mkdir(exist_ok=True)
    except OSError as error:
        raise ReadOnlyFolder.at(paths.data) from error
    if not os.access(paths.papers, os.W_OK | os.X_OK) or not os.access(
        paths.data, os.W_OK | os.X_OK
    ):
        raise ReadOnlyFolder.at(paths.papers)


@contextmanager
def changing_papers(settings: Settings) -> Iterator[None]:
    """Within the block no other process adds or removes papers through this package; a run may read
    meanwhile.

    Raises BusyDataFolder, and as `demand_changeable`.
    """
    demand_changeable(settings)
    lock = FileLock(settings.data_dir.resolve() / _LOCK_NAME)
    try:
        held = lock.acquire(timeout=_LOCK_TIMEOUT_S)
    except Timeout as error:
        raise BusyDataFolder.at(settings.data_dir) from error
    with held:
        yield


def present_papers(settings: Settings) -> list[Paper]:
    """All papers in the folder, those that cannot be parsed included."""
    return discover(settings.paths.papers, settings.parsing.limits)


def shown(name: str) -> str:
    """A client's file name in a message: on one line, cut, without characters that act on a
    terminal."""
    line = legible(" ".join(name.split()))
    return f'"{line}"' if len(line) <= _MAX_SHOWN_CHARS else f'"{line[: _MAX_SHOWN_CHARS - 1]}…"'


@dataclass(frozen=True)
class TrashedPaper:
    """A deletion, of one paper or of all."""

    trash_id: str
    paper_id: str
    """Empty for all papers at once."""
    files: tuple[str, ...]
    """From the papers folder, with forward slashes."""
    state: State = "kept"
    """The others only while files are moved, or after a kill."""
    all_papers: tuple[str, ...] = ()
    """Ids of all papers that were deleted at once."""

    @property
    def paper_ids(self) -> tuple[str, ...]:
        return self.all_papers or (self.paper_id,)

    @classmethod
    def of(cls, papers: Sequence[Paper], *, all_at_once: bool = False) -> Self:
        """The deletion of papers that begins now."""
        return cls(
            f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(6)}",
            "" if all_at_once else papers[0].paper_id,
            tuple(file.relative for paper in papers for file in paper.files),
            "discarding",
            tuple(paper.paper_id for paper in papers) if all_at_once else (),
        )


class PaperTrash:
    """Moves papers out of the papers folder, and back."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._papers = settings.paths.papers
        self._trash = settings.paths.trash

    def deletions(self) -> list[TrashedPaper]:
        """The deletions that can be undone, newest first. Damaged records are left out."""
        folders = sorted(self._trash.iterdir(), reverse=True) if self._trash.is_dir() else []
        return [
            deletion
            for folder in folders
            if (deletion := self._read(folder.name)) and deletion.state == "kept"
        ]

    def discard(self, paper_id: str) -> TrashedPaper:
        """Move all files of a paper, of whatever format, to the trash.

        Raises NotFound, and what `changing_papers` raises.
        """
        with changing_papers(self._settings):
            present = present_papers(self._settings)
            papers = [paper for paper in present if paper.paper_id == paper_id]
            if not papers:
                raise NotFound(
                    f"There is no paper {shown(paper_id)}. GET /api/papers lists those there are."
                )
            return self._discarded(TrashedPaper.of(papers))

    def discard_all(self, confirmation: str) -> TrashedPaper:
        """Move the files of all papers to the trash, as one deletion.

        confirmation: "delete 17 papers", with their number. Raises CorpusConflict for any other,
        NotFound without a paper, and what `changing_papers` raises.
        """
        with changing_papers(self._settings):
            papers = present_papers(self._settings)
            if not papers:
                raise NotFound("There is no paper to delete.")
            wanted = f"delete {len(papers)} paper{'s' if len(papers) > 1 else ''}"
            if confirmation != wanted:
                raise CorpusConflict(
                    f'Nothing was deleted. To move all papers to the trash, confirm it with "{wanted}".'
                )
            return self._discarded(TrashedPaper.of(papers, all_at_once=True))

    def restore(self, trash_id: str) -> TrashedPaper:
        """Move the files of a deletion back to where they were; the deletion is gone then.

        Raises NotFound, CorpusConflict when there is a paper of that id again, and what
        `changing_papers` raises.
        """
        with changing_papers(self._settings):
            trashed = self._read(trash_id)
            if trashed is None:
                raise NotFound(
                    "There is no such deletion to undo: it was undone already, or its record is damaged."
                )
            present = {paper.paper_id.casefold() for paper in present_papers(self._settings)}
            again = [one for one in trashed.paper_ids if one.casefold() in present]
            if again or any((self._papers / file).exists() for file in trashed.files):
                name = shown((again or trashed.paper_ids)[0])
                raise CorpusConflict(
                    f"There is another paper {name} now. Delete that one first; nothing was changed."
                )
            return self._restored(replace(trashed, state="restoring"))

    def finish_interrupted(self) -> Sequence[TrashedPaper]:
        """Complete what a killed process began. Returns it. Raises as `changing_papers`."""
        if not self._trash.is_dir():
            return ()
        with changing_papers(self._settings):
            deletions = [self._read(folder.name) for folder in sorted(self._trash.iterdir())]
            begun = [trashed for trashed in deletions if trashed and trashed.state != "kept"]
            for trashed in begun:
                logger.warning(
                    "The deletion or restoration of %s was cut short; it is completed.",
                    trashed.paper_id or "all papers",
                )
            return [
                self._discarded(deletion)
                if deletion.state == "discarding"
                else self._restored(deletion)
                for deletion in begun
            ]

    def _discarded(self, trashed: TrashedPaper) -> TrashedPaper:
        self._write(trashed)
        for file in trashed.files:
            _move(self._papers / file, self._folder(trashed) / _FILES / file)
        deletion = replace(trashed, state="kept")
        self._write(deletion)
        return deletion

    def _restored(self, trashed: TrashedPaper) -> TrashedPaper:
        self._write(trashed)
        for file in trashed.files:
            _move(self._folder(trashed) / _FILES / file, self._papers / file)
        shutil.rmtree(self._folder(trashed))
        return trashed

    def _folder(self, trashed: TrashedPaper) -> Path:
        return self._trash / trashed.trash_id

    def _write(self, trashed: TrashedPaper) -> None:
        content = json.dumps(
            sealed(json.loads(json.dumps(asdict(trashed)))), ensure_ascii=False, indent=1
        )
        path = self._folder(trashed) / _MANIFEST
        write_atomically(path, content.encode())

    def _read(self, trash_id: str) -> TrashedPaper | None:
        """None when there is no such deletion, or its record is damaged."""
        if not _TRASH_ID.fullmatch(trash_id):
            return None
        path = self._trash / trash_id / _MANIFEST
        content = unsealed(path.read_bytes()) if path.exists() else None
        if not content:
            return None
        lists = {name: tuple(content.get(name, ())) for name in ("files", "all_papers")}
        return TrashedPaper(**content | lists)


def _move(source: Path, target: Path) -> None:
    """Move a file, unless a killed process has done so; between two disks by a copy that is deleted
    last."""
    if source.exists() or source.is_symlink():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(source, target)


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
        latest = time.time() - _ABANDONED_AFTER_S
        for folder in settings.paths.papers.glob(f"{_RECEIVING}*"):
            if folder.stat().st_mtime < latest:  # another process may be at work on younger ones
                shutil.rmtree(folder, ignore_errors=True)

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
            file_name = kept_name(given, known)
            paper_id = safe_id(stem_of(file_name) or file_name)
            with changing_papers(self._settings):
                is_new = self._demand_room(paper_id, known.source)
                received.replace(self._settings.paths.papers / file_name)
        return UploadedPaper(paper_id, file_name, is_new)

    def _demand_room(self, paper_id: str, source: SourceFormat) -> bool:
        """Whether the paper has no file yet. A paper may have one file of each format, all in one
        folder. Raises CorpusConflict."""
        is_new = True
        for file in (file for paper in present_papers(self._settings) for file in paper.files):
            other = safe_id(stem_of(file.path.name) or file.path.name)
            if other.casefold() != paper_id.casefold():
                continue
            is_new = False
            is_taken = "/" in file.relative or source in expected_sources(file.path.name)
            if is_taken or safe_id(stem_of(file.path.name) or "") != paper_id:
                raise CorpusConflict(
                    f"There is a paper {shown(paper_id)} already. Delete it first, or give the file another name; "
                    "nothing was changed."
                )
        return is_new

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
        parsing = self._settings.parsing
        file_format = self._workers.submit(look_at, (received, given), parsing.limits).result()
        if isinstance(file_format, Failure):
            raise UploadRefused(f"{shown(given)} {file_format.reason}")
        if file_format.needs and file_format.needs not in installed_extras():
            raise UploadRefused(
                f"{shown(given)} is a {file_format.suffixes[0]} file, which needs an optional dependency on the server: "
                f"pip install 'rag_assets[{file_format.needs}]'. Export it as PDF, or install that."
            )
        if file_format.source not in parsing.source_order or (
            file_format.source is SourceFormat.TEXT and not parsing.use_text_txt
        ):
            raise UploadRefused(
                f"{shown(given)} is {file_format.source}, which this corpus leaves out (parsing.source_order)."
            )
        return file_format


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
    stem = safe_id(name[: -len(suffix)])
    if len(encoded := stem.encode()) > _MAX_STEM_BYTES:
        short_hash = hashlib.sha256(encoded).hexdigest()[:8]
        cut = encoded[: _MAX_STEM_BYTES - 9].decode("utf-8", "ignore").rstrip(" .")
        stem = f"{cut}-{short_hash}"
    file_name = f"{stem}{suffix}"
    if is_passed_over(file_name) or is_library(file_name):
        raise UploadRefused(f"{shown(name)} cannot be the name of a paper. Rename the file.")
    return file_name


def look_at(upload: tuple[Path, str]) -> Format:
    """The format of a received file that came under a name. Raises UnreadableDocument; runs in a
    worker."""
    received, given = upload
    head, _ = head_and_sha256(received)
    return sniff(given, head)


def correct(settings: Settings, paper_id: str, record: Record) -> None:
    """Keep the known values of `record` as corrections of a paper, beside those of other fields.

    Raises NotFound if there is no such paper, CorpusConflict if the file of corrections is damaged,
    and what `changing_papers` raises.
    """
    path = settings.paths.papers / CORRECTIONS
    with changing_papers(settings):
        if all(paper.paper_id != paper_id for paper in present_papers(settings)):
            raise NotFound(f"There is no paper {shown(paper_id)}.")
        try:
            items = json.loads(path.read_text("utf-8")) if path.exists() else []
            kept = {item["id"]: item for item in items}
        except (ValueError, LookupError, TypeError) as error:
            raise CorpusConflict(
                f"{path} is not a list of CSL-JSON. Mend it, or move it away; nothing was changed."
            ) from error
        item = csl_item(paper_id, record)
        del item["type"]  # made up where the record has none
        if not record.title:
            del item["title"]
        kept[paper_id] = kept.get(paper_id, {}) | item
        content = json.dumps([*kept.values()], indent=1, ensure_ascii=False) + "\n"
        write_atomically(path, content.encode())
