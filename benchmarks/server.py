"""What `rag-assets serve` does under load: time to the first claim and to the whole answer, errors,
memory.

    python -m benchmarks.server --data DIR [--askers 1 8 32] [--each 60] [--soak 2000] [--work
    FOLDER]

DIR is a data folder with a published corpus; the server works on a copy of it. First, so many
askers at once put `each` questions to it as event streams. Then 8 askers put `soak` questions, and
in the middle a paper is edited and the corpus published anew. Every question is asked in words of
its own, so every answer is drafted. No model is paid for. Memory is that of the server process and
its children (VmRSS of /proc, so Linux only).
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, cycle
from pathlib import Path
from time import monotonic, perf_counter, sleep

import httpx2

SOAK_ASKERS = 8
WARM_UP = 20
TIMEOUT_S = 300.0
_UNLIMITED = ["--set", "server.questions_per_minute=1000000"]
_EDIT = "Ferritin rose again in edition {number}."


@dataclass(frozen=True)
class Asked:
    """How one question went."""

    first_s: float
    """Until the first claim, or until a refusal was told."""
    done_s: float
    fault: str | None
    """What went wrong; None for an answer."""


class Server:
    """A running `rag-assets serve`."""

    def __init__(self, process: subprocess.Popen[bytes], address: str) -> None:
        self.address = address
        self._process = process

    def memory_mb(self) -> float:
        """Of the process and its children."""
        children = (
            Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        )
        return sum(_rss_kb(int(pid)) for pid in [str(self._process.pid), *children]) / 1024


class Questions:
    """The questions of the corpus again and again, each time in words of its own."""

    def __init__(self, file: Path) -> None:
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
        self._texts = cycle([row["question"] for row in rows])
        self._numbers = count(1)

    def next(self) -> str:
        return f"{next(self._texts)} (Asked as number {next(self._numbers)}.)"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--askers", type=int, nargs="*", default=[1, 8, 32])
    parser.add_argument(
        "--each", type=int, default=60, help="questions per number of askers; default 60"
    )
    parser.add_argument(
        "--soak", type=int, default=2000, help="questions while memory is watched; default 2000"
    )
    parser.add_argument(
        "--work", type=Path, help="where the copy goes; default: a folder that is deleted"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        data = (given.work or Path(temporary)) / "data"
        shutil.copytree(given.data, data, ignore=shutil.ignore_patterns(".dagster", "logs"))
        questions = Questions(data / "questions" / "smoke.jsonl")
        with served(data) as server:
            print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before")
            asyncio.run(measure(server, questions, given.askers, given.each))
            if given.soak:
                asyncio.run(soak(server, questions, given.soak, data))
            print(f"load {os.getloadavg()[0]:.1f} after")


@contextmanager
def served(data: Path, *options: str) -> Iterator[Server]:
    """The server over a data folder, on a port that is free."""
    log = data.parent / "server.log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [*_command("serve", data), "--port", "0", *_UNLIMITED, *options],
            stderr=stderr,
            stdout=subprocess.DEVNULL,
        )
    try:
        deadline = monotonic() + TIMEOUT_S
        while not (found := re.search(r"http://127\.0\.0\.1:\d+", log.read_text("utf-8"))):
            if process.poll() is not None or monotonic() > deadline:
                raise SystemExit(f"The server did not start:\n{log.read_text('utf-8')}")
            sleep(0.1)
        yield Server(process, found[0])
    finally:
        process.terminate()
        process.wait()


async def measure(server: Server, questions: Questions, askers: Sequence[int], each: int) -> None:
    """Print how long answers take with so many askers at once."""
    await all_asked(server, questions, 1, WARM_UP)
    print(
        f"{'askers':>6} {'questions':>9} {'first p50':>10} {'p95':>7} {'done p50':>9} {'p95':>7} {'a second':>9} faults"
    )
    for n_askers in askers:
        started = perf_counter()
        results = await all_asked(server, questions, n_askers, max(each, n_askers))
        rate = len(results) / (perf_counter() - started)
        first, done = [one.first_s for one in results], [one.done_s for one in results]
        print(
            f"{n_askers:>6} {len(results):>9} {statistics.median(first):>8.2f} s {p95(first):>5.2f} s "
            f"{statistics.median(done):>7.2f} s {p95(done):>5.2f} s {rate:>9.1f} {faults_of(results)}"
        )


async def soak(server: Server, questions: Questions, n_questions: int, data: Path) -> None:
    """Print how memory develops over many questions, with a new publication in the middle."""
    quarter = n_questions // 4
    print(f"memory before the soak: {server.memory_mb():.0f} MB")
    faults: list[Asked] = []
    for number in range(1, 5):
        publishing = await published_anew(data) if number == 3 else None
        started = perf_counter()
        results = await all_asked(server, questions, SOAK_ASKERS, quarter)
        faults += results
        rate = quarter / (perf_counter() - started)
        said = (
            f"after {number * quarter} questions: {server.memory_mb():.0f} MB, {rate:.1f} a second"
        )
        if publishing:
            while publishing.returncode is None:
                faults += await all_asked(server, questions, SOAK_ASKERS, SOAK_ASKERS)
            faults += await all_asked(server, questions, SOAK_ASKERS, SOAK_ASKERS)
            said += f"; published anew meanwhile, exit code {publishing.returncode}"
        print(said, flush=True)
    print(f"faults of {len(faults)} questions: {faults_of(faults)}")


async def published_anew(data: Path) -> asyncio.subprocess.Process:
    """Edit a paper and start the run that publishes it."""
    paper = min(data.joinpath("papers").glob("*.tei.xml"))
    text = paper.read_text("utf-8")
    paper.write_text(text.replace("</p>", f" {_EDIT.format(number=1)}</p>", 1), "utf-8")
    command = _command("run", data)
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "DAGSTER_HOME": ""},
    )
    asyncio.get_running_loop().create_task(process.wait())
    return process


async def all_asked(
    server: Server, questions: Questions, n_askers: int, n_questions: int
) -> list[Asked]:
    """So many askers, each with a question under way, until all questions are answered."""
    results: list[Asked] = []
    left = iter(range(n_questions))

    async def ask_on(client: httpx2.AsyncClient) -> None:
        for _ in left:
            results.append(await asked(client, questions.next()))

    limits = httpx2.Limits(max_connections=n_askers)
    async with httpx2.AsyncClient(
        base_url=server.address, timeout=TIMEOUT_S, limits=limits
    ) as client:
        await asyncio.gather(*(ask_on(client) for _ in range(n_askers)))
    return results


async def asked(client: httpx2.AsyncClient, question: str) -> Asked:
    """One question as a stream of events."""
    started, first = perf_counter(), None
    fault: str | None = "the stream ended without an answer"
    try:
        async for event, data in events(client, question):
            if event == "claim" and first is None:
                first = perf_counter() - started
            elif event == "done":
                fault = None
            elif event == "error":
                fault = json.loads(data)["problem"]["title"]
    except httpx2.HTTPError as error:
        fault = type(error).__name__
    done = perf_counter() - started
    return Asked(done if first is None else first, done, fault)


async def events(client: httpx2.AsyncClient, question: str) -> AsyncIterator[tuple[str, str]]:
    """Name and data of the events of an answer; a refused request is an event `error`."""
    headers = {"Accept": "text/event-stream"}
    async with client.stream(
        "POST", "/api/answers", json={"question": question}, headers=headers
    ) as reply:
        if reply.status_code != 200:
            yield "error", json.dumps({"problem": {"title": f"HTTP {reply.status_code}"}})
            return
        name = ""
        async for line in reply.aiter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield name, line.removeprefix("data: ")


def p95(values: Sequence[float]) -> float:
    return sorted(values)[max(0, round(len(values) * 0.95) - 1)]


def faults_of(results: Sequence[Asked]) -> str:
    found = Counter(one.fault for one in results if one.fault)
    return ", ".join(f"{n} times {fault}" for fault, n in found.items()) or "0"


def _command(name: str, data: Path) -> list[str]:
    program = "from rag_assets.faces.cli import app; app(prog_name='rag-assets')"
    return [sys.executable, "-c", program, name, "--data", str(data)]


def _rss_kb(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0  # it ended meanwhile
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found[1]) if found else 0


if __name__ == "__main__":
    main()
