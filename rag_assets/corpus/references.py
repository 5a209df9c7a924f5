"""Works that a paper cites: the entries of its reference list, taken apart from its back matter; where
its text refers to them, "[12]", "(3, 5-7)", raised numbers, "(Smith et al., 2019)"; whose finding a
sentence tells; and the table of all of them.

A paper has one way to refer: the one by which most different entries are reached. The other forms
are something else in it (equations in parentheses, years of data).

A sentence with a mention reports a finding of the works it cites, unless its authors speak in it of
themselves ("we", "this study"), or it goes on with a sentence in which they do, or it stands in the
methods or results, or it argues in a discussion what may or should be. A section without a usual
name and without a number ("Participants") is of the kind of the last one with a usual name before
it, since readers of PDFs often lose the nesting.

A sentence that tells what somebody expected, believed, claimed, planned or set out to test is no
finding, unless it says what became of it or stands in the results, where the beliefs of those who
were asked are what was found.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

from rag_assets.core.domain import BLOCK_SEPARATOR, Block, BlockKind, SectionKind, Zone
from rag_assets.core.paper_tables import PapersUpdate, RowsByPaper, none_quarantined
from rag_assets.core.promises import Promise
from rag_assets.core.tables import REFERENCES, blocks_from, packed, to_table, unpacked
from rag_assets.core.text.folding import plain_lower
from rag_assets.core.text.headings import heading_number, section_kinds
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.core.text.works import dois_in, without_dois
from rag_assets.core.workforce.workforce import Spread
from rag_assets.corpus.each_paper import PaperJob, update_each

_YEAR_OF_ENTRY = re.compile(r"(?<![\d:/.-])(?:1[6-9]|20)\d\d(?P<letter>[a-z])?(?![\d-])")
_NUMBER = re.compile(r"\[(\d{1,3})\][.:]?\s|(?:^|(?<=\s))(\d{1,3})\.\s", re.MULTILINE)
_BULLET = re.compile(r"^[-–•*]\s+")
_TEXT = (BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.FOOTNOTE)
_MOST_LOST = 3
"""Numbers that may be missing in a row."""
_MAX_CHARS = 2_000
"""A longer entry is a list whose entries could not be told apart."""


@dataclass(frozen=True)
class Reference:
    """One entry of a reference list."""

    number: int
    """The printed number, else the place in the list, from 1."""
    text: str
    """The entry as printed, without its number."""
    page: int | None = None

    @property
    def years(self) -> tuple[str, ...]:
        """Its years of four digits, with the letter that tells two works of one year apart
        ("2019b")."""
        return tuple(match[0] for match in _YEAR_OF_ENTRY.finditer(without_dois(self.text)))

    @property
    def doi(self) -> str | None:
        """The first it states."""
        return next(iter(dois_in(self.text)), None)


def references_of(blocks: Iterable[Block]) -> list[Reference]:
    """blocks: those of a paper, in order. Entries of one numbered list are cut at its numbers,
    since a block may hold half an entry or several; an unnumbered list has one a line; where it is
    in pieces, one without a year goes on with the one before."""
    back = [block for block in blocks if block.zone is Zone.BACK and block.kind in _TEXT]
    lines = [
        (line, block.page_start)
        for block in back
        for line in block.text.split("\n")
        if line.strip()
    ]
    is_one_list = len(back) == 1 and back[0].kind is BlockKind.LIST
    entries = _numbered(lines) or list(_one_a_line(lines, is_whole=is_one_list))
    return [entry for entry in entries if len(entry.text) <= _MAX_CHARS]


def _numbered(lines: Sequence[tuple[str, int | None]]) -> list[Reference]:
    """Empty unless the list begins with its first number. The next number may stand anywhere; one
    behind a gap, which a lost entry leaves, begins a line."""
    text = "\n".join(line for line, _ in lines)
    starts: list[tuple[int, re.Match[str]]] = []
    for match in _NUMBER.finditer(text):
        number, last = int(match[1] or match[2]), starts[-1][0] if starts else 0
        is_line = text[match.start() - 1 : match.start()] in ("", "\n")
        is_next = number == last + 1 or (is_line and last < number <= last + 1 + _MOST_LOST)
        if is_next and (not starts or bool(match[1]) == bool(starts[0][1][1])):
            starts.append((number, match))
    if len(starts) < 2 or starts[0][0] != 1 or starts[0][1].start() > 0:
        return []
    pages: list[int | None] = [page for line, page in lines for _ in range(len(line) + 1)]
    ends = [*(match.start() for _, match in starts[1:]), len(text)]
    return [
        Reference(number, " ".join(text[match.end() : end].split()), pages[match.start()])
        for (number, match), end in zip(starts, ends, strict=True)
    ]


def _one_a_line(lines: Iterable[tuple[str, int | None]], *, is_whole: bool) -> Iterator[Reference]:
    parts: list[tuple[list[str], int | None]] = []
    for line, page in lines:
        if parts and not is_whole and _YEAR_OF_ENTRY.search(line) is None:
            parts[-1][0].append(line)
        else:
            parts.append(([line], page))
    for number, (texts, page) in enumerate(parts, start=1):
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
class Mention:
    """`text[start:end]` refers to entries of the reference list."""

    start: int
    end: int
    numbers: tuple[int, ...]
    """`Reference.number` of each."""


@dataclass(frozen=True)
class _ListedWork:
    """An entry of the list by its number, its words, and whether it begins with several authors."""

    number: int
    words: list[str]
    is_by_several: bool


def mentions_in(texts: Sequence[str], references: Sequence[Reference]) -> list[list[Mention]]:
    """The mentions in each text of one paper, in order."""
    readers: list[Callable[[str], Iterator[Mention]]] = [
        _by_number(_BRACKETS, references),
        _by_number(_PARENTHESES, references),
        _by_number(_RAISED, references),
        _by_name(references),
    ]
    found = [[list(reader(text)) for text in texts] for reader in readers]
    return max(
        found,
        key=lambda by_text: len({n for own in by_text for mention in own for n in mention.numbers}),
    )


def _by_number(
    form: re.Pattern[str], references: Sequence[Reference]
) -> Callable[[str], Iterator[Mention]]:
    known = {reference.number for reference in references}

    def read(text: str) -> Iterator[Mention]:
        for match in form.finditer(text):
            numbers = _numbers_in((match[1] if form.groups else match[0]).translate(_PLAIN))
            if numbers and known.issuperset(numbers):
                yield Mention(match.start(), match.end(), numbers)

    return read


def _numbers_in(written: str) -> tuple[int, ...]:
    """ "3, 5-7" is 3, 5, 6, 7; empty where a range falls or is too long."""
    numbers: list[int] = []
    for match in _RANGE.finditer(written):
        first, last = int(match[1]), int(match[2] or match[1])
        if not 0 <= last - first <= _MOST_OF_A_RANGE:
            return ()
        numbers += range(first, last + 1)
    return tuple(numbers)


def _by_name(references: Sequence[Reference]) -> Callable[[str], Iterator[Mention]]:
    """Entries by the name they begin with and their year; of several, those that hold the other
    names as well, and for one name alone those by one author."""
    years: set[str] = set()
    entries: dict[tuple[str, str], list[_ListedWork]] = {}
    for reference in references:
        words = re.findall(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*", plain_lower(reference.text))
        own_years, is_by_several = (
            set(reference.years),
            _SEVERAL_AUTHORS.match(reference.text) is not None,
        )
        for year in own_years | {year[:4] for year in own_years}:
            years.add(year)
            for word in set(words[:_AUTHOR_WORDS]):
                entries.setdefault((word, year), []).append(
                    _ListedWork(reference.number, words, is_by_several)
                )

    def read(text: str) -> Iterator[Mention]:
        for match in _AUTHORS_YEAR.finditer(text):
            written = re.findall(_WORD, match["first"] + match["more"])
            names = [plain_lower(_GENITIVE.sub("", name)) for name in written if name[0].isupper()]
            if not match["first"][0].isupper():
                continue
            written_years = (
                year if year in years else year[:4] for year in _YEARS.findall(match["years"])
            )
            numbers = [
                n
                for year in written_years
                for n in _named(names, entries.get((names[0], year), ()), bool(match["more"]))
            ]
            if numbers:
                yield Mention(match.start(), match.end(), tuple(dict.fromkeys(numbers)))

    return read


_AUTHOR_WORDS = 6
"""The first author's family name is among the first words of an entry, before or behind the given
names."""
_MOST_ALIKE = 20
"""A name with a year says nothing if more entries share it; this bounds the work on a hostile
list."""


def _named(names: Sequence[str], entries: Sequence[_ListedWork], is_by_several: bool) -> list[int]:
    """entries: those with the first name and the year. is_by_several: others are named, or "et
    al."."""
    if len(entries) > _MOST_ALIKE:
        return []
    whole = [one for one in entries if all(name in one.words for name in names)]
    first = [one for one in whole if one.words[:1] == names[:1]] or whole
    fitting = [one for one in first if one.is_by_several == is_by_several] or first
    return [one.number for one in fitting]


