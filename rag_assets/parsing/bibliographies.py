"""Bibliographies in BibTeX, RIS and CSL-JSON, as Zotero and others export them.

The files are untrusted: an entry that cannot be read is told with its place, and the others are
used.
"""

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_assets.core.domain import Person, Record
from rag_assets.core.text.display import legible
from rag_assets.core.text.works import arxiv_ids_in, normal_arxiv, normal_doi, normal_pmid

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
