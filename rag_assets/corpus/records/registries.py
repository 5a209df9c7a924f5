"""Looks up DOIs in Crossref and OpenAlex, over the internet. Nothing is sent unless the user gives
a contact address.

A request holds one DOI and the address, nothing else. Redirects are not followed; proxies and
passwords in the environment are not used.
"""

import html
import json
import logging
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import anyio
import httpx2

from rag_assets.core.domain import Person, Record
from rag_assets.core.domain.documents import NO_RECORD
from rag_assets.core.kept import KeptFile
from rag_assets.corpus.records.byline import person_of
from rag_assets.parsing.bibliographies import record_of_csl

logger = logging.getLogger(__name__)
_TIMEOUT_S, _BETWEEN_S = 15.0, 0.2
"""Time limit of one reply, and the pause between two requests: both services allow five requests
per second."""
_MAX_BYTES = 5_000_000
_ASKED_AGAIN_AFTER_S = 30 * 24 * 3600.0
_GIVE_UP_AFTER = 3
"""After this many failures in a row a service is not asked again: otherwise each paper would wait
for the time limit of a service that is down."""
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,100}>")
_TYPES = {
    "journal-article": "article-journal",
    "proceedings-article": "paper-conference",
    "book-chapter": "chapter",
    "book": "book",
    "monograph": "book",
    "dissertation": "thesis",
    "report": "report",
    "dataset": "dataset",
    "posted-content": "article",
}
"""The CSL type for each type of Crossref (OpenAlex has the same types, as `type_crossref`)."""


@dataclass(frozen=True)
class Registered:
    """What the registries know about one DOI."""

    registry: str
    """The registry that knows the DOI; empty if none does."""
    record: Record = NO_RECORD
    asked: float = 0.0
    """When the registries were asked, in seconds since 1970."""


LookUp = Callable[[Collection[str]], Mapping[str, Registered]]
"""Returns what registries know, by DOI. DOIs that no registry knows are left out."""


class _RegistryUnavailable(Exception):
    """A registry could not answer, so nothing is known about the DOI."""


@dataclass(frozen=True)
class Registry:
    """One service that is asked about DOIs."""

    name: str
    address: str
    """The address of a request without the DOI, which is appended."""
    read: Callable[[dict[str, Any]], Record]
    """Makes a record of a JSON reply. May raise KeyError, TypeError, AttributeError or ValueError
    if the reply has another structure."""


def _crossref(reply: dict[str, Any]) -> Record:
    """The record in a reply of Crossref. Format: https://api.crossref.org, "Work". Its `updated-by`
    includes the retractions of Retraction Watch."""
    work = reply["message"]
    authors = [
        author if "family" in author else {"literal": author.get("name")}
        for author in work.get("author") or ()
    ]
    record = record_of_csl(
        {name: work.get(name) for name in ("DOI", "issued", "volume", "issue", "page", "language")}
        | {
            "title": _plain(work.get("title")),
            "container-title": _plain(work.get("container-title")),
            "author": authors,
            "type": _TYPES.get(str(work.get("type"))),
        }
    )
    is_retracted = any(
        notice.get("type") == "retraction" for notice in work.get("updated-by") or ()
    )
    return replace(record, retracted="Crossref" if is_retracted else None)


def _openalex(work: dict[str, Any]) -> Record:
    """The record in a reply of OpenAlex. Format: https://docs.openalex.org, "Work object"."""
    biblio = work.get("biblio") or {}
    venue = (work.get("primary_location") or {}).get("source") or {}
    pages = dict.fromkeys(filter(None, (biblio.get("first_page"), biblio.get("last_page"))))
    names = [item["author"].get("display_name") for item in work.get("authorships") or ()]
    record = record_of_csl(
        {
            "DOI": work.get("doi"),
            "title": _plain([work.get("title")]),
            "issued": {"raw": work.get("publication_year")},
            "container-title": _plain([venue.get("display_name")]),
            "page": "-".join(pages),
            "volume": biblio.get("volume"),
            "issue": biblio.get("issue"),
            "language": work.get("language"),
            "type": _TYPES.get(str(work.get("type_crossref"))),
        }
    )
    # an author without a name would be missing, so then none is taken
    authors: tuple[Person, ...] = tuple(person_of(name) for name in names) if all(names) else ()
    return replace(
        record, authors=authors, retracted="OpenAlex" if work.get("is_retracted") is True else None
    )


