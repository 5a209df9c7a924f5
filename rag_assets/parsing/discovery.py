"""Which papers there are, by a sweep of the papers folder.

Files are grouped into papers by folder and stem; no file is opened. A file that cannot be used
keeps its problem, so that it ends as a quarantined row that names the file and the remedy.
"""

import hashlib
import logging
import os
import re
import stat
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
"""Of bibliographies, which are no papers."""
RETRACTION_LISTS = ("retracted.txt", "retracted.csv")
"""Names of files that list the DOIs of retracted papers."""
_IGNORED_NAMES = frozenset({"readme.md", "readme.markdown", "readme.txt", INDEX_NAME})
CANNOT_BE_OPENED = "cannot be opened ({reason}). Give this user the right to read it, or remove it."
_BYTES_PER_MB = 1_000_000
_MAX_ID_CHARS = 120
_MAX_NAMED = 5
_PATH_SEPARATOR = "__"
"""Separates the folders and the stem in an id by path; file names and URLs cannot contain "/"
there."""
_UNSAFE = re.compile(r"[^\w .,;()\[\]{}+=~@&'!%$-]")
"""Not in an id: path separators, what Windows forbids, control characters, and "#", which parts
passage ids."""


@dataclass(frozen=True)
class PaperFile:
    path: Path
    relative: str
    """From the papers folder, with forward slashes."""
    problem: str = ""
    """Why it cannot be parsed, as a phrase that can follow its name; empty when nothing is known
    against it."""
    sha256: str = ""
    """SHA-256 of its bytes; empty until they are read."""
    format: Format | None = None
    """Its format by content; None until that is read, and when it cannot be parsed."""
    read_by: str = ""
    """Set if this stands for what a service makes of the PDF at `path`: the service, with its
    version unless it failed. Then `sha256` is the key under which the reading is kept."""


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
    """Sweep `papers` with all its folders; sorted by path, the same on every machine.

    Hidden files, READMEs, half-written files and backups are passed over; files of unknown suffix
    too, with a warning. Files are one paper when they have the same folder and the same stem. The
    id of a paper is its stem; papers whose stem occurs in several folders get ids by path,
    `2301.00001/main.pdf` becomes `2301.00001__main`. Raises MissingInput when the folder is not
    there: an unmounted disk must not read as "all papers were deleted".
    """
    demand_folder(papers)
    root = papers.resolve()
    groups: dict[str, list[PaperFile]] = {}
    candidates, unknown = _sweep(papers)
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
            _some(unknown, ", "),
            known,
        )
    if split := list(_split_papers(groups, ids)):
        logger.warning(
            "Taken for different papers, because their files lie in different folders: %s. Put the files of one paper "
            "into one folder.",
            _some(split, "; "),
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
    """Fingerprint of path, size and time of change of every candidate file and every bibliography.

    Cheap (nothing is opened), for a sensor: equal hashes mean that nothing needs to be looked at.
    Raises MissingInput when the folder is not there.
    """
    demand_folder(papers)
    return fingerprint(
        [
            _manifest_entry(f"{papers}/{relative}", relative)
            for relative in (*_sweep(papers)[0], *library_files(papers), INDEX_NAME)
        ]
    )


def manifest_of(files: Iterable[Path]) -> str:
    """The same for a list of files."""
    return fingerprint(
        [_manifest_entry(str(path), str(path)) for path in sorted(file.resolve() for file in files)]
    )


def _manifest_entry(path: str, name: str) -> tuple[str, int, int]:
    try:
        found = os.stat(path)  # noqa: PTH116 - paths as objects take as long as all else
    except OSError:
        return name, -1, -1
    return name, found.st_size, found.st_mtime_ns


def _sweep(papers: Path) -> tuple[list[str], list[str]]:
    """Sorted relative paths of candidates, and of files that a user may have meant but of no known
    suffix.

    Candidates are files of known suffixes, links to folders outside, and folders that cannot be
    listed.
    """
    root = papers.resolve()
    found: list[str] = []
    unknown: list[str] = []
    unlisted: list[OSError] = []
    for folder, subfolders, names in os.walk(papers, onerror=unlisted.append):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        links = (name for name in subfolders if Path(folder, name).is_symlink())
        linked = [name for name in links if not Path(folder, name).resolve().is_relative_to(root)]
        within = Path(folder).relative_to(papers).as_posix()
        prefix = "" if within == "." else f"{within}/"
        found += [prefix + name for name in linked]
        for name in names:
            if not is_passed_over(name) and not is_library(name):
                (found if stem_of(name) else unknown).append(prefix + name)
    found += [Path(error.filename).relative_to(papers).as_posix() for error in unlisted]
    by_folder = methodcaller("split", "/")
    return sorted(found, key=by_folder), sorted(unknown, key=by_folder)


def library_files(papers: Path) -> list[str]:
    """Relative paths of bibliographies and lists of retracted papers, sorted; links that lead out
    are left out."""
    root = papers.resolve()
    found = []
    for folder, subfolders, names in os.walk(papers):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        paths = (
            Path(folder, name) for name in names if is_library(name) and not is_passed_over(name)
        )
        found += [
            path.relative_to(papers).as_posix()
            for path in paths
            if path.resolve().is_relative_to(root)
        ]
    return sorted(found)


def is_library(name: str) -> bool:
    """Whether a file is a bibliography, or a list of retracted papers, by its name."""
    return name.lower().endswith(LIBRARY_SUFFIXES) or name.lower() in RETRACTION_LISTS


def is_passed_over(name: str) -> bool:
    """Whether a file of that name is ignored: hidden, half written, a backup or a README."""
    lowered = name.lower()
    return (
        name.startswith((".", "~"))
        or lowered.endswith(("~", STAGED_SUFFIX))
        or lowered in _IGNORED_NAMES
    )


def _some(names: Sequence[str], separator: str) -> str:
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return legible(separator.join(names[:_MAX_NAMED])) + more


def _candidate(papers: Path, relative: str, root: Path, limits: ParseLimits) -> PaperFile:
    path, name = papers / relative, relative.encode("utf-8", "replace").decode("utf-8")
    problem = _problem(path, root, limits)
    if name != relative:
        problem = problem or "has a name that is not valid UTF-8. Rename the file."
    return PaperFile(path, name, problem)


def file_problem(path: Path, limits: ParseLimits) -> str:
    """Why the file cannot be parsed whatever is in it; empty if it may be."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return "is not a regular file. Put the paper itself here."
    except FileNotFoundError:
        return "does not exist. Put the file there or take its name out of the list."
    except OSError as error:
        return CANNOT_BE_OPENED.format(reason=error.strerror)
    if not found.st_size:
        return "is empty (0 bytes). Put the paper here again."
    if found.st_size > limits.max_file_mb * _BYTES_PER_MB:
        return (
            f"has {found.st_size / _BYTES_PER_MB:.1f} MB, more than the {limits.max_file_mb:g} MB of "
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
    """The id of each paper: by stem, by path where papers share the stem, with a hash where these
    are equal too.

    paths: without suffixes. Depends on which papers there are, not on their order or on earlier
    sweeps.
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
    """Stems whose files have different suffixes and lie in different folders: they may be meant as
    one paper."""
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
    """A readable id without characters that file names, urls or ids here cannot have.

    A stem that needed a replacement gets a short hash of the original, so two stems never share an
    id because of it.
    """
    normal = unicodedata.normalize("NFC", stem)
    safe = _UNSAFE.sub("_", normal).strip(" .")[:_MAX_ID_CHARS]
    return safe if safe == normal else f"{safe or 'paper'}-{_short_hash(normal)}"


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
