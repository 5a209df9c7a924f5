"""What an asset's page said last, so that an asset with nothing to do says it again without reading what it made.

A page holds figures, previews and the outcome of the checks. It is kept beside what was published, under a key of
everything it follows from; one that is lost or damaged costs the time to check and count again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import TypeAdapter, ValidationError

from rag_assets.core.incremental import StagedFiles, UpdatePlan, fingerprint, sealed, unsealed
from rag_assets.core.promises import CheckedPromise, Promise
from rag_assets.core.settings import StageSettings
from rag_assets.pipeline.assets.previews import N_SHOWN, plain, sample_of
from rag_assets.pipeline.assets.publishing import Outcome, materialized, results


@dataclass(frozen=True)
class Frame:
    """What is the same on each page of an asset."""

    path: Path
    """Of what it makes."""
    promises: Sequence[Promise[Any]]
    settings: Mapping[str, StageSettings] = field(default_factory=dict)
    counted: str = "papers"
    facts: Mapping[str, Any] = field(default_factory=dict)

    def key(self, *follows_from: Any) -> str:
        """Changes with the JSON values that a page follows from, the settings, and the version of the package."""
        settings = {name: group.fingerprint() for name, group in self.settings.items()}
        return fingerprint(version("rag_assets"), settings, *follows_from)


@dataclass(frozen=True)
class Page:
    """What changes on the page of an asset."""

    version: str
    """Data version of what was made."""
    n_rows: int
    n_items: int
    """How many of what the asset counts there are."""
    facts: dict[str, Any] = field(default_factory=dict)
    previews: dict[str, str] = field(default_factory=dict)
    checks: dict[str, tuple[list[dict[str, str]], str, int]] = field(default_factory=dict)
    """By promise: rows that break it, the finding, and how many more rows there are."""
    beside: dict[str, str] = field(default_factory=dict)
    """Content of small files that are published with it, by name."""
    stands: list[int] = field(default_factory=list)
    """How the file stood that the asset writes into, see `KeptFile.stands`."""
    key: str = ""

    def with_checks(self, checked: Sequence[CheckedPromise]) -> dict[str, Any]:
        """The page as JSON."""
        checks = {
            one.promise.name: (sample_of(one.offenders), one.finding, max(0, len(one.offenders) - N_SHOWN))
            for one in checked
        }
        facts = {name: plain(value) for name, value in self.facts.items()}
        return asdict(self) | {"checks": checks, "facts": facts}

    def materialization(self, frame: Frame, counts: Mapping[str, int]) -> dg.MaterializeResult[Any]:
        """counts: as of `UpdatePlan.counts`."""
        return materialized(
            version=self.version,
            counts=counts,
            n_rows=self.n_rows,
            counted=frame.counted,
            path=frame.path,
            settings=frame.settings,
            facts={**frame.facts, **self.facts},
            previews=self.previews,
        )

    def said_again(self, frame: Frame) -> Outcome:
        """The page of an asset that had nothing to do."""
        yield self.materialization(frame, UpdatePlan().counts() | {"n_unchanged": self.n_items})
        yield from results(CheckedPromise(one, *self.checks[one.name]) for one in frame.promises)


def latest_page(path: Path) -> Page | None:
    """The page kept at `path`, whatever its key; None when there is none."""
    try:
        return TypeAdapter(Page).validate_python(unsealed(path.read_bytes()) or {})
    except (OSError, ValidationError):
        return None


def kept_page(path: Path, key: str, frame: Frame) -> Page | None:
    """The page kept at `path`; None when there is none under this key."""
    page = latest_page(path)
    return page if page and page.key == key and page.checks.keys() == {one.name for one in frame.promises} else None


def keep_page(page: Page, checked: Sequence[CheckedPromise], path: Path, key: str, staged: StagedFiles) -> None:
    """Stage the page to be kept at `path`."""
    staged.put(path, json.dumps(sealed(page.with_checks(checked) | {"key": key})).encode())


def page_file(made: Path) -> Path:
    """Where the page of the asset that makes a table is kept."""
    return made.with_name(f".{made.stem}.page.json")
