"""Answers with whole sentences and table rows of the contexts, chosen by relevance. No model that writes is called.

A compound question is answered part by part. What can be published lives in `candidates`, which paper a part is asked
of in `meant_papers`, how relevant a candidate is to it in `part_scores`, which are chosen in `selection`, how they are
published in `publishing`.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Self

from rag_assets.answering.drafts import EXTRACTIVE, Background, DraftAnswer, DraftClaim, Readers
from rag_assets.answering.extractive.announcements import only_announces
from rag_assets.answering.extractive.candidates import Candidate, FindCandidates, sentences
from rag_assets.answering.extractive.comparison import compared_sides
from rag_assets.answering.extractive.definitions import with_definitions_kept
from rag_assets.answering.extractive.meant_papers import AskedPart, with_papers
from rag_assets.answering.extractive.nearest import nearest
from rag_assets.answering.extractive.part_scores import PartScorer
from rag_assets.answering.extractive.publishing import claims_of
from rag_assets.answering.extractive.relevance import Part
from rag_assets.answering.extractive.rows import likely_rows, table_rows
from rag_assets.answering.extractive.selection import Selection
from rag_assets.answering.extractive.settled_parts import settled_parts, with_settled
from rag_assets.answering.extractive.summary import summary
from rag_assets.answering.extractive.unmentioned import unmentioned
from rag_assets.answering.names.missing import MissingName, missing_names
from rag_assets.answering.names.reading import names_in
from rag_assets.domain import Context
from rag_assets.incremental import fingerprint
from rag_assets.questions import QuestionPart, asks_about_publication, asks_for_summary, question_parts
from rag_assets.settings import ExtractiveSettings

EXTRACTIVE_VERSION = 71


class ExtractiveAnswerer:
    """Answers with verbatim sentences from two papers where two have something to say."""

    def __init__(self, readers: Readers, settings: ExtractiveSettings, *, min_sources: int) -> None:
        self._readers = readers
        self._reader = readers.tokens
        self._settings = settings
        self._min_sources = min_sources

    @property
    def identity(self) -> str:
        read_with = [one.identity for one in (self._readers.tokens, self._readers.sentences) if one is not None]
        made_with = fingerprint(*read_with, self._settings.fingerprint())
        return f"{EXTRACTIVE}-v{EXTRACTIVE_VERSION}:{made_with[:8]}"

    def read(self, context: Context) -> Context:
        return replace(context.words(), passages=tuple(replace(one, score=0.0) for one in context.passages))

    def within(self, _background: Background) -> Self:
        """Sentences are chosen by the question alone."""
        return self

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer:
        if asks_for_summary(question) and not asks_about_publication(question):
            return summary(question, contexts, self._settings.max_claims)
        parts, missing = question_parts(question), self._missing_names(question, contexts)
        told = [part for part in parts if asks_about_publication(part.text) or not self._is_refused(part, missing)]
        draft = partial(self._draft_of_sentences, question, missing=missing)
        settled = settled_parts(told, contexts, self._reader, lambda part, own: draft([part], own).claims)
        left = [part for part in parts if all(part != one.part for one in settled)]
        of_sentences = draft(left, contexts) if left else DraftAnswer()
        return with_settled(of_sentences, settled, parts, self._settings.max_claims)

    def _draft_of_sentences(
        self,
        question: str,
        parts: Sequence[QuestionPart],
        contexts: Sequence[Context],
        missing: Sequence[MissingName],
    ) -> DraftAnswer:
        """parts: those left for sentences. missing: the names of the question that were not found."""
        said = tuple(name.text for name in missing)
        told = [part for part in parts if not self._is_refused(part, missing)]
        candidates = self._candidates(question, parts, contexts)
        if not candidates or not told:
            return DraftAnswer(missing_names=said)
        asked = with_papers(question, told, contexts, self._reader)
        candidates, scored = PartScorer(self._readers, self._settings).scored(asked, candidates, contexts)
        selection = Selection(candidates, scored, contexts, self._settings)
        selection.choose(min_papers=self._min_sources)
        if not selection.chosen:
            return DraftAnswer(missing_names=said, nearest=self._nearest(candidates, scored, (), contexts))
        open_sides = selection.open_sides(compared_sides(question))
        open_parts = {part.text for part in parts if part not in told}
        open_parts |= {part.text for part in selection.unanswered_parts()}
        published = selection.with_neighbours()
        return DraftAnswer(
            claims=tuple(claims_of([(candidates[i], selection.relevance(i)) for i in published], contexts)),
            unanswered=(*(part.text for part in parts if part.text in open_parts), *open_sides),
            missing_names=said,
            missing_words=self._missing_words(
                [one for one in asked if one.part.text not in open_parts],
                [one for one in contexts if one.paper_id in {candidates[i].paper_id for i in selection.chosen}],
            ),
            nearest=self._nearest(candidates, scored, published, contexts),
        )

    def _nearest(
        self, candidates: Sequence[Candidate], parts: Sequence[Part], chosen: Sequence[int], contexts: Sequence[Context]
    ) -> tuple[DraftClaim, ...]:
        return tuple(claims_of(nearest(candidates, parts, chosen, self._settings.min_relevance), contexts))

    def _missing_words(self, answered: Sequence[AskedPart], quoted: Sequence[Context]) -> tuple[str, ...]:
        """The words of the answered parts of which nothing that was found of the quoted papers speaks; names are looked
        for by themselves."""
        words = (word for one in answered for word in unmentioned(one.part.asked, quoted, self._reader))
        names = {name.text.lower() for one in answered for name in names_in(one.part.asked)}
        return tuple(dict.fromkeys(word for word in words if word not in names))

    def _candidates(self, question: str, parts: Sequence[QuestionPart], contexts: Sequence[Context]) -> list[Candidate]:
        """All that may be published for a question; sentences that only announce are left out."""
        found = (one for find in self._kinds_of_candidates() for one in find(contexts, question))
        told = [one for one in found if not only_announces(one.text, question)]
        return with_definitions_kept(told, [part.text for part in parts])

    def _kinds_of_candidates(self) -> tuple[FindCandidates, ...]:
        return (sentences, self._table_rows) if self._settings.table_rows else (sentences,)

    def _table_rows(self, contexts: Sequence[Context], question: str) -> Sequence[Candidate]:
        find = table_rows if self._readers.sentences is None else likely_rows
        return find(contexts, question, self._reader)

    def _missing_names(self, question: str, contexts: Sequence[Context]) -> tuple[MissingName, ...]:
        return () if self._settings.missing_names == "ignore" else missing_names(question, contexts)

    def _is_refused(self, part: QuestionPart, missing: Sequence[MissingName]) -> bool:
        """Whether a part of the question names something that what was found cannot be about."""
        decides = self._settings.missing_names == "refuse"
        return decides and any(name.is_decisive and name.text in " ".join(part.text.split()) for name in missing)