def _plain(values: Any) -> str | None:
    """The first of the values, if it is a text, without the markup of titles ("<i>E. coli</i>")."""
    first = next(iter(values or ()), None)
    return " ".join(html.unescape(_TAG.sub("", first)).split()) if isinstance(first, str) else None


REGISTRIES = (
    Registry("Crossref", "https://api.crossref.org/v1/works/", _crossref),
    Registry("OpenAlex", "https://api.openalex.org/works/doi:", _openalex),
)


class Registries:
    """Asks one registry after another until one knows the DOI. Replies are kept for 30 days."""

    def __init__(
        self,
        contact: str,
        kept: KeptFile,
        registries: Sequence[Registry] = REGISTRIES,
        now: Callable[[], float] = time.time,
    ) -> None:
        """contact: an e-mail address; if it is empty, no registry is asked."""
        self._contact, self._registries, self._now = contact, registries, now
        self._kept = kept.replies("registered", Registered)
        self._n_failed = dict.fromkeys((registry.name for registry in registries), 0)

    def __call__(self, dois: Collection[str]) -> dict[str, Registered]:
        """What is known, by DOI. If a service fails, a warning is logged and its earlier reply is
        used."""
        if not self._contact:
            return {}
        replies = self._kept.get_all(dois)
        oldest_valid = self._now() - _ASKED_AGAIN_AFTER_S
        if to_ask := [
            doi for doi in sorted(dois) if doi not in replies or replies[doi].asked < oldest_valid
        ]:
            replies |= anyio.run(self._ask_all, to_ask)
        return {doi: registered for doi, registered in replies.items() if registered.registry}

    async def _ask_all(self, dois: Sequence[str]) -> dict[str, Registered]:
        """The replies by DOI. A DOI that could not be looked up is left out and asked again in the
        next run."""
        replies: dict[str, Registered] = {}
        async with httpx2.AsyncClient(
            timeout=_TIMEOUT_S,
            # no compression: a small compressed reply could fill the memory
            headers={"Accept-Encoding": "identity"},
            trust_env=False,
        ) as client:
            for doi in dois:
                try:
                    replies[doi] = await self._ask(doi, client)
                except _RegistryUnavailable:
                    continue
                self._kept.put(doi, replies[doi])
        if n_left := len(dois) - len(replies):
            logger.warning(
                "%d of %d DOIs could not be looked up; the next run asks again.", n_left, len(dois)
            )
        return replies

    async def _ask(self, doi: str, client: httpx2.AsyncClient) -> Registered:
        """The reply of the first registry that knows the DOI. Raises _RegistryUnavailable if a
        registry fails: otherwise the reply of a later registry would be kept for 30 days in its
        place."""
        for registry in self._registries:
            if self._n_failed[registry.name] >= _GIVE_UP_AFTER:
                raise _RegistryUnavailable
            await anyio.sleep(_BETWEEN_S)
            try:
                with anyio.fail_after(_TIMEOUT_S):
                    reply = await self._reply(registry.address + quote(doi, safe=""), client)
                record = registry.read(json.loads(reply)) if reply else NO_RECORD
            except (
                _RegistryUnavailable,
                httpx2.HTTPError,
                TimeoutError,
                # a reply of another structure
                ValueError,
                KeyError,
                TypeError,
                AttributeError,
                RecursionError,
            ) as error:
                self._n_failed[registry.name] += 1
                logger.warning("%s did not say what it knows of %s: %r", registry.name, doi, error)
                raise _RegistryUnavailable from error
            self._n_failed[registry.name] = 0
            if record.doi == doi:
                return Registered(registry.name, record, self._now())
        return Registered("", asked=self._now())

    async def _reply(self, address: str, client: httpx2.AsyncClient) -> bytes:
        """The body of a reply; empty if the registry does not know the DOI, or redirects to another
        one. Raises _RegistryUnavailable for other replies."""
        body = bytearray()
        async with client.stream("GET", address, params={"mailto": self._contact}) as reply:
            if reply.status_code == HTTPStatus.NOT_FOUND or reply.is_redirect:
                return b""
            if reply.status_code != HTTPStatus.OK:
                raise _RegistryUnavailable(f"HTTP {reply.status_code}")
            async for part in reply.aiter_bytes():
                body += part
                if len(body) > _MAX_BYTES:
                    raise _RegistryUnavailable(f"its reply has more than {_MAX_BYTES} bytes")
        return bytes(body)
