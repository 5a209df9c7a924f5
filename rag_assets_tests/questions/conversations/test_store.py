"""What is kept of conversations, by real files, threads and killed processes."""

import logging
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_assets.core.errors import ReadOnlyFolder, TurnTooLarge, UnknownConversation
from rag_assets.questions.conversations import ConversationLimits, Conversations, Rewritten, Turn


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "conversations" / "conversations.sqlite"


def turn(question: str, answer: str = "Ferritin fell.") -> Turn:
    asked = Rewritten(
        f"{question} (alone)", is_rewritten=True, reason="It was unclear.", paper_ids=("smith2020",)
    )
    return Turn(
        question,
        asked,
        {"answer": answer, "claims": [{"text": answer}], "sources_used": ["smith2020"]},
    )


def test_a_turn_is_kept_with_its_question_as_asked_and_its_answer(path: Path) -> None:
    """History that changes an answer would show claims which nobody verified."""
    first = turn("What fell? “é”")
    with Conversations(path) as conversations:
        conversation_id = conversations.start()
        assert conversations.add(conversation_id, first) == 1

    with Conversations(path) as conversations:
        kept = conversations.get(conversation_id)
        (listed,) = conversations.list()

    assert [(numbered.number, numbered.turn) for numbered in kept.turns] == [(1, first)]
    assert listed == kept.summary
    assert (listed.title, listed.n_turns) == ("What fell? “é”", 1)


def test_a_deleted_conversation_is_gone_with_its_turns(path: Path) -> None:
    """Who deletes a conversation wants nothing of it kept."""
    with Conversations(path) as conversations:
        kept, deleted = conversations.start(), conversations.start()
        conversations.add(kept, turn("What stays?"))
        conversations.add(deleted, turn("What goes?"))

        conversations.delete(deleted)

        assert [one.conversation_id for one in conversations.list()] == [kept]
        calls: list[Callable[[], object]] = [
            lambda: conversations.get(deleted),
            lambda: conversations.last_turns(deleted, 3),
            lambda: conversations.add(deleted, turn("And now?")),
            lambda: conversations.delete(deleted),
        ]
        for call in calls:
            with pytest.raises(UnknownConversation, match="There is no such conversation"):
                call()


def test_the_oldest_turns_go_first_and_numbers_go_on(path: Path) -> None:
    """A link to turn 3 must not lead to another turn once the first are deleted."""
    with Conversations(path, ConversationLimits(max_turns=2)) as conversations:
        conversation_id = conversations.start()
        for number in range(4):
            conversations.add(conversation_id, turn(f"Question {number}?"))

        kept = conversations.get(conversation_id)

        assert [one.number for one in kept.turns] == [3, 4]
        assert kept.summary.n_turns == 4
        assert [one.question for one in conversations.last_turns(conversation_id, 1)] == [
            "Question 3?"
        ]


def test_the_database_stays_within_its_size(path: Path) -> None:
    """Long answers count too, and the conversation that goes on is never the one that is
    deleted."""
    with Conversations(path, ConversationLimits(max_mb=1)) as conversations:
        current = conversations.start()
        conversations.add(current, turn("Now?"))
        for number in range(40):
            other = conversations.start()
            conversations.add(other, turn(f"Question {number}?", "word " * 20_000))
            conversations.add(current, turn("Now?"))

        listed = conversations.list()

    assert listed[0].conversation_id == current
    assert 2 < len(listed) < 12
    assert path.stat().st_size < 1_500_000


def test_an_answer_that_is_too_large_is_refused_and_nothing_is_lost(path: Path) -> None:
    """The conversation must go on, and the user must learn that a turn is missing."""
    with Conversations(path, ConversationLimits(max_turn_mb=0.001)) as conversations:
        conversation_id = conversations.start()
        conversations.add(conversation_id, turn("Short?"))

        with pytest.raises(
            TurnTooLarge, match=r"1,000 are kept of one\. The conversation goes on without it\."
        ):
            conversations.add(conversation_id, turn("Long?", "word " * 1_000))

        assert [one.turn.question for one in conversations.get(conversation_id).turns] == ["Short?"]


_ADDING = """
import sys
from pathlib import Path
from rag_assets.questions.conversations import Conversations, Rewritten, Turn

with Conversations(Path(sys.argv[1])) as conversations:
    conversation_id = conversations.start()
    print(conversation_id, flush=True)
    while True:
        question = "Why? " * 200
        print(conversations.add(conversation_id, Turn(question, Rewritten.as_it_stands(question), {})), flush=True)
"""


def test_a_killed_process_loses_no_turn_that_was_added(path: Path) -> None:
    """kill -9 of the server: what was shown as answered is there afterwards, and the file is
    whole."""
    for _ in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", _ADDING, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        conversation_id = writer.stdout.readline().strip()
        for _ in range(5):
            n_added = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        rest = [int(line) for line in writer.stdout if line.endswith("\n")]
        writer.wait()
        writer.stdout.close()
        n_added = rest[-1] if rest else n_added

        with Conversations(path) as conversations:
            kept = conversations.get(conversation_id)

        assert [one.number for one in kept.turns][:n_added] == list(range(1, n_added + 1))
        assert kept.summary.n_turns in (n_added, n_added + 1), (
            "one may have been added and not been told"
        )
    assert list(path.parent.glob("*damaged*")) == []


@pytest.mark.parametrize("damage", ["all", "middle"])
def test_a_damaged_file_is_kept_aside_and_a_new_one_begun(
    damage: str, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A server that does not start because of its history would be worse than one without."""
    with Conversations(path) as conversations:
        for number in range(30):
            conversations.add(conversations.start(), turn(f"Question {number}?"))
    content = bytearray(path.read_bytes())
    start, end = (0, len(content)) if damage == "all" else (4096, len(content) - 4096)
    content[start:end] = b"\xff" * (end - start)
    path.write_bytes(content)

    with caplog.at_level(logging.WARNING), Conversations(path) as conversations:
        conversations.add(conversations.start(), turn("What now?"))
        assert [one.title for one in conversations.list()] == ["What now?"]

    (aside,) = path.parent.glob("*.sqlite.damaged-*")
    assert aside.read_bytes() == bytes(content)
    assert f"It is kept as {aside.name}, and a new one is begun." in caplog.text


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """The remedy is a right, not a bug report."""
    blocked = tmp_path / "file"
    blocked.write_text("no folder")

    with pytest.raises(ReadOnlyFolder, match="cannot be written"):
        Conversations(blocked / "conversations.sqlite").start()
