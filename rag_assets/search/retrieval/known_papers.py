"""Which papers of this corpus a text names: an entry of a reference list, or a question.

A question names a paper by its DOI, its arXiv id, the name of its file, or its whole title. Such a
name selects the paper that is searched. It is not searched for itself, so "the paper" takes its
place in the question.
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
from rag_assets.questions import ReadQuestion, asked_text, read
from rag_assets.questions.reading import STUDY
from rag_assets.search.indexing.tantivy_index import TantivyIndex

_WORD = re.compile(r"[^\W_]+")
_KEY_WORDS = 4
"""A title is looked up by its first words and then compared as a whole. A title with fewer words is
not looked up, because a text may hold it by chance."""
_ID = re.compile(
    r"(?:https?://[\w.]+/)?10\.\d{4,9}/[^\s\"<>]+(?<![.,;:?!)\]”’])|(?<!\.)(?:https?://)?[^\s\"'“”‘’«»*()\[\],;:?!]+(?<!\.)"
)
"""A DOI, or any run of characters without blanks, quotation marks, brackets and the like."""
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
THE_PAPER = "the paper"
Key = TypeVar("Key")
Value = TypeVar("Value")
Papers = tuple[str, ...]
Words = tuple[str, ...]
_NO_IDS: Mapping[str, str | None] = MappingProxyType({})


class KnownPapers:
    """Finds the papers of the corpus that a text names. May be used by several threads; the names
    are read when they are first needed."""

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
        """Papers by arXiv id and by file name with and without its folder, in small letters."""
        pairs = {(id_, paper) for paper, id_ in self._arxiv_ids.items() if id_}
        for paper in self._facts:
            file_name = paper.rpartition("/")[2].lower()
            arxiv_id = normal_arxiv(file_name) or file_name
            pairs |= {(paper.lower(), paper), (file_name, paper), (arxiv_id, paper)}
        return _grouped(sorted(pairs))

    @cached_property
    def _by_title(self) -> Mapping[Words, Papers]:
        """Papers by the words of their titles."""
        return _grouped(
            (words, paper)
            for paper, facts in self._facts.items()
            if (words := pieces_of(facts.title))
        )

    @cached_property
    def _by_start(self) -> Mapping[Words, tuple[Words, ...]]:
        """The words of titles by the first `_KEY_WORDS` of them."""
        return _grouped(
            (words[:_KEY_WORDS], words) for words in self._by_title if len(words) >= _KEY_WORDS
        )

    @cached_property
    def _by_head(self) -> Mapping[Words, Papers]:
        """Papers by the words of their titles up to the first colon."""
        heads = (
            (pieces_of(facts.title.partition(":")[0]), paper)
            for paper, facts in self._facts.items()
        )
        return _grouped((head, paper) for head, paper in heads if head)

    def paper_of(self, entry: str, *, besides: str) -> str | None:
        """The paper that an entry of a reference list names; None if it names none.

        A paper is named by its DOI; without a known DOI by its whole title, word for word, and if
        the entry holds several titles, by the longest. A DOI or title that two papers share names
        neither of them. A title does not count if entry and paper state different DOIs.

        besides: the citing paper, which is never returned.
        """
        dois = dois_in(entry)
        for doi in dois:
            if paper := _only(self._by_doi.get(doi, ())):
                return paper if paper != besides else None
        found = []
        for _, title in self._titles_in(pieces_of(entry)):
            paper = _only(self._by_title[title])
            if paper and paper != besides:
                has_other_doi = dois and self._facts[paper].doi not in ("", *dois)
                if not has_other_doi:
                    found.append((len(title), paper))
        return max(found)[1] if found else None

    def named_in(
        self, question: str, read: ReadQuestion = read, words: TantivyIndex | None = None
    ) -> tuple[Papers, str] | None:
        """The papers of the work that a question names, and the question with "the paper" in place
        of the name: "What does smith2020 find?" becomes "What does the paper find?".

        None if the question names no work or several, or asks for other papers too. Also None if
        without the name nothing is left to search for: then the title may be the subject itself.

        read: reads what a question asks for. words: the index of words; a file name with digits, as "bm25", counts only if no paper holds
        it as a word. None: it always counts.
        """
        names = sorted(
            {*self._ids_in(question, words), *self._titles_written_in(question)},
            # Of names that begin together the longest comes first: it hides the others.
            key=lambda name: (name[0], -name[1]),
        )
        papers = tuple(dict.fromkeys(paper for *_, named in names for paper in named))
        is_one_work = len({self._facts[paper].work or paper for paper in papers}) == 1
        if not is_one_work:
            return None
        asked, n_read = "", 0
        for start, end, _ in names:
            if start >= n_read:
                asked = f"{asked}{question[n_read:start]}{THE_PAPER}"
                n_read = end
        asked = asked_text(asked + question[n_read:])
        has_content = terms_of(asked) or read(asked).kinds
        return (papers, asked) if has_content and not _ABOUT_OTHERS.search(asked) else None

    def _ids_in(
        self, question: str, words: TantivyIndex | None
    ) -> Iterator[tuple[int, int, Papers]]:
        """The file names, arXiv ids and DOIs in a question: start, end, and the papers named."""
        for match in _ID.finditer(question):
            word = match[0].lower()
            name = word.rpartition("/")[2]
            file = _FILE.fullmatch(word)
            ids = [
                file and file[1],
                word if _is_file_name(name, words) else None,
                normal_arxiv(name),
            ]
            found = [
                *(self._by_id.get(id_ or "", ()) for id_ in ids),
                *(self._by_doi.get(doi, ()) for doi in dois_in(word)),
            ]
            if papers := next(filter(None, found), ()):
                yield *_widened(question, *match.span()), papers

    def _titles_written_in(self, question: str) -> Iterator[tuple[int, int, Papers]]:
        """The whole titles in a question, and in quotation marks also titles up to their colon:
        start, end, and the papers named."""
        for match in _QUOTED.finditer(question):
            words = pieces_of(match[1])
            if papers := self._by_title.get(words) or self._by_head.get(words, ()):
                yield *_widened(question, *match.span(1)), papers
        # A written word may have several pieces: "tf-idf".
        pieces = [
            (piece, *match.span())
            for match in _WORD.finditer(question)
            for piece in pieces_of(match[0])
        ]
        for first, title in self._titles_in(tuple(piece for piece, *_ in pieces)):
            start, end = pieces[first][1], pieces[first + len(title) - 1][2]
            if _is_written_as_title(question, start, end):
                yield *_widened(question, start, end), self._by_title[title]

    def _titles_in(self, words: Words) -> Iterator[tuple[int, Words]]:
        """The titles that a sequence of words contains, each with the index of its first word."""
        for first in range(len(words) - _KEY_WORDS + 1):
            for title in self._by_start.get(words[first : first + _KEY_WORDS], ()):
                if words[first : first + len(title)] == title:
                    yield first, title


def _is_file_name(word: str, words: TantivyIndex | None) -> bool:
    """Whether a word can only be the name of a file. It has letters, and underscores or digits:
    "smith2020". Without underscores it must occur in no paper, as "bm25" does."""
    if not _KEY.fullmatch(word):
        return False
    return "_" in word or words is None or not words.n_holding(word)


def _is_written_as_title(question: str, start: int, end: int) -> bool:
    """Whether the words of a title in a question are meant as the title of a paper, not as a
    subject.

    They are if they have a colon or capitals as in a title, or follow a word like "the study". At
    the beginning of a question a comma or the like must follow: "Iron in winter sheep, who wrote
    it?".
    """
    written = question[start:end]
    if ":" in written or is_in_title_case(written) or bool(_before(question, start)["study"]):
        return True
    if has_words_before(question, start):
        return str(_WORD.findall(written)[0]).istitle()
    return question[end : end + 1] in (":", ",", "?", ".")


def _widened(question: str, start: int, end: int) -> tuple[int, int]:
    """Start and end of a name together with its quotation marks and the words that introduce it:
    'the study titled "Iron in winter"', or that follow: "the smith2020 paper"."""
    before, behind = _before(question, start), _BEHIND.match(question, end)
    end = behind.end() if behind else end
    if before["article"] and not before["study"] and (study := _STUDY_BEHIND.match(question, end)):
        end = study.end()
    return before.start(), end


def _before(question: str, start: int) -> re.Match[str]:
    """The words that introduce a name which begins at `start`; the match may be empty."""
    found = _BEFORE.search(question, max(0, start - _LOOK_BACK_CHARS), start)
    assert found is not None, "may be empty"
    return found


def _only(papers: Papers) -> str | None:
    """The paper if there is exactly one."""
    return papers[0] if len(papers) == 1 else None


def _grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, tuple[Value, ...]]:
    """The values of each key, in the order of the pairs."""
    found: defaultdict[Key, list[Value]] = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return {key: tuple(values) for key, values in found.items()}
