"""Which papers of this corpus a text names: an entry of a reference list, or a question.

A question names a paper by its DOI, its arXiv id, the name of its file, or its whole title. What
names a paper chooses it and is no content: the question goes on with "the paper" in its place.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TypeVar

from rag_assets.core.domain import PaperFacts
from rag_assets.core.text.names import has_words_before, is_in_title_case, pieces_of
from rag_assets.core.text.terms import terms_of
from rag_assets.core.text.works import dois_in, normal_arxiv
from rag_assets.questions.reading import STUDY, asked_text, read
from rag_assets.search.indexing.tantivy_index import TantivyIndex

_WORD = re.compile(r"[^\W_]+")
_KEY_WORDS = 4
"""A title is looked up by its first words and then compared whole; a shorter one is no sure sign of
a work."""
_ID = re.compile(
    r"(?:https?://[\w.]+/)?10\.\d{4,9}/[^\s\"<>]+(?<![.,;:?!)\]”’])|(?:https?://)?[^\s\"'“”‘’«»*()\[\],;:?!]+(?<!\.)"
)
"""A DOI, or whatever has no blank or sign in it."""
_KEY = re.compile(r"(?=.*[^\W\d_])(?=.*[\d_])[\w-]+")
_FILE = re.compile(r"(.+?)(?:\.[a-z]{2,8}){1,3}")
_QUOTED = re.compile(r"[\"“«*_]([^\"“”«»*_]{3,}?)[?.,]?[\"”»*_]")
_BEFORE = re.compile(
    rf"(?P<article>\b(?:the|this|that) )?(?P<study>\b{STUDY},? (?:(?:titled|called|entitled|named|of|on|about) )?)?"
    r"(?:(?:with the )?(?:doi|title|arxiv)\b:? ?)?[\"“«‘'*_]*$",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"(?:[\"”»*_]|['’](?!s\b))*")
_STUDY_BEHIND = re.compile(rf" {STUDY}\b", re.IGNORECASE)
_LOOK_BACK_CHARS = 80
_ABOUT_OTHERS = re.compile(
    r"\b(?:others?|else|cit(?:es?|ed|ing)|(?:compared?|agrees?) (?:to|with)|differs? from)\b",
    re.IGNORECASE,
)
"""Asks for more than the paper that is named."""
_THE_PAPER = "the paper"
Key = TypeVar("Key")
Value = TypeVar("Value")
Papers = tuple[str, ...]
Words = tuple[str, ...]
_NO_IDS: Mapping[str, str | None] = MappingProxyType({})


class KnownPapers:
    """May be used by several threads; the names are read when they are first needed."""

    def __init__(
        self,
        papers: Mapping[str, PaperFacts],
        arxiv_ids: Mapping[str, str | None] = _NO_IDS,
    ) -> None:
        """papers, arxiv_ids: by paper_id."""
        self._facts = papers
        self._arxiv_ids = arxiv_ids

    @cached_property
    def _by_doi(self) -> Mapping[str, Papers]:
        return _grouped((facts.doi, paper) for paper, facts in self._facts.items() if facts.doi)

    @cached_property
    def _by_id(self) -> Mapping[str, Papers]:
        """By arXiv id and name of the file, in small letters."""
        pairs = {(id_, paper) for paper, id_ in self._arxiv_ids.items() if id_}
        for paper in self._facts:
            key = paper.rpartition("/")[2].lower()
            pairs |= {(paper.lower(), paper), (key, paper), (normal_arxiv(key) or key, paper)}
        return _grouped(sorted(pairs))

    @cached_property
    def _by_title(self) -> Mapping[Words, Papers]:
        return _grouped(
            (words, paper)
            for paper, facts in self._facts.items()
            if (words := pieces_of(facts.title))
        )

    @cached_property
    def _by_start(self) -> Mapping[Words, tuple[Words, ...]]:
        """Titles by their first words."""
        return _grouped(
            (words[:_KEY_WORDS], words) for words in self._by_title if len(words) >= _KEY_WORDS
        )

    @cached_property
    def _by_head(self) -> Mapping[Words, Papers]:
        """By the words of a title up to its first colon."""
        heads = (
            (pieces_of(facts.title.partition(":")[0]), paper)
            for paper, facts in self._facts.items()
        )
        return _grouped((head, paper) for head, paper in heads if head)

    def paper_of(self, entry: str, *, besides: str) -> str | None:
        """The paper whose DOI an entry states, else the one whose whole title it holds, word for
        word; of several titles the longest counts. A DOI or a title that two papers share finds
        neither; nor does a title if both state a DOI, and not the same. besides: the paper that
        cites."""
        stated = dois_in(entry)
        for paper in filter(None, (_only(self._by_doi.get(doi, ())) for doi in stated)):
            return paper if paper != besides else None
        found = []
        for _, title in self._titles_in(pieces_of(entry)):
            own = _only(self._by_title[title])
            if (
                own
                and own != besides
                and not (stated and self._facts[own].doi not in ("", *stated))
            ):
                found.append((len(title), own))
        return max(found)[1] if found else None

    def named_in(
        self, question: str, words: TantivyIndex | None = None
    ) -> tuple[Papers, str] | None:
        """The papers that a question names if they are one work, and the question with "the paper"
        for the name.

        None if it names several or none, asks for other papers too, or if nothing is left that
        could be looked for: the title may be the subject itself. words: those of all passages;
        None: no name of a file is a word of papers.
        """
        spans = sorted(
            {*self._ids_in(question, words), *self._titles_written_in(question)},
            key=lambda one: (one[0], -one[1]),
        )
        papers = tuple(dict.fromkeys(paper for *_, named in spans for paper in named))
        is_one_work = len({self._facts[paper].work or paper for paper in papers}) == 1
        if not is_one_work:
            return None
        asked, end = "", 0
        for start, behind, _ in spans:
            if start >= end:
                asked, end = f"{asked}{question[end:start]}{_THE_PAPER}", behind
        asked = asked_text(asked + question[end:])
        has_content = terms_of(asked) or read(asked).kinds
        return (papers, asked) if has_content and not _ABOUT_OTHERS.search(asked) else None

    def _ids_in(
        self, question: str, words: TantivyIndex | None
    ) -> Iterator[tuple[int, int, Papers]]:
        for match in _ID.finditer(question):
            word = match[0].lower()
            name = word.rpartition("/")[2]
            file = _FILE.fullmatch(word)
            ids = [file and file[1], word if _is_key(name, words) else None, normal_arxiv(name)]
            found = [
                *(self._by_id.get(id_ or "", ()) for id_ in ids),
                *(self._by_doi.get(doi, ()) for doi in dois_in(word)),
            ]
            if papers := next(filter(None, found), ()):
                yield *_with_its_mark(question, *match.span()), papers

    def _titles_written_in(self, question: str) -> Iterator[tuple[int, int, Papers]]:
        """Whole titles, and in quotation marks also what stands before their colon."""
        for match in _QUOTED.finditer(question):
            words = pieces_of(match[1])
            if papers := self._by_title.get(words) or self._by_head.get(words, ()):
                yield *_with_its_mark(question, *match.span(1)), papers
        placed = [
            (word, *match.span())
            for match in _WORD.finditer(question)
            for word in pieces_of(match[0])
        ]
        for at, title in self._titles_in(tuple(word for word, *_ in placed)):
            start, end = placed[at][1], placed[at + len(title) - 1][2]
            if _is_written_as_title(question, start, end):
                yield *_with_its_mark(question, start, end), self._by_title[title]

    def _titles_in(self, words: Words) -> Iterator[tuple[int, Words]]:
        """The titles that stand in a row of words, and where."""
        for at in range(len(words) - _KEY_WORDS + 1):
            for title in self._by_start.get(words[at : at + _KEY_WORDS], ()):
                if words[at : at + len(title)] == title:
                    yield at, title


def _is_key(word: str, words: TantivyIndex | None) -> bool:
    """Whether a word can only be the name of a file: it holds letters, and underscores or digits,
    and with digits alone, as "bm25", stands in no paper."""
    if not _KEY.fullmatch(word):
        return False
    return "_" in word or words is None or not words.n_holding(word)


def _is_written_as_title(question: str, start: int, end: int) -> bool:
    """Whether a row of words is a name and no subject: it is called a study, its capitals or its
    colon are those of a title; or, at the beginning of a question, a sign separates it from the
    rest."""
    written = question[start:end]
    if ":" in written or is_in_title_case(written) or bool(_before(question, start)["study"]):
        return True
    if has_words_before(question, start):
        return str(_WORD.findall(written)[0]).istitle()
    return question[end : end + 1] in (":", ",", "?", ".")


def _with_its_mark(question: str, start: int, end: int) -> tuple[int, int]:
    """The place of a name with the quotation marks around it and what introduces it: "the study
    titled"."""
    before, behind = _before(question, start), _BEHIND.match(question, end)
    end = behind.end() if behind else end
    if before["article"] and not before["study"] and (study := _STUDY_BEHIND.match(question, end)):
        end = study.end()
    return before.start(), end


def _before(question: str, start: int) -> re.Match[str]:
    found = _BEFORE.search(question, max(0, start - _LOOK_BACK_CHARS), start)
    assert found is not None, "may be empty"
    return found


def _only(papers: Papers) -> str | None:
    return papers[0] if len(papers) == 1 else None


def _grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, tuple[Value, ...]]:
    found: defaultdict[Key, list[Value]] = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return {key: tuple(values) for key, values in found.items()}
