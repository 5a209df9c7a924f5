"""Brings the summaries up to date with the chunks: a model is asked about each chunk that has no
summary yet.

The prompt for a chunk includes a summary of its document. The document's summary is not part of the
key under which a chunk's summary is stored, so an edit elsewhere in the document does not make the
other chunks be asked about again. Document texts are marked as sources in the prompt, as in prompts
for answers. A summary is only searched: the worst a malicious document can do is to make itself
easier or harder to find. A chunk whose summary could not be made is searched without one until a
later run.
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
"""Raise it when the code asks for something else, or makes another summary of the same reply."""
NO_MODEL = "none"
_PACKAGE = "rag_assets.corpus"
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
    """A chunk that the model is asked about."""

    chunk_id: str
    section_path: str
    text: str


@dataclass(frozen=True)
class AskedDocument:
    """A document that the model is asked about, for the prompts of its chunks."""

    paper_id: str
    title: str
    beginning: str
    """The beginning of its text, from which the model writes the summary of the document."""


class Summarizer:
    """Writes summaries with one model. Each prompt is sent once, and its reply is kept. Safe to use
    from several threads."""

    def __init__(self, settings: SummarySettings, connections: Connections, kept: KeptFile) -> None:
        """kept: the file in which replies are kept. Raises MissingKey or InvalidSettings like
        `require_access`."""
        self._model = LazyModel(
            model_name(settings), connections, Summary,
            instructions=_INSTRUCTIONS.filled(), max_output_tokens=_MAX_OUTPUT_TOKENS,
        )  # fmt: skip
        self._replies = kept.replies("summaries", str)
        prompts_fingerprint = fingerprint(
            _INSTRUCTIONS.text,
            _DOCUMENT.text,
            _CHUNK.text,
            SUMMARIZER_VERSION,
            settings.fingerprint(),
        )
        self.identity = f"{self._model.model_id} {prompts_fingerprint[:8]}"

    def key_of(self, document: AskedDocument, chunk: AskedChunk) -> str:
        """The key of a chunk's summary: another model, prompt, title, section or text gives another
        key. The rest of the document does not count."""
        return fingerprint(self.identity, document.title, chunk.section_path, chunk.text)

    def sentence(self, document: AskedDocument, chunk: AskedChunk) -> str:
        """One line that says what the chunk is about; empty if the model's reply could not be used.

        Raises the errors of `Connection.guarded`.
        """
        return self._replies.once(
            self.key_of(document, chunk), lambda: self._ask_about(document, chunk)
        )[0]

    def _ask_about(self, document: AskedDocument, chunk: AskedChunk) -> str:
        sources = [_source(document, chunk.text, section=chunk.section_path)]
        if summary := self._summary_of(document):
            sources.insert(0, _source(document, summary, section="", is_generated=True))
        n_words = MAX_CHARS // 7  # an English word and its blank have about 7 characters
        prompt = _CHUNK.filled(sources=sources_block(sources), n_words=n_words)
        return self._reply(prompt, MAX_CHARS)

    def _summary_of(self, document: AskedDocument) -> str:
        """A summary of the whole document; empty if the model rejects the request."""

        def ask() -> str:
            prompt = _DOCUMENT.filled(
                sources=sources_block([_source(document, document.beginning, "")])
            )
            try:
                return self._reply(prompt, _MAX_DOCUMENT_CHARS)
            except RequestRejected:
                return ""

        return self._replies.once(
            fingerprint(self.identity, document.title, document.beginning), ask
        )[0]

    def _reply(self, prompt: str, max_chars: int) -> str:
        """Ask the model and return its summary as one line; "" if the reply holds none. Raises the
        error that prevented a reply, if there is one."""
        reply = self._model.ask(prompt)
        if reply.output is None and reply.fault is not None:
            raise reply.fault
        return _on_one_line(reply.output.summary if reply.output else "", max_chars)


def model_name(settings: SummarySettings) -> ModelName:
    """The model that the settings name. Raises InvalidSettings for a model that does not exist."""
    return ModelName.parse(settings.model, setting="summaries.model", instead=NO_MODEL)


def _source(
    document: AskedDocument, text: str, section: str, *, is_generated: bool = False
) -> Context:
    """A text as a source for `sources_block`, which writes only its text, title and section."""
    titles = " > ".join(title for title in (document.title, section) if title)
    return Context(
        document.paper_id, "", None, None, 0, text, is_generated=is_generated, section_title=titles
    )


def _on_one_line(text: str, max_chars: int) -> str:
    """The text on one line, without control characters. A longer text than `max_chars` is cut at
    the end of a word."""
    line = " ".join(legible(text).split())
    return line if len(line) <= max_chars else line[: max_chars + 1].rpartition(" ")[0]


logger = logging.getLogger(__name__)
CHUNK_COLUMNS = ["paper_id", "chunk_id", "section_path", "text", "own_start"]
"""The columns of the chunks that are read."""
_DOCUMENT_CHARS = 8_000
"""How many of a paper's first characters are read for the summary of the document."""


