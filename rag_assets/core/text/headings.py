"""Reads headings of papers: the number at their start (1, 2.1, IV., A.1, Appendix A), and the zone
and kind of section that a usual name means.

A line with a number is not always a heading: list items, affiliations and references have numbers
too (see `heading_lines`).
"""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Literal

from rag_assets.core.domain import SectionKind, Zone

NumberStyle = Literal["arabic", "roman", "letter"]
Values = tuple[int, ...]

_MAX_CHARS = 400
"""Only this many characters of a line are read. A longer line is no heading, but it may be a list
item, whose number is needed too."""
_MARKUP = re.compile(r"\*\*|__|\\(?=[.)])")
"""Emphasis of Markdown, and the backslash that converters put into "1\\." so that it does not start
a list."""
_SPACE = r"(?:\s+(?=\S*[^\W\d_])|(?<=[.)])(?=[^\W\d_][^\W\d_]))"
"""White space before a word; after a stop it may be missing ("1.Introduction")."""
_ARABIC = re.compile(r"(?P<number>[1-9]\d?(?:\.\d{1,2}){0,4})[.):]?" + _SPACE)
_ROMAN = re.compile(r"(?P<number>X{0,3}(?:IX|IV|V?I{0,3}))(?P<stop>[.):]?)\s+(?=[^\W\d_])")
_LETTER = re.compile(
    r"(?P<number>[A-Z](?:\.\d{1,2}){1,4})[.):]?\s+(?=[^\W\d_])|(?P<stopped>[A-Z]\d{0,2})[.):]\s+(?=[^\W\d_])"
)
_LABELLED = re.compile(
    r"(?i:appendix|annex|supplement)\s+(?P<number>(?:[A-Z]|[IVX]{1,5}|\d{1,2})(?:\.\d{1,2})*)\b(?!-)[\s.:)|–—-]*"
)
_PARTS = re.compile(r"\d+|[A-Za-z]+")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10}


@dataclass(frozen=True, slots=True)
class HeadingNumber:
    """The number before a title, read from one line."""

    parts: tuple[str, ...]
    """The parts as printed: ("3", "1"), ("IV",), ("A", "1")."""
    style: NumberStyle
    title: str
    """The text after the number, without marks of Markdown; it may be empty after "Appendix A"."""
    label: str = ""
    """ "appendix", "annex" or "supplement" if the line begins with that word, else empty."""

    @property
    def text(self) -> str:
        """The number as printed, without a final stop: "3.1"."""
        return ".".join(self.parts)

    @property
    def values(self) -> Values:
        """The number for comparing: 3.1 is (3, 1), IV is (4,), B.2 is (2, 2)."""
        first = self.parts[0]
        if self.style == "roman":
            start = _roman_value(first)
        else:
            start = ord(first.upper()) - ord("A") + 1 if first.isalpha() else int(first)
        return (start, *(int(part) for part in self.parts[1:]))

    @property
    def starts_title(self) -> bool:
        """Whether the text after the number begins like a title: with a capital, or with a word
        that has a capital inside (mRNA, α-Synuclein)."""
        word = self.title.split(" ", 1)[0]
        first = next((character for character in word if character.isalpha()), "")
        return not first.islower() or any(character.isupper() for character in word)


def heading_number(line: str) -> HeadingNumber | None:
    """The number at the start of a line, or None.

    A single capital letter must have a stop after it ("A. Proofs", "I. Introduction"); without a
    stop it is a word.
    """
    text = " ".join(_MARKUP.sub("", line[:_MAX_CHARS].strip().strip("#* ")).split())
    if match := _LABELLED.match(text):
        parts = tuple(_PARTS.findall(match["number"]))
        label = text.split(" ", 1)[0].lower()
        return HeadingNumber(parts, _style_of(parts[0]), text[match.end() :], label)
    if match := _ARABIC.match(text):
        return HeadingNumber(tuple(match["number"].split(".")), "arabic", text[match.end() :])
    if (
        (match := _ROMAN.match(text))
        and match["number"]
        and (match["stop"] or len(match["number"]) > 1)
    ):
        return HeadingNumber((match["number"],), "roman", text[match.end() :])
    if match := _LETTER.match(text):
        return HeadingNumber(
            tuple(_PARTS.findall(match["number"] or match["stopped"])),
            "letter",
            text[match.end() :],
        )
    return None


