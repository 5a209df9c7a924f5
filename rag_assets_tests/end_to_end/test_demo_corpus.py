"""The committed demo corpus through the whole pipeline, judged from its source files.

What a source says on which page is computed here anew, with lxml and form feeds alone, so that an
error of the parsers, the chunks or the citations cannot hide itself.
"""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from rag_assets.answering.drafts import REFUSAL
from rag_assets.core.settings import load_settings
from rag_assets.engine import open_engine
from rag_assets.questions import load_questions
from rag_assets_testing.world import World, made_once
from rag_assets_tests.side_by_side import MODELS_PAGE, answered_by_model, side_by_side, with_table

DEMO = Path(__file__).parents[2] / "data"
OTHER_LANGUAGES = Path(__file__).parents[2] / "benchmarks" / "demo_languages.jsonl"
TEI = "{http://www.tei-c.org/ns/1.0}"
PAPERS = {
    "bm25_review": "coords",
    "hnsw_graphs": "coords",
    "chunking_passages": "coords",
    "rank_fusion": "pb",
    "reranking": "pb",
    "tei_page_coordinates": "pb",
    "retrieval_metrics": "pb",
    "citation_verification": "parser",
    "dense_encoders": "none",
    "learned_sparse_withdrawn": "none",
    "zero_shot_retrieval": "none",
}
UNANSWERABLE = {"q14", "q15", "q16"}
LEAST_QUESTIONS_RIGHT = 13


@dataclass(frozen=True)
class Demo:
    """The finished demo corpus."""

    world: World
    answers: Mapping[str, Mapping[str, Any]]
    papers: Mapping[str, Mapping[str, Any]]

    @property
    def citations(self) -> list[Mapping[str, Any]]:
        claims = (claim for answer in self.answers.values() for claim in answer["claims"])
        return [citation for claim in claims for citation in claim["citations"]]

    def source(self, paper_id: str) -> Path:
        """The file a paper was read from."""
        return self.world.paths.papers / str(self.papers[paper_id]["file_path"])


@pytest.fixture(scope="session")
def demo(for_all_processes: Path, built_model: Path) -> Demo:
    """Everything materialized once, with the floors the project ships. Not to be changed."""

    def make(world: World) -> None:
        for name in ("papers", "questions"):
            shutil.copytree(DEMO / name, world.paths.data / name, dirs_exist_ok=True)
        world.use_models(built_model)
        outcome = world.run(chunking={}, evaluation={})
        assert outcome.is_success, outcome.failures or outcome.broken

    world = made_once(for_all_processes / "demo", make)
    papers = {row["paper_id"]: row for row in world.table(world.paths.parsed_index).to_pylist()}
    return Demo(world, world.answers(), papers)


def test_every_paper_is_read_and_its_pages_are_proven_as_its_file_allows(demo: Demo) -> None:
    """The demo shows each shape of file once; a shape that is not read is not shown."""
    assert {paper_id: row["page_source"] for paper_id, row in demo.papers.items()} == PAPERS
    assert {row["status"] for row in demo.papers.values()} == {"parsed"}


def test_long_sections_are_cut_with_overlap_and_a_page_at_both_ends(demo: Demo) -> None:
    """No chunk of the demo had the size that chunks are promised to have."""
    rows = demo.world.table(demo.world.paths.chunks).to_pylist()
    long = [row for row in rows if row["paper_id"] == "reranking" and row["split_sequence"]]

    assert [row["split_sequence"] for row in long] == ["1/2", "2/2"] * 2
    assert all(800 <= row["n_tokens"] <= 1200 for row in long)
    assert all(row["page_start"] and row["page_end"] for row in long)
    for first, second in (long[:2], long[2:]):
        assert second["char_start"] < first["char_end"], "no overlap"


def test_papers_that_find_the_opposite_are_both_quoted(demo: Demo) -> None:
    """One side alone reads as what the papers say."""
    assert {"zero_shot_retrieval", "bm25_review"} <= set(demo.answers["q17"]["sources_used"])


