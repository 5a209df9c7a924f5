"""Looks up quotes in the files of the papers, without the parsers and the verification that
published them.

The files are untrusted: each is read in a worker process, within the limits of parsing. Only
letters and digits count, in one case: what a file format does to white space, hyphens and signs
does not matter.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from rag_assets.core.settings import Settings
from rag_assets.core.workforce.processes import WorkerPool
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.parsing.discovery import file_problem

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
        return (
            None if isinstance(done, Failure) else done
        )  # the paper is told of where it is parsed


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
