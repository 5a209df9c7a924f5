"""Fuzz parsers, chunker and passages: every case must end as parsed or quarantined, within the time
limit.

    python benchmarks/fuzz.py --cases 20000 --seed 1 [--corpora DIR] [--failures DIR]

Cases are mutations of papers of each format, written by the tests, and of real papers where
--corpora is given, and papers of random text in many scripts. Each runs in the parse workers of the
pipeline, with their time and memory limit. A case fails when something raises an unforeseen
exception, when a document, chunk or passage breaks a promise, or when a limit is passed. Failing
files are kept in --failures; the seed of a case makes it again. Exit code 1 if any failed.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.settings import ParseLimits
from rag_assets.core.workforce.processes import LocalProcesses
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.parsing.registry import sniff
from rag_assets_testing.fuzzing.cases import PARSED, QUARANTINED, Case, Ending, run_case
from rag_assets_testing.fuzzing.samples import write_samples

SUFFIXES = (".xml", ".json", ".md", ".txt", ".pdf")
LARGEST_BYTES = 30_000
"""Of the real papers: more cases in the same time."""
BATCH = 500
FAILED = "failed"


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        sources = [*write_samples(Path(folder)), *_real_papers(options.corpora)]
        print(
            f"{len(sources)} papers to start from, seed {options.seed}, limit {options.timeout_s} s",
            flush=True,
        )
        return _fuzz(sources, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="Number of the first case.")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--corpora", type=Path, help="A folder of real papers.")
    parser.add_argument("--failures", type=Path, default=Path("fuzz_failures"))
    parser.add_argument("--most-words", type=int, default=2000, help="Of one random text.")
    parser.add_argument("--timeout-s", type=float, default=60.0)
    parser.add_argument("--workers", type=int, default=1)
    return parser.parse_args()


def _real_papers(folder: Path | None) -> list[Path]:
    found = sorted(folder.rglob("*")) if folder else []
    small = (
        path
        for path in found
        if path.suffix in SUFFIXES and 0 < path.stat().st_size <= LARGEST_BYTES
    )
    return [path for path in small if path.is_file() and _is_known(path)]


def _is_known(path: Path) -> bool:
    try:
        sniff(path.name, path.read_bytes())
    except UnreadableDocument:
        return False
    return True


def _fuzz(sources: Sequence[Path], options: argparse.Namespace) -> int:
    endings: Counter[tuple[str, str]] = Counter()
    slowest: list[tuple[float, str]] = []
    begun = time.monotonic()
    cases = iter(_cases(sources, options))
    n_done = 0
    processes = LocalProcesses(options.workers)
    while batch := list(islice(cases, BATCH)):
        before = time.monotonic()
        for case, result in processes.map(
            run_case, batch, ParseLimits(timeout_s=options.timeout_s)
        ):
            now = time.monotonic()
            slowest = sorted([*slowest, (now - before, case.seed)], reverse=True)[:5]
            before = now
            endings[case.suffix, _how(case, result, options.failures)] += 1
        n_done += len(batch)
        n_failed = sum(n for (_, how), n in endings.items() if how == FAILED)
        print(f"{n_done} cases, {n_failed} failed, {time.monotonic() - begun:.0f} s", flush=True)
    processes.close()
    _report(endings, slowest)
    return int(any(how == FAILED for _, how in endings))


def _cases(sources: Sequence[Path], options: argparse.Namespace) -> Iterator[Case]:
    """Formats take turns, so that each gets as many cases however many papers there are of it."""
    by_suffix = {suffix: [path for path in sources if path.suffix == suffix] for suffix in SUFFIXES}
    for number in range(options.first, options.first + options.cases):
        papers = by_suffix[SUFFIXES[number % len(SUFFIXES)]]
        yield Case(
            papers[number // len(SUFFIXES) % len(papers)],
            f"{options.seed}-{number}",
            options.most_words,
        )


def _how(case: Case, result: Ending | Failure, failures: Path) -> str:
    if isinstance(result, Ending):
        return result.how
    failures.mkdir(parents=True, exist_ok=True)
    (failures / f"{case.seed}{case.suffix}").write_bytes(case.content())
    (failures / f"{case.seed}.reason").write_text(
        f"{case.source}\n{result.reason}\n", "utf-8", "replace"
    )
    print(f"case {case.seed} ({case.source.name}): {result.reason}", flush=True)
    return FAILED


def _report(endings: Counter[tuple[str, str]], slowest: Sequence[tuple[float, str]]) -> None:
    for suffix in sorted({suffix for suffix, _ in endings}):
        counts = ", ".join(f"{endings[suffix, how]} {how}" for how in (PARSED, QUARANTINED, FAILED))
        print(f"{suffix:15} {counts}")
    print("slowest: " + ", ".join(f"{seconds:.1f} s ({seed})" for seconds, seed in slowest))


if __name__ == "__main__":
    sys.exit(main())
