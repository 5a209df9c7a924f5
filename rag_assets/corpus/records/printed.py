"""Checks the values of a document's header against the printed first page, and reads from the page
what the header does not state.

A value that the page contradicts is left out: a wrong value is worse than none. For a paper without
a PDF, the header's values are taken as they are, except placeholders of a template.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

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
from rag_assets.core.text.folding import letters_of, plain_lower
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
    Byline,
    below_title,
    byline,
    goes_on_with_a_name,
    may_name_a_person,
    person_of,
    persons_in,
    persons_set_alike,
)
from rag_assets.corpus.records.issues import issue_of

_TEMPLATE = re.compile(
    r"\b(?:Woodstock|Conference acronym|20XX)\b|n{5,}|X{5,}|10\.1145/1122445\.1122456",
    re.IGNORECASE,
)
"""Placeholders that LaTeX classes print if the author did not fill in a value."""
_YEAR = re.compile(r"(?<![\d.-])((?:19|20)\d\d)(?!\d|-(?!(?:0[1-9]|1[0-2])\b))")
_IN_TEXT_MARK = re.compile(r"(?<!\d )\([^()\d]{3,60}, (?:19|20)\d\d[a-z]?\)")
"""A citation of another work, "(Lund et al., 2019)"; behind a number it is the date of an issue."""
_STAMP = re.compile(r"arXiv:\S{1,30}\s+\[[\w.-]{1,20}\]\s+\d{1,2} \w{3} ((?:19|20)\d\d)")
_MONTH = r"[^\W\d_]{3,10}\.?"
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th|er)?"
_DATE = re.compile(
    rf"(?:{_ORDINAL}[.,]? {_MONTH},?|{_MONTH},? {_ORDINAL},?) (?:19|20)\d\d"
    r"|\d{1,4}([-/.–])\d{1,2}\1\d{1,4}"
)
_ONLY_DATE = re.compile(rf"[^\w()]*(?:{_DATE.pattern}|{_MONTH},? (?:19|20)\d\d)[^\w()]*")
_AUTHORS_FIELD = re.compile(
    r"^[^\w\n]{0,9}author(?:\(s\)|s)?:\s{0,9}"
    r"(.{1,300}+(?:\n(?![^\w\n]{0,9}[a-z][\w ()]{2,20}:).{1,300}+){0,9}+)\n[^\w\n]{0,9}[a-z][\w ()]{2,20}:",
    re.MULTILINE | re.IGNORECASE,
)
"""The field of a cover with the authors, up to the next field."""
_COUNTED_AUTHORS = re.compile(r"^(\d{1,4}) authors?\b", re.MULTILINE)
"""What the cover of a network states: "3 authors, including:"."""
_PUBLISHED = re.compile(
    r"^\W*published(?: online)?\b|^\W*publication date\b|^\W*issue date\b", re.IGNORECASE
)
_OF_ISSUE = re.compile(
    r"©|(?:\(c\)|^c) ?(?:19|20)|\bcopyright\b|\ball rights reserved\b|"
    r"\bvol(?:ume)?\b|\bissue\b|\bconference\b|\bproceedings\b|;\s?\d+\s?\(\d+\)|"
    r"\d \((?:19|20)\d\d\)[,:;]? [\w. ]{0,20}\d",
    re.IGNORECASE,
)
"""The line of a first page that names the issue: "Annals of Winter 160 (2008), 17-46"."""
_YEAR_IN_DOI = re.compile(r"[./]((?:19|20)\d\d)\.")
_FILE_DATE = re.compile(r"\bD:((?:19|20)\d\d)")
_MOST_WORDS_BESIDE_DATE = 8
_SENT_IN = re.compile(r"\b(?:received|revised|accepted|submitted)\b", re.IGNORECASE)
"""Words before a date that is not the date of publication, on its line or at the end of the line
before it."""
_END_CHARS = 20
_OF_READER = re.compile(r"\b(?:download|accessed|retrieved|printed on)", re.IGNORECASE)
_JOURNAL_CHARS = 4
"""Characters that DOIs of one journal share after the prefix of the publisher."""
_MOST_LINE_CHARS = 200
_FIRST_BLOCKS = 40
_BLOCKS_AT_ENDS = 6
"""A notice of retraction is looked for on the first page and in this many blocks at both ends of a
paper."""
HEADER, PAGE = "header", "first page"
WITH_METADATA = "first page and metadata"
NOT_FOUND = "not printed where it was looked for: "
NOT_SURE = "names are printed, but could not all be told apart: "
_ASKED_FOR = ("title", "authors", "year", "doi")
"""If one of these fields is unknown, the record says where it was looked for."""
Sourced = tuple[Record, dict[str, str]]
"""A record, and by field name where each known value comes from."""


def known_values(record: Record) -> dict[str, Any]:
    """The record's fields that have a value, by name."""
    return {
        name: value
        for name in Record.__dataclass_fields__
        if (value := getattr(record, name)) not in (None, ())
    }


