"""Answers without a writing model and its key: sentences and table rows of the contexts, word for
word.

A compound question is answered part by part. Who wrote a paper, and where and when it appeared, is
answered from its title page; everything else by the most relevant candidates. A summary of a paper
is its abstract.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from typing import Self

import numpy as np

from rag_assets.answering.drafts import (
    EXTRACTIVE,
    NOT_JUDGED,
    OF_OTHERS_NOTE,
    Background,
    DraftAnswer,
    DraftClaim,
    Readers,
)
from rag_assets.answering.extractive.about_papers import (
    claims_of_papers,
    papers_of,
    publication_claims,
    summary,
)
from rag_assets.answering.extractive.candidates import Candidate, code_lines, sentences
from rag_assets.answering.extractive.conditions import Conditions
from rag_assets.answering.extractive.elements import beginnings, places_asked
from rag_assets.answering.extractive.relevance import (
    RestrictedPart,
    ScoredPart,
    is_asked_in_english,
    papers_in_other_languages,
    read_closely,
)
from rag_assets.answering.extractive.selection import Selection, claims_of
from rag_assets.answering.extractive.table_rows import table_rows
from rag_assets.answering.extractive.unmentioned import unmentioned
from rag_assets.answering.verify.names import MissingName, missing_names
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.answering.verify.years import (
    are_in,
    asked_years,
    listed,
    without_years,
    years_in,
    years_of,
)
from rag_assets.core.domain import Context, NumberRange
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import ExtractiveSettings
from rag_assets.core.text.terms import terms_of
from rag_assets.questions import QuestionKind, QuestionPart, ReadQuestion, read
from rag_assets.questions.reading import asked_of_each, asks_which_papers
from rag_assets.search.retrieval.elements import asked_for, words_of_title
from rag_assets.search.retrieval.named_works import (
    asked_of_one,
    asks_what_a_work_says,
    papers_named,
    works_compared,
    works_quoted,
)

EXTRACTIVE_VERSION = 24
"""Part of the key of drafts: raise it when the code makes another answer of the same contexts."""
_SURE_FROM, _UNMENTIONED_WORDS = 0.9, 2
"""A part is not answered if the relevance of its best candidate is below the first and as many of
its words as the second are missing in the candidate's paper."""
_SHARE_OF_NO_ANSWER = 0.4
"""The best candidate then gets this share of the least relevance that answers (`floor`), so that it
is shown as near."""
_SUPPOSED, _NOT_TOLD = "a hypothesis, a plan or a claim of others", "a year that is not told"
_MOST_COMPARED = 4
Claims = tuple[DraftClaim, ...]


