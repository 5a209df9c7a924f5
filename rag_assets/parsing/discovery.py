"""Finds the papers in the papers folder.

Files with the same folder and the same stem are one paper; no file is opened. A file that cannot be
used keeps a text that says why, so that it ends as a quarantined row that names the file and the
remedy.
"""

import hashlib
import logging
import os
import re
import stat
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from pathlib import Path

from rag_assets.core.errors import MissingInput
from rag_assets.core.incremental import STAGED_SUFFIX, fingerprint
from rag_assets.core.settings import ParseLimits
from rag_assets.core.text.display import legible
from rag_assets.parsing.registry import Format, known_suffixes, stem_of, suffix_of

logger = logging.getLogger(__name__)

INDEX_NAME = "parsed_index.parquet"
LIBRARY_SUFFIXES = (".csl.json", ".bib", ".ris")
"""Suffixes of bibliographies, which are not papers."""
RETRACTION_LISTS = ("retracted.txt", "retracted.csv")
"""Names of files that list the DOIs of retracted papers."""
_IGNORED_NAMES = frozenset({"readme.md", "readme.markdown", "readme.txt", INDEX_NAME})
_SYSTEM_FOLDERS = frozenset(
    {
        "#recycle",
        "#snapshot",
        "$recycle.bin",
        "@eadir",
        "@recently-snapshot",
        "@recycle",
        "@tmp",
        "__macosx",
        "lost+found",
        "network trash folder",
        "recycler",
        "system volume information",
        "temporary items",
        "~snapshot",
    }
)
"""Folders in which network disks, Windows and macOS keep what was deleted or replaced, in small
letters. Those of other programs (".stversions", ".Trash-1000") are hidden."""
CANNOT_BE_OPENED = "cannot be opened ({reason}). Give this user the right to read it, or remove it."
_BYTES_PER_MB = 1_000_000
_MAX_ID_CHARS = 120
_MAX_NAMED = 5
_PATH_SEPARATOR = "__"
"""Separates the folders and the stem in an id by path; file names and URLs cannot contain "/"
there."""
_UNSAFE = re.compile(r"[^\w .,;()\[\]{}+=~@&'!%$-]")
"""Characters that an id cannot have: path separators, what Windows forbids, control characters, and
"#", which separates the parts of passage ids."""


@dataclass(frozen=True)
class PaperFile:
    """A file of a paper."""

    path: Path
    relative: str
    """Path from the papers folder, with forward slashes."""
    problem: str = ""
    """Why it cannot be parsed, as a phrase that can follow its name; empty when no reason is
    known."""
    sha256: str = ""
    """SHA-256 of its bytes; empty until they are read."""
    format: Format | None = None
    """Its format by content; None until that is read, and when it cannot be parsed."""
    read_by: str = ""
    """For TEI that a service made of the PDF at `path`: name of the service, with its version
    unless it failed; else empty. If it is set, `sha256` is the key under which that TEI is
    stored."""


@dataclass(frozen=True)
class Paper:
    """A paper and its files."""

    paper_id: str
    files: tuple[PaperFile, ...]
    problem: str = ""
    """Why none of the files may be used, as a whole sentence; empty for a paper to be parsed."""
    fingerprint: str = ""
    """Fingerprint of all files, settings and parser versions; empty until the files are read."""


def discover(papers: Path, limits: ParseLimits) -> list[Paper]:
    """The papers in the folder `papers` and all folders below it, sorted by path.

    Hidden files and folders, folders of the system (bins, older versions), READMEs, half-written
    files and backups are passed over; files of unknown suffix too, with a warning. Files are one
    paper when they have the same folder and the same stem. The id of a paper is its stem; papers
    whose stem occurs in several folders get ids by path, `2301.00001/main.pdf` becomes
    `2301.00001__main`. Raises MissingInput when the folder does not exist: an unmounted disk must
    not look like "all papers were deleted".
    """
    demand_folder(papers)
    root = papers.resolve()
    groups: dict[str, list[PaperFile]] = {}
    candidates, unknown = _files_below(papers)
    for relative in candidates:
        path = unicodedata.normalize("NFC", relative)
        groups.setdefault(stem_of(path) or path, []).append(
            _candidate(papers, relative, root, limits)
        )
    ids = _unique_ids(groups)
    if unknown:
        known = ", ".join(known_suffixes())
        logger.warning(
            "Passed over in %s, of no known suffix: %s. Known are %s.",
            papers,
            _first_names(unknown, ", "),
            known,
        )
    if split := list(_split_papers(groups, ids)):
        logger.warning(
            "Taken for different papers, because their files lie in different folders: %s. Put the files of one paper "
            "into one folder.",
            _first_names(split, "; "),
        )
    return [Paper(ids[path], tuple(files)) for path, files in groups.items()]