def heading_depth(title: str, styles: Container[NumberStyle] = ()) -> int | None:
    """The depth of a section by the number before its title: "3 Methods" has 1, "3.1 Cohort" and
    "A.1 Proofs" have 2. None without a number.

    styles: styles of the numbers of all headings. If there are roman numbers, a single letter is
    one level below them ("II. Methods", "A. Subjects"); else it gives no depth.
    """
    number = heading_number(title)
    if number is None:
        return None
    is_letter = number.style == "letter" and not number.label
    if is_letter and "roman" in styles:
        return 1 + len(number.parts)
    return None if is_letter and len(number.parts) == 1 else len(number.parts)


def number_styles(titles: Iterable[str]) -> frozenset[NumberStyle]:
    """The styles of the numbers that the titles start with."""
    return frozenset(number.style for title in titles if (number := heading_number(title)))


def _style_of(part: str) -> NumberStyle:
    if part.isdigit():
        return "arabic"
    return "roman" if len(part) > 1 else "letter"


def _roman_value(text: str) -> int:
    digits = [_ROMAN_DIGITS.get(character, 0) for character in text.upper()]
    return sum(
        -digit if digit < next_digit else digit
        for digit, next_digit in zip(digits, [*digits[1:], 0], strict=True)
    )


_FRONT = re.compile(
    r"abstract|summary|highlights|keywords|key words|ccs concepts|acm ?reference format"
)
_REFERENCES = re.compile(
    r"references?(?: list| and notes| cited)?|reference list|list of references|notes and references|"
    r"(?:cited|selected) references|literature(?: cited| references)?|cited literature|bibliograph(?:y|ic references)|"
    r"works cited"
)
_CLOSING_MATTER = re.compile(
    r"acknowledge?ments?(?: and .{1,60})?|funding(?: (?:information|statement|sources?))?|"
    r"author(?:s'?|'s)? contributions?|contributors|(?:conflicts? of interests?|competing interests?|"
    r"declarations? of (?:competing )?interests?|disclosures)(?: statement)?|disclosure statement"
)
_STARTS_STATEMENT = re.compile(
    r"acknowledge?ments?|funding|financial (?:support|disclosure)|(?:author )?contributions?|"
    r"authors?['’]? contributions?|"
    r"(?:statements?|disclosures?|declarations?) (?:of|on) (?:conflict|competing|interest)|"
    r"declaration of (?:conflicting|competing)|(?:conflicts?|competing|declarations?) (?:of )?interests?|"
    r"(?:data|code|materials)(?:,? (?:and|&) \w+)? availability|availability (?:of|statement)|open practices|"
    r"transparency|action editor|orcid|ethic(?:s|al) (?:approval|statement)|"
    r"publisher['’]?s note|additional information|author information|consent for publication|about the author"
)
_STATEMENTS: tuple[tuple[str, tuple[SectionKind, ...]], ...] = (
    (
        r"statements?|transparency|open practices|publisher['’]?s note|declarations?|"
        r"(?:pre-?)?registration|action editor|orcid(?: ids?)?|"
        r"(?:statements?|disclosures?|declarations?) (?:of|on) (?:(?:conflict|compet)\w* (?:of )?)?interests?|"
        r"author(?:s['’]?|['’]s)? contributions?(?: statement)?|"
        r"(?:open practices|reproducibility|broader impact|disclosure|contribution) statements?",
        (),
    ),
    (
        r"funding(?: (?:information|statements?|sources?))?|(?:sources? of )?funding|"
        r"financial (?:support|disclosure)|role of the funding source|acknowledge?ments? and funding",
        (SectionKind.FUNDING,),
    ),
    (
        r"(?:data|code|materials)(?:,? (?:and|&) \w+)? (?:availability|accessibility|access)"
        r"(?: statements?)?|data sharing(?: statements?)?|"
        r"availability of (?:data|code|materials)(?: and (?:data|code|materials))?",
        (SectionKind.DATA,),
    ),
    (
        r"ethic(?:s|al)(?: (?:approval|considerations?|review|statements?|declarations?))?|"
        r"(?:informed )?consent(?: (?:to participate|for publication))?|"
        r"ethics approval and consent to participate",
        (SectionKind.ETHICS,),
    ),
)
"""Names of statements, and the kinds of section that they mean."""
_STARTS_ANNEX = re.compile(
    r"(?:appendix|appendices|annex|supplement(?:ary|al)?\b|supporting information)"
)
_ANNEX = re.compile(
    r"appendix|appendices|annex|supplement|supplement(?:ary|al) (?:materials?|information)|supporting information"
)
_MAIN_NAMES: tuple[tuple[str, tuple[SectionKind, ...]], ...] = (
    (r"introduction", (SectionKind.INTRODUCTION,)),
    (r"background", (SectionKind.INTRODUCTION, SectionKind.BACKGROUND)),
    (r"related works?|literature review", (SectionKind.BACKGROUND,)),
    (r"(?:materials?|patients|subjects|participants) and methods?", (SectionKind.METHODS,)),
    (r"methods?(?: and materials?)?|methodology", (SectionKind.METHODS,)),
    (r"experiments?", (SectionKind.METHODS, SectionKind.RESULTS)),
    (r"results?|findings", (SectionKind.RESULTS,)),
    (r"results? and discussion", (SectionKind.RESULTS, SectionKind.DISCUSSION)),
    (r"discussions?", (SectionKind.DISCUSSION,)),
    (r"limitations", (SectionKind.DISCUSSION, SectionKind.LIMITATIONS)),
    (
        r"discussion and conclusions?(?: and (?:future work|outlook))?",
        (SectionKind.DISCUSSION, SectionKind.CONCLUSION),
    ),
    (
        r"conclusions?(?: and (?:future work|outlook))?|concluding remarks|future work",
        (SectionKind.CONCLUSION,),
    ),
)
"""Names of main sections, and their kinds. A line that consists of such a name is a heading."""
_OTHER_NAMES: tuple[tuple[str, tuple[SectionKind, ...]], ...] = (
    (r"title page", (SectionKind.TITLE_PAGE,)),
    (r"abstract", (SectionKind.ABSTRACT,)),
    (r"summary", (SectionKind.ABSTRACT, SectionKind.CONCLUSION)),
    (r"(?:prior|previous) work|preliminaries", (SectionKind.BACKGROUND,)),
    (
        r"(?:general|experimental|online|detailed|statistical) (?:methods?|procedures?)",
        (SectionKind.METHODS,),
    ),
    (
        r"methods? (?:summary|overview|details)|experimental(?: (?:section|design|set-?up|details|part))?",
        (SectionKind.METHODS,),
    ),
    (
        r"(?:study )?(?:design|area|setting)|procedures?|measures|materials|apparatus|stimuli|"
        r"search strategy|(?:data|statistical) analys[ie]s",
        (SectionKind.METHODS,),
    ),
    (
        r"(?:study )?(?:participants|patients|subjects|populations?|samples?)|"
        r"(?:participant|patient|sample) characteristics|demographics",
        (SectionKind.METHODS, SectionKind.PARTICIPANTS),
    ),
    (
        r"data(?:sets?)?|(?:data|statistical) (?:collection|acquisition|extraction|sources?)",
        (SectionKind.METHODS, SectionKind.DATA),
    ),
    (r"(?:main|key|empirical|experimental) (?:results|findings)", (SectionKind.RESULTS,)),
    (r"general discussion|strengths|implications", (SectionKind.DISCUSSION,)),
    (
        r"weaknesses|shortcomings|caveats|threats to validity",
        (SectionKind.DISCUSSION, SectionKind.LIMITATIONS),
    ),
    (r"outlook|future (?:directions|research)|recommendations?", (SectionKind.CONCLUSION,)),
)
"""Other names of sections, and their kinds. A line that consists of such a name may also be no
heading."""
_KINDS = tuple((re.compile(names), kinds) for names, kinds in (*_MAIN_NAMES, *_OTHER_NAMES))
_STATED = tuple((re.compile(names), kinds) for names, kinds in _STATEMENTS)
_MAIN = re.compile("|".join(names for names, _ in _MAIN_NAMES))
_BETWEEN_NAMES = re.compile(r",? and |,? & |, |/")
_BETWEEN_PARTS = re.compile(r"(?:(?<!\s)\s+)?[:–—]\s+")
_HEAD = re.compile(
    r"(?:(?:[^\W\d_]|-)+ ){1,3}(?P<last>[^\W\d_]+)|(?P<first>[^\W\d_]+) of (?:the|this|our|these) .+"
)
"""A name with words before it ("simulation results"), or with "of ..." after it ("results of the
survey")."""
_LONE_CAPITAL = re.compile(r"^(?:[IVX] (?=[A-Z])|[A-Z] (?=(?i:append)))")
"""A number without a stop ("I INTRODUCTION"), which is known as a number only by the name after
it."""
_SPACED_LETTERS = re.compile(r"(?:[^\W\d_] ){4,}[^\W\d_]")
_AROUND_NAMES = " .:■*_#"
_RUN_IN_ABSTRACT = re.compile(r"(?:Abstract|ABSTRACT|Summary|SUMMARY)\b(?! of\b)[.:\s—–-]*[A-Z]")


