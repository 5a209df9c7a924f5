"""How good retrieval and answers are, measured with the product's own pipeline and engine.

    python -m benchmarks.quality run CORPORA --work FOLDER [--sets covidqa,cranfield] [--set
    retrieval.k=v] [--name N]
    python -m benchmarks.quality peers CORPORA --work FOLDER [--sets ohr] [--only
    naive,haiku.rag-recipe]
    python -m benchmarks.quality compare FOLDER/runs/NEW FOLDER/runs/OLD
    python -m benchmarks.quality tables FOLDER/runs/DEFAULT FOLDER/runs/OTHER ...

CORPORA holds `qa/covidqa`, `qa/ohr_bench`, `qa/cranfield` and `pdf_pages/financebench`; a set that
is absent is skipped. A variant is a list of `--set` values, as every command of rag-assets takes
them. FOLDER keeps data folders and runs: a second variant that needs the same indexes costs only
its questions, and a run that was stopped goes on. The set `sentences` asks COVID-QA's questions for
whole answers without a model.
"""

import argparse
import sys
from importlib.metadata import version
from pathlib import Path

from benchmarks.quality.asking import Ask, ask_for_answer, ask_for_hits
from benchmarks.quality.data_folders import built_folder, code_digest
from benchmarks.quality.peers import PEERS
from benchmarks.quality.peers.asking import ask_peer
from benchmarks.quality.questions import QuestionSet, is_present, question_sets
from benchmarks.quality.runs import Run, write_row
from benchmarks.quality.tables import COLUMNS, HALVES, compared, measured_tables
from rag_assets.engine import open_engine

PACKAGES = ("chromadb", "tantivy", "onnxruntime", "fastembed")
CORPUS_OF = {name: "covidqa" if name == "sentences" else name for name in COLUMNS}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    asked = argparse.ArgumentParser(add_help=False)
    asked.add_argument("corpora", type=Path)
    asked.add_argument("--work", type=Path, required=True)
    asked.add_argument("--sets", default=",".join(COLUMNS), help=f"default: {','.join(COLUMNS)}")
    asked.add_argument(
        "--sample", type=int, help="at most so many questions of each set, always the same"
    )
    asked.add_argument(
        "--again", action="store_true", help="delete the rows that are there under the name"
    )
    run = commands.add_parser("run", parents=[asked], help="ask one variant")
    run.add_argument("--set", dest="values", action="append", default=[], metavar="KEY=VALUE")
    run.add_argument("--name", help="of the run; default: the --set values, or `default`")
    peers = commands.add_parser(
        "peers", parents=[asked], help="ask other ways to search, over the same texts"
    )
    peers.add_argument("--only", default=",".join(PEERS), help=f"default: {','.join(PEERS)}")
    compare = commands.add_parser("compare", help="gains and losses of one run against another")
    compare.add_argument("new", type=Path)
    compare.add_argument("old", type=Path)
    compare.add_argument(
        "--show", type=int, default=5, help="questions that changed most; default 5"
    )
    tables = commands.add_parser("tables", help="figures of runs side by side, with intervals")
    tables.add_argument("runs", type=Path, nargs="+")
    tables.add_argument("--sets", default=",".join(COLUMNS))
    tables.add_argument("--halves", default=",".join(HALVES))
    given = parser.parse_args()
    if given.command in ("run", "peers") and (unknown := set(given.sets.split(",")) - set(COLUMNS)):
        parser.error(f"no such set: {', '.join(sorted(unknown))}; known: {', '.join(COLUMNS)}")
    if given.command == "run":
        run_variant(given)
    elif given.command == "peers":
        run_peers(given)
    elif given.command == "compare":
        print(*compared(Run(given.new), Run(given.old), given.show), sep="\n")
    else:
        print(
            *measured_tables(
                [Run(path) for path in given.runs], given.sets.split(","), given.halves.split(",")
            ),
            sep="\n",
        )


def run_variant(given: argparse.Namespace) -> None:
    """Ask the questions that have no row yet, then print the tables of the run."""
    run = Run(given.work / "runs" / (given.name or ",".join(given.values) or "default"))
    run.begin({"settings": given.values, "code": code_digest()}, anew=given.again)
    for name in given.sets.split(","):
        if not is_present(given.corpora, CORPUS_OF[name]):
            print(f"{name}: skipped, its files are not below {given.corpora}", file=sys.stderr)
            continue
        [one] = question_sets(given.corpora, [CORPUS_OF[name]])
        ask_set(run, name, one, given)
    print(*measured_tables([run], given.sets.split(",")), sep="\n")


def run_peers(given: argparse.Namespace) -> None:
    """Ask the peers what has no row yet; each is a run of its own, `peer-NAME`."""
    sets = [
        name
        for name in given.sets.split(",")
        if name != "sentences" and is_present(given.corpora, name)
    ]
    runs = [Run(given.work / "runs" / f"peer-{peer}") for peer in given.only.split(",")]
    for run in runs:
        run.begin({"settings": [], "code": "peer"}, anew=given.again)
    for one in question_sets(given.corpora, sets):
        built = built_folder(one, given.work, [])
        for run in runs:
            asked = one.sample(given.sample)
            if {question.id for question in asked} - run.rows(one.name).keys():
                ask_peer(run, run.name.removeprefix("peer-"), one.name, asked, built)
    print(*measured_tables([run for run in runs if run.sets], sets), sep="\n")


def ask_set(run: Run, name: str, one: QuestionSet, given: argparse.Namespace) -> None:
    """Write the missing rows of one set."""
    built = built_folder(one, given.work, given.values)
    known = run.rows(name)
    questions = [question for question in one.sample(given.sample) if question.id not in known]
    ask: Ask = ask_for_answer if name == "sentences" else ask_for_hits
    run.note(
        name,
        {
            "papers": one.n_papers,
            "data": str(built.data),
            "index_seconds": built.index_seconds,
            "versions": {package: version(package) for package in PACKAGES},
        },
    )
    with open_engine(built.settings) as engine, run.open_rows(name) as lines:
        if questions:
            engine.search(WARM_UP)
        for nth, question in enumerate(questions, start=1):
            write_row(lines, ask(engine, question))
            if nth % 50 == 0 or nth == len(questions):
                print(f"{run.name}, {name}: {nth} of {len(questions)}", file=sys.stderr, flush=True)


WARM_UP = "What is the first question, which waits for indexes and models?"

if __name__ == "__main__":
    main()
