"""Questions that the corpus can answer, made of its headings and tables, and the topics of its titles.

The page opens with them. A question is kept only if the engine answers it from the section or table
that it was made of. Everything is taken from at most `_MOST_PAPERS` papers and at most `_MOST_ASKED`
questions are asked, so that the cost does not grow with the corpus.

`suggested` drafts a question file, which a person then edits. With a model, each question has the
passage that answers it, which must occur in its chunk; without one they are made from headings and
tables. Every question is tagged as generated, because such questions are easier than those of
people.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby, islice, zip_longest
from typing import Any

from pydantic import BaseModel

from rag_assets.answering.drafts import EXTRACTIVE
from rag_assets.core.domain import Chunk, Context, QAResult, SectionKind, StatementKind
from rag_assets.core.errors import RequestRejected
from rag_assets.core.settings import AnsweringSettings, QuerySettings, Settings
from rag_assets.core.table_files import OpenTable
from rag_assets.core.tables import chunks_from
from rag_assets.core.text.headings import heading_number, section_kinds
from rag_assets.core.text.terms import QUESTION_WORDS, WORD, terms_of
from rag_assets.corpus.records.published import records_of
from rag_assets.engine import Engine
from rag_assets.evaluation.cases import letters
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections, LazyModel
from rag_assets.hosted.prompts import load_prompt, sources_block
from rag_assets.questions import Question
from rag_assets.search.retrieval.elements import label_before

EXAMPLES_VERSION = 1
"""Raise it when the same corpus gets other questions or topics."""
N_EXAMPLES = 6
_MOST_PAPERS, _MOST_ASKED = 40, 24
_MOST_TOPICS, _LEAST_USES = 6, 3
_MOST_TITLE_CHARS = 160
_TOPIC, _TABLE = "topic", "table"
_WORDINGS = {
    _TOPIC: "What do the papers say about {about}?",
    SectionKind.CONCLUSION: "What does “{title}” conclude?",
    _TABLE: "What does {about} of “{title}” show?",
    SectionKind.LIMITATIONS: "What are the limitations of “{title}”?",
}


@dataclass(frozen=True)
class DraftedQuestion:
    """A question, and the chunk that it was made of."""

    question: str
    kind: str
    chunk: Chunk
    topic: str = ""
    """What every claim of an answer has to name; empty where the question is about one paper."""


def keyless(settings: Settings) -> Settings:
    """The settings with which asking costs no request to a model that writes."""
    retrieval = settings.retrieval.model_copy(update={"queries": QuerySettings()})
    return settings.model_copy(update={"answering": AnsweringSettings(), "retrieval": retrieval})


def sampled_chunks(settings: Settings) -> list[Chunk]:
    """The authors' own chunks of some papers, always the same ones. Raises MissingInput."""
    table = OpenTable(settings.paths.chunks)
    papers = table.columns(["paper_id"])["paper_id"].to_pylist()
    drawn = sorted(set(papers), key=lambda paper: sha256(paper.encode()).digest())[:_MOST_PAPERS]
    order = {paper: at for at, paper in enumerate(drawn)}
    chunks = table.values([at for at, one in enumerate(papers) if one in order], chunks_from)
    own = [chunk for chunk in chunks if not chunk.is_generated]
    return sorted(own, key=lambda chunk: (order[chunk.paper_id], chunk.ordinal))


def topics_of(settings: Settings, chunks: Sequence[Chunk]) -> list[str]:
    """The phrases from titles that occur most often in the texts of the papers. No two of them share
    a word."""
    text = "\n".join(chunk.text for chunk in chunks)
    folded = text.lower()
    titles = _titles(settings, chunks).values()
    phrases = {phrase.lower() for title in titles for phrase in _phrases(title)}
    n_uses = Counter({phrase: folded.count(phrase) for phrase in sorted(phrases)})
    topics: list[str] = []
    for phrase, n in n_uses.most_common():
        if n < _LEAST_USES or len(topics) == _MOST_TOPICS:
            break
        if all(terms_of(phrase).isdisjoint(terms_of(topic)) for topic in topics):
            written = Counter(re.findall(re.escape(phrase), text, re.IGNORECASE))
            topics.append(phrase if phrase in text else max(written, key=written.__getitem__))
    return topics


