"""What work on papers costs here and in a Dask cluster, and how much of a build can run in workers.

    python -m benchmarks.workforce map [--papers 96] [--rounds 3]
    python -m benchmarks.workforce build [--papers 500] [--until +passages] [--workers 2]

`map`: passages are made of papers of random words by one workforce after the other, in turns: in
this process, in processes of this machine, in a Dask cluster of real processes, each with one
worker and with two. A workforce whose results are not those of this process to the byte gets no
figure. CPU milliseconds are those of all processes of the workforce; papers per second are given
for work that only waits, which other load on the machine does not slow. `build`: a run of the
pipeline over such papers, by processes of this machine: CPU seconds of the driver and of the
workers.
"""

import argparse
import importlib
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from rag_assets.core.paper_tables import QuarantinedPaper
from rag_assets.core.settings import (
    ChunkingSettings,
    EmbeddingSettings,
    ParsingSettings,
    PassageSettings,
)
from rag_assets.core.text.tokens import packaged_model_folder, token_counter
from rag_assets.core.workforce.cluster import DaskCluster
from rag_assets.core.workforce.processes import LocalProcesses
from rag_assets.core.workforce.workforce import demanded
from rag_assets.corpus.chunking.chunker import (
    ReadingWindow,
    cut_chunks,
    cut_passages_of,
)
from rag_assets.corpus.each_paper import PaperJob, PaperOutcome
from rag_assets.corpus.statements.making import statements_of_paper
from rag_assets.parsing.attempts import FileToRead, ParseAttempt, read_file
from rag_assets.parsing.corpus import BlocksToMake, block_rows_of
from rag_assets.parsing.discovery import Paper, PaperFile
from rag_assets.parsing.registry import sniff
from rag_assets.parsing.shared.files import RawFile
from rag_assets.search.embedding.missing_vectors import counting
from rag_assets_testing.dask_cluster import real_cluster

N_SECTIONS, PARAGRAPHS_PER_SECTION, SENTENCES_PER_PARAGRAPH, WORDS_PER_SENTENCE = 8, 5, 6, 18
WAIT_S = 0.08


def random_papers(n_papers: int) -> Iterator[str]:
    """TEI files of random words of the embedding model's vocabulary, the same each time; some 4,500
    words each."""
    vocabulary = Tokenizer.from_file(str(packaged_model_folder() / "tokenizer.json")).get_vocab()
    words = sorted(
        word for word in vocabulary if word.isascii() and word.isalpha() and len(word) > 3
    )
    draw = random.Random(41)

    def sentence() -> str:
        return " ".join(draw.choices(words, k=WORDS_PER_SENTENCE)).capitalize() + "."

    def paragraph() -> str:
        return f"<p>{' '.join(sentence() for _ in range(SENTENCES_PER_PARAGRAPH))}</p>"

    for number in range(n_papers):
        sections = "".join(
            f"<div><head>{nth + 1} {sentence()[:40]}</head>"
            + "".join(paragraph() for _ in range(PARAGRAPHS_PER_SECTION))
            + "</div>"
            for nth in range(N_SECTIONS)
        )
        yield (
            '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt>'
            f"<title>Random paper {number}: {sentence()}</title></titleStmt></fileDesc></teiHeader>"
            f"<text><body>{sections}</body></text></TEI>"
        )


def passages_of_file(paper: tuple[str, bytes], window: ReadingWindow) -> bytes:
    """A paper's document, blocks, chunks and passages, one after the other; the packed passages."""
    paper_id, content = paper
    name = f"{paper_id}.tei.xml"
    file = PaperFile(Path(name), name, format=sniff(name, content))
    attempt = ParseAttempt(Paper(paper_id, (file,), fingerprint=paper_id))
    made = read_file(FileToRead(attempt, RawFile(paper_id, name, content)), ParsingSettings())
    blocks = PaperJob(
        paper_id, name, block_rows_of(BlocksToMake(paper_id, "f", made.packed, "")), "f"
    )
    counter = token_counter("wordpiece")
    statements = PaperJob(paper_id, name, _made(statements_of_paper(blocks, counter)), "f")
    chunks = _made(cut_chunks(statements, ChunkingSettings(), counter))
    return _made(cut_passages_of(PaperJob(paper_id, name, chunks, "f"), PassageSettings(), window))


def _made(cut: PaperOutcome) -> bytes:
    if isinstance(cut, QuarantinedPaper):
        raise ValueError(cut.error)
    return cut


def wait(_: int) -> None:
    time.sleep(WAIT_S)


@dataclass
class Figures:
    """Of one workforce, one number per round."""

    cpu_s: list[float] = field(default_factory=list)
    waited_s: list[float] = field(default_factory=list)


Map = Callable[[Callable[[Any], Any], Iterable[Any], None], Iterable[tuple[Any, Any]]]


def in_this_process(
    work: Callable[[Any], Any], items: Iterable[Any], _limits: None
) -> Iterator[tuple[Any, Any]]:
    return ((item, work(item)) for item in items)


