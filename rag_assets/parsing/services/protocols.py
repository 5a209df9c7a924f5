"""How GROBID and docling-serve are asked to read a PDF, over their HTTP APIs.

Sources: GROBID's manual (0.9.1), "GROBID Service API"; API v1 of docling-serve, as its client calls it.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import anyio

from rag_assets.core.domain import Source
from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.settings import ParseLimits
from rag_assets.parsing.services.server import Server, Unanswered
from rag_assets.parsing.shared.files.json_objects import load_json_object, mapping, text_field

_FILE_NAME = "paper.pdf"
"""What every PDF is called on the way: names of files may say more than a server needs to know."""
_POLL_S = 2.0
"""Between two questions about a job."""

_GROBID_FORM = {
    **dict.fromkeys(("consolidateHeader", "consolidateCitations", "consolidateFunders"), "0"),
    "segmentSentences": "1",
    "teiCoordinates": "p s head ref figure formula note biblStruct persName title".split(),
}
"""Without the zeros, GROBID looks titles and authors up at CrossRef."""
_DOCLING_FORM = {"from_formats": "pdf", "to_formats": "json", "image_export_mode": "placeholder"}


@dataclass(frozen=True)
class Service:
    """A kind of server that reads PDFs."""

    name: str
    setting: str
    """The field of `ParsingSettings` with its address, and its profile in compose.yaml."""
    source: Source
    """Format of its readings."""
    form: Mapping[str, Any]
    """What is sent with each PDF; readings that were asked for otherwise are not used."""
    version: Callable[[Server], Awaitable[bytes]]
    """What a server that is ready tells about its version. Raises Unanswered and UnreadableDocument."""
    reading: Callable[[Server, bytes], Awaitable[bytes]]
    """The content of a file with the reading of a PDF. Raises the same."""


async def _grobid_version(server: Server) -> bytes:
    if (await server.once("GET", "/api/isalive")).strip() != b"true":
        raise Unanswered("it says that it is not alive")
    return await server.once("GET", "/api/version")


async def _grobid_reading(server: Server, pdf: bytes) -> bytes:
    files = {"input": (_FILE_NAME, pdf, "application/pdf")}
    return await server.patiently("POST", "/api/processFulltextDocument", data=_GROBID_FORM, files=files)


async def _docling_version(server: Server) -> bytes:
    await server.once("GET", "/health")
    return await server.once("GET", "/version")


async def _docling_reading(server: Server, pdf: bytes) -> bytes:
    """A job for each PDF: it is asked after until it is done, then its document is fetched."""
    files = {"files": (_FILE_NAME, pdf, "application/pdf")}
    job = _json(await server.patiently("POST", "/v1/convert/file/async", data=_DOCLING_FORM, files=files))
    job_id = quote(text_field(job.get("task_id")), safe="")
    while job.get("task_status") in ("pending", "started"):
        await anyio.sleep(_POLL_S)
        job = _json(await server.patiently("GET", f"/v1/status/poll/{job_id}"))
    if job.get("task_status") == "success":
        job = _json(await server.patiently("GET", f"/v1/result/{job_id}"))
    if job.get("status") != "success":  # "partial_success" has lost pages
        raise UnreadableDocument(f"the job ended as {text_field(job.get('status') or job.get('task_status'))[:40]!r}")
    return json.dumps(mapping(job.get("document")).get("json_content")).encode()


def _json(body: bytes) -> dict[str, Any]:
    try:
        return load_json_object(body, ParseLimits())
    except UnreadableDocument as error:
        raise UnreadableDocument("its reply is not the JSON of its API") from error


SERVICES = (
    Service("GROBID", "grobid", Source.TEI, _GROBID_FORM, _grobid_version, _grobid_reading),
    Service("Docling", "docling", Source.DOCLING, _DOCLING_FORM, _docling_version, _docling_reading),
)
