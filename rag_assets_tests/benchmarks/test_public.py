"""Public benchmarks: each format as it is published becomes papers and questions."""

import json
from pathlib import Path
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from benchmarks.public.corpora import BENCHMARKS, prepare
from rag_assets.questions import load_questions

QASPER = {
    "1901.00001": {
        "title": "On k",
        "abstract": "We fuse.",
        "full_text": [{"section_name": "Results", "paragraphs": ["The constant k is 60.", ""]}],
        "qas": [
            {
                "question": "Which k?",
                "question_id": "q1",
                "answers": [
                    {"answer": {"unanswerable": False, "extractive_spans": ["60"], "yes_no": None,
                                "free_form_answer": "", "evidence": ["The constant k is 60.", "FLOAT SELECTED: T1"]}}
                ],
            },
            {
                "question": "Which dose?",
                "question_id": "q2",
                "answers": [{"answer": {"unanswerable": True, "extractive_spans": [], "yes_no": None,
                                        "free_form_answer": "", "evidence": []}}],
            },
        ],
    }
}  # fmt: skip
FILES: dict[str, dict[str, Any]] = {
    "scifact": {
        "corpus.jsonl": [{"doc_id": 7, "title": "On k", "abstract": ["We fuse.", "The constant k is 60."]}],
        "claims_dev.jsonl": [
            {"id": 1, "claim": "k is 60", "evidence": {"7": [{"sentences": [1], "label": "SUPPORT"}]}},
            {"id": 2, "claim": "The dose is 5 mg", "evidence": {}},
        ],
    },
    "qasper": {"qasper-dev-v0.3.json": QASPER},
    "peerqa": {
        "papers.jsonl": [
            {"paper_id": "nlpeer/P1", "idx": 0, "pidx": 0, "type": "title", "content": "On k", "last_heading": None},
            {"paper_id": "nlpeer/P1", "idx": 1, "pidx": 1, "type": "sentence", "content": "We fuse.",
             "last_heading": "Results"},
            {"paper_id": "nlpeer/P1", "idx": 2, "pidx": 1, "type": "sentence", "content": "The constant k is 60.",
             "last_heading": "Results"},
        ],
        "qa.jsonl": [
            {"paper_id": "nlpeer/P1", "question_id": "q1", "question": "Which k?", "answerable_mapped": True,
             "answer_evidence_mapped": [{"sentence": "The constant k is 60.", "idx": [2]}], "answer_free_form": "60"},
            {"paper_id": "nlpeer/P1", "question_id": "q2", "question": "Which dose?", "answerable_mapped": False},
        ],
    },
    "cranfield": {
        "docs.jsonl": [
            {"id": "P1", "title": "On k", "text": "The constant k is 60."},
            {"id": "P2", "title": "Empty", "text": " "},
        ],
        "queries.jsonl": [{"id": "1", "text": "Which k?"}, {"id": "2", "text": "Which dose?"}],
        "qrels.tsv": "query\tdocument\tgrade\n1\tP1\t3\n1\tP2\t0\n2\tP1\t0\n",
    },
    "litqa2": {
        "papers/k.txt": "The constant k is 60.",
        "litqa.jsonl": [{"id": "q1", "question": "Which k?", "ideal": "60", "distractors": ["6", "600"]}],
    },
    "financebench": {
        "pdfs/K_2020_10K.pdf": None,
        "financebench_open_source.jsonl": [
            {"financebench_id": "q1", "question": "Which k?", "answer": "$60.00", "doc_name": "K_2020_10K",
             "evidence": [{"evidence_text": "k 60", "doc_name": "K_2020_10K", "evidence_page_num": 1}]},
        ],
    },
    "mmlongbench": {
        "documents/k.pdf": None,
        "samples.json": [
            {"doc_id": "k.pdf", "doc_type": "Report", "question": "Which k?", "answer": "60", "evidence_pages": "[2]"},
            {"doc_id": "k.pdf", "doc_type": "Report", "question": "Which dose?", "answer": "Not answerable",
             "evidence_pages": "[]"},
        ],
    },
    "ohr": {
        "texts/manual/k.json": [{"page_idx": 0, "text": "We fuse."}, {"page_idx": 1, "text": "The constant k is 60."}],
        "qas/manual.json": [{"doc_name": "manual/k", "ID": "q1", "questions": "Which k?", "answers": "60",
                             "evidence_page_no": 1, "evidence_context": "The constant k is 60.",
                             "evidence_source": "text"}],
    },
    "covidqa": {
        "COVID-QA.json": {"data": [{"paragraphs": [{
            "document_id": 630, "context": "We fuse. The constant k is 60.",
            "qas": [{"id": 1, "question": "Which k?", "answers": [{"text": "k is 60", "answer_start": 22}]}],
        }]}]}
    },
}  # fmt: skip
PAGES = {"financebench": (2,), "mmlongbench": (2,), "ohr": (2,)}


def published(name: str, folder: Path) -> Path:
    """The files of a benchmark, small."""
    for path, content in FILES[name].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            Canvas(str(folder / path)).save()
        elif isinstance(content, str):
            (folder / path).write_text(content)
        elif path.endswith(".jsonl"):
            (folder / path).write_text("".join(json.dumps(row) + "\n" for row in content))
        else:
            (folder / path).write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_is_read_as_it_is_published(name: str, tmp_path: Path) -> None:
    """A wrong page base or a wrong id makes every figure of a benchmark wrong, and no error tells
    of it."""
    file = prepare(name, published(name, tmp_path / "copy"), tmp_path / "data")

    first, *rest = load_questions(file)
    papers = {path.stem: path for path in (tmp_path / "data" / "papers").iterdir()}
    assert first.question.startswith(("Which k?", "k is 60"))
    assert {one.paper_id for one in first.expected} == (set() if name == "litqa2" else set(papers))
    assert tuple(page for one in first.expected for page in one.pages) == PAGES.get(name, ())
    for one in first.expected:
        assert all(passage in papers[one.paper_id].read_text() for passage in one.passages)
    assert [one.answerable for one in rest] == (
        [False] if name in {"scifact", "qasper", "peerqa", "mmlongbench"} else []
    )
    if name == "litqa2":
        assert (first.key_facts, first.forbidden_facts) == ((("60",),), (("6",), ("600",)))
    if name == "ohr":
        assert papers["k"].read_text() == "We fuse.\fThe constant k is 60.\f", (
            "one page alone is page 1, too"
        )
    if name in {"qasper", "peerqa"}:
        assert papers[first.expected[0].paper_id].read_text().startswith("# On k\n\n## ")
