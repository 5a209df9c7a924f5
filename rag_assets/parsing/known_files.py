"""What is known about the files of a paper before they are parsed: format, hash, order, and the
fingerprint of the paper. A file is read again only when it has changed.

A file counts as unchanged while its inode, size and both times of change are the same. A file that
changed less than two seconds before it was read is not remembered: it could change once more
without a new time of change, because the clock of a file system is coarse.
"""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter, ValidationError

from rag_assets.core.domain import SourceFormat
from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.incremental import (
    Stamp,
    file_sha256,
    fingerprint,
    sealed,
    stamp_of,
    unsealed,
    write_atomically,
)
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing import registry
from rag_assets.parsing.discovery import CANNOT_BE_OPENED, Paper, PaperFile, safe_id
from rag_assets.parsing.places import ALIGNMENT_VERSION
from rag_assets.parsing.registry import PARSER_VERSION, Format, expected_sources
from rag_assets.parsing.shared.files import head_and_sha256

_SETTLED_AFTER_NS = 2_000_000_000
"""More than the coarsest tick of a usual file system."""


@dataclass(frozen=True)
class KnownFile:
    """What a file contained when it was read."""

    stands: Stamp
    """Stamp of the file before it was read."""
    sha256: str
    format: int | None
    """Index of its format in `FORMATS`; None if it has no known format."""
    problem: str = ""
    """Why it has no known format; empty if it has one."""


def _read(path: Path, stamp: Stamp) -> KnownFile:
    head, sha256 = head_and_sha256(path)
    try:
        return KnownFile(stamp, sha256, registry.FORMATS.index(registry.sniff(path.name, head)))
    except UnreadableDocument as error:
        return KnownFile(stamp, sha256, None, str(error))


class KnownFiles:
    """The files that were read, in this run and in the one before; safe for several threads.

    earlier: absolute path -> file, as the run before kept them.
    """

    def __init__(self, earlier: Mapping[str, KnownFile] | None = None) -> None:
        self._earlier, self._current = dict(earlier or {}), dict[str, KnownFile]()

    @classmethod
    def kept_at(cls, path: Path) -> Self:
        """The files that `keep_at` wrote; empty if another version of the formats wrote them, or
        the file is damaged."""
        try:
            kept = unsealed(path.read_bytes()) or {}
            if kept.get("version") == _version():
                return cls(_adapter().validate_python(kept["files"]))
        except (OSError, ValidationError):
            pass
        return cls()

    def read(self, path: Path) -> KnownFile:
        """Format and hash of a file; it is opened only if it is new or has changed. Raises
        OSError."""
        name, now_ns = str(path.absolute()), time.time_ns()
        stamp = stamp_of(path)
        known = self._earlier.get(name)
        if known is None or known.stands != stamp:
            known = _read(path, stamp)
        if max(stamp[2:]) < now_ns - _SETTLED_AFTER_NS:  # both times of change
            self._current[name] = known
        return known

    def keep_at(self, path: Path) -> None:
        """Write the files of this run for the next one; nothing is written if they are the same as
        before."""
        if self._current == self._earlier and path.exists():
            return
        files = {name: vars(known) for name, known in sorted(self._current.items())}
        write_atomically(path, json.dumps(sealed({"version": _version(), "files": files})).encode())

    def altered(self) -> Iterator[Path]:
        """Damaged files of the run before: those that cannot be read any more, and those whose
        bytes changed although size and times did not."""
        for name, known in self._earlier.items():
            path = Path(name)
            try:
                if stamp_of(path) == known.stands and file_sha256(path) != known.sha256:
                    yield path
            except (FileNotFoundError, NotADirectoryError):  # deleted: the next run notices it
                continue
            except OSError:
                yield path


def _version() -> str:
    """Changes when a format is added, removed, moved or gets another version."""
    return fingerprint(
        registry.PARSER_VERSION, [(known.parse, known.version) for known in registry.FORMATS]
    )


def _adapter() -> TypeAdapter[dict[str, KnownFile]]:
    return TypeAdapter(dict[str, KnownFile])


_SETTINGS_SEEN_IN_FILES = {"limits", "source_order", "use_text_txt", "grobid"}
"""Settings that are left out of the fingerprint, because what they do to a paper is visible in its
files, their order and their problems, which are part of it."""


def examined(paper: Paper, settings: ParsingSettings, known: KnownFiles) -> list[Paper]:
    """The paper with its fingerprint, and with the format and hash of each file; the files are
    sorted by `settings.source_order`, best first.

    A file that cannot be parsed gets a problem, and is sorted by the format of its suffix. Only one
    file of each format can be read: a second one is returned as a separate paper with a problem.
    known: files that were read before.
    """
    if paper.problem:
        return [fingerprinted(paper, settings)]
    order = settings.source_order

    def rank(file: PaperFile) -> tuple[int, str]:
        sources = (file.format.source,) if file.format else expected_sources(file.path.name)
        best = min(
            (order.index(source) for source in sources if source in order), default=len(order)
        )
        return best, file.relative

    first_of: dict[Format, PaperFile] = {}
    files: list[PaperFile] = []
    duplicates: list[Paper] = []
    for file in sorted((_examined_file(file, settings, known) for file in paper.files), key=rank):
        if file.format is None or first_of.setdefault(file.format, file) is file:
            files.append(file)
            continue
        problem = (
            f"{file.relative} is not read: {first_of[file.format].relative} has the same name and the same format. "
            "Remove one of them, or rename it if it is another paper."
        )
        paper_id = safe_id(f"{paper.paper_id}/{len(duplicates) + 2}")
        duplicates.append(Paper(paper_id, (file,), problem))
    papers = (replace(paper, files=tuple(files)), *duplicates)
    return [fingerprinted(each, settings) for each in papers]


def fingerprinted(paper: Paper, settings: ParsingSettings) -> Paper:
    """The paper with its fingerprint: a hash of its files, the settings, and the versions of the
    parsers.

    The limits are left out; `ParseJob.failure_fingerprint` adds them if a file failed. The message
    of a failure of GROBID is left out too, because it may be different each time.
    """
    files = [
        (
            file.relative,
            file.sha256,
            file.read_by or file.problem,
            file.format and (file.format.parse, file.format.version),
        )
        for file in paper.files
    ]
    values = settings.model_dump(mode="json", exclude=_SETTINGS_SEEN_IN_FILES)
    made_from = fingerprint(
        PARSER_VERSION, ALIGNMENT_VERSION, values, paper.paper_id, paper.problem, files
    )
    return replace(paper, fingerprint=made_from)


def _examined_file(file: PaperFile, settings: ParsingSettings, files: KnownFiles) -> PaperFile:
    """The file with the hash of its content, and with its format, or the reason why it is not
    parsed."""
    if file.problem:
        return file
    try:
        known = files.read(file.path)
    except OSError as error:
        return replace(file, problem=CANNOT_BE_OPENED.format(reason=error.strerror))
    if known.format is None:
        return replace(file, sha256=known.sha256, problem=known.problem)
    format_ = registry.FORMATS[known.format]
    problem = ""
    if format_.source not in settings.source_order:
        problem = f"is {format_.source}, which parsing.source_order leaves out. Add it there."
    elif format_.source is SourceFormat.TEXT and not settings.use_text_txt:
        problem = "is text, and parsing.use_text_txt is off. Switch it on, or provide TEI or PDF."
    return replace(file, sha256=known.sha256, format=None if problem else format_, problem=problem)


def is_pdf(file: PaperFile) -> bool:
    return file.format is not None and file.format.source is SourceFormat.PDF
