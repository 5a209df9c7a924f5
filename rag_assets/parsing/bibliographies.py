"""Bibliographies in BibTeX, RIS and CSL-JSON, as Zotero and others export them.

The files are untrusted: an entry that cannot be read is told with its place, and the others are
used.

The library of a reference manager is a list of papers too: a BibTeX file with attachments. Nothing
is written there, and no file outside of its folder is opened.
"""

import json
import logging
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from rag_assets.core.domain import Person, Record
from rag_assets.core.errors import MissingInput
from rag_assets.core.settings import ParseLimits
from rag_assets.core.text.display import legible
from rag_assets.core.text.works import arxiv_ids_in, normal_arxiv, normal_doi, normal_pmid
from rag_assets.core.workforce.processes import LocalProcesses
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.parsing.discovery import Paper, PaperFile, file_problem, safe_id
from rag_assets.parsing.registry import known_suffixes, stem_of

_MAX_MB, _MAX_VALUE_CHARS, _MAX_ENTRIES = 50, 20_000, 200_000
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_LATEX = re.compile(r"[\\$~]")
_FILE = re.compile(r"(?:^|;)(?:[^:;]{0,200}:)?([^:;]{1,500}\.\w{1,8})(?::[\w/.+-]{0,60})?(?=;|$)")
"""Attachments in BibTeX: "Full Text:files/12/a.pdf:application/pdf", or the path alone."""
OF_BIBTEX = {
    "article": "article-journal",
    "inproceedings": "paper-conference",
    "conference": "paper-conference",
    "incollection": "chapter",
    "inbook": "chapter",
    "book": "book",
    "phdthesis": "thesis",
    "mastersthesis": "thesis",
    "thesis": "thesis",
    "techreport": "report",
    "report": "report",
    "dataset": "dataset",
    "online": "webpage",
}
OF_RIS = {
    "JOUR": "article-journal",
    "CPAPER": "paper-conference",
    "CONF": "paper-conference",
    "CHAP": "chapter",
    "BOOK": "book",
    "THES": "thesis",
    "RPRT": "report",
    "DATA": "dataset",
}
"""Types of CSL 1.0 for those of BibTeX and RIS."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One work in a bibliography."""

    key: str
    record: Record
    files: tuple[str, ...]
    """Paths of its attachments as they are written there."""
    library: str
    """The file it is in, relative to the papers folder."""
    is_alone: bool = False
    """Whether the file holds no other entry."""


Read = tuple[list[Entry], list[str]]
"""The entries of one file, and what could not be read of it, each with its line."""


def content_of(path: Path) -> bytes | str:
    """The bytes of a bibliography, or what is wrong with it."""
    try:
        if path.stat().st_size > _MAX_MB * 1_000_000:
            return f"It has more than {_MAX_MB} MB. Export a part of the library."
        return path.read_bytes()
    except OSError as error:
        return f"It cannot be opened ({error.strerror})."


def entries_in(file: tuple[str, bytes]) -> Read:
    """file: name and content."""
    name, content = file
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return [], [f"It is not UTF-8 (byte {error.start}). Export it as UTF-8."]
    read = next(reader for suffix, reader in _READERS.items() if name.lower().endswith(suffix))
    found: list[tuple[str, Record, tuple[str, ...]]] = []
    problems: list[str] = []
    for one in read(text):
        if isinstance(one, str):
            problems.append(one)
        elif len(found) < _MAX_ENTRIES:
            found.append(one)
    return [Entry(*one, library=name, is_alone=len(found) == 1) for one in found], problems


_Entries = Iterator[tuple[str, Record, tuple[str, ...]] | str]
"""Key, record and attachments of an entry, or what is wrong with it."""


