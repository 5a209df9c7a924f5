"""Holds a header against the printed first page, and reads from the page what no header states.

What the page contradicts is left out: a value that is wrong is worse than none. Of a paper without
a PDF the header counts as it is, apart from what a template prints.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from rag_assets.core.domain import (
    NO_RECORD,
    BlockKind,
    Document,
    Person,
    PrintedFront,
    Record,
    SourceFormat,
    Zone,
)
from rag_assets.core.text.folding import letters_of
from rag_assets.core.text.names import (
    names_an_institution,
    ordinary_words,
    reported_period,
    without_reported_periods,
)
from rag_assets.core.text.works import (
    arxiv_ids_in,
    dois_in,
    is_about_retractions,
    is_label_of,
    is_notice,
    is_stamp,
    normal_arxiv,
    normal_doi,
    opens_with_label,
)
from rag_assets.corpus.records.byline import (
    below_title,
    byline,
    may_name_one,
    person_of,
    persons_in,
    persons_set_alike,
)

_TEMPLATE = re.compile(
    r"\b(?:Woodstock|Conference acronym|20XX)\b|n{5,}|X{5,}|10\.1145/1122445\.1122456",
    re.IGNORECASE,
)
"""What LaTeX classes print where an author has filled nothing in."""
_YEAR = re.compile(r"(?<![\d.-])((?:19|20)\d\d)(?!\d|-(?!(?:0[1-9]|1[0-2])\b))")
_IN_TEXT_MARK = re.compile(r"\([^()\d]{3,60}, (?:19|20)\d\d[a-z]?\)")
"""A reference to another work, "(Lund et al., 2019)"."""
_STAMP = re.compile(r"arXiv:\S{1,30}\s+\[[\w.-]{1,20}\]\s+\d{1,2} \w{3} ((?:19|20)\d\d)")
_OF_PUBLICATION = (
    re.compile(
        r"^\W*published(?: online)?\b|^\W*publication date\b|^\W*issue date\b", re.IGNORECASE
    ),
    re.compile(
        r"©|\(c\) (?:19|20)|\bcopyright\b|\ball rights reserved\b|"
        r"\bvol(?:ume)?\b|\bissue\b|\bconference\b|\bproceedings\b|;\s?\d+\s?\(\d+\)",
        re.IGNORECASE,
    ),
    re.compile(
        r"^\W*(?:draft version )?(?:\d{1,2} )?[A-Z][a-z]{2,8}\.?(?: \d{1,2})?,? (?:19|20)\d\d\W*$"
        r"|^\W*(?:19|20)\d\d-\d\d-\d\d\W*$"
    ),
)
"""Lines of a first page that tell when a paper appeared, the surest first."""
_HANDED_IN = re.compile(r"\b(?:received|revised|revised form|accepted)\W*$", re.IGNORECASE)
"""The date below such a line is not when the paper appeared."""
_OF_READER = re.compile(r"\b(?:download|accessed|retrieved|printed on)", re.IGNORECASE)
_MOST_LINE_CHARS = 200
_FIRST_BLOCKS = 40
_BLOCKS_AT_ENDS = 6
"""A notice of retraction is among so many of a paper's first or last blocks, or on its first
page."""
HEADER, PAGE = "header", "first page"
WITH_METADATA = "first page and metadata"
NOT_FOUND = "not printed where it was looked for: "
_ASKED_FOR = ("title", "authors", "year", "doi")
"""Fields of which a record says where they were looked for, if they are null."""
Sourced = tuple[Record, dict[str, str]]
"""A record, and for each field that is known where its value comes from."""
_FIELDS = tuple(Record.__dataclass_fields__)


def sourced(record: Record, source: str) -> Sourced:
    return record, {name: source for name in _FIELDS if getattr(record, name) not in (None, ())}


def record_of(document: Document, abstract: str | None) -> Sourced:
    """The record of a document by its header and its printed page."""
    own = document.header
    printed = document.printed
    if document.source not in (SourceFormat.TEI, SourceFormat.PDF) and not own.authors:
        blocks = document.blocks[:_FIRST_BLOCKS]
        on_first = (block.text for block in blocks if block.page_start in (None, 1))
        text = printed.text if printed else "\n".join((*on_first, *document.margins))
        lines = [block.text for block in blocks if block.page_start in (None, 1, 2)]
        printed = PrintedFront(document.title, tuple(lines), text)
    own = _without_template(
        replace(own, title=own.title or document.title or None, abstract=abstract)
    )
    own = replace(own, doi=normal_doi(own.doi), arxiv=normal_arxiv(own.arxiv))
    confirmed = (
        _confirmed(own, printed)
        if printed
        else sourced(replace(own, authors=_plausible(own.authors)), HEADER)
    )
    record, origins = confirmed
    looked_in = " and ".join(
        [HEADER] * (document.header != NO_RECORD) + [PAGE] * (printed is not None)
    )
    missing = [name for name in _ASKED_FOR if getattr(record, name) in (None, ())]
    origins |= dict.fromkeys(missing, f"{NOT_FOUND}{looked_in or 'the text'}")
    if place := _says_retracted(document):
        by = f"the paper itself, {place}"
        return replace(record, retracted=by), origins | {"retracted": by}
    return record, origins


def _says_retracted(document: Document) -> str:
    """Where a paper says that it was retracted: "title", "p. 1", "text"; empty where it does
    not."""
    printed = document.printed
    body = [
        block
        for block in document.blocks
        if block.zone is not Zone.BACK and block.kind is not BlockKind.TABLE
    ]
    titles = (document.title, document.header.title or "", printed.title if printed else "")
    is_about = is_about_retractions((*titles, *(block.text for block in body)))
    if any(is_label_of(title, in_capitals=is_about) for title in titles):
        return "title"
    page = "\n".join([*document.margins, *([printed.text] if printed else [])])
    if any(map(is_stamp, page.split("\n"))) or (not is_about and is_notice(page)):
        return "p. 1"
    for at, block in enumerate(body):
        is_first = at < _BLOCKS_AT_ENDS
        is_said = is_notice(block.text) or (is_first and opens_with_label(block.text))
        is_near = is_first or block.page_start == 1 or at >= len(body) - _BLOCKS_AT_ENDS
        if is_near and (is_stamp(block.text) or (is_said and not is_about)):
            return f"p. {block.page_start}" if block.page_start else "text"
    return ""


def _plausible(stated: Sequence[Person]) -> tuple[Person, ...]:
    """The persons of a header that no page confirms, without places of work and pieces of other
    names; none if it names one twice, since it was then read from two lists."""
    names = [letters_of(one.name) for one in stated]
    if len(set(names)) < len(names):
        return ()
    pieces = {name for name in names for other in names if name != other and name in other}
    persons = zip(stated, names, strict=True)
    return tuple(
        one for one, name in persons if name not in pieces and not names_an_institution(one.name)
    )


def _without_template(record: Record) -> Record:
    def own(value: str | None) -> str | None:
        return None if value and _TEMPLATE.search(value) else value

    return replace(
        record,
        title=own(record.title),
        venue=own(record.venue),
        volume=own(record.volume),
        doi=own(record.doi),
    )


def _confirmed(own: Record, printed: PrintedFront) -> Sourced:
    title = _title(own, printed)
    below = below_title(printed.lines, title or "")
    authors = _authors(own.authors, below, printed)
    ids = arxiv_ids_in(printed.text)
    record = replace(
        own,
        title=title,
        authors=authors,
        year=_year(own.year, without_reported_periods(printed.text)),
        venue=own.venue or printed.company or None,
        type=own.type or ("report" if printed.company else None),
        about=reported_period(printed.text) if printed.company else None,
        doi=_doi(own.doi, dois_in(printed.text), dois_in(printed.metadata)),
        arxiv=own.arxiv or (ids[0] if len(ids) == 1 else None),
    )
    is_held = own.authors or own.year or own.doi
    origins = {
        name: HEADER if value == getattr(own, name) and is_held else PAGE
        for name in _FIELDS
        if (value := getattr(record, name)) not in (None, ())
    }
    if title and letters_of(title) in letters_of(printed.metadata):
        origins["title"] = WITH_METADATA
    if authors and all(
        letters_of(one.family) in letters_of(printed.stated_authors) for one in authors
    ):
        origins["authors"] = WITH_METADATA
    return record, origins


def _title(own: Record, printed: PrintedFront) -> str | None:
    """The title that the page shows; where header and page differ, the one that stands above the
    authors."""
    stated, shown = letters_of(own.title or ""), letters_of(printed.title)
    if stated == shown or not stated:
        return printed.title or own.title
    if stated not in letters_of(f"{printed.text}\n{' '.join(printed.lines)}"):
        return printed.title or None
    rest = stated.removeprefix(shown)
    if shown and rest != stated:  # longer: the page sets it on two lines, or an author is appended
        is_author = any(letters_of(person.family) in rest for person in own.authors)
        return printed.title if is_author else own.title
    if shown.startswith(stated):
        return printed.title
    return min(
        (own.title or "", printed.title),
        key=lambda title: _lines_to_authors(title, own.authors, printed.lines),
    )


def _lines_to_authors(title: str, authors: Sequence[Person], lines: Sequence[str]) -> int:
    """How many lines stand between a title and the first that names an author; many where there is
    none."""
    below = below_title(lines, title) or []
    naming = (at for at, line in enumerate(below) if _printed_ones(authors, letters_of(line)))
    return next(naming, len(lines))


def _authors(
    stated: Sequence[Person], below: Sequence[str] | None, printed: PrintedFront
) -> tuple[Person, ...]:
    """The byline; one that cannot be read whole gives way to the stated authors, if it names all
    of them and no other person. A byline that most of these are missing from is not trusted.

    stated: by the header, or else by the metadata of the PDF.
    """
    if below is None:
        return ()
    stated = stated or persons_in(printed.stated_authors)
    region, in_words = byline(below, printed.text)
    read = _agreed(in_words or (), persons_set_alike(printed.set_alike, printed.text), stated)
    of_region = letters_of("\n".join((*region, *printed.set_alike)))
    there = _printed_ones(stated, of_region)
    known = {letters_of(one.name): one for one in there}
    if read and 2 * sum(letters_of(one.name) in known for one in read) >= len(there):
        return tuple(_with_details(one, known.get(letters_of(one.name))) for one in read)
    if not there or len(there) < len(stated) or _names_left(region, there, printed.text):
        return ()
    return tuple(_as_printed(one, region) for one in stated)


def _agreed(
    in_words: Sequence[Person], alike: Sequence[Person], stated: Sequence[Person]
) -> Sequence[Person]:
    """The authors by the words of the byline and by the style of its letters. Where they differ,
    those that are stated; the style else, which tells marks and places of work from names, unless
    it has only some of the names or another single one."""
    if not alike or not in_words:
        return alike or in_words
    words, style, known = (
        [letters_of(one.name) for one in persons] for persons in (in_words, alike, stated)
    )
    if words == style or known == style:
        return alike
    is_another = len(style) == 1 and not words[0].startswith(style[0])
    return in_words if known == words else () if is_another or set(style) < set(words) else alike


def _printed_ones(stated: Sequence[Person], region: str) -> list[Person]:
    """The persons whose whole names stand in the region, in its order; a part of another's name is
    none."""
    places: list[tuple[int, int, Person]] = []
    for person in stated:
        for name in (
            letters_of(f"{person.given}{person.family}"),
            letters_of(f"{person.family}{person.given}"),
        ):
            at = region.find(name) if len(name) > 1 else -1
            if at >= 0:
                places.append((at, at + len(name), person))
                break
    whole = [one for one in places if not any(_is_within(one[:2], other[:2]) for other in places)]
    return [person for _, _, person in sorted(whole, key=lambda one: one[0])]


def _is_within(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one != other and other[0] <= one[0] and one[1] <= other[1]


def _names_left(region: Sequence[str], persons: Sequence[Person], page: str) -> bool:
    """Whether the region may name another person: on a line by itself, or between two of these."""
    ordinary = ordinary_words(page)
    for line in region:
        places = [
            found.span()
            for one in persons
            if (found := re.search(_spaced(one), line, re.IGNORECASE))
        ]
        if not places and persons_in(line, ordinary):
            return True
        gaps = (line[end:start] for (_, end), (start, _) in pairwise(sorted(places)))
        if any(map(may_name_one, gaps)):
            return True
    return False


def _spaced(person: Person) -> str:
    words = re.findall(r"\w+", f"{person.given} {person.family}")
    return r"\W{0,4}".join(map(re.escape, words))


def _as_printed(person: Person, region: Sequence[str]) -> Person:
    """With the family name whole, "Del Balso" where a header has "Balso"."""
    found = re.search(_spaced(person), "\n".join(region), re.IGNORECASE)
    return _with_details(person_of(found[0]), person) if found else person


def _with_details(read: Person, known: Person | None) -> Person:
    if known is None:
        return read
    return replace(known, family=read.family, given=read.given)


def _year(stated: int | None, text: str) -> int | None:
    """The header's year if it is printed, else the one that lines about publication name; null if
    they name several."""
    lines = [
        _IN_TEXT_MARK.sub("", line)
        for before, line in pairwise(("", *text.split("\n")))
        if len(line) <= _MOST_LINE_CHARS
        and not _OF_READER.search(line)
        and not _HANDED_IN.search(before)
    ]
    printed = [int(year) for line in lines for year in _YEAR.findall(line)]
    if stated is not None and stated in printed:
        return stated
    if stamp := _STAMP.search(text):
        return int(stamp[1])
    for pattern in _OF_PUBLICATION:
        years = {
            int(year) for line in lines if pattern.search(line) for year in _YEAR.findall(line)
        }
        if len(years) == 1:
            return years.pop()
    return None


def _doi(stated: str | None, printed: Sequence[str], metadata: Sequence[str]) -> str | None:
    """The DOI of the header unless the page prints others only; else the only one that the page
    prints or, where it prints none or several, that the metadata of the PDF name."""
    if stated in printed or (stated and not printed):
        return stated
    whole = [one for one in printed if stated and one.startswith(stated)]
    if whole or len(printed) == 1:
        return (whole or printed)[0]
    named = [one for one in metadata if one in printed or not printed]
    return named[0] if len(named) == 1 else None
