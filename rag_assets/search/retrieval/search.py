"""A question becomes hits and contexts: passages are ranked (`ranking`), and a chunk gets the score
of its best passage.

`opening` opens the indexes; `packing` packs the contexts that an answerer reads.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from types import MappingProxyType, TracebackType
from typing import Self

import numpy as np
from opentelemetry import trace

from rag_assets.core.domain import (
    EVERYTHING,
    Chunk,
    Evidence,
    Filter,
    Hit,
    Query,
    QueryOrigin,
    SectionKind,
)
from rag_assets.core.errors import MissingInput
from rag_assets.core.settings import RetrievalSettings
from rag_assets.core.text.tokens import TokenCounter
from rag_assets.questions import Question, QuestionKind, ReadQuestion, asked_text, read
from rag_assets.questions.reading import THIS_PAPER, asks_which_papers
from rag_assets.search.indexing.protocols import Scope
from rag_assets.search.indexing.tantivy_index import TantivyIndex
from rag_assets.search.reranking.base import SkippingReranker
from rag_assets.search.retrieval.cited_works import CitedWorks
from rag_assets.search.retrieval.described_papers import described_in
from rag_assets.search.retrieval.elements import AskedElements, absent, asked_for, papers_asked
from rag_assets.search.retrieval.filtering import PassageFilters, not_asked_for
from rag_assets.search.retrieval.known_papers import THE_PAPER, KnownPapers
from rag_assets.search.retrieval.library import Library
from rag_assets.search.retrieval.named_works import papers_meant
from rag_assets.search.retrieval.packing import PassageSizes, pack_contexts
from rag_assets.search.retrieval.paper_names import PaperNames
from rag_assets.search.retrieval.queries import QueryPlanner
from rag_assets.search.retrieval.question_names import QuestionNames
from rag_assets.search.retrieval.ranking import (
    CandidateSearch,
    DenseSearch,
    RankedPassage,
    Ranker,
    Ranking,
    Within,
)

_tracer = trace.get_tracer("rag_assets")
SEARCH_VERSION = 35
"""Part of the key of published answers: raise it when the code finds or packs something else."""
EXPANDED_HITS = 5
"""The number of top hits that are packed with their neighbours. With 0, answers are cut at the end
of a passage; with too many, neighbours leave no room for other hits."""
_CHUNKS_FOR_A_MODEL, _TOKENS_A_CHUNK, _MOST_PAID_FOR = 2, 1000, 3
"""A model reads passages of twice `k` chunks. Its budget is 1,000 tokens for each of the `k`, and
as many for each part or named paper after the first, counted up to the third.

