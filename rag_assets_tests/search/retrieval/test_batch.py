"""Many questions from a file into a file."""

import json
from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.domain import Evidence
from rag_assets.core.errors import InvalidQuestions, MissingInput
from rag_assets.core.settings import RetrievalSettings
from rag_assets.questions import Question
from rag_assets.search.retrieval.batch import retrieve_batch
from rag_assets_tests.search.retrieval.corpus import Corpus, chunk_of

CORPUS = Corpus(
    [
        chunk_of("iron", "Ferritin fell in all groups. Iron stores recovered later."),
        chunk_of("bridge", "Steel bridges carry loads. Welded joints tire.", paper_id="jones2021"),
    ]
)


def run(tmp_path: Path, lines: list[str]) -> list[dict[str, Any]]:
    CORPUS.index(tmp_path)
    questions, results = tmp_path / "questions.jsonl", tmp_path / "out" / "results.jsonl"
    questions.write_text("\n".join(lines), "utf-8")
    with CORPUS.searcher(tmp_path, RetrievalSettings()) as searcher:
        n_written = retrieve_batch(
            questions, results, lambda question: searcher.evidence(question, 1, 5)
        )
    rows = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
    assert n_written == len(rows)
    return rows


def test_each_question_gets_hits_and_a_packed_context(tmp_path: Path) -> None:
    """Other programs read these keys; a chunk's text must be whole and its best passage beside
    it."""
    (row,) = run(
        tmp_path, ['{"id": "q1", "question": "Did ferritin fall in all groups?", "note": 1}']
    )

    assert list(row) == ["id", "hits", "context", "queries"]
    assert row["id"] == "q1"
    (hit,) = row["hits"]
    assert hit.pop("score") > 0
    assert 0 < hit.pop("similarity") < 1
    assert hit == {
        "rank": 1,
        "relevance": None,
        "band": None,
        "paper_id": "smith2020",
        "chunk_id": "iron",
        "page_start": 2,
        "page_end": 3,
        "page_label": None,
        "text": "Ferritin fell in all groups. Iron stores recovered later.",
        "passage": "Ferritin fell in all groups.",
        "section": "Results",
        "passage_page_start": 2,
        "passage_page_end": 2,
        "passage_page_label": None,
        "is_by_ocr": False,
        "boxes": [],
        "found_by": [0],
    }
    assert row["queries"] == [{"text": "Did ferritin fall in all groups?", "origin": "question"}]
    assert row["context"] == [
        {
            "paper_id": "smith2020",
            "chunk_id": "iron",
            "page_start": 2,
            "page_end": 2,
            "n_tokens": 5,
            "text": "Ferritin fell in all groups.",
            "is_generated": False,
        }
    ]


def test_papers_can_be_named_and_blank_questions_answer_nothing(tmp_path: Path) -> None:
    """One odd line must not cost the other thousand their results."""
    rows = run(
        tmp_path,
        [
            '{"id": 1, "question": "ferritin", "paper_ids": ["jones2021"]}',
            "",
            '{"id": "blank", "question": " "}',
            '{"id": "nowhere", "question": "ferritin", "paper_ids": []}',
            '{"id": "pages", "question": "ferritin", "where": "paper:smith2020 page:3"}',
        ],
    )

    assert [row["id"] for row in rows] == ["1", "blank", "nowhere", "pages"]
    assert {hit["paper_id"] for hit in rows[0]["hits"]} == {"jones2021"}
    assert rows[1] == {"id": "blank", "hits": [], "context": [], "queries": []}
    assert rows[2]["hits"] == rows[2]["context"] == []
    assert [hit["passage"] for hit in rows[3]["hits"]] == ["Iron stores recovered later."]


def test_a_line_that_cannot_be_used_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    """A result file that lacks a question silently is worse than none."""
    with pytest.raises(InvalidQuestions, match="line 2: question: Field required"):
        run(tmp_path, ['{"id": "q1", "question": "ferritin"}', '{"id": "q2"}'])

    assert not (tmp_path / "out" / "results.jsonl").exists()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A wrong path must not read as an empty list of questions."""

    def never(_question: Question) -> Evidence:
        raise AssertionError("there is nothing to search for")

    with pytest.raises(MissingInput, match=r"nowhere\.jsonl does not exist"):
        retrieve_batch(tmp_path / "nowhere.jsonl", tmp_path / "out.jsonl", never)
