"""A data folder on a full disk: questions are answered, and runs end with one sentence.

The disk is one in memory, mounted for one process.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rag_assets.pipeline.runs.locks import dagster_home, opened_instance
from rag_assets_testing.world import World
from rag_assets_tests.end_to_end.test_read_only_data import COMMANDS_OF_ONE_PROCESS, QUESTION
from rag_assets_tests.faces.cli.processes import environment

MOUNTED = """
mount -t tmpfs -o size=120m tmpfs "$1/disk" && cp -r "$1/data" "$1/new" "$1/disk" || exit 99
cat /dev/zero > "$1/disk/filled" 2> /dev/null
shift
"$@"
ls -A "$0/disk/new/.dagster"
"""


def test_a_full_disk_stops_runs_with_a_sentence_and_questions_not_at_all(
    built: World, tmp_path: Path
) -> None:
    """Tracebacks of three libraries; and an empty dagster.yaml, with which Dagster calls home for
    ever."""
    paths = built.copy_to(tmp_path).paths
    data = paths.data
    opened_instance(dagster_home(paths)).dispose()
    shutil.copytree(data / "papers", tmp_path / "new" / "papers")
    (tmp_path / "disk").mkdir()
    disk = tmp_path / "disk"
    (data / "papers" / "new.txt").write_text("Ferritin rose in swimmers who rested for a month.")
    commands = [["ask", QUESTION], ["run"], ["ui"], ["run", "--data", str(disk / "new")]]

    done = subprocess.run(
        [
            *(
                "unshare",
                "--map-root-user",
                "--mount",
                "sh",
                "-c",
                MOUNTED,
                str(tmp_path),
                str(tmp_path),
            ),
            *(sys.executable, "-c", COMMANDS_OF_ONE_PROCESS, json.dumps(commands), str(10**9)),
        ],
        env=environment(disk / "data"),
        capture_output=True,
        text=True,
        check=False,
    )

    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip("this system lets no test mount a disk")
    told, *left = done.stdout.splitlines()
    asked, *others = json.loads(told)
    assert (asked[0], "12%" in asked[1]) == (0, True), asked
    for code, out, error in others:
        assert (code, out) == (1, "")
        assert error.startswith("Error: The disk of ")
        assert error.count("\n") == 1
    assert left == [], "nothing of a configuration"
