"""The works that a paper cites. This module reads the entries of the reference list from the back
matter, finds the places in the text that refer to them ("[12]", "(3, 5-7)", raised numbers, "(Smith
et al., 2019)"), decides whose finding a citing sentence reports, and makes the table of all this.

A paper refers to its list in one form: the form that reaches the most different entries is taken.
What looks like another form is something else in this paper (equations in parentheses, years of
data).

A sentence with a mention reports a finding of the works it cites, unless one of these holds: its
authors speak of themselves in it ("we", "this study"); it continues such a sentence; it is in the
methods or results; it argues in a discussion what may or should be. A section without a usual name
and without a number ("Participants") is taken to be of the same kind as the last section with a
usual name before it, since PDF readers often lose the nesting of sections.

A sentence that states what somebody expected, believed, claimed, planned or wanted to test states
no finding. Exceptions are sentences that say how it turned out, and sentences in the results, where
the beliefs of the people studied are the finding.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any

from rag_assets.core.domain import BlockKind, SectionKind, Statement, Zone, first_page
from rag_assets.core.paper_tables import PapersUpdate, RowsByPaper, none_quarantined
from rag_assets.core.promises import Promise
from rag_assets.core.tables import REFERENCES, packed, statements_from, to_table, unpacked
from rag_assets.core.text.folding import plain_lower
from rag_assets.core.text.headings import heading_number, section_kinds
from rag_assets.core.text.works import dois_in, without_dois
from rag_assets.core.workforce.workforce import Spread
from rag_assets.corpus.each_paper import PaperJob, update_each

_YEAR_OF_ENTRY = re.compile(r"(?<![\d:/.-])(?:1[6-9]|20)\d\d(?P<letter>[a-z])?(?![\d-])")
_NUMBER = re.compile(r"\[(\d{1,3})\][.:]?\s|(?:^|(?<=\s))(\d{1,3})\.\s", re.MULTILINE)
_BULLET = re.compile(r"^[-–•*]\s+")
_TEXT = (BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.FOOTNOTE)
_MOST_LOST = 3
"""Most entry numbers that may be missing one after another."""
_MAX_CHARS = 2_000
"""A longer entry is taken for several entries that could not be separated, and dropped."""


@dataclass(frozen=True)
class Reference:
    """One entry of a reference list."""

    number: int
    """The printed number; in a list without numbers the position, from 1."""
    text: str
    """The entry as printed, without its number."""
    page: int | None = None

    @property
    def years(self) -> tuple[str, ...]:
        """The years in the entry, with the letter that distinguishes two works of one year
        ("2019b")."""
        return tuple(match[0] for match in _YEAR_OF_ENTRY.finditer(without_dois(self.text)))

    @property
    def doi(self) -> str | None:
        """The first DOI in the entry."""
        return next(iter(dois_in(self.text)), None)


def references_of(statements: Iterable[Statement]) -> list[Reference]:
    """The entries of a paper's reference list. statements: all of the paper, in order.

    A numbered list is cut at its numbers, since a block may hold half an entry or several. In a
    list without numbers, each line is an entry; but if the list was read as several blocks, a line
    without a year continues the entry before.
    """
    back_matter = [
        list(of_block)
        for _, of_block in groupby(
            (one for one in statements if one.zone is Zone.BACK and one.block_kind in _TEXT),
            key=lambda one: one.block,
        )
    ]
    lines = [
        (line, first_page(of_block[0].spans))
        for of_block in back_matter
        for line in "".join(one.gap + one.text for one in of_block).split("\n")
        if line.strip()
    ]
    is_one_list = len(back_matter) == 1 and back_matter[0][0].block_kind is BlockKind.LIST
    entries = _numbered_entries(lines) or list(_entries_by_line(lines, is_whole=is_one_list))
    return [entry for entry in entries if len(entry.text) <= _MAX_CHARS]


def _numbered_entries(lines: Sequence[tuple[str, int | None]]) -> list[Reference]:
    """The entries of a numbered list; empty if the list does not begin with number 1.

    lines: the lines with their pages. The next number is recognised anywhere in a line. A number
    after a gap (an entry was lost) must be at the beginning of a line. All numbers have the form of
    the first one: "[1]" or "1.".
    """
    text = "\n".join(line for line, _ in lines)
    # the number of each entry, and where it is printed
    starts: list[tuple[int, re.Match[str]]] = []
    for match in _NUMBER.finditer(text):
        number, last_number = int(match[1] or match[2]), starts[-1][0] if starts else 0
        begins_line = text[match.start() - 1 : match.start()] in ("", "\n")
        is_next = number == last_number + 1 or (
            begins_line and last_number < number <= last_number + 1 + _MOST_LOST
        )
        if is_next and (not starts or bool(match[1]) == bool(starts[0][1][1])):
            starts.append((number, match))
    if len(starts) < 2 or starts[0][0] != 1 or starts[0][1].start() > 0:
        return []
    # the page of each character of `text`, line feeds included
    pages: list[int | None] = [page for line, page in lines for _ in range(len(line) + 1)]
    ends = [*(match.start() for _, match in starts[1:]), len(text)]
    return [
        Reference(number, " ".join(text[match.end() : end].split()), pages[match.start()])
        for (number, match), end in zip(starts, ends, strict=True)
    ]


def _entries_by_line(
    lines: Iterable[tuple[str, int | None]], *, is_whole: bool
) -> Iterator[Reference]:
    """One entry per line. Unless the list is whole, a line without a year is joined to the entry
    before. lines: the lines with their pages."""
    entries: list[tuple[list[str], int | None]] = []
    for line, page in lines:
        if entries and not is_whole and _YEAR_OF_ENTRY.search(line) is None:
            entries[-1][0].append(line)
        else:
            entries.append(([line], page))
    for number, (texts, page) in enumerate(entries, start=1):
        yield Reference(number, _BULLET.sub("", " ".join(" ".join(texts).split())), page)


_NUMBERS = r"\d{1,3}(?:\s?[,;–—-]\s?\d{1,3}){0,30}"
_BRACKETS = re.compile(rf"\[({_NUMBERS})\]")
_PARENTHESES = re.compile(rf"\(({_NUMBERS})\)")
_RAISED = re.compile(
    r"(?<![^\W\d_])(?<!\d)[⁰¹²³⁴⁵⁶⁷⁸⁹](?:[⁰¹²³⁴⁵⁶⁷⁸⁹]|\s?[,⁻–-]\s?(?=[⁰¹²³⁴⁵⁶⁷⁸⁹])){0,60}"
)
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_RANGE = re.compile(r"(\d+)(?:\s?[–—-]\s?(\d+))?")
_WORD = r"[^\W\d_][\w’'-]{1,40}"
_NAME = rf"(?:[A-Za-z]{{1,3}} ){{0,2}}{_WORD}"
_YEAR = r"(?:1[6-9]|20)\d\d[a-z]?"
_AUTHORS_YEAR = re.compile(
    rf"(?<![^\W\d_])(?P<first>(?![a-z]){_WORD})"
    rf"(?P<more>(?:,? et al\.?| and colleagues|(?:, {_NAME}){{0,8}},? (?:and|&) {_NAME})?)"
    rf"(?:[’']s?)?[,\s]{{0,3}}[(\[]?(?P<years>{_YEAR}(?:(?:,|;| and) ?{_YEAR}){{0,4}})"
)
_YEARS = re.compile(_YEAR)
_INITIALS = r"(?:[^\W\d_a-z]\.?[ -]?){1,4}"
_SEVERAL_AUTHORS = re.compile(
    rf"(?:{_NAME},? {_INITIALS}|{_INITIALS} ?{_NAME})(?:, ?(?:&|and) |[,;] ?| ?(?:&|and) )"
    rf"(?:{_NAME},? {_INITIALS}|{_INITIALS} ?{_NAME})(?![^\W\d_])"
)
"""How an entry by several authors begins: "Lund A, Moe B", "Lund, A. & Moe, B.", "A. Lund and B.
Moe"."""
_GENITIVE = re.compile(r"[’']s?$")
_MOST_OF_A_RANGE = 60


