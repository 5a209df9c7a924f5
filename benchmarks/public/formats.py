"""The files of public benchmarks as they are published, read as papers and rows of a question file.

An adapter gives the papers, as text or as files to copy, and the questions. Where they go is
decided in `corpora`.
"""

import json
from ast import literal_eval
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from rag_assets.core.text.folding import Folded

Row = dict[str, Any]
Paper = tuple[str, str | Path]
"""File name, and its text, or the file it is a copy of."""
MAX_FACT_CHARS = 100
"""Longer answers are a reference for a judge, and no key fact that must be said in these words."""
_LATEX = set("&\\")
"""Characters that mark a cell or a command: such evidence is not looked for word by word."""


def covidqa(folder: Path) -> tuple[list[Paper], Iterator[Row]]:
    """Articles and experts' spans; the published SQuAD file, or one file per article beside
    `questions.jsonl`."""
    if (folder / "questions.jsonl").exists():
        texts = {
            path.stem: json.loads(path.read_bytes())["text"]
            for path in (folder / "papers").glob("*.json")
        }
        asked = [(str(row["article_id"]), row["id"], row["question"], row["answer_text"])
                 for row in _lines(folder / "questions.jsonl")]  # fmt: skip
    else:
        found = [
            one for item in _json(folder / "COVID-QA.json")["data"] for one in item["paragraphs"]
        ]
        texts = {str(one["document_id"]): one["context"] for one in found}
        asked = [(str(one["document_id"]), str(qa["id"]), qa["question"], qa["answers"][0]["text"])
                 for one in found for qa in one["qas"]]  # fmt: skip
    papers: list[Paper] = [(f"{paper}.txt", texts[paper]) for paper in sorted(texts)]
    return papers, (
        _row(key, text, [_expected(paper, passages=[answer])], answer)
        for paper, key, text, answer in asked
    )


def ohr(folder: Path) -> tuple[list[Paper], Iterator[Row]]:
    """Pages of textbooks, manuals and reports as text; the evidence counts as a passage where it
    stands literally on its page."""
    pages: dict[str, list[str]] = {}
    asked: list[Row] = (
        _lines(folder / "questions.jsonl") if (folder / "questions.jsonl").exists() else []
    )
    for path in sorted(folder.rglob("*.json")):
        rows = _json(path)
        if rows and "page_idx" in rows[0]:
            pages[path.stem] = [
                page["text"] for page in sorted(rows, key=lambda page: page["page_idx"])
            ]
        elif rows and "questions" in rows[0]:
            asked += rows
    if not asked or not pages:
        raise FileNotFoundError(2, "", str(folder / "qas"))

    def questions() -> Iterator[Row]:
        for row in asked:
            paper = Path(row.get("doc") or row["doc_name"]).name.removesuffix(".json")
            if paper not in pages:
                continue
            given = row["page_0based"] if "page_0based" in row else row["evidence_page_no"]
            numbers = given if isinstance(given, list) else [given]
            evidence = row.get("evidence_text") or row["evidence_context"]
            text = Folded.of("\n".join(pages[paper][number] for number in numbers)).text
            is_literal = (
                isinstance(evidence, str)
                and not set(evidence) & _LATEX
                and Folded.of(evidence).text in text
            )
            expected = _expected(
                paper, [number + 1 for number in numbers], [evidence] if is_literal else []
            )
            key, text = row.get("id") or row["ID"], row.get("question") or row["questions"]
            answer = str(row["answer"] if "answer" in row else row["answers"])
            yield _row(key, text, [expected], answer, tag=row.get("evidence_source"))

    return [
        (f"{name}.txt", "".join(f"{text}\f" for text in texts)) for name, texts in pages.items()
    ], questions()


def financebench(folder: Path) -> tuple[list[Paper], Iterator[Row]]:
    """Reports of companies as PDF; page numbers of the evidence are 0-based."""
    files = sorted(folder.rglob("*.pdf"))
    shared = folder / "questions.jsonl"
    rows = _lines(shared if shared.exists() else _one(folder, "financebench_open_source.jsonl"))
    return [(path.name, path) for path in files], _financebench(rows, {path.stem for path in files})


def _financebench(rows: Sequence[Row], papers: set[str]) -> Iterator[Row]:
    for row in rows:
        pages: dict[str, set[int]] = defaultdict(set)
        for one in row["evidence"]:
            doc = (
                one.get("doc")
                or one.get("evidence_doc_name")
                or one.get("doc_name")
                or row["doc_name"]
            )
            number = one["page_0based"] if "page_0based" in one else one["evidence_page_num"]
            pages[Path(doc).name.removesuffix(".pdf")].add(int(number) + 1)
        if set(pages) <= papers:
            expected = [_expected(paper, sorted(numbers)) for paper, numbers in pages.items()]
            key = row.get("financebench_id") or row["id"]
            yield {
                "id": key,
                "question": row["question"],
                "expected": expected,
                "reference": str(row["answer"]),
            }


