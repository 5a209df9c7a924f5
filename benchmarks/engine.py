"""What an open engine costs: time to open, memory, and seconds of a question with 1 and with 8 askers at once.

    python benchmarks/engine.py [--passages 80000] [--work FOLDER]

Two corpora: the demo, and papers of random words whose vectors are random directions, in the real files of the
pipeline. FOLDER keeps the second, which takes minutes to make. Each corpus is measured in a process of its own. No
model behind an API is asked. Every question is asked for the first time, so every answer is drafted; "again" asks it
once more. Correctness comes first: a question whose answer breaks a promise ends the benchmark.
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
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DEMO = Path(__file__).parents[1] / "data"
WORDS_PER_SENTENCE, SENTENCES_PER_PASSAGE, PASSAGES_PER_CHUNK, CHUNKS_PER_PAPER = 18, 8, 5, 16
SENTENCES_PER_PAPER = SENTENCES_PER_PASSAGE * PASSAGES_PER_CHUNK * CHUNKS_PER_PAPER
N_QUESTIONS, N_WORDS = 24, 20_000
ASKERS = (1, 8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=80_000)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.measure)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        demo, synthetic = Path(temporary) / "demo", (options.work or Path(temporary)) / f"{options.passages}"
        shutil.copytree(DEMO, demo, ignore=shutil.ignore_patterns("cache", "index", "output", "logs", ".dagster"))
        subprocess.run([*COMMAND, "index", "build", "--data", str(demo)], check=True, stdout=sys.stderr)
        if not (synthetic / "index" / "bm25").exists():
            make_corpus(synthetic, options.passages)
        figures = {data: in_own_process(data) for data in (demo, synthetic)}
    names = {demo: "demo", synthetic: f"{options.passages:,} passages"}
    print(f"\n{platform.processor() or platform.machine()}, Python {platform.python_version()}\n")
    print("| |" + "".join(f" {name} |" for name in names.values()) + "\n|---|" + "---:|" * len(names))
    for row in figures[demo]:
        print(f"| {row} |" + "".join(f" {figures[data][row]} |" for data in names))


COMMAND = [sys.executable, "-c", "from rag_assets.cli import app; app()"]


def in_own_process(data: Path) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, __file__, "--measure", str(data)], check=True, stdout=subprocess.PIPE, text=True
    )
    figures: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return figures


def measured(data: Path) -> dict[str, str]:
    """The column of one corpus."""
    from rag_assets.engine import open_engine
    from rag_assets.settings import load_settings

    settings = load_settings({"data_dir": str(data), "chunking": {"tokenizer": "wordpiece"}})
    questions = iter(some_questions(data))
    shutil.rmtree(settings.paths.answers, ignore_errors=True)
    figures: dict[str, str] = {}
    with open_engine(settings) as engine:
        figures["first search after opening, s"] = f"{seconds(lambda: engine.search(next(questions))):.2f}"
        figures["first answer, the next question, ms"] = f"{1000 * seconds(lambda: engine.trace(next(questions))):.0f}"
        for n_askers in ASKERS:
            asked = [next(questions) for _ in range(N_QUESTIONS)]
            with ThreadPoolExecutor(n_askers) as pool:
                for name, ask in (
                    ("contexts", engine.evidence),
                    ("answer", engine.trace),
                    ("answer to a question near one before", lambda text: engine.trace(f"{text} In short?")),
                ):
                    times = sorted(pool.map(lambda text, ask=ask: seconds(lambda: ask(text)), asked))
                    p50, p95 = statistics.median(times), times[int(0.95 * len(times))]
                    askers = "1 asker" if n_askers == 1 else f"{n_askers} askers at once"
                    figures[f"{name}, {askers}: p50 / p95, ms"] = f"{1000 * p50:.0f} / {1000 * p95:.0f}"
            if any(engine.trace(text).broken for text in asked[:3]):
                sys.exit("an answer breaks a promise")
        figures["memory of the process, MB"] = f"{resident_mb():.0f}"
    return figures


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def resident_mb() -> float:
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1000


def some_questions(data: Path) -> list[str]:
    """Questions of sentences of the corpus, each about another one."""
    from rag_assets.table_files import read_columns

    texts = read_columns(data / "cache" / "passages.parquet", ["text"], asset="passages")["text"]
    draw = random.Random(5)
    found: dict[str, None] = {}
    while len(found) < 2 + len(ASKERS) * N_QUESTIONS:
        words = [word.strip(".,;:()") for word in texts[draw.randrange(len(texts))].as_py().split()]
        start = draw.randrange(max(1, len(words) - 8))
        found[f"What is said of {' '.join(words[start : start + 8])}?"] = None
    return list(found)


def make_corpus(data: Path, n_passages: int) -> None:
    """Tables and both indexes of random papers, below `data`. Chroma's graph is left out: so few vectors are compared
    one by one, and the graph is not opened."""
    import numpy as np
    import pyarrow as pa

    from rag_assets.embedding import embedder_facts
    from rag_assets.indexing.builder import update_index
    from rag_assets.indexing.exact_vectors import write_vectors
    from rag_assets.indexing.manifest import write_manifest
    from rag_assets.indexing.protocols import IndexManifest, IndexRow
    from rag_assets.indexing.stores import vector_index, word_index
    from rag_assets.settings import load_settings
    from rag_assets.table_files import write_table
    from rag_assets.tables import CHUNKS, PASSAGES, chunk_row, passage_row, to_table

    settings = load_settings({"data_dir": str(data)})
    paths = settings.paths
    paths.cache.mkdir(parents=True, exist_ok=True)
    tables: dict[str, list[pa.Table]] = {"chunks": [], "passages": []}
    rows: list[IndexRow] = []
    for chunks, passages in random_papers(n_passages):
        tables["chunks"].append(to_table([chunk_row(chunk) for chunk in chunks], CHUNKS))
        tables["passages"].append(to_table([passage_row(passage, "synthetic") for passage in passages], PASSAGES))
        rows += [IndexRow.of(passage) for passage in passages]
    write_table(pa.concat_tables(tables["chunks"]), paths.chunks, {"tokenizer": "wordpiece"})
    write_table(pa.concat_tables(tables["passages"]), paths.passages, {})
    facts = embedder_facts(settings.embedding, paths.models)

    vectors = np.random.default_rng(7).standard_normal((len(rows), facts.dimension), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    update_index(word_index(settings), rows)
    paths.chroma.mkdir(parents=True)
    by_id = {row.passage_id: row for row in rows}
    write_vectors(paths.chroma, by_id, dict(zip(by_id, vectors, strict=True)))
    hashes = {id_: row.fingerprint for id_, row in by_id.items()}
    write_manifest(paths.chroma, IndexManifest.of(vector_index(settings, facts.identity).identity, hashes))


def random_papers(n_passages: int) -> Iterator[tuple[list, list]]:  # type: ignore[type-arg]
    """Chunks and passages, paper by paper; words as frequent as Zipf's law has them."""
    import numpy as np

    from rag_assets.domain import Box, Chunk, ChunkUnit, Passage, Span, UnitKind
    from rag_assets.incremental import fingerprint

    draw = np.random.default_rng(3)
    words = np.array([f"{'bcdfglmnprst'[number % 12]}{'aeiou'[number % 5]}{number:x}" for number in range(N_WORDS)])
    shares = 1 / np.arange(1, N_WORDS + 1)
    shares /= shares.sum()
    n_done = 0
    for nth_paper in range(n_passages):
        paper_id, chunks, passages = f"paper{nth_paper:05d}", [], []
        sentences = iter(words[draw.choice(N_WORDS, (SENTENCES_PER_PAPER, WORDS_PER_SENTENCE), p=shares)])
        for ordinal in range(CHUNKS_PER_PAPER):
            chunk_id, text, units = f"{paper_id}:{ordinal:012x}", "", []
            for nth in range(PASSAGES_PER_CHUNK):
                start = len(text)
                for _ in range(SENTENCES_PER_PASSAGE):
                    at = len(text)
                    text += " ".join(next(sentences)).capitalize() + ". "
                    units.append(ChunkUnit(at, len(text) - 1, UnitKind.SENTENCE, ordinal, at, len(text) - 1))
                own = text[start:-1]
                place = (start, start + len(own))
                ids = (f"{chunk_id}#{nth}", chunk_id, paper_id)
                passages.append(Passage(*ids, own, 200, *place, 1, 1, *place, "", "S", "S", fingerprint(*ids)))
            spans = tuple(Span(unit.start, unit.end, 1, 1, (Box(1, 0.1, 0.1, 0.9, 0.2),), unit.start) for unit in units)
            chunks.append(
                Chunk(
                    paper_id, "s", "S", chunk_id, text[:-1], 1000, 1, 1, f"{paper_id}.xml", "tei", ordinal, "S",
                    "paragraph", None, False, text[:200], text[-200:], 0, len(text), False, spans, paper_id,
                    units=tuple(units),
                )
            )  # fmt: skip
        yield chunks, passages
        n_done += len(passages)
        if n_done >= n_passages:
            return


if __name__ == "__main__":
    main()
