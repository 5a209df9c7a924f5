"""Tells which papers a question about works means: by id, title or DOI, or by authors, year and
subject.

Which words name a work or a person is read by a trained network (`question_reader`); here they are
compared with the records. A paper that only mentions a work is not meant: papers cite many works of
others. A name has consecutive words of a title: more than half of them, or all before the first
colon. If it has one more word that the title does not have, it names another work. Other words
describe a paper, "sheep in winter", if its title and authors have all of them.

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
from rag_assets.questions import Question, QuestionKind
from rag_assets.questions.reading import STUDY, Asked, years_asked_for

_ABOUT_WORKS = terms_of(
    "wrote write written developed created built designed introduced proposed invented author authors authored "
    "coauthored published publish publication appear appeared journal article study title year date doi institution "
    "university affiliation affiliated first last lead carried conducted did ran performed led undertook behind people "
    "research researchers team work works based names came out entitled titled called here find found show conclude "
    "conclusion finding result et al"
)
"""Words that questions about works use and that do not distinguish one work from another."""
_QUOTED = re.compile(r"[\"“«]([^\"“”«»]{3,})[\"”»]")
_ASKS_WHAT_IT_SAYS = re.compile(
    r"\bwhat (?:did|do|does)\b.*[\"”»]\s+(?:find|show|conclude|report|say)\b", re.IGNORECASE
)
_HEAD = re.compile(r".+?(?=[:?!;–—]|\.\s| - |, an? |$)", re.DOTALL)
"""A title up to its first colon or the like: the work may be called by that alone."""
_JOINS = r"(?:,|\b(?:and|or|with|to|than|from|versus|vs)\b)"
_WORD = re.compile(r"[^\W_]+")
_TITLES_KEPT = 100_000
"""Titles whose words are kept from one question to the next: reading those of 10,000 papers takes
seconds."""
_DESCRIBED_WITH_AUTHOR_FROM = 0.5
"""If a question names the authors, a title must have this share of the other distinctive words."""
_OF_PAPERS = re.compile(rf"\b{STUDY}\b[^?;:]{{0,40}}$", re.IGNORECASE)
"""The words before a year or author of papers, not of what was studied."""
_LOOKED_BACK = 80
"""Characters; looking through all of a long question for each year would take the square of its
length."""


@lru_cache(_TITLES_KEPT)
def distinctive_stems(text: str) -> tuple[str, ...]:
    """Stems of the words that may distinguish a work from others, in order. The parts of a
    hyphenated word count as words."""
    stems = (stem_of(word) for word in _small_words(text) if word not in QUESTION_WORDS)
    return tuple(stem for stem in stems if stem not in _ABOUT_WORKS)


def papers_meant(
    question: str, asked: Asked, papers: Mapping[str, PaperFacts]
) -> Mapping[str, float] | None:
    """The papers whose record a question asks for, each with a certainty of up to 1. Empty if it
    names a work that is not in the corpus, None if it names none.

    asked: what was read in the question. papers: those that may be meant, by id.
    """
    if dois := dois_in(question.replace("?", " ")):
        return {paper: 1.0 for paper, facts in papers.items() if facts.doi in dois}
    if QuestionKind.MAKER in asked.kinds:
        return dict.fromkeys(sorted(papers_named(asked.works, papers, in_full=True)), 1.0)
    years = list(years_asked_for(question)) if asked.asks_for_titles else []
    fitting = {
        paper: facts
        for paper, facts in papers.items()
        if all(is_among(person, facts.authors) for person in asked.persons)
        and (not years or any(facts.year and int(facts.year) in one.years for one in years))
    }
    if asked.asks_for_titles and (asked.names_a_work or years):
        wanted = frozenset(distinctive_stems(" ".join(asked.works)))
        of_titles = {paper: distinctive_stems(facts.title) for paper, facts in fitting.items()}
        return {paper: 1.0 for paper, stems in of_titles.items() if wanted.issubset(stems)}
    if not asked.names_a_work:
        return None
    if not asked.works:
        return _by_first_author(fitting, asked.persons)
    named = papers_named(asked.works, fitting) or works_compared(question, fitting)
    if named:
        return dict.fromkeys(sorted(named), 1.0)
    return _papers_described(question, asked, fitting)


def _by_first_author(
    fitting: Mapping[str, PaperFacts], persons: Sequence[str]
) -> Mapping[str, float]:
    """The paper by these authors: "the Lund paper" has Lund as its first author, "Moe and Ness" has
    both among its authors. Empty if there are several."""
    if len(persons) == 1:
        fitting = {
            paper: facts
            for paper, facts in fitting.items()
            if is_among(persons[0], facts.authors[:1])
        }
    return dict.fromkeys(fitting, 1.0) if len(fitting) == 1 else {}


def _papers_described(
    question: str, asked: Asked, papers: Mapping[str, PaperFacts]
) -> Mapping[str, float]:
    """The paper whose title and authors have all words by which a question describes a paper; most
    of them, with all that are written as names, if its authors are named, too. Empty if two papers
    have as many.

    Words that are all names of things describe nothing; but the name of a first author does.
    """
    wanted = frozenset(distinctive_stems(" ".join(asked.works)))
    names = {stem for word in words_written_as_names(question) for stem in distinctive_stems(word)}
    if wanted <= names:
        return _by_first_author(papers, (" ".join(asked.works), *asked.persons))
    words = {
        paper: frozenset(distinctive_stems(" ".join((one.title, *one.authors))))
        for paper, one in papers.items()
    }
    shares = {
        paper: len(wanted & own) / len(wanted)
        for paper, own in words.items()
        if names & wanted <= own
    }
    best = max(shares.values(), default=0.0)
    least = _DESCRIBED_WITH_AUTHOR_FROM if asked.persons else 1.0
    found = [paper for paper, share in shares.items() if share == best >= least]
    return dict.fromkeys(found, best) if len(found) == 1 else {}


def papers_named(
    works: Sequence[str], papers: Mapping[str, PaperFacts], *, in_full: bool = False
) -> frozenset[str]:
    """Ids of the papers that one of the works names by title or id.

    in_full: only all words of a title before its first colon are a name; otherwise more than half
    of the title is one, too.
    """
    stems = list(map(distinctive_stems, works))
    return frozenset(
        paper
        for paper, facts in papers.items()
        if any(_is_name(work, title, in_full) for title in (paper, facts.title) for work in stems)
    )


def works_compared(question: str, papers: Mapping[str, PaperFacts]) -> Mapping[str, str]:
    """The papers that a question names, if they are several works: by id, with the words that name
    them in the question.

    A paper is named by its id, its title, or its title up to the first colon. A single paper is not
    returned, because its name may be the subject: "hypertension" of hypertension.pdf.
    """
    words = [
        (stem_of(word), match.start())
        for match in _WORD.finditer(question)
        if (word := plain_lower(match[0])) not in QUESTION_WORDS
        and stem_of(word) not in _ABOUT_WORKS
    ]
    stems = [stem for stem, _ in words]
    # For each paper the indexes in `words` of its longest name.
    names: dict[str, range] = {}
    for paper_id, facts in papers.items():
        for title in (paper_id, facts.title):
            head = _HEAD.match(title)
            for own in (distinctive_stems(title), distinctive_stems(head[0] if head else title)):
                first = _index_of(own, stems)
                if first is not None and len(own) > len(names.get(paper_id, ())):
                    names[paper_id] = range(first, first + len(own))
    found = {}
    for paper, name in names.items():
        is_part_of_other = any(
            name[0] in other and name[-1] in other and len(name) < len(other)
            for other in names.values()
        )
        if not is_part_of_other:
            last = _WORD.match(question, words[name[-1]][1])
            found[paper] = question[words[name[0]][1] : last.end() if last else None]
    return found if len({papers[paper].work or paper for paper in found}) > 1 else {}


def asked_of_one(question: str, compared: Mapping[str, str], paper_id: str) -> str:
    """The question that a comparison of papers asks of one of them: "How do BERT and lund_2019 mask
    words?" asks BERT "How do BERT mask words?" and lund_2019 "How do the paper mask words?".

    The names of the other papers are left out, and "the paper" replaces a name that does not
    consist of letters, as that of a file. compared: what `works_compared` returns.
    """
    own_name = compared[paper_id]
    for paper, name in compared.items():
        if paper != paper_id and name != own_name:
            other = re.escape(name)
            question = re.sub(rf"{_JOINS}\s*\b{other}\b|\b{other}\b\s*(?:{_JOINS})?", "", question)
    if not own_name.replace(" ", "").isalpha():
        question = question.replace(own_name, "the paper")
    return " ".join(question.split())


def is_quoted(question: str, work: str) -> bool:
    """Whether words of a question follow a quotation mark: then they are a title."""
    return question.partition(work)[0].endswith(tuple("\"“„«‘'「『《"))


def works_quoted(question: str) -> list[str]:
    """The words of a question in quotation marks, which may be a title; and if there are any, the
    whole question, because a title may have quotation marks in it."""
    quoted = _QUOTED.findall(question)
    return [*quoted, question] if quoted else []


def asks_what_a_work_says(question: str) -> bool:
    """Whether a question asks what a work says that it names in quotation marks: 'What does "Iron
    in winter" conclude?'. Only this work can answer it."""
    return _ASKS_WHAT_IT_SAYS.search(question) is not None


