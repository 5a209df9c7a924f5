"""How long the first question takes from a cold start: Python, imports, models and indexes
included.

    python -m benchmarks.first_question --data DIR [--times 5] [--question TEXT]

DIR holds a published corpus. Prints wall and CPU seconds of each process, and the worst. CPU
seconds hardly change with what else the machine does; wall seconds do.
"""

import argparse
import os
import subprocess
import sys
from time import perf_counter

from rag_assets import load_settings, open_engine

QUESTION = "What is k in reciprocal rank fusion?"


def ask(data: str, question: str, model: str) -> None:
    """What one process does."""
    settings = load_settings({"data_dir": data, "embedding": {"model": model}})
    with open_engine(settings) as engine:
        print(engine.trace(question).result.answer)


def seconds_of(data: str, question: str, model: str) -> tuple[float, float]:
    """Wall and CPU seconds of a process that asks one question and ends."""
    before, started = os.times(), perf_counter()
    command = [
        sys.executable,
        "-m",
        "benchmarks.first_question",
        "--once",
        "--data",
        data,
        "--question",
        question,
        "--model",
        model,
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall, after = perf_counter() - started, os.times()
    cpu = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return wall, cpu


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--question", default=QUESTION)
    parser.add_argument("--model", default=load_settings().embedding.model)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--once", action="store_true")
    given = parser.parse_args()
    if given.once:
        ask(given.data, given.question, given.model)
        return
    measured = [seconds_of(given.data, given.question, given.model) for _ in range(given.times)]
    for wall, cpu in measured:
        print(f"{wall:.2f} s wall, {cpu:.2f} s CPU")
    print(
        f"worst of {given.times}: {max(wall for wall, _ in measured):.2f} s wall; load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