_OWN_VOICE = re.compile(
    r"\b(?:[Ww]e|[Oo]urs?|us|[Mm]y|I(?!\.))\b"
    r"|\b(?:present|current) (?:study|work|paper|article|research|experiment|survey|sample|data)\b"
    r"|\b[Tt]his (?:study|work|paper|article|survey)\b"
)
_GOES_ON = re.compile(r"(?:This|These|Such|The|It|They)\b")
"""Opens a sentence about what the one before told."""
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
"""Begins the heading of a section that tells no findings."""
_ASKS_FOR_IT = re.compile(
    rf"\b{_SUPPOSING}|\b(?:myth|legend|folklore|superstition|hypothes|plan|future|next|sa(?:y|id)\b|test|purpose|"
    r"goal|objective|focus)",
    re.IGNORECASE,
)
_SETTLED = re.compile(
    r"\b(?:confirm|support|reject|refut|disprov|contradict|debunk|uph[eo]ld|false|wrong|contrary|untrue)",
    re.IGNORECASE,
)
"""Says what became of an expectation."""


def supposes(sentence: str, section_path: str) -> bool:
    """Whether a sentence tells a hypothesis, a plan, or the claim or belief of others, and no
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


@dataclass(frozen=True)
class CitingSentence:
    """A sentence that refers to the reference list: `text[start:end]` of its block."""

    start: int
    end: int
    numbers: tuple[int, ...]
    """`Reference.number` of each entry it refers to."""
    is_reported: bool
    """Tells what those works found or say, not what this paper did."""


def sentences_with_mentions(
    blocks: Sequence[Block], mentions: Sequence[Sequence[Mention]]
) -> Iterator[list[CitingSentence]]:
    """For each block of a paper, in order, its sentences with a mention."""
    kinds: frozenset[SectionKind] = frozenset()
    for block, own in zip(blocks, mentions, strict=True):
        own_kinds = section_kinds(block.section_path) - {SectionKind.OTHER}
        if own_kinds or any(map(heading_number, block.section_path)):
            kinds = own_kinds
        yield list(_citing_sentences(block.text, own, kinds)) if own else []


def _citing_sentences(
    text: str, mentions: Sequence[Mention], kinds: Set[SectionKind]
) -> Iterator[CitingSentence]:
    """mentions: in the order of the text. kinds: of the section it stands in."""
    waiting = deque(mentions)
    is_own_before = False
    for start, end in sentence_spans(text):
        goes_on = is_own_before and _GOES_ON.match(text, start, end) is not None
        argues = SectionKind.DISCUSSION in kinds and _ARGUES.search(text, start, end) is not None
        is_own_before = _OWN_VOICE.search(text, start, end) is not None
        while waiting and waiting[0].end <= start:
            waiting.popleft()
        numbers: list[int] = []
        for one in waiting:
            if one.start >= end:
                break
            numbers += one.numbers
        if numbers:
            is_own = bool(kinds & _OWN_SECTIONS) or is_own_before or goes_on or argues
            yield CitingSentence(start, end, tuple(dict.fromkeys(numbers)), not is_own)


REFERENCES_VERSION = 5
"""Raise it when the same paper gets other rows than before."""


def reference_rows(paper_id: str, blocks: Sequence[Block]) -> list[dict[str, Any]]:
    """The rows of one paper, without fingerprint; one without number where no reference list was
    found.

    blocks: all of the paper, in reading order.
    """
    entries = references_of(blocks)
    if not entries:
        return [{"paper_id": paper_id, "number": None, "text": "", "mentions": []}]
    texts = [block.text if block.is_indexable else "" for block in blocks]
    mentions: dict[int, list[dict[str, Any]]] = {}
    start = 0
    for block, said in zip(
        blocks, sentences_with_mentions(blocks, mentions_in(texts, entries)), strict=True
    ):
        for one in said:
            place = {
                "start": start + one.start,
                "end": start + one.end,
                "is_reported": one.is_reported,
            }
            for number in one.numbers:
                mentions.setdefault(number, []).append(place)
        start += len(block.text) + len(BLOCK_SEPARATOR)
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


def update_references(published: RowsByPaper, blocks: RowsByPaper, spread: Spread) -> PapersUpdate:
    """Bring the table up to date with the papers that have blocks; see `update_each`.

    `published`: schema REFERENCES. `blocks`: schema BLOCKS.
    """
    return update_each(published, blocks, lambda _: [REFERENCES_VERSION], _packed_rows, spread)


def _packed_rows(job: PaperJob) -> bytes:
    rows = reference_rows(job.paper_id, blocks_from(unpacked(job.packed)))
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