def sourced(record: Record, source: str) -> Sourced:
    """The record with `source` as the origin of every known field."""
    return record, dict.fromkeys(known_values(record), source)


def record_of(document: Document, abstract: str | None) -> Sourced:
    """The record of a document, from its header and its printed page. abstract: the abstract, if it
    is known.

    A format without authors in its header (a web page, a Word file), and without a PDF beside it,
    has its first blocks read like a printed page.
    """
    header = document.header
    printed = document.printed
    if printed is None and document.source is not SourceFormat.TEI and not header.authors:
        blocks = document.blocks[:_FIRST_BLOCKS]
        # `page_start` is None in a format without pages
        first_page_texts = (block.text for block in blocks if block.page_start in (None, 1))
        text = "\n".join((*first_page_texts, *document.margins))
        lines = [block.text for block in blocks if block.page_start in (None, 1, 2)]
        printed = PrintedFront(document.title, tuple(lines), text)
    header = _without_template(
        replace(header, title=header.title or document.title or None, abstract=abstract)
    )
    header = replace(header, doi=normal_doi(header.doi), arxiv=normal_arxiv(header.arxiv))
    if printed:
        record, origins = _confirmed(header, printed)
    else:
        record, origins = sourced(replace(header, authors=_plausible(header.authors)), HEADER)
    if _is_of_another_file(record.doi, document.file_path):
        record = replace(record, doi=None)
    places = [HEADER] if document.header != NO_RECORD else []
    if printed:
        places.append(PAGE)
    missing = [name for name in _ASKED_FOR if name not in known_values(record)]
    origins |= dict.fromkeys(missing, f"{NOT_FOUND}{' and '.join(places) or 'the text'}")
    if printed and not record.authors and _begins_with_names(printed, record.title):
        origins["authors"] = f"{NOT_SURE}{PAGE}"
    if retraction_place := _place_of_retraction(document):
        retracted_by = f"the paper itself, {retraction_place}"
        return replace(record, retracted=retracted_by), origins | {"retracted": retracted_by}
    return record, origins


def _begins_with_names(printed: PrintedFront, title: str | None) -> bool:
    """Whether a line below the title begins with the name of a person."""
    ordinary = ordinary_words(printed.text)
    below = below_title(printed.lines, title or "") or ()
    return any(goes_on_with_a_name(line, ordinary) for block in below for line in block.split("\n"))


def _place_of_retraction(document: Document) -> str:
    """The place where a paper states that it was retracted: "title", "p. 1" or "text"; empty if it
    does not state this."""
    printed = document.printed
    body = [
        block
        for block in document.blocks
        if block.zone is not Zone.BACK and block.kind is not BlockKind.TABLE
    ]
    titles = (document.title, document.header.title or "", printed.title if printed else "")
    # a paper whose subject is retractions uses the same words about other papers
    is_about = is_about_retractions((*titles, *(block.text for block in body)))
    if any(is_label_of(title, in_capitals=is_about) for title in titles):
        return "title"
    page_text = "\n".join([*document.margins, *([printed.text] if printed else [])])
    if any(map(is_stamp, page_text.split("\n"))) or (not is_about and is_notice(page_text)):
        return "p. 1"
    for index, block in enumerate(body):
        is_first = index < _BLOCKS_AT_ENDS
        has_notice = is_notice(block.text) or (is_first and opens_with_label(block.text))
        is_at_an_end = is_first or block.page_start == 1 or index >= len(body) - _BLOCKS_AT_ENDS
        if is_at_an_end and (is_stamp(block.text) or (has_notice and not is_about)):
            return f"p. {block.page_start}" if block.page_start else "text"
    return ""


