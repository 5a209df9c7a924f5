"""What the packaged embedding models cost beside each other, over the same papers.

    python -m benchmarks.embedding_price PAPERS [--work FOLDER] [--question TEXT ...]

PAPERS is a folder of papers. Each model gets a data folder of its own and is built before anything
is measured, one model after the other: CPU seconds hardly change with what else the machine does.
Memory is read from /proc, so Linux only.
"""

import argparse
import asyncio
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx2

from benchmarks.first_question import QUESTION, seconds_of
from benchmarks.multilingual_model import MINILM, OURS
from benchmarks.quality.data_folders import COMMAND, cpu_of_children
from benchmarks.server import asked, served
from rag_assets.core.settings import load_settings
from rag_assets.search.embedding.providers import open_embedder

MODELS = (MINILM, OURS[1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("papers", type=Path)
    parser.add_argument("--work", type=Path, help="default: a folder that is deleted")
    parser.add_argument(
        "--question",
        nargs="*",
        default=[QUESTION, "What was measured?", "How large was the effect?"],
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = (given.work or Path(temporary)).absolute()
        rows = {name: measured(name, given, work / name.partition(":")[2]) for name in MODELS}
    old, new = rows.values()
    print(f"| | {' | '.join(MODELS)} | ratio |\n|---|---:|---:|---:|")
    for what in old:
        print(f"| {what} | {old[what]:.2f} | {new[what]:.2f} | {new[what] / old[what]:.2f} |")


def measured(name: str, given: argparse.Namespace, data: Path) -> dict[str, float]:
    shutil.copytree(given.papers, data / "papers")
    settings = load_settings({"data_dir": data, "embedding": {"model": name}})
    open_embedder(settings.embedding, settings.paths.models).embed_query("The model is built.")
    before = cpu_of_children()
    subprocess.run(
        [*COMMAND, "index", "build", "--data", str(data), "--set", f"embedding.model={name}"],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    index = cpu_of_children() - before
    asks = [seconds_of(str(data), given.question[0], name)[1] for _ in range(3)]
    with served(data, "--set", f"embedding.model={name}") as server:
        asyncio.run(all_asked(server.address, given.question))
        memory = server.memory_mb()
    size = sum(path.stat().st_size for path in data.rglob("*") if path.is_file()) / 1e6
    print(f"{name} is measured", file=sys.stderr, flush=True)
    return {
        "index, CPU s": index,
        "first `ask` of a process, CPU s": statistics.median(asks),
        "memory of `serve`, MB": memory,
        "`data/`, MB": size,
    }


async def all_asked(address: str, questions: list[str]) -> None:
    async with httpx2.AsyncClient(base_url=address, timeout=300) as client:
        for question in questions:
            await asked(client, question)


if __name__ == "__main__":
    main()