def compare(n_papers: int, n_rounds: int) -> None:
    """Correctness first: a round in which a workforce makes other bytes ends the comparison."""
    papers = [
        (f"paper{number}", text.encode()) for number, text in enumerate(random_papers(n_papers))
    ]
    importable = importlib.import_module(
        "benchmarks.workforce"
    )  # workers cannot import what __main__ defines
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        window = ReadingWindow("packaged", counting(EmbeddingSettings(), Path(folder)), 256)
        work = partial(importable.passages_of_file, window=window)
        contenders: dict[str, Map] = {"this process": in_this_process}
        for n_workers in (1, 2):
            cluster = opened.enter_context(real_cluster(Path(folder, str(n_workers)), n_workers))
            contenders[f"here, {n_workers}"] = opened.enter_context(
                closing(LocalProcesses(n_workers))
            ).map
            contenders[f"Dask, {n_workers}"] = opened.enter_context(
                closing(DaskCluster(cluster.address))
            ).map
        wanted = dict(in_this_process(work, papers, None))
        figures = {name: Figures() for name in contenders}
        for number in range(n_rounds + 1):
            for name, run in contenders.items():
                before_s = _cpu_s()
                made = {paper: demanded(result) for paper, result in run(work, papers, None)}
                cpu_s = _cpu_s() - before_s
                if made != wanted:
                    raise SystemExit(f"{name} makes other bytes")
                if number:  # the first round loads what the work needs
                    figures[name].cpu_s.append(cpu_s)
                    figures[name].waited_s.append(
                        _seconds_of_waiting(run, importable.wait, n_papers)
                    )
    _show(figures, n_papers)


def _seconds_of_waiting(run: Map, wait_once: Callable[[int], None], n_items: int) -> float:
    before = time.monotonic()
    for _ in run(wait_once, range(n_items), None):
        pass
    return time.monotonic() - before


def _cpu_s() -> float:
    """CPU seconds of this process and all below it, those that have ended included."""
    ticks, parents = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text("ascii").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        parents[int(stat.parent.name)] = int(fields[1])
        ticks[int(stat.parent.name)] = sum(map(int, fields[11:15]))
    own = {os.getpid()}
    while below := {pid for pid, parent in parents.items() if parent in own} - own:
        own |= below
    return sum(ticks[pid] for pid in own) / os.sysconf("SC_CLK_TCK")


def _show(figures: dict[str, Figures], n_papers: int) -> None:
    base = statistics.median(figures["this process"].cpu_s)
    print("| workforce | CPU ms per paper | against this process | waiting papers per second |")
    print("|---|---:|---:|---:|")
    for name, of in figures.items():
        cpu_s, waited_s = statistics.median(of.cpu_s), statistics.median(of.waited_s)
        print(
            f"| {name} | {1000 * cpu_s / n_papers:.0f} | {cpu_s / base:.2f} | {n_papers / waited_s:.1f} |"
        )


def build(n_papers: int, until: str, n_workers: int) -> None:
    """One run in a process of its own, which tells what it and its workers took."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        (data / "papers").mkdir()
        for number, text in enumerate(random_papers(n_papers)):
            (data / "papers" / f"paper{number}.tei.xml").write_text(text, "utf-8")
        (data / "questions").mkdir()
        (data / "questions" / "smoke.jsonl").write_text(
            '{"id": "q", "question": "What is random?"}\n', "utf-8"
        )
        command = [
            sys.executable,
            "-m",
            "benchmarks.workforce",
            "run",
            folder,
            until,
            str(n_workers),
        ]
        before = time.monotonic()
        told = subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout.splitlines()[-1]
        seconds = time.monotonic() - before
    cost = json.loads(told)
    share = cost["workers"] / (cost["driver"] + cost["workers"])
    print(f"{n_papers} papers, {until}, {n_workers} workers: {seconds:.0f} s; CPU seconds:")
    print(
        f"driver {cost['driver']:.1f}, workers {cost['workers']:.1f}, share of the workers {share:.2f}"
    )


def run(data: str, until: str, n_workers: int) -> None:
    """What `build` starts."""
    from rag_assets.faces.cli import app

    def cpu_s(who: int) -> float:
        used = resource.getrusage(who)
        return used.ru_utime + used.ru_stime

    arguments = [
        "run",
        "--data",
        data,
        "--select",
        until,
        "--set",
        f"execution.workers={n_workers}",
    ]
    app(arguments, standalone_mode=False)
    driver_s, workers_s = cpu_s(resource.RUSAGE_SELF), cpu_s(resource.RUSAGE_CHILDREN)
    print(json.dumps({"driver": driver_s, "workers": workers_s}))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    comparing = commands.add_parser("map")
    comparing.add_argument("--papers", type=int, default=96)
    comparing.add_argument("--rounds", type=int, default=3)
    building = commands.add_parser("build")
    building.add_argument("--papers", type=int, default=500)
    building.add_argument("--until", default="+passages", help="in Dagster's selection syntax")
    building.add_argument("--workers", type=int, default=2)
    one_run = commands.add_parser("run")
    for name, kind in (("data", str), ("until", str), ("workers", int)):
        one_run.add_argument(name, type=kind)
    options = parser.parse_args()
    if options.command == "map":
        compare(options.papers, options.rounds)
    elif options.command == "build":
        build(options.papers, options.until, options.workers)
    else:
        run(options.data, options.until, options.workers)


if __name__ == "__main__":
    main()