@dataclass(frozen=True)
class MissingSummary:
    """A chunk without a summary, and the reason."""

    paper_id: str
    chunk_id: str
    why: str


@dataclass(frozen=True)
class SummaryUpdate:
    """The new table of summaries, and what changed."""

    table: pa.Table
    """Schema SUMMARIES, in the order of the chunks."""
    plan: UpdatePlan
    """The papers whose summaries changed."""
    missing: tuple[MissingSummary, ...] = ()
    n_asked: int = 0
    """Chunks that got a summary in this update."""


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
    """Ask about every chunk whose summary is not published yet, `n_at_once` requests at a time.

    published: schema SUMMARIES. chunks: `CHUNK_COLUMNS`, sorted by paper, the chunks of a paper in
    order. titles: by paper_id. report: called with (done, total). A chunk whose request fails gets
    no summary. If the budget is spent, access is denied or the provider is down, the remaining
    chunks get none either.
    """
    published_summaries = dict(
        zip(published["key"].to_pylist(), published["summary"].to_pylist(), strict=True)
    )
    keyed_chunks: list[tuple[AskedDocument, AskedChunk, str]] = []
    for paper_id, paper_rows in by_paper(chunks):
        document, paper_chunks = _document(paper_id, paper_rows, titles)
        keyed_chunks += [
            (document, chunk, summarizer.key_of(document, chunk)) for chunk in paper_chunks
        ]
    to_ask = [
        (document, chunk, key)
        for document, chunk, key in keyed_chunks
        if key not in published_summaries
    ]
    new_summaries, failures = ask_each(
        ((key, (document, chunk)) for document, chunk, key in to_ask),
        lambda document_and_chunk: summarizer.sentence(*document_and_chunk),
        n_at_once,
        lambda n_done: report(n_done, len(to_ask)),
    )
    table = _table(
        [(document.paper_id, chunk.chunk_id, key) for document, chunk, key in keyed_chunks],
        published_summaries | new_summaries,
    )
    plan = plan_update(fingerprints_by_paper(published), fingerprints_by_paper(table))
    missing = [
        MissingSummary(document.paper_id, chunk.chunk_id, str(failures[key]))
        for document, chunk, key in to_ask
        if key in failures
    ]
    return SummaryUpdate(table, plan, tuple(missing), len(to_ask) - len(missing))


def _document(
    paper_id: str, chunks: pa.Table, titles: Mapping[str, str]
) -> tuple[AskedDocument, list[AskedChunk]]:
    """A paper's document and its chunks, as the model is asked about them."""
    rows = chunks.to_pylist()
    texts = (row["text"][row["own_start"] :] for row in rows)
    document = AskedDocument(
        paper_id, titles.get(paper_id, ""), "\n\n".join(_up_to(texts, _DOCUMENT_CHARS))
    )
    return document, [AskedChunk(row["chunk_id"], row["section_path"], row["text"]) for row in rows]


def _up_to(texts: Iterator[str], n_chars: int) -> Iterator[str]:
    """The texts in order, cut off after `n_chars` characters in all."""
    for text in texts:
        if n_chars <= 0:
            return
        yield text[:n_chars]
        n_chars -= len(text)


def _table(keyed_chunks: Sequence[tuple[str, str, str]], summaries: Mapping[str, str]) -> pa.Table:
    """The table of summaries. keyed_chunks: paper_id, chunk_id and key of every chunk; a chunk
    whose key has no summary is left out."""
    rows = [
        {"paper_id": paper, "chunk_id": chunk, "summary": summaries[key], "key": key}
        for paper, chunk, key in keyed_chunks
        if key in summaries
    ]
    summaries_by_paper: dict[str, list[list[str]]] = {}
    for row in rows:
        summaries_by_paper.setdefault(row["paper_id"], []).append(
            [row["chunk_id"], row["key"], row["summary"]]
        )
    fingerprints = {paper: fingerprint(values) for paper, values in summaries_by_paper.items()}
    return to_table(
        [row | {"fingerprint": fingerprints[row["paper_id"]]} for row in rows], SUMMARIES
    )


SUMMARY_PROMISES: list[Promise[SummaryUpdate]] = [
    Promise(
        "all_summarized",
        "Every chunk has a summary, where summaries.model names a model. A chunk without is searched by its own text, "
        "and the next run asks for it.",
        lambda update: [
            {"paper_id": chunk.paper_id, "chunk_id": chunk.chunk_id, "why": chunk.why}
            for chunk in update.missing
        ],
        "warning",
    ),
]