def is_among(person: str, authors: Sequence[str]) -> bool:
    """Whether a person is one of the authors: "Ada Lund", "Lund Ada" and "Lund" are, if an author
    is "Ada B. Lund". Initials do not count."""
    wanted, *names = (
        [word for word in _small_words(text) if len(word) > 1] for text in (person, *authors)
    )
    return any(_contains(name, wanted) or _contains(name, wanted[::-1]) for name in names)


def _is_name(work: Sequence[str], title: str, in_full: bool) -> bool:
    """Whether the words of a work are consecutive words of a title, and enough to name it. work,
    in_full: as in `papers_named`."""
    words, head = distinctive_stems(title), _HEAD.match(title)
    has_head = head is not None and _contains(work, distinctive_stems(head[0]))
    return _contains(words, work) and (
        has_head or (not in_full and 2 * len(set(work)) > len(set(words)))
    )


def _index_of(words: Sequence[str], text: Sequence[str]) -> int | None:
    """The index in `text` at which all `words` follow each other; None if there is no such index or
    `words` is empty."""
    n = len(words)
    return next(
        (i for i in range(len(text) - n + 1) if n and list(text[i : i + n]) == list(words)), None
    )


def _small_words(text: str) -> list[str]:
    """The words in small letters, without a possessive 's; hyphenated words in their parts."""
    words = words_of(re.sub(r"['’]s\b", "", text))
    return [part for word in words for part in word.casefold().split("-")]