def _titles(settings: Settings, chunks: Sequence[Chunk]) -> dict[str, str]:
    records = records_of(settings.paths, (chunk.paper_id for chunk in chunks))
    return {paper: record.title for paper, record in records.items() if record.title}


def _phrases(title: str) -> Iterator[str]:
    """The phrases of two or three neighbouring content words in a title."""
    words = list(WORD.finditer(title))
    for n in (2, 3):
        for at in range(len(words) - n + 1):
            some = [word[0] for word in words[at : at + n]]
            phrase = title[words[at].start() : words[at + n - 1].end()]
            if phrase == " ".join(some) and not QUESTION_WORDS.intersection(phrase.lower().split()):
                yield phrase


def drafted_questions(settings: Settings, chunks: Sequence[Chunk]) -> Iterator[DraftedQuestion]:
    """Questions made from chunks, one of each kind in turn. Among questions of a kind, one about the
    paper with the fewest questions so far comes next."""
    titles = _titles(settings, chunks)
    texts: defaultdict[str, str] = defaultdict(str)
    for chunk in chunks:
        texts[chunk.paper_id] += f"{chunk.text}\n"
    drafts: dict[str, DraftedQuestion] = {}
    for chunk in chunks:
        title = titles.get(chunk.paper_id, "")
        for draft in _drafts(chunk, title, texts[chunk.paper_id]):
            drafts.setdefault(draft.question, draft)
    whole = "\n".join(texts.values())
    by_kind = [[draft for draft in drafts.values() if draft.kind == kind] for kind in _WORDINGS]
    by_kind[0].sort(key=lambda draft: -whole.count(draft.topic))  # common topics first
    n_used: Counter[str] = Counter()
    while any(by_kind):
        for remaining in filter(None, by_kind):
            chosen = min(remaining, key=lambda draft: n_used[draft.chunk.paper_id])
            remaining.remove(chosen)
            n_used[chosen.chunk.paper_id] += 1
            yield chosen


def _drafts(chunk: Chunk, title: str, paper: str) -> Iterator[DraftedQuestion]:
    """The questions that can be made from one chunk. title, paper: title and whole text of its
    paper."""
    is_titled = 0 < len(title) <= _MOST_TITLE_CHARS
    for part in chunk.sections:
        number = heading_number(part.section_title)
        heading = number.title if number else part.section_title
        for kind in section_kinds([heading]):
            if is_titled and kind in _WORDINGS:
                yield DraftedQuestion(_WORDINGS[kind].format(title=title), kind, chunk)
            if kind is SectionKind.OTHER and (topic := _as_in_text(heading, paper)):
                question = _WORDINGS[_TOPIC].format(about=topic)
                yield DraftedQuestion(question, _TOPIC, chunk, topic)
    tables = {unit.block for unit in chunk.units if unit.kind is StatementKind.ROW}
    for unit in chunk.units:
        is_of_table = unit.kind is StatementKind.CAPTION and unit.block in tables
        label = label_before(chunk.text[unit.start : unit.end]) if is_of_table else None
        if is_titled and label:
            question = _WORDINGS[_TABLE].format(about=label, title=title)
            yield DraftedQuestion(question, _TABLE, chunk)


def _as_in_text(heading: str, paper: str) -> str:
    """The heading with small letters, as it occurs in a sentence of its paper. Empty if it does not
    occur there, because then it is only the name of a section; and for a single content word."""
    if len(terms_of(heading)) < 2:
        return ""
    spellings = (f"{heading[:1].lower()}{heading[1:]}", heading.lower())
    return next((spelling for spelling in spellings if spelling in paper), "")


def answered_examples(engine: Engine, drafts: Iterable[DraftedQuestion]) -> list[str]:
    """The first questions that the engine answers from the section of their chunk, at most
    `N_EXAMPLES`. At most `_MOST_ASKED` are asked."""
    answered = (
        draft.question
        for draft in islice(drafts, _MOST_ASKED)
        if is_answered(draft, engine.trace(draft.question).result, engine.chunks)
    )
    return list(islice(answered, N_EXAMPLES))


