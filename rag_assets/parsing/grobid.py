"""A GROBID server reads the PDFs that have no better file beside them; its TEI becomes a further
file of each paper.

A reading stands before its PDF: the reader of TEI reads it, pages that it lacks come from the PDF,
and where it fails, the PDF is read. It is kept at once, by the content of the PDF, the version of
the server and what it was asked for. A failure is not kept: the next run asks again. A PDF goes to
the address of the setting only: no redirect is followed, and no proxy or password of the
environment is used. Source: GROBID's manual (0.9.1), "GROBID Service API".
"""

import logging
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2

from rag_assets.core.domain import SourceFormat
from rag_assets.core.errors import InvalidSettings, ServiceUnavailable, UnreadableDocument
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import ParsingSettings
from rag_assets.hosted.access import is_address
from rag_assets.parsing.attempts import ParseJob
from rag_assets.parsing.discovery import Paper, PaperFile
from rag_assets.parsing.known_files import fingerprinted, is_pdf
from rag_assets.parsing.registry import FORMATS, looks_like
from rag_assets.parsing.shared.files import hashed_content

logger = logging.getLogger(__name__)
NAME = "GROBID"
MAX_CONCURRENT = 4
"""PDFs that are sent at once."""
TIMEOUT_S = 600.0
"""Seconds one PDF may take, waiting for a full server included."""
FORM = {
    **dict.fromkeys(("consolidateHeader", "consolidateCitations", "consolidateFunders"), "0"),
    "segmentSentences": "1",
    "teiCoordinates": "p s head ref figure formula note biblStruct persName title".split(),
}
"""What is sent with each PDF. Without the zeros, GROBID looks titles and authors up at CrossRef."""
_FILE_NAME = "paper.pdf"
"""What every PDF is called on the way: names of files may say more than a server needs to know."""
_CHECK_TIMEOUT_S = 30.0
_CONNECT_TIMEOUT_S = 10.0
_WAIT_S = 5.0
"""Between two attempts at a full server; GROBID's manual suggests 5 to 10 s, and its Python client
waits 5."""
_GIVE_UP_AFTER = 5
"""PDFs in a row that were not answered: a server that is gone must not cost the time limit of every
paper."""
_BYTES_PER_MB = 1_000_000
_SHOWN_BYTES = 200
_NUMBER = re.compile(
    r"\d[\w.+-]{0,40}"
)  # the first one in what a server tells: JSON, or the number alone


