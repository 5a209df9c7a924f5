"""When papers that are gone are taken for deleted."""

import pytest

from rag_assets.core.promises import check_all
from rag_assets.parsing.store import REMOVAL_PROMISES, Removal


@pytest.mark.parametrize(
    ("n_before", "n_gone", "is_asked"),
    [
        (0, 0, False),
        (1, 1, True),
        (3, 2, False),
        (3, 3, True),
        (9, 8, False),
        (10, 5, False),
        (10, 6, True),
    ],
)
def test_the_removal_of_most_papers_must_be_confirmed(
    n_before: int, n_gone: int, is_asked: bool
) -> None:
    """An unmounted disk is no order to delete; a question for each deleted paper would be answered
    without reading."""
    before = [f"p{n}" for n in range(n_before)]
    now = dict.fromkeys([*before[n_gone:], "new"])

    (checked,) = check_all(REMOVAL_PROMISES, Removal(before, now, is_allowed=False))
    (confirmed,) = check_all(REMOVAL_PROMISES, Removal(before, now, is_allowed=True))

    assert checked.withholds == is_asked
    assert not confirmed.withholds


def test_papers_that_cannot_be_read_any_more_count_as_gone() -> None:
    """A disk that fails, or a folder that another machine has not filled yet, holds files without
    content."""
    unread = dict.fromkeys(["p1", "p2"], "The file is empty.")

    (checked,) = check_all(REMOVAL_PROMISES, Removal(["p1", "p2"], unread, is_allowed=False))
    (never_read,) = check_all(REMOVAL_PROMISES, Removal([], unread, is_allowed=False))

    assert checked.withholds
    assert "p1: The file is empty." in checked.finding
    assert not never_read.withholds
