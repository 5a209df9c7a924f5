"""Who can read what is made: on a shared machine, only the user who made it."""

from pathlib import Path

import pytest

from rag_assets.core.settings import load_settings
from rag_assets.engine import open_engine
from rag_assets.questions.conversations import Conversations
from rag_assets_testing.world import TOKENIZER, World

MADE = ("cache", "conversations", "index", "logs", "output", "trash", ".dagster")
GIVEN = ("papers", "questions")


def rights(data: Path) -> dict[str, int]:
    return {folder.name: folder.stat().st_mode & 0o777 for folder in data.iterdir()}


def test_what_a_run_and_a_server_make_is_closed_to_others(tmp_path: Path) -> None:
    """What a group has found out before it is published, and what it asked, is read by a stranger
    with an account on the same machine."""
    world = World(tmp_path)
    for folder in (world.paths.data, *(world.paths.data / name for name in GIVEN)):
        folder.chmod(0o755)
    world.write_paper("ferritin", "Ferritin", "Ferritin fell by 12%.")
    assert world.run("parsed_index", "papers", "blocks", "statements", "chunks").is_success
    with Conversations(world.paths.conversations) as conversations:
        conversations.start()

    found = rights(world.paths.data)
    assert {name: found[name] for name in GIVEN} == dict.fromkeys(GIVEN, 0o755)
    made = found.keys() & set(MADE)
    assert {"cache", "conversations"} <= made
    assert {name: found[name] for name in made} == dict.fromkeys(made, 0o700)


@pytest.mark.parametrize(("before", "after"), [(0o755, 0o700), (0o750, 0o750), (0o2770, 0o2770)])
def test_a_folder_of_an_earlier_version_is_closed_and_one_of_a_group_stays(
    tmp_path: Path, before: int, after: int
) -> None:
    """An upgrade that leaves old answers open helps nobody; one that shuts out a group that works in
    the folder is undone by them."""
    for name in MADE:
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(before)

    with open_engine(load_settings({"data_dir": str(tmp_path), **TOKENIZER})):
        pass

    assert rights(tmp_path) == dict.fromkeys(MADE, after & 0o777)
