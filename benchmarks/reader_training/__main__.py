"""Trains the sentence reader, which tells the sentence of a paper that answers a question, on your
own papers.

    python -m benchmarks.reader_training lines DATA OUT
    python -m benchmarks.reader_training train OUT/lines.jsonl QUESTIONS... --minutes 60 --out FILE
    [--held-out FILE...]

`lines` numbers the sentences and rows of every paper of the data folder DATA, which has its chunks
(rag-assets run --select +chunks): OUT/lines.jsonl, and OUT/papers/PAPER.txt to read while questions
are written.

A question file holds, for each paper, a line `# PAPER` and below it one question per line: the
numbers of the lines that answer it, the best one first, a tab, and the question. `-` stands for a
question that no line answers:

    # iron
    12<TAB>How many runners took part?
    40,7<TAB>did their ferritin fall
    -<TAB>Who paid for the study?

Files that end with `.jsonl` are written questions (`written`), which name lines by their words.

`train` needs torch (pip install torch==2.13.0), which the project itself does not. It prints loss
and share right, what the reader makes of held-out questions before and after, and the SHA-256 of
the file that it writes.
"""

import argparse
import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from benchmarks.reader_training.lines import BadFile, Line, lines_of, read_lines, write_lines
from benchmarks.reader_training.measures import candidates_of, measured
from benchmarks.reader_training.nearness import NearLines
from benchmarks.reader_training.questions import Question, read_questions
from benchmarks.reader_training.weights_file import write_weights
from benchmarks.reader_training.written import read_written
from rag_assets.core.errors import RagAssetsError
from rag_assets.core.settings import EmbeddingSettings, Settings
from rag_assets.core.table_files import required_table
from rag_assets.core.tables import chunks_from
from rag_assets.search.embedding.base import Embedder
from rag_assets.search.embedding.providers import open_embedder

NO_TORCH = "train needs torch, which is not installed: pip install torch==2.13.0"
_MODELS_FOLDER = "models"
"""Beside the lines; the packaged embedding model is built in it."""
Number = TypeVar("Number", int, float)


def main() -> None:
    given = _arguments()
    try:
        if given.command == "lines":
            make_lines(given)
        else:
            train_reader(given)
    except (BadFile, RagAssetsError) as error:
        sys.exit(str(error))


def make_lines(given: argparse.Namespace) -> None:
    chunks = chunks_from(required_table(Settings(data_dir=given.data).paths.chunks))
    lines = list(lines_of(chunks))
    n_papers = write_lines(lines, given.out)
    print(f"{len(lines)} lines of {n_papers} papers in {given.out}")


def train_reader(given: argparse.Namespace) -> None:
    if importlib.util.find_spec("torch") is None:
        sys.exit(NO_TORCH)
    import torch

    from benchmarks.reader_training.model import ReaderInTraining
    from benchmarks.reader_training.training import (
        TrainingSettings,
        for_minutes,
        for_steps,
        scorer,
        train,
    )

    if not given.out.parent.is_dir():
        raise BadFile(
            f"{given.out.parent} is no folder, so {given.out.name} could not be written there."
        )
    if given.threads:
        torch.set_num_threads(given.threads)
    lines = read_lines(given.lines)
    questions, held_out = (
        questions_of(given.questions, lines),
        questions_of(given.held_out, lines),
    )
    warn_of_shared_papers(questions, held_out)
    embedder = open_embedder(
        EmbeddingSettings(),
        given.lines.parent / _MODELS_FOLDER,
        n_threads=given.threads or torch.get_num_threads(),
    )
    print(
        f"{len(questions)} questions, {sum(not one.answers for one in questions)} of them unanswerable",
        flush=True,
    )
    near = near_lines(lines, questions, embedder)
    compared = [near.compared(one) for one in questions]
    candidates = candidates_of(held_out, near_lines(lines, held_out, embedder)) if held_out else []
    if candidates:
        print(
            f"held out, before: {measured(candidates, scorer(ReaderInTraining(given.rank)))}",
            flush=True,
        )
    settings = TrainingSettings(learning_rate=given.learning_rate, rank=given.rank, seed=given.seed)
    progress = for_steps(given.steps) if given.steps else for_minutes(given.minutes)
    reader = train(compared, settings, progress, lambda report: print(report, flush=True))
    print(f"{given.out} SHA-256 {write_weights(reader.tensors(), given.out)}", flush=True)
    if candidates:
        print(f"held out, after: {measured(candidates, scorer(reader))}")


def near_lines(
    lines: Sequence[Line], questions: Sequence[Question], embedder: Embedder
) -> NearLines:
    """The lines of the papers that are asked about."""
    papers = {question.paper for question in questions}
    return NearLines([line for line in lines if line.paper in papers], embedder)


def questions_of(files: Sequence[Path], lines: Sequence[Line]) -> list[Question]:
    """Questions of files that name lines by numbers, or of written ones (`.jsonl`)."""
    questions: list[Question] = []
    for file in files:
        if file.suffix != ".jsonl":
            questions += read_questions([file], lines)
            continue
        written = read_written(file, lines)
        questions += written.questions
        print(
            f"{file.name}: {len(written.questions)} questions; {written.n_lost} left out because a line is cut "
            f"otherwise, {written.n_elsewhere} about papers that are not among the lines"
        )
    return questions


def warn_of_shared_papers(questions: Sequence[Question], held_out: Sequence[Question]) -> None:
    shared = {one.paper for one in questions} & {one.paper for one in held_out}
    if shared:
        print(
            f"Held-out questions are of {len(shared)} papers that are trained on; they will look too good."
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reader_training",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    lines = commands.add_parser(
        "lines",
        help="number the sentences and rows of the papers of a data folder",
        epilog="Example: python -m benchmarks.reader_training lines data lines",
    )
    lines.add_argument("data", type=Path, help="data folder with chunks")
    lines.add_argument("out", type=Path, help="folder for lines.jsonl and the papers as text files")
    train = commands.add_parser(
        "train",
        help="train on question files and write the weights",
        epilog="Example: python -m benchmarks.reader_training train lines/lines.jsonl mine.tsv --minutes 60 "
        "--out reader.safetensors --held-out others.tsv",
    )
    train.add_argument("lines", type=Path, help="lines.jsonl, as the command `lines` wrote it")
    train.add_argument(
        "questions", type=Path, nargs="+", help="question files that name these lines"
    )
    train.add_argument(
        "--out", type=Path, required=True, help="file of weights to write (.safetensors)"
    )
    train.add_argument(
        "--held-out", type=Path, nargs="+", default=[], help="question files to measure on"
    )
    length = train.add_mutually_exclusive_group(required=True)
    length.add_argument("--minutes", type=_positive(float), help="how long to train")
    length.add_argument(
        "--steps", type=_positive(int), help="how many steps to train, of 10 questions each"
    )
    train.add_argument(
        "--learning-rate", type=_positive(float), default=5e-4, help="the highest; default 5e-4"
    )
    train.add_argument(
        "--rank",
        type=_positive(int),
        default=16,
        help="of what is added to each matrix; default 16",
    )
    train.add_argument("--seed", type=int, default=0, help="default 0")
    train.add_argument("--threads", type=_positive(int), help="default: as many as torch chooses")
    return parser.parse_args()


def _positive(kind: type[Number]) -> Callable[[str], Number]:
    def parsed(text: str) -> Number:
        value = kind(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"{text} is not above 0")
        return value

    return parsed


if __name__ == "__main__":
    main()
