"""A run that is killed while it publishes tables and indexes: what is asked next is one whole set,
the earlier one or the new one.

The killed runs are real processes. Each counts the renames below `cache` and `index`, and kills
itself with its workers before one of them.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rag_assets.core.settings import load_settings
from rag_assets.faces.cli.main import app
from rag_assets.library.verification import damages
from rag_assets_testing.world import QUESTIONS, TOKENIZER, TOPICS, World, made_once
from rag_assets_tests.end_to_end.damage import state
from rag_assets_tests.faces.cli.processes import DEADLINE_S, environment
from rag_assets_tests.faces.server.live import served
from rag_assets_tests.rounds import first_of

CODE = """
import os, signal, sys

data, n_left = sys.argv.pop(1), int(sys.argv.pop(1))
places = tuple(os.path.join(data, folder) + os.sep for folder in ("cache", "index"))

def killing(rename):
    def counted(source, target, **how):
        global n_left
        if str(target).startswith(places):
            if n_left == 0:
                os.killpg(0, signal.SIGKILL)
            n_left -= 1
        return rename(source, target, **how)
    return counted

os.rename, os.replace = killing(os.rename), killing(os.replace)
from rag_assets.faces.cli import app

app(prog_name="rag-assets")
"""
FIRST_MIXED, BETWEEN, LAST = 4, 15, 22
"""Numbers of renames: the first after which a table that is asked is new, one after which all tables
are new and no index is, and the last one, by which the new set takes the place of the old one."""
WORDPIECE = "chunking.tokenizer=wordpiece"
ASKED = str(QUESTIONS[0]["question"])
OLD, NEW = "12%", "17%"


def edit(world: World) -> None:
    """One number in a paper, which every table and index has."""
    title, fact = TOPICS["ferritin"]
    world.write_paper("ferritin", title, fact.replace(OLD, NEW))


@pytest.fixture(scope="session")
def edited(built: World, for_all_processes: Path) -> World:
    """The built world after the edit and an undisturbed run. Not to be changed."""

    def make(world: World) -> None:
        edit(world)
        outcome = world.run()
        assert outcome.is_success, outcome.failures or outcome.broken

    root = for_all_processes / "edited world"
    if not root.exists():
        built.copy_to(root)
    return made_once(root, make)


@pytest.mark.parametrize(
    "n_renames", first_of((BETWEEN, *sorted({*range(FIRST_MIXED - 2, LAST + 1)} - {BETWEEN})))
)
def test_after_a_kill_one_whole_set_is_asked_and_the_next_run_ends_the_same(
    world: World, built: World, edited: World, n_renames: int
) -> None:
    """Until the next night every question would fail, while the server calls itself ready; or new
    papers would be cited for what an old index found in others."""
    edit(world)
    settings = load_settings({"data_dir": str(world.paths.data), **TOKENIZER})
    killed_before(n_renames, world)

    asked = CliRunner().invoke(
        app, ["ask", ASKED, "--json", "--data", str(world.paths.data), "--set", WORDPIECE]
    )
    with served(world.paths.data) as live:
        health, answered = live.client.get("/api/health").json(), live.ask(ASKED)
    told = list(damages(settings))
    outcome = world.run()
    made = world.bytes_of(world.paths.cache, world.paths.index_meta.parent, world.paths.qa)
    again = world.run()

    assert asked.exit_code == 0, asked.output
    assert (health["status"], answered.status_code) == ("ready", 200), answered.text
    by_whole_sets = [one.answers()["q1"]["claims"] for one in (built, edited)]
    assert json.loads(asked.stdout)["claims"] in by_whole_sets
    assert answered.json()["answer"]["claims"] in by_whole_sets
    assert told or n_renames < FIRST_MIXED, "nobody is told that what was made is not asked"
    assert outcome.is_success, outcome.failures or outcome.broken
    assert state(world) == state(edited)
    assert list(damages(settings)) == []
    assert again.is_success
    assert made == world.bytes_of(world.paths.cache, world.paths.index_meta.parent, world.paths.qa)
    assert {path.name for path in world.paths.bm25.parent.iterdir()} == {
        "bm25",
        "chroma",
        "published_set",
    }


def killed_before(n_renames: int, world: World) -> None:
    """A run that is killed when it has made so many renames."""
    run = subprocess.run(
        [sys.executable, "-c", CODE, str(world.paths.data), str(n_renames), "run"],
        env=environment(world.paths.data, {"DAGSTER_HOME": str(world.paths.data.parent / "home")}),
        capture_output=True,
        timeout=DEADLINE_S,
        start_new_session=True,
        check=False,
    )
    assert run.returncode == -signal.SIGKILL, run.stderr.decode()