def _plausible(header_authors: Sequence[Person]) -> tuple[Person, ...]:
    """The authors of a header that no page confirms: without institutions, and without names that
    are part of another name. Empty if a name occurs twice, since two lists were then read as
    one."""
    names = [letters_of(person.name) for person in header_authors]
    if len(set(names)) < len(names):
        return ()
    parts_of_names = {name for name in names for other in names if name != other and name in other}
    persons = zip(header_authors, names, strict=True)
    return tuple(
        person
        for person, name in persons
        if name not in parts_of_names and not names_an_institution(person.name)
    )


def _without_template(record: Record) -> Record:
    """The record without values that are placeholders of a template."""
    placeholders: dict[str, Any] = {
        name: None
        for name in ("title", "venue", "volume", "doi")
        if (value := getattr(record, name)) and _TEMPLATE.search(value)
    }
    return replace(record, **placeholders)


def _confirmed(header: Record, printed: PrintedFront) -> Sourced:
    """The record of a paper with a printed page: each value of the header is kept, corrected,
    dropped or added as the page shows. Also returns where each value comes from."""
    title = _title(header, printed)
    lines_below = below_title(printed.lines, title or "")
    authors = _authors(header.authors, lines_below, printed) or _authors_on_cover(printed.text)
    counted = _COUNTED_AUTHORS.search(printed.text)
    if counted and int(counted[1]) != len(authors):  # a cover with the profile of one of them
        authors = ()
    ids = arxiv_ids_in(printed.text)
    issue = {name: value for name, value in issue_of(printed).items() if not getattr(header, name)}
    record = replace(
        header,
        title=title,
        authors=authors,
        year=_year(header.year, without_reported_periods(printed.text), printed.metadata),
        venue=header.venue or printed.company or None,
        type=header.type or ("report" if printed.company else None),
        about=reported_period(printed.text) if printed.company else None,
        doi=_doi(header.doi, _numbered_dois(printed.text), _numbered_dois(printed.metadata)),
        arxiv=header.arxiv or (ids[0] if len(ids) == 1 else None),
    )
    record = replace(record, **issue)
    # a header without authors, year and DOI is not named as the origin of a value
    has_header_values = header.authors or header.year or header.doi
    origins = {
        name: HEADER if value == getattr(header, name) and has_header_values else PAGE
        for name, value in known_values(record).items()
    }
    if title and letters_of(title) in letters_of(printed.metadata):
        origins["title"] = WITH_METADATA
    if authors and all(
        letters_of(author.family) in letters_of(printed.stated_authors) for author in authors
    ):
        origins["authors"] = WITH_METADATA
    return record, origins


def _title(header: Record, printed: PrintedFront) -> str | None:
    """The paper's title: the page's, or the header's if the page prints it and it goes on where the
    page's ends, or if none was found on the page."""
    header_letters, page_letters = letters_of(header.title or ""), letters_of(printed.title)
    is_printed = header_letters in letters_of(f"{printed.text}\n{' '.join(printed.lines)}")
    if not page_letters:
        return header.title if is_printed else None
    rest = header_letters.removeprefix(page_letters)
    # the rest is a second line of the title, or wrongly an author
    is_author = any(letters_of(person.family) in rest for person in header.authors)
    goes_on = is_printed and rest not in ("", header_letters)
    return header.title if goes_on and not is_author else printed.title


