"""Tells which papers a question about works means: by id, title or DOI, or by authors, year and
subject.

A paper that only mentions a work is not meant: papers cite many works of others. A question names a
work by consecutive words of its title: more than half of them, or all before the first colon. If it
has one more word that the title does not have, it names another work. Only a question that
describes a paper, "the study of X", or asks for papers of a person, may use some words of the title.

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
"""Words that questions about works use and that do not distinguish one work from another."""
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
"""If a paper's title names the thing, its authors are the answer; otherwise the texts of papers
are searched."""
_DESCRIBED_FROM, _BESIDE_BEST = 0.6, 0.9
"""A title must have this share of the distinctive words of a description, and have at least this
part of the best title's share."""
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
"""The words before a year that is the year of papers, not of what was studied."""
_LOOKED_BACK = 80
"""Characters; looking through all of a long question for each year would take the square of its
length."""


@lru_cache(_TITLES_KEPT)
def distinctive_stems(text: str) -> tuple[str, ...]:
    """Stems of the words that may distinguish a work from others, in order. The parts of a
    hyphenated word count as words."""
    stems = (stem_of(word) for word in _small_words(text) if word not in QUESTION_WORDS)
    return tuple(stem for stem in stems if stem not in _ABOUT_WORKS)


def papers_meant(question: str, papers: Mapping[str, PaperFacts]) -> Mapping[str, float]:
    """The papers that a question about works means, each with a certainty of up to 1. Empty if it
    means a work that is not in the corpus.

    papers: those that may be meant, by id.
    """
    if dois := dois_in(question.replace("?", " ")):
        return {paper: 1.0 for paper, facts in papers.items() if facts.doi in dois}
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
    """Papers by all of the writers and of one of the years, whose titles have all words of the
    subject: "Which papers on iron did Lund write in 2019?"."""
    years = list(years_asked_for(question))
    about = question
    for words in (*writers, *(question[one.start : one.end] for one in years)):
        about = about.replace(words, " ")
    wanted = frozenset(distinctive_stems(_LISTS.sub(" ", about)))
    return {
        paper: 1.0
        for paper, facts in papers.items()
        if all(is_among(person, facts.authors) for person in writers)
        and (not years or any(facts.year and int(facts.year) in one.years for one in years))
        and wanted <= frozenset(distinctive_stems(facts.title))
    }


def _papers_described(question: str, papers: Mapping[str, PaperFacts]) -> Mapping[str, float]:
    """Papers whose title and authors have the words by which a question describes a paper.

    After a wording like "the study of sheep" a paper must have most of the words, and all that are
    written as names. For keywords like "doi sheep winter" it must have all of them and be the only
    such paper. Keywords that are all names of things do not describe a paper; the name of a first
    author does, "the Lund paper".
    """
    wanted = frozenset(distinctive_stems(_CALLS_A_STUDY.sub(" ", question)))
    if not wanted:
        return {}
    names = {stem for word in words_written_as_names(question) for stem in distinctive_stems(word)}
    authors = {
        paper: frozenset(distinctive_stems(" ".join(one.authors))) for paper, one in papers.items()
    }
    words = {
        paper: authors[paper].union(distinctive_stems(one.title)) for paper, one in papers.items()
    }
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
        or wanted <= frozenset(distinctive_stems(" ".join(facts.authors[:1])))
    ]
    return dict.fromkeys(fitting, 1.0) if len(fitting) == 1 else {}


def work_asked_for(question: str) -> str:
    """The title by which a question names a work: the words in quotation marks, or the words after
    "Who wrote", "When was" and the like; "" if it names none."""
    if quoted := _QUOTED.search(question):
        return str(quoted[1]).strip(" .,")
    named = _WORK.match(question)
    return named["work"].strip(" .,") if named else ""


def papers_named(
    question: str, papers: Mapping[str, PaperFacts], *, in_full: bool = False
) -> frozenset[str]:
    """Ids of the papers whose title or id is named by the words in quotation marks, or by the whole
    question.

    in_full: only all words of a title before its first colon are a name; otherwise more than half
    of the title is one, too.
    """
    # The whole question counts, too, because a title may have quotation marks in it.
    works = [distinctive_stems(work) for work in (*_QUOTED.findall(question), question)]
    return frozenset(
        paper
        for paper, facts in papers.items()
        if any(_is_name(work, title, in_full) for title in (paper, facts.title) for work in works)
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


def is_quoted(question: str) -> bool:
    """Whether a question has words in quotation marks, which may be a title."""
    return _QUOTED.search(question) is not None


def asks_what_a_quoted_work_says(question: str) -> bool:
    """Whether a question asks what a work says that it names in quotation marks: 'What does "Iron
    in winter" conclude?'. Only this work can answer it."""
    return is_quoted(question) and _ASKS_WHAT_IT_SAYS.search(question) is not None


def describes_a_paper(question: str) -> bool:
    """Whether a question describes a paper, as "the study of sheep" does. "the paper on BERT" does
    not: it has only a name."""
    return (
        not is_quoted(question)
        and _DESCRIBES.search(question) is not None
        and _has_ordinary_words(question)
    )


def writers_asked_for(question: str) -> tuple[str, ...]:
    """The persons whose papers are asked for: "Which paper was written by Ada Lund and Bo Moe?"."""
    found = _BY.search(question)
    persons = next(filter(None, found.groups()), "") if found else ""
    return tuple(one.strip() for one in _BETWEEN_PERSONS.split(persons) if distinctive_stems(one))


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


def _has_ordinary_words(text: str) -> bool:
    """Whether a text has distinctive words that are not part of a name."""
    of_names = {stem for name in words_written_as_names(text) for stem in distinctive_stems(name)}
    return not of_names.issuperset(distinctive_stems(text))


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


def offered_filter(question: Question, passing: Callable[[Filter], Sequence[str]]) -> Offer | None:
    """A filter for the authors and years by which a question names papers: "What do papers by Lund
    since 2019 say about iron?". Conditions that the question's own filter has are left out.

    None if the question names no authors or years, if no paper passes the filter, or if the records
    alone answer the question: "Which papers are by Lund?". passing: returns the ids of the papers
    that pass a filter.
    """
    text, own = question.question, question.filter
    if QuestionKind.PUBLICATION in read(text).kinds:
        return None
    asked = [
        one
        for one in years_asked_for(text)
        if _OF_PAPERS.search(text[max(0, one.start - _LOOKED_BACK) : one.start])
    ]
    by_writers = _by(writers_asked_for(text), text)
    writers = writers_asked_for(text) if by_writers else ()
    conditions = [Condition(FilterField.AUTHOR, (person,)) for person in writers]
    if asked:
        conditions.append(Condition(FilterField.YEAR, tuple(one.years for one in asked)))
    offered = Filter(tuple(one for one in conditions if one not in own.conditions))
    if not offered.conditions or not passing(own & offered):
        return None
    rest = text
    for words in (*(text[one.start : one.end] for one in asked), by_writers):
        rest = rest.replace(words, "", 1)
    return Offer(re.sub(r"\s+(?=[?.,;]|$)", "", " ".join(rest.split())), offered)


def _by(writers: Sequence[str], text: str) -> str:
    """The words of a text from "by" to the last of the writers: "by Ada Lund and Bo Moe". Empty if
    no "by" names them: "What did Lund write?"."""
    ends = ".+?".join(re.escape(one) for one in dict.fromkeys((*writers[:1], *writers[-1:])))
    found = re.search(rf"\bby {ends}", text, re.IGNORECASE) if writers else None
    return found[0] if found else ""
