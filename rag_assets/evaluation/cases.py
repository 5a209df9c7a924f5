"""A case: a question, its answer, and what was found for it, with all that the metrics look at.

Quotes are looked up in the files of the papers without the parsers and the verification that
published them. The files are untrusted: each is read in a worker process, within the limits of
parsing. Only letters and digits count, in one case: what a file format does to white space, hyphens
and signs does not matter.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from rag_assets.answering.drafts import DraftAnswer
from rag_assets.core.domain import TITLE_PAGE_HEADING, QAResult
from rag_assets.core.settings import Settings
from rag_assets.core.workforce.processes import WorkerPool
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.engine import Engine
from rag_assets.parsing.discovery import file_problem
from rag_assets.questions import Question, has_words

_FILES_KEPT = 64
_MIN_PART = 12
"""Letters of the shorter part of a quote that a footnote or a page break interrupts in its file."""
_MAX_PARTS = 4


class SourceFiles:
    """The files below the papers folder, each read once. Safe to use from several threads; to be
    closed."""

    def __init__(self, settings: Settings) -> None:
        self._folder, self._limits = settings.paths.papers, settings.parsing.limits
        self._pool = WorkerPool(1)
        self._letters = lru_cache(_FILES_KEPT)(self._read)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    def hold(self, quotes: Sequence[tuple[str, str]]) -> tuple[bool, ...]:
        """Whether each quote stands in its file, by path from the folder and quote. Files that
        cannot be read are left out."""
        texts = {path: self._letters(self._folder / path) for path, _ in quotes}
        return tuple(
            _stands(quote, text) for path, quote in quotes if (text := texts[path]) is not None
        )

    def _read(self, path: Path) -> str | None:
        if file_problem(path, self._limits):
            return None
        done = self._pool.submit(letters_of_file, path, self._limits).result()
        # a paper that fails is told of where it is parsed
        return None if isinstance(done, Failure) else done


def letters(text: str) -> str:
    """The letters and digits of a text, in compatibility form and without case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _stands(quote: str, text: str) -> bool:
    """Whether the quote stands in the text whole, in a few parts that follow each other, or, as
    table rows, cell by cell."""
    if " | " in quote:
        return all(_cell_stands(cell, text) for cell in re.split(r" \| |\n", quote))
    rest, at = letters(quote), 0
    for _ in range(_MAX_PARTS):
        if (found := text.find(rest, at)) >= 0:
            return bool(rest) and found >= 0
        n = _longest_start(rest, text, at)
        if n < min(_MIN_PART, len(rest)):
            return False
        at = text.find(rest[:n], at) + n
        rest = rest[n:]
    return False


def _cell_stands(cell: str, text: str) -> bool:
    """Whether the value stands in the text whole; names of columns and groups, which may be of
    several lines of a header, word by word."""
    *names, value = re.split(r": | / ", cell)
    return letters(value) in text and all(
        letters(word) in text for name in names for word in name.split()
    )


def _longest_start(wanted: str, text: str, at: int) -> int:
    """How many letters of `wanted`, from its first, stand together in the text."""
    low, high = 0, len(wanted)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text.find(wanted[:middle], at) >= 0 else (low, middle - 1)
    return low


def letters_of_file(path: Path) -> str | None:
    """The letters of a file; None for one that a library cannot read, whatever it raises."""
    try:
        return letters(_text_of(path))
    except Exception:
        return None


def _text_of(path: Path) -> str:
    suffix = path.suffix.casefold()
    if suffix == ".pdf":
        return "\n".join(pdf_pages(path))
    if suffix == ".xml":
        from lxml import etree

        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
        return "".join(str(text) for text in etree.parse(path, parser).getroot().itertext())
    content = path.read_text("utf-8-sig", errors="replace")
    return "\n".join(_strings(json.loads(content))) if suffix == ".json" else content


def pdf_pages(path: Path) -> list[str]:
    """The text of each page as PDFium gives it."""
    import pypdfium2

    with pypdfium2.PdfDocument(path) as document:
        return [page.get_textpage().get_text_bounded() for page in document]


