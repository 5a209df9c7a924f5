"""Replies on disk: what is kept, and what is forgotten."""

import os
from pathlib import Path

import pytest

from rag_assets.hosted.replies import ReplyCache

A_DAY_NS = 86_400 * 10**9


@pytest.fixture
def cache(tmp_path: Path) -> ReplyCache[int]:
    """Four replies, the first asked for longest ago; three may be kept."""
    replies = ReplyCache(tmp_path, int, max_replies=3)
    for age, name in zip((4, 3, 2, 1), "abcd", strict=True):
        replies.put(name, age)
        path = tmp_path / f"{name}.json"
        then = path.stat().st_mtime_ns - age * A_DAY_NS
        os.utime(path, ns=(then, then))
    return replies


def kept(folder: Path) -> str:
    return "".join(sorted(path.stem for path in folder.glob("*.json")))


def anything(_reply: int) -> bool:
    return True


def test_replies_of_other_models_and_settings_are_kept(cache: ReplyCache[int], tmp_path: Path) -> None:
    """Going back to yesterday's model must not be paid for again."""
    cache.prune(["d"], anything)

    assert kept(tmp_path) == "bcd"


def test_what_was_asked_for_lately_stays_longest(cache: ReplyCache[int], tmp_path: Path) -> None:
    """Old files of what is used every night would go first."""
    assert cache.get("a") == 4

    cache.prune([], anything)

    assert kept(tmp_path) == "acd"


def test_replies_in_use_are_kept_however_many_and_old(cache: ReplyCache[int], tmp_path: Path) -> None:
    """A large question file would be paid for again every night."""
    cache.prune(["a", "b", "c", "d"], anything)

    assert kept(tmp_path) == "abcd"


def test_replies_that_cannot_be_used_again_are_forgotten(cache: ReplyCache[int], tmp_path: Path) -> None:
    """Nothing of a withdrawn paper may be left, and nothing reads a damaged file."""
    (tmp_path / "d.json").write_text("{")

    cache.prune(["a"], lambda reply: reply != 3)

    assert kept(tmp_path) == "ac"
