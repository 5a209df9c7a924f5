"""What one edited sentence costs, as a share of building everything.

    python benchmarks/edited_sentence.py [--papers 300] [--rounds 3]

Papers of made-up words are indexed once, with vectors from a local stand-in for a model. Then fresh processes
alternate: a run over the unchanged folder, and one after a sentence was added to a paper. The share is
(edit - unchanged) / build, of CPU seconds, imports included: other work on the machine counts less than in wall
seconds. Correctness comes first: after each edit its words must be found, and both indexes must hold as many passages.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rag_assets.search.indexing.folders import read_manifest
from rag_assets.search.indexing.tantivy_index import TantivyIndex
from rag_assets_testing.wire import WireServer

MODEL = "ollama:nomic-embed-text"
RUN = "from rag_assets.faces.cli import app; app(prog_name='rag-assets')"
N_SECTIONS, N_SENTENCES, N_WORDS = 8, 20, 16


def write_paper(path: Path, random: Random, words: list[str]) -> None:
    """About 2,500 words in sections, as Markdown."""
    sections = []
    for number in range(1, N_SECTIONS + 1):
        sentences = [" ".join(random.choices(words, k=N_WORDS)).capitalize() + "." for _ in range(N_SENTENCES)]
        sections.append(f"## {number} {random.choice(words).capitalize()}\n\n" + " ".join(sentences))
    path.write_text(f"# {path.stem}\n\n" + "\n\n".join(sections) + "\n", "utf-8")


def cost_of_run(data: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Wall and CPU seconds of a process that makes the indexes, with the processes it starts."""
    command = [sys.executable, "-c", RUN, "run", "--data", str(data), "--select", "+index_meta"]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [*command, "--set", f"embedding.model={MODEL}"], env=environment, capture_output=True, text=True
    )
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"The run failed, so no time means anything:\n{done.stdout}\n{done.stderr}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def demand_indexed(data: Path, word: str) -> int:
    """Passages in the indexes; ends everything when they differ or the edited sentence is not found."""
    n_held = {manifest.n_passages for name in ("chroma", "bm25") if (manifest := read_manifest(data / "index" / name))}
    if len(n_held) != 1 or not TantivyIndex.open(data / "index" / "bm25").search(word, 1):
        raise SystemExit(f"The indexes do not hold the edit ({n_held} passages): no time means anything.")
    return n_held.pop()


def measure(root: Path, n_papers: int, n_rounds: int) -> None:
    data, random = root / "data", Random(5)
    (data / "papers").mkdir(parents=True)
    (root / "home").mkdir()
    words = ["".join(random.choices("abcdeiklmnoprstu", k=random.randint(3, 10))) for _ in range(8000)]
    for number in range(n_papers):
        write_paper(data / "papers" / f"paper{number:04d}.md", random, words)
    edited = data / "papers" / f"paper{n_papers // 2:04d}.md"
    with WireServer("ollama") as server:
        environment = os.environ | {"OLLAMA_BASE_URL": server.base_url, "DAGSTER_HOME": str(root / "home")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # or each process would compile all modules again
        costs = {"build": [cost_of_run(data, environment)], "unchanged": [], "edit": []}
        for n_round in range(n_rounds):
            costs["unchanged"].append(cost_of_run(data, environment))
            word = f"zygomorph{n_round}"
            edited.write_text(edited.read_text("utf-8").replace(".", f". Ferritin and {word} fell.", 1), "utf-8")
            costs["edit"].append(cost_of_run(data, environment))
            n_passages = demand_indexed(data, word)
    print(f"{n_papers} papers, {n_passages} passages, {n_rounds} rounds, {os.cpu_count()} cores")
    for name, rounds in costs.items():
        wall, cpu = (statistics.median(one[place] for one in rounds) for place in (0, 1))
        print(f"{name:<10} {wall:>8.1f} s {cpu:>8.1f} s CPU")
    build = costs["build"][0][1]
    shares = [(edit[1] - plain[1]) / build for edit, plain in zip(costs["edit"], costs["unchanged"], strict=True)]
    print(json.dumps({"share of a build": round(statistics.median(shares), 3), "worst round": round(max(shares), 3)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), arguments.papers, arguments.rounds)


if __name__ == "__main__":
    main()
