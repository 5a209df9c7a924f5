"""Tells which papers a question about works means: by id, title or DOI, or by authors, year and
subject.

A paper that only mentions a work is not meant: papers cite many works of others. A work is named by
a run of words of its title: more than half of them, or all before the first colon. One more word
that the title does not have names another work. Only a question that describes a paper, "the study
of X", or asks for papers of somebody, may use some words of the title.

Authors and years of papers in a question, "papers by Lund since 2019", are offered to the user as a
filter, and never applied.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.core.domain import Condition, Filter, FilterField, PaperFacts
from rag_assets.core.text.folding import plain_lower
from rag_assets.core.text.names import words_written_as_names
from rag_assets.core.text.terms import QUESTION_WORDS, stem_of, terms_of, words_of
from rag_assets.core.text.works import dois_in
from rag_assets.questions import Question, QuestionKind, read
from rag_assets.questions.reading import ABOUT, STUDY, years_asked_for

_ABOUT_WORKS = terms_of(
    "wrote write written developed created built designed introduced proposed invented author authors authored "
    "coauthored published publish publication appear appeared journal article study title year date doi institution "
    "university affiliation affiliated first last lead carried conducted did ran performed led undertook behind people "
    "research researchers team work works based names came out entitled titled called here find found show conclude "
    "conclusion finding result et al"
)
"""Words that tell no work from another."""
_QUOTED = re.compile(r"[\"“«]([^\"“”«»]{3,})[\"”»]")
_ASKS_WHAT_IT_SAYS = re.compile(
    r"\bwhat (?:did|do|does)\b.*[\"”»]\s+(?:find|show|conclude|report|say)\b", re.IGNORECASE
)
_HEAD = re.compile(r".+?(?=[:?!;–—]|\.\s| - |, an? |$)", re.DOTALL)
"""A title up to its first colon or the like: the work may be called by that alone."""
_JOINS = r"(?:,|\b(?:and|or|with|to|than|from|versus|vs)\b)"
_WORD = re.compile(r"[^\W_]+")
_LISTS = re.compile(
    rf"\b(?:which|what|list|name|all|any)\b[^?;:]{{0,30}}?\b{STUDY}\b", re.IGNORECASE
)
_WORK = re.compile(
    r"^\W*(?:who (?:wrote|authored|published)|who (?:is|are|was|were) (?:the authors? of|behind)"
    rf"|(?:when|where|in (?:which|what) (?:journal|year)) (?:was|were|did))\s+(?:the {STUDY}\s+)?(?P<work>.{{8,300}}?)"
    r"(?:\s+(?:first )?(?:published|appear(?:ed)?|come out|written))?[\s?.!]*$",
    re.IGNORECASE,
)
_TITLES_KEPT = 100_000
"""Titles whose words are kept from one question to the next: reading those of 10,000 papers takes
seconds."""
_MADE_BY = re.compile(
    r"\bwho (?:developed|created|built|designed|introduced|proposed|invented)\b", re.IGNORECASE
)
"""Answered by the authors of the paper whose title names the thing; else by what papers say of
it."""
_DESCRIBED_FROM, _BESIDE_BEST = 0.6, 0.9
"""Share of the telling words of a description that a title must have, and of the best title's
share."""
_END = r"(?= (?:on|about|from|in|that|which|is|are|was|were|among)\b| and (?:wh|how)|[?;:]|$)"
_NAME = r"(?:(?:d[aeiu]|del|della|van|von|der|den|la|le|ten|ter|bin) )*[^\W\d_a-z][\w.'’-]*"
_BY = re.compile(
    rf"\b(?:written|authored) by (?P<by>.+?){_END}"
    r"|\b(?:which|what) (?:\w+ ){0,3}?(?:did|has|have) (?P<did>[^?;:]+?) (?:write|written|author|authored)\b"
    rf"|\b(?:papers?|articles?|studies|works?)\b[^?;:]{{0,20}}? by (?P<of>(?-i:{_NAME}(?:(?:,| &|,? and|) {_NAME})*))",
    re.IGNORECASE,
)
_BETWEEN_PERSONS = re.compile(r",|;|&|\band\b|\bor\b", re.IGNORECASE)
_DESCRIBES = re.compile(
    rf"\b{STUDY},? {ABOUT}\b|\bwr(?:ote|itten|ites?) (?:about|on)\b", re.IGNORECASE
)
_CALLS_A_STUDY = re.compile(rf"\b{STUDY}\b", re.IGNORECASE)
_OF_PAPERS = re.compile(rf"\b{STUDY}\b[^?;:]{{0,40}}$", re.IGNORECASE)
"""What stands before years that are those of papers, not of what was studied."""
_LOOKED_BACK = 80
"""Characters; looking through all of a long question for each year would take the square of its
length."""


@lru_cache(_TITLES_KEPT)
def telling(text: str) -> tuple[str, ...]:
    """Stems of the words that may tell a work from another, in order; a hyphenated word in its
    parts."""
    stems = (stem_of(word) for word in _small_words(text) if word not in QUESTION_WORDS)
    return tuple(stem for stem in stems if stem not in _ABOUT_WORKS)


def papers_meant(question: str, papers: Mapping[str, PaperFacts]) -> Mapping[str, float]:
    """How surely each paper is meant by a question about works, up to 1; empty where it means a
    work that is not here.

    papers: those that may be meant, by id.
    """
    if stated := dois_in(question.replace("?", " ")):
        return {paper: 1.0 for paper, facts in papers.items() if facts.doi in stated}
    if (writers := writers_asked_for(question)) or (
        _LISTS.search(question) and any(years_asked_for(question))
    ):
        return _papers_listed(question, writers, papers)
    is_made = _MADE_BY.search(question) is not None
    if (
        named := papers_named(question, papers, in_full=is_made)
        or works_compared(question, papers).keys()
    ):
        return dict.fromkeys(sorted(named), 1.0)
    return {} if is_made or is_quoted(question) else _papers_described(question, papers)


def _papers_listed(
    question: str, writers: Sequence[str], papers: Mapping[str, PaperFacts]
) -> Mapping[str, float]:
    """Papers by all of the writers, of the years, and whose titles have the words of the
    subject."""
    years = list(years_asked_for(question))
    about = question
    for said in (*writers, *(question[one.start : one.end] for one in years)):
        about = about.replace(said, " ")
    wanted = frozenset(telling(_LISTS.sub(" ", about)))
    return {
        paper: 1.0
        for paper, facts in papers.items()
        if all(is_among(one, facts.authors) for one in writers)
        and (not years or any(facts.year and int(facts.year) in one.years for one in years))
        and wanted <= frozenset(telling(facts.title))
    }


def _papers_described(question: str, papers: Mapping[str, PaperFacts]) -> Mapping[str, float]:
    """Papers whose title and authors have the words by which a question describes one.

    "the study of sheep": most of its words, and all of its names. "doi sheep winter": all of its
    words, in one paper alone. Names of things are no description; "the Lund paper" is by Lund
    first.
    """
    wanted = frozenset(telling(_CALLS_A_STUDY.sub(" ", question)))
    if not wanted:
        return {}
    names = {stem for word in words_written_as_names(question) for stem in telling(word)}
    authors = {paper: frozenset(telling(" ".join(one.authors))) for paper, one in papers.items()}
    words = {paper: authors[paper].union(telling(one.title)) for paper, one in papers.items()}
    if describes_a_paper(question):
        shares = {
            paper: len(wanted & own) / len(wanted) for paper, own in words.items() if names <= own
        }
        best = max(shares.values(), default=0.0)
        if best >= _DESCRIBED_FROM:
            return {paper: share for paper, share in shares.items() if share >= _BESIDE_BEST * best}
    is_long = len(wanted) > 1
    is_subject = not wanted <= names and (is_long or _CALLS_A_STUDY.search(question))
    fitting = [
        paper
        for paper, facts in papers.items()
        if (is_subject and wanted <= words[paper])
        or (is_long and wanted <= authors[paper])
        or wanted <= frozenset(telling(" ".join(facts.authors[:1])))
    ]
    return dict.fromkeys(fitting, 1.0) if len(fitting) == 1 else {}


def work_asked_for(question: str) -> str:
    """The title by which a question names a work: in quotation marks, or all that follows its
    wording; "" for none."""
    quoted, named = _QUOTED.search(question), _WORK.match(question)
    return (quoted[1] if quoted else named["work"] if named else "").strip(" .,")


def papers_named(
    question: str, papers: Mapping[str, PaperFacts], *, in_full: bool = False
) -> frozenset[str]:
    """Ids of the papers that bear the name of a work in the question: what stands in quotation
    marks, or all of it.

    in_full: more than half of a title is no name; all before the first colon is one.
    """
    works = [
        telling(work) for work in (*_QUOTED.findall(question), question)
    ]  # a title may have some in it
    return frozenset(
        paper
        for paper, facts in papers.items()
        if any(_is_name(work, title, in_full) for title in (paper, facts.title) for work in works)
    )


def works_compared(question: str, papers: Mapping[str, PaperFacts]) -> Mapping[str, str]:
    """The papers whose id or title, or title up to its first colon, stands in the question, by id
    with their words in it; none unless they are several works: a single one may be a subject,
    "hypertension" of hypertension.pdf."""
    placed = [
        (stem_of(word), match.start())
        for match in _WORD.finditer(question)
        if (word := plain_lower(match[0])) not in QUESTION_WORDS
        and stem_of(word) not in _ABOUT_WORKS
    ]
    asked = [stem for stem, _ in placed]
    places: dict[str, tuple[int, int]] = {}
    for paper_id, facts in papers.items():
        for title in (paper_id, facts.title):
            head = _HEAD.match(title)
            for run in (telling(title), telling(head[0] if head else title)):
                at = _place_of(run, asked)
                if at is not None and len(run) > places.get(paper_id, (0, 0))[1]:
                    places[paper_id] = at, len(run)
    covered = [range(at, at + n) for at, n in places.values()]
    found = {}
    for paper, (at, n) in places.items():
        if not any(at in other and at + n - 1 in other and n < len(other) for other in covered):
            last = _WORD.match(question, placed[at + n - 1][1])
            found[paper] = question[placed[at][1] : last.end() if last else None]
    return found if len({papers[paper].work or paper for paper in found}) > 1 else {}


def asked_of_one(question: str, compared: Mapping[str, str], paper_id: str) -> str:
    """What a question that compares papers asks of one of them: the question without the names of
    the others, and with "the paper" for the name of a file."""
    for paper, name in compared.items():
        if paper != paper_id and name != compared[paper_id]:
            said = re.escape(name)
            question = re.sub(rf"{_JOINS}\s*\b{said}\b|\b{said}\b\s*(?:{_JOINS})?", "", question)
    if not compared[paper_id].replace(" ", "").isalpha():
        question = question.replace(compared[paper_id], "the paper")
    return " ".join(question.split())


def is_quoted(question: str) -> bool:
    return _QUOTED.search(question) is not None


def asks_what_a_quoted_work_says(question: str) -> bool:
    """Whether only a work named in quotation marks can answer: 'What does "Iron in winter"
    conclude?'."""
    return is_quoted(question) and _ASKS_WHAT_IT_SAYS.search(question) is not None