def is_answered(
    draft: DraftedQuestion,
    result: QAResult,
    chunks_of: Callable[[Iterable[str]], Mapping[str, Chunk]],
) -> bool:
    """Whether an answer is complete and all its claims are from the section of the question. For a
    question with a topic: all claims name the topic, and one is from the section."""
    if not result.claims or result.unanswered or result.missing_names:
        return False
    cited = {citation.chunk_id for claim in result.claims for citation in claim.citations}
    section = (draft.chunk.paper_id, draft.chunk.section_id)
    is_from_section = [
        (chunk.paper_id, chunk.section_id) == section for chunk in chunks_of(cited).values()
    ]
    if not draft.topic:
        return all(is_from_section)
    terms = terms_of(draft.topic)
    return any(is_from_section) and all(terms <= terms_of(claim.text) for claim in result.claims)


_PROMPT = load_prompt("rag_assets.evaluation", "suggest", frozenset())
_MAX_OUTPUT_TOKENS = 1024
_MIN_TOKENS = 40


class Suggested(BaseModel):
    """The reply of a model."""

    question: str = ""
    passage: str = ""
    fact: str = ""


def suggested(settings: Settings, n: int, connections: Connections) -> list[Question]:
    """At most n questions, spread over the papers. Raises MissingInput before the first run, and the
    errors of asking a model."""
    found: dict[str, Question] = {}
    is_by_model = settings.answering.model != EXTRACTIVE
    for row in _by_model(settings, connections) if is_by_model else _from_headings(settings):
        if len(found) == n:
            break
        if (question := row["question"].strip()) not in found:
            found[question] = Question.model_validate(
                {"id": f"s{len(found) + 1}", **row, "question": question}
            )
    return list(found.values())


def _spread(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """The chunks, one of each paper in turn; always in the same order."""
    usable = [chunk for chunk in chunks if chunk.n_tokens >= _MIN_TOKENS]
    drawn = sorted(usable, key=lambda one: (one.paper_id, sha256(one.chunk_id.encode()).digest()))
    papers = [list(found) for _, found in groupby(drawn, key=lambda one: one.paper_id)]
    return (chunk for turn in zip_longest(*papers) for chunk in turn if chunk)


def _from_headings(settings: Settings) -> Iterator[dict[str, Any]]:
    for one in drafted_questions(settings, sampled_chunks(settings)):
        yield _row(one.chunk, one.question, "", "", "rough")


def _by_model(settings: Settings, connections: Connections) -> Iterator[dict[str, Any]]:
    name = ModelName.of_answers(settings.answering.model)
    model = LazyModel(
        name,
        connections,
        Suggested,
        instructions=_PROMPT.text,
        max_output_tokens=_MAX_OUTPUT_TOKENS,
    )

    for source in _spread(sampled_chunks(settings)):
        context = Context(
            source.paper_id,
            source.chunk_id,
            None,
            None,
            0,
            source.text,
            section_title=source.section_title,
        )
        try:
            reply = model.ask(sources_block([context])).output
        except RequestRejected:  # this source cannot be asked about; others can
            continue
        if not reply or not letters(reply.fact) or not letters(reply.question):
            continue
        is_in_source = letters(reply.passage) in letters(source.text)
        if is_in_source and letters(reply.fact) in letters(reply.passage):
            yield _row(source, reply.question, reply.passage, reply.fact, "by a model")


def _row(chunk: Chunk, question: str, passage: str, fact: str, tag: str) -> dict[str, Any]:
    first, last = chunk.page_start, chunk.page_end
    expected = {
        "paper_id": chunk.paper_id,
        "pages": list(range(first, last + 1)) if first and last else [],
        "passages": [passage] if passage else [],
    }
    facts = {"key_facts": [[fact]]} if fact else {}
    return {"question": question, "expected": [expected], **facts, "tags": ["generated", tag]}
