"""What the look-up of quotes says of true, tidied, falsified and invented ones, and how long it
takes.

    python -m benchmarks.quotes --data FOLDER [--cases N]

FOLDER is indexed (rag-assets index build). The quotes are those of benchmarks/verifier_errors.py, N
of each kind, looked up in the whole corpus as POST /api/verify does, but for their place on a page.
Quotes moved to another paper are left out: they stand in their own. Printed, by kind: verified,
near, not found, and how many were found in the paper they were made from. A falsified quote that is
verified is an error; one that is near shows the words that differ.
"""

import argparse
import time
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median, quantiles

from benchmarks.verifier_cases import KINDS, Case, Corpus, cases_of, moved
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import required_table
from rag_assets.core.tables import chunks_from
from rag_assets.engine import open_engine
from rag_assets.library.reading.reader import QuoteStatus, Reader

N_SHOWN, SHOWN_CHARS = 8, 160


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cases", type=int, default=40)
    arguments = parser.parse_args()
    settings = Settings(data_dir=arguments.data)
    chunks = chunks_from(required_table(settings.paths.chunks))
    corpus = Corpus(tuple(chunk for chunk in chunks if not chunk.is_generated))
    seconds: list[float] = []
    wrong: dict[str, list[Case]] = defaultdict(list)
    with open_engine(settings) as engine, Reader(settings, engine) as reader:
        reader.find_quote(corpus.sentences[0][1])  # opens the indexes
        for kind in (kind for kind in KINDS if kind.make is not moved):
            cases = [
                case
                for case in cases_of(kind, corpus, arguments.cases, Counter())
                if not case.claim
            ]
            if not cases:
                continue
            verdicts: Counter[str] = Counter()
            n_right_paper = 0
            for case in cases:
                begun = time.perf_counter()
                best = next(iter(reader.find_quote(case.quote, limit=1)), None)
                seconds.append(time.perf_counter() - begun)
                verdicts[str(best.verdict if best else QuoteStatus.NOT_FOUND)] += 1
                n_right_paper += best is not None and best.paper_id == case.chunk.paper_id
                if best and best.verdict is QuoteStatus.VERIFIED and not kind.is_true:
                    wrong[kind.name].append(case)
            said = ", ".join(f"{verdict} {verdicts[verdict]}" for verdict in QuoteStatus)
            print(
                f"{'true ' if kind.is_true else 'false'} {kind.name}: {len(cases)} quotes, {said}, own {n_right_paper}"
            )
    print(
        f"\n{len(seconds)} look-ups: median {median(seconds):.3f} s, p95 {quantiles(seconds, n=20)[-1]:.3f} s"
    )
    for name, cases in wrong.items():
        print(f"\n{name}: verified {len(cases)}")
        for case in cases[:N_SHOWN]:
            print(
                f"  quote:  {case.quote[:SHOWN_CHARS]!r}\n  source: {case.origin[:SHOWN_CHARS]!r}"
            )


if __name__ == "__main__":
    main()
