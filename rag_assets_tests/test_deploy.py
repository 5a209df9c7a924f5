"""The files of `deploy/`, as far as they can be tried without Docker and Kubernetes."""

from pathlib import Path
from typing import Any

import click
import pytest
import sqlalchemy
import yaml
from dagster._cli import create_dagster_cli
from dagster._daemon.cli import create_dagster_daemon_cli
from dagster_postgres.utils import get_conn_string
from dagster_webserver.cli import dagster_webserver
from distributed.cli.dask_scheduler import main as dask_scheduler
from distributed.cli.dask_worker import main as dask_worker
from typer.main import get_command

from rag_assets.core.settings import load_settings
from rag_assets.faces.cli import app
from rag_assets_tests.test_docker import DOCKERFILE

DEPLOY = Path(__file__).parents[1] / "deploy"
SERVICES: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]
OURS = [name for name, service in SERVICES.items() if "build" in service]
COMMANDS = {
    "rag-assets": get_command(app),
    "dagster": create_dagster_cli(),
    "dagster-webserver": dagster_webserver,
    "dagster-daemon": create_dagster_daemon_cli(),
    "dask": click.Group("dask", {"scheduler": dask_scheduler, "worker": dask_worker}),
}


@pytest.mark.parametrize("name", OURS)
def test_every_service_starts_a_command_that_there_is(name: str) -> None:
    """A renamed option would end the container at once, again and again."""
    service = SERVICES[name]
    places = {"/app/dagster/workspace.yaml": str(DEPLOY / "workspace.yaml")}
    words = [*service.get("entrypoint", ["rag-assets"]), *service["command"]]
    program, *arguments = [places.get(word, word) for word in words]
    command = COMMANDS[program]

    while isinstance(command, click.Group):
        command, *arguments = [command.commands[arguments[0]], *arguments[1:]]

    command.make_context(program, [*arguments])
    assert {service["image"] for service in map(SERVICES.get, OURS)} == {"rag-assets:0.1.0"}


def test_there_is_one_daemon_and_one_history_and_one_corpus() -> None:
    """Two daemons start every nightly run twice; a worker that had the data would write it."""
    daemons = [
        service for service in SERVICES.values() if service.get("entrypoint") == ["dagster-daemon"]
    ]
    with_data = {
        name
        for name, service in SERVICES.items()
        if any(":/data" in one for one in service.get("volumes", ()))
    }

    assert [daemon["deploy"]["replicas"] for daemon in daemons] == [1]
    assert with_data == {"code", "api"}
    assert "RAG_ASSETS_DATA_DIR=/data" in DOCKERFILE
    (home,) = {
        SERVICES[name]["environment"]["DAGSTER_HOME"]
        for name in ("code", "webserver", "daemon", "api")
    }
    assert f"COPY deploy/dagster.yaml deploy/workspace.yaml {home}/" in DOCKERFILE
    for service in SERVICES.values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_the_driver_of_postgres_is_one_that_is_installed() -> None:
    """The default of SQLAlchemy changed with 2.1, and no service could open the history."""
    config = yaml.safe_load((DEPLOY / "dagster.yaml").read_text("utf-8"))["storage"]["postgres"]
    given = config["postgres_db"] | dict.fromkeys(("hostname", "username", "password"), "x")

    assert sqlalchemy.create_engine(get_conn_string(**given)).driver == "psycopg2"


def test_the_cluster_that_runs_use_is_the_one_that_is_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A wrong name would leave the workers idle, and every run waiting for a scheduler."""
    variable = "RAG_ASSETS_EXECUTION__CLUSTER"
    address = SERVICES["code"]["environment"][variable]
    chart = yaml.safe_load((DEPLOY / "helm" / "dagster.yaml").read_text("utf-8"))
    (deployment,) = chart["dagster-user-deployments"]["deployments"]
    in_chart = {one["name"]: one["value"] for one in deployment["env"]}[variable]

    for one in (address, in_chart):
        monkeypatch.setenv(variable, one)
        assert load_settings({"data_dir": str(tmp_path)}).execution.cluster == one
    place = SERVICES["code"]["environment"]["RAG_ASSETS_INDEXING__QDRANT__URL"]
    monkeypatch.setenv("RAG_ASSETS_INDEXING__QDRANT__URL", place)
    url = load_settings({"data_dir": str(tmp_path)}).indexing.qdrant.url
    assert url == "http://qdrant:6333", "the name of the service"
    assert SERVICES["worker"]["command"][1] == address == "tcp://scheduler:8786"
    assert in_chart == "tcp://dask-scheduler:8786"  # the chart's name for the release "dask"
