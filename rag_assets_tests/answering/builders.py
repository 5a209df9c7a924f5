"""Chunks, contexts and a small encoder for the tests of answering."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.drafts import Answerer, DraftAnswer, Readers, kept_drafts
from rag_assets.answering.extractive import ExtractiveAnswerer
from rag_assets.answering.pipeline import AnswerPipeline
from rag_assets.answering.trace import AnswerTrace, Event
from rag_assets.answering.verify.verification import EmbeddedSupport, SupportScorer
from rag_assets.core.domain import (
    BLOCK_SEPARATOR,
    TITLE_PAGE_HEADING,
    Box,
    Chunk,
    Context,
    ContextUnit,
    Evidence,
    PaperFacts,
    Span,
    StatementKind,
)
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import AnsweringSettings, ExtractiveSettings
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.core.text.terms import terms_of
from rag_assets.questions import ReadQuestion, read
from rag_assets.search.embedding.local_model import ALL_MINILM
from rag_assets.search.embedding.token_vectors import TokenVectors
from rag_assets.search.reranking.trained_reader import PrecededText


def chunk(
    paper_id: str, text: str, *, page: int | None = 1, spans: tuple[Span, ...] | None = None
) -> Chunk:
    """A chunk on one page, or with the spans given."""
    box = Box(page or 1, 0.1, 0.1, 0.9, 0.2)
    return Chunk(
        paper_id=paper_id,
        section_id="s",
        section_title="Results",
        chunk_id=f"{paper_id}:{hashlib.sha256(text.encode()).hexdigest()[:6]}",
        text=text,
        n_tokens=len(text.split()),
        page_start=page,
        page_end=page,
        file_path=f"{paper_id}.xml",
        source="tei",
        ordinal=0,
        section_path="Results",
        chunk_type="paragraph",
        split_sequence=None,
        is_continuation=False,
        context_before="",
        context_after="",
        char_start=0,
        char_end=len(text),
        is_generated=False,
        spans=spans or (Span(0, len(text), page, page, (box,) if page else (), 0),),
        fingerprint="f",
    )


def context(of: Chunk) -> Context:
    """The whole chunk as a context, whose lines are sentences."""
    units = tuple(
        ContextUnit(
            line.start() + start,
            line.start() + end,
            StatementKind.SENTENCE,
            0,
            line.start() + start,
        )
        for line in re.finditer(r"[^\n]+", of.text)
        for start, end in sentence_spans(line[0])
    )
    plain = Context(of.paper_id, of.chunk_id, of.page_start, of.page_end, of.n_tokens, of.text)
    return replace(plain, units=units)


def laid_out(paper_id: str, *blocks: tuple[StatementKind, str], title: str = "") -> Context:
    """A context of blocks with their units; a heading begins a section, the lines below a caption
    are rows."""
    text = BLOCK_SEPARATOR.join(block for _, block in blocks)
    units: list[ContextUnit] = []
    sections: list[tuple[int, str]] = []
    at = 0
    for nth, (kind, block) in enumerate(blocks):
        if kind is StatementKind.HEADING:
            sections.append((at, block))
        for line in re.finditer(r"[^\n]+", block):
            own = StatementKind.ROW if kind is StatementKind.CAPTION and line.start() else kind
            is_prose = own in (StatementKind.SENTENCE, StatementKind.CAPTION)
            pieces = sentence_spans(line[0]) if is_prose else [(0, len(line[0]))]
            first = at + line.start()
            units += [
                ContextUnit(first + start, first + end, own, nth, first + start)
                for start, end in pieces
            ]
        at += len(block) + len(BLOCK_SEPARATOR)
    facts = PaperFacts(title=title, cited_as=paper_id)
    return replace(
        context(chunk(paper_id, text)), units=tuple(units), sections=tuple(sections), paper=facts
    )


def title_page(of: Chunk) -> Context:
    """A chunk with the lines of a record as the title page of its paper."""
    stated = {
        label: said for label, _, said in (line.partition(": ") for line in of.text.split("\n"))
    }
    facts = PaperFacts(
        stated.get("Title", ""),
        tuple(filter(None, stated.get("Authors", "").split("; "))),
        stated.get("Publication date", "")[:4],
        stated.get("DOI", ""),
        cited_as=of.paper_id,
    )
    return replace(context(of), section_title=TITLE_PAGE_HEADING, paper=facts)


def evidence(*chunks: Chunk) -> Evidence:
    return Evidence(
        tuple(context(item) for item in chunks), {item.chunk_id: item for item in chunks}
    )


def pipeline_in(
    folder: Path,
    answerer: Answerer,
    settings: AnsweringSettings | None = None,
    scorer: SupportScorer | None = None,
) -> AnswerPipeline:
    """Keeps its drafts in that folder."""
    return AnswerPipeline(
        answerer,
        scorer or EmbeddedSupport(WordEncoder()),
        kept_drafts(KeptFile(folder / "kept.sqlite3")),
        settings or AnsweringSettings(),
    )


def finished(events: Iterable[Event]) -> AnswerTrace:
    *_, last = events
    return last.trace


class WordEncoder:
    """Hashes words into 256 dimensions: texts that share words are near each other, others are
    not."""

    identity = "word-hash-256"

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self.embed_query(text) for text in texts], dtype=np.float32).reshape(
            len(texts), 256
        )

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(256, dtype=np.float32)
        for word in text.lower().replace("?", " ").replace(".", " ").split():
            vector[int(hashlib.md5(word.encode()).hexdigest()[:4], 16) % 256] += 1
        return vector / max(float(np.linalg.norm(vector)), 1e-9)


class WordReader:
    """A token per word, hashed into 256 dimensions: equal words have cosine 1, others about 0."""

    identity = "words-256"
    scale = ALL_MINILM

    def __init__(self, longest: int = 1000, synonyms: Mapping[str, str] | None = None) -> None:
        """longest: so many tokens of a text are read. synonyms: words with the vector of
        another."""
        self._longest = longest
        self._synonyms = synonyms or {}
        self.exactly_read: list[str] = []

    def of(self, passages: Sequence[str]) -> list[TokenVectors]:
        return [self._read(passage) for passage in passages]

    def of_texts(self, texts: Sequence[str]) -> list[TokenVectors]:
        self.exactly_read += texts
        return [self._read(text) for text in texts]

    def _read(self, text: str) -> TokenVectors:
        words = list(re.finditer(r"\w+", text.lower()))[: self._longest]
        vectors = [WordEncoder().embed_query(self._synonyms.get(it[0], it[0])) for it in words]
        return TokenVectors(
            np.array(vectors, np.float32).reshape(len(words), 256),
            np.array([word.span() for word in words], np.int32).reshape(len(words), 2),
        )


class Says:
    """A SentenceReader with a score for some texts and `others` for the rest."""

    identity = "says"

    def __init__(self, scores: Mapping[str, float], others: float = 0.0) -> None:
        self._scores = scores
        self._others = others
        self.read: list[PrecededText] = []

    def scores(self, question: str, sentences: Sequence[PrecededText]) -> NDArray[np.float32]:
        self.read += sentences
        return np.array([self._scores.get(one.text, self._others) for one in sentences], np.float32)


class SharedWords:
    """A SentenceReader that takes a text for an answer where it holds a third of the question's
    words."""

    identity = "shared-words"

    def scores(self, question: str, sentences: Sequence[PrecededText]) -> NDArray[np.float32]:
        asked = terms_of(question)
        return np.array(
            [
                2.0 if 3 * len(asked & terms_of(one.text)) >= len(asked) else -20.0
                for one in sentences
            ]
        )


def drafted(
    question: str,
    *contexts: Context,
    reads: Readers | None = None,
    min_sources: int = 1,
    reading: ReadQuestion = read,
    **changes: float,
) -> DraftAnswer:
    """What is answered without a model. changes: of the settings."""
    settings = ExtractiveSettings.model_validate(changes)
    answerer = ExtractiveAnswerer(
        reads or readers(), settings, min_sources=min_sources, read=reading
    )
    return answerer.draft(question, contexts)


def texts_of(draft: DraftAnswer) -> list[str]:
    return [claim.text for claim in draft.claims]


def readers(tokens: WordReader | None = None) -> Readers:
    return Readers(tokens or WordReader(), SharedWords())
