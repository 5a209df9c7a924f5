"""Kills a writer of the Chroma index again and again, and shows that the next update always ends right.

python benchmarks/killed_writers.py [--rounds N]: each round starts a process that updates an index two passages at a
time, kills it after a random time, updates the index once more and compares it with what was asked for.
"""

import argparse
import shutil
import sys
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rag_assets.indexing.builder import update_index
from rag_assets.indexing.folders import FolderTarget
from rag_assets_tests.indexing.rows import numbered_rows
from rag_assets_tests.indexing.test_torn_folders import N_PASSAGES, TARGET, WANTED, kill_while_updating

LONGEST_S = 0.6


def main() -> None:
    """Print how many rounds ended as they should, and what the kills had left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    rounds = parser.parse_args().rounds
    random, outcomes = Random(0), Counter[str]()
    with TemporaryDirectory() as root:
        folder = Path(root) / "index"
        for _ in range(rounds):
            shutil.rmtree(folder, ignore_errors=True)
            update_index(FolderTarget(folder, TARGET), numbered_rows(N_PASSAGES))
            kill_while_updating(folder, random.uniform(0, LONGEST_S))
            outcomes["with a staged copy left"] += folder.with_name("index.staged").exists()
            update_index(FolderTarget(folder, TARGET), numbered_rows(N_PASSAGES, start=5))
            outcomes["ended right"] += TARGET.fingerprints(folder) == WANTED
    sys.stdout.write(f"{rounds} kills: " + ", ".join(f"{n} {name}" for name, n in outcomes.items()) + "\n")


if __name__ == "__main__":
    main()
