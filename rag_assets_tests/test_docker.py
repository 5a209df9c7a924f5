"""The image and the compose file, as far as they can be tried without Docker."""

import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from rag_assets_tests.faces.server.live import served

PROJECT = Path(__file__).parents[1]
DOCKERFILE = re.sub(r"\\\n\s*", "", (PROJECT / "Dockerfile").read_text("utf-8"))
COMPOSE: dict[str, Any] = yaml.safe_load((PROJECT / "compose.yaml").read_text("utf-8"))
SERVICES = {name: service for name, service in COMPOSE["services"].items() if "build" in service}
READERS = {name: service for name, service in COMPOSE["services"].items() if name not in SERVICES}
TOKEN = "a-token-of-many-characters"


def lines_of(instruction: str, text: str = DOCKERFILE) -> list[str]:
    return re.findall(rf"^{instruction} (.+)$", text, re.MULTILINE)


def is_sent_to_the_build(path: str) -> bool:
    """As the .dockerignore says: the last pattern that matches decides."""
    sent = True
    for line in (PROJECT / ".dockerignore").read_text("utf-8").splitlines():
        pattern = line.removeprefix("!")
        if line and not line.startswith("#"):
            parents = [path, *map(str, Path(path).parents)]
            if any(
                fnmatch(part, pattern.removeprefix("**/")) or fnmatch(part, pattern)
                for part in parents
            ):
                sent = line.startswith("!")
    return sent


def test_what_is_copied_into_the_image_is_there_and_sent_to_the_build() -> None:
    """A build that ends at a missing file is found out by the first user."""
    sources = [
        name for line in lines_of("COPY") if "--from" not in line for name in line.split()[:-1]
    ]

    assert "rag_assets" in sources
    for source in sources:
        assert (PROJECT / source).exists(), source
        assert is_sent_to_the_build(source), source


@pytest.mark.parametrize(
    "path", [".env", "rag_assets/.env", "data/papers/secret.pdf", ".git/config", ".venv/x", "docs"]
)
def test_nothing_private_is_sent_to_the_build(path: str) -> None:
    """What is in an image can be read by everybody who pulls it."""
    assert not is_sent_to_the_build(path)


def test_the_image_holds_no_key_and_installs_what_is_locked() -> None:
    """A key in a layer stays there for ever; an unpinned package is another program tomorrow."""
    assert not re.search(r"^(?:ENV|ARG) .*(?:KEY|TOKEN|SECRET|PASSWORD)", DOCKERFILE, re.MULTILINE)
    [first, second] = [line for line in lines_of("RUN") if "pip install" in line]
    assert "--require-hashes --requirement requirements-image.lock" in first
    assert "--no-deps --no-build-isolation ." in second
    assert {line.split()[0] for line in lines_of("FROM")} == {"python:3.11-slim-bookworm"}
    assert "--python-version 3.11" in (PROJECT / "Makefile").read_text("utf-8")


def test_the_image_runs_as_a_user_without_rights() -> None:
    """A hole in a parser must not be a hole in the host."""
    last_stage = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]

    [user] = lines_of("USER", last_stage)
    assert f"--owner {user}" in last_stage
    assert "root" not in user
    assert last_stage.index("\nUSER ") < last_stage.index("\nENTRYPOINT ")


def test_services_share_one_volume_and_are_published_on_this_machine_only() -> None:
    """The Dagster UI asks for no password, and two volumes would be two corpora."""
    volumes = {tuple(service["volumes"]) for service in SERVICES.values()}
    assert volumes == {("${RAG_ASSETS_VOLUME:-corpus}:/data",)}
    assert "RAG_ASSETS_DATA_DIR=/data" in DOCKERFILE
    for service in COMPOSE["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert SERVICES["api"]["environment"]["RAG_ASSETS_SERVER_TOKEN"].startswith(
        "${RAG_ASSETS_SERVER_TOKEN:?"
    )


def test_servers_that_read_pdfs_start_when_asked_for_and_see_no_data() -> None:
    """They take gigabytes, read untrusted files, and are sent each PDF that they are to see."""
    for name, service in READERS.items():
        assert service["profiles"] == [name]
        assert f"RAG_ASSETS_PARSING__{name.upper()}" in SERVICES["dagster"]["environment"]
        assert "volumes" not in service
        assert "environment" not in service
        assert not service["image"].endswith(":latest")
    assert READERS.keys() == {"grobid"}


def test_the_health_check_asks_the_api_with_its_token(tmp_path: Path) -> None:
    """A check that always fails restarts a healthy server; one that always holds hides a dead
    one."""
    (tmp_path / "papers").mkdir()
    kind, python, *arguments = SERVICES["api"]["healthcheck"]["test"]
    assert (kind, python) == ("CMD", "python")

    def code(port: int, token: str) -> int:
        check = [sys.executable, *(part.replace(":8000/", f":{port}/") for part in arguments)]
        done = subprocess.run(
            check, env={"RAG_ASSETS_SERVER_TOKEN": token}, stderr=subprocess.DEVNULL, check=False
        )
        return done.returncode

    with served(tmp_path, token=TOKEN) as live:
        assert code(live.port, TOKEN) == 0
        assert code(live.port, "another token") == 1
        port = live.port
    assert code(port, TOKEN) == 1