Share of 280 true claims of benchmarks/claims.jsonl whose evidence is in the contexts, found by words
alone in 40 papers: .876 with `k` = 6 chunks in 3,300 tokens; .946 with twice as many chunks in 4,800
tokens, within a budget of 6,000."""
_PASSAGES_A_CHUNK = 3
"""Passages that are fetched for each chunk in a search by words, since several may be of one
chunk."""
_MOST_NAMED = 4
"""If a question names more papers, these are not searched one by one."""
_MOST_MEANT = 20
"""Most title pages that are packed for a question about works, and most papers of which a passage is
packed for a question like "Which papers use X?"."""
_PASSAGES_A_PAPER = 6
"""Passages that are packed of each paper if a question names several."""
_OF_RECORDS = {QuestionKind.PUBLICATION, QuestionKind.MAKER}
"""Kinds of questions that the record of a paper may answer."""
_ANSWERED_AT_THE_BEGINNING = {QuestionKind.PUBLICATION, QuestionKind.SUMMARY}
"""Kinds of questions that the first passages of a paper answer."""
_BEST_PAPERS, _FIRST_PASSAGES, _MOST_OF_SECTIONS = 3, 5, 6
"""The number of papers whose beginning, statements or conclusions are packed for a question that
asks for these; the number of passages at the beginning; and the most passages of such sections."""


Rankings = dict[tuple[tuple[Query, ...], ...], Ranking]
"""Rankings that were made already, by the parts of their query plan."""


class Searcher:
    """Searches the opened tables and indexes; close it, or use it as a context manager."""

    def __init__(
        self,
        library: Library,
        dense: DenseSearch | None,
        words: TantivyIndex | None,
        settings: RetrievalSettings,
        counter: TokenCounter,
        reranker: SkippingReranker | None = None,
        planner: QueryPlanner | None = None,
        names: PaperNames | None = None,
        cited: CitedWorks | None = None,
        known: KnownPapers | None = None,
        read: ReadQuestion = read,
    ) -> None:
        """reranker: None keeps the order of the indexes. planner: None makes queries by rules
        alone. names: None: words of a question never raise the papers that they name. cited: None:
        no sentence is known to report other works. known: None: a DOI, title or file name in a
        question does not restrict the search. read: reads what a question asks for."""
        self._read = read
        self.library = library
        self._candidates = CandidateSearch(library, dense, words, settings)
        self._opened = [one for one in (dense.store if dense else None, words) if one is not None]
        self._words = words
        self._settings = settings
        self._sizes = PassageSizes(counter, library.n_passages)
        self._filters = PassageFilters(library)
        self._names = QuestionNames(library, names)
        self._cited = cited or CitedWorks()
        self._known = known or KnownPapers({})
        self._planner = planner or QueryPlanner(settings.queries, None)
        self._ranker = Ranker(
            library, self._candidates, self._filters, self._names, reranker, settings, read
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        for index in self._opened:
            index.close()

    def papers(self, where: Filter = EVERYTHING) -> list[str]:
        """The ids of the papers with a passage that `where` lets through, sorted."""
        passing = self._filters.passing(where)
        if passing is None:
            return sorted(self.library.papers)
        return sorted(set(self.library.paper_ids(np.flatnonzero(passing).tolist())))

    def as_read(self, question: Question) -> Question:
        """The question as it is searched and answered: without greetings, numbering and the like.

        If it names a paper by DOI, title or file, "the paper" replaces the name, or "this paper" if
        its record is asked for, and the filter is restricted to that paper. If the question's own
        filter excludes the paper, the name stays.
        """
        asked = question.model_copy(update={"question": asked_text(question.question)})
        named = self._known.named_in(asked.question, self._read, self._words)
        if named is None:
            named = described_in(
                asked, self._read(asked.question), self.library, self._filters, self._candidates
            )
        if named is None:
            return asked
        papers, without_name = named
        if QuestionKind.PUBLICATION in self._read(without_name).kinds:
            without_name = without_name.replace(THE_PAPER, THIS_PAPER)
        where = Filter.of_papers(papers)
        if not self.papers(question.filter & where):
            return asked
        return asked.model_copy(
            update={"question": without_name, "where": (question.where or EVERYTHING) & where}
        )

    @_tracer.start_as_current_span(
        "rag_assets.search", record_exception=False, set_status_on_exception=False
    )
    def rank(self, question: str, where: Filter = EVERYTHING) -> list[RankedPassage]:
        """All candidate passages that `where` lets through and that reach `min_score`, best
        first."""
        return self._ranker.ranking(self._planner.plan(question), where).passages

    def evidence(
        self,
        question: Question,
        k: int,
        budget_tokens: int | None = None,
        rankings: Rankings | None = None,
        *,
        for_model: bool = False,
    ) -> Evidence:
        """The best `k` chunks, and the contexts to answer from.

        The contexts are packed from the passages of these sources, in this order, until the budget
        is used up:

        | source                  | passages                       | if the question               |
        |-------------------------|--------------------------------|-------------------------------|
        | `_title_pages`          | title pages                    | asks about a work or a writer |
        | `_of_each_named`        | the best of each paper in turn | names several papers          |
        | `_elements`             | the elements                   | asks for "Table 2", a figure  |
        | `_best_of_papers`       | the best of each paper         | asks which papers             |
        | `_below`                | statements                     | asks for funding, data, ...   |
        | `_best_of_parts`        | what the search found          | asks anything                 |
        | `places_of`             | the beginning                  | asks who, when, or a summary  |
        | `_conclusions_of`       | conclusions                    | asks for a summary            |
        | `_framing`              | abstract and conclusion        | a model reads, of few papers  |

        budget_tokens: if given, so many tokens of the ranked passages are packed, without the other
        sources. rankings: those made before for this question; new ones are added, so that a second
        call with a larger `k` ranks nothing again. for_model: the contexts are read by a model. It
        gets more chunks than the extractive answerer, within a budget that grows with `k`, the
        parts of the question and the papers that it names.
        """
        # Rank all passages.
        plan = self._planner.plan(question.question)
        rankings = {} if rankings is None else rankings
        if plan.parts not in rankings:
            rankings[plan.parts] = self._ranker.ranking(plan, question.filter)
        ranking = rankings[plan.parts]
        # Choose what to pack.
        named = self._names.papers_named_alone(question.question)[:_MOST_NAMED]
        works = self._works_meant(question.question)
        to_pack, notes = ranking.passages, list[str]()
        if budget_tokens is None:
            budget_tokens, n_chunks = self._settings.budget_tokens, k
            if for_model:
                n_asked = min(max(len(plan.parts), len(named)), _MOST_PAID_FOR)
                budget_tokens = min(budget_tokens, _TOKENS_A_CHUNK * (k + n_asked - 1))
                n_chunks = _CHUNKS_FOR_A_MODEL * k
            of_parts, notes = self._by_what_is_asked(plan.parts, ranking, n_chunks, named)
            title_pages = self._title_pages(question, works)
            to_pack = [*title_pages, *self._of_each_named(question, named), *of_parts]
            to_pack += self._framing(question, named) if for_model else []
        # Pack it.
        contexts, chunks = pack_contexts(
            [(one.place, one.score) for one in to_pack],
            self.library,
            self._sizes,
            budget_tokens=budget_tokens,
            expanded_hits=EXPANDED_HITS,
            n_neighbours=self._settings.neighbours,
            passing=self._filters.passing(question.filter),
        )
        return Evidence(
            contexts=tuple(
                replace(context, paper=self.library.facts_of(context.paper_id))
                for context in contexts
            ),
            chunks=chunks,
            reports=self._cited.reports_in(chunks),
            hits=tuple(self.hits(ranking.passages, k, chunks)),
            queries=plan.queries,
            query_usage=plan.usage,
            only_cited=() if works else self._only_cited(question.question),
            named_papers=named,
            absent=tuple(notes),
        )

    def _by_what_is_asked(
        self,
        asked: Sequence[Sequence[Query]],
        ranking: Ranking,
        k: int,
        named: Sequence[str],
    ) -> tuple[list[RankedPassage], list[str]]:
        """The passages to pack, in the order of the sources in the table of `evidence`: those that
        some kinds of questions need come before or behind the best ones. Also notes on elements
        that are asked for and were not found.

        asked: the queries of each part, in the order of `ranking.of_parts`.
        """
        before, behind, notes = list[RankedPassage](), list[RankedPassage](), list[str]()
        for queries, part in zip(asked, ranking.of_parts, strict=True):
            text = queries[0].text
            kinds = self._read(text).kinds
            if QuestionKind.STATEMENTS in kinds:
                statements = self._of_best_papers(
                    part, named, lambda paper: self._below(paper, SectionKind.STATEMENTS)
                )
                before = [*statements, *before]
            if asks_which_papers(text):
                before = [*list(self._best_of_papers(part).values())[:_MOST_MEANT], *before]
            if elements_asked := asked_for(text):
                elements, part_notes = self._elements(elements_asked, part)
                before, notes = [*elements, *before], [*notes, *part_notes]
            if kinds & _ANSWERED_AT_THE_BEGINNING:
                behind += self._of_best_papers(
                    part, named, lambda paper: self.library.places_of(paper)[:_FIRST_PASSAGES]
                )
            if QuestionKind.SUMMARY in kinds:
                behind += self._of_best_papers(part, named, self._conclusions_of)
        return [*before, *self._best_of_parts(ranking, k), *behind], notes

    def _best_of_parts(self, ranking: Ranking, k: int) -> list[RankedPassage]:
        """All ranked passages of the best chunks of each part.

        With one or two parts these are `k` chunks for each part. With more parts they are about
        twice `k` chunks in all, but at least half of `k` for each part.
        """
        parts = ranking.of_parts
        k_part = k if len(parts) < 2 else max((k + 1) // 2, 2 * k // len(parts))
        best = [one.place for part in parts for one in self._best_of_chunks(part)[:k_part]]
        places = [one.place for one in ranking.passages]
        are_best = np.isin(self.library.chunk_numbers(places), self.library.chunk_numbers(best))
        return [one for one, is_best in zip(ranking.passages, are_best, strict=True) if is_best]

    def _works_meant(self, question: str) -> list[str]:
        """The papers that a question about works means; empty for other questions."""
        return list(
            dict.fromkeys(
                paper
                for part in self._read(question).parts
                if part.kinds & _OF_RECORDS
                for paper in papers_meant(part.searched, part.asked, self.library.facts) or ()
            )
        )

    def _only_cited(self, question: str) -> tuple[tuple[str, str], ...]:
        """`Evidence.only_cited` of a question that means no paper of the corpus."""
        entries = self._cited.entries_asked_for(self._read(question))
        return tuple(
            (self.library.facts_of(paper).cited_as, entry) for entry, paper in entries.items()
        )

    def _title_pages(self, question: Question, meant: Sequence[str]) -> list[RankedPassage]:
        """The title pages of the papers that are meant, whatever their rank. meant: what
        `_works_meant` returns."""
        passing = self._filters.passing(question.filter)
        places = [
            place
            for paper in meant[:_MOST_MEANT]
            if paper in self.library.papers
            for place in self._below(paper, SectionKind.TITLE_PAGE)
            if passing is None or passing[place]
        ]
        return [RankedPassage(self.library.passage_ids([place])[0], place, 0.0) for place in places]

    def _of_each_named(self, question: Question, named: Sequence[str]) -> list[RankedPassage]:
        """If a question names several papers, the best passages of each paper in turn: the best of
        each, then the second best of each, and so on.

        Without this, the passages of the paper that is named most clearly would leave no room for
        the others. named: the papers.
        """
        if len(named) < 2 or self._settings.min_score:  # no reranker looks at these passages
            return []
        scope = self._filters.scope(question.filter)
        left_out = self._filters.of_kinds(
            not_asked_for(self._read(question.question).kinds, question.filter)
        )
        query = [Query(question.question, QueryOrigin.QUESTION)]
        found = []
        for paper_scope in filter(None, (Scope.within(scope, [paper]) for paper in named)):
            candidates = self._candidates.found(query, Within(paper_scope, left_out))
            best = candidates.best(_PASSAGES_A_PAPER)
            found.append([RankedPassage(id_, place, 0.0) for id_, place in best])
        return [one for turn in zip_longest(*found) for one in turn if one is not None]

    def _framing(self, question: Question, named: Sequence[str]) -> list[RankedPassage]:
        """The first passage of the abstract and of the conclusion of each paper that a question
        names or its filter allows, if these are few.

        Such passages say what the paper is about as a whole, but share few words with most
        questions, so a search seldom finds them.
        """
        papers = named or sorted(question.filter.papers or ())
        if len(papers) > _MOST_NAMED or self._settings.min_score:
            return []
        passing = self._filters.passing(question.filter)
        places = [
            place
            for paper in papers
            if paper in self.library.papers
            for place in (
                *self._below(paper, SectionKind.ABSTRACT)[:1],
                *self._conclusions_of(paper)[:1],
            )
            if passing is None or passing[place]
        ]
        return [RankedPassage(self.library.passage_ids([place])[0], place, 0.0) for place in places]

    def _of_best_papers(
        self,
        ranking: Sequence[RankedPassage],
        named: Sequence[str],
        places_of: Callable[[str], Sequence[int]],
    ) -> list[RankedPassage]:
        """The passages `places_of(paper)` of the best papers: of those that are named, or else of
        those with the best rank.

        They are taken by their section, not by a search, because the words of a title page or a
        statement are seldom the words of the question.
        """
        best = self._best_of_papers(ranking)
        papers = sorted(best, key=lambda paper: paper not in named)[: max(_BEST_PAPERS, len(named))]
        return [self._moved(best[paper], place) for paper in papers for place in places_of(paper)]

    def _best_of_papers(self, ranking: Sequence[RankedPassage]) -> dict[str, RankedPassage]:
        """The best passage of each paper, best first."""
        best: dict[str, RankedPassage] = {}
        papers = self.library.paper_ids([one.place for one in ranking])
        for one, paper in zip(ranking, papers, strict=True):
            best.setdefault(paper, one)
        return best

    def _moved(self, one: RankedPassage, place: int) -> RankedPassage:
        """The passage at `place`, with the scores of the ranked passage `one`."""
        return replace(one, place=place, passage_id=self.library.passage_ids([place])[0])

    def _elements(
        self, asked: AskedElements, ranking: Sequence[RankedPassage]
    ) -> tuple[list[RankedPassage], list[str]]:
        """The passages with the elements that are asked for; and if there are none, a note on a
        label that was not found.

        Only the best papers are read: those whose titles share most words with the question, or
        else those with the best rank.
        """
        best, found, notes = self._best_of_papers(ranking), [], []
        papers = papers_asked(asked, {paper: self.library.facts_of(paper) for paper in best})
        for paper in papers[:_BEST_PAPERS]:
            places = self.library.places_of(paper)
            passages = self.library.passages(places)
            fits = dict(zip(places, map(asked.is_in, passages), strict=True))
            fitting = sorted(filter(fits.get, places), key=lambda place: -fits[place])
            found += [self._moved(best[paper], place) for place in fitting[:_MOST_OF_SECTIONS]]
            notes += absent(asked, self.library.title_of(paper) or paper, passages)
        return found, [] if found else notes[:1]

    def _conclusions_of(self, paper_id: str) -> list[int]:
        """The first passages of a paper's conclusion, or of its discussion if it has none."""
        return self._below(paper_id, SectionKind.CONCLUSION) or self._below(
            paper_id, SectionKind.DISCUSSION
        )

    def _below(self, paper_id: str, kind: SectionKind) -> list[int]:
        """The first passages of a paper below headings of one kind."""
        are_of_kind = self._filters.of_kinds(frozenset({kind}))
        return [place for place in self.library.places_of(paper_id) if are_of_kind[place]][
            :_MOST_OF_SECTIONS
        ]

    def hits(
        self,
        ranking: Sequence[RankedPassage],
        k: int,
        known: Mapping[str, Chunk] = MappingProxyType({}),
    ) -> list[Hit]:
        """The best `k` chunks of a ranking, each scored by its best passage.

        known: chunks that were read already, by id. Reading them again would take a third of a
        question's time.
        """
        best = self._best_of_chunks(ranking)[:k]
        passages = self.library.passages([one.place for one in best])
        chunks = {
            **known,
            **self.library.chunks({passage.chunk_id for passage in passages} - known.keys()),
        }
        return [
            Hit(
                rank=rank,
                score=one.score,
                chunk=chunks[passage.chunk_id],
                passage=passage,
                dense_score=one.dense_score,
                lexical_score=one.lexical_score,
                relevance=one.relevance,
                found_by=one.found_by,
            )
            for rank, (one, passage) in enumerate(zip(best, passages, strict=True), start=1)
        ]

    def sharing_words(self, text: str, k: int, where: Filter = EVERYTHING) -> list[Chunk]:
        """At most `k` chunks of passages that share words with a text, best BM25 first.

        Raises MissingInput where there is no index of words.
        """
        if self._words is None:
            raise MissingInput(
                "A quote is looked up by its words, and there is no index of words that can be used. Make it: "
                "rag-assets index build"
            )
        found = self._words.search(text, k * _PASSAGES_A_CHUNK, self._filters.scope(where))
        passages = self.library.passages(
            self.library.places([one.passage_id for one in found]).tolist()
        )
        chunk_ids = list(dict.fromkeys(passage.chunk_id for passage in passages))[:k]
        chunks = self.library.chunks(chunk_ids)
        return [chunks[chunk_id] for chunk_id in chunk_ids]

    def _best_of_chunks(self, ranking: Sequence[RankedPassage]) -> list[RankedPassage]:
        """The best passage of each chunk, best first."""
        best: dict[int, RankedPassage] = {}
        chunks = self.library.chunk_numbers([one.place for one in ranking])
        for one, chunk in zip(ranking, chunks, strict=True):
            best.setdefault(int(chunk), one)
        return list(best.values())