class ExtractiveAnswerer:
    """Answers with verbatim sentences and table rows, from several papers if several answer."""

    def __init__(
        self,
        readers: Readers,
        settings: ExtractiveSettings,
        *,
        min_sources: int,
        read: ReadQuestion = read,
    ) -> None:
        """read: reads what a question asks for."""
        self._readers = readers
        self._read_question = read
        self._settings = settings
        self._min_sources = min_sources

    @property
    def identity(self) -> str:
        models_and_settings = fingerprint(
            self._readers.tokens.identity,
            self._readers.sentences.identity,
            self._settings.fingerprint(),
        )
        return f"{EXTRACTIVE}-v{EXTRACTIVE_VERSION}:{models_and_settings[:8]}"

    def read(self, context: Context) -> Context:
        """The context without scores: they change when papers are added, and answers do not depend
        on them."""
        passages = tuple(replace(one, score=0.0) for one in context.passages)
        return replace(
            context.words(), passages=passages, units=context.units, sections=context.sections
        )

    def within(self, _background: Background) -> Self:
        """Sentences are chosen by the question alone."""
        return self

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer:
        """The answer to a question. Parts that title pages, elements or single papers answer get
        their claims from these, all other parts from the most relevant candidates."""
        reading = self._read_question(question)
        asked = asked_for(question)
        if (
            QuestionKind.SUMMARY in reading.kinds
            and QuestionKind.PUBLICATION not in reading.kinds
            and not (asked and asked.labels)
        ):
            return summary(question, reading.asked, contexts, self._settings.max_claims)
        parts, missing = reading.parts, missing_names(question, contexts)
        of_papers = self._of_papers(parts, contexts)
        special = {
            **self._of_title_pages(parts, contexts),
            **self._of_elements(parts, contexts),
            **of_papers,
        }
        # A missing year refuses no part as a whole: it is compared with each candidate later.
        decisive = [name for name in missing if not asked_years(name.text)]
        remaining = [
            part
            for part in parts
            if part.text not in special and not _is_refused(part, decisive, contexts)
        ]
        # One claim is kept free for the remaining parts; an answer per paper is never shortened.
        n_special = min(
            sum(map(len, special.values())), self._settings.max_claims - bool(remaining)
        )
        n_special = max(n_special, sum(map(len, of_papers.values())))
        of_sentences, notes = self._of_sentences(
            question, remaining, contexts, self._settings.max_claims - n_special
        )
        claims = _in_order(parts, special, of_sentences.claims, n_special)
        names = tuple(name.text for name in missing)
        if not claims:  # the refusal is about the whole question, so no part is listed as open
            is_unread = not _is_english(question, contexts)
            return replace(of_sentences, unanswered=notes, missing_names=names, is_unread=is_unread)
        unanswered = {
            part.text for part in parts if part not in remaining and not special.get(part.text)
        }
        unanswered.update(of_sentences.unanswered)
        gaps = (text for part in parts for text in _gaps(part, contexts, unanswered))
        return replace(of_sentences, claims=claims, unanswered=(*gaps, *notes), missing_names=names)

    def _of_title_pages(
        self, parts: Sequence[QuestionPart], contexts: Sequence[Context]
    ) -> Mapping[str, Claims]:
        """The claims from title pages for each part that asks for a record, by its text.

        A part that asks for the record of a paper, or of another work, has an entry even without
        claims. Then it stays open: a sentence must not answer it. Who made a thing may be told by
        a sentence, too.
        """
        papers = {context.chunk_id: context.paper_id for context in contexts}
        found: dict[str, Claims] = {}
        for part in parts:
            if QuestionKind.RELATED_WORK in part.kinds:
                found[part.text] = ()
                continue
            is_record = QuestionKind.PUBLICATION in part.kinds
            if not is_record and QuestionKind.MAKER not in part.kinds:
                continue
            cited_papers = {
                papers[citation.chunk_id]
                for claims in found.values()
                for claim in claims
                for citation in claim.citations
            }
            title_pages = contexts
            if cited_papers and not part.asked.names_a_work:
                # "and when did it appear?" asks about the papers of the parts before.
                title_pages = [one for one in contexts if one.paper_id in cited_papers]
            if (claims := tuple(publication_claims(part, title_pages))) or is_record:
                found[part.text] = claims
        return found

    def _of_elements(
        self, parts: Sequence[QuestionPart], contexts: Sequence[Context]
    ) -> Mapping[str, Claims]:
        """The claims from elements ("Table 2", a section) for each part that asks for one, by its
        text. A part whose label occurs nowhere in the contexts has an entry without claims: then it
        stays open, since nothing else can answer it."""
        found: dict[str, Claims] = {}
        for part in parts:
            asked = asked_for(part.searched)
            if asked is None or (asked.name and part.kinds):
                continue
            places = places_asked(asked, contexts)
            if places:
                searched = f"What are the {asked.name}?" if asked.name else part.searched
                inside = [
                    one
                    for one in self._candidates(searched, contexts)
                    if any(
                        start <= one.start and one.end <= end
                        for start, end in places.get(one.context, ())
                    )
                ]
                titles = (
                    words_of_title(contexts[nth].paper_id, contexts[nth].paper) for nth in places
                )
                # "What does Table 2 show?" has no word to choose sentences by: the element itself
                # is the answer. "What does Table 2 say about iron?" has one.
                has_subject = bool(asked.name or asked.rest.difference(*titles))
                with_subject = [replace(part, searched=searched)] if has_subject else []
                claims = self._of_sentences(
                    searched, with_subject, contexts, self._settings.max_claims, inside
                )[0].claims
                found[part.text] = (
                    claims or tuple(beginnings(contexts, places))[: self._settings.max_claims]
                )
            elif asked.labels:
                found[part.text] = ()
        return found

    def _of_papers(
        self, parts: Sequence[QuestionPart], contexts: Sequence[Context]
    ) -> Mapping[str, Claims]:
        """One claim per paper for each part like "Which papers use X?", by the text of the part. A
        part without a subject, "How many papers are there?", has an entry without claims: no
        sentence answers it."""
        found: dict[str, Claims] = {}
        for part in parts:
            if not asks_which_papers(part.text) or part.kinds:
                continue
            if not terms_of(asked_of_each(part.text)):
                found[part.text] = ()
            else:
                candidates = self._candidates(part.searched, contexts)
                score = partial(read_closely, candidates=candidates, readers=self._readers)
                if claims := claims_of_papers(part, contexts, score, self._settings.min_relevance):
                    found[part.text] = claims
        return found

    def _candidates(self, question: str, contexts: Sequence[Context]) -> list[Candidate]:
        return [*sentences(contexts), *code_lines(contexts), *table_rows(contexts, question)]

    def _of_sentences(
        self,
        question: str,
        parts: Sequence[QuestionPart],
        contexts: Sequence[Context],
        max_claims: int,
        candidates: Sequence[Candidate] | None = None,
    ) -> tuple[DraftAnswer, tuple[str, ...]]:
        """A draft with the most relevant candidates as claims, and notes: the claims are no
        findings, a part is open because what was found is of another year or condition, or
        relevance could not be judged in this language.

        parts: of the question, those to answer. candidates: None for all of the contexts.
        """
        if candidates is None:
            candidates = self._candidates(question, contexts)
        if not parts or not candidates:
            return DraftAnswer(unanswered=tuple(part.text for part in parts)), ()
        asked = [one for part in parts for one in _restricted(part, contexts)]
        candidates, scored = self._read(asked, candidates)
        # A part that is searched by the whole question must not be held to the words of other
        # parts.
        texts = [
            one.part.text if one.part.searched == question else one.part.searched for one in asked
        ]
        compared = [
            self._without_others(text, part, candidates, contexts)
            for text, part in zip(texts, scored, strict=True)
        ]
        scored = [
            self._doubted(text, part, candidates, contexts)
            for text, (part, _) in zip(texts, compared, strict=True)
        ]
        selection = Selection(
            candidates, scored, contexts, floor=self._settings.min_relevance, max_claims=max_claims
        )
        selection.choose(min_papers=self._min_sources)
        draft = DraftAnswer(
            claims=tuple(claims_of(selection.published(), contexts)),
            unanswered=selection.unanswered_parts(),
            nearest=tuple(claims_of(selection.nearest(), contexts)),
        )
        notes = [note for part, note in compared if note and part.text in draft.unanswered]
        if selection.tells_no_finding:
            notes.append(OF_OTHERS_NOTE.format(others=_SUPPOSED, asked="a finding"))
        cited = {one.chunk_id for claim in draft.claims for one in claim.citations}
        if cited and not _is_english(question, [one for one in contexts if one.chunk_id in cited]):
            notes.append(NOT_JUDGED)
        return draft, tuple(dict.fromkeys(notes))

    def _read(
        self, asked: Sequence[RestrictedPart], candidates: Sequence[Candidate]
    ) -> tuple[list[Candidate], list[ScoredPart]]:
        """What `read_closely` returns for the parts. A part that asks for a year is also scored
        without the year, and the higher relevance counts: few sentences of a report repeat the
        year that the report is about."""
        texts_without_years = {
            nth: without_years(one.part.searched)
            for nth, one in enumerate(asked)
            if asked_years(one.part.searched)
        }
        further = [
            replace(asked[nth], part=replace(asked[nth].part, searched=text))
            for nth, text in texts_without_years.items()
        ]
        candidates, scored = read_closely([*asked, *further], candidates, self._readers)
        for nth, other in zip(texts_without_years, scored[len(asked) :], strict=True):
            scored[nth] = replace(
                scored[nth], relevance=np.maximum(scored[nth].relevance, other.relevance)
            )
        return candidates, scored[: len(asked)]

    def _without_others(
        self,
        asked: str,
        part: ScoredPart,
        candidates: Sequence[Candidate],
        contexts: Sequence[Context],
    ) -> tuple[ScoredPart, str]:
        """The part with candidates of another year or condition lowered below the floor, so that
        they are only shown as near; and a note that names these years or conditions, if any."""
        floor, wanted = self._settings.min_relevance, asked_years(asked)
        enough = np.flatnonzero(part.relevance >= floor).tolist() if wanted else ()
        years = {nth: _years_of(candidates[nth], contexts, wanted) for nth in enough}
        other_years = {nth: found for nth, found in years.items() if not are_in(wanted, found)}
        remaining = _lowered(part, other_years, floor)
        conditions = Conditions(asked, contexts, self._readers.tokens)
        unmet = conditions.unmet(remaining, candidates, floor)
        named: list[object] = [*sorted(frozenset[int]().union(*other_years.values()))]
        if not all(other_years.values()):
            named.append(_NOT_TOLD)
        note = ""
        if named:
            note = OF_OTHERS_NOTE.format(others=listed(named), asked="the year that is asked for")
        elif others := [other for other in unmet.values() if other]:
            condition = others[0].asked.text
            same = [other.other.text for other in others if other.asked.text == condition]
            note = OF_OTHERS_NOTE.format(others=listed(dict.fromkeys(same)), asked=condition)
        return _lowered(remaining, unmet, floor), note

    def _doubted(
        self,
        asked: str,
        part: ScoredPart,
        candidates: Sequence[Candidate],
        contexts: Sequence[Context],
    ) -> ScoredPart:
        """The part, with all candidates lowered below the floor if its best one is doubtful: less
        relevant than `_SURE_FROM`, and of a paper that lacks several words of the part. Such a
        sentence may answer another question."""
        best = int(part.relevance.argmax())
        most, floor = float(part.relevance[best]), self._settings.min_relevance
        own = [one for one in contexts if one.paper_id == candidates[best].paper_id]
        if not most or not floor <= most < _SURE_FROM or not _is_english(asked, own):
            return part
        if len(unmentioned(asked, own, self._readers.tokens)) < _UNMENTIONED_WORDS:
            return part
        return replace(part, relevance=part.relevance * (_SHARE_OF_NO_ANSWER * floor / most))