def demand_folder(papers: Path) -> None:
    """Raise MissingInput unless `papers` is a folder that can be listed."""
    if not papers.is_dir():
        raise MissingInput(
            f"The papers folder {papers} does not exist. Create it and put papers in it, mount the disk it lies on, "
            "or set data_dir in rag_assets.toml. Nothing was changed."
        )
    if not os.access(papers, os.R_OK | os.X_OK):
        raise MissingInput(
            f"The papers folder {papers} cannot be listed. Give this user the right to read it."
        )


def manifest_hash(papers: Path) -> str:
    """Fingerprint of path, size and time of change of every file that may be a paper, and of every
    bibliography.

    A sensor compares it with the one before: if they are equal, nothing has changed. Cheap, because
    no file is opened. Raises MissingInput when the folder does not exist.
    """
    demand_folder(papers)
    return fingerprint(
        [
            _manifest_entry(f"{papers}/{relative}", relative)
            for relative in (*_files_below(papers)[0], *library_files(papers), INDEX_NAME)
        ]
    )


def manifest_of(files: Iterable[Path]) -> str:
    """Fingerprint of path, size and time of change of these files."""
    return fingerprint(
        [_manifest_entry(str(path), str(path)) for path in sorted(file.resolve() for file in files)]
    )


def _manifest_entry(path: str, name: str) -> tuple[str, int, int]:
    """Name, size and time of change in ns; -1 for a file that cannot be found."""
    try:
        status = os.stat(path)  # noqa: PTH116 - Path.stat would double the time of the whole scan
    except OSError:
        return name, -1, -1
    return name, status.st_size, status.st_mtime_ns


def _files_below(papers: Path) -> tuple[list[str], list[str]]:
    """Relative paths of candidates, and of files of unknown suffix; both sorted folder by folder.

    Candidates are files of known suffixes. Links to folders outside and folders that cannot be
    listed are candidates too, so that they are reported as papers with a problem.
    """
    root = papers.resolve()
    candidates: list[str] = []
    unknown: list[str] = []
    unlisted: list[OSError] = []
    for prefix, subfolders, _, names in _walk(papers, unlisted.append):
        links = (name for name in subfolders if (papers / f"{prefix}{name}").is_symlink())
        candidates += [
            prefix + name
            for name in links
            if not (papers / f"{prefix}{name}").resolve().is_relative_to(root)
        ]
        for name in names:
            if is_passed_over(name) or is_library(name):
                continue
            if stem_of(name):
                candidates.append(prefix + name)
            else:
                unknown.append(prefix + name)
    candidates += [Path(error.filename).relative_to(papers).as_posix() for error in unlisted]
    by_folder = methodcaller("split", "/")
    return sorted(candidates, key=by_folder), sorted(unknown, key=by_folder)


def _walk(
    papers: Path, onerror: Callable[[OSError], None] | None = None
) -> Iterator[tuple[str, list[str], list[str], list[str]]]:
    """For each folder that may hold papers: its relative path with a slash at the end ("" for
    `papers`), the names of the folders in it, those of hidden and system folders, which are not
    entered, and those of its files."""
    for folder, subfolders, names in os.walk(papers, onerror=onerror):
        passed_over = [
            name
            for name in subfolders
            if name.startswith(".") or name.casefold() in _SYSTEM_FOLDERS
        ]
        # os.walk goes into the folders that stay in this list
        subfolders[:] = [name for name in subfolders if name not in passed_over]
        relative = Path(folder).relative_to(papers).as_posix()
        yield "" if relative == "." else f"{relative}/", subfolders, passed_over, names


def folders_passed_over(papers: Path) -> list[str]:
    """Sorted relative paths of the hidden and system folders, whose files are no papers."""
    return sorted(prefix + name for prefix, _, names, _ in _walk(papers) for name in names)


def library_files(papers: Path) -> list[str]:
    """Sorted relative paths of bibliographies and lists of retracted papers; links that lead out of
    the folder are left out."""
    root = papers.resolve()
    return sorted(
        prefix + name
        for prefix, _, _, names in _walk(papers)
        for name in names
        if is_library(name)
        and not is_passed_over(name)
        and (papers / f"{prefix}{name}").resolve().is_relative_to(root)
    )


