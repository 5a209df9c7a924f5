"""The papers that a question names: "Activision 2019", "the AMCOR 10-Q of Q2 2023", "smith2020".

A word of the question names papers when it occurs in their profiles and hardly anywhere else:
nearly all passages that hold it are of these papers. So "Boeing" names a report, while
"coronavirus" in the title of one of many papers about it names nothing. In a file's name any word
of the question counts; in a title or on a first page only one that the question writes as a name.
Years and quarters distinguish the named papers; by themselves they name none.

A key is the name of a paper's file: "smith2020", "raptor". A question that holds it means the
paper, though others mention it too. Written in another way ("step-back prompting" for
step_back_prompting), a key may as well be a subject, and so may a title up to its colon: these
count where a question names several papers. So does a key that is a word of the paper, "ships" of
ships.txt.
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
"""Papers, or share of all papers, that a word may name; one in the names of more is too common."""
_CLEAR = 0.5
"""Share of log(1 + papers) from which on the words' idf is a clear name. One word of one paper has
nearly all of it."""
_LEAST_OF_KEY = 0.1
"""Share of the passages with a word of a key that must be of its paper: surveys mention "raptor"
more often than the paper itself, while "virus" is in the text of all papers and says nothing of
virus.pdf."""
_MOST_PIECES = 6
"""Words of a key or of a title up to its colon; a longer one is written out by nobody."""
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
    """The few that are named clearly enough to be searched by themselves; sorted."""
    alone: tuple[str, ...] = ()
    """Papers that a word of the question names alone; sorted."""

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
        """The papers that a question names, and how clearly."""
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
        """The papers whose key the question holds, sorted; with those that it names in a looser
        way, if it names several. alone: what its words name."""
        pieces, written = pieces_of(question), question.casefold()
        found: dict[str, bool] = {}
        for start, n in product(range(len(pieces)), range(1, _MOST_PIECES + 1)):
            name = pieces[start : start + n]
            for number in self._by_key.get(name, ()) if len(name) == n else ():
                key = _key_of(paper_id := self._ids[number])
                if self._tells(name, paper_id):
                    is_key = pieces_of(key) == name and key in written
                    found[paper_id] = found.get(paper_id, False) or (
                        is_key and not self._is_a_word(key, number, question)
                    )
        is_several = len({*found, *alone}) > 1
        return tuple(sorted(paper for paper, is_key in found.items() if is_key or is_several))

    def _is_a_word(self, key: str, number: int, question: str) -> bool:
        """Whether a question has a key in small letters, as the paper itself has it on its first
        page: "ships" of ships.txt. Not with the ending of the file."""
        word = re.compile(rf"\b{re.escape(key)}\b(?!\.\w)")
        is_in = (plain(text) for text in (question, self._first_pages[number].as_py() or ""))
        return key not in words_written_as_names(question) and all(map(word.search, is_in))

    def _tells(self, name: tuple[str, ...], paper_id: str) -> bool:
        """Whether one of the words stands in the paper often enough, or in none at all, to tell it
        from the others."""
        if self._words is None:
            return True
        for word in name:
            n_passages = self._words.n_holding(word)
            if n_passages is None:
                continue
            if (self._words.n_holding(word, [paper_id]) or 0) >= _LEAST_OF_KEY * n_passages:
                return True
        return False

    def _papers_of(self, word: str, is_name: bool, is_joined: bool) -> PaperNumbers:
        """PaperNumbers of the papers that a word names."""
        by_file = self._by_file.get(word, _NONE)
        if self._words is None:
            return by_file if is_name or is_joined else _NONE
        papers = np.union1d(by_file, self._by_page.get(word, _NONE)) if is_name else by_file
        if not 0 < len(papers) <= max(_FEW, _MOST_NAMED * len(self._ids)):
            return _NONE
        n_passages = self._words.n_holding(word)
        if not n_passages:
            return _NONE if n_passages is None else by_file
        n_own = self._words.n_holding(word, [self._ids[number] for number in papers]) or 0
        return papers if n_own >= _LEAST_CONCENTRATION * n_passages else _NONE

    def _period_scores(self, question: str) -> npt.NDArray[np.float64]:
        """The idf of the periods that question and paper share, times the share they are of the
        paper's own: the report of a quarter is not meant by a question about the year."""
        shared, n_shared = np.zeros(len(self._ids)), np.zeros(len(self._ids))
        for period in sorted(periods_in(question)):
            papers = self._by_period.get(period, _NONE)
            shared[papers] += self._idf(len(papers))
            n_shared[papers] += 1
        scores: npt.NDArray[np.float64] = shared * n_shared / self._n_periods
        return scores

    def _idf(self, n_papers: int) -> float:
        return log(1 + (len(self._ids) - n_papers + 0.5) / (n_papers + 0.5))


def _key_of(paper_id: str) -> str:
    """The name of a paper's file without its folder, case folded."""
    return paper_id.rpartition("/")[2].casefold()


def _papers_by_word(column: pa.ChunkedArray) -> dict[str, PaperNumbers]:
    """PaperNumbers of the rows whose list holds a word, by word."""
    lists = column.combine_chunks()
    encoded = lists.flatten().dictionary_encode()
    codes, rows = np.from_dlpack(encoded.indices), np.from_dlpack(pc.list_parent_indices(lists))
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(encoded.dictionary)))
    parts: Sequence[PaperNumbers] = np.split(rows[order], ends[:-1]) if len(ends) else []
    return dict(zip(encoded.dictionary.to_pylist(), parts, strict=True))
