"""The steps of a question are timed where the code that does them stands."""

import time

from benchmarks.query_steps import STEPS, StepTimes, timed_steps
from rag_assets.search.embedding.token_vectors import LocalTokenEncoder


def test_every_timed_step_exists() -> None:
    """A function that moved would end the benchmark after minutes of building its corpora."""
    untimed = LocalTokenEncoder.encode

    with timed_steps() as times:
        assert LocalTokenEncoder.encode is not untimed

    assert LocalTokenEncoder.encode is untimed
    assert set(times.seconds) == set(STEPS)


def test_the_time_of_a_step_leaves_out_the_steps_it_calls() -> None:
    """Time that is counted twice makes the steps longer than the question."""
    times = StepTimes()

    def busy() -> None:
        until = time.process_time() + 0.02
        while time.process_time() < until:
            pass

    inner = times.timed("token vectors of passages", busy)
    times.timed("reranking", inner)()

    assert times.seconds["token vectors of passages"] >= 0.02
    assert times.seconds["reranking"] < 0.01
