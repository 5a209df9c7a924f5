"""A model that writes queries: the questions inside a question, other wordings of it, a passage that might answer it.

What it writes is only searched for; nothing of it is quoted or shown to an answerer. Which of it is asked for, and what
happens when the model cannot be asked, is decided in `queries`.
"""

import json

from pydantic import BaseModel, Field

from rag_assets.core.domain import Usage
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import QuerySettings
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections, KeptReplies, LazyModel
from rag_assets.hosted.prompts import load_prompt

WRITER_VERSION = 1
"""Raise it when the code makes other queries of the same replies."""
MAX_PARTS, MAX_QUERY_CHARS, MAX_PASSAGE_CHARS = 5, 500, 2_000
"""A reply that has more is cut: each query costs a search."""
_MAX_OUTPUT_TOKENS = 2_048
_PACKAGE = "rag_assets.search.retrieval"
_PARTS = load_prompt(_PACKAGE, "parts", frozenset())
_WORDINGS = load_prompt(_PACKAGE, "wordings", frozenset({"wanted"}))
_VARIANTS = load_prompt(_PACKAGE, "variants", frozenset({"n_variants"}))
_PASSAGE = load_prompt(_PACKAGE, "passage", frozenset())


class Parts(BaseModel):
    """The questions inside a question."""

    questions: list[str] = Field(description="Each can be understood alone; empty if only one thing is asked.")


class Wordings(BaseModel):
    """Other texts to search for."""

    variants: list[str] = Field(description="The question in other words; empty if not wanted.")
    passage: str = Field(description="A passage that might answer it; empty if not wanted.")


class QueryWriter:
    """Asks one model; what it wrote is kept on disk. Safe to use from several threads."""

    def __init__(
        self, name: ModelName, connections: Connections, settings: QuerySettings, kept: KeptFile, *, timeout_s: float
    ) -> None:
        """kept: keeps the replies. timeout_s: how long one is waited for.

        Raises MissingKey, InvalidSettings as `require_access`; nothing is opened yet.
        """
        self._settings = settings
        of_parts = LazyModel(
            name, connections, Parts, instructions=_PARTS.filled(), max_output_tokens=_MAX_OUTPUT_TOKENS
        )
        of_wordings = LazyModel(
            name, connections, Wordings, instructions=_instructions(settings), max_output_tokens=_MAX_OUTPUT_TOKENS
        )
        self.identity = f"{of_parts.model_id} queries-{_version(settings)}"
        """The model, readably, and a hash of the prompts."""
        kept_parts, kept_wordings = kept.replies("queries/parts", Parts), kept.replies("queries/wordings", Wordings)
        self._parts = KeptReplies(of_parts, kept_parts, Parts(questions=[]), timeout_s)
        self._wordings = KeptReplies(of_wordings, kept_wordings, Wordings(variants=[], passage=""), timeout_s)

    def parts(self, question: str) -> tuple[list[str], Usage]:
        """The questions inside a question, at most MAX_PARTS, none where it asks one thing; and what they cost now.

        Raises what `Connection.guarded` raises.
        """
        reply, usage = self._parts.to(_quoted(question))
        parts = _different(reply.questions, question)[:MAX_PARTS]
        return (parts if len(parts) > 1 else []), usage

    def wordings(self, question: str) -> tuple[list[str], str, Usage]:
        """Other wordings, as many as are set; a passage that might answer, empty where none is set or written; and what
        they cost now. Raises as `parts`."""
        reply, usage = self._wordings.to(_quoted(question))
        variants = _different(reply.variants, question)[: self._settings.variants]
        passage = _cleaned(reply.passage, MAX_PASSAGE_CHARS) if self._settings.hypothetical_passage else ""
        return variants, passage, usage


def _quoted(question: str) -> str:
    return json.dumps(question, ensure_ascii=False)


def _version(settings: QuerySettings) -> str:
    return fingerprint(_PARTS.text, _instructions(settings), WRITER_VERSION)[:8]


def _instructions(settings: QuerySettings) -> str:
    """For wordings: only what is wanted is asked for."""
    wanted = [_VARIANTS.filled(n_variants=settings.variants)] if settings.variants else []
    wanted += [_PASSAGE.filled()] if settings.hypothetical_passage else []
    return _WORDINGS.filled(wanted="".join(wanted).strip())


def _different(texts: list[str], question: str) -> list[str]:
    """Without empty ones, repetitions, and the question itself."""
    seen = {"", question.casefold()}
    different = []
    for text in (_cleaned(one, MAX_QUERY_CHARS) for one in texts):
        if text.casefold() not in seen:
            different.append(text)
            seen.add(text.casefold())
    return different


def _cleaned(text: str, max_chars: int) -> str:
    """One line without control characters, cut at a word."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= max_chars else line[:max_chars].rpartition(" ")[0]