def _strings(value: Any) -> Iterator[str]:
    """All texts of a JSON value, in its order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


K = 6
"""Depth of recall@k, MRR and nDCG, in chunks."""


@dataclass(frozen=True)
class Found:
    """A text that was found for a question, and its place."""

    paper_id: str
    chunk_id: str
    text: str
    page_start: int | None = None
    page_end: int | None = None


@dataclass(frozen=True)
class AnswerVerdict:
    """What a judge model says of an answer; each list follows the order of what it was shown, None:
    cannot tell."""

    supported: tuple[bool | None, ...] = ()
    """Whether the contexts say it, for each statement of the answer."""
    useful: tuple[bool | None, ...] = ()
    """Whether it helps to arrive at the reference, for each context."""
    covered: tuple[bool | None, ...] = ()
    """Whether the contexts say it, for each sentence of the reference."""
    correctness: float | None = None
    """1 the answer agrees with the reference, 0.5 in part, 0 it does not; None without a
    reference."""
    relevance: float | None = None
    """Mean cosine of the question and questions that the answer would answer, 0 to 1; 0 for an
    evasive answer."""
    abstained: int = 0
    """How often it could not tell, or passed over what it was asked."""


@dataclass(frozen=True)
class Case:
    """One question as it was asked, and everything that is measured of it."""

    question: Question
    result: QAResult
    hits: tuple[Found, ...] = ()
    """The best `k` chunks, best first."""
    contexts: tuple[Found, ...] = ()
    """The chunks that the answer was made from, in their order."""
    k: int = K
    """Depth of the ranking metrics, in chunks."""
    quotes_in_file: tuple[bool, ...] = ()
    """Whether its words are in the file, for each quote whose file could be read. Quotes of a title
    page are left out: it has labels of our own, and may come from a bibliography."""
    seconds: float | None = None
    """How long the answer took; None where it was made before."""
    draft: DraftAnswer | None = None
    """What the answerer wrote, for a replay; None for a published answer."""
    verdict: AnswerVerdict | None = None
    """None without a judge, or where it could not be asked."""

    @property
    def is_answerable(self) -> bool:
        """Whether the corpus answers the question: yes, unless its label says no."""
        return self.question.answerable is not False


Judge = Callable[[Case], AnswerVerdict | None]


def case_of(
    engine: Engine,
    files: SourceFiles,
    question: Question,
    result: QAResult,
    *,
    judge: Judge | None = None,
    seconds: float | None = None,
    draft: DraftAnswer | None = None,
) -> Case:
    """The case of a question that has its answer. Raises as `Engine.search`."""
    chunks = engine.chunks([*result.contexts, *result.quoted_chunk_ids])
    case = Case(
        question,
        result,
        hits_of(engine, question, K),
        tuple(
            Found(one.paper_id, one.chunk_id, one.text, one.page_start, one.page_end)
            for one in (chunks[chunk_id] for chunk_id in result.contexts if chunk_id in chunks)
        ),
        K,
        files.hold(
            [
                (chunks[citation.chunk_id].file_path, citation.quote)
                for claim in result.claims
                for citation in claim.citations
                if citation.chunk_id in chunks and not citation.is_generated
                if chunks[citation.chunk_id].section_title != TITLE_PAGE_HEADING
            ]
        ),
        seconds,
        draft,
    )
    return replace(case, verdict=judge(case)) if judge and result.claims else case


def hits_of(engine: Engine, question: Question, k: int) -> tuple[Found, ...]:
    """The best k chunks, best first; none for a question without words. Raises as
    `Engine.search`."""
    meant = engine.standalone(question)
    hits = engine.search(meant, k) if has_words(meant.question) else []
    found = ((hit.chunk, hit.passage) for hit in hits)
    return tuple(
        Found(chunk.paper_id, chunk.chunk_id, chunk.text, passage.page_start, passage.page_end)
        for chunk, passage in found
    )
