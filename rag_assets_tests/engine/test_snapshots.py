"""Which publication questions are asked of while others are published."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.errors import MissingInput
from rag_assets.core.incremental import stamp_if_there
from rag_assets.engine.snapshots import Snapshots

DEADLINE_S = 20.0


class Opened:
    """Stands for an open searcher; knows what it was opened on and whether it is closed."""

    def __init__(self, content: str) -> None:
        self.content = content
        self.is_closed = False

    def close(self) -> None:
        assert not self.is_closed, "closed twice"
        self.is_closed = True


class Publication:
    """A file that is published, and what was opened of it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "published"
        self.opened: list[Opened] = []
        self.may_open = threading.Event()
        self.may_open.set()
        self.is_opening = threading.Event()
        self.replaced_while_opened: list[str] = []
        """What is published while the next openings are under way."""
        self.publish("one")

    def publish(self, content: str) -> None:
        new = self.file.with_suffix(".new")
        new.write_text(content)
        new.replace(self.file)

    def open(self) -> Any:
        if not self.file.exists():
            raise MissingInput("there is nothing")
        content = self.file.read_text()
        if self.replaced_while_opened:
            self.publish(self.replaced_while_opened.pop(0))
        self.is_opening.set()
        assert self.may_open.wait(DEADLINE_S)
        if content == "broken":
            raise MissingInput("it cannot be opened")
        self.opened.append(Opened(content))
        return self.opened[-1]

    def snapshots(self) -> Snapshots:
        return Snapshots(self.open, lambda: stamp_if_there(self.file))


@pytest.fixture
def publication(tmp_path: Path) -> Publication:
    return Publication(tmp_path)


def asked(snapshots: Snapshots) -> Any:
    with snapshots.newest() as searcher:
        return searcher


def test_what_did_not_change_is_opened_once(publication: Publication) -> None:
    """Opening reads everything; done for every question, a question would take seconds."""
    with publication.snapshots() as snapshots:
        assert asked(snapshots) is asked(snapshots)

    [opened] = publication.opened
    assert opened.is_closed


def test_a_question_under_way_ends_on_what_it_began_with(publication: Publication) -> None:
    """Its chunks would be looked up in tables that do not have them; closed under it, it would
    fail."""
    with publication.snapshots() as snapshots:
        with snapshots.newest() as before:
            publication.publish("two")
            with snapshots.newest() as after:
                assert (before.content, before.is_closed) == ("one", False)  # type: ignore[attr-defined]
                assert after.content == "two"  # type: ignore[attr-defined]
            assert not before.is_closed  # type: ignore[attr-defined]

        assert before.is_closed, "its memory would be held for ever"  # type: ignore[attr-defined]


@pytest.mark.parametrize("replaced_by", ["two", "broken"])
def test_what_is_replaced_while_it_is_opened_is_opened_again(
    replaced_by: str, publication: Publication
) -> None:
    """Tables of one run beside indexes of another find nothing, or what is gone."""
    publication.replaced_while_opened = [replaced_by, "two"]
    with publication.snapshots() as snapshots:
        assert asked(snapshots).content == "two"

    assert all(one.is_closed for one in publication.opened)


def test_what_cannot_be_opened_leaves_the_last_good_publication(
    publication: Publication, caplog: pytest.LogCaptureFixture
) -> None:
    """Answers from yesterday's papers are better than none."""
    with publication.snapshots() as snapshots:
        first = asked(snapshots)
        publication.publish("broken")

        assert asked(snapshots) is first
        assert asked(snapshots) is first
        assert len(publication.opened) == 1
        assert caplog.text.count("the earlier publication is asked") == 1


def test_what_was_deleted_is_not_asked_any_more(publication: Publication) -> None:
    """Answers would cite papers that nothing on the disk knows, while the server says that nothing
    is built."""
    with publication.snapshots() as snapshots:
        asked(snapshots)
        publication.file.unlink()

        for _ in range(2):
            with pytest.raises(MissingInput):
                asked(snapshots)
        assert [one.is_closed for one in publication.opened] == [True]
        publication.publish("two")
        assert asked(snapshots).content == "two"


def test_nothing_to_ask_is_an_error_until_there_is_something(publication: Publication) -> None:
    """The first question comes before the first run, and the server must not have to be started
    again."""
    publication.publish("broken")
    with publication.snapshots() as snapshots:
        with pytest.raises(MissingInput):
            asked(snapshots)
        publication.publish("one")

        assert asked(snapshots).content == "one"


def test_questions_go_on_while_a_publication_is_opened(publication: Publication) -> None:
    """Opening a large corpus takes seconds, in which every asker of a server would wait for one of
    them."""
    with publication.snapshots() as snapshots, ThreadPoolExecutor(9) as pool:
        asked(snapshots)
        publication.is_opening.clear()
        publication.may_open.clear()
        publication.publish("two")

        opening = pool.submit(asked, snapshots)
        assert publication.is_opening.wait(DEADLINE_S)
        meanwhile = [pool.submit(asked, snapshots).result(DEADLINE_S).content for _ in range(8)]
        publication.may_open.set()

        assert meanwhile == ["one"] * 8
        assert opening.result(DEADLINE_S).content == asked(snapshots).content == "two"
        assert [one.content for one in publication.opened] == ["one", "two"], (
            "opened by one question only"
        )
        assert [one.is_closed for one in publication.opened] == [True, False]


def test_first_questions_wait_for_one_opening(publication: Publication) -> None:
    """Eight first questions that opened eight times would take eight times the memory and the
    time."""
    publication.may_open.clear()
    with publication.snapshots() as snapshots, ThreadPoolExecutor(8) as pool:
        asking = [pool.submit(asked, snapshots) for _ in range(8)]
        assert publication.is_opening.wait(DEADLINE_S)
        publication.may_open.set()

        assert {one.result(DEADLINE_S).content for one in asking} == {"one"}
        assert len(publication.opened) == 1
