"""What services make of PDFs that have no better file beside them, as further files of their papers.

A reading stands before its PDF: the reader of its format reads it, pages that it lacks come from the PDF, and where it
fails, the PDF is read. It is kept at once, by the content of the PDF, the version of the server and what it was asked
for. A failure is not kept: the next run asks again.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import anyio

from rag_assets.core.domain import Source
from rag_assets.core.errors import ServiceUnavailable, UnreadableDocument
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.attempts import ParseJob
from rag_assets.parsing.discovery import Paper, PaperFile
from rag_assets.parsing.examination import fingerprinted, is_pdf
from rag_assets.parsing.one_attempt import Attempt
from rag_assets.parsing.registry import FORMATS, looks_like
from rag_assets.parsing.services.protocols import SERVICES, Service
from rag_assets.parsing.services.server import Server, Unanswered, connected
from rag_assets.parsing.shared.files.raw import hashed_content

logger = logging.getLogger(__name__)
_CHECK_TIMEOUT_S = 30.0
_GIVE_UP_AFTER = 5
"""PDFs in a row that were not answered: a server that is gone must not cost the time limit of every paper."""
_NUMBER = re.compile(r"\d[\w.+-]{0,40}")  # the first one in what a server tells: JSON, or the number alone


def with_readings(papers: Sequence[Paper], job: ParseJob) -> list[Paper]:
    """The examined papers with the readings of the services that the settings name; a failed one has a problem.

    A service is asked for what those before it in `parsing.source_order` could not read, if PDFs are behind it there.
    Raises InvalidSettings for an invalid address, ServiceUnavailable for a server that does not answer and is needed.
    """
    best = {paper.paper_id: Attempt(paper).past_unusable().file for paper in papers}
    pdfs = {file.sha256: file for file in best.values() if file and is_pdf(file)}
    found: dict[str, list[PaperFile]] = {sha256: [] for sha256 in pdfs}
    for service in _in_use(job.settings):
        if left := [pdf for sha256, pdf in pdfs.items() if not any(one.format for one in found[sha256])]:
            for sha256, one in anyio.run(_Asked(service, job).readings, left).items():
                found[sha256].append(one)
    tables = _for_tables(papers, found, job)

    def completed(paper: Paper) -> Paper:
        pdf = _pdf_of(paper)
        if pdf is None:
            return paper
        at = paper.files.index(pdf)
        instead = found[pdf.sha256] if pdf == best[paper.paper_id] else []
        beside = [tables[pdf.sha256]] if pdf.sha256 in tables and Attempt(paper).docling is None else []
        readings = [[replace(one, path=pdf.path, relative=pdf.relative) for one in some] for some in (instead, beside)]
        files = (*paper.files[:at], *readings[0], pdf, *readings[1], *paper.files[at + 1 :])
        return fingerprinted(replace(paper, files=files), job.settings)

    return [completed(paper) for paper in papers]


def _pdf_of(paper: Paper) -> PaperFile | None:
    return next(filter(is_pdf, paper.files), None)


def _for_tables(papers: Sequence[Paper], found: Mapping[str, list[PaperFile]], job: ParseJob) -> dict[str, PaperFile]:
    """What Docling makes of the PDFs whose tables are to be taken from it, by hash; it was not asked for them yet."""
    if job.settings.tables != "docling" or not job.settings.docling:
        return {}
    docling = next(one for one in SERVICES if one.source is Source.DOCLING)
    asked = {sha256 for sha256, some in found.items() if any(one.read_by.startswith(docling.name) for one in some)}
    pdfs = {pdf.sha256: pdf for one in papers if Attempt(one).docling is None and (pdf := _pdf_of(one))}
    left = [pdf for sha256, pdf in pdfs.items() if sha256 not in asked]
    return anyio.run(_Asked(docling, job).readings, left) if left else {}


def _in_use(settings: ParsingSettings) -> list[Service]:
    order = [*settings.source_order, Source.PDF]
    better = order[: order.index(Source.PDF)]
    return [one for source in better for one in SERVICES if one.source is source and getattr(settings, one.setting)]


class _Asked:
    """One service in one run."""

    def __init__(self, service: Service, job: ParseJob) -> None:
        self._service, self._settings, self._kept = service, job.settings, job.store.readings
        self._versions = KeptFile(job.store.path).replies("service_versions", str)
        self._format = next(known for known in FORMATS if known.source is service.source)
        self._slots = anyio.Semaphore(job.settings.services.max_concurrent)
        self._n_unanswered = 0

    async def readings(self, pdfs: list[PaperFile]) -> dict[str, PaperFile]:
        """By the hash of each PDF."""
        name, setting = self._service.name, f"parsing.{self._service.setting}"
        address: str = getattr(self._settings, self._service.setting)
        async with connected(setting, address, self._settings) as server:
            problem = await self._learn_version(server, address)
            missing = set(self._kept.missing([self._key(pdf) for pdf in pdfs]))
            to_ask = [pdf for pdf in pdfs if self._key(pdf) in missing]
            if problem and to_ask:
                raise ServiceUnavailable(
                    f"{name} does not answer at {address} ({setting}): {problem}. Start it (docker compose --profile "
                    f"{self._service.setting} up -d), correct the address, or delete the setting; then our own reader "
                    "reads the PDFs."
                )
            done: dict[str, PaperFile] = {}

            async def one(pdf: PaperFile) -> None:
                done[pdf.sha256] = await self._asked(pdf, server)
                logger.info("%s: %d of %d PDFs", name, len(done), len(to_ask))

            async with anyio.create_task_group() as group:
                for pdf in to_ask:
                    group.start_soon(one, pdf)
        return done | {pdf.sha256: self._reading(pdf) for pdf in pdfs if pdf.sha256 not in done}

    async def _learn_version(self, server: Server, address: str) -> str:
        """Why the server does not tell its version, else ""; then the one that it told last is taken."""
        where = fingerprint(self._service.name, address)
        try:
            with anyio.fail_after(_CHECK_TIMEOUT_S):
                told = await self._service.version(server)
        except (Unanswered, UnreadableDocument, TimeoutError) as fault:
            self._version = self._versions.get(where) or ""
            logger.warning("%s at %s does not answer; what it read before is used.", self._service.name, address)
            return str(fault) or f"it took more than {_CHECK_TIMEOUT_S:g} s"
        self._version = told.decode("utf-8", "replace")[:1000]
        self._versions.put(where, self._version)
        return ""

    def _key(self, pdf: PaperFile) -> str:
        return f"{pdf.sha256}.{fingerprint(self._service.name, self._version, dict(self._service.form))}"

    async def _asked(self, pdf: PaperFile, server: Server) -> PaperFile:
        timeout_s = self._settings.services.timeout_s
        async with self._slots:
            if self._n_unanswered >= _GIVE_UP_AFTER:
                return self._failed(pdf, f"it did not answer for {_GIVE_UP_AFTER} papers before this one")
            try:
                with anyio.fail_after(timeout_s):
                    reading = await self._service.reading(server, hashed_content(pdf.path, pdf.sha256))
                if not looks_like(self._format, reading[:65_536]):
                    raise UnreadableDocument(f"its reply is no {self._format.source}")
            except (Unanswered, TimeoutError, UnreadableDocument) as fault:
                self._n_unanswered = 0 if isinstance(fault, UnreadableDocument) else self._n_unanswered + 1
                too_late = f"it did not answer within {timeout_s:g} s (parsing.services.timeout_s)"
                return self._failed(pdf, str(fault) or too_late)
            self._n_unanswered = 0
            self._kept.put(self._key(pdf), reading)
            return self._reading(pdf)

    def _reading(self, pdf: PaperFile) -> PaperFile:
        number = _NUMBER.search(self._version)
        by = f"{self._service.name} {number.group() if number else 'without a version'}"
        return replace(pdf, format=self._format, sha256=self._key(pdf), read_by=by)

    def _failed(self, pdf: PaperFile, problem: str) -> PaperFile:
        told = f"was not read by {self._service.name}: {problem}. The next run asks again."
        return replace(pdf, format=None, sha256="", problem=told, read_by=self._service.name)
