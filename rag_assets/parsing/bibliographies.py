"""Bibliographies in BibTeX, RIS and CSL-JSON, as Zotero and others export them.

The files are untrusted: an entry that cannot be read is reported with its line, and the others are
used.

The library of a reference manager can also name the papers of a corpus: it is a BibTeX file with
the paths of attachments. Nothing is written there, and no file outside of its folder is opened.
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
_ATTACHMENT = re.compile(
    r"(?:^|;)(?:[^:;]{0,200}:)?([^:;]{1,500}\.\w{1,8})(?::[\w/.+-]{0,60})?(?=;|$)"
)
"""Attachments in BibTeX: "Full Text:files/12/a.pdf:application/pdf", or the path alone."""
CSL_TYPE_OF_BIBTEX = {
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
CSL_TYPE_OF_RIS = {
    "JOUR": "article-journal",
    "CPAPER": "paper-conference",
    "CONF": "paper-conference",
    "CHAP": "chapter",
    "BOOK": "book",
    "THES": "thesis",
    "RPRT": "report",
    "DATA": "dataset",
}
"""Type of an entry in BibTeX, and in RIS -> type in CSL 1.0."""


CORRECTIONS = "corrections.csl.json"
"""The bibliography in the papers folder with what a person corrected; its keys are paper ids."""


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
    """The entries of a bibliography and its problems. file: name and content."""
    name, content = file
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return [], [f"It is not UTF-8 (byte {error.start}). Export it as UTF-8."]
    reader = next(reader for suffix, reader in _READERS.items() if name.lower().endswith(suffix))
    entries: list[tuple[str, Record, tuple[str, ...]]] = []
    problems: list[str] = []
    for result in reader(text):
        if isinstance(result, str):
            problems.append(result)
        elif len(entries) < _MAX_ENTRIES:
            entries.append(result)
    is_alone = len(entries) == 1
    return [
        Entry(key, record, attachments, name, is_alone) for key, record, attachments in entries
    ], problems


_Entries = Iterator[tuple[str, Record, tuple[str, ...]] | str]
"""Key, record and attachments of each entry; for an entry that cannot be read, the problem as a
sentence."""


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
            path.replace("\\:", ":").strip() for path in _ATTACHMENT.findall(fields.get("file", ""))
        )
        yield entry.key, _bibtex_record(entry.entry_type.lower(), fields), files


def _bibtex_record(kind: str, fields: Mapping[str, str]) -> Record:
    def plain(*names: str) -> str | None:
        """The first of these fields that is not empty, without LaTeX commands."""
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
        type=CSL_TYPE_OF_BIBTEX.get(kind),
    )


def _bibtex_persons(text: str) -> tuple[Person, ...]:
    from bibtexparser.middlewares.names import (
        parse_single_name_into_parts,
        split_multiple_persons_names,
    )

    persons = []
    for name in split_multiple_persons_names(text):
        if name.lower() == "others":
            continue
        if name.startswith("{") and name.endswith("}"):  # an organisation: {World Bank}
            persons.append(Person(_without_latex(name)))
            continue
        try:
            parts = parse_single_name_into_parts(name)
        except ValueError:  # more commas than a name may have
            persons.append(Person(_without_latex(name)))
            continue
        given = _without_latex(" ".join(parts.first))
        family = _without_latex(" ".join((*parts.von, *parts.last)))
        persons.append(Person(family, given) if family else Person(given))
    return tuple(person for person in persons if person.family)


def _without_latex(text: str) -> str:
    """The text on one line, without LaTeX commands and braces; formulas and broken LaTeX stay."""
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
        yield str(fields.get("id", "")), _ris_record(fields), files


def _ris_record(fields: Mapping[str, Any]) -> Record:
    def field_text(*names: str) -> str | None:
        """The first of these fields that is not empty."""
        return next((text for name in names if (text := _text(fields.get(name)))), None)

    pages = [page for name in ("start_page", "end_page") if (page := field_text(name))]
    names = fields.get("authors") or fields.get("first_authors") or ()
    return Record(
        title=field_text("title", "primary_title"),
        authors=tuple(_family_first(text) for name in names if (text := _text(name))),
        year=_year(field_text("year", "publication_year", "date")),
        venue=field_text("journal_name", "secondary_title", "alternate_title3", "alternate_title1"),
        volume=field_text("volume"),
        issue=field_text("number"),
        pages="-".join(dict.fromkeys(pages)) or None,  # a single page is start and end
        doi=normal_doi(field_text("doi")),
        abstract=field_text("abstract", "notes_abstract"),
        keywords=_keywords(fields.get("keywords") or ()),
        language=field_text("language"),
        type=CSL_TYPE_OF_RIS.get(str(fields.get("type_of_reference"))),
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
    """The record of an item of CSL-JSON. Values whose type is not the one that CSL-JSON demands are
    left out."""

    def field_text(name: str) -> str | None:
        return _text(item.get(name))

    issued = item.get("issued")
    date = None
    if isinstance(issued, dict):
        date = issued.get("date-parts") or issued.get("raw") or issued.get("literal")
    authors = item.get("author")
    return Record(
        title=field_text("title"),
        authors=tuple(filter(None, map(_csl_person, authors if isinstance(authors, list) else ()))),
        year=_year(str(date)),
        venue=field_text("container-title") or field_text("publisher"),
        volume=field_text("volume"),
        issue=field_text("issue"),
        pages=field_text("page"),
        doi=normal_doi(field_text("DOI")),
        arxiv=next(iter(arxiv_ids_in(field_text("number") or "")), None),
        pmid=normal_pmid(field_text("PMID")),
        abstract=field_text("abstract"),
        keywords=_keywords((field_text("keyword") or "").split(",")),
        language=field_text("language"),
        licence=field_text("license"),
        type=field_text("type"),
    )


def _csl_person(value: object) -> Person | None:
    if not isinstance(value, dict):
        return None
    particle, family = (_text(value.get(name)) for name in ("non-dropping-particle", "family"))
    whole = " ".join(filter(None, (particle, family or _text(value.get("literal")))))
    return Person(whole, _text(value.get("given")) or "") if whole else None


def _family_first(name: str) -> Person:
    """The person of a name such as "Curie, Marie"."""
    family, _, given = (part.strip() for part in name.partition(","))
    return Person(family, given)


def _keywords(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for value in values if (text := _text(value))))


def _text(value: object) -> str | None:
    """The value on one line; None if it is empty, or neither a string nor a number."""
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
    """Whether the setting `paper_list` names the library of a reference manager, not a table."""
    return listing.suffix.lower() == BIBTEX


def entries_of(library: Path, papers: Path, limits: ParseLimits) -> tuple[list[Entry], list[str]]:
    """The entries of a library, and its problems. The paths of attachments are changed: they become
    relative to the papers folder, not to the library.

    Raises MissingInput when nothing of it can be read.
    """
    entries, problems = _read(library, limits)
    folder = library.parent
    moved = [
        replace(entry, files=tuple(relative_name(folder / path, papers) for path in entry.files))
        for entry in entries
    ]
    return moved, problems


def _read(library: Path, limits: ParseLimits) -> Read:
    if not library.is_file():
        raise MissingInput(
            f"{library}, which the setting paper_list names, does not exist. Export it again or unset the setting."
        )
    content = content_of(library)
    if isinstance(content, bytes):
        entries, problems = _entries_by_worker(library.name, content, limits)
    else:
        entries, problems = [], [content]
    if problems and not entries:
        raise MissingInput(
            f"{library}, which the setting paper_list names, cannot be read. {problems[0]}"
        )
    return entries, problems


@lru_cache(1)  # a server lists the papers at every request
def _entries_by_worker(name: str, content: bytes, limits: ParseLimits) -> Read:
    """`entries_in` in a process of its own, which is stopped when it passes the limits."""
    with closing(LocalProcesses(1)) as processes:
        [(_, result)] = processes.map(entries_in, [(name, content)], limits)
    return ([], [f"It {result.reason}."]) if isinstance(result, Failure) else result


def papers_in(library: Path, papers: Path, limits: ParseLimits) -> list[Paper]:
    """The papers of a library: attachments of one entry with the same stem are one paper. Its id is
    the stem; if several papers share a stem, the key of the entry is added. A file that cannot be
    used keeps its problem. Raises the errors of `entries_of`."""
    folder = library.parent
    root = folder.resolve()
    groups: list[tuple[str, str, list[PaperFile]]] = []
    """Stem, key of the entry, and files of each paper."""
    entries, _ = _read(library, limits)
    for entry in entries:
        files = [_file(folder / path, papers, root, limits) for path in dict.fromkeys(entry.files)]
        by_stem: dict[str, list[PaperFile]] = {}
        for file in _paper_files(files):
            by_stem.setdefault(_stem(file), []).append(file)
        groups += ((stem, entry.key, group) for stem, group in by_stem.items())
    n_papers_of = Counter(safe_id(stem) for stem, _, _ in groups)
    by_id = {
        safe_id(stem if n_papers_of[safe_id(stem)] == 1 else f"{stem}-{key}"): tuple(group)
        for stem, key, group in groups
    }
    return [Paper(paper_id, files) for paper_id, files in by_id.items()]


def _paper_files(files: Sequence[PaperFile]) -> Iterable[PaperFile]:
    """The attachments that are the paper itself: those of a known suffix, and web pages only if
    there is nothing else. If no file has a known suffix, all files, so that they are reported."""
    known = [file for file in files if stem_of(file.relative)] or files
    return [file for file in known if not file.relative.lower().endswith(_WEB_PAGES)] or known


def _stem(file: PaperFile) -> str:
    name = PurePosixPath(file.relative).name
    return stem_of(name) or name


def relative_name(path: Path, papers: Path) -> str:
    """The path from the papers folder, with forward slashes."""
    return unicodedata.normalize(
        "NFC", Path(os.path.relpath(path.absolute(), papers.absolute())).as_posix()
    )


def _file(path: Path, papers: Path, root: Path, limits: ParseLimits) -> PaperFile:
    return PaperFile(path, relative_name(path, papers), _problem(path, root, limits))


def _problem(path: Path, root: Path, limits: ParseLimits) -> str:
    """Why the file cannot be parsed, as a phrase that can follow its name; empty if it may be."""
    try:
        is_inside = path.resolve().is_relative_to(root)
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name that no file can have
        is_inside = False
    if not is_inside:
        return "lies outside of the library's folder, or is a link that leads there. Store a copy in the library."
    if not stem_of(path.name):
        return f"is of no kind that is read. Read are {', '.join(known_suffixes())}."
    return file_problem(path, limits)