@dataclass(frozen=True)
class _ListedWork:
    """An entry of the reference list."""

    number: int
    words: list[str]
    is_by_several: bool
    """Whether the entry begins with the names of several authors."""


Numbers = tuple[int, ...]
"""`Reference.number` of each entry that a mention refers to."""


def mentions_in(texts: Sequence[str], references: Sequence[Reference]) -> list[Numbers]:
    """The entries that each text of one paper refers to, all in one form: the form that reaches the
    most different entries."""
    readers: list[Callable[[str], Iterator[Numbers]]] = [
        _by_number(_BRACKETS, references),
        _by_number(_PARENTHESES, references),
        _by_number(_RAISED, references),
        _by_name(references),
    ]
    mentions_by_form = [
        [tuple(dict.fromkeys(chain.from_iterable(reader(text)))) for text in texts]
        for reader in readers
    ]
    return max(mentions_by_form, key=lambda by_text: len({*chain.from_iterable(by_text)}))


def _by_number(
    pattern: re.Pattern[str], references: Sequence[Reference]
) -> Callable[[str], Iterator[Numbers]]:
    """A function that finds the mentions of one form of numbers in a text. A match is a mention
    only if all its numbers are in the reference list."""
    listed_numbers = {reference.number for reference in references}

    def read(text: str) -> Iterator[Numbers]:
        for match in pattern.finditer(text):
            numbers = _numbers_in((match[1] if pattern.groups else match[0]).translate(_PLAIN))
            if numbers and listed_numbers.issuperset(numbers):
                yield numbers

    return read


