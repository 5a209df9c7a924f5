"""Vector search in Lance beside the exact search of the default store, over the vectors of a data folder, multiplied.

    python -m benchmarks.vector_stores --data DIR [--passages 310000] [--work FOLDER]

Vectors and questions are drawn from a normal distribution with the mean and the covariance of the real ones: they are
as many-sided as these and as alike, but each is a topic of its own, with no near relatives that would be easy to find.
Each store is asked in a process of its own. Then one paper of 40 passages is replaced in Lance, three times.
"""

import argparse
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from rag_assets.core.settings import Settings
from rag_assets.search.indexing.builder import update_index
from rag_assets.search.indexing.chroma import ChromaFiles
from rag_assets.search.indexing.exact_vectors import ExactVectors, write_vectors
from rag_assets.search.indexing.lance_index import LanceIndex
from rag_assets.search.indexing.protocols import IndexRow, Vectors, VectorSource, VectorStore

N_QUESTIONS = 100
PER_PAPER = 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a data folder with an index in Chroma")
    parser.add_argument("--passages", type=int, default=310_000)
    parser.add_argument("--work", type=Path, help="where the indexes are written; default: a temporary folder")
    given = parser.parse_args()
    with TemporaryDirectory(dir=given.work) as work:
        compare(given.data, given.passages, Path(work))


def compare(data: Path, n_passages: int, work: Path) -> None:
    """Print what each store takes, and how much of what the exact search finds Lance finds too."""
    stored = ExactVectors.open(Settings(data_dir=data).paths.chroma)
    real = stored.vectors(list(stored.fingerprints()))
    random = np.random.default_rng(0)
    vectors, questions = (drawn(real, n, random) for n in (n_passages, N_QUESTIONS))
    rows = [IndexRow(f"{n:07d}#0", f"{n:07d}", f"p{n // PER_PAPER}", "", 1, 1, "0", "") for n in range(n_passages)]
    index = LanceIndex(work / "lance", VectorSource("m", lambda some: vectors[[int(row.chunk_id) for row in some]]))
    (work / "exact").mkdir()
    write_vectors(
        work / "exact", {row.passage_id: row for row in rows}, {r.passage_id: vectors[int(r.chunk_id)] for r in rows}
    )
    started = time.perf_counter()
    update_index(index, rows)
    print(f"{n_passages:,} vectors like {len(real):,}; Lance built in {time.perf_counter() - started:.0f} s")

    exact, lance = (asked(name, work, questions) for name in ("exact", "lance"))
    print("| | found of 20 | of 100 | opened, s | first question, s | median, ms | p95, ms | resident, MB |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, found in (("exact", exact), ("lance", lance)):
        recall = [
            np.mean([len({*a[:n]} & {*b[:n]}) / n for a, b in zip(exact[0], found[0], strict=True)]) for n in (20, 100)
        ]
        print(f"| {name} | {recall[0]:.3f} | {recall[1]:.3f} | " + " | ".join(f"{one:.3g}" for one in found[1]) + " |")
    for number in range(3):
        edited = [replace(row, fingerprint=str(number + 1)) if row.paper_id == "p7" else row for row in rows]
        before, started = n_bytes(index.folder), time.perf_counter()
        update_index(index, edited)
        seconds = time.perf_counter() - started
        print(f"one paper replaced: {seconds:.2f} s, {(n_bytes(index.folder) - before) / 1e6:.1f} MB more on disk")


def drawn(like: Vectors, n: int, random: np.random.Generator) -> Vectors:
    """Unit vectors distributed like the given ones, shape (n, dim)."""
    variances, axes = np.linalg.eigh(np.cov(like, rowvar=False))
    spread = (axes * np.sqrt(np.maximum(variances, 0))).T.astype(np.float32)
    made: Vectors = random.standard_normal((n, like.shape[1]), np.float32) @ spread + like.mean(axis=0)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


Asked = tuple[list[list[str]], tuple[float, ...]]
"""Ids found for each question; seconds, milliseconds and megabytes as in the table."""


def asked(name: str, work: Path, questions: Vectors) -> Asked:
    """What a fresh process finds in a store, and what that takes."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(_asked, name, work, questions).result()


def _asked(name: str, work: Path, questions: Vectors) -> Asked:
    started = time.perf_counter()
    store = _opened(name, work)
    opened = time.perf_counter() - started
    found, seconds = [], []
    for question in questions:
        started = time.perf_counter()
        found.append([hit.passage_id for hit in store.search(question, 100)])
        seconds.append(time.perf_counter() - started)
    later = np.array(seconds[1:]) * 1000
    return found, (opened, seconds[0], float(np.median(later)), float(np.quantile(later, 0.95)), _resident_mb())


def _opened(name: str, work: Path) -> VectorStore:
    if name == "exact":
        return ChromaFiles("m", _no_vectors).open(work / "exact")
    return LanceIndex(work / "lance", VectorSource("m", _no_vectors)).open()


def _no_vectors(_: Sequence[IndexRow]) -> Vectors:
    raise ValueError("nothing is written here")


def _resident_mb() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def n_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
