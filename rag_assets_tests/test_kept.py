"""The file that keeps replies, vectors, documents and images: what stays in it, and what damage
does."""

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event, Lock

import pytest

from rag_assets.core import kept as kept_entries
from rag_assets.core.kept import Kept, KeptFile
from rag_assets_tests.kept_entries import age, contents, damage

KB = 1000
WRITER = """
import sys
from pathlib import Path
from rag_assets.core.kept import KeptFile
kept = KeptFile(Path(sys.argv[1])).replies("numbers", int)
for number in range(25):
    kept.put(f"{sys.argv[2]}-{number}", number)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "kept.sqlite3"


def images(path: Path, max_mb: float | None = None) -> Kept[bytes]:
    return Kept(KeptFile(path, max_mb), "images", bytes, bytes)


def test_what_was_made_once_is_not_made_again(path: Path) -> None:
    """A reply that is asked for twice is paid for twice."""
    made = []

    def make() -> str:
        made.append("made")
        return "Größe"

    first = KeptFile(path).replies("drafts", str).once("a", make)
    again = KeptFile(path).replies("drafts", str).once("a", make)

    assert (first, again) == (("Größe", False), ("Größe", True))
    assert len(made) == 1
    assert KeptFile(path).replies("verdicts", str).get("a") is None, (
        "another kind has keys of its own"
    )


def test_threads_that_want_the_same_wait_for_one(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two questions with the same words, asked side by side, would both be paid for."""
    begun, other_is_there = Event(), Event()
    made = []

    class ToldLock:
        """Tells when a thread has to wait."""

        def __init__(self) -> None:
            self._lock = Lock()

        def __enter__(self) -> None:
            if not self._lock.acquire(blocking=False):
                other_is_there.set()
                self._lock.acquire()

        def __exit__(self, *_: object) -> None:
            self._lock.release()

    def make() -> int:
        """The first ends when the other thread waits, or makes the same."""
        made.append(1)
        (begun if len(made) == 1 else other_is_there).set()
        assert other_is_there.wait(10), "the other thread neither waits nor makes anything"
        return 7

    def found() -> tuple[int, bool]:
        return KeptFile(path).replies("numbers", int).once("a", make)

    monkeypatch.setattr(kept_entries, "Lock", ToldLock)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(found)
        assert begun.wait(10)
        second = pool.submit(found)

    assert (first.result(), second.result(), len(made)) == ((7, False), (7, True), 1)


def test_several_processes_lose_nothing(path: Path) -> None:
    """Parse workers, a run and a server write at the same time, from the first moment on."""
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in "abc"]

    assert [writer.wait(120) for writer in writers] == [0, 0, 0]
    assert len(contents(path, "numbers")) == 75


def test_a_kind_stays_below_its_bound_and_keeps_what_is_used(path: Path) -> None:
    """A reader of many papers must not fill the disk; the questions of every night must not be
    pushed out."""
    kept, others = images(path, max_mb=0.01), KeptFile(path, 0.01).replies("others", str)
    others.put("other", "x")
    for number in range(5):
        kept.put(f"{number}", b"x" * KB)
    age(path)
    assert kept.get("0"), "marks it as used"

    for number in range(5, 14):
        kept.put(f"{number}", b"x" * KB)

    assert kept.keys() == {"0", *map(str, range(5, 14))}
    assert others.get("other") == "x", "each kind has the bound for itself"
    kept.put("large", b"x" * 11 * KB)
    assert len(kept.keys()) == 10, "what does not fit at all pushes nothing out"


def test_dropping_gives_the_room_back(path: Path) -> None:
    """Nothing of a withdrawn paper may be left, and a file that only grows fills the disk."""
    kept = images(path)
    kept.put("stays", b"y" * KB)
    for number in range(100):
        kept.put(f"{number}", b"secret " * KB)
    before = path.stat().st_size

    kept.drop(kept.keys() - {"stays"})

    assert dict(kept.items()) == {"stays": b"y" * KB}
    assert path.stat().st_size < before / 10
    assert b"secret" not in path.read_bytes()


def test_a_damaged_entry_is_made_anew_with_one_line(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A vector with one wrong bit finds other passages, and no message says why."""
    images(path).put("a", b"image")
    damage(path, "images")

    assert not images(path).has("a")
    caplog.clear()
    assert images(path).once("a", lambda: b"image") == (b"image", False)
    assert caplog.messages == [f"{path}: the entry a of images is damaged and is made anew."]
    assert images(path).get("a") == b"image"


def test_an_entry_of_another_version_counts_as_absent(path: Path) -> None:
    """After an upgrade every question would end in a validation error."""
    KeptFile(path).replies("drafts", str).put("a", "no number")

    assert KeptFile(path).replies("drafts", int).get("a") is None


@pytest.mark.parametrize("kind", ["halved", "garbled", "garbage behind the header"])
def test_a_damaged_file_is_set_aside_with_one_line(
    kind: str, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A bad disk costs what was kept, not every later answer; what can be rescued from the file
    stays there."""
    for number in range(50):
        images(path).put(f"{number}", b"x" * KB)
    content = path.read_bytes()
    damaged = {
        "halved": content[: len(content) // 2],
        "garbled": b"\x07" * len(content),
        "garbage behind the header": content[:100] + b"\x07" * (len(content) - 100),
    }[kind]
    path.write_bytes(damaged)

    assert images(path).once("a", lambda: b"image") == (b"image", False)

    (aside,) = path.parent.glob("kept.sqlite3.damaged-*")
    (message,) = caplog.messages
    assert message.startswith(f"{path} is damaged (")
    assert message.endswith(f"It is kept as {aside.name}, and a new one is begun.")
    assert aside.read_bytes() == damaged
    assert images(path).get("a") == b"image"


def test_a_file_that_is_deleted_while_in_use_is_begun_anew(path: Path) -> None:
    """A user may empty the cache folder beside a server that runs."""
    kept = images(path)
    kept.put("a", b"image")
    path.unlink()

    assert kept.get("a") is None
    kept.put("b", b"image")
    assert kept.get("b") == b"image"


def test_a_place_that_cannot_be_written_costs_time_and_no_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A full or blocked disk is a reason to ask again, not to fail; one line is enough."""
    (tmp_path / "file").touch()
    kept = images(tmp_path / "file" / "kept.sqlite3")

    assert [kept.once("a", lambda: b"image") for _ in range(2)] == [(b"image", False)] * 2


def test_a_file_that_may_only_be_read_is_read(path: Path) -> None:
    """A data folder on a read-only disk can still be asked."""
    kept = images(path, max_mb=1)
    kept.put("a", b"image")
    age(path)
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        assert database.execute("SELECT content FROM entries").fetchall() == [(b"image",)]
    assert [one.name for one in path.parent.iterdir()] == [path.name], (
        "no file beside it is needed to read it"
    )
