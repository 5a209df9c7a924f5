"""Checks a qa.jsonl from outside: the contract's fields, a citation for every claim, two papers or
a stated reason for each answer, and two papers for at least half of them.

Needs nothing but Python, so that it judges the file as any reader would see it:
    python -m rag_assets_tests.nightly_answers data/output/qa.jsonl
"""

import json
import sys
from pathlib import Path
from typing import Any

FIELDS = {
    "question_id": str,
    "question": str,
    "answer": str,
    "claims": list,
    "refused": bool,
    "single_source": bool,
    "sources_used": list,
    "unanswered": list,
    "model": str,
    "contexts": list,
    "fingerprint": str,
    "usage": dict,
}
CITATION_FIELDS = {
    "paper_id",
    "chunk_id",
    "page_start",
    "page_end",
    "quote",
    "boxes",
    "verification",
}


def problems(row: dict[str, Any]) -> list[str]:
    """Everything that is wrong with one row, in words."""
    found = [
        f"{name} is not a {kind.__name__}"
        for name, kind in FIELDS.items()
        if not isinstance(row.get(name), kind)
    ]
    if found:
        return found
    cited = {citation["paper_id"] for claim in row["claims"] for citation in claim["citations"]}
    for claim in row["claims"]:
        if not claim["citations"]:
            found.append(f"uncited claim: {claim['text']}")
        found += [
            f"citation lacks {sorted(CITATION_FIELDS - citation.keys())}"
            for citation in claim["citations"]
            if not citation.keys() >= CITATION_FIELDS
        ]
    if cited != set(row["sources_used"]):
        found.append(f"sources_used {row['sources_used']} are not the cited papers {sorted(cited)}")
    if not row["refused"] and len(cited) < 2 and not row["single_source"]:
        found.append("fewer than two papers, and it does not say so")
    return found


def main(path: Path) -> int:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    wrong = {row.get("question_id", "?"): found for row in rows if (found := problems(row))}
    n_two = sum(len(row["sources_used"]) >= 2 for row in rows)
    sys.stdout.write(
        f"{len(rows)} answers, {n_two} with two papers or more, {len(wrong)} with problems\n"
    )
    for question_id, found in wrong.items():
        sys.stdout.write(f"  {question_id}: {'; '.join(found)}\n")
    return 1 if wrong or not rows or n_two < len(rows) / 2 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
