"""Question files: JSON Lines with `id`, `question` and, optionally, filters and what a right answer holds.

One format serves the qa asset, the smoke evaluation and batch retrieval.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    PlainSerializer,
    StringConstraints,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from rag_assets.domain import EVERYTHING, Filter
from rag_assets.errors import InvalidFilter, InvalidQuestions, MissingInput
from rag_assets.question_comparisons import Side
from rag_assets.question_descriptions import (
    Described,
    asks_of_the_study_itself,
    described,
    described_by,
    is_study_phrase,
)
from rag_assets.question_splitting import split

MAX_QUESTION_CHARS = 4000
MIN_PART_WORDS = 4
"""Words of a part of a question; one less where one of them is a name ("Who runs Amcor?")."""
MOST_PARTS = 8
"""Each part costs a search and its time; with more of them it is one question."""
_ABOUT_PUBLICATION = re.compile(
    r"\bwho (?:wrote|authored|co-?authored|published|developed|created|built|designed|introduced|proposed|invented)\b"
    r"|\bwho (?:carried out|conducted|did|ran|performed|led|undertook) (?:the|this|that)\b.{0,30}?"
    r"\b(?:study|research|experiment|trial|survey|review|analysis|meta-analysis|investigation|work|project|paper)\b"
    r"|\bwho (?:is|are|was|were) (?:the (?:\w+ )?(?:people|persons?|researchers?|scientists?|team) )?behind\b"
    r"|\b(?:written|authored) by\b|\bwhich (?:papers?|articles?|studies|works?)\b.{1,60}\b(?:write|written)\W*$"
    r"|\bwhich (?:\w+ ){0,3}?(?:papers?|articles?|studies|works?)\b.{0,20} by (?-i:[A-Z])"
    r"|(?<!\bdo the )(?<!\bdoes the )(?<!\bdid the )\bauthors? (?:of|behind)\b"
    r"|\bwho (?:is|are|was|were) (?:its|their) (?:\w+ )?authors?\b"
    r"|\b(?:who|which|what|list|name|names of) (?:(?:is|are|were) )?(?:the )?"
    r"(?:first |last |lead |senior |sole |corresponding )?authors?\b"
    r"(?! (?:(?:has|have) )?"
    r"(?:drafted|collected|analy[sz]ed|contributed|conceived|designed|supervised|performed|ran)\b)"
    r"|\b(?:which|what|whose) (?:journals?|institutions?|universit(?:y|ies)|affiliations?)\b|\baffiliated\b"
    r"|\bwhere do(?:es)? the (?:\w+ )?(?:authors?|researchers?)\b.{0,80}\bwork\b"
    r"|\bwhere (?:was|were|did) .{1,200}\bpublish(?:ed)?\b"
    r"|\b(?:when|in (?:which|what) year) (?:was|were|did) .{1,120}\b(?:published|publish|appear)\b"
    r"|\bwhen did (?:it|they) come out\b"
    r"|\bwhen (?:was|did) .{0,120}\b(?:study|paper|article|review|report|preprint|survey|trial|guide|manual)\b"
    r".{0,120}\b(?:come out|put on arxiv)\W*$"
    r"|\bpublication (?:date|year)\b|\bdoi\b",
    re.IGNORECASE,
)
_WHAT_AUTHORS_SAY = re.compile(
    r"\b(?:do|does|did) the authors? of\b[^,;?]{1,200}?\band the authors? of\b", re.IGNORECASE
)
"""Asks what several papers say, not who wrote them."""
_ABOUT_STATEMENTS = re.compile(
    r"\bpre-?regist|\bregister(?:ed|ing)?\b|\bregistration\b"
    r"|\b(?:data|code|materials?|scripts?)\b.{0,60}\b(?:available|availability|shared?|sharing|accessed|open(?:ly)?|public(?:ly)?|"
    r"found|obtained?|download(?:ed)?)\b|\bopen (?:data|code|materials?|practices?|science)\b|\bpublicly available\b"
    r"|\bfund(?:ed|er|ers|ing|s)?\b|\bfinanc(?:ed|ing|ial support)\b|\bsponsor|\bgrants?\b|\bpaid for\b"
    r"|\b(?:conflicts?|competing|conflicting|declared?)\b.{0,20}\binterests?\b|\bdisclos"
    r"|\bwhere (?:can|could|may) (?:one|i|we|readers|people) (?:get|obtain|access|download)\b"
    r"|\b(?:who|which authors?) (?:drafted|collected|analy[sz]ed|conceived|supervised)\b"
    r"|\backnowledg|\bthank|\bcontribut(?:ed|ions?)\b|\b(?:ethics|review board|ethical)\b|\bapprov(?:ed|al)\b"
    r"|\baction editor\b|\bedited\b|\borcid\b|\bsupplement(?:ary|al) (?:material|information)",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"^\W*(?:(?:please|can you|could you) )*(?:summari[sz]e|sum up)\b"
    r"|\b(?:give|write|provide)\b.{0,20}\b(?:summary|overview)\b"
    r"|\b(?:summary|overview|gist) of (?:the|this) (?:paper|study|article)\b"
    r"|\bwhat (?:is|are|was|were) (?:the|this) (?:paper|study|article)\b.{0,120}\babout\b"
    r"|\bwhat does (?:the|this) (?:paper|study|article)\b.{0,120}\b(?:say|show|find)\b",
    re.IGNORECASE,
)
_QUOTED = r"[\"“«][^\"“”«»]{3,200}[\"”»]"
_THING = rf"(?:the [\w'’ -]{{3,40}} )?{_QUOTED}|[^,;:]{{3,160}}?"
_FINDINGS = re.compile(
    rf"^\W*(?:and |so )?what (?:did|do|does) (?:the authors of )?(?P<study>{_THING}) "
    r"(?:find|show|conclude|discover|report|reveal)(?: (?:out|overall|in the end))?\W*$"
    r"|^\W*(?:and |so )?what (?:are|is|were|was) the (?:(?:main|key|major|central|overall|most important) )?"
    rf"(?:findings?|results?|conclusions?) (?:of|from|in) (?P<of_study>{_THING})\W*$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_DEFINITION = re.compile(
    r"\bmeant by\b|\bwhat (?:do|does|did) .{1,80}\b(?:mean|stand for|refer to|denote)\b|\bdefin(?:e|ed|ition)\b"
    r"|^\W*what (?:is|are) (?:an? |the )?[\w-]+(?: [\w-]+){0,3}\W*$",
    re.IGNORECASE,
)
_JUDGED = "|".join(
    "necessary possible important essential safe dangerous permitted allowed forbidden prohibited recommended "
    "advisable required likely true better best easy easier hard harder difficult acceptable useful common".split()
)
_IMPERSONAL = re.compile(
    rf"\b(?:is|was|would|will|can|could|may|might|should) it (?:be )?(?:\w+ )?(?:{_JUDGED}) (?:for [^,;?]{{1,40}} )?"
    r"(?:that|to (?!an?\b|the\b|any\b|all\b))"
    r"|\b(?:does|did|will|would|can) it (?:\w+ )?take (?:[^,;?]{1,40} )?to\b",
    re.IGNORECASE,
)
"""An "it" that stands for nothing: "is it necessary to", "how long does it take to"."""
_POINTS_BACK = re.compile(r"\b(?:it|its|they|them|their|this|these|he|she|his|her)\b", re.IGNORECASE)
FUNCTION_WORDS = frozenset(
    "a about an and any are as at be been but by can could did do does for from had has have how if in into is it "
    "its many may might more most much no not of on or should than that the their them then there these they this "
    "those to was were what when where whether which who whom whose why will with would you your".split()
)
"""Words that say nothing of what a question is about. Words such as "up" and "off" do, after a verb: "take up"."""
_LEAST_ALONE, _LEAST_WITHOUT_PAPER = 2, 5
"""Words that a part must have to mean something without the rest, and not to be asked of the paper that another part
describes."""
_LINE_BREAKS = str.maketrans("\n\r\t", "   ")
_EXAMPLE = 'Write one JSON object per line, {"id": "q1", "question": "..."}, or name another file.'


def _as_filter(value: object) -> object:
    """A filter from its text, with our own message for a wrong one."""
    try:
        return Filter.parse(value) if isinstance(value, str) else value
    except InvalidFilter as error:
        raise PydanticCustomError("filter", "{problem}", {"problem": str(error)}) from error


FilterText = Annotated[InstanceOf[Filter], BeforeValidator(_as_filter), PlainSerializer(str)]
"""A filter, written in its syntax."""
NonEmpty = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class ExpectedPaper(BaseModel):
    """A paper that states the answer, and the pages it stands on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paper_id: NonEmpty
    pages: tuple[int, ...] = ()
    """Physical, 1-based; empty when the paper has no pages or they do not matter."""


