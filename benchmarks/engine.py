"""What an open engine costs: time to open, memory, and seconds of a question with 1 and with 8
askers at once.

    python -m benchmarks.engine [--passages 10000 100000] [--questions 24] [--work FOLDER]

Corpora: the demo, and synthetic papers of so many passages each (`synthetic_papers`). FOLDER keeps
these; making them takes minutes. Each corpus is measured in a process of its own. No model behind
an API is asked. Every question is asked for the first time, so every answer is drafted. Where the
time goes is measured with one asker. Correctness comes first: a question whose answer breaks a
promise ends the benchmark.
"""

import argparse
import json
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.query_steps import timed_steps
from benchmarks.synthetic_papers import make_corpus
from rag_assets.core.settings import load_settings
from rag_assets.core.table_files import read_columns
from rag_assets.engine import Engine, open_engine

DEMO = Path(__file__).parents[1] / "data"
ASKERS = (1, 8)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--questions", type=int, default=24, help="of each kind; default 24")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.measure, options.questions)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        demo = work / "demo"
        made = shutil.ignore_patterns("cache", "index", "output", "logs", ".dagster")
        shutil.copytree(DEMO, demo, ignore=made, dirs_exist_ok=True)
        subprocess.run(
            [*COMMAND, "index", "build", "--data", str(demo)], check=True, stdout=sys.stderr
        )
        names = {demo: "demo"}
        for n_passages in options.passages:
            data = work / f"{n_passages}"
            if not (data / "index" / "bm25").exists():
                make_corpus(data, n_passages)
            names[data] = f"{n_passages:,} passages"
        figures = {data: in_own_process(data, options.questions) for data in names}
    print(f"\n{platform.processor() or platform.machine()}, Python {platform.python_version()}\n")
    print(
        "| |" + "".join(f" {name} |" for name in names.values()) + "\n|---|" + "---:|" * len(names)
    )
    for row in figures[demo]:
        print(f"| {row} |" + "".join(f" {figures[data][row]} |" for data in names))


COMMAND = [sys.executable, "-c", "from rag_assets.faces.cli import app; app()"]


def in_own_process(data: Path, n_questions: int) -> dict[str, str]:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "benchmarks.engine",
            "--measure",
            str(data),
            "--questions",
            str(n_questions),
        ],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    figures: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return figures


def measured(data: Path, n_questions: int) -> dict[str, str]:
    """The column of one corpus."""
    settings = load_settings({"data_dir": str(data), "chunking": {"tokenizer": "wordpiece"}})
    questions = iter(some_questions(data, 2 + (1 + len(ASKERS)) * n_questions))
    settings.paths.kept.unlink(missing_ok=True)
    figures: dict[str, str] = {}
    with open_engine(settings) as engine:
        figures["first search after opening, s"] = (
            f"{seconds(lambda: engine.search(next(questions))):.2f}"
        )
        figures["first answer, the next question, ms"] = (
            f"{1000 * seconds(lambda: engine.trace(next(questions))):.0f}"
        )
        for n_askers in ASKERS:
            asked = [next(questions) for _ in range(n_questions)]
            with ThreadPoolExecutor(n_askers) as pool:
                for name, ask in (
                    ("contexts", engine.evidence),
                    ("answer", engine.trace),
                    (
                        "answer to a question near one before",
                        lambda text: engine.trace(f"{text} In short?"),
                    ),
                ):
                    times = sorted(
                        pool.map(lambda text, ask=ask: seconds(lambda: ask(text)), asked)
                    )
                    p50, p95 = statistics.median(times), times[int(0.95 * len(times))]
                    askers = "1 asker" if n_askers == 1 else f"{n_askers} askers at once"
                    figures[f"{name}, {askers}: p50 / p95, ms"] = (
                        f"{1000 * p50:.0f} / {1000 * p95:.0f}"
                    )
        figures |= where_time_goes(engine, [next(questions) for _ in range(n_questions)])
        if any(one.promise for text in asked[:3] for one in engine.trace(text).result.left_out):
            sys.exit("an answer breaks a promise")
        figures["memory of the process, MB"] = f"{resident_mb():.0f}"
    return figures


def where_time_goes(engine: Engine, questions: Sequence[str]) -> dict[str, str]:
    """Mean milliseconds of each step: of contexts on the processor, of answers on the clock."""
    started = time.process_time()
    with timed_steps() as times:
        for text in questions:
            engine.evidence(text)
    spent = times.seconds | {
        "everything else": time.process_time() - started - sum(times.seconds.values())
    }
    traces = [engine.trace(f"{text} In short?") for text in questions]
    per_question = {
        f"contexts, CPU: {step}": time / len(questions) for step, time in spent.items()
    } | {
        f"answer: {step}": statistics.mean(trace.seconds.get(step, 0.0) for trace in traces)
        for step in dict.fromkeys(step for trace in traces for step in trace.seconds)
    }
    return {f"{step}, ms": f"{1000 * time:.1f}" for step, time in per_question.items()}


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def resident_mb() -> float:
    [line] = [
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmRSS")
    ]
    return int(line.split()[1]) / 1000


def some_questions(data: Path, n_wanted: int) -> list[str]:
    """Questions of sentences of the corpus, each about another one."""
    texts = read_columns(data / "cache" / "passages.parquet", ["text"])["text"]
    draw = random.Random(5)
    found: dict[str, None] = {}
    while len(found) < n_wanted:
        words = [word.strip(".,;:()") for word in texts[draw.randrange(len(texts))].as_py().split()]
        start = draw.randrange(max(1, len(words) - 8))
        found[f"What is said of {' '.join(words[start : start + 8])}?"] = None
    return list(found)


if __name__ == "__main__":
    main()
