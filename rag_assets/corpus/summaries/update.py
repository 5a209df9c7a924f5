"""Brings the summaries up to date with the chunks: a model is asked about the chunks that have none
yet.

A chunk is asked about with a summary of its document. This is not part of the key of its sentence,
so an edit elsewhere in the document asks about no other chunk again. Texts of documents are fenced
like the sources of an answer. A sentence is used for searching only: at worst, a document that
misleads the model makes itself easier or harder to find. A chunk whose summary cannot be had is
searched without one until a later run.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pydantic import BaseModel, Field

from rag_assets.core.domain import Context
from rag_assets.core.errors import RequestRejected
from rag_assets.core.incremental import UpdatePlan, fingerprint, plan_update
from rag_assets.core.kept import KeptFile
from rag_assets.core.promises import Promise
from rag_assets.core.settings import SummarySettings
from rag_assets.core.tables import SUMMARIES, by_paper, fingerprints_by_paper, to_table
from rag_assets.core.text.display import legible
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections, LazyModel, ask_each
from rag_assets.hosted.prompts import load_prompt, sources_block

SUMMARIZER_VERSION = 1
"""Raise it when the code asks something else, or makes another sentence of the same reply."""
NO_MODEL = "none"
_PACKAGE = "rag_assets.corpus.summaries"
_INSTRUCTIONS = load_prompt(_PACKAGE, "instructions", frozenset())
_DOCUMENT = load_prompt(_PACKAGE, "document", frozenset({"sources"}))
_CHUNK = load_prompt(_PACKAGE, "chunk", frozenset({"sources", "n_words"}))
_MAX_OUTPUT_TOKENS = 1024
MAX_CHARS = 300
"""A longer summary of a chunk is cut."""
_MAX_DOCUMENT_CHARS = 600


class Summary(BaseModel):
    """What the model is asked for."""

    summary: str = Field(
        description="The sentence or sentences asked for, without an introduction."
    )


@dataclass(frozen=True)
class AskedChunk:
    """A chunk as the model is asked about it."""

    chunk_id: str
    section_path: str
    text: str


@dataclass(frozen=True)
class AskedDocument:
    """What all chunks of a paper share."""

    paper_id: str
    title: str
    beginning: str
    """The beginning of its text that the model reads for the summary of the whole."""


class Summarizer:
    """One model that writes summaries, each asked for once. Safe to use from several threads."""

    def __init__(self, settings: SummarySettings, connections: Connections, kept: KeptFile) -> None:
        """kept: keeps the replies. Raises MissingKey, InvalidSettings as `require_access`."""
        self._model = LazyModel(
            model_name(settings), connections, Summary,
            instructions=_INSTRUCTIONS.filled(), max_output_tokens=_MAX_OUTPUT_TOKENS,
        )  # fmt: skip
        self._replies = kept.replies("summaries", str)
        asked = fingerprint(
            _INSTRUCTIONS.text,
            _DOCUMENT.text,
            _CHUNK.text,
            SUMMARIZER_VERSION,
            settings.fingerprint(),
        )
        self.identity = f"{self._model.model_id} {asked[:8]}"

    def key_of(self, document: AskedDocument, part: AskedChunk) -> str:
        """Changes with what a sentence follows from, the rest of its document aside."""
        return fingerprint(self.identity, document.title, part.section_path, part.text)

    def sentence(self, document: AskedDocument, part: AskedChunk) -> str:
        """A line that says what the chunk is about; empty if the model's reply could not be used.

        Raises what `Connection.guarded` raises.
        """
        return self._replies.once(
            self.key_of(document, part), lambda: self._asked_about(document, part)
        )[0]

    def _asked_about(self, document: AskedDocument, part: AskedChunk) -> str:
        whole = self._summary_of(document)
        sources = [_source(document, whole, section="", is_generated=True)] if whole else []
        own = _source(document, part.text, section=part.section_path)
        n_words = MAX_CHARS // 7  # letters of an English word and its blank
        prompt = _CHUNK.filled(sources=sources_block([*sources, own]).text, n_words=n_words)
        return self._reply(prompt, MAX_CHARS)

    def _summary_of(self, document: AskedDocument) -> str:
        """A summary of the whole document; empty if the model rejects the request."""

        def asked() -> str:
            prompt = _DOCUMENT.filled(
                sources=sources_block([_source(document, document.beginning, "")]).text
            )
            try:
                return self._reply(prompt, _MAX_DOCUMENT_CHARS)
            except RequestRejected:
                return ""

        return self._replies.once(
            fingerprint(self.identity, document.title, document.beginning), asked
        )[0]

    def _reply(self, prompt: str, max_chars: int) -> str:
        reply = self._model.ask(prompt)
        if reply.output is None and reply.fault is not None:
            raise reply.fault
        return _on_one_line(reply.output.summary if reply.output else "", max_chars)


def model_name(settings: SummarySettings) -> ModelName:
    """Raises InvalidSettings for a model that does not exist."""
    return ModelName.parse(settings.model, setting="summaries.model", instead=NO_MODEL)


def _source(
    document: AskedDocument, text: str, section: str, *, is_generated: bool = False
) -> Context:
    """A text as a source of a prompt; only what `sources_block` writes of it matters."""
    titles = " > ".join(title for title in (document.title, section) if title)
    return Context(
        document.paper_id, "", None, None, 0, text, is_generated=is_generated, section_title=titles
    )


def _on_one_line(text: str, max_chars: int) -> str:
    """The text without control characters, cut at the end of a word."""
    line = " ".join(legible(text).split())
    return line if len(line) <= max_chars else line[: max_chars + 1].rpartition(" ")[0]


logger = logging.getLogger(__name__)
CHUNK_COLUMNS = ["paper_id", "chunk_id", "section_path", "text", "own_start"]
"""What is read of the chunks."""
_DOCUMENT_CHARS = 8_000
"""Beginning of a paper that is read for the summary of the whole."""


@dataclass(frozen=True)
class MissingSummary:
    """A chunk without a summary, and why."""

    paper_id: str
    chunk_id: str
    why: str


@dataclass(frozen=True)
class SummaryUpdate:
    """The table as it should be published."""

    table: pa.Table
    """Schema SUMMARIES, in the order of the chunks."""
    plan: UpdatePlan
    """By paper."""
    missing: tuple[MissingSummary, ...] = ()
    n_asked: int = 0
    """Chunks whose summary was not published before."""


def without_summaries(published: pa.Table) -> SummaryUpdate:
    """The update when no model is configured."""
    return SummaryUpdate(SUMMARIES.empty_table(), plan_update(fingerprints_by_paper(published), {}))


def update_summaries(
    published: pa.Table,
    chunks: pa.Table,
    titles: Mapping[str, str],
    summarizer: Summarizer,
    *,
    n_at_once: int,
    report: Callable[[int, int], None],
) -> SummaryUpdate:
    """Ask about every chunk that is not published as it is, `n_at_once` side by side.

    published: schema SUMMARIES. chunks: `CHUNK_COLUMNS`, sorted by paper, a paper's chunks in
    order. titles: by paper_id. report: called with (done, total). A chunk whose request fails for
    good has no summary; when the budget is spent, access is denied or the provider is down, the
    chunks that remain have none either.
    """
    known = dict(zip(published["key"].to_pylist(), published["summary"].to_pylist(), strict=True))
    wanted = [
        (document, part, summarizer.key_of(document, part))
        for document, parts in (
            _document(paper_id, own, titles) for paper_id, own in by_paper(chunks)
        )
        for part in parts
    ]
    to_ask = [(document, part, key) for document, part, key in wanted if key not in known]
    found, left = ask_each(
        ((key, (document, part)) for document, part, key in to_ask),
        lambda asked: summarizer.sentence(*asked),
        n_at_once,
        lambda n_done: report(n_done, len(to_ask)),
    )
    summaries = {key: known[key] for _, _, key in wanted if key in known} | found
    table = _table(
        [(document.paper_id, part.chunk_id, key) for document, part, key in wanted], summaries
    )
    plan = plan_update(fingerprints_by_paper(published), fingerprints_by_paper(table))
    missing = [
        MissingSummary(document.paper_id, part.chunk_id, str(left[key]))
        for document, part, key in to_ask
        if key in left
    ]
    return SummaryUpdate(table, plan, tuple(missing), len(to_ask) - len(missing))


def _document(
    paper_id: str, chunks: pa.Table, titles: Mapping[str, str]
) -> tuple[AskedDocument, list[AskedChunk]]:
    rows = chunks.to_pylist()
    texts = (row["text"][row["own_start"] :] for row in rows)
    document = AskedDocument(
        paper_id, titles.get(paper_id, ""), "\n\n".join(_up_to(texts, _DOCUMENT_CHARS))
    )
    return document, [AskedChunk(row["chunk_id"], row["section_path"], row["text"]) for row in rows]


def _up_to(texts: Iterator[str], n_chars: int) -> Iterator[str]:
    """The texts up to so many characters in all."""
    for text in texts:
        if n_chars <= 0:
            return
        yield text[:n_chars]
        n_chars -= len(text)


def _table(wanted: Sequence[tuple[str, str, str]], summaries: Mapping[str, str]) -> pa.Table:
    """wanted: paper_id, chunk_id and key of every chunk."""
    rows = [
        {"paper_id": paper, "chunk_id": chunk, "summary": summaries[key], "key": key}
        for paper, chunk, key in wanted
        if key in summaries
    ]
    of_paper: dict[str, list[list[str]]] = {}
    for row in rows:
        of_paper.setdefault(row["paper_id"], []).append(
            [row["chunk_id"], row["key"], row["summary"]]
        )
    marks = {paper: fingerprint(said) for paper, said in of_paper.items()}
    return to_table([row | {"fingerprint": marks[row["paper_id"]]} for row in rows], SUMMARIES)


SUMMARY_PROMISES: list[Promise[SummaryUpdate]] = [
    Promise(
        "all_summarized",
        "Every chunk has a summary, where summaries.model names a model. A chunk without is searched by its own text, "
        "and the next run asks for it.",
        lambda update: [
            {"paper_id": one.paper_id, "chunk_id": one.chunk_id, "why": one.why}
            for one in update.missing
        ],
        "warning",
    ),
]