def _bibtex(text: str) -> _Entries:
    from bibtexparser.entrypoint import parse_string

    logging.getLogger("bibtexparser").setLevel(
        logging.CRITICAL
    )  # it logs each entry that it cannot read
    library = parse_string(text)
    for block in library.failed_blocks:
        reason = " ".join(str(block.error).split("\n")[-1].split())[:200]
        yield f"Line {(block.start_line or 0) + 1}: the entry cannot be read ({reason})."
    for entry in library.entries:
        fields = {field.key.lower(): str(field.value)[:_MAX_VALUE_CHARS] for field in entry.fields}
        files = tuple(
            path.replace("\\:", ":").strip() for path in _FILE.findall(fields.get("file", ""))
        )
        yield entry.key, _of_bibtex(entry.entry_type.lower(), fields), files


def _of_bibtex(kind: str, fields: Mapping[str, str]) -> Record:
    def plain(*names: str) -> str | None:
        return next(
            (text for name in names if (text := _without_latex(fields.get(name, "")))), None
        )

    is_arxiv = fields.get("archiveprefix", fields.get("eprinttype", "arxiv")).lower() == "arxiv"
    eprint = fields.get("eprint") if is_arxiv else None
    return Record(
        title=plain("title"),
        authors=_bibtex_persons(fields.get("author", "")),
        year=_year(fields.get("year") or fields.get("date")),
        venue=plain("journal", "journaltitle", "booktitle", "school", "institution", "publisher"),
        volume=plain("volume"),
        issue=plain("number", "issue"),
        pages=(plain("pages") or "").replace("--", "-") or None,
        doi=normal_doi(fields.get("doi")),
        arxiv=normal_arxiv(eprint) or next(iter(arxiv_ids_in(fields.get("journal", ""))), None),
        pmid=normal_pmid(fields.get("pmid")),
        abstract=plain("abstract"),
        keywords=_keywords((plain("keywords") or "").replace(";", ",").split(",")),
        language=plain("langid", "language"),
        licence=plain("license", "licence", "rights"),
        type=OF_BIBTEX.get(kind),
    )


def _bibtex_persons(text: str) -> tuple[Person, ...]:
    from bibtexparser.middlewares.names import (
        parse_single_name_into_parts,
        split_multiple_persons_names,
    )

    found = []
    for name in split_multiple_persons_names(text):
        if name.lower() == "others":
            continue
        if name.startswith("{") and name.endswith("}"):
            found.append(Person(_without_latex(name)))
            continue
        try:
            parts = parse_single_name_into_parts(name)
        except ValueError:  # more commas than a name may have
            found.append(Person(_without_latex(name)))
            continue
        given, family = (
            _without_latex(" ".join(words)) for words in (parts.first, (*parts.von, *parts.last))
        )
        found.append(Person(family or given, given if family else ""))
    return tuple(one for one in found if one.family)


def _without_latex(text: str) -> str:
    from pylatexenc.latex2text import LatexNodes2Text

    plain = text
    if _LATEX.search(text):
        logging.getLogger("pylatexenc").setLevel(
            logging.CRITICAL
        )  # it logs each macro that lacks its argument
        try:
            plain = LatexNodes2Text(math_mode="verbatim").latex_to_text(text)
        except (
            RecursionError,
            ValueError,
            KeyError,
            IndexError,
        ):  # as pylatexenc reports broken LaTeX
            plain = text
    return _one_line(plain.replace("{", "").replace("}", ""))


def _ris(text: str) -> _Entries:
    import rispy

    lines = text.splitlines()
    starts = [at for at, line in enumerate(lines) if line.startswith("TY  -")]
    if not starts:
        yield "Line 1: it holds no entry of RIS, which begins with TY  -."
        return
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        try:
            (fields,) = rispy.loads(
                "\n".join([*lines[start:end], "ER  - "]) + "\n", skip_unknown_tags=True
            )[:1]
        except (rispy.parser.ParseError, ValueError, KeyError, IndexError) as error:
            yield f"Line {start + 1}: the entry cannot be read ({' '.join(str(error).split())[:200]})."
            continue
        files = tuple(
            str(value) for name, value in fields.items() if name.startswith("file_attachments")
        )
        yield str(fields.get("id", "")), _of_ris(fields), files


