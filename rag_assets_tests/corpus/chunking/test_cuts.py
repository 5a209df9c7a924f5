import random
import statistics
from dataclasses import replace

from rag_assets.corpus.chunking.cuts import Item, Rank, Window, boundary_cost, choose_cuts

WINDOW = Window(800, 1200)


def items(rng: random.Random, n_tokens: int) -> list[Item]:
    """Sentences of 5 to 60 tokens in paragraphs of about five, each with an overlap of 100 to 150
    before it."""
    made: list[Item] = []
    while sum(item.size for item in made) < n_tokens:
        rank = Rank.BLOCK_END if rng.random() < 0.2 else Rank.UNIT_END
        made.append(Item(rng.randint(5, 60), rng.randint(100, 150), rank + rng.random()))
    return made


def sizes(cut: list[Item], cuts: list[tuple[int, int]]) -> list[int]:
    return [sum(item.size for item in cut[a:b]) + (cut[a].lead if a else 0) for a, b in cuts]


def test_runs_partition_the_items_and_stay_inside_the_window() -> None:
    """An item in no run is text in no chunk."""
    for seed in range(20):
        made = items(random.Random(seed), 8_000)

        cuts = choose_cuts(made, WINDOW)

        assert [a for a, _ in cuts] == [0, *(b for _, b in cuts[:-1])]
        assert cuts[-1][1] == len(made)
        assert all(800 <= size <= 1200 for size in sizes(made, cuts))


def test_the_cost_of_a_boundary_depends_on_the_words_next_to_it_only() -> None:
    """A cost that knew more would move when something far away does."""
    near = boundary_cost("x" * 100 + "Iron fell.", "Ferritin rose." + "y" * 100, Rank.UNIT_END)

    assert near == boundary_cost(
        "z" + "x" * 100 + "Iron fell.", "Ferritin rose." + "y" * 100 + "z", Rank.UNIT_END
    )
    assert near != boundary_cost(
        "x" * 100 + "Iron fell.", "Ferritin fell." + "y" * 100, Rank.UNIT_END
    )
    assert 1 <= near < 2


def test_landmarks_stop_an_edit_from_spreading_through_a_book() -> None:
    """Without them the worst of these edits moves 8 cuts of 33."""
    n_moved = []
    for seed in range(40):
        rng = random.Random(seed)
        made = items(rng, 30_000)
        edited = list(made)
        place = rng.randrange(len(made))
        edited[place] = replace(made[place], size=made[place].size + 40)

        before, after = ({b for _, b in choose_cuts(version, WINDOW)} for version in (made, edited))

        n_moved.append(len(after - before))
    assert statistics.median(n_moved) == 0
    assert max(n_moved) <= 5
