"""The papers folder: the names under which uploaded files are kept, the papers in it, and one change at a time.

The name a client gives is untrusted: only its last part is used (RFC 7578, section 4.2), and it becomes the id of the
paper, so that the sweep of the papers folder finds the paper under the id that the client was told.
"""

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from rag_assets.core.errors import BusyDataFolder, CorpusConflict, ReadOnlyFolder, UploadRefused
from rag_assets.core.settings import Settings
from rag_assets.core.settings.paths import demand_data_folder
from rag_assets.core.text.display import legible
from rag_assets.parsing.discovery import INDEX_NAME, Paper, discover, is_passed_over, safe_id
from rag_assets.parsing.registry import Format, stem_of, suffix_of

_LOCK_NAME = ".papers.lock"
_LOCK_TIMEOUT_S = 30.0


def demand_changeable(settings: Settings) -> None:
    """Make the papers folder if it is missing.

    Raises MissingInput without a data folder, CorpusConflict when a list names the papers, ReadOnlyFolder.
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
    if not os.access(paths.papers, os.W_OK | os.X_OK) or not os.access(paths.data, os.W_OK | os.X_OK):
        raise ReadOnlyFolder.at(paths.papers)


@contextmanager
def changing_papers(settings: Settings) -> Iterator[None]:
    """Within the block no other process adds or removes papers through this package; a run may read meanwhile.

    Raises BusyDataFolder, and as `demand_changeable`.
    """
    demand_changeable(settings)
    lock = FileLock(settings.data_dir.resolve() / _LOCK_NAME)
    try:
        lock.acquire(timeout=_LOCK_TIMEOUT_S)
    except Timeout as error:
        raise BusyDataFolder.at(settings.data_dir) from error
    try:
        yield
    finally:
        lock.release()


def present_papers(settings: Settings) -> list[Paper]:
    """All papers in the folder, those that cannot be parsed included."""
    return discover(settings.paths.papers, settings.parsing.limits)


_MAX_STEM_BYTES = 200
"""File systems take 255 bytes for a name, a suffix and ours for half-written files included."""
_SEPARATORS = re.compile(r"[/\\]")
_MAX_SHOWN_CHARS = 80


def plain_name(given: str) -> str:
    """The last part of the name a client gave, composed (Unicode NFC) and without white space around it.

    Raises UploadRefused for one that is empty, or by which the file would be hidden or passed over.
    """
    readable = given.encode("utf-8", "replace").decode("utf-8")
    name = unicodedata.normalize("NFC", _SEPARATORS.split(readable)[-1]).strip()
    if not name.strip(". "):
        raise UploadRefused("The file has no name. Name it as the paper, for example smith2020.pdf.")
    if is_passed_over(name):
        raise UploadRefused(
            f"{shown(name)} cannot be the name of a paper: names that begin with a dot or a tilde, backups and READMEs "
            "are passed over. Rename the file."
        )
    return name


def kept_name(name: str, known: Format) -> str:
    """The name in the papers folder of a file of that format: its stem made safe, and a suffix of the format.

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
    if is_passed_over(kept):
        raise UploadRefused(f"{shown(name)} cannot be the name of a paper. Rename the file.")
    return kept


def shown(name: str) -> str:
    """A client's file name in a message: on one line, cut, without characters that act on a terminal."""
    line = legible(" ".join(name.split()))
    return f'"{line}"' if len(line) <= _MAX_SHOWN_CHARS else f'"{line[: _MAX_SHOWN_CHARS - 1]}…"'


def _short_enough(paper_id: str) -> str:
    encoded = paper_id.encode()
    if len(encoded) <= _MAX_STEM_BYTES:
        return paper_id
    short_hash = hashlib.sha256(encoded).hexdigest()[:8]
    return f"{encoded[: _MAX_STEM_BYTES - 9].decode('utf-8', 'ignore').rstrip(' .')}-{short_hash}"