def _numbers_in(text: str) -> tuple[int, ...]:
    """The numbers in a mention, ranges included: "3, 5-7" becomes 3, 5, 6, 7. Empty if a range goes
    down or is too long."""
    numbers: list[int] = []
    for match in _RANGE.finditer(text):
        first, last = int(match[1]), int(match[2] or match[1])
        if not 0 <= last - first <= _MOST_OF_A_RANGE:
            return ()
        numbers += range(first, last + 1)
    return tuple(numbers)


def _by_name(references: Sequence[Reference]) -> Callable[[str], Iterator[Numbers]]:
    """A function that finds mentions by author and year ("Lund and Moe, 2019") in a text.

    An entry fits if it begins with the mentioned name and has the year. Of several, those are taken
    that have the other mentioned names too; if only one name is mentioned, those by one author.
    """
    years: set[str] = set()
    # the entries by each of their first words (one is the author's name) and each year
    entries: dict[tuple[str, str], list[_ListedWork]] = {}
    for reference in references:
        words = re.findall(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*", plain_lower(reference.text))
        entry_years = set(reference.years)
        is_by_several = _SEVERAL_AUTHORS.match(reference.text) is not None
        # "2019b" is also found as 2019
        for year in entry_years | {year[:4] for year in entry_years}:
            years.add(year)
            for word in set(words[:_AUTHOR_WORDS]):
                entries.setdefault((word, year), []).append(
                    _ListedWork(reference.number, words, is_by_several)
                )

    def read(text: str) -> Iterator[Numbers]:
        for match in _AUTHORS_YEAR.finditer(text):
            if not match["first"][0].isupper():
                continue
            names = [
                plain_lower(_GENITIVE.sub("", name))
                for name in re.findall(_WORD, match["first"] + match["more"])
                if name[0].isupper()
            ]
            # "2019b" means 2019 if no entry has the letter
            mentioned_years = (
                year if year in years else year[:4] for year in _YEARS.findall(match["years"])
            )
            for year in mentioned_years:
                yield _fitting_numbers(
                    names, entries.get((names[0], year), ()), bool(match["more"])
                )

    return read


_AUTHOR_WORDS = 6
"""The first author's family name is among this many first words of an entry: given names may come
before it."""
_MOST_ALIKE = 20
"""If more entries have the same name and year, a mention of them is ignored. This limits the work
on a malicious list."""


def _fitting_numbers(
    names: Sequence[str], entries: Sequence[_ListedWork], is_by_several: bool
) -> Numbers:
    """Numbers of the entries that fit a mention best.

    entries: those with the first name and the year. is_by_several: the mention has more names, or
    "et al.".
    """
    if len(entries) > _MOST_ALIKE:
        return ()
    with_all_names = [entry for entry in entries if all(name in entry.words for name in names)]
    with_first_author = [
        entry for entry in with_all_names if entry.words[:1] == names[:1]
    ] or with_all_names
    best = [
        entry for entry in with_first_author if entry.is_by_several == is_by_several
    ] or with_first_author
    return tuple(entry.number for entry in best)


_OWN_VOICE = re.compile(
    r"\b(?:[Ww]e|[Oo]urs?|us|[Mm]y|I(?!\.))\b"
    r"|\b(?:present|current) (?:study|work|paper|article|research|experiment|survey|sample|data)\b"
    r"|\b[Tt]his (?:study|work|paper|article|survey)\b"
)
_GOES_ON = re.compile(r"(?:This|These|Such|The|It|They)\b")
"""Matches a sentence that continues the sentence before."""
_ARGUES = re.compile(r"\b(?:may|might|can|could|shall|should|will|would|must)\b")
_OWN_SECTIONS = {SectionKind.METHODS, SectionKind.RESULTS}
_SUPPOSING = (
    r"(?:hypothesi[sz]|expect|anticipat|predict|speculat|suspect|suppos|conjectur|believ|belief|thought|think|claim|"
    r"alleg|assum|presum|rumou?r|hop(?=e|ing)|fear|plan(?=s|n)|intend|intention|aim|propos)"
)
_NO_FINDING = re.compile(
    rf"\b{_SUPPOSING}\w*(?: [\w'’]+){{0,3}}? (?:that|to|would|will)\b"
    r"|\b(?:myths?|legends?|folklore|superstitions?|hearsay|hypothes[ie]s|conjectures?)\b"
    r"|\b(?:says?|said)(?: that)?\b|\b(?:alleged|supposed|reported|purported)ly\b|\bwives['’] tales?\b"
    r"|^According to [^,]{1,60}(?:\b(?:19|20)\d\d\b|\[\d+\])"
    r"|\b(?:test|ask|examin|investigat|explor|determin|assess|evaluat|stud[iy])\w*(?: \w+){0,3}? (?:whether|if)\b"
    r"|\b(?:we|next|future [\w ]{1,20}) (?:will|plan|should)\b|\b(?:remains?|yet) to be\b"
    r"|\bif\b.{1,150}\b(?:were|had)\b.{1,150}\b(?:would|might|could)\b",
    re.IGNORECASE | re.DOTALL,
)
_OF_NO_FINDINGS = re.compile(
    r"^[\W\d]*(?:myths?|legends?|hypothes[ie]s|conjectures?|predictions?|expectations?|future|plans?|outlook)\b",
    re.IGNORECASE,
)
"""Matches the heading of a section that states no findings."""
_ASKS_FOR_IT = re.compile(
    rf"\b{_SUPPOSING}|\b(?:myth|legend|folklore|superstition|hypothes|plan|future|next|sa(?:y|id)\b|test|purpose|"
    r"goal|objective|focus)",
    re.IGNORECASE,
)
_SETTLED = re.compile(
    r"\b(?:confirm|support|reject|refut|disprov|contradict|debunk|uph[eo]ld|false|wrong|contrary|untrue)",
    re.IGNORECASE,
)
"""Matches a sentence that says how an expectation turned out."""


def supposes(sentence: str, section_path: str) -> bool:
    """Whether a sentence states a hypothesis, a plan, or what others claim or believe, instead of a
    finding."""
    titles = section_path.split(" > ")
    is_supposed = _NO_FINDING.search(sentence) or (
        _OF_NO_FINDINGS.search(titles[-1]) and not _OWN_VOICE.search(sentence)
    )
    is_settled = _SETTLED.search(sentence) or SectionKind.RESULTS in section_kinds(titles)
    return bool(is_supposed) and not is_settled


def asks_what_is_supposed(question: str) -> bool:
    """Whether a question asks for hypotheses, plans, claims or beliefs, and not for a finding."""
    return _ASKS_FOR_IT.search(question) is not None


def tells_own_work(statements: Sequence[Statement]) -> Iterator[bool]:
    """For each statement of a paper, in order, whether it tells what this paper did or argues, so
    that it does not report the works it refers to."""
    kinds: frozenset[SectionKind] = frozenset()
    block, is_own_voice = -1, False
    for one in statements:
        if one.block != block:
            block, is_own_voice = one.block, False
            # a section without a usual name and number is of the kind of the section before
            block_kinds = section_kinds(one.section_path) - {SectionKind.OTHER}
            if block_kinds or any(map(heading_number, one.section_path)):
                kinds = block_kinds
        continues_own = is_own_voice and _GOES_ON.match(one.text) is not None
        argues = SectionKind.DISCUSSION in kinds and _ARGUES.search(one.text) is not None
        is_own_voice = _OWN_VOICE.search(one.text) is not None
        yield bool(kinds & _OWN_SECTIONS) or is_own_voice or continues_own or argues


REFERENCES_VERSION = 6
"""Raise it when the code makes other rows of the same paper than before."""


def reference_rows(paper_id: str, statements: Sequence[Statement]) -> list[dict[str, Any]]:
    """The rows of one paper, without fingerprint. If no reference list was found, one row whose
    number is None, which marks the paper as done.

    statements: all of the paper, in reading order.
    """
    entries = references_of(statements)
    if not entries:
        return [{"paper_id": paper_id, "number": None, "text": "", "mentions": []}]
    texts = ["" if one.is_heading or one.zone is Zone.BACK else one.text for one in statements]
    mentions: dict[int, list[dict[str, Any]]] = {}
    for statement, numbers, is_own in zip(
        statements, mentions_in(texts, entries), tells_own_work(statements), strict=True
    ):
        for number in numbers:
            mention = {"statement": statement.number, "is_reported": not is_own}
            mentions.setdefault(number, []).append(mention)
    return [
        {
            "paper_id": paper_id,
            "number": entry.number,
            "text": entry.text,
            "year": next(iter(entry.years), None),
            "doi": entry.doi,
            "page": entry.page,
            "mentions": mentions.get(entry.number, []),
        }
        for entry in entries
    ]


def update_references(
    published: RowsByPaper, statements: RowsByPaper, spread: Spread
) -> PapersUpdate:
    """Bring the table up to date with the papers that have statements; see `update_each`.

    `published`: schema REFERENCES. `statements`: schema STATEMENTS.
    """
    return update_each(published, statements, lambda _: [REFERENCES_VERSION], _packed_rows, spread)


def _packed_rows(job: PaperJob) -> bytes:
    rows = reference_rows(job.paper_id, statements_from(unpacked(job.packed)))
    return packed(to_table([row | {"fingerprint": job.fingerprint} for row in rows], REFERENCES))


REFERENCE_PROMISES: list[Promise[Any]] = [
    Promise(
        "all_looked_at",
        "Every paper with text was looked at, and no other has rows.",
        lambda candidate: candidate.not_one_each,
    ),
    none_quarantined(
        "Every paper can be looked at. Each that cannot is listed with the reason; the others go on."
    ),
]
