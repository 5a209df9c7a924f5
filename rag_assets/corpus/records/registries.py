"""What Crossref and OpenAlex know of DOIs, over the internet: only if the user gives a contact
address.

A DOI and the address are sent, nothing else. No redirect is followed, no proxy or password of the
environment is used.
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
"""For one reply; between two requests, so that there are at most five a second, as both services
allow."""
_MAX_BYTES = 5_000_000
_ASKED_AGAIN_AFTER_S = 30 * 24 * 3600.0
_GIVE_UP_AFTER = 3
"""Failures in a row: a service that is gone must not cost the time limit of every paper."""
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
"""Types of CSL for those of Crossref, which OpenAlex has as `type_crossref`."""


@dataclass(frozen=True)
class Registered:
    """What was said of one DOI."""

    registry: str
    """Who said it; empty where no registry knows the DOI."""
    record: Record = NO_RECORD
    asked: float = 0.0
    """Seconds since 1970."""


LookUp = Callable[[Collection[str]], Mapping[str, Registered]]
"""What registries know, by DOI, of those that one of them knows."""


class _RegistryUnavailable(Exception):
    """The service failed, which says nothing about the DOI."""


@dataclass(frozen=True)
class Registry:
    """One service."""

    name: str
    address: str
    """The DOI follows."""
    read: Callable[[dict[str, Any]], Record]
    """May raise KeyError, TypeError, AttributeError or ValueError for a reply of another shape."""


def _crossref(reply: dict[str, Any]) -> Record:
    """Format: https://api.crossref.org, "Work"; `updated-by` is also filled from Retraction
    Watch."""
    work = reply["message"]
    authors = [
        one if "family" in one else {"literal": one.get("name")} for one in work.get("author") or ()
    ]
    record = record_of_csl(
        {name: work.get(name) for name in ("DOI", "issued", "volume", "issue", "page", "language")}
        | {
            "title": _plain(work.get("title")),
            "container-title": _plain(work.get("container-title")),
        }
        | {"author": authors, "type": _TYPES.get(str(work.get("type")))}
    )
    is_retracted = any(one.get("type") == "retraction" for one in work.get("updated-by") or ())
    return replace(record, retracted="Crossref" if is_retracted else None)


def _openalex(work: dict[str, Any]) -> Record:
    """Format: https://docs.openalex.org, "Work object"."""
    of, source = work.get("biblio") or {}, (work.get("primary_location") or {}).get("source") or {}
    pages = dict.fromkeys(filter(None, (of.get("first_page"), of.get("last_page"))))
    names = [one["author"].get("display_name") for one in work.get("authorships") or ()]
    record = record_of_csl(
        {
            "DOI": work.get("doi"),
            "title": _plain([work.get("title")]),
            "issued": {"raw": work.get("publication_year")},
        }
        | {"container-title": _plain([source.get("display_name")]), "page": "-".join(pages)}
        | {"volume": of.get("volume"), "issue": of.get("issue"), "language": work.get("language")}
        | {"type": _TYPES.get(str(work.get("type_crossref")))}
    )
    authors: tuple[Person, ...] = tuple(person_of(name) for name in names) if all(names) else ()
    return replace(
        record, authors=authors, retracted="OpenAlex" if work.get("is_retracted") is True else None
    )


def _plain(values: Any) -> str | None:
    """The first text, without the markup of titles ("<i>E. coli</i>")."""
    first = next(iter(values or ()), None)
    return " ".join(html.unescape(_TAG.sub("", first)).split()) if isinstance(first, str) else None


REGISTRIES = (
    Registry("Crossref", "https://api.crossref.org/v1/works/", _crossref),
    Registry("OpenAlex", "https://api.openalex.org/works/doi:", _openalex),
)


class Registries:
    """Asks each registry in turn until one knows the DOI; what they said is kept for 30 days."""

    def __init__(
        self,
        contact: str,
        kept: KeptFile,
        registries: Sequence[Registry] = REGISTRIES,
        now: Callable[[], float] = time.time,
    ) -> None:
        """contact: an e-mail address; empty: nothing is asked."""
        self._contact, self._registries, self._now = contact, registries, now
        self._kept = kept.replies("registered", Registered)
        self._n_failed = dict.fromkeys((one.name for one in registries), 0)

    def __call__(self, dois: Collection[str]) -> dict[str, Registered]:
        """What is known, by DOI. A service that fails costs a warning; what it said before is
        used."""
        if not self._contact:
            return {}
        known = self._kept.get_all(dois)
        since = self._now() - _ASKED_AGAIN_AFTER_S
        if to_ask := [doi for doi in sorted(dois) if doi not in known or known[doi].asked < since]:
            known |= anyio.run(self._asked, to_ask)
        return {doi: one for doi, one in known.items() if one.registry}

    async def _asked(self, dois: Sequence[str]) -> dict[str, Registered]:
        found: dict[str, Registered] = {}
        async with httpx2.AsyncClient(
            timeout=_TIMEOUT_S,
            headers={
                "Accept-Encoding": "identity"
            },  # a small compressed reply could fill the memory at once
            trust_env=False,
        ) as client:
            for doi in dois:
                try:
                    found[doi] = await self._of(doi, client)
                except _RegistryUnavailable:
                    continue
                self._kept.put(doi, found[doi])
        if n_left := len(dois) - len(found):
            logger.warning(
                "%d of %d DOIs could not be looked up; the next run asks again.", n_left, len(dois)
            )
        return found

    async def _of(self, doi: str, client: httpx2.AsyncClient) -> Registered:
        for registry in self._registries:
            if self._n_failed[registry.name] >= _GIVE_UP_AFTER:
                raise _RegistryUnavailable
            await anyio.sleep(_BETWEEN_S)
            try:
                with anyio.fail_after(_TIMEOUT_S):
                    reply = await self._reply(registry.address + quote(doi, safe=""), client)
                record = registry.read(json.loads(reply)) if reply else NO_RECORD
            except (
                *(_RegistryUnavailable, httpx2.HTTPError, TimeoutError),
                *(ValueError, KeyError, TypeError, AttributeError, RecursionError),
            ) as error:
                self._n_failed[registry.name] += 1
                logger.warning("%s did not say what it knows of %s: %r", registry.name, doi, error)
                raise _RegistryUnavailable from error
            self._n_failed[registry.name] = 0
            if record.doi == doi:
                return Registered(registry.name, record, self._now())
        return Registered("", asked=self._now())

    async def _reply(self, address: str, client: httpx2.AsyncClient) -> bytes:
        """The body; empty where the DOI is not known, or known by another name. Raises
        _RegistryUnavailable for others."""
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