def _of_ris(fields: Mapping[str, Any]) -> Record:
    def stated(*names: str) -> str | None:
        return next((text for name in names if (text := _text(fields.get(name)))), None)

    pages = [page for name in ("start_page", "end_page") if (page := stated(name))]
    names = fields.get("authors") or fields.get("first_authors") or ()
    return Record(
        title=stated("title", "primary_title"),
        authors=tuple(_family_first(one) for name in names if (one := _text(name))),
        year=_year(stated("year", "publication_year", "date")),
        venue=stated("journal_name", "secondary_title", "alternate_title3", "alternate_title1"),
        volume=stated("volume"),
        issue=stated("number"),
        pages="-".join(dict.fromkeys(pages)) or None,
        doi=normal_doi(stated("doi")),
        abstract=stated("abstract", "notes_abstract"),
        keywords=_keywords(fields.get("keywords") or ()),
        language=stated("language"),
        type=OF_RIS.get(str(fields.get("type_of_reference"))),
    )


def _csl_json(text: str) -> _Entries:
    try:
        items = json.loads(text)
    except (ValueError, RecursionError) as error:
        yield f"It is no JSON ({error})."
        return
    for nth, item in enumerate(items if isinstance(items, list) else [items], start=1):
        if isinstance(item, dict):
            yield _text(item.get("id")) or "", record_of_csl(item), ()
        else:
            yield f"Entry {nth} is no object of CSL-JSON."


def record_of_csl(item: Mapping[str, Any]) -> Record:
    """The record that an item of CSL-JSON states; values of other types than theirs are left
    out."""

    def stated(name: str) -> str | None:
        return _text(item.get(name))

    issued = item.get("issued")
    parts = (
        issued.get("date-parts") or issued.get("raw") or issued.get("literal")
        if isinstance(issued, dict)
        else None
    )
    authors = item.get("author")
    return Record(
        title=stated("title"),
        authors=tuple(filter(None, map(_csl_person, authors if isinstance(authors, list) else ()))),
        year=_year(str(parts)),
        venue=stated("container-title") or stated("publisher"),
        volume=stated("volume"),
        issue=stated("issue"),
        pages=stated("page"),
        doi=normal_doi(stated("DOI")),
        arxiv=next(iter(arxiv_ids_in(stated("number") or "")), None),
        pmid=normal_pmid(stated("PMID")),
        abstract=stated("abstract"),
        keywords=_keywords((stated("keyword") or "").split(",")),
        language=stated("language"),
        licence=stated("license"),
        type=stated("type"),
    )


def _csl_person(value: object) -> Person | None:
    if not isinstance(value, dict):
        return None
    particle, family = (_text(value.get(name)) for name in ("non-dropping-particle", "family"))
    whole = " ".join(filter(None, (particle, family or _text(value.get("literal")))))
    return Person(whole, _text(value.get("given")) or "") if whole else None


def _family_first(name: str) -> Person:
    family, _, given = (part.strip() for part in name.partition(","))
    return Person(family, given)


def _keywords(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for value in values if (text := _text(value))))


def _text(value: object) -> str | None:
    if not isinstance(value, str | int):
        return None
    return _one_line(str(value)[:_MAX_VALUE_CHARS]) or None


def _one_line(text: str) -> str:
    return legible(
        " ".join(text.split())
    )  # line ends first: legible takes "\r" for a control character


def _year(text: str | None) -> int | None:
    found = _YEAR.search(text or "")
    return int(found[0]) if found else None


_READERS: dict[str, Callable[[str], _Entries]] = {
    ".bib": _bibtex,
    ".ris": _ris,
    ".csl.json": _csl_json,
}


BIBTEX = ".bib"
_WEB_PAGES = (".html", ".htm")
"""Reference managers keep a snapshot of the web page beside the paper itself."""


