"""Keyless answers: sentences and table rows of the contexts, word for word. No model that writes is
called.

A compound question is answered part by part: who wrote a paper, and where and when it appeared, by
its record, everything else by the candidates that are most relevant. A paper is summarised by its
abstract.
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
    asks_about_a_work,
    claims_of_papers,
    names_a_paper,
    publication_claims,
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
from rag_assets.core.domain import BLOCK_SEPARATOR, Context, NumberRange, PaperFacts
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import ExtractiveSettings
from rag_assets.core.text.headings import is_of_abstract
from rag_assets.core.text.terms import terms_of
from rag_assets.questions import QuestionKind, QuestionPart, read
from rag_assets.questions.reading import asked_of_each, asks_which_papers
from rag_assets.search.retrieval.elements import asked_for, words_of_title
from rag_assets.search.retrieval.named_works import (
    asked_of_one,
    asks_what_a_quoted_work_says,
    is_quoted,
    papers_named,
    works_compared,
)

EXTRACTIVE_VERSION = 18
"""Part of the key of drafts: raise it when the code makes another answer of the same contexts."""
_SURE_FROM, _UNMENTIONED_WORDS = 0.9, 2
"""A part is not answered if its best candidate is less relevant than the first and the candidate's
paper does not mention so many of the part's words."""
_SHARE_OF_NO_ANSWER = 0.4
"""The best candidate is then brought down to this share of the floor, so that it is shown as
near."""
_SUPPOSED, _NOT_TOLD = "a hypothesis, a plan or a claim of others", "a year that is not told"
_MOST_COMPARED = 4
_NO_ABSTRACT = (
    "No abstract of {papers} was found, and without a model a summary is quoted from the abstract."
)
_ABOUT_SUMMARIES = terms_of(
    "summarise summarize sum up work summary overview gist paper study article about find findings main points results "
    "conclusions conclude show report key research review survey trial experiment"
)
Claims = tuple[DraftClaim, ...]


