"""Drafts a question file from the published corpus, for a person to edit.

With a model: questions with the passage that answers them, which must stand in its chunk. Without:
from definitions and headings, which is rough. Every question is tagged as generated: such a set is
easier than what people ask.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby, zip_longest
from typing import Any

from pydantic import BaseModel

from rag_assets.answering.drafts import EXTRACTIVE
from rag_assets.core.domain import Context
from rag_assets.core.errors import RequestRejected
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import required_table
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.evaluation.cases import letters
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections, LazyModel
from rag_assets.hosted.prompts import load_prompt, sources_block
from rag_assets.questions import Question

_PROMPT = load_prompt("rag_assets.evaluation", "suggest", frozenset())
_MAX_OUTPUT_TOKENS = 1024
_MIN_TOKENS = 40
_COLUMNS = [
    "paper_id",
    "chunk_id",
    "text",
    "page_start",
    "page_end",
    "section_title",
    "n_tokens",
    "is_generated",
]
_DEFINITION = re.compile(
    r"^(?:The |An? )?((?:[\w-]+ ){0,3}[\w-]{3,40}) (is|are) (?:an?|the) (?=\w+ \w+)"
)
_POINTING = re.compile(
    r"\b(?:it|this|that|these|those|there|they|which|what|here|we|our|one|all)\b", re.IGNORECASE
)
_USUAL = re.compile(
    r"(?i)^[\d. ]*(?:abstract|introduction|background|methods?|materials.*|results?|discussion|conclusions?|appendix.*|"
    r"references|acknowledge?ments?|related work|limitations|untitled)?$"
)


class Suggested(BaseModel):
    """The reply of a model."""

    question: str = ""
    passage: str = ""
    fact: str = ""


@dataclass(frozen=True)
class SampledChunk:
    """A chunk that a question may be made of."""

    paper_id: str
    chunk_id: str
    text: str
    pages: list[int]
    section: str


def suggested(settings: Settings, n: int, connections: Connections) -> list[Question]:
    """At most n questions, spread over the papers. Raises MissingInput before the first run, and
    what asking raises."""
    write = (
        from_rules if settings.answering.model == EXTRACTIVE else _from_model(settings, connections)
    )
    found: dict[str, Question] = {}
    for source in _spread(settings):
        if len(found) == n:
            break
        if (row := write(source)) and (question := row["question"].strip()) not in found:
            found[question] = Question.model_validate(
                {"id": f"s{len(found) + 1}", **row, "question": question}
            )
    return list(found.values())


def _spread(settings: Settings) -> Iterator[SampledChunk]:
    """The chunks, one of each paper in turn; always in the same order."""
    rows = required_table(settings.paths.chunks).select(_COLUMNS).to_pylist()
    usable = [row for row in rows if row["n_tokens"] >= _MIN_TOKENS and not row["is_generated"]]
    drawn = sorted(
        usable, key=lambda row: (row["paper_id"], sha256(row["chunk_id"].encode()).digest())
    )
    papers = [list(found) for _, found in groupby(drawn, key=lambda row: row["paper_id"])]
    for row in (row for turn in zip_longest(*papers) for row in turn if row):
        pages = list(range(row["page_start"], row["page_end"] + 1)) if row["page_start"] else []
        yield SampledChunk(
            row["paper_id"], row["chunk_id"], row["text"], pages, row["section_title"] or ""
        )


def from_rules(source: SampledChunk) -> dict[str, Any] | None:
    """A question about a term that the source defines, else about its heading; None where both are
    usual words."""
    for start, end in sentence_spans(source.text):
        sentence = source.text[start:end].strip()
        defined = _DEFINITION.match(sentence)
        if defined and not _POINTING.search(defined[1]):
            term = re.sub(
                "^(?:The|An?) ", lambda article: article[0].lower(), sentence[: defined.end(1)]
            )
            return _row(source, f"What {defined[2]} {term}?", sentence, "", "rough")
    if not _USUAL.match(source.section):
        return _row(
            source,
            f'What is said about "{source.section.lstrip("0123456789. ")}"?',
            "",
            "",
            "rough",
        )
    return None


def _from_model(
    settings: Settings, connections: Connections
) -> Callable[[SampledChunk], dict[str, Any] | None]:
    name = ModelName.parse(settings.answering.model, setting="answering.model", instead=EXTRACTIVE)
    model = LazyModel(
        name,
        connections,
        Suggested,
        instructions=_PROMPT.text,
        max_output_tokens=_MAX_OUTPUT_TOKENS,
    )

    def write(source: SampledChunk) -> dict[str, Any] | None:
        context = Context(
            source.paper_id,
            source.chunk_id,
            None,
            None,
            0,
            source.text,
            section_title=source.section,
        )
        try:
            reply = model.ask(sources_block([context]).text).output
        except RequestRejected:  # this source cannot be asked about; others can
            return None
        if not reply or not letters(reply.fact) or not letters(reply.question):
            return None
        is_there = letters(reply.passage) in letters(source.text) and letters(
            reply.fact
        ) in letters(reply.passage)
        return (
            _row(source, reply.question, reply.passage, reply.fact, "by a model")
            if is_there
            else None
        )

    return write


def _row(source: SampledChunk, question: str, passage: str, fact: str, tag: str) -> dict[str, Any]:
    expected = {
        "paper_id": source.paper_id,
        "pages": source.pages,
        "passages": [passage] if passage else [],
    }
    facts = {"key_facts": [[fact]]} if fact else {}
    return {"question": question, "expected": [expected], **facts, "tags": ["generated", tag]}