def _lowered(part: ScoredPart, candidates: Iterable[int], floor: float) -> ScoredPart:
    """The part with the relevance of these candidates lowered below the floor."""
    relevance = part.relevance.copy()
    relevance[list(candidates)] *= _SHARE_OF_NO_ANSWER * floor
    return replace(part, relevance=relevance)


def _is_english(question: str, contexts: Sequence[Context]) -> bool:
    """Whether a question and the papers of the contexts are in English, or too short to tell."""
    return is_asked_in_english(question) and not papers_in_other_languages(sentences(contexts))


def _years_of(
    one: Candidate, contexts: Sequence[Context], asked: Sequence[NumberRange]
) -> frozenset[int]:
    """The years that a candidate or the text around it names (`years_of`). If there are none: all
    years in the paper's contexts, if they include one that is asked for and the paper did not
    appear before it; otherwise the year in which the paper appeared."""
    context = contexts[one.context]
    start, end = (one.start, one.end) if one.quote else one.shown
    quoted = QuotedText(context.text, start, end, context.section_title, context.paper.title)
    if years := years_of(quoted, asked):
        return years
    appeared = years_in(context.paper.year)
    is_later = appeared and all(min(appeared) < wanted.first for wanted in asked)
    own = frozenset[int]().union(
        *(years_in(other.text) for other in contexts if other.paper_id == one.paper_id)
    )
    return own if not is_later and are_in(asked, own) else appeared


