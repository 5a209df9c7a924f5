"""Cases: a case is a question with its answer, its search results, and everything else that the
metrics need.

Quotes are searched in the files of the papers, without the parsers and the verification that
published them. The files are untrusted: each is read in a worker process, within the limits of
parsing. Only letters and digits are compared, case folded, because file formats change white space,
hyphens and signs.
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
"""Least number of letters in a part of a quote that a footnote or a page break interrupts in the
file."""
_MAX_PARTS = 4


class SourceFiles:
    """The files in the papers folder, each read once. Safe for several threads; must be closed."""

    def __init__(self, settings: Settings) -> None:
        self._folder, self._limits = settings.paths.papers, settings.parsing.limits
        self._pool = WorkerPool(1)
        self._letters = lru_cache(_FILES_KEPT)(self._read)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    def have_quotes(self, quotes: Sequence[tuple[str, str]]) -> tuple[bool, ...]:
        """Whether each quote occurs in its file. quotes: path in the papers folder, and quote.
        Quotes from files that cannot be read are left out of the result."""
        texts = {path: self._letters(self._folder / path) for path, _ in quotes}
        return tuple(
            _contains(text, quote) for path, quote in quotes if (text := texts[path]) is not None
        )

    def _read(self, path: Path) -> str | None:
        """The letters of a file; None if it cannot be read. Parsing reports such files."""
        if file_problem(path, self._limits):
            return None
        result = self._pool.submit(letters_of_file, path, self._limits).result()
        return None if isinstance(result, Failure) else result


def letters(text: str) -> str:
    """Only the letters and digits of a text, case folded and in compatibility form (NFKC)."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _contains(text: str, quote: str) -> bool:
    """Whether `text`, the letters of a file, contains the quote: as a whole, in a few parts that
    follow one another, or, for table rows, all of its cells."""
    if " | " in quote:
        return all(_contains_cell(text, cell) for cell in re.split(r" \| |\n", quote))
    rest, position = letters(quote), 0
    for _ in range(_MAX_PARTS):
        if text.find(rest, position) >= 0:
            return bool(rest)
        n_letters = _longest_start(rest, text, position)
        if n_letters < min(_MIN_PART, len(rest)):
            return False
        position = text.find(rest[:n_letters], position) + n_letters
        rest = rest[n_letters:]
    return False


def _contains_cell(text: str, cell: str) -> bool:
    """Whether the text contains the value of a cell as a whole, and every word of the names before
    it ("Column: 12"). Names are compared by words, because they may come from several header
    lines."""
    *names, value = re.split(r": | / ", cell)
    return letters(value) in text and all(
        letters(word) in text for name in names for word in name.split()
    )


def _longest_start(wanted: str, text: str, start: int) -> int:
    """The length of the longest start of `wanted` that occurs in `text[start:]`; by bisection."""
    low, high = 0, len(wanted)
    while low < high:
        middle = (low + high + 1) // 2
        if text.find(wanted[:middle], start) >= 0:
            low = middle
        else:
            high = middle - 1
    return low


def letters_of_file(path: Path) -> str | None:
    """The letters of a file; None if a library cannot read it, whatever error it raises."""
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
    """All strings in a JSON value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


K = 6
"""Number of chunks in which recall@k, MRR and nDCG look."""


@dataclass(frozen=True)
class Found:
    """A chunk that was found for a question."""

    paper_id: str
    chunk_id: str
    text: str
    page_start: int | None = None
    page_end: int | None = None


@dataclass(frozen=True)
class AnswerVerdict:
    """The opinion of a judge model about an answer. None in a list means that the judge could not
    tell."""

    supported: tuple[bool | None, ...] = ()
    """For each statement of the answer, whether the contexts say it."""
    useful: tuple[bool | None, ...] = ()
    """For each context, whether it helps to arrive at the reference."""
    covered: tuple[bool | None, ...] = ()
    """For each sentence of the reference, whether the contexts say it."""
    correctness: float | None = None
    """1 if the answer agrees with the reference, 0.5 if it does in part, 0 if not; None without a
    reference."""
    relevance: float | None = None
    """Mean cosine of the question and of questions that the answer would answer, 0 to 1; 0 for an
    evasive answer."""
    abstained: int = 0
    """Number of times that the judge could not tell, or did not reply to an item."""


@dataclass(frozen=True)
class Case:
    """One question as it was asked, with all that is measured about it."""

    question: Question
    result: QAResult
    hits: tuple[Found, ...] = ()
    """The best `k` chunks, best first."""
    contexts: tuple[Found, ...] = ()
    """The chunks from which the answer was made, in their order."""
    k: int = K
    """Number of chunks in which the ranking metrics look."""
    quotes_in_file: tuple[bool, ...] = ()
    """For each quote whose file could be read, whether it occurs in the file. Quotes from a title
    page are left out, because its labels are not in the file, and it may come from a
    bibliography."""
    seconds: float | None = None
    """Time that the answer took; None if it was made earlier."""
    draft: DraftAnswer | None = None
    """The draft of the answerer, for a replay; None for a published answer."""
    verdict: AnswerVerdict | None = None
    """None without a judge, or if it could not be asked."""

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
    """The case of a question and its answer: searches again, looks up the quotes, and asks the
    judge. Raises the errors of `Engine.search`."""
    chunks = engine.chunks([*result.contexts, *result.quoted_chunk_ids])
    case = Case(
        question,
        result,
        hits_of(engine, question, K),
        tuple(
            Found(chunk.paper_id, chunk.chunk_id, chunk.text, chunk.page_start, chunk.page_end)
            for chunk in (chunks[chunk_id] for chunk_id in result.contexts if chunk_id in chunks)
        ),
        K,
        files.have_quotes(
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
    """The best k chunks for a question, best first; none for a question without words. Raises the
    errors of `Engine.search`."""
    standalone = engine.standalone(question)
    hits = engine.search(standalone, k) if has_words(standalone.question) else []
    return tuple(
        Found(
            hit.chunk.paper_id,
            hit.chunk.chunk_id,
            hit.chunk.text,
            hit.passage.page_start,
            hit.passage.page_end,
        )
        for hit in hits
    )