def mmlongbench(folder: Path) -> tuple[list[Paper], Iterator[Row]]:
    """Long documents as PDF; pages are 1-based. Questions ask the one document that they name."""
    files = {path.name: path for path in sorted(folder.rglob("*.pdf"))}
    rows = _json(_one(folder, "samples.json"))

    def questions() -> Iterator[Row]:
        for number, row in enumerate(rows):
            paper, pages = (
                Path(row["doc_id"]).name.removesuffix(".pdf"),
                literal_eval(str(row["evidence_pages"])),
            )
            if f"{paper}.pdf" not in files:
                continue
            asked = {
                "paper_ids": [paper],
                "tags": [str(row["doc_type"])] if row.get("doc_type") else [],
            }
            if row["answer"] == "Not answerable":
                yield {
                    "id": str(number),
                    "question": _printable(row["question"]),
                    "answerable": False,
                    **asked,
                }
            else:
                yield (
                    _row(
                        str(number), row["question"], [_expected(paper, pages)], str(row["answer"])
                    )
                    | asked
                )

    return [*files.items()], questions()


def qasper(folder: Path) -> tuple[list[Paper], Iterator[Row]]:
    """Papers in sections, each question to its own paper. Where annotators disagree, the first
    answer counts; a question is unanswerable when all say so."""
    papers = {_name(key): paper for key, paper in _json(_one(folder, "qasper-*-v0.3.json")).items()}

    def questions() -> Iterator[Row]:
        for name, paper in papers.items():
            for qa in paper["qas"]:
                answers = [one["answer"] for one in qa["answers"]]
                told = next((one for one in answers if not one["unanswerable"]), None)
                asked = {
                    "id": qa["question_id"],
                    "question": _printable(qa["question"]),
                    "paper_ids": [name],
                }
                if told is None:
                    yield {**asked, "answerable": False}
                    continue
                spans = told["extractive_spans"] or []
                yes_no = {True: "Yes", False: "No"}.get(told["yes_no"], "")
                passages = [
                    text
                    for text in told["evidence"] or []
                    if text and not text.startswith("FLOAT SELECTED")
                ]
                facts = [[span] for span in spans if span.strip() and len(span) <= MAX_FACT_CHARS]
                reference = told["free_form_answer"] or "; ".join(spans) or yes_no
                yield {
                    **asked,
                    "expected": [_expected(name, passages=passages)],
                    "key_facts": facts,
                } | ({"reference": reference} if reference.strip() else {})

    return [(f"{name}.md", _sections(paper)) for name, paper in papers.items()], questions()


def _sections(paper: Row) -> str:
    parts = [f"# {paper['title']}", "## Abstract", paper["abstract"]]
    for section in paper["full_text"]:
        parts += [
            f"## {section['section_name'] or 'Untitled'}",
            *filter(None, section["paragraphs"]),
        ]
    return "\n\n".join(parts) + "\n"


def peerqa(folder: Path) -> tuple[list[Paper], Iterator[Row]]:
    """Papers as elements in order, questions of reviewers, answers of authors; each question to its
    own paper."""
    texts: dict[str, dict[int, Row]] = defaultdict(dict)
    for row in _lines(folder / "papers.jsonl"):
        texts[_name(row["paper_id"])][row["idx"]] = row
    rows = _lines(folder / "qa.jsonl")

    def questions() -> Iterator[Row]:
        for row in rows:
            name = _name(row["paper_id"])
            asked = {
                "id": row["question_id"],
                "question": _printable(row["question"]),
                "paper_ids": [name],
            }
            can = row.get("answerable_mapped", row.get("answerable"))
            if can is False:
                yield {**asked, "answerable": False}
            elif name in texts:
                numbers = [
                    number
                    for one in row.get("answer_evidence_mapped") or []
                    for number in one["idx"]
                ]
                passages = [
                    texts[name][number]["content"] for number in numbers if number in texts[name]
                ]
                told = {"reference": row["answer_free_form"]} if row.get("answer_free_form") else {}
                yield {**asked, "expected": [_expected(name, passages=passages)], **told}

    return [(f"{name}.md", _elements(found)) for name, found in texts.items()], questions()


