"""Drafts a question file from the published corpus, which a person then edits.

With a model, each question has the passage that answers it, which must occur in its chunk. Without
a model, rough questions are made from headings and tables (see `examples`). Every question is
tagged as generated, because such questions are easier than those of people.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import groupby, zip_longest
from typing import Any

from pydantic import BaseModel

from rag_assets.answering.drafts import EXTRACTIVE
from rag_assets.core.domain import Chunk, Context
from rag_assets.core.errors import RequestRejected
from rag_assets.core.settings import Settings
from rag_assets.evaluation.cases import letters
from rag_assets.evaluation.examples import drafted_questions, sampled_chunks
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections, LazyModel
from rag_assets.hosted.prompts import load_prompt, sources_block
from rag_assets.questions import Question

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
    name = ModelName.parse(settings.answering.model, setting="answering.model", instead=EXTRACTIVE)
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
