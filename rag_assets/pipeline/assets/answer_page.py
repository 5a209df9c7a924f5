"""The answers as Markdown, for the page of the asset in the Dagster UI."""

import csv
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from rag_assets.answering.wording import claim_note, nearest_heading, place_of, told_beside
from rag_assets.core.domain import Citation, Claim, QAResult
from rag_assets.core.text.display import markdown_text
from rag_assets.pipeline.assets.reporting import MAX_MARKDOWN_CHARS, markdown_table

MAX_ANSWERS = 200
"""Each run keeps its page in Dagster's history, and a browser has to draw it."""
N_AUDITED_SHOWN = 20
_AUDIT_COLUMNS = ("question", "outcome", "verdict", "final_sources_used", "question_id", "timestamp")
_ROOM_FOR_NOTE = 500


def answers_page(results: Sequence[QAResult], file: Path) -> str:
    """All answers in full under one heading each; a line says how many are only in `file` when they are too many."""
    parts: list[str] = []
    n_chars = 0
    for result in results[:MAX_ANSWERS]:
        part = _answer(result)
        n_chars += len(part) + 2
        if n_chars > MAX_MARKDOWN_CHARS - _ROOM_FOR_NOTE:
            break
        parts.append(part)
    if n_more := len(results) - len(parts):
        parts.append(f"*{n_more} more answers are in {markdown_text(str(file)[-_ROOM_FOR_NOTE // 4 :])}.*")
    return "\n\n".join(parts) or "*none*"


def audit_table(file: Path) -> str:
    """The last rows of the audit, newest first: the question, and what became of it."""
    text = file.read_text("utf-8-sig") if file.exists() else ""
    rows = deque(csv.DictReader(text.splitlines(keepends=True)), N_AUDITED_SHOWN)
    shown = [{name: row.get(name) for name in _AUDIT_COLUMNS} for row in reversed(rows)]
    return markdown_table(shown, n_shown=N_AUDITED_SHOWN)


def _answer(result: QAResult) -> str:
    mark = " — **refused**" if result.refused else " — **single source**" if result.single_source else ""
    heading = f"### {markdown_text(f'{result.question} ({result.question_id})')}{mark}"
    paragraphs = [markdown_text(result.answer)] if result.refused else [_claim(claim) for claim in result.claims]
    remarked_paragraphs = [f"*{markdown_text(remark)}*" for remark in told_beside(result)]
    return "\n\n".join([heading, *paragraphs, *remarked_paragraphs, *_nearest(result)])


def _nearest(result: QAResult) -> list[str]:
    """Heading and list of the nearest sentences; nothing where there are none."""
    if not result.nearest:
        return []
    places = ["; ".join(dict.fromkeys(place_of(citation) for citation in one.citations)) for one in result.nearest]
    lines = [
        f"- {markdown_text(one.text)} {markdown_text(f'[{place}]')}"
        for one, place in zip(result.nearest, places, strict=True)
    ]
    return [markdown_text(nearest_heading(result)), "\n".join(lines)]


def _claim(claim: Claim) -> str:
    """The claim with its places and what is to be known of it; then its quotes, where they are not the claim itself."""
    note = claim_note(claim)
    places = "; ".join(dict.fromkeys(place_of(citation) for citation in claim.citations))
    lines = [f"{markdown_text(claim.text)} {markdown_text(f'[{places}]')}"]
    lines += [f"*{markdown_text(note)}*"] if note else []
    lines += [_quote(citation) for citation in claim.citations if citation.quote != claim.text]
    return "\n\n".join(lines)


def _quote(citation: Citation) -> str:
    return f"> “{markdown_text(citation.quote)}” {markdown_text(f'[{place_of(citation)}]')}"