def _elements(found: Mapping[int, Row]) -> str:
    """Paragraphs, with a heading wherever another one begins."""
    parts: list[str] = []
    heading = paragraph = None
    for _, row in sorted(found.items()):
        if row.get("type") == "title":
            parts.append(f"# {row['content']}")
            continue
        if row.get("last_heading") and row["last_heading"] != heading:
            heading = row["last_heading"]
            parts.append(f"## {heading}")
        if row.get("type") == "heading":
            continue
        if parts and paragraph == row.get("pidx") is not None and not parts[-1].startswith("#"):
            parts[-1] += f" {row['content']}"
        else:
            parts.append(str(row["content"]))
        paragraph = row.get("pidx")
    return "\n\n".join(parts) + "\n"


def scifact(folder: Path) -> tuple[list[Paper], Iterator[Row]]:
    """Abstracts and claims; a claim is asked as it stands, its rationale sentences are expected
    passages. Claims without evidence are not answerable."""
    abstracts = {str(row["doc_id"]): row for row in _lines(folder / "corpus.jsonl")}
    rows = _lines(folder / "claims_dev.jsonl")

    def questions() -> Iterator[Row]:
        for row in rows:
            asked = {"id": str(row["id"]), "question": _printable(row["claim"])}
            if not row["evidence"]:
                yield {**asked, "answerable": False}
                continue
            expected = [
                _expected(
                    paper,
                    passages=[
                        abstracts[paper]["abstract"][n] for one in found for n in one["sentences"]
                    ],
                )
                for paper, found in row["evidence"].items()
            ]
            yield {
                **asked,
                "expected": expected,
                "tags": [next(iter(row["evidence"].values()))[0]["label"]],
            }

    papers: list[Paper] = [
        (f"{key}.md", f"# {row['title']}\n\n{' '.join(part.strip() for part in row['abstract'])}\n")
        for key, row in abstracts.items()
    ]
    return papers, questions()


def cranfield(folder: Path) -> tuple[list[Paper], Iterator[Row]]:
    """Abstracts and queries with judgements: every grade but 0 is relevant. Documents without text
    are left out."""
    rows = [row for row in _lines(folder / "docs.jsonl") if row["text"].strip()]
    relevant: dict[str, list[Row]] = defaultdict(list)
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if int(grade):
            relevant[query].append(_expected(document))
    papers: list[Paper] = [
        (f"{row['id']}.md", f"# {row['title'].strip()}\n\n{row['text']}\n") for row in rows
    ]
    return papers, (
        {"id": row["id"], "question": _printable(row["text"]), "expected": relevant[row["id"]]}
        for row in _lines(folder / "queries.jsonl")
        if row["id"] in relevant
    )


def litqa(folder: Path) -> tuple[list[Paper], Iterator[Row]]:
    """Multiple choice over your own copies of the papers, in `papers/`: the ideal answer must be
    said, and no distractor."""
    files = [path for path in sorted((folder / "papers").rglob("*")) if path.is_file()]
    path = next(iter(sorted(folder.glob("*.jsonl"))), folder / "litqa-v2-public.jsonl")

    def questions(rows: Sequence[Row]) -> Iterator[Row]:
        for row in rows:
            choices = sorted(
                [row["ideal"], *row["distractors"]], key=lambda one: sha256(one.encode()).digest()
            )
            yield {
                "id": row["id"],
                "question": _printable(f"{row['question']} Options: {'; '.join(choices)}."),
                "key_facts": [[row["ideal"]]],
                "forbidden_facts": [[one] for one in row["distractors"]],
                "reference": row["ideal"],
            }

    return [(one.name, one) for one in files], questions(_lines(path))


def _row(key: str, text: str, expected: list[Row], answer: str, tag: str | None = None) -> Row:
    """A question with a short answer, which must be said in these words."""
    facts = [[answer]] if 0 < len(answer.strip()) <= MAX_FACT_CHARS else []
    told = {"reference": answer} if answer.strip() else {}
    return {"id": str(key), "question": _printable(text), "expected": expected, "key_facts": facts, **told,
            "tags": [tag] if tag else []}  # fmt: skip


def _expected(paper: str, pages: Iterable[int] = (), passages: Iterable[str] = ()) -> Row:
    return {
        "paper_id": paper,
        "pages": list(pages),
        "passages": [text for text in passages if text.strip()],
    }


def _printable(text: str) -> str:
    """The text without control characters, which the engine refuses in a question."""
    return "".join(character if character.isprintable() else " " for character in text)


def _name(key: str) -> str:
    """A key as a file name."""
    return key.replace("/", "_")


def _one(folder: Path, name: str) -> Path:
    """The first file of that name, which may be a pattern, anywhere below the folder."""
    return next(iter(sorted(folder.rglob(name))), folder / name)


def _json(path: Path) -> Any:
    return json.loads(path.read_bytes())


def _lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]