def _authors(
    stated_authors: Sequence[Person], lines_below: Sequence[str] | None, printed: PrintedFront
) -> tuple[Person, ...]:
    """The authors that the page shows.

    These are the persons of the byline, if the byline has at least half of the stated authors that
    are printed. Otherwise they are the stated authors, if all of them are printed and no other
    person is. Otherwise there are none.

    stated_authors: those of the header; if it has none, those of the PDF's metadata are used.
    lines_below: the lines below the title; None if the title was not found.
    """
    if lines_below is None and not printed.set_alike:
        return ()
    stated_authors = stated_authors or persons_in(printed.stated_authors)
    by_words = byline(lines_below or (), printed.text)
    byline_lines = by_words.lines
    authors = _agreed(by_words, stated_authors, printed)
    letters = letters_of("\n".join((*byline_lines, *printed.set_alike)))
    printed_authors = _printed_persons(stated_authors, letters)
    printed_by_name = {letters_of(author.name): author for author in printed_authors}
    n_confirmed = sum(letters_of(author.name) in printed_by_name for author in authors)
    if authors and 2 * n_confirmed >= len(printed_authors):
        return tuple(
            _with_details(author, printed_by_name.get(letters_of(author.name)))
            for author in authors
        )
    if (
        not printed_authors
        or len(printed_authors) < len(stated_authors)
        or _names_left(byline_lines, printed_authors, printed.text)
    ):
        return ()
    return tuple(_as_printed(author, byline_lines) for author in stated_authors)


def _authors_on_cover(text: str) -> tuple[Person, ...]:
    """The persons in the field "Author(s):" of an archive's cover, all of them or none."""
    field = _AUTHORS_FIELD.search(text)
    return tuple(persons_in(" ".join(field[1].split()), ordinary_words(text))) if field else ()


def _agreed(
    by_words: Byline, stated_authors: Sequence[Person], printed: PrintedFront
) -> Sequence[Person]:
    """The authors, if two readings of the page agree on the family names: by the words of the
    byline, and by the style of its letters, which may find more of them.

    One reading alone counts if it gives several names of one style, or if the words leave no doubt.
    Otherwise the stated authors, or the rest of the page, must have the same family names.
    """
    by_style = persons_set_alike(printed.set_alike, printed.text)
    word_names, style_names, stated_names = (
        [letters_of(person.family) for person in persons]
        for persons in (by_words.persons, by_style, stated_authors)
    )
    if set(word_names) <= set(style_names) and (word_names or len(style_names) > 1):
        return by_style
    if not style_names and by_words.is_sure:
        return by_words.persons
    for persons, names in ((by_style, style_names), (by_words.persons, word_names)):
        if names and (names == stated_names or _are_named_again(persons, printed.text)):
            return persons
    return ()


def _are_named_again(persons: Sequence[Person], page: str) -> bool:
    """Whether a page has each family name more than once: in an address, a citation of the paper
    or a running head."""
    return all(
        len(re.findall(rf"(?<!\w){re.escape(person.family)}(?!\w)", page)) > 1
        or re.search(rf"{re.escape(person.family)}[\w.-]{{0,60}}@", page, re.IGNORECASE)
        for person in persons
    )


def _printed_persons(persons: Sequence[Person], region: str) -> list[Person]:
    """The persons whose full names are in the region, in the order of the region. A name that is
    only part of another person's name there is left out."""
    places: list[tuple[int, int, Person]] = []
    for person in persons:
        # either order: "Ada Lund", "Lund Ada"
        for name in (
            letters_of(f"{person.given}{person.family}"),
            letters_of(f"{person.family}{person.given}"),
        ):
            start = region.find(name) if len(name) > 1 else -1
            if start >= 0:
                places.append((start, start + len(name), person))
                break
    not_within = [
        place for place in places if not any(_is_within(place[:2], other[:2]) for other in places)
    ]
    return [person for _, _, person in sorted(not_within, key=lambda place: place[0])]


def _is_within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    """Whether the range `inner` is a part of the larger range `outer`."""
    return inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]


def _names_left(region: Sequence[str], persons: Sequence[Person], page: str) -> bool:
    """Whether the region may name a person besides these: on a line of its own, between two of them,
    or behind them."""
    ordinary = ordinary_words(page)
    known = letters_of("\n".join(f"{one.name} {one.family}{one.given}" for one in persons))
    for block in region:
        listed = (one for line in block.split("\n") for one in persons_in(line, ordinary))
        if any(letters_of(one.name) not in known for one in listed):
            return True
        ranges = sorted(
            match.span()
            for person in persons
            if (match := re.search(_spaced(person), block, re.IGNORECASE))
        )
        gaps = (block[end:start] for (_, end), (start, _) in pairwise(ranges))
        rest = block[ranges[-1][1] :] if ranges else ""
        if any(map(may_name_a_person, gaps)) or goes_on_with_a_name(rest, ordinary):
            return True
    return False


