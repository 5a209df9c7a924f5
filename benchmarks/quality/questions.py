"""The question sets: their papers, their questions, and what a right result of each question is.

Each set is parted in two halves by its documents, sorted by file name: weights are chosen on the
tuning half (the 1st, 3rd, 5th, ... document), and the checking half says whether they carry over.
Queries that belong to no single document are parted the same way by their own order.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from benchmarks.public.corpora import BENCHMARKS, write_papers
from rag_assets.questions import Question

DEMO = Path(__file__).parents[2] / "data"
Target = Literal["answer", "page", "document"]
"""What a right hit is: a chunk that holds the answer's words, one from a right page, one from a
right paper."""


@dataclass(frozen=True)
class AskedQuestion:
    """A question and what a right result is."""

    id: str
    text: str
    group: str
    """Questions of one group are about the same document: intervals take whole groups."""
    half: str
    """tuning or checking."""
    papers: frozenset[str]
    """Ids of the papers that answer it."""
    pages: frozenset[tuple[str, int]] = frozenset()
    """Paper and physical page, 1-based; empty where pages are not known."""
    answer: str = ""
    """Words that stand in the paper; empty where only pages or papers are judged."""


@dataclass(frozen=True)
class QuestionSet:
    """A corpus and the questions asked of it."""

    name: str
    target: Target
    """What its main figures are about."""
    n_papers: int
    write_papers: Callable[[Path], None]
    """Writes the papers as files that the pipeline reads into a folder."""
    questions: tuple[AskedQuestion, ...]

    def sample(self, n_questions: int | None) -> list[AskedQuestion]:
        """So many questions, the same ones each time; a larger sample holds the smaller one. None:
        all of them."""
        drawn = sorted(self.questions, key=lambda one: sha256(one.id.encode()).digest())
        kept = {one.id for one in drawn[:n_questions]}
        return [one for one in self.questions if one.id in kept]


def halves(names: Iterable[str]) -> dict[str, str]:
    """tuning or checking, by name."""
    return {name: ("tuning", "checking")[nth % 2] for nth, name in enumerate(sorted(set(names)))}


def question_sets(corpora: Path, names: Sequence[str]) -> list[QuestionSet]:
    """The sets of those names whose files are below `corpora`; a name that is absent is told by the
    caller."""
    return [READERS[name](corpora) for name in names if is_present(corpora, name)]


def is_present(corpora: Path, name: str) -> bool:
    return name == "demo" or (corpora / FOLDERS[name]).is_dir()


def public(name: str, target: Target, corpora: Path) -> QuestionSet:
    """A benchmark that the product reads; its first expected passage is the answer."""
    papers, rows = BENCHMARKS[name].read(corpora / FOLDERS[name])
    papers = list(papers)
    asked = [one for one in map(Question.model_validate, rows) if one.expected]
    group = {
        one.id: one.id.zfill(4) if target == "document" else one.expected[0].paper_id
        for one in asked
    }
    half = halves(
        group.values() if target == "document" else [Path(file).stem for file, _ in papers]
    )
    questions = [
        AskedQuestion(
            one.id, one.question, group[one.id], half[group[one.id]],
            frozenset(expected.paper_id for expected in one.expected),
            frozenset((expected.paper_id, page) for expected in one.expected for page in expected.pages),
            answer=next(iter(one.expected[0].passages), ""),
        )
        for one in asked
    ]  # fmt: skip
    return QuestionSet(name, target, len(papers), partial(write_papers, papers), tuple(questions))


def demo(_corpora: Path) -> QuestionSet:
    """The corpus of the project itself; questions that no paper answers are left out."""
    rows = [row for row in json_lines(DEMO / "questions" / "smoke.jsonl") if row.get("expected")]
    papers = [path for path in sorted((DEMO / "papers").rglob("*")) if path.is_file()]
    half = halves(row["id"] for row in rows)

    def write_papers(target: Path) -> None:
        shutil.copytree(DEMO / "papers", target, dirs_exist_ok=True)

    questions = [
        AskedQuestion(
            row["id"], row["question"], row["id"], half[row["id"]],
            frozenset(one["paper_id"] for one in row["expected"]),
            frozenset((one["paper_id"], page) for one in row["expected"] for page in one.get("pages", ())),
        )
        for row in rows
    ]  # fmt: skip
    return QuestionSet("demo", "document", len(papers), write_papers, tuple(questions))


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


FOLDERS = {
    "covidqa": Path("qa/covidqa"),
    "ohr": Path("qa/ohr_bench"),
    "financebench": Path("pdf_pages/financebench"),
    "cranfield": Path("qa/cranfield"),
}
READERS: dict[str, Callable[[Path], QuestionSet]] = {
    "covidqa": partial(public, "covidqa", "answer"),
    "ohr": partial(public, "ohr", "page"),
    "financebench": partial(public, "financebench", "page"),
    "cranfield": partial(public, "cranfield", "document"),
    "demo": demo,
}
