"""Data folders of newer versions are refused, and files of earlier ones that nothing makes are
deleted."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from rag_assets.core.incremental import fingerprint, read_sealed, sealed_json
from rag_assets.core.settings import Paths
from rag_assets.core.settings.paths import DATA_VERSION
from rag_assets.core.table_files import SCHEMAS
from rag_assets.core.tables import SUMMARIES
from rag_assets.faces.cli import app
from rag_assets.pipeline.runs.versions import take_over
from rag_assets.search.embedding.local_model import BUILDER_VERSION


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    paths = Paths(tmp_path / "data")
    paths.models.mkdir(parents=True)
    return paths


@pytest.mark.parametrize(
    "command",
    [["run"], ["ask", "Why are hyphens kept inside words?"], ["verify"], ["clear", "--yes"]],
)
def test_a_folder_of_a_newer_version_is_refused_and_left_as_it_is(
    command: list[str], paths: Paths
) -> None:
    """An earlier version would take tables for damaged, and drop what it does not know."""
    newer = {"data_version": DATA_VERSION + 1, "software": "9.8.7"}
    paths.version.write_bytes(sealed_json(newer))
    (paths.cache / "of_tomorrow.json").write_text("{}")
    before = sorted(paths.data.rglob("*"))

    done = CliRunner().invoke(app, [*command, "--data", str(paths.data)])

    assert done.exit_code == 1
    assert f"{paths.data} was written by a newer version, rag_assets 9.8.7" in " ".join(
        done.stderr.split()
    )
    assert "Install that version or a later one" in " ".join(done.stderr.split())
    assert sorted(paths.data.rglob("*")) == before


def test_what_only_an_earlier_version_made_is_deleted_and_nothing_else(paths: Paths) -> None:
    """It stays for ever, and `verify` calls it damaged; but a journal is half of what was paid
    for."""
    today = (
        "kept.sqlite3",
        "kept.sqlite3-journal",
        "kept.sqlite3.damaged-0f",
        ".vectors.manifest.json",
        ".paper_files.json",
        "blocks.parquet.replaced",
        "removal",
    )
    for name in (*today, "tokenizer.json", "paper_summaries.parquet", ".blocks.page.json"):
        (paths.cache / name).touch()
    models = (f"local-x-b{BUILDER_VERSION}", "local-x-b2.0f.staged", "qdrant--y", "e5.checked.json")
    for name in (*models, f"local-x-b{BUILDER_VERSION - 1}"):
        (paths.models / name).mkdir()

    take_over(paths)

    kept = {path.name for path in paths.cache.iterdir()}
    assert kept == {*today, paths.models.name, paths.version.name}
    assert {path.name for path in paths.models.iterdir()} == set(models)
    assert (read_sealed(paths.version) or {})["data_version"] == DATA_VERSION


def test_other_columns_are_another_version_of_the_data() -> None:
    """An earlier version would call the tables damaged, and not say that it is the older one.

    If this fails: raise DATA_VERSION, and write here the hash of the columns of today.
    """
    columns = [
        [schema.names, [str(field.type) for field in schema]]
        for schema in (*SCHEMAS.values(), SUMMARIES)
    ]

    assert (DATA_VERSION, fingerprint(columns)) == (1, "f3995cc5d050991ca3ee3c85f955f51e")