def _spaced(person: Person) -> str:
    """A regular expression for the person's name with other spaces or hyphens between its words."""
    words = re.findall(r"\w+", f"{person.given} {person.family}")
    return r"\W{0,4}".join(map(re.escape, words))


def _as_printed(person: Person, region: Sequence[str]) -> Person:
    """The person with the family name as it is printed: "Del Balso" where the header has
    "Balso"."""
    match = re.search(_spaced(person), "\n".join(region), re.IGNORECASE)
    return _with_details(person_of(match[0]), person) if match else person


def _with_details(printed_person: Person, known_person: Person | None) -> Person:
    """The person whose name was read, with affiliation and other details of the known person."""
    if known_person is None:
        return printed_person
    return replace(known_person, family=printed_person.family, given=printed_person.given)


def _year(header_year: int | None, text: str, metadata: str) -> int | None:
    """The year of publication: the header's year if the page prints it, else the year of the arXiv
    stamp, else the only year in the lines about publication. If these name several, the one that is
    in the DOI too. If there are none, the year of a date with a few words beside it, if the DOI or
    the date of the file says the same."""
    lines = [
        _IN_TEXT_MARK.sub("", line)
        for previous, line in pairwise(("", *text.split("\n")))
        if len(line) <= _MOST_LINE_CHARS
        and not _OF_READER.search(line)
        and not _SENT_IN.search(previous[-_END_CHARS:])
    ]
    if header_year is not None and header_year in _years_in(lines):
        return header_year
    if stamp := _STAMP.search(text):
        return int(stamp[1])
    in_doi = _years_in(dois_in(text), _YEAR_IN_DOI)
    of_file = _years_in([metadata], _FILE_DATE)
    years = (
        _years_in(filter(_PUBLISHED.search, lines))
        or _years_in(filter(_OF_ISSUE.search, lines))
        | (_years_in(filter(_is_dated, lines)) & (in_doi | of_file))
        or _years_in(filter(_ONLY_DATE.fullmatch, lines))
    )
    certain = years if len(years) == 1 else years & in_doi
    return certain.pop() if len(certain) == 1 else None


def _years_in(texts: Iterable[str], pattern: re.Pattern[str] = _YEAR) -> set[int]:
    return {int(year) for text in texts for year in pattern.findall(text)}


def _is_dated(line: str) -> bool:
    """Whether a line has a date and few other words: "Version 2.1, 6 March 2022"."""
    rest, n_dates = _DATE.subn(" ", line)
    return (
        n_dates > 0 and len(rest.split()) <= _MOST_WORDS_BESIDE_DATE and not _SENT_IN.search(line)
    )


def _is_of_another_file(doi: str | None, file_path: str) -> bool:
    """Whether the file has the name of another DOI of the same journal. A header may have the DOI of
    a correction that is attached to the article."""
    suffix = (doi or "").partition("/")[2]
    name = plain_lower(PurePosixPath(file_path).name.split(".")[0])
    has_same_form = re.sub(r"\d", "0", name) == re.sub(r"\d", "0", suffix)
    has_same_journal = name[:_JOURNAL_CHARS] == suffix[:_JOURNAL_CHARS]
    return name != suffix and has_same_form and has_same_journal


def _numbered_dois(text: str) -> list[str]:
    """The DOIs in a text with a number behind the slash. One with zeros only is a placeholder, and
    one without digits was cut at a line end."""
    return [doi for doi in dois_in(text) if re.search("[1-9]", doi.partition("/")[2])]


def _doi(
    header_doi: str | None, printed_dois: Sequence[str], metadata_dois: Sequence[str]
) -> str | None:
    """The paper's DOI. The header's DOI, unless the page prints only others; else the only DOI on
    the page. If the page prints none or several, the only fitting one of the PDF's metadata."""
    if header_doi in printed_dois or (header_doi and not printed_dois):
        return header_doi
    # the header may have only the beginning of a DOI
    completed = [doi for doi in printed_dois if header_doi and doi.startswith(header_doi)]
    if completed or len(printed_dois) == 1:
        return (completed or printed_dois)[0]
    fitting = [doi for doi in metadata_dois if doi in printed_dois or not printed_dois]
    return fitting[0] if len(fitting) == 1 else None
