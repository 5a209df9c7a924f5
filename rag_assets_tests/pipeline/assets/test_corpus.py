"""The removal of papers, and what it deletes, in runs of `parsed_index`."""

import os
import time
from pathlib import Path

import dagster as dg
import pytest

from rag_assets.core.incremental import file_sha256
from rag_assets.core.settings import Paths, load_settings
from rag_assets.parsing.store import DocumentStore
from rag_assets.pipeline.assets.corpus import parsed_index
from rag_assets.pipeline.assets.resources import run_settings, run_workforce

EIGHT_DAYS_S = 8 * 86_400


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A data folder with two papers, which were read."""
    found = load_settings({"data_dir": str(tmp_path / "data")}).paths
    found.papers.mkdir(parents=True)
    for name in ("a", "b"):
        (found.papers / f"{name}.txt").write_text(f"Paper {name} is about iron.")
    assert is_read(found)
    return found


def is_read(paths: Paths, *, allow_removal: bool = False) -> bool:
    """Whether a run of `parsed_index` publishes."""
    overrides = {
        "data_dir": str(paths.data),
        "execution": {"allow_removal": allow_removal, "workers": 1},
    }
    settings = load_settings(overrides)
    resources = {"settings": run_settings(settings, overrides), "workforce": run_workforce}
    with dg.DagsterInstance.ephemeral() as instance:
        return dg.materialize(
            [parsed_index], resources=resources, instance=instance, raise_on_error=False
        ).success


def test_papers_that_were_renamed_are_not_gone(paths: Paths) -> None:
    """Tidying the names of the files would be stopped as the loss of the whole corpus."""
    for name in ("a", "b"):
        (paths.papers / f"{name}.txt").rename(paths.papers / f"{name}-2020.txt")

    assert is_read(paths)


def test_readings_that_were_paid_for_are_kept_for_a_week_after_most_papers_went(
    paths: Paths,
) -> None:
    """A removal that was confirmed in error would be paid for: hours of a server for each large
    corpus."""
    readings = DocumentStore(paths.kept).readings
    key = f"{file_sha256(paths.papers / 'a.txt')}.form"
    readings.put(key, b"<TEI/>")
    for paper in paths.papers.iterdir():
        paper.rename(paths.data / paper.name)
    (paths.papers / "c.txt").write_text("Paper c is about zinc.")

    assert is_read(paths, allow_removal=True)
    assert readings.has(key)

    long_ago = time.time() - EIGHT_DAYS_S
    os.utime(paths.removal, (long_ago, long_ago))
    assert is_read(paths)
    assert not readings.has(key)
