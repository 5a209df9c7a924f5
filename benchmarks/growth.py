"""What grows with the corpus: a build, a run over the unchanged folder, and a run after one
sentence was added.

    python -m benchmarks.growth [--papers 500 2000 8000] [--sections 8] [--rounds 3] [--select
    +index_meta]

Papers of made-up words, some 310 in a section, with vectors from a local stand-in for a model. Each
run is a process of its own; seconds are of the processor, imports and worker processes included,
because other work on the machine counts less than on the clock. Megabytes are the peak of the
process that drives the run, and what it had written to the disk. Correctness comes first: a run
that fails, or that makes another number of papers than changed, ends everything.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rag_assets.core.settings import Paths
from rag_assets.core.table_files import read_columns
from rag_assets_testing.wire import WireServer

MODEL = "ollama:nomic-embed-text"
FIGURES = "GROWTH_FIGURES"
RUN = f"""
import atexit, json, os, resource
from pathlib import Path
from rag_assets.faces.cli import app

def tell():
    written = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())["write_bytes"]
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    Path(os.environ["{FIGURES}"]).write_text(json.dumps([peak_kb / 1e3, int(written) / 1e6]))

atexit.register(tell)
app(prog_name="rag-assets")
"""
N_SENTENCES, N_WORDS = 20, 16


@dataclass(frozen=True)
class Cost:
    """What one run cost."""

    cpu_s: float
    peak_mb: float
    written_mb: float


@dataclass(frozen=True)
class Runs:
    """A folder of papers, and how runs over it are started."""

    data: Path
    environment: dict[str, str]
    select: str

    def cost(self, n_made: int) -> Cost:
        """The cost of a run, which must parse `n_made` papers."""
        figures = self.data.with_name("figures.json")
        command = [
            sys.executable,
            "-c",
            RUN,
            "run",
            "--json",
            "--data",
            str(self.data),
            "--select",
            self.select,
        ]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [*command, "--set", f"embedding.model={MODEL}"],
            env=self.environment | {FIGURES: str(figures)},
            capture_output=True,
            text=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise SystemExit(
                f"The run failed, so no figure means anything:\n{done.stdout}\n{done.stderr}"
            )
        facts = {one["asset"]: one["facts"] for one in json.loads(done.stdout)["assets"]}[
            "parsed_index"
        ]
        if facts["n_added"] + facts["n_changed"] != n_made:
            raise SystemExit(
                f"The run parsed {facts['n_added'] + facts['n_changed']} papers, not {n_made}."
            )
        return Cost(
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            *json.loads(figures.read_text()),
        )


def write_paper(path: Path, random: Random, words: list[str], n_sections: int) -> None:
    """Sections as Markdown."""
    sections = []
    for number in range(1, n_sections + 1):
        sentences = [
            " ".join(random.choices(words, k=N_WORDS)).capitalize() + "."
            for _ in range(N_SENTENCES)
        ]
        sections.append(
            f"## {number} {random.choice(words).capitalize()}\n\n" + " ".join(sentences)
        )
    path.write_text(f"# {path.stem}\n\n" + "\n\n".join(sections) + "\n", "utf-8")


def measure(root: Path, n_papers: int, given: argparse.Namespace) -> None:
    data, random = root / "data", Random(5)
    (data / "papers").mkdir(parents=True)
    (root / "home").mkdir()
    words = [
        "".join(random.choices("abcdeiklmnoprstu", k=random.randint(3, 10))) for _ in range(8000)
    ]
    for number in range(n_papers):
        write_paper(data / "papers" / f"paper{number:05d}.md", random, words, given.sections)
    edited = data / "papers" / f"paper{n_papers // 2:05d}.md"
    with WireServer("ollama") as server:
        environment = os.environ | {
            "OLLAMA_BASE_URL": server.base_url,
            "DAGSTER_HOME": str(root / "home"),
        }
        environment.pop(
            "PYTHONDONTWRITEBYTECODE", None
        )  # or each process would compile all modules again
        runs = Runs(data, environment, given.select)
        costs: dict[str, list[Cost]] = {"build": [runs.cost(n_papers)], "unchanged": [], "edit": []}
        for n_round in range(given.rounds):
            costs["unchanged"].append(runs.cost(0))
            edited.write_text(
                edited.read_text("utf-8").replace(".", f". Ferritin and {n_round} fell.", 1),
                "utf-8",
            )
            costs["edit"].append(runs.cost(1))
    n_passages = len(read_columns(Paths(data).passages, ["passage_id"]))
    print(
        f"{n_papers} papers, {n_passages} passages, {given.rounds} rounds, {os.cpu_count()} cores, {given.select}"
    )
    for name, rounds in costs.items():
        for what in ("cpu_s", "peak_mb", "written_mb"):
            found = [getattr(one, what) for one in rounds]
            print(f"{name:<10} {what:<11} {statistics.median(found):>8.1f}, worst {max(found):.1f}")
    build = costs["build"][0].cpu_s
    pairs = zip(costs["edit"], costs["unchanged"], strict=True)
    shares = [(edit.cpu_s - plain.cpu_s) / build for edit, plain in pairs]
    print(
        f"share of a build that an edit costs beyond: {statistics.median(shares):.3f}, worst {max(shares):.3f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--papers", type=int, nargs="+", default=[500, 2000, 8000])
    parser.add_argument("--sections", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--select", default="+index_meta")
    given = parser.parse_args()
    for n_papers in given.papers:
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder), n_papers, given)


if __name__ == "__main__":
    main()
