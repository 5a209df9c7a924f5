"""Questions as people type them: with numbers and greetings in front, and with the name of a paper
in them."""

from collections.abc import Iterator

import pytest

from rag_assets.core.settings import load_settings
from rag_assets.engine import Engine, open_engine
from rag_assets_testing.world import QUESTIONS, TOKENIZER, World

BARE = [str(QUESTIONS[0]["question"]), "Where does basalt take up water?"]


@pytest.fixture(scope="module")
def engine(built: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    world = built.copy_to(tmp_path_factory.mktemp("typed"))
    with open_engine(load_settings({"data_dir": str(world.paths.data), **TOKENIZER})) as opened:
        yield opened


def claims(engine: Engine, question: str, where: str | None = None) -> list[str]:
    return [claim.text for claim in engine.trace(question, where).result.claims]


@pytest.mark.parametrize("bare", BARE)
def test_what_stands_around_a_question_changes_no_answer(engine: Engine, bare: str) -> None:
    """Up to 40 % of such questions were refused, because "What" was looked for as a name."""
    expected = claims(engine, bare)
    assert expected

    around = [
        "1) ",
        "1. ",
        "12) ",
        "(a) ",
        "Question 3\n",
        "Hi, ",
        "Q3 ",
        "Q: ",
        "\t",
        "• ",
        "Please tell me: ",
    ]
    typed = [*(f"{before}{bare}" for before in around), f'"{bare}"']

    assert {one: claims(engine, one) for one in typed} == dict.fromkeys(typed, expected)
    assert engine.trace(typed[0]).result.question == typed[0], (
        "the record has the words of the user"
    )
