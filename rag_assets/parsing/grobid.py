"""A GROBID server reads the PDFs that have no better file beside them; its TEI becomes a further
file of each paper.

The TEI of a PDF is called its reading. It comes before the PDF in the list of files: the paper is
parsed from the reading, pages that the reading lacks come from the PDF, and if the reading fails,
the PDF is parsed. A reading is stored at once; its key is made of the content of the PDF, the
version of the server and the form that was sent. A failure is not stored, so the next run asks
again. A PDF is sent only to the address in the settings: no redirect is followed, and no proxy or
password of the environment is used. Source: GROBID's manual (0.9.1), "GROBID Service API".
"""

import logging
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from http import HTTPStatus
from typing import Any

import anyio
import httpx2

from rag_assets.core.domain import SourceFormat
from rag_assets.core.errors import ServiceUnavailable, UnreadableDocument
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import ParsingSettings, host_of, tell_origin
from rag_assets.parsing.attempts import ParseJob
from rag_assets.parsing.discovery import Paper, PaperFile
from rag_assets.parsing.known_files import fingerprinted, is_pdf
from rag_assets.parsing.registry import FORMATS, looks_like
from rag_assets.parsing.shared.files import hashed_content

logger = logging.getLogger(__name__)
NAME = "GROBID"
MAX_CONCURRENT = 4
"""Number of PDFs that are sent at the same time."""
TIMEOUT_S = 600.0
"""Seconds one PDF may take, waiting for a full server included."""
FORM = {
    **dict.fromkeys(("consolidateHeader", "consolidateCitations", "consolidateFunders"), "0"),
    "segmentSentences": "1",
    "teiCoordinates": "p s head ref figure formula note biblStruct persName title".split(),
}
"""What is sent with each PDF. Without the zeros, GROBID looks titles and authors up at CrossRef."""
_FILE_NAME = "paper.pdf"
"""The name under which every PDF is sent: real file names may tell more than a server needs to
know."""
_CHECK_TIMEOUT_S = 30.0
_CONNECT_TIMEOUT_S = 10.0
_WAIT_S = 5.0
"""Wait between two attempts at a full server; GROBID's manual suggests 5 to 10 s, and its Python
client waits 5."""
_GIVE_UP_AFTER = 5
"""After this many PDFs in a row without an answer, no more are sent: with a server that is gone,
each would take the full time limit."""
_BYTES_PER_MB = 1_000_000
_SHOWN_BYTES = 200
_NUMBER = re.compile(
    r"\d[\w.+-]{0,40}"
)  # the first number in the reply of a server, which is JSON or the number alone


def with_readings(papers: Sequence[Paper], job: ParseJob) -> list[Paper]:
    """The examined papers with the readings of the server that the settings name; a failed one has
    a problem.

    Only PDFs that are the best file of their paper are sent, and only if TEI comes before PDF in
    `parsing.source_order`. Raises InvalidSettings for an invalid address, ServiceUnavailable for a
    server that does not answer and is needed.
    """
    order = [*job.settings.source_order, SourceFormat.PDF]
    if SourceFormat.TEI not in order[: order.index(SourceFormat.PDF)]:
        return list(papers)
    best = {
        paper.paper_id: next((file for file in paper.files if not file.problem), None)
        for paper in papers
        if not paper.problem
    }
    pdfs = {file.sha256: file for file in best.values() if file and is_pdf(file)}
    readings = anyio.run(_GrobidRun(job).readings, list(pdfs.values())) if pdfs else {}

    def with_reading(paper: Paper) -> Paper:
        pdf = best.get(paper.paper_id)
        if pdf is None or pdf.sha256 not in readings:
            return paper
        index = paper.files.index(pdf)
        # the same PDF may belong to several papers: the reading gets the path of this one
        reading = replace(readings[pdf.sha256], path=pdf.path, relative=pdf.relative)
        files = (*paper.files[:index], reading, *paper.files[index:])
        return fingerprinted(replace(paper, files=files), job.settings)

    return [with_reading(paper) for paper in papers]


