"""Reads what a question asks for: its parts and their kinds; whether it asks which papers, or how
many, say something; and the years by which it names papers, "since 2019".

"Why is X scaled, and who proposed Y?" has two parts: each is searched and answered by itself. "How
many studies were included?" does not ask about the papers of the corpus, but what a review says. All
wordings here are English; whether a record is asked for, and of which work, is read by a trained
network (`search.retrieval.question_reader`).
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache

from rag_assets.core.domain import NumberRange
from rag_assets.core.text.terms import QUESTION_WORDS, terms_of

MIN_PART_WORDS = 4
"""Least words of a part of a question; one less is enough if one of them is a name ("Who runs
Amcor?")."""
MOST_PARTS = 8
"""A question with more parts is not split, because each part costs a search."""
_MOST_READ = 400
"""Sentences with more characters are not compared with the patterns of this module, whose time grows
with the square of the length."""
_ASKING = r"(?:how|what|which|why|who|whom|whose|when|where|whether)"
_AUXILIARY = r"(?:did|does|do|is|are|was|were|has|have|can|could|should|will|would)"
_PREPOSITION = r"(?:in|of|for|on|with|by|at|from|to|among|during|under|against|between|over|after)"
_SENTENCE_END = re.compile(r"(?<=[?!])\s+|(?<=\.)\s+(?=[A-Z])")
_NEW_QUESTION = re.compile(
    rf"(?:[,;]|(?<!\s))\s+and,?\s+(?=(?:{_PREPOSITION}\s+)?{_ASKING}\b)|[,;]\s+(?:but|while|whereas)\s+(?={_ASKING}\b)"
    rf"|[,;]\s+and\s+(?={_AUXILIARY}\b)|,\s+(?=how\s+(?:many|much|long|old|often|far|large)\b)|;\s+(?:and\s+)?",
    re.IGNORECASE,
)
"""The words between two questions."""
_AND_FIRST = re.compile(r"^(?:and|but|also),?\s+", re.IGNORECASE)
_ASKS = re.compile(rf"\b{_ASKING}\b|^{_AUXILIARY}\b|\?$", re.IGNORECASE)
_OPENS = re.compile(rf"(?:{_PREPOSITION}\s+)?(?:{_ASKING}|{_AUXILIARY})\b", re.IGNORECASE)
_BEGINS = re.compile(rf"{_OPENS.pattern}|.*\?$", re.IGNORECASE | re.DOTALL)
_NUMBER = r"#?\d{1,2}(?:\.\d{1,2})*"
_ASKS_NEXT = rf"(?={_OPENS.pattern})"
_ASKS_ANEW = rf"(?=(?-i:[A-Z])|{_ASKING}\b)"
"""The begin of a question after a number, but not "was" in "Task 3 was solved by whom?"."""
_AROUND = re.compile(
    "|".join(
        (
            r"[\s•▪◦‣>]+|[*#–—-]+\s+",
            rf"[\[(]?(?:{_NUMBER}|[a-z]|[ivx]{{2,5}})[)\]][.:]?(?:\s++(?=\W*[^\W\d_])|{_ASKS_NEXT})",
            rf"(?:q|question|part|task|item)(?:[\s.#]*{_NUMBER}|\s[a-z]\b)?(?:[.:]\s+|\s*\n|\s+{_ASKS_ANEW}){_ASKS_NEXT}",
            rf"(?:{_NUMBER}|[a-z]|[ivx]{{2,5}})[.:]\s+{_ASKS_NEXT}|{_NUMBER}\s+(?=(?-i:[A-Z])){_ASKS_NEXT}",
            rf"(?:question\s*)?{_NUMBER}(?:[.:]\s++|(?>\s*\n))(?=\W*[^\W\d_])|(?:question|q)[:\n]",
            rf"[\"“«'‘](?P<quoted>(?:{_OPENS.pattern})[^\"“”«»]*)[\"”»'’]$",
        )
    ),
    re.IGNORECASE,
)
"""A bullet, the number of a question, or a whole question in quotation marks."""
_WORDS_BEFORE = re.compile(r"([^\n\t.:,!?]{1,60})[\n\t.:,!]+\s+")
_SALUTATION = re.compile(
    rf"[^\n?]{{1,60}},[ \t]*(?>\n\s*?\n)\s*+(?=\S)|please\b[^\n?:]{{0,40}}:\s+{_ASKS_NEXT}",
    re.IGNORECASE,
)
"""A line that ends in a comma above an empty line, as in letters, and what asks for an answer."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|this|these|he|she|his|her)\b", re.IGNORECASE
)
_LEAST_ALONE, _LEAST_POINTING_BACK = 2, 5
"""Content words that a part must have to be understood without the rest of the question; and that a
part with "it" or the like must have."""
STUDY = (
    r"(?:stud(?:y|ies)|papers?|articles?|essays?|experiments?|surveys?|trials?|diar(?:y|ies)|reviews?|research|projects?|"
    r"games?|reports?|meta-analys[ie]s|cohort|interviews?|investigation|preprint|dissertation|thesis|simulations?|"
    r"manuals?|handbooks?|guidelines?|guides?|brochures?|overviews?|polls?|patent|data ?sheets?|"
    r"(?<!\bto )work(?! (?:as|at|by|during|for|if|in|to|when|with)\b))"
)
"""What a paper is called: "the work", but not "the router to work with"."""
_A_STUDY = re.compile(rf"\b{STUDY}\b", re.IGNORECASE)
THIS_PAPER = "this paper"
"""In a question whose filter is the paper meant: no other words have to tell which it is."""
NO_WORDS = "The question has no word that can be searched for: write what is asked about."
_SUMMARY = re.compile(
    r"^\W*(?:(?:please|can you|could you) )*(?:summari[sz]e|sum up)\b"
    r"|\b(?:give|write|provide)\b.{0,20}\b(?:summary|overview)\b"
    r"|\b(?:summary|overview|gist) of (?:the|this) (?:paper|study|article)\b"
    r"|\bwhat (?:is|are|was|were) (?:the|this) (?:paper|study|article)\b.{0,120}\babout\b"
    r"|\bwhat does (?:the|this) (?:paper|study|article)\b.{0,120}\b(?:say|show|find)\b",
    re.IGNORECASE,
)


TITLE_LINE, AUTHORS_LINE = "Title", "Authors"
"""The beginnings of two lines of a title page."""


class QuestionKind(Enum):
    """What a question asks for. Most questions have none of these kinds."""

    PUBLICATION = "publication"
    """What title pages say: who wrote a paper, where and when it appeared."""
    STATEMENTS = "statements"
    """What papers state besides their findings: funding, interests, data and code, registration,
    who did what."""
    SUMMARY = "summary"
    """What a paper says as a whole."""
    RELATED_WORK = "related work"
    """Who wrote another work than the paper that is named, or when it appeared: a reply, a work that
    is cited, a translation."""
    MAKER = "maker"
    """Who made a thing, which may be the subject of a paper or a thing that papers mention."""


@dataclass(frozen=True)
class QuestionPart:
    """One of the questions inside a question."""

    text: str
    """The words of the question: "how was it chosen?"."""
    searched: str
    """The text to search for: that of the part, or the whole question if the part cannot be
    understood alone."""
    asked: "Asked"
    """What the part asks for."""

    @property
    def kinds(self) -> frozenset[QuestionKind]:
        return self.asked.kinds


@dataclass(frozen=True)
class Asked:
    """What a trained model reads in a question; empty where it is not certain."""

    kinds: frozenset[QuestionKind] = frozenset()
    lines: tuple[str, ...] = ()
    """The beginnings of the lines of a title page that answer: "Authors", "DOI"."""
    works: tuple[str, ...] = ()
    """Words of the question that name a work, by its title or subject."""
    persons: tuple[str, ...] = ()
    """Names of persons by whom the work is."""

    @property
    def names_a_work(self) -> bool:
        return bool(self.works or self.persons)

    @property
    def asks_for_titles(self) -> bool:
        """ "Which papers are by Lund?" """
        return TITLE_LINE in self.lines


NOTHING_ASKED = Asked()


def _nothing(_question: str) -> Asked:
    return NOTHING_ASKED


@dataclass(frozen=True)
class QuestionReading:
    parts: tuple[QuestionPart, ...]
    """In order. A question that is not split has one part, the question itself."""
    asked: Asked
    """What the whole question asks for."""

    @property
    def kinds(self) -> frozenset[QuestionKind]:
        return self.asked.kinds


def has_words(question: str) -> bool:
    """Whether a question has a word that can be searched for, or a word for papers. "it" and "---"
    have none: then nothing is searched, because the hits would be arbitrary."""
    return bool(terms_of(question)) or _A_STUDY.search(question) is not None


def asked_text(question: str) -> str:
    """The question without bullets, numbers ("1) ", "Question 3"), quotation marks around it, and
    words before it that do not matter: "Hi, ", "Please tell me: "."""
    text = unicodedata.normalize("NFC", question).strip()
    while match := _AROUND.match(text):
        text = (match["quoted"] or text[match.end() :]).strip()
    if salutation := _SALUTATION.match(text):
        return asked_text(text[salutation.end() :])
    if before := _WORDS_BEFORE.match(text):
        rest = text[before.end() :]
        if not _is_named(before[1]) and not _ASKS.search(before[1]) and has_words(rest):
            return asked_text(rest)
    return text if has_words(text) else question


def _is_named(before: str) -> bool:
    """Whether words before a question may name what it is about: they have content words, or are in
    capitals as "IT" and the "A" of "A. fumigatus", or are the month "May"."""
    return bool(terms_of(before)) or before.isupper() or before == "May"


def points_at_papers(question: str) -> bool:
    """Whether a question is about papers that are not named in it: "Who wrote it?", "When was the
    study published?"."""
    return _POINTS_BACK.search(question) is not None or _A_STUDY.search(question) is not None


@lru_cache(maxsize=512)
def read(question: str, model: Callable[[str], Asked] = _nothing) -> QuestionReading:
    """The parts of a question and what it asks for. Kept in memory, because search and answering
    both need it. model: reads, in any language, what a question asks for and which work it names."""

    def part_of(text: str, searched: str) -> QuestionPart:
        asked = model(text)
        if not asked.names_a_work and searched != text:
            of_all = model(searched)
            asked = replace(asked, works=of_all.works, persons=of_all.persons)
        if any(_SUMMARY.search(one) for one in _short_sentences(text)):
            asked = replace(asked, kinds=asked.kinds | {QuestionKind.SUMMARY})
        return QuestionPart(text, searched, asked)

    whole = part_of(question, question)
    if QuestionKind.SUMMARY in whole.kinds:
        return QuestionReading((whole,), whole.asked)
    texts = [_AND_FIRST.sub("", text.strip(" ?;")) + "?" for text in _asked_in(question, model)]
    parts = [part_of(text, text if _means_something(text) else question) for text in texts]
    is_compound = 1 < len(parts) <= MOST_PARTS and all(
        _is_long_enough(part.searched) for part in parts
    )
    # If no part can be understood alone, all would search for the same text.
    is_compound = is_compound and any(part.searched != question for part in parts)
    return QuestionReading(tuple(parts) if is_compound else (whole,), whole.asked)


ReadQuestion = Callable[[str], QuestionReading]
"""`read`, with a model or without."""


def _short_sentences(text: str) -> Iterator[str]:
    """The text and its sentences, without those longer than `_MOST_READ`."""
    return (one for one in (text, *_SENTENCE_END.split(text)) if len(one) <= _MOST_READ)


def _asked_in(question: str, model: Callable[[str], Asked]) -> list[str]:
    """The texts of the parts. A text that asks nothing is added to the part before it: "Use what the
    table shows."."""
    found: list[str] = []
    for sentence in _SENTENCE_END.split(question):
        for text in _NEW_QUESTION.split(sentence):
            is_new = not found or (
                _BEGINS.match(text)
                and _ASKS.search(found[-1])
                and not _is_of_title(found[-1], text, model)
            )
            if is_new:
                found.append(text)
            else:
                found[-1] = f"{found[-1]} {text}"
    return found


def _is_of_title(asked: str, text: str, model: Callable[[str], Asked]) -> bool:
    """Whether a text continues a title in the question before it. "When was Is iron good? A trial
    published?" asks when "Is iron good? A trial" was published."""
    joined = f"{asked} {text}"
    return (
        len(joined) <= _MOST_READ
        and not _OPENS.match(text)
        and QuestionKind.PUBLICATION in model(joined).kinds
    )


def _is_long_enough(part: str) -> bool:
    """Whether a part has `MIN_PART_WORDS` words, or one less and a name."""
    words = part.split()
    has_name = any(word[0].isupper() for word in words[1:])
    return len(words) >= (MIN_PART_WORDS - 1 if has_name else MIN_PART_WORDS)


def _means_something(part: str) -> bool:
    """Whether a part can be understood without the rest of the question: it has a name or enough
    content words; with "it" or the like it needs both."""
    words = [word for word in _WORD.findall(part)[1:] if word.lower() not in QUESTION_WORDS]
    has_name = any(word[0].isupper() for word in words)
    if _POINTS_BACK.search(part):
        return has_name and len(words) >= _LEAST_POINTING_BACK
    return has_name or len(words) >= _LEAST_ALONE


_PAPERS = r"(?:papers|articles|publications|studies|works|reports|preprints|documents)"
_BY_OTHERS = (
    r"(?:(?:was|were|are|have been|had been|did (?:they|the (?:authors|review))) )(?:\w+ )?"
    r"(?:includ|exclud|identif|screen|retriev|review|eligib|select|assess|found|analy[sz]|retain|cited)"
)
_ASKS_WHICH = re.compile(
    rf"(?:\b(?:in|by) )?\b(?:(?:how many|which|what)(?: of (?:the|these|my|our))?|(?:list|name) (?:all |the )*|"
    rf"(?:do|are there) any)(?: [\w-]+)?? ?\b{_PAPERS}\b(?! {_BY_OTHERS})(?: that\b)?",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(
    rf"\bhow many (?:of (?:the|these|my|our) )?(?P<papers>(?:[\w-]+ )??{_PAPERS})\b", re.IGNORECASE
)
_PREDICATE = re.compile(
    r"\s+(?!(?:do|did|can|could|was|is|does|there)\b)(?P<said>\w(?:.*[^\s?.!])?)[\s?.!]*$",
    re.DOTALL,
)
_IN_WORDS = "no one two three four five six seven eight nine ten eleven twelve".split()
_YEAR = r"(?:the year )?((?:19|20)\d\d)\b"
_YEARS = re.compile(
    rf"\b(?:(?:between|from) {_YEAR} (?:and|to|until) {_YEAR}|(of|in|from|since|after|before|until) {_YEAR})",
    re.IGNORECASE,
)
_RANGES: Mapping[str, Callable[[int], NumberRange]] = {
    "since": lambda year: NumberRange(year, None),
    "after": lambda year: NumberRange(year + 1, None),
    "before": lambda year: NumberRange(1, year - 1),
    "until": lambda year: NumberRange(1, year),
}
"""The years that a word before a year means; after any other word it is the year itself."""


def asks_which_papers(question: str) -> bool:
    """Whether a question asks which papers, or how many, say or do something."""
    return _ASKS_WHICH.search(question) is not None


def asked_of_each(question: str) -> str:
    """What must be found in each paper: "Veldt library" for "Which papers use the Veldt
    library?". Question words at both ends are left out."""
    words = _ASKS_WHICH.sub(" ", question, count=1).strip(" ?.!").split()
    content = [nth for nth, word in enumerate(words) if word.lower() not in QUESTION_WORDS]
    return " ".join(words[content[0] : content[-1] + 1] if content else words)


def counted(question: str, n_papers: int) -> str:
    """The answer to "How many papers use X?" if `n_papers` were found: "At least three papers use
    X.". Empty for any other question. It says "at least", because there may be more papers than
    were found.
    """
    asked = _HOW_MANY.search(question)
    if asked is None:
        return ""
    number = _IN_WORDS[n_papers] if n_papers < len(_IN_WORDS) else str(n_papers)
    papers = asked["papers"] if n_papers > 1 else "paper"
    is_first = not question[: asked.start()].strip()
    predicate = _PREDICATE.match(question, asked.end()) if is_first else None
    if predicate:
        return f"At least {number} {papers} {predicate['said']}."
    return f"At least {number} {papers} (“{asked_of_each(question)}”)."


@dataclass(frozen=True, slots=True)
class YearsAsked:
    """The years that a question asks for, with their wording `question[start:end]`."""

    years: NumberRange
    start: int
    end: int


def years_asked_for(question: str) -> Iterator[YearsAsked]:
    """The years in a question, in order: "since 2019", "from 2015 to 2018". A range whose first year
    is the later one is left out."""
    for match in _YEARS.finditer(question):
        first, last, word, year_text = match.groups()
        if year_text:
            year = int(year_text)
            range_of = _RANGES.get(word.lower())
            yield YearsAsked(range_of(year) if range_of else NumberRange(year, year), *match.span())
        elif int(first) <= int(last):
            yield YearsAsked(NumberRange(int(first), int(last)), *match.span())
