"""Asking the services of the settings for their readings of PDFs; what is kept is not asked for again.

A reading is kept at once, by the content of the PDF, the version of the server and what it was asked for. What failed
is not kept: the next run asks again.
"""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace

import anyio

from rag_assets.core.domain import Source
from rag_assets.core.errors import ServiceUnavailable, UnreadableDocument
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.discovery import PaperFile, Reading
from rag_assets.parsing.registry import FORMATS, sniff
from rag_assets.parsing.services.protocols import SERVICES, Service
from rag_assets.parsing.services.server import Server, Unanswered, connected
from rag_assets.parsing.shared.files.json_objects import mapping
from rag_assets.parsing.shared.files.raw import hashed_content
from rag_assets.parsing.store import DocumentStore

logger = logging.getLogger(__name__)
_CHECK_TIMEOUT_S = 30.0
_GIVE_UP_AFTER = 5
"""PDFs in a row that were not answered: a server that is gone must not cost the time limit of every paper."""
_HEAD_BYTES = 65_536
_MAX_VERSION_CHARS = 1000


def ask(
    pdfs: Mapping[str, PaperFile],
    settings: ParsingSettings,
    store: DocumentStore,
    report: Callable[[int, int], None],
) -> dict[str, list[PaperFile]]:
    """For each PDF, by the hash of its content: its reading, and before it one with a problem for each service that
    failed. A service is asked for what those before it in `settings.source_order` could not read, if it is itself
    before PDFs there.

    Raises InvalidSettings for an invalid address, ServiceUnavailable when a server does not answer at all, unless
    every reading is kept.
    """
    found: dict[str, list[PaperFile]] = {sha256: [] for sha256 in pdfs}
    for service in _in_use(settings):
        left = [pdf for sha256, pdf in pdfs.items() if not (found[sha256] and found[sha256][-1].format)]
        if left:
            for one in anyio.run(_Asked(service, settings, store, report).readings, left):
                found[one.sha256].append(one)
    return found


def _in_use(settings: ParsingSettings) -> list[Service]:
    order = [*settings.source_order, Source.PDF]
    better = order[: order.index(Source.PDF)]
    chosen = [service for service in SERVICES if service.source in better and _address(service, settings)]
    return sorted(chosen, key=lambda service: better.index(service.source))


def _address(service: Service, settings: ParsingSettings) -> str:
    address: str = getattr(settings, service.setting)
    return address


class _Asked:
    """One service in one run."""

    def __init__(
        self,
        service: Service,
        settings: ParsingSettings,
        store: DocumentStore,
        report: Callable[[int, int], None],
    ) -> None:
        self._service, self._settings, self._kept, self._report = service, settings, store.readings, report
        self._versions = KeptFile(store.path).replies("service_versions", str)
        self._format = next(known for known in FORMATS if known.source is service.source)
        self._slots = anyio.Semaphore(settings.services.max_concurrent)
        self._version = ""
        self._n_unanswered = 0

    async def readings(self, pdfs: list[PaperFile]) -> list[PaperFile]:
        """One for each PDF, in any order."""
        service, address = self._service, _address(self._service, self._settings)
        async with connected(f"parsing.{service.setting}", address, self._settings) as server:
            problem = await self._learn_version(server, address)
            wanted = set(self._kept.missing([self._key(pdf) for pdf in pdfs]))
            done = [self._reading(pdf) for pdf in pdfs if self._key(pdf) not in wanted]
            to_ask = [pdf for pdf in pdfs if self._key(pdf) in wanted]
            if problem and (to_ask or not self._version):
                raise ServiceUnavailable(
                    f"{service.name} does not answer at {address} (parsing.{service.setting}): {problem}. Start it "
                    f"(docker compose --profile {service.setting} up -d), correct the address, or delete the setting; "
                    "then our own reader reads the PDFs."
                )

            async def one(pdf: PaperFile) -> None:
                done.append(await self._asked(pdf, server))
                n_asked = len(done) - len(pdfs) + len(to_ask)
                self._report(n_asked, len(to_ask))

            async with anyio.create_task_group() as group:
                for pdf in to_ask:
                    group.start_soon(one, pdf)
        return done

    async def _learn_version(self, server: Server, address: str) -> str:
        """Why the server does not tell its version; then the one it told last is taken, and "" if it told none."""
        where, problem = fingerprint(self._service.name, address), ""
        try:
            with anyio.fail_after(_CHECK_TIMEOUT_S):
                told = await self._service.version(server)
            self._version = told.decode("utf-8", "replace").strip()[:_MAX_VERSION_CHARS]
            self._versions.put(where, self._version)
        except (Unanswered, UnreadableDocument, TimeoutError) as fault:
            problem = str(fault) or f"it took more than {_CHECK_TIMEOUT_S:g} s"
            self._version = self._versions.get(where) or ""
            logger.warning("%s at %s: %s. What it read before is used.", self._service.name, address, problem)
        return problem

    def _key(self, pdf: PaperFile) -> str:
        return f"{pdf.sha256}.{fingerprint(self._service.name, self._version, dict(self._service.form))}"

    async def _asked(self, pdf: PaperFile, server: Server) -> PaperFile:
        timeout_s = self._settings.services.timeout_s
        async with self._slots:
            if self._n_unanswered >= _GIVE_UP_AFTER:
                return self._failed(pdf, f"it did not answer for {_GIVE_UP_AFTER} papers before this one")
            try:
                with anyio.fail_after(timeout_s):
                    pdf_content = hashed_content(pdf.path, pdf.sha256)
                    content = await self._service.reading(server, self._service.form, pdf_content)
                    self._demand_format(content)
            except (Unanswered, TimeoutError) as fault:
                self._n_unanswered += 1
                in_time = f"it did not answer within {timeout_s:g} s (parsing.services.timeout_s)"
                return self._failed(pdf, str(fault) or in_time)
            except UnreadableDocument as fault:
                self._n_unanswered = 0
                return self._failed(pdf, str(fault))
            self._n_unanswered = 0
            self._kept.put(self._key(pdf), content)
            return self._reading(pdf)

    def _demand_format(self, content: bytes) -> None:
        """Raises UnreadableDocument for what must not be kept as a reading."""
        try:
            known = sniff("", content[:_HEAD_BYTES])
        except UnreadableDocument:
            known = None
        if known is not self._format:
            raise UnreadableDocument(f"its reply is no {self._format.source}")

    def _reading(self, pdf: PaperFile) -> PaperFile:
        try:
            version = mapping(json.loads(self._version)).get(self._service.version_key)
        except ValueError:
            version = self._version
        by = f"{self._service.name} {' '.join(str(version).split())[:40]}"
        return replace(pdf, format=self._format, reading=Reading(by, self._key(pdf)))

    def _failed(self, pdf: PaperFile, problem: str) -> PaperFile:
        name = self._service.name
        told = f"was not read by {name}: {problem}. The next run asks again."
        return replace(pdf, format=None, problem=told, reading=Reading(name))
