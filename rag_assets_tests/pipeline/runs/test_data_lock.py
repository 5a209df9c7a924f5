"""Who may write a data folder, with Dagster's history in a real Postgres."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import dagster as dg
import pytest

from rag_assets.core.errors import BusyDataFolder
from rag_assets.pipeline.runs.locks import only_run
from rag_assets_tests.faces.cli.processes import wait_until

pgserver = pytest.importorskip("pgserver", reason="has no wheel for this Python")
pytest.importorskip("dagster_postgres", reason="the extra postgres is not installed")
HOLDER = """
import sys, time
from pathlib import Path
from tempfile import TemporaryDirectory
import dagster as dg
from rag_assets.pipeline.runs.locks import only_run
with dg.DagsterInstance.from_config(sys.argv[1]) as instance:
    with only_run(instance, Path(sys.argv[2]), patience_s=60):
        Path(sys.argv[3]).touch()
        time.sleep(600)
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A Dagster home whose history is in Postgres."""
    with TemporaryDirectory() as place:
        Path(place).chmod(0o755)  # root's server runs as another user
        server = pgserver.get_server(Path(place) / "pg")
        url = server.get_uri().replace("postgresql://", "postgresql+psycopg2://")
        folder = tmp_path / "home"
        folder.mkdir()
        config = (
            f"telemetry: {{enabled: false}}\nstorage: {{postgres: {{postgres_url: '{url}'}}}}\n"
        )
        (folder / "dagster.yaml").write_text(config, "utf-8")
        yield folder
        server.cleanup()


def test_with_postgres_two_machines_never_write_one_folder_and_a_killed_run_holds_nothing(
    home: Path, tmp_path: Path
) -> None:
    """A lock of a file is not seen by the other machines of a shared disk: both would publish."""
    data, there = tmp_path / "data", tmp_path / "held"
    other = subprocess.Popen([sys.executable, "-c", HOLDER, str(home), str(data), str(there)])
    try:
        wait_until(there.exists, "the lock")
        (data / ".write.lock").unlink()  # as on a disk whose locks other machines do not see

        with dg.DagsterInstance.from_config(str(home)) as instance:
            with pytest.raises(BusyDataFolder), only_run(instance, data, patience_s=0):
                pass
            with only_run(instance, tmp_path / "another", patience_s=0):
                pass
            other.kill()
            with only_run(instance, data, patience_s=30):
                held = True
    finally:
        other.kill()
        other.wait()
    assert held