def test_most_answers_hold_the_facts_they_must(demo: Demo) -> None:
    """These are the first answers anyone sees of this project."""
    questions = [
        question
        for question in load_questions(demo.world.paths.questions / "smoke.jsonl")
        if question.answerable
    ]

    wrong = [
        question.id
        for question in questions
        if not all(
            any(plain(spelling) in plain(demo.answers[question.id]["answer"]) for spelling in fact)
            for fact in question.key_facts
        )
    ]

    assert len(questions) == 14
    assert len(questions) - len(wrong) >= LEAST_QUESTIONS_RIGHT, wrong


def test_what_the_corpus_does_not_say_is_refused_and_nothing_else(demo: Demo) -> None:
    """An invented dose of metformin is worse than no answer."""
    assert {id_ for id_, answer in demo.answers.items() if answer["refused"]} == UNANSWERABLE


def test_questions_in_ten_languages_find_the_paper_and_are_never_told_that_it_says_nothing(
    demo: Demo,
) -> None:
    """Readers ask English papers in their own language."""
    asked = [json.loads(line) for line in OTHER_LANGUAGES.read_text("utf-8").splitlines()]

    n_found = 0
    settings = {"data_dir": str(demo.world.paths.data), "chunking": {"tokenizer": "wordpiece"}}
    with open_engine(load_settings(settings)) as engine:
        for row in asked:
            n_found += engine.search(row["question"], 1)[0].chunk.paper_id == row["paper"]
            assert engine.trace(row["question"]).result.answer != REFUSAL, row

    assert (len(asked), len({row["language"] for row in asked})) == (20, 10)
    assert n_found >= 17


def test_every_quote_stands_in_its_source_file(demo: Demo) -> None:
    """The promise of the whole project, checked without any of its code."""
    strays = [
        c
        for c in demo.citations
        if not all(piece in plain(text_of(demo.source(c["paper_id"]))) for piece in pieces(c))
    ]

    assert len(demo.citations) >= 20
    assert strays == []


@pytest.mark.parametrize("page_source", ["pb", "parser"])
def test_every_quote_stands_on_its_page_in_files_with_page_breaks(
    demo: Demo, page_source: str
) -> None:
    """Off by one is the usual error, and no reader trusts the second citation after a wrong first
    one."""
    cited = [c for c in demo.citations if PAPERS[c["paper_id"]] == page_source]

    wrong = [
        c
        for c in cited
        for piece in pieces(c)
        if (c["page_start"], c["page_end"]) not in broken_pages(demo.source(c["paper_id"]), piece)
    ]

    assert cited
    assert wrong == []


def test_every_quote_stands_on_a_page_of_its_paragraph_in_files_with_coordinates(
    demo: Demo,
) -> None:
    """A paragraph's coordinates name the pages it covers, and its quote can stand on no other."""
    cited = [c for c in demo.citations if PAPERS[c["paper_id"]] == "coords"]

    wrong = [
        c
        for c in cited
        if not {c["page_start"], c["page_end"]}
        <= coordinate_pages(demo.source(c["paper_id"]), c["quote"])
    ]

    assert cited
    assert wrong == []


def test_no_page_is_claimed_where_nothing_proves_one(demo: Demo) -> None:
    """An invented page is found out by the first reader who turns to it."""
    cited = [c for c in demo.citations if PAPERS[c["paper_id"]] == "none"]

    assert cited
    assert {(c["page_start"], c["page_end"], len(c["boxes"])) for c in cited} == {(None, None, 0)}


def test_the_floors_of_the_smoke_evaluation_hold(demo: Demo) -> None:
    """The nightly run starts green."""
    latest = json.loads((demo.world.paths.evaluation / "latest.json").read_text())

    assert latest["n_judged"] == 17
    for name in (
        "refusal_precision",
        "refusal_recall",
        "citation_coverage",
        "quote_fidelity",
        "faithfulness",
    ):
        assert latest["metrics"][name] == 1.0, name
    assert latest["accepted"]
    assert [row["mode"] for row in latest["modes"]] == ["vectors", "words", "both", "reranked"]


