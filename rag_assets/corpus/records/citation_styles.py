"""Writes papers as a text cites them, and their list of references: by authors and year, numbered,
or as a file for a reference manager (BibTeX, RIS, CSL-JSON), which can write any other style."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.core.domain import Person, Record
from rag_assets.core.errors import InvalidSelection
from rag_assets.core.settings import AUTHOR_YEAR, NUMERIC
from rag_assets.parsing.bibliographies import CSL_TYPE_OF_BIBTEX, CSL_TYPE_OF_RIS

_BIBTEX_TYPES, _RIS_TYPES = (
    {csl_type: entry_type for entry_type, csl_type in reversed(types.items())}
    for types in (CSL_TYPE_OF_BIBTEX, CSL_TYPE_OF_RIS)
)
"""The type of an entry for each type of CSL. If several are read as one type of CSL, the first is
written."""
_VENUE_FIELDS = {
    "article": "journal",
    "techreport": "institution",
    "phdthesis": "school",
    "book": "publisher",
}
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": "",
    "}": "",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
"""How characters are written in BibTeX. Braces are left out, since some readers fail on them and
they only protect capitals."""
_LATEX |= {sign: f"\\{sign}" for sign in "&%$#_"}
_ENDS_A_FIELD = str.maketrans(dict.fromkeys("{}\\"))
"""Characters removed from ids, which are not escaped: a brace in an id would end its field."""
_PARTS_NAMES = re.compile(r",|\band\b", re.IGNORECASE)
"""What separates names or their parts in BibTeX. A name with one of these is written in braces."""
_PUBLISHED_BY = ("report", "book", "thesis")
"""Types of works whose venue is their publisher."""
Records = Mapping[str, Record]


def _csl_json(records: Records) -> str:
    items = [csl_item(paper, record) for paper, record in records.items()]
    return json.dumps(items, indent=1, ensure_ascii=False) + "\n"


def csl_item(paper_id: str, record: Record) -> dict[str, Any]:
    """The record as an item of CSL-JSON:
    https://docs.citationstyles.org/en/stable/specification.html."""
    fields = {
        "title": record.title or paper_id,
        "author": [_csl_name(person) for person in record.authors],
        "issued": {"date-parts": [[record.year]]} if record.year else None,
        "publisher" if record.type in _PUBLISHED_BY else "container-title": record.venue,
        "volume": record.volume,
        "issue": record.issue,
        "page": record.pages,
        "DOI": record.doi,
        "PMID": record.pmid,
        "number": f"arXiv:{record.arxiv}" if record.arxiv else None,
        "URL": f"https://arxiv.org/abs/{record.arxiv}" if record.arxiv and not record.doi else None,
        "language": record.language,
    }
    # in CSL, an "article" is a preprint
    unpublished_type = "article" if record.arxiv else "document"
    default_type = "article-journal" if record.venue else unpublished_type
    return {"id": paper_id, "type": record.type or default_type} | {
        name: value for name, value in fields.items() if value
    }


def _csl_name(person: Person) -> dict[str, str]:
    """A person as CSL-JSON writes it; a name without parts is "literal"."""
    return (
        {"family": person.family, "given": person.given}
        if person.given
        else {"literal": person.family}
    )


def _bibtex(records: Records) -> str:
    keys = _unique_keys(records)
    return "\n".join(_bibtex_entry(keys[paper], record) for paper, record in records.items())


def _unique_keys(records: Records) -> dict[str, str]:
    """A different BibTeX key for each paper, made of characters that every reader accepts. If two
    ids become the same key, the second gets "__2"."""
    keys: dict[str, str] = {}
    for paper in records:
        bare = re.sub(r"[^A-Za-z0-9:_.+-]", "_", paper) or "paper"
        # earlier papers with the same key, numbered or not
        n_taken = sum(key == bare or key.startswith(f"{bare}__") for key in keys.values())
        keys[paper] = f"{bare}__{n_taken + 1}" if n_taken else bare
    return keys


