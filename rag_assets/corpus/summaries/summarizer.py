"""Asks a model what a chunk is about. Which chunks are asked about is decided in `update`.

A chunk is asked about with a summary of its document, which is not part of the key its sentence is kept by: an edit
elsewhere in the document asks about no other chunk again. Texts of documents, and the summary made of them, stand in
fences as the sources of an answer do. A sentence is used for searching only: at worst, a document that misleads the
model makes itself easier or harder to find.
"""

from dataclasses import dataclass

from pydantic import BaseModel, Field

from rag_assets.core.domain import Context
from rag_assets.core.errors import RequestRejected
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import SummarySettings
from rag_assets.core.text.display import legible
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections, LazyModel
from rag_assets.hosted.prompts import load_prompt, sources_block

SUMMARIZER_VERSION = 1
"""Raise it when the code asks something else, or makes another sentence of the same reply."""
NO_MODEL = "none"
_PACKAGE = "rag_assets.corpus.summaries"
_INSTRUCTIONS = load_prompt(_PACKAGE, "instructions", frozenset())
_DOCUMENT = load_prompt(_PACKAGE, "document", frozenset({"sources"}))
_CHUNK = load_prompt(_PACKAGE, "chunk", frozenset({"sources", "n_words"}))
_MAX_OUTPUT_TOKENS = 1024
_MAX_DOCUMENT_CHARS = 600
MAX_CHARS = 300
"""A longer summary of a chunk is cut."""


class Summary(BaseModel):
    """What the model is asked for."""

    summary: str = Field(description="The sentence or sentences asked for, without an introduction.")


@dataclass(frozen=True)
class Part:
    """A chunk as the model is asked about it."""

    chunk_id: str
    section_path: str
    text: str


@dataclass(frozen=True)
class Document:
    """What all chunks of a paper share."""

    paper_id: str
    title: str
    beginning: str
    """As much of its text as the model reads for the summary of the whole."""


class Summarizer:
    """One model that writes summaries, each asked for once. Safe to use from several threads."""

    def __init__(self, settings: SummarySettings, connections: Connections, kept: KeptFile) -> None:
        """kept: keeps the replies. Raises MissingKey, InvalidSettings as `require_access`."""
        self._model = LazyModel(
            model_name(settings), connections, Summary,
            instructions=_INSTRUCTIONS.filled(), max_output_tokens=_MAX_OUTPUT_TOKENS,
        )  # fmt: skip
        self._replies = kept.replies("summaries", str)
        asked = fingerprint(_INSTRUCTIONS.text, _DOCUMENT.text, _CHUNK.text, SUMMARIZER_VERSION, settings.fingerprint())
        self.identity = f"{self._model.model_id} {asked[:8]}"

    def key_of(self, document: Document, part: Part) -> str:
        """Changes with what a sentence follows from, the rest of its document aside."""
        return fingerprint(self.identity, document.title, part.section_path, part.text)

    def sentence(self, document: Document, part: Part) -> str:
        """What the part is about, on one line; empty where the model's reply could not be used.

        Raises what `Connection.guarded` raises.
        """
        return self._replies.once(self.key_of(document, part), lambda: self._asked_about(document, part))[0]

    def _asked_about(self, document: Document, part: Part) -> str:
        whole = self._summary_of(document)
        sources = [_source(document, whole, section="", is_generated=True)] if whole else []
        own = _source(document, part.text, section=part.section_path)
        n_words = MAX_CHARS // 7  # letters of an English word and its blank
        prompt = _CHUNK.filled(sources=sources_block([*sources, own]).text, n_words=n_words)
        return self._reply(prompt, MAX_CHARS)

    def _summary_of(self, document: Document) -> str:
        """What the whole document is about; its chunks are asked about without it where the model rejects it."""

        def asked() -> str:
            prompt = _DOCUMENT.filled(sources=sources_block([_source(document, document.beginning, "")]).text)
            try:
                return self._reply(prompt, _MAX_DOCUMENT_CHARS)
            except RequestRejected:
                return ""

        return self._replies.once(fingerprint(self.identity, document.title, document.beginning), asked)[0]

    def _reply(self, prompt: str, max_chars: int) -> str:
        reply = self._model.ask(prompt)
        if reply.output is None and reply.fault is not None:
            raise reply.fault
        return _on_one_line(reply.output.summary if reply.output else "", max_chars)


def model_name(settings: SummarySettings) -> ModelName:
    """Raises InvalidSettings for a model that does not exist."""
    return ModelName.parse(settings.model, setting="summaries.model", instead=NO_MODEL)


def _source(document: Document, text: str, section: str, *, is_generated: bool = False) -> Context:
    """A text as a source of a prompt; only what `sources_block` writes of it matters."""
    titles = " > ".join(title for title in (document.title, section) if title)
    return Context(document.paper_id, "", None, None, 0, text, is_generated=is_generated, section_title=titles)


def _on_one_line(text: str, max_chars: int) -> str:
    """The text without control characters, cut at the end of a word."""
    line = " ".join(legible(text).split())
    return line if len(line) <= max_chars else line[: max_chars + 1].rpartition(" ")[0]