def zone_named(title: str) -> Zone | None:
    """The zone of a section by its name: references are back matter, an abstract is front matter.
    None if the name means none."""
    bare = _bare(title)
    if _REFERENCES.fullmatch(bare):
        return Zone.BACK
    if _CLOSING_MATTER.fullmatch(bare):
        return Zone.STATEMENTS
    if _FRONT.fullmatch(bare):
        return Zone.FRONT
    return Zone.ANNEX if _STARTS_ANNEX.match(bare) else None


def is_section_name(title: str) -> bool:
    """Whether a heading is a usual name of a main section (Methods, References, Appendix B:
    Proofs)."""
    return is_plain_section_name(title) or zone_named(title) is not None


def is_plain_section_name(line: str) -> bool:
    """Whether a line is the usual name of a section and nothing else. For lines that may be prose,
    which can start with such a name."""
    bare = _bare(line)
    return any(
        names.fullmatch(bare) for names in (_MAIN, _FRONT, _REFERENCES, _CLOSING_MATTER, _ANNEX)
    )


def names_references(title: str) -> bool:
    """Whether a heading opens the reference list."""
    return _REFERENCES.fullmatch(_bare(title)) is not None


def names_closing_matter(title: str) -> bool:
    """Whether a heading opens acknowledgements, funding, contributions or interests."""
    return _CLOSING_MATTER.fullmatch(_bare(title)) is not None