def pieces(citation: Mapping[str, Any]) -> list[str]:
    """The stretches of a quote that stand in one piece in its file, without white space: a quoted
    row of a table has the name of its column before each cell, which stands in another line
    there."""
    quote = citation["quote"]
    if " | " not in quote:
        return [plain(quote)]
    return [plain(part) for cell in quote.split(" | ") for part in cell.split(": ", 1)]


def plain(text: str) -> str:
    """White space left out: between the sentence elements of a TEI file there is none."""
    return re.sub(r"\s+", "", text)


def text_of(file: Path) -> str:
    """All text of a source file, markup and word division at line ends taken out."""
    return "".join(pages_of(file)) if file.suffix == ".xml" else rejoined(" ".join(pages_of(file)))


def pages_of(file: Path) -> list[str]:
    """Text of each page: up to each `pb` of a TEI file (what precedes the first is page 1, too), or
    each form feed."""
    if file.suffix in (".txt", ".md"):
        return file.read_text("utf-8").split("\f")
    pages = [""]
    root = etree.parse(file, etree.XMLParser(resolve_entities=False)).getroot()
    n_breaks = 0
    for event, element in etree.iterwalk(root, events=("start", "end", "comment")):
        if event == "comment":
            pages[-1] += element.tail or ""
        elif event == "start":
            if element.tag == f"{TEI}pb":
                n_breaks += 1
                pages += [""] if n_breaks > 1 else []
            pages[-1] += element.text or ""
        else:
            pages[-1] += element.tail or ""
    return pages


def broken_pages(file: Path, wanted: str) -> list[tuple[int, int]]:
    """First and last page of each place of a text without white space in a file with page
    breaks."""
    pages = [rejoined(page) if file.suffix == ".txt" else page for page in pages_of(file)]
    on_one = [
        (number, number) for number, page in enumerate(pages, start=1) if wanted in plain(page)
    ]
    over_two = [
        (number, number + 1)
        for number, (page, following) in enumerate(pairwise(pages), start=1)
        if wanted in plain(page + following)
    ]
    return on_one or over_two


def rejoined(text: str) -> str:
    """Lines of a paragraph in one, words divided at a line end whole again."""
    return re.sub(r"(\w)-\n(?=[a-z])", r"\1", text)


def coordinate_pages(file: Path, quote: str) -> set[int]:
    """Pages of the coordinates of the smallest element that holds a quote, and of what is inside
    it."""
    root = etree.parse(file, etree.XMLParser(resolve_entities=False)).getroot()
    holding = [e for e in root.iter(f"{TEI}*") if plain(quote) in plain("".join(e.itertext()))]
    while holding:
        coords = [e.get("coords") for e in holding.pop().iter(f"{TEI}*") if e.get("coords")]
        if coords:
            return {int(box.split(",")[0]) for boxes in coords for box in boxes.split(";")}
    return set()


@pytest.mark.whole
def test_the_page_on_models_shows_what_a_model_adds_as_it_is(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run: python -m rag_assets_tests.side_by_side"""
    page = MODELS_PAGE.read_text("utf-8")
    by_model = answered_by_model(demo.world.copy_to(tmp_path), monkeypatch)

    assert with_table(page, side_by_side(demo.answers, by_model)) == page


@pytest.mark.parametrize(
    "question",
    [
        "Wer sind die Autoren von „{title}“?",
        "¿Quiénes son los autores de {title}?",
        "《{title}》的作者是谁？",
    ],
)
def test_who_wrote_a_paper_is_asked_in_any_language(demo: Demo, question: str) -> None:
    """The words around the title are not English, and name no other work."""
    title = "BM25 and the Words It Sees: A Review of Lexical Search for Scientific Text"
    with open_engine(load_settings({"data_dir": str(demo.world.paths.data)})) as engine:
        result = engine.trace(question.format(title=title)).result

    assert [claim.text for claim in result.claims] == ["Authors: rag_assets contributors"]