def with_readings(papers: Sequence[Paper], job: ParseJob) -> list[Paper]:
    """The examined papers with the readings of the server that the settings name; a failed one has
    a problem.

    Asked for are PDFs that are the best file of their paper, if TEI stands before PDFs in
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
    found = anyio.run(_GrobidRun(job).readings, list(pdfs.values())) if pdfs else {}

    def completed(paper: Paper) -> Paper:
        pdf = best.get(paper.paper_id)
        if pdf is None or pdf.sha256 not in found:
            return paper
        at = paper.files.index(pdf)
        reading = replace(found[pdf.sha256], path=pdf.path, relative=pdf.relative)
        return fingerprinted(
            replace(paper, files=(*paper.files[:at], reading, *paper.files[at:])), job.settings
        )

    return [completed(paper) for paper in papers]


class _GrobidRun:
    """The server in one run."""

    def __init__(self, job: ParseJob) -> None:
        self._settings, self._kept = job.settings, job.store.readings
        self._versions = KeptFile(job.store.path).replies("service_versions", str)
        self._tei = next(known for known in FORMATS if known.source is SourceFormat.TEI)
        self._slots = anyio.Semaphore(MAX_CONCURRENT)
        self._n_unanswered = 0

    async def readings(self, pdfs: list[PaperFile]) -> dict[str, PaperFile]:
        """By the hash of each PDF."""
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
            done: dict[str, PaperFile] = {}

            async def one(pdf: PaperFile) -> None:
                done[pdf.sha256] = await self._asked(pdf, server)
                logger.info("%s: %d of %d PDFs", NAME, len(done), len(to_ask))

            async with anyio.create_task_group() as group:
                for pdf in to_ask:
                    group.start_soon(one, pdf)
        return done | {pdf.sha256: self._reading(pdf) for pdf in pdfs if pdf.sha256 not in done}

    async def _learn_version(self, server: "_GrobidServer", address: str) -> str:
        """Why the server does not tell its version, else ""; then the one that it told last is
        taken."""
        where = fingerprint(NAME, address)
        try:
            with anyio.fail_after(_CHECK_TIMEOUT_S):
                if (await server.once("GET", "/api/isalive")).strip() != b"true":
                    raise _GrobidUnavailable("it says that it is not alive")
                told = await server.once("GET", "/api/version")
        except (_GrobidUnavailable, UnreadableDocument, TimeoutError) as fault:
            self._version = self._versions.get(where) or ""
            logger.warning("%s at %s does not answer; what it read before is used.", NAME, address)
            return str(fault) or f"it took more than {_CHECK_TIMEOUT_S:g} s"
        self._version = told.decode("utf-8", "replace")[:1000]
        self._versions.put(where, self._version)
        return ""

    def _key(self, pdf: PaperFile) -> str:
        return f"{pdf.sha256}.{fingerprint(NAME, self._version, FORM)}"

    async def _asked(self, pdf: PaperFile, server: "_GrobidServer") -> PaperFile:
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
        number = _NUMBER.search(self._version)
        by = f"{NAME} {number.group() if number else 'without a version'}"
        return replace(pdf, format=self._tei, sha256=self._key(pdf), read_by=by)

    def _failed(self, pdf: PaperFile, problem: str) -> PaperFile:
        told = f"was not read by {NAME}: {problem}. The next run asks again."
        return replace(pdf, format=None, sha256="", problem=told, read_by=NAME)


class _GrobidUnavailable(Exception):
    """The server is full, slow or gone, which says nothing about the PDF."""


class _NotNow(_GrobidUnavailable):
    """Worth another attempt: nothing was begun."""


class _GrobidServer:
    """Sends requests to one address; the caller bounds their time. Raises _GrobidUnavailable, and
    UnreadableDocument for an error or a reply that is too large, with a phrase that can follow
    "a.pdf was not read by GROBID: "."""

    def __init__(self, client: httpx2.AsyncClient, max_reply_mb: float) -> None:
        self._client, self._max_reply_mb = client, max_reply_mb

    async def patiently(self, method: str, path: str, **parts: Any) -> bytes:
        """The body of the reply; the request is sent again while the server is full or restarts."""
        while True:
            with suppress(_NotNow):
                return await self.once(method, path, **parts)
            await anyio.sleep(_WAIT_S)

    async def once(self, method: str, path: str, **parts: Any) -> bytes:
        """The body of the reply."""
        body, most = bytearray(), self._max_reply_mb
        try:
            async with self._client.stream(method, path, **parts) as reply:
                if reply.status_code in (
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    HTTPStatus.TOO_MANY_REQUESTS,
                ):
                    raise _NotNow(f"it is full or not ready (HTTP {reply.status_code})")
                async for part in reply.aiter_bytes():
                    body += part
                    if len(body) > most * _BYTES_PER_MB:
                        raise UnreadableDocument(
                            f"its reply has more than {most:g} MB (parsing.limits.max_file_mb)"
                        )
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise _NotNow("it cannot be reached") from error
        except httpx2.HTTPError as error:
            raise _GrobidUnavailable("the connection broke before it had answered") from error
        if reply.status_code == HTTPStatus.OK:
            return bytes(body)
        said = "".join(
            f" {word}" for word in body[:_SHOWN_BYTES].decode("utf-8", "replace").split()
        )
        raise UnreadableDocument(f"it answered with HTTP {reply.status_code}{said and ':'}{said}")


@asynccontextmanager
async def _connected(settings: ParsingSettings) -> AsyncIterator[_GrobidServer]:
    """The server of the settings. Raises InvalidSettings unless its address is one without a
    password."""
    if not is_address(settings.grobid) or "@" in urlsplit(settings.grobid).netloc:
        raise InvalidSettings(
            "parsing.grobid is not an address. Write it as http://host:port or https://host, without a password."
        )
    async with httpx2.AsyncClient(
        base_url=settings.grobid,
        timeout=httpx2.Timeout(None, connect=_CONNECT_TIMEOUT_S),
        headers={
            "Accept-Encoding": "identity"
        },  # a small compressed reply could fill the memory at once
        trust_env=False,
    ) as client:
        yield _GrobidServer(client, settings.limits.max_file_mb)