def names_statement(title: str) -> bool:
    """Whether a heading after the body opens a statement of authors or publisher. It may have more
    text after the usual name."""
    return _STARTS_STATEMENT.match(_bare(title)) is not None


def starts_abstract(text: str) -> bool:
    """Whether a paragraph begins with the label "Abstract" or "Summary"."""
    return _RUN_IN_ABSTRACT.match(text) is not None


def is_of_abstract(titles: Iterable[str], paragraph: str) -> bool:
    """Whether a paragraph belongs to an abstract, by the headings above it or by a label at its
    start."""
    return SectionKind.ABSTRACT in section_kinds(titles) or starts_abstract(paragraph)


def section_kinds(titles: Iterable[str]) -> frozenset[SectionKind]:
    """The kinds of a text by the headings above it, outermost first: the kinds of all of them.

    A heading may consist of several names ("Conclusions and limitations"). If no heading has a
    known name, the first one may contain one ("Survey results"); below a known name this does not
    count, because "Neural methods" in a section "Background" describes other papers.
    """
    names = [_bare(title) for title in titles]
    kinds = frozenset(kind for name in names for kind in _kinds_of(name))
    if not kinds and names and (head := _HEAD.fullmatch(names[0])):
        kinds = _kinds_named(head["last"] or head["first"])
    return kinds or frozenset({SectionKind.OTHER})


def _kinds_of(bare: str) -> frozenset[SectionKind]:
    """The kinds of a heading, without its number; empty if it is not known."""
    if _STARTS_ANNEX.match(bare):
        return frozenset({SectionKind.APPENDIX})
    if _REFERENCES.fullmatch(bare):
        return frozenset({SectionKind.REFERENCES})
    stated = [kinds for names, kinds in _STATED if names.fullmatch(bare)]
    if stated or _CLOSING_MATTER.fullmatch(bare):
        return frozenset({SectionKind.STATEMENTS}).union(*stated)
    if whole := _kinds_named(bare):
        return whole
    parts = [_kinds_named(part) for part in _BETWEEN_NAMES.split(bare)]
    if all(parts):
        return frozenset().union(*parts)
    return frozenset().union(*map(_kinds_named, _BETWEEN_PARTS.split(bare)))


def _kinds_named(name: str) -> frozenset[SectionKind]:
    """The kinds of one usual name; empty for another."""
    return frozenset(kind for names, kinds in _KINDS if names.fullmatch(name) for kind in kinds)


def _bare(title: str) -> str:
    """The name of a section in small letters, without number and punctuation around it; "R E F E R
    E N C E S" without its spaces."""
    text = " ".join(title.split())
    number = heading_number(text)
    if number is not None and not number.label:
        text = number.title
    elif number is None:
        text = _LONE_CAPITAL.sub("", text)
    return unspaced(text.strip(_AROUND_NAMES)).casefold()


def unspaced(title: str) -> str:
    """The title without spaces between its letters: "a b s t r a c t" -> "Abstract". Every other
    title stays as it is."""
    if not _SPACED_LETTERS.fullmatch(title.strip()):
        return title
    word = title.replace(" ", "")
    return word.capitalize() if word.islower() else word