class _GrobidRun:
    """Sends the PDFs of one run to the server and stores the readings."""

    def __init__(self, job: ParseJob) -> None:
        self._settings, self._kept = job.settings, job.store.readings
        self._versions = KeptFile(job.store.path).replies("service_versions", str)
        self._tei = next(known for known in FORMATS if known.source is SourceFormat.TEI)
        self._slots = anyio.Semaphore(MAX_CONCURRENT)
        self._n_unanswered = 0

    async def readings(self, pdfs: list[PaperFile]) -> dict[str, PaperFile]:
        """SHA-256 of each PDF -> its reading as a file of the paper; a file with a problem if
        GROBID failed. Only PDFs without a stored reading are sent."""
        address = self._settings.grobid
        async with _connected(self._settings) as server:
            problem = await self._learn_version(server, address)
            missing = set(self._kept.missing([self._key(pdf) for pdf in pdfs]))
            to_ask = [pdf for pdf in pdfs if self._key(pdf) in missing]
            if problem and to_ask:
                raise ServiceUnavailable(
                    f"{NAME} does not answer at {address} (parsing.grobid): {problem}. Start it (docker compose "
                    "--profile grobid up -d), correct the address, or delete the setting; then our own reader reads "
                    "the PDFs."
                )
            new: dict[str, PaperFile] = {}

            async def add_reading(pdf: PaperFile) -> None:
                new[pdf.sha256] = await self._new_reading(pdf, server)
                logger.info("%s: %d of %d PDFs", NAME, len(new), len(to_ask))

            async with anyio.create_task_group() as group:
                for pdf in to_ask:
                    group.start_soon(add_reading, pdf)
        return new | {pdf.sha256: self._reading(pdf) for pdf in pdfs if pdf.sha256 not in new}

    async def _learn_version(self, server: "_GrobidServer", address: str) -> str:
        """Ask the server for its version, which is part of the keys of readings. Returns "", or why
        there is no answer; then the version of the last run is used, so that its stored readings
        are found."""
        version_key = fingerprint(NAME, address)
        try:
            with anyio.fail_after(_CHECK_TIMEOUT_S):
                if (await server.once("GET", "/api/isalive")).strip() != b"true":
                    raise _GrobidUnavailable("it says that it is not alive")
                reply = await server.once("GET", "/api/version")
        except (_GrobidUnavailable, UnreadableDocument, TimeoutError) as fault:
            self._version = self._versions.get(version_key) or ""
            logger.warning("%s at %s does not answer; what it read before is used.", NAME, address)
            return str(fault) or f"it took more than {_CHECK_TIMEOUT_S:g} s"
        self._version = reply.decode("utf-8", "replace")[:1000]
        self._versions.put(version_key, self._version)
        return ""

    def _key(self, pdf: PaperFile) -> str:
        """Key of a reading in the store."""
        return f"{pdf.sha256}.{fingerprint(NAME, self._version, FORM)}"

    async def _new_reading(self, pdf: PaperFile, server: "_GrobidServer") -> PaperFile:
        """Send the PDF, check and store the reply. Returns the reading, or a file with a
        problem."""
        async with self._slots:
            if self._n_unanswered >= _GIVE_UP_AFTER:
                return self._failed(
                    pdf, f"it did not answer for {_GIVE_UP_AFTER} papers before this one"
                )
            try:
                with anyio.fail_after(TIMEOUT_S):
                    files = {
                        "input": (
                            _FILE_NAME,
                            hashed_content(pdf.path, pdf.sha256),
                            "application/pdf",
                        )
                    }
                    reading = await server.patiently(
                        "POST", "/api/processFulltextDocument", data=FORM, files=files
                    )
                if not looks_like(self._tei, reading[:65_536]):
                    raise UnreadableDocument(f"its reply is no {self._tei.source}")
            except (_GrobidUnavailable, TimeoutError, UnreadableDocument) as fault:
                self._n_unanswered = (
                    0 if isinstance(fault, UnreadableDocument) else self._n_unanswered + 1
                )
                too_late = f"it did not answer within {TIMEOUT_S:g} s"
                return self._failed(pdf, str(fault) or too_late)
            self._n_unanswered = 0
            self._kept.put(self._key(pdf), reading)
            return self._reading(pdf)

    def _reading(self, pdf: PaperFile) -> PaperFile:
        """The stored reading of a PDF as a file of the paper."""
        number = _NUMBER.search(self._version)
        reader = f"{NAME} {number.group() if number else 'without a version'}"
        return replace(pdf, format=self._tei, sha256=self._key(pdf), read_by=reader)

    def _failed(self, pdf: PaperFile, reason: str) -> PaperFile:
        problem = f"was not read by {NAME}: {reason}. The next run asks again."
        return replace(pdf, format=None, sha256="", problem=problem, read_by=NAME)


class _GrobidUnavailable(Exception):
    """The server is full, slow or gone, which says nothing about the PDF."""


class _NotNow(_GrobidUnavailable):
    """The server did not begin to work on the request, which can be sent again."""


class _GrobidServer:
    """Sends requests to one address; the caller limits their time.

    Raises _GrobidUnavailable when there is no answer, UnreadableDocument for an HTTP error and for
    a reply that is too large. The message can follow "a.pdf was not read by GROBID: ".
    """

    def __init__(self, client: httpx2.AsyncClient, max_reply_mb: float) -> None:
        self._client, self._max_reply_mb = client, max_reply_mb

    async def patiently(self, method: str, path: str, **parts: Any) -> bytes:
        """The body of the reply; the request is sent again while the server is full or restarts."""
        while True:
            with suppress(_NotNow):
                return await self.once(method, path, **parts)
            await anyio.sleep(_WAIT_S)

    async def once(self, method: str, path: str, **parts: Any) -> bytes:
        """The body of the reply to one request."""
        body, max_mb = bytearray(), self._max_reply_mb
        try:
            async with self._client.stream(method, path, **parts) as reply:
                if reply.status_code in (
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    HTTPStatus.TOO_MANY_REQUESTS,
                ):
                    raise _NotNow(f"it is full or not ready (HTTP {reply.status_code})")
                async for part in reply.aiter_bytes():
                    body += part
                    if len(body) > max_mb * _BYTES_PER_MB:
                        raise UnreadableDocument(
                            f"its reply has more than {max_mb:g} MB (parsing.limits.max_file_mb)"
                        )
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise _NotNow("it cannot be reached") from error
        except httpx2.HTTPError as error:
            raise _GrobidUnavailable("the connection broke before it had answered") from error
        if reply.status_code == HTTPStatus.OK:
            return bytes(body)
        status = f"it answered with HTTP {reply.status_code}"
        text = " ".join(body[:_SHOWN_BYTES].decode("utf-8", "replace").split())
        raise UnreadableDocument(f"{status}: {text}" if text else status)


@asynccontextmanager
async def _connected(settings: ParsingSettings) -> AsyncIterator[_GrobidServer]:
    """The server that the settings name. Raises InvalidSettings as `host_of`."""
    host_of("parsing.grobid", settings.grobid)
    tell_origin("parsing.grobid", settings.grobid)
    async with httpx2.AsyncClient(
        base_url=settings.grobid,
        timeout=httpx2.Timeout(None, connect=_CONNECT_TIMEOUT_S),
        headers={
            "Accept-Encoding": "identity"
        },  # a small compressed reply could fill the memory at once
        trust_env=False,
    ) as client:
        yield _GrobidServer(client, settings.limits.max_file_mb)