def _restricted(part: QuestionPart, contexts: Sequence[Context]) -> Iterator[RestrictedPart]:
    """The part for all papers; if it compares papers, also the part for each of these papers."""
    compared = works_compared(part.searched, papers_of(contexts))
    yield RestrictedPart(part)
    for paper in sorted(compared)[:_MOST_COMPARED]:
        text, searched = f"{part.text} ({paper})", asked_of_one(part.searched, compared, paper)
        yield RestrictedPart(replace(part, text=text, searched=searched), paper)


def _gaps(part: QuestionPart, contexts: Sequence[Context], unanswered: Set[str]) -> list[str]:
    """The texts that name what of a part is not answered. If some papers of a comparison were
    answered for, only the others are named; otherwise the part as a whole."""
    whole, *of_papers = (one.part.text for one in _restricted(part, contexts))
    papers_left = [text for text in of_papers if text in unanswered]
    if len(papers_left) < len(of_papers):
        return papers_left
    return [whole] if whole in unanswered else []


def _in_order(
    parts: Sequence[QuestionPart],
    special: Mapping[str, Claims],
    of_sentences: Claims,
    n_special: int,
) -> Claims:
    """The first `n_special` distinct claims of `special` and those of sentences; those that answer
    the first part come first."""
    distinct = {
        (claim.text, claim.citations): claim for claims in special.values() for claim in claims
    }
    own = list(distinct.values())[:n_special]
    return (*own, *of_sentences) if parts[0].text in special else (*of_sentences, *own)


def _is_refused(
    part: QuestionPart, missing: Sequence[MissingName], contexts: Sequence[Context]
) -> bool:
    """Whether a part must not be answered: it asks what a work says that is not in the contexts, or
    has a decisive name that they do not have. missing: names that no context has."""
    quoted = works_quoted(part.text)
    if (
        quoted
        and asks_what_a_work_says(part.text)
        and not papers_named(quoted, papers_of(contexts))
    ):
        return True
    text = " ".join(part.text.split())
    return any(name.is_decisive and name.text in text for name in missing)