def describes_a_paper(question: str) -> bool:
    """Whether a question describes a paper, "the study of sheep": not in nothing but names, "the
    paper on BERT"."""
    return (
        not is_quoted(question)
        and _DESCRIBES.search(question) is not None
        and _has_ordinary_words(question)
    )


def writers_asked_for(question: str) -> tuple[str, ...]:
    """The persons whose papers are asked for: "Which paper was written by Ada Lund and Bo Moe?"."""
    found = _BY.search(question)
    persons = next(filter(None, found.groups()), "") if found else ""
    return tuple(one.strip() for one in _BETWEEN_PERSONS.split(persons) if telling(one))


def is_among(person: str, authors: Sequence[str]) -> bool:
    """Whether the words of a name stand side by side in one of the names, in either order; initials
    do not count."""
    wanted, *named = (
        [word for word in _small_words(text) if len(word) > 1] for text in (person, *authors)
    )
    return any(_is_run(wanted, one) or _is_run(wanted[::-1], one) for one in named)


def _is_name(work: Sequence[str], title: str, in_full: bool) -> bool:
    words, head = telling(title), _HEAD.match(title)
    has_head = head is not None and _is_run(telling(head[0]), work)
    return _is_run(work, words) and (
        has_head or (not in_full and 2 * len(set(work)) > len(set(words)))
    )