def _contains(text: Sequence[str], words: Sequence[str]) -> bool:
    """Whether all `words`, at least one, follow each other in `text`."""
    return _index_of(words, text) is not None


@dataclass(frozen=True, slots=True)
class Offer:
    """What could be asked instead."""

    question: str
    """The question without the words that became the filter: no paper says of itself that it is by
    Lund."""
    where: Filter


def offered_filter(
    question: Question, asked: Asked, passing: Callable[[Filter], Sequence[str]]
) -> Offer | None:
    """A filter for the authors and years by which a question names papers: "What do papers by Lund
    since 2019 say about iron?". Conditions that the question's own filter has are left out.

    None if the question names no authors or years, if no paper passes the filter, or if the records
    alone answer the question: "Which papers are by Lund?". asked: what was read in the question.
    passing: returns the ids of the papers that pass a filter.
    """
    text, own = question.question, question.filter
    if QuestionKind.PUBLICATION in asked.kinds:
        return None
    years = [one for one in years_asked_for(text) if _follows_papers(text, one.start)]
    by_writers = _by(asked.persons, text)
    writers = asked.persons if by_writers else ()
    conditions = [Condition(FilterField.AUTHOR, (person,)) for person in writers]
    if years:
        conditions.append(Condition(FilterField.YEAR, tuple(one.years for one in years)))
    offered = Filter(tuple(one for one in conditions if one not in own.conditions))
    if not offered.conditions or not passing(own & offered):
        return None
    rest = text
    for words in (*(text[one.start : one.end] for one in years), by_writers):
        rest = rest.replace(words, "", 1)
    return Offer(re.sub(r" (?=[?.,;]|$)", "", " ".join(rest.split())), offered)


def _by(writers: Sequence[str], text: str) -> str:
    """The words of a text from "by" to the last of the writers: "by Ada Lund and Bo Moe". Empty if
    they are not said of papers: "What did Lund write?", "sheep raised by Lund"."""
    ends = ".+?".join(re.escape(one) for one in dict.fromkeys((*writers[:1], *writers[-1:])))
    found = re.search(rf"\bby {ends}", text, re.IGNORECASE) if writers else None
    return found[0] if found and _follows_papers(text, found.start()) else ""


def _follows_papers(text: str, start: int) -> bool:
    return _OF_PAPERS.search(text[max(0, start - _LOOKED_BACK) : start]) is not None