def is_reference_library(listing: Path) -> bool:
    """Whether the setting `paper_list` names a library, not a table."""
    return listing.suffix.lower() == BIBTEX


def entries_of(library: Path, papers: Path, limits: ParseLimits) -> tuple[list[Entry], list[str]]:
    """The items of a library with their attachments relative to the papers folder, and what could
    not be read of it.

    Raises MissingInput when nothing of it can be read.
    """
    entries, problems = _read(library, limits)
    folder = library.parent
    named = [
        replace(one, files=tuple(_name_of(folder / path, papers) for path in one.files))
        for one in entries
    ]
    return named, problems


def _read(library: Path, limits: ParseLimits) -> Read:
    if not library.is_file():
        raise MissingInput(
            f"{library}, which the setting paper_list names, does not exist. Export it again or unset the setting."
        )
    content = content_of(library)
    entries, problems = (
        ([], [content]) if isinstance(content, str) else _taken_apart(library.name, content, limits)
    )
    if problems and not entries:
        raise MissingInput(
            f"{library}, which the setting paper_list names, cannot be read. {problems[0]}"
        )
    return entries, problems


@lru_cache(1)  # a server lists the papers at every request
def _taken_apart(name: str, content: bytes, limits: ParseLimits) -> Read:
    """The entries of a file, in a process that can be stopped."""
    with closing(LocalProcesses(1)) as processes:
        [(_, made)] = processes.map(entries_in, [(name, content)], limits)
    return ([], [f"It {made.reason}."]) if isinstance(made, Failure) else made


def papers_in(library: Path, papers: Path, limits: ParseLimits) -> list[Paper]:
    """The papers of a library: attachments of one item with the same stem are one paper. Its id is
    the stem, with the key of the item where two items share it. A file that cannot be used keeps
    its problem. Raises as `entries_of`."""
    folder = library.parent
    root = folder.resolve()
    found: list[tuple[str, str, list[PaperFile]]] = []
    for entry in _read(library, limits)[0]:
        files = [_file(folder / path, papers, root, limits) for path in dict.fromkeys(entry.files)]
        by_stem: dict[str, list[PaperFile]] = {}
        for file in _meant(files):
            by_stem.setdefault(_stem(file), []).append(file)
        found += ((stem, entry.key, own) for stem, own in by_stem.items())
    n_with = Counter(safe_id(stem) for stem, _, _ in found)
    named = {
        safe_id(stem if n_with[safe_id(stem)] == 1 else f"{stem}-{key}"): tuple(own)
        for stem, key, own in found
    }
    return [Paper(paper_id, files) for paper_id, files in named.items()]


def _meant(files: Sequence[PaperFile]) -> Iterable[PaperFile]:
    """The files of a known suffix, without web pages if there is any other; all files, if none has
    a known suffix."""
    known = [file for file in files if stem_of(file.relative)] or files
    return [file for file in known if not file.relative.lower().endswith(_WEB_PAGES)] or known


def _stem(file: PaperFile) -> str:
    name = PurePosixPath(file.relative).name
    return stem_of(name) or name


def _name_of(path: Path, papers: Path) -> str:
    return unicodedata.normalize(
        "NFC", Path(os.path.relpath(path.absolute(), papers.absolute())).as_posix()
    )


def _file(path: Path, papers: Path, root: Path, limits: ParseLimits) -> PaperFile:
    return PaperFile(path, _name_of(path, papers), _problem(path, root, limits))


def _problem(path: Path, root: Path, limits: ParseLimits) -> str:
    try:
        is_inside = path.resolve().is_relative_to(root)
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name that no file can have
        is_inside = False
    if not is_inside:
        return "lies outside of the library's folder, or is a link that leads there. Store a copy in the library."
    if not stem_of(path.name):
        return f"is of no kind that is read. Read are {', '.join(known_suffixes())}."
    return file_problem(path, limits)