def _place_of(run: Sequence[str], of: Sequence[str]) -> int | None:
    """Where the words follow each other in others; None where they do not, or there are none."""
    n = len(run)
    return next(
        (at for at in range(len(of) - n + 1) if n and list(of[at : at + n]) == list(run)), None
    )


def _has_ordinary_words(text: str) -> bool:
    of_names = {stem for name in words_written_as_names(text) for stem in telling(name)}
    return not of_names.issuperset(telling(text))


def _small_words(text: str) -> list[str]:
    words = words_of(re.sub(r"['’]s\b", "", text))
    return [part for word in words for part in word.casefold().split("-")]


def _is_run(words: Sequence[str], of: Sequence[str]) -> bool:
    return _place_of(words, of) is not None


@dataclass(frozen=True, slots=True)
class Offer:
    """What could be asked instead."""

    question: str
    """The question without the words that became the filter: no paper says of itself that it is by
    Lund."""
    where: Filter


def offered_filter(question: Question, passing: Callable[[Filter], Sequence[str]]) -> Offer | None:
    """Authors and years by which a question names papers, without those that its own filter has.

    passing: gives the ids of the papers that pass a filter. None without such words, if no paper
    passes, and for a question that the records answer: "Which papers are by Lund?".
    """
    text, own = question.question, question.filter
    if QuestionKind.PUBLICATION in read(text).kinds:
        return None
    asked = [
        one
        for one in years_asked_for(text)
        if _OF_PAPERS.search(text[max(0, one.start - _LOOKED_BACK) : one.start])
    ]
    by = _by(writers_asked_for(text), text)
    writers = writers_asked_for(text) if by else ()
    conditions = [Condition(FilterField.AUTHOR, (person,)) for person in writers]
    conditions += [Condition(FilterField.YEAR, tuple(one.years for one in asked))] if asked else []
    offered = Filter(tuple(one for one in conditions if one not in own.conditions))
    if not offered.conditions or not passing(own & offered):
        return None
    rest = text
    for said in (*(text[one.start : one.end] for one in asked), by):
        rest = rest.replace(said, "", 1)
    return Offer(re.sub(r"\s+(?=[?.,;]|$)", "", " ".join(rest.split())), offered)


def _by(writers: Sequence[str], text: str) -> str:
    """The words "by Ada Lund and Bo Moe"; empty where no "by" names the writers: "What did Lund
    write?"."""
    ends = ".+?".join(re.escape(one) for one in dict.fromkeys((*writers[:1], *writers[-1:])))
    found = re.search(rf"\bby {ends}", text, re.IGNORECASE) if writers else None
    return found[0] if found else ""
