"""The papers that a question names: "Activision 2019", "the AMCOR 10-Q of Q2 2023", "smith2020".

A word of the question names papers if it occurs in their profiles (words of file name, title and
first page), and nearly all passages with the word are of these papers. So "Boeing" names a report,
but "coronavirus" names nothing, because many papers mention it. A word of a file name always
counts; a word of a title or a first page counts only if the question writes it as a name. Years and
quarters distinguish the named papers from each other, but do not name papers by themselves.

A key is the name of a paper's file: "smith2020", "raptor". A question that contains the key means
the paper, even if other papers mention the word. Some names may as well be the subject of the
question, and count only if the question names several papers: a key that is written differently
("step-back prompting" for step_back_prompting), a title up to its colon, and a key that the paper
uses as a word, "ships" of ships.txt.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import log

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.text.folding import plain
from rag_assets.core.text.names import (
    joined_pairs,
    periods_in,
    pieces_of,
    words_of,
    words_written_as_names,
)
from rag_assets.search.indexing.tantivy_index import TantivyIndex

_LEAST_CONCENTRATION = 0.9
"""Share of the passages with a word that must be of the papers it names. At 0.7, names of viruses
and countries in titles cost COVID-QA 9 of 1,000 answers in the first chunk."""
_FEW, _MOST_NAMED = 4, 0.25
"""A word may name this many papers, or this share of all papers; a word in the names of more is too
common."""
_CLEAR = 0.5
"""Papers are clearly named if the summed idf of the words that name them reaches this share of
log(1 + number of papers). A single word that names one paper nearly reaches a share of 1."""
_LEAST_OF_KEY = 0.1
"""Share of the passages with a word of a key that must be of the key's paper. It is small, because
surveys mention "raptor" more often than its own paper does. A word like "virus", which all papers
use, does not reach it and so does not name virus.pdf."""
_MOST_PIECES = 6
"""Most words of a key, or of a title up to its colon: no question writes out a longer one."""
_NEAR_BEST = 0.8
"""Papers with this share of the best score are searched by themselves, if they are few."""
PaperNumbers = npt.NDArray[np.int64]
_NONE: PaperNumbers = np.empty(0, np.int64)


@dataclass(frozen=True)
class NamedPapers:
    """The papers that a question names."""

    scores: Mapping[str, float]
    """By paper_id, above 0, up to 1."""
    clearly: tuple[str, ...] = ()
    """The few papers that are named clearly enough to be searched by themselves; sorted."""
    alone: tuple[str, ...] = ()
    """Papers for which the question has a word or key that names no other paper; sorted."""

    def shares(self, paper_ids: Sequence[str]) -> npt.NDArray[np.float64]:
        """The score of each paper, 0 for one that is not named; shape (n,)."""
        return np.array([self.scores.get(paper, 0.0) for paper in paper_ids], np.float64)


NO_PAPERS = NamedPapers({})


class PaperNames:
    """Names of all published papers; may be used by several threads."""

    def __init__(self, profiles: pa.Table, words: TantivyIndex | None) -> None:
        """profiles: schema PROFILES. words: counts where else a word occurs; None: only file names
        are compared."""
        self._ids: list[str] = profiles["paper_id"].to_pylist()
        self._words = words
        self._first_pages = profiles["first_page"]
        self._by_file = _papers_by_word(profiles["file_words"])
        self._by_page = _papers_by_word(profiles["page_words"])
        self._by_period = _papers_by_word(profiles["periods"])
        self._by_key: dict[tuple[str, ...], list[int]] = {}
        for number, (paper_id, title) in enumerate(
            zip(self._ids, profiles["title"].to_pylist(), strict=True)
        ):
            for name in {pieces_of(_key_of(paper_id)), pieces_of((title or "").partition(":")[0])}:
                if 0 < len(name) <= _MOST_PIECES:
                    self._by_key.setdefault(name, []).append(number)
        self._n_periods = np.maximum(
            1, np.from_dlpack(pc.list_value_length(profiles["periods"].combine_chunks()))
        )

    def named_by(self, question: str) -> NamedPapers:
        """The papers that a question names, and how clearly it names each."""
        named, alone = np.zeros(len(self._ids)), set[str]()
        names, joined = words_written_as_names(question), set(joined_pairs(question))
        for word in sorted({*words_of(question), *joined}):
            papers = (
                _NONE if periods_in(word) else self._papers_of(word, word in names, word in joined)
            )
            named[papers] += self._idf(len(papers))
            if len(papers) == 1 and not self._is_a_word(word, papers[0], question):
                alone.add(self._ids[papers[0]])
        by_key = self._named_by_key(question, alone)
        if not named.any():
            return NamedPapers(dict.fromkeys(by_key, 1.0), by_key, by_key) if by_key else NO_PAPERS
        clear = np.minimum(1.0, named / (_CLEAR * log(1 + len(self._ids))))
        # Periods count only for papers that a word names.
        total = np.where(named > 0, named + self._period_scores(question), 0.0)
        scores = clear * total / total.max()
        found = {self._ids[number]: float(scores[number]) for number in np.flatnonzero(scores)}
        found |= dict.fromkeys(by_key, 1.0)
        best = max(found.values())
        clearly = sorted(paper for paper, score in found.items() if score >= _NEAR_BEST * best)
        is_clear = clear.max() >= _CLEAR and len(clearly) <= _FEW
        return NamedPapers(
            found, tuple(clearly) if is_clear else by_key, tuple(sorted({*alone, *by_key}))
        )

    def _named_by_key(self, question: str, alone: set[str]) -> tuple[str, ...]:
        """The papers whose key the question contains, sorted. If the question names several papers,
        also those that it names by a title up to its colon, or by a key that is written differently
        or is a word of its paper.

        alone: papers that single words of the question name.
        """
        pieces, folded = pieces_of(question), question.casefold()
        # For each paper found, whether the question means the paper for sure.
        found: dict[str, bool] = {}
        for start, n in product(range(len(pieces)), range(1, _MOST_PIECES + 1)):
            name = pieces[start : start + n]
            if len(name) < n:  # beyond the end of the question
                continue
            for number in self._by_key.get(name, ()):
                paper_id = self._ids[number]
                key = _key_of(paper_id)
                if self._distinguishes(name, paper_id):
                    is_key = pieces_of(key) == name and key in folded
                    found[paper_id] = found.get(paper_id, False) or (
                        is_key and not self._is_a_word(key, number, question)
                    )
        is_several = len({*found, *alone}) > 1
        return tuple(sorted(paper for paper, is_sure in found.items() if is_sure or is_several))

    def _is_a_word(self, key: str, number: int, question: str) -> bool:
        """Whether a word or key that names a paper is an ordinary word in the question, and on the
        first page of that paper: "ships" of ships.txt. It is not one if the question writes it as a
        name or with the file's ending.

        number: of the paper.
        """
        word = re.compile(rf"\b{re.escape(key)}\b(?!\.\w)")
        texts = (plain(text) for text in (question, self._first_pages[number].as_py() or ""))
        return key not in words_written_as_names(question) and all(map(word.search, texts))

    def _distinguishes(self, name: tuple[str, ...], paper_id: str) -> bool:
        """Whether a word of a name is frequent enough in the paper (`_LEAST_OF_KEY`) to distinguish
        it from the others, or occurs in no paper at all."""
        if self._words is None:
            return True
        for word in name:
            n_passages = self._words.n_holding(word)
            if n_passages is None:  # the index does not count this word
                continue
            if (self._words.n_holding(word, [paper_id]) or 0) >= _LEAST_OF_KEY * n_passages:
                return True
        return False

    def _papers_of(self, word: str, is_name: bool, is_joined: bool) -> PaperNumbers:
        """Numbers of the papers that a word names. is_name: the question writes it as a name.
        is_joined: it was made of two words of the question."""
        by_file = self._by_file.get(word, _NONE)
        if self._words is None:
            return by_file if is_name or is_joined else _NONE
        papers = np.union1d(by_file, self._by_page.get(word, _NONE)) if is_name else by_file
        if not 0 < len(papers) <= max(_FEW, _MOST_NAMED * len(self._ids)):
            return _NONE
        n_passages = self._words.n_holding(word)
        if not n_passages:  # None: the index does not count this word; 0: no passage has it
            return _NONE if n_passages is None else by_file
        n_own = self._words.n_holding(word, [self._ids[number] for number in papers]) or 0
        return papers if n_own >= _LEAST_CONCENTRATION * n_passages else _NONE

    def _period_scores(self, question: str) -> npt.NDArray[np.float64]:
        """For each paper the summed idf of the periods that it shares with the question, times the
        share of the paper's periods that the question has.

        So the report of a quarter (a year and a quarter) gets less than the annual report if the
        question has the year alone.
        """
        shared, n_shared = np.zeros(len(self._ids)), np.zeros(len(self._ids))
        for period in sorted(periods_in(question)):
            papers = self._by_period.get(period, _NONE)
            shared[papers] += self._idf(len(papers))
            n_shared[papers] += 1
        scores: npt.NDArray[np.float64] = shared * n_shared / self._n_periods
        return scores

    def _idf(self, n_papers: int) -> float:
        """Inverse document frequency of a word that names `n_papers` papers."""
        return log(1 + (len(self._ids) - n_papers + 0.5) / (n_papers + 0.5))


def _key_of(paper_id: str) -> str:
    """The name of a paper's file without its folder, case folded."""
    return paper_id.rpartition("/")[2].casefold()


def _papers_by_word(column: pa.ChunkedArray) -> dict[str, PaperNumbers]:
    """For each word the numbers of the rows whose list contains it. column: of lists of words."""
    lists = column.combine_chunks()
    encoded = lists.flatten().dictionary_encode()
    codes, rows = np.from_dlpack(encoded.indices), np.from_dlpack(pc.list_parent_indices(lists))
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(encoded.dictionary)))
    parts: Sequence[PaperNumbers] = np.split(rows[order], ends[:-1]) if len(ends) else []
    return dict(zip(encoded.dictionary.to_pylist(), parts, strict=True))
