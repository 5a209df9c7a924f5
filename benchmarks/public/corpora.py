"""Public benchmarks: a local copy of their files becomes papers and a question file. Nothing is
fetched.

benchmarks/README.md has the protocol. How each is published is known by `formats`; how questions
are asked and measured is that of any question file.
"""

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from benchmarks.public.formats import (
    Paper,
    Row,
    covidqa,
    cranfield,
    financebench,
    litqa,
    mmlongbench,
    ohr,
    peerqa,
    qasper,
    scifact,
)
from rag_assets.core.errors import InvalidQuestions, InvalidSettings, MissingInput
from rag_assets.core.incremental import write_atomically
from rag_assets.questions import Question


@dataclass(frozen=True)
class Benchmark:
    """One public benchmark."""

    source: str
    """Where its files are."""
    files: str
    """What the folder must hold."""
    read: Callable[[Path], tuple[Iterable[Paper], Iterable[Row]]]


def prepare(name: str, folder: Path, data: Path, limit: int | None = None) -> Path:
    """Write the papers and the question file of a benchmark below a data folder; its question file.

    limit: so many questions, see `drawn`.

    Raises InvalidSettings for a name that no benchmark has, MissingInput when the files are not
    there, InvalidQuestions when they are not as published.
    """
    benchmark = BENCHMARKS.get(name)
    if benchmark is None:
        raise InvalidSettings(f"There is no benchmark {name}. There are {', '.join(BENCHMARKS)}.")
    file = data / "questions" / f"{name}.jsonl"
    if (data / "papers").exists() and not file.exists():
        raise InvalidSettings(
            f"{data} holds other papers. Name a data folder for the benchmark: --data DIR"
        )
    try:
        papers, rows = benchmark.read(folder)
        questions = drawn([Question.model_validate(row) for row in rows], limit)
        lines = [one.model_dump_json(exclude_defaults=True) for one in questions]
        write_papers(papers, data / "papers")
    except FileNotFoundError as error:
        raise MissingInput(
            f"{error.filename} is not there. {name} needs {benchmark.files}; get them from {benchmark.source}."
        ) from error
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise InvalidQuestions(
            f"{folder} does not hold {name} as it was published ({error!r})."
        ) from error
    write_atomically(file, "".join(f"{line}\n" for line in lines).encode())
    return file


def write_papers(papers: Iterable[Paper], folder: Path) -> None:
    """The papers as files that the pipeline reads."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in papers:
        target = folder / Path(name).name
        if isinstance(content, Path):
            shutil.copyfile(content, target)
        else:
            write_atomically(target, content.encode())


def drawn(questions: Sequence[Question], limit: int | None) -> list[Question]:
    """So many questions, the same ones each time; a larger sample holds the smaller one. None: all
    of them."""
    ordered = sorted(questions, key=lambda one: sha256(one.id.encode()).digest())
    kept = {one.id for one in ordered[:limit]}
    return [one for one in questions if one.id in kept]


BENCHMARKS: Mapping[str, Benchmark] = {
    "scifact": Benchmark(
        "https://github.com/allenai/scifact", "corpus.jsonl, claims_dev.jsonl", scifact
    ),
    "qasper": Benchmark(
        "https://huggingface.co/datasets/allenai/qasper", "qasper-dev-v0.3.json", qasper
    ),
    "peerqa": Benchmark("https://github.com/UKPLab/PeerQA", "papers.jsonl, qa.jsonl", peerqa),
    "litqa2": Benchmark(
        "https://github.com/Future-House/LAB-Bench",
        "one .jsonl with question, ideal, distractors; papers/",
        litqa,
    ),
    "financebench": Benchmark(
        "https://github.com/patronus-ai/financebench",
        "financebench_open_source.jsonl, pdfs/",
        financebench,
    ),
    "mmlongbench": Benchmark(
        "https://github.com/mayubo2333/MMLongBench-Doc",
        "samples.json, documents/*.pdf",
        mmlongbench,
    ),
    "cranfield": Benchmark(
        "https://github.com/oussbenk/cranfield-trec-dataset",
        "docs.jsonl (id, title, text), queries.jsonl (id, text), qrels.tsv, converted from its XML",
        cranfield,
    ),
    "ohr": Benchmark(
        "https://huggingface.co/datasets/opendatalab/OHR-Bench",
        "texts by page (page_idx, text) and qas",
        ohr,
    ),
    "covidqa": Benchmark("https://github.com/deepset-ai/COVID-QA", "COVID-QA.json", covidqa),
}
