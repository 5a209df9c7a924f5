"""What is known of the files of a paper before they are parsed: format, hash, order, and the
fingerprint of the paper. A file is read again only when it changed.

A file is unchanged while its inode, size and both times of change are the same. One that changed
within moments of being read is not kept: another change in the same tick of the clock would leave
no trace.
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
from rag_assets.core.incremental import file_sha256, fingerprint, sealed, unsealed, write_atomically
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing import registry
from rag_assets.parsing.discovery import CANNOT_BE_OPENED, Paper, PaperFile, safe_id
from rag_assets.parsing.places import ALIGNMENT_VERSION
from rag_assets.parsing.registry import PARSER_VERSION, Format, expected_sources
from rag_assets.parsing.shared.files import head_and_sha256

_SETTLED_AFTER_NS = 2_000_000_000
"""More than the coarsest tick of a usual file system."""


Stands = tuple[int, int, int, int]
"""Inode and size of a file, when its content changed and when anything of it did, in ns."""


@dataclass(frozen=True)
class KnownFile:
    """A file as it was read."""

    stands: Stands
    sha256: str
    format: int | None
    """Place in `FORMATS`; None if it is none of them."""
    problem: str = ""
    """Why it is none of them."""


def _read(path: Path, stands: Stands) -> KnownFile:
    head, sha256 = head_and_sha256(path)
    try:
        return KnownFile(stands, sha256, registry.FORMATS.index(registry.sniff(path.name, head)))
    except UnreadableDocument as error:
        return KnownFile(stands, sha256, None, str(error))


class KnownFiles:
    """The files of one run; may be used by several threads."""

    def __init__(self, earlier: Mapping[str, KnownFile] | None = None) -> None:
        self._earlier, self._found = dict(earlier or {}), dict[str, KnownFile]()

    @classmethod
    def kept_at(cls, path: Path) -> Self:
        """The entries of the run before; empty if they are of another version or the file is
        damaged."""
        try:
            kept = unsealed(path.read_bytes()) or {}
            return cls(
                _adapter().validate_python(kept["files"])
                if kept.get("version") == _version()
                else None
            )
        except (OSError, ValidationError):
            return cls()

    def read(self, path: Path) -> KnownFile:
        """What is in a file. Raises OSError."""
        name, now_ns = str(path.absolute()), time.time_ns()
        stands = _stands(path)
        known = self._earlier.get(name)
        if known is None or known.stands != stands:
            known = _read(path, stands)
        if max(stands[2:]) < now_ns - _SETTLED_AFTER_NS:
            self._found[name] = known
        return known

    def keep_at(self, path: Path) -> None:
        """Keep what was read in this run, if it is not what was kept before."""
        if self._found == self._earlier and path.exists():
            return
        files = {name: vars(one) for name, one in sorted(self._found.items())}
        write_atomically(path, json.dumps(sealed({"version": _version(), "files": files})).encode())

    def altered(self) -> Iterator[Path]:
        """Files that cannot be read any more, or whose bytes are others than those that were read,
        though nothing else of them changed."""
        for name, known in self._earlier.items():
            path = Path(name)
            try:
                if _stands(path) == known.stands and file_sha256(path) != known.sha256:
                    yield path
            except (FileNotFoundError, NotADirectoryError):  # the next run sees that
                continue
            except OSError:
                yield path


def _stands(path: Path) -> Stands:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _version() -> str:
    return fingerprint(
        registry.PARSER_VERSION, [(known.parse, known.version) for known in registry.FORMATS]
    )


def _adapter() -> TypeAdapter[dict[str, KnownFile]]:
    return TypeAdapter(dict[str, KnownFile])


_TOLD_BY_FILES = {"limits", "source_order", "use_text_txt", "grobid"}
"""Settings whose effect on a paper shows in its files, their order and their problems."""


def examined(paper: Paper, settings: ParsingSettings, known: KnownFiles) -> list[Paper]:
    """The paper with its fingerprint and the format and hash of each file, best file first by
    `settings.source_order`.

    A file that cannot be parsed gets its problem, and the rank that its suffix promises. A second
    file of one format becomes a paper of its own with a problem, because only one of them can be
    read. known: files that were read before.
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
    seconds: list[Paper] = []
    for file in sorted((_examined_file(file, settings, known) for file in paper.files), key=rank):
        if file.format is None or first_of.setdefault(file.format, file) is file:
            files.append(file)
            continue
        problem = (
            f"{file.relative} is not read: {first_of[file.format].relative} has the same name and the same format. "
            "Remove one of them, or rename it if it is another paper."
        )
        seconds.append(Paper(safe_id(f"{paper.paper_id}/{len(seconds) + 2}"), (file,), problem))
    return [fingerprinted(one, settings) for one in (replace(paper, files=tuple(files)), *seconds)]


def fingerprinted(paper: Paper, settings: ParsingSettings) -> Paper:
    """The limits count only for papers of which a file failed; why GROBID failed does not count,
    since it may word the same failure in another way each time."""
    files = [
        (
            one.relative,
            one.sha256,
            one.read_by or one.problem,
            one.format and (one.format.parse, one.format.version),
        )
        for one in paper.files
    ]
    values = settings.model_dump(mode="json", exclude=_TOLD_BY_FILES)
    made_from = fingerprint(
        PARSER_VERSION, ALIGNMENT_VERSION, values, paper.paper_id, paper.problem, files
    )
    return replace(paper, fingerprint=made_from)


def _examined_file(file: PaperFile, settings: ParsingSettings, files: KnownFiles) -> PaperFile:
    """The file with the format and hash of its content, or the problem."""
    if file.problem:
        return file
    try:
        found = files.read(file.path)
    except OSError as error:
        return replace(file, problem=CANNOT_BE_OPENED.format(reason=error.strerror))
    if found.format is None:
        return replace(file, sha256=found.sha256, problem=found.problem)
    known, sha256 = registry.FORMATS[found.format], found.sha256
    problem = ""
    if known.source not in settings.source_order:
        problem = f"is {known.source}, which parsing.source_order leaves out. Add it there."
    elif known.source is SourceFormat.TEXT and not settings.use_text_txt:
        problem = "is text, and parsing.use_text_txt is off. Switch it on, or provide TEI or PDF."
    return replace(file, sha256=sha256, format=None if problem else known, problem=problem)


def is_pdf(file: PaperFile) -> bool:
    return file.format is not None and file.format.source is SourceFormat.PDF