class ExtractiveAnswerer:
    """Answers with verbatim sentences and rows, from two papers where two have something to say."""

    def __init__(self, readers: Readers, settings: ExtractiveSettings, *, min_sources: int) -> None:
        self._readers = readers
        self._settings = settings
        self._min_sources = min_sources

    @property
    def identity(self) -> str:
        made_with = fingerprint(
            self._readers.tokens.identity,
            self._readers.sentences.identity,
            self._settings.fingerprint(),
        )
        return f"{EXTRACTIVE}-v{EXTRACTIVE_VERSION}:{made_with[:8]}"

    def read(self, context: Context) -> Context:
        passages = tuple(replace(one, score=0.0) for one in context.passages)
        return replace(
            context.words(), passages=passages, units=context.units, sections=context.sections
        )

    def within(self, _background: Background) -> Self:
        """Sentences are chosen by the question alone."""
        return self

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer:
        reading = read(question)
        asked = asked_for(question)
        if (
            QuestionKind.SUMMARY in reading.kinds
            and QuestionKind.PUBLICATION not in reading.kinds
            and not (asked and asked.labels)
        ):
            return _summary(question, contexts, self._settings.max_claims)
        parts, missing = reading.parts, missing_names(question, contexts)
        of_papers = self._of_papers(parts, contexts)
        of_titles = {
            **self._of_title_pages(parts, contexts),
            **self._of_elements(parts, contexts),
            **of_papers,
        }
        decisive = [
            name for name in missing if not asked_years(name.text)
        ]  # a year is looked for claim by claim
        left = [
            part
            for part in parts
            if part.text not in of_titles and not _is_refused(part, decisive, contexts)
        ]
        n_of_titles = min(sum(map(len, of_titles.values())), self._settings.max_claims - bool(left))
        n_of_titles = max(n_of_titles, sum(map(len, of_papers.values())))
        of_sentences, notes = self._of_sentences(
            question, left, contexts, self._settings.max_claims - n_of_titles
        )
        claims = _in_order(parts, of_titles, of_sentences.claims, n_of_titles)
        if not claims:  # the refusal says it of the whole question
            names = tuple(name.text for name in missing)
            is_unread = not _is_english(question, contexts)
            return replace(of_sentences, unanswered=notes, missing_names=names, is_unread=is_unread)
        is_open = {part.text for part in parts if part not in left and not of_titles.get(part.text)}
        is_open.update(of_sentences.unanswered)
        return replace(
            of_sentences,
            claims=claims,
            unanswered=(
                *(text for part in parts for text in _gaps(part, contexts, is_open)),
                *notes,
            ),
            missing_names=tuple(name.text for name in missing),
        )

    def _of_title_pages(
        self, parts: Sequence[QuestionPart], contexts: Sequence[Context]
    ) -> Mapping[str, Claims]:
        """Claims from title pages by the text of the part. A part that asks for authors is a key
        even without a claim: no sentence may answer it.
        """
        papers = {context.chunk_id: context.paper_id for context in contexts}
        found: dict[str, Claims] = {}
        for part in parts:
            if QuestionKind.PUBLICATION not in part.kinds:
                continue
            before = {
                papers[cited.chunk_id]
                for said in found.values()
                for one in said
                for cited in one.citations
            }
            is_further = before and not names_a_paper(part.text)
            asked_of = (
                [one for one in contexts if one.paper_id in before] if is_further else contexts
            )
            claims = tuple(publication_claims(part.text, part.searched, asked_of))
            if claims or asks_about_a_work(part.text):
                found[part.text] = claims
        return found

    def _of_elements(
        self, parts: Sequence[QuestionPart], contexts: Sequence[Context]
    ) -> Mapping[str, Claims]:
        """Claims from the elements that parts ask for by label or name, by the text of the part. A
        part that asks for a label that stands nowhere in the contexts is a key without claims:
        nothing else answers it."""
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
                is_more = bool(asked.name or asked.rest.difference(*titles))
                about = [replace(part, searched=searched)] if is_more else []
                claims = self._of_sentences(
                    searched, about, contexts, self._settings.max_claims, inside
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
        """Claims of each paper that says what a part asks of all of them, by the text of the part.
        A part that asks nothing of them, "How many papers are there?", is a key without claims: no
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
        """The claims, and notes: that they tell no finding, and on what would answer a part that is
        left open, had it not asked for another year or condition.

        candidates: None for all of the contexts.
        """
        if candidates is None:
            candidates = self._candidates(question, contexts)
        if not parts or not candidates:
            return DraftAnswer(unanswered=tuple(part.text for part in parts)), ()
        asked = [one for part in parts for one in _restricted(part, contexts)]
        candidates, scored = self._read(asked, candidates)
        said = [
            one.part.text if one.part.searched == question else one.part.searched for one in asked
        ]
        told = [
            self._without_others(one, part, candidates, contexts)
            for one, part in zip(said, scored, strict=True)
        ]
        scored = [part for part, _ in told]
        scored = [
            self._doubted(one, part, candidates, contexts)
            for one, part in zip(said, scored, strict=True)
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
        notes = [note for part, note in told if note and part.text in draft.unanswered]
        if selection.tells_no_finding:
            notes.append(OF_OTHERS_NOTE.format(others=_SUPPOSED, asked="a finding"))
        cited = {one.chunk_id for claim in draft.claims for one in claim.citations}
        if cited and not _is_english(question, [one for one in contexts if one.chunk_id in cited]):
            notes.append(NOT_JUDGED)
        return draft, tuple(dict.fromkeys(notes))

    def _read(
        self, asked: Sequence[RestrictedPart], candidates: Sequence[Candidate]
    ) -> tuple[list[Candidate], list[ScoredPart]]:
        """The candidates and parts as `read_closely` gives them. A part that asks for a year is
        read without it, too: few sentences of a report repeat its year."""
        bare = {
            nth: without_years(one.part.searched)
            for nth, one in enumerate(asked)
            if asked_years(one.part.searched)
        }
        further = [
            replace(asked[nth], part=replace(asked[nth].part, searched=text))
            for nth, text in bare.items()
        ]
        candidates, scored = read_closely([*asked, *further], candidates, self._readers)
        for nth, other in zip(bare, scored[len(asked) :], strict=True):
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
        """The part with what would answer it, but is of another year or condition, below the floor:
        it is shown as near; and a note that names these others."""
        floor, wanted = self._settings.min_relevance, asked_years(asked)
        enough = np.flatnonzero(part.relevance >= floor).tolist() if wanted else ()
        years = {nth: _years_of(candidates[nth], contexts, wanted) for nth in enough}
        years = {nth: its for nth, its in years.items() if not are_in(wanted, its)}
        left = _lowered(part, years, floor)
        unmet = Conditions(asked, contexts, self._readers.tokens).unmet(left, candidates, floor)
        named: list[object] = [*sorted(frozenset[int]().union(*years.values()))]
        if not all(years.values()):
            named.append(_NOT_TOLD)
        if named:
            note = OF_OTHERS_NOTE.format(others=listed(named), asked="the year that is asked for")
        else:
            others = [other for other in unmet.values() if other]
            same = [it.other.text for it in others if it.asked.text == others[0].asked.text]
            note = (
                OF_OTHERS_NOTE.format(
                    others=listed(dict.fromkeys(same)), asked=others[0].asked.text
                )
                if others
                else ""
            )
        return _lowered(left, unmet, floor), note

    def _doubted(
        self,
        asked: str,
        part: ScoredPart,
        candidates: Sequence[Candidate],
        contexts: Sequence[Context],
    ) -> ScoredPart:
        """The part; with all candidates below the floor if its best one is not sure and that one's
        paper does not mention several words of the part. A sentence may hold most words of a
        question and answer another one."""
        best = int(part.relevance.argmax())
        most, floor = float(part.relevance[best]), self._settings.min_relevance
        own = [one for one in contexts if one.paper_id == candidates[best].paper_id]
        if not most or not floor <= most < _SURE_FROM or not _is_english(asked, own):
            return part
        if len(unmentioned(asked, own, self._readers.tokens)) < _UNMENTIONED_WORDS:
            return part
        return replace(part, relevance=part.relevance * (_SHARE_OF_NO_ANSWER * floor / most))


def _lowered(part: ScoredPart, candidates: Iterable[int], floor: float) -> ScoredPart:
    """The part with some candidates below the floor."""
    relevance = part.relevance.copy()
    relevance[list(candidates)] *= _SHARE_OF_NO_ANSWER * floor
    return replace(part, relevance=relevance)


def _is_english(question: str, contexts: Sequence[Context]) -> bool:
    """Whether a question and the papers that were found for it are in English, as far as it can be
    told."""
    return is_asked_in_english(question) and not papers_in_other_languages(sentences(contexts))


def _years_of(
    one: Candidate, contexts: Sequence[Context], asked: Sequence[NumberRange]
) -> frozenset[int]:
    """The years that a candidate is of. Where no place tells, it is of all that its paper mentions
    if one of these is asked for and the paper did not appear before, else of the year in which the
    paper appeared."""
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


def _papers(contexts: Sequence[Context]) -> Mapping[str, PaperFacts]:
    return {context.paper_id: context.paper for context in contexts}


def _restricted(part: QuestionPart, contexts: Sequence[Context]) -> Iterator[RestrictedPart]:
    """The part as it is asked of all papers; where it compares papers, of each by itself, too."""
    compared = works_compared(part.searched, _papers(contexts))
    yield RestrictedPart(part)
    for paper in sorted(compared)[:_MOST_COMPARED]:
        text, searched = f"{part.text} ({paper})", asked_of_one(part.searched, compared, paper)
        yield RestrictedPart(replace(part, text=text, searched=searched), paper)


def _gaps(part: QuestionPart, contexts: Sequence[Context], is_open: Set[str]) -> list[str]:
    """The texts of what is open of a part; of a comparison, only the papers of which nothing was
    found."""
    whole, *of_papers = (one.part.text for one in _restricted(part, contexts))
    left = [text for text in of_papers if text in is_open]
    return left if len(left) < len(of_papers) else [whole] * (whole in is_open)


def _in_order(
    parts: Sequence[QuestionPart],
    of_titles: Mapping[str, Claims],
    of_sentences: Claims,
    n_of_titles: int,
) -> Claims:
    lines = {
        (claim.text, claim.citations): claim for claims in of_titles.values() for claim in claims
    }
    own = list(lines.values())[:n_of_titles]
    return (*own, *of_sentences) if parts[0].text in of_titles else (*of_sentences, *own)


def _is_refused(
    part: QuestionPart, missing: Sequence[MissingName], contexts: Sequence[Context]
) -> bool:
    """Whether a part of the question names something that what was found cannot be about, or asks
    what a work says that is only cited."""
    if asks_what_a_quoted_work_says(part.text) and not papers_named(part.text, _papers(contexts)):
        return True
    text = " ".join(part.text.split())
    return any(name.is_decisive and name.text in text for name in missing)


def _summary(question: str, contexts: Sequence[Context], max_claims: int) -> DraftAnswer:
    """The abstract of each paper that the question names; without one the draft says so, without a
    paper it refuses."""
    if is_quoted(question):
        meant: Set[str] = papers_named(question, _papers(contexts))
    else:
        meant = works_compared(question, _papers(contexts)).keys() or _nearest(question, contexts)
    own = [one for one in contexts if one.paper_id in meant]
    claims = tuple(claims_of([(one, 1.0) for one in _of_abstracts(own)], own))[:max_claims]
    if claims or not meant:
        return DraftAnswer(claims)
    return DraftAnswer(unanswered=(_NO_ABSTRACT.format(papers=", ".join(sorted(meant))),))


def _of_abstracts(contexts: Sequence[Context]) -> list[Candidate]:
    """The sentences below the heading of an abstract, or in a paragraph that begins with
    "Abstract"."""
    found = []
    for one in sentences(contexts):
        context = contexts[one.context]
        start = context.text.rfind(BLOCK_SEPARATOR, 0, one.start)
        paragraph = context.text[start + len(BLOCK_SEPARATOR) if start >= 0 else 0 :]
        if is_of_abstract(context.section_title.split(" > "), paragraph):
            found.append(one)
    return found


def _nearest(question: str, contexts: Sequence[Context]) -> Set[str]:
    """The paper whose contexts hold most of the words; empty where the question names something
    that none has."""
    wanted = terms_of(question) - _ABOUT_SUMMARIES
    texts: dict[str, list[str]] = {}
    for context in contexts:
        texts.setdefault(context.paper_id, [context.paper_id]).extend(
            (context.section_title, context.text)
        )
    held = {
        paper_id: len(wanted & terms_of(" ".join(of_paper))) for paper_id, of_paper in texts.items()
    }
    best = max(held, key=lambda paper_id: held[paper_id], default=None)
    return frozenset() if best is None or (wanted and not held[best]) else frozenset({best})
