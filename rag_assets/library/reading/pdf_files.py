"""The PDF of a paper: found through the published tables, refused where it leads out of the papers folder, hashed."""

from functools import lru_cache
from pathlib import Path

from rag_assets.core.errors import NotFound
from rag_assets.core.incremental import file_sha256
from rag_assets.core.settings import Settings
from rag_assets.library.reading.papers import Papers, stamp_of
from rag_assets.library.reading.pdf_workers import PdfFile
from rag_assets.parsing.discovery import file_problem

_HASHES_KEPT = 10_000


class PdfFiles:
    """Looks up PDFs; may be used by several threads."""

    def __init__(self, settings: Settings, papers: Papers) -> None:
        self._folder = settings.paths.papers
        self._limits = settings.parsing.limits
        self._papers = papers
        self._sha256 = lru_cache(_HASHES_KEPT)(_sha256)

    def of(self, paper_id: str) -> PdfFile | None:
        """The PDF of a paper; None for a paper without one. Raises NotFound for a paper that was not read, and for a
        PDF that is not there any more or may not be read."""
        name = self._papers.pdf_path(paper_id)
        if name is None:
            return None
        path = self._folder / name
        if problem := self._problem(path, name):
            raise NotFound(f"{name} {problem}")
        return PdfFile(path, name, self._sha256(path, stamp_of(path)), self._limits.max_pages)

    def _problem(self, path: Path, name: str) -> str:
        """Why the file may not be shown; empty if it may be. A list of papers may name files anywhere; a file that was
        found in the papers folder must not be a link that leads out of it."""
        is_found_inside = not name.startswith(("../", "/"))
        if is_found_inside and not path.resolve().is_relative_to(self._folder.resolve()):
            return "is a link that leads out of the papers folder. Put the file itself here."
        return file_problem(path, self._limits)


def _sha256(path: Path, _stamp: tuple[int, int, int] | None) -> str:
    """Of the file as it is at that stamp: another stamp is another entry of the cache."""
    return file_sha256(path)