def is_library(name: str) -> bool:
    """Whether a file of that name is a bibliography or a list of retracted papers."""
    return name.lower().endswith(LIBRARY_SUFFIXES) or name.lower() in RETRACTION_LISTS


def is_passed_over(name: str) -> bool:
    """Whether a file of that name is ignored: hidden, half written, a backup or a README."""
    lowered = name.lower()
    return (
        name.startswith((".", "~"))
        or lowered.endswith(("~", STAGED_SUFFIX))
        or lowered in _IGNORED_NAMES
    )


def _first_names(names: Sequence[str], separator: str) -> str:
    """The first five names, and how many more there are."""
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return legible(separator.join(names[:_MAX_NAMED])) + more


def _candidate(papers: Path, relative: str, root: Path, limits: ParseLimits) -> PaperFile:
    """The file with its problem, if it has one. root: `papers` without links."""
    path, name = papers / relative, relative.encode("utf-8", "replace").decode("utf-8")
    problem = _problem(path, root, limits)
    if name != relative:
        problem = problem or "has a name that is not valid UTF-8. Rename the file."
    return PaperFile(path, name, problem)


def file_problem(path: Path, limits: ParseLimits) -> str:
    """Why the file cannot be parsed, whatever its content is; empty if it may be."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return "is not a regular file. Put the paper itself here."
    except FileNotFoundError:
        return "does not exist. Put the file there or take its name out of the list."
    except OSError as error:
        return CANNOT_BE_OPENED.format(reason=error.strerror)
    if not status.st_size:
        return "is empty (0 bytes). Put the paper here again."
    if status.st_size > limits.max_file_mb * _BYTES_PER_MB:
        return (
            f"has {status.st_size / _BYTES_PER_MB:.1f} MB, more than the {limits.max_file_mb:g} MB of "
            "parsing.limits.max_file_mb. Raise the limit or split the file."
        )
    return ""


def _problem(path: Path, root: Path, limits: ParseLimits) -> str:
    if path.is_symlink():
        try:
            target = path.resolve(strict=True)
        except (OSError, RuntimeError):
            return "is a link that leads nowhere. Put the file itself here."
        if not target.is_relative_to(root):
            return "is a link that leads out of the papers folder. Put the file itself here."
    if path.is_dir():
        return "is a folder that cannot be listed. Give this user the right to read it."
    return file_problem(path, limits)


def _unique_ids(paths: Collection[str]) -> dict[str, str]:
    """Path of each paper -> its id.

    The id is the stem, "a/main" -> "main"; if several papers have that stem, the path, "a__main";
    if these are equal too, the path with a hash. paths: paths without suffixes. The ids do not
    depend on the order of the papers or on earlier runs.
    """
    by_stem = {path: safe_id(path.rpartition("/")[2]) for path in paths}
    n_with_stem = Counter(by_stem.values())
    ids = {
        path: stem_id if n_with_stem[stem_id] == 1 else safe_id(path.replace("/", _PATH_SEPARATOR))
        for path, stem_id in by_stem.items()
    }
    n_with_id = Counter(ids.values())
    return {
        path: paper_id
        if n_with_id[paper_id] == 1 or "/" not in path
        else f"{paper_id}-{_short_hash(path)}"
        for path, paper_id in ids.items()
    }


def _split_papers(
    groups: Mapping[str, Sequence[PaperFile]], ids: Mapping[str, str]
) -> Iterator[str]:
    """Stems that occur in several folders, each time with other suffixes: probably the user means
    one paper ("a/main.pdf" and "b/main.xml"). Yields the stem with the ids of its papers."""
    by_stem: dict[str, list[str]] = {}
    for path in groups:
        by_stem.setdefault(path.rpartition("/")[2], []).append(path)
    for stem, paths in by_stem.items():
        if len(paths) == 1:
            continue
        suffixes = [{suffix_of(file.path.name) for file in groups[path]} for path in paths]
        if sum(map(len, suffixes)) == len(set.union(*suffixes)):
            yield f"{stem} ({', '.join(ids[path] for path in paths[:_MAX_NAMED])})"


def safe_id(stem: str) -> str:
    """A readable id, in which characters that file names, URLs or ids cannot have are replaced.

    If something was replaced, a short hash of the stem is added, so that two different stems never
    get the same id.
    """
    normal = unicodedata.normalize("NFC", stem)
    safe = _UNSAFE.sub("_", normal).strip(" .")[:_MAX_ID_CHARS]
    return safe if safe == normal else f"{safe or 'paper'}-{_short_hash(normal)}"


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