class Question(BaseModel):
    """One line of a question file."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)

    id: NonEmpty
    question: Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_QUESTION_CHARS)]
    """May be blank: then nothing is found, and the others go on."""
    paper_ids: tuple[str, ...] | None = Field(None, description="Only these papers are searched.")
    where: FilterText | None = Field(None, description="Only what passes this filter is searched.")
    expected: tuple[ExpectedPaper, ...] = ()
    key_facts: tuple[tuple[NonEmpty, ...], ...] = Field(
        (), description="Facts of a right answer, each a list of accepted spellings."
    )
    answerable: bool | None = Field(None, description="False: no paper of the corpus answers it. Empty: not said.")

    @property
    def filter(self) -> Filter:
        """What is searched: what `paper_ids` and `where` both let through."""
        papers = EVERYTHING if self.paper_ids is None else Filter.of_papers(self.paper_ids)
        return papers & (self.where or EVERYTHING)

    @property
    def is_labelled(self) -> bool:
        """Whether the line says what a right answer is."""
        return bool(self.expected or self.key_facts) or self.answerable is not None


@dataclass(frozen=True)
class QuestionPart:
    """One of the questions inside a compound question."""

    text: str
    """As it was asked: "how was it chosen?"; with the paper where it is asked of several, so that no two are alike."""
    searched: str
    """What is looked for; the whole question where the part points back and means nothing alone."""
    asked: str
    """What is looked for inside the paper that is meant: the text without the words that describe the paper."""
    about: str = ""
    """These words; empty where the question describes no paper."""


def asked(text: str) -> Question:
    """A question that comes from no file; it may have several lines.

    Raises InvalidQuestions when it is blank, too long or holds characters that are no text.
    """
    if not 0 < len(text.strip()) <= MAX_QUESTION_CHARS:
        raise InvalidQuestions(f"A question has 1 to {MAX_QUESTION_CHARS} characters, this one {len(text.strip())}.")
    if not text.translate(_LINE_BREAKS).isprintable():
        raise InvalidQuestions("The question holds characters that are no text. Write it in UTF-8.")
    return Question(id=text, question=text)


def asks_about_publication(question: str) -> bool:
    """Whether a question is about what title pages say: who wrote a paper, where and when it appeared."""
    return _ABOUT_PUBLICATION.search(_WHAT_AUTHORS_SAY.sub("", question)) is not None


def asks_about_statements(question: str) -> bool:
    """Whether a question is about what papers state beside their subject: funding, interests, data and code,
    registration, who did what."""
    return _ABOUT_STATEMENTS.search(question) is not None


def asks_for_summary(question: str) -> bool:
    """Whether a question asks what a paper says as a whole."""
    return _SUMMARY.search(question) is not None


def asks_for_findings(question: str) -> bool:
    """Whether a question asks what a paper found as a whole: "What did the trial of X find?"; not what it found about
    something."""
    found = findings_of(question)
    return is_study_phrase(found) or re.search(_QUOTED, found) is not None


def findings_of(question: str) -> str:
    """The thing whose findings a question asks for, "the trial of X" or a title; empty where it asks for none."""
    found = _FINDINGS.search(question)
    return found["study"] or found["of_study"] if found else ""


def asks_for_a_definition(question: str) -> bool:
    """Whether a question asks what a name means: abstracts and introductions say it."""
    return _DEFINITION.search(question) is not None


def question_parts(question: str) -> list[QuestionPart]:
    """The questions inside a compound question; the question itself when it is one.

    "Why is X scaled, and who proposed Y?" is two. "What is done about X: in a, and in b?" is "What is done about X: in
    a" and "What is done about X: in b". A part that describes no paper is asked of those that the others describe.
    """
    whole = described(question)
    alone = [QuestionPart(question, question, whole.asked, whole.about)]
    if asks_for_summary(question):
        return alone
    things = [thing for sides in split(question) for thing in _taken_apart(sides)]
    abouts = dict.fromkeys(one.about for text, one in things if one.about and not asks_of_the_study_itself(text))
    found: list[QuestionPart] = []
    for text, (left, about) in things:
        if about or _means_something(text, _LEAST_WITHOUT_PAPER if abouts else _LEAST_ALONE):
            found.append(QuestionPart(text, text, left, about))
        elif abouts:
            found += [QuestionPart(_said_of(text, other, abouts), f"{text} {other}", left, other) for other in abouts]
        else:
            found.append(QuestionPart(text, question, left))
    is_compound = 1 < len(found) <= MOST_PARTS and all(_is_long_enough(part.searched) for part in found)
    return found if is_compound else alone


def _is_long_enough(part: str) -> bool:
    words = part.split()
    has_name = any(word[0].isupper() for word in words[1:])
    return len(words) >= (MIN_PART_WORDS - 1 if has_name else MIN_PART_WORDS)


def _taken_apart(sides: Sequence[Side]) -> list[tuple[str, Described]]:
    """What each side of a question asks, and of which paper: where one is called a study, the other names a paper."""
    are_papers = any(is_study_phrase(side.thing) or described(side.text).about for side in sides if side.thing)
    found = [(side, described(side.text)) for side in sides]
    return [
        (side.text, described_by(side.text, side.thing) if are_papers and not one.about and side.thing else one)
        for side, one in found
    ]


def _said_of(text: str, paper: str, papers: Collection[str]) -> str:
    """A part as it was asked; with the paper that it is asked of where there are several."""
    return text if len(papers) == 1 else f"{text.rstrip('?')} ({paper})?"


def _means_something(part: str, least_words: int) -> bool:
    """Whether a part of a question means something without the rest: it holds a name or enough words; both, where one
    of them points back."""
    words = [word for word in _WORD.findall(part)[1:] if word.lower() not in FUNCTION_WORDS]
    has_name = any(word[0].isupper() for word in words)
    if _POINTS_BACK.search(_IMPERSONAL.sub("", part)):
        return has_name and len(words) >= _LEAST_WITHOUT_PAPER
    return has_name or len(words) >= least_words


def load_questions(path: Path, *, unknown_keys: Literal["refuse", "ignore"] = "refuse") -> list[Question]:
    """Read a question file in its order; blank lines are skipped.

    unknown_keys: "refuse" finds misspelt keys; "ignore" reads files that carry the keys of other tools. Raises
    MissingInput when there is no such file, InvalidQuestions when it holds no question, or naming the line that cannot
    be used or whose id occurred before.
    """
    questions: list[Question] = []
    seen: set[str] = set()
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        try:
            question = Question.model_validate_json(line, extra="forbid" if unknown_keys == "refuse" else "ignore")
        except ValidationError as error:
            problem = "; ".join(_problem(item["loc"], item["type"], item["msg"]) for item in error.errors())
            raise InvalidQuestions.at(path, number, problem) from error
        if question.id in seen:
            raise InvalidQuestions.at(path, number, f'the id "{question.id}" occurred before')
        seen.add(question.id)
        questions.append(question)
    if not questions:
        raise InvalidQuestions(f"{path} holds no question. {_EXAMPLE}")
    return questions


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8-sig").split("\n")
    except FileNotFoundError as error:
        raise MissingInput(f"The question file {path} does not exist. {_EXAMPLE}") from error
    except UnicodeDecodeError as error:
        raise InvalidQuestions(f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from error
    except OSError as error:
        raise InvalidQuestions(f"{path} cannot be read as a question file: {error.strerror}.") from error


def _problem(place: tuple[int | str, ...], kind: str, message: str) -> str:
    where = ".".join(str(part) for part in place) or "the line"
    if kind != "extra_forbidden":
        return f"{where}: {message}"
    keys: type[BaseModel] = Question if len(place) == 1 else ExpectedPaper
    alike = get_close_matches(str(place[-1]), keys.model_fields, n=1)
    meant = f"is {alike[0]} meant?" if alike else f"known keys are {', '.join(keys.model_fields)}"
    return f"{where}: there is no such key; {meant}"
