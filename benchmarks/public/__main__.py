"""A public benchmark becomes a data folder: your copy of its files as papers and a question file.
Nothing is fetched.

python -m benchmarks.public                                     # the benchmarks, and where to get
each python -m benchmarks.public covidqa ~/COVID-QA --data covidqa-data [--limit 100] rag-assets
index build --data covidqa-data rag-assets eval run --data covidqa-data --questions
covidqa-data/questions/covidqa.jsonl
"""

import argparse
from pathlib import Path

from benchmarks.public.corpora import BENCHMARKS, prepare


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", nargs="?", choices=BENCHMARKS)
    parser.add_argument("folder", nargs="?", type=Path, help="your copy of its files")
    parser.add_argument(
        "--data", type=Path, help="a data folder of its own; default: benchmark-NAME"
    )
    parser.add_argument("--limit", type=int, help="so many questions, always the same")
    given = parser.parse_args()
    if given.name is None or given.folder is None:
        for name, one in BENCHMARKS.items():
            print(f"{name}: {one.files}; {one.source}")
        return
    print(
        prepare(
            given.name, given.folder, given.data or Path(f"benchmark-{given.name}"), given.limit
        )
    )


if __name__ == "__main__":
    main()