def _bibtex_entry(key: str, record: Record) -> str:
    entry_type = _BIBTEX_TYPES.get(record.type or "", "article" if record.venue else "misc")
    fields = {
        "title": f"{{{_latex(record.title or key)}}}",
        "author": " and ".join(_bibtex_name(person) for person in record.authors),
        "year": str(record.year or ""),
        _VENUE_FIELDS.get(entry_type, "booktitle"): _latex(record.venue or ""),
        "volume": _latex(record.volume or ""),
        "number": _latex(record.issue or ""),
        "pages": _latex(record.pages or "").replace("-", "--"),
        "doi": (record.doi or "").translate(_ENDS_A_FIELD),
        "eprint": (record.arxiv or "").translate(_ENDS_A_FIELD),
        "archiveprefix": "arXiv" if record.arxiv else "",
    }
    field_lines = "".join(f",\n  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@{entry_type}{{{key}{field_lines}\n}}\n"


def _bibtex_name(person: Person) -> str:
    if not person.given:
        return f"{{{_latex(person.family)}}}"
    parts = (person.family, person.given)
    return ", ".join(
        f"{{{_latex(part)}}}" if _PARTS_NAMES.search(part) else _latex(part) for part in parts
    )


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _ris(records: Records) -> str:
    return "\n".join(
        "\n".join(_ris_lines(paper, record)) + "\n" for paper, record in records.items()
    )


def _ris_lines(paper_id: str, record: Record) -> Sequence[str]:
    first, _, last = (record.pages or "").partition("-")
    fields = [
        ("TY", _RIS_TYPES.get(record.type or "", "JOUR" if record.venue else "GEN")),
        ("ID", paper_id),
        ("TI", record.title or paper_id),
        *(
            ("AU", f"{author.family}, {author.given}" if author.given else author.family)
            for author in record.authors
        ),
        ("PY", str(record.year or "")),
        ("T2", record.venue or ""),
        ("VL", record.volume or ""),
        ("IS", record.issue or ""),
        ("SP", first),
        ("EP", last),
        ("DO", record.doi or ""),
    ]
    return [*(f"{tag}  - {' '.join(value.split())}" for tag, value in fields if value), "ER  - "]


FORMATS: Mapping[str, Callable[[Records], str]] = {
    "bibtex": _bibtex,
    "ris": _ris,
    "csl-json": _csl_json,
}
"""The function that writes a file, by the name of the format."""


_MOST_AUTHORS = 6


@dataclass(frozen=True)
class Sources:
    """Papers as a text cites them."""

    names: Mapping[str, str]
    """How the text names each paper ("[1]"), by paper_id."""
    references: tuple[str, ...]
    """The list below the text."""


def bibliography(records: Records, style: str) -> str:
    """The list of references of some papers. style: author-year, numeric, bibtex, ris or csl-json.
    Raises InvalidSelection for any other style."""
    if writer := FORMATS.get(style):
        return writer(records)
    if style not in (AUTHOR_YEAR, NUMERIC):
        raise InvalidSelection(
            f"There is no style {style}. Give {AUTHOR_YEAR} or {NUMERIC}; or {', '.join(FORMATS)} for a reference "
            "manager, which writes any other style."
        )
    entries = numbered(records).references if style == NUMERIC else _by_authors(records)
    return "".join(f"{entry}\n" for entry in entries)


def numbered(records: Records) -> Sources:
    """The papers numbered in their order."""
    names = {paper: f"[{number}]" for number, paper in enumerate(records, start=1)}
    return Sources(
        names, tuple(f"{names[paper]} {_entry(paper, record)}" for paper, record in records.items())
    )


def _by_authors(records: Records) -> list[str]:
    """The entries sorted by family names, then by year. Papers without authors come first, sorted
    by their entries."""
    sort_keys = {
        _entry(paper, record): (
            [person.family.casefold() for person in record.authors],
            record.year or 0,
        )
        for paper, record in records.items()
    }
    return sorted(sort_keys, key=lambda entry: (sort_keys[entry], entry))


def _entry(paper_id: str, record: Record) -> str:
    """A paper's entry in a list of references, without what is not known: "Ada Lund, Bo Moe. Iron
    in winter. Blood 3(2), 1-9, 2019. https://doi.org/10.1234/iron"."""
    et_al = ["et al"] if len(record.authors) > _MOST_AUTHORS else []
    authors = ", ".join([*(person.name for person in record.authors[:_MOST_AUTHORS]), *et_al])
    issue = f"({record.issue})" if record.issue else ""
    volume = " ".join(filter(None, (record.venue, f"{record.volume or ''}{issue}")))
    printed = ", ".join(filter(None, (volume, record.pages, str(record.year or ""))))
    link = f"arXiv:{record.arxiv}" if record.arxiv else ""
    if record.doi:
        link = f"https://doi.org/{record.doi}"
    sentences = (
        part if part.endswith((".", "?", "!")) else f"{part}."
        for part in (authors, record.title or paper_id, printed)
        if part
    )
    return " ".join(filter(None, (*sentences, link)))
