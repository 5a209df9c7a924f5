"""What tools reply: one short text, and below it the facts as JSON, with the ids to go on with.

Text of papers is written by strangers. Markers and chat tokens in it are defused, as they are in
our own prompts, and characters that act on a terminal are replaced.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from textwrap import shorten
from typing import Any

from rag_assets.answering.drafts import EXTRACTIVE
from rag_assets.answering.wording import (
    AI_WRITTEN,
    claim_note,
    nearest_heading,
    notes_of,
    row_note,
)
from rag_assets.core.domain import Citation, Claim, Hit, Place, QAResult, cost_words, page_words
from rag_assets.core.text.display import legible
from rag_assets.hosted.prompts import neutral
from rag_assets.library.reading.papers import PaperDetails, PaperState, PaperSummary, SectionSummary
from rag_assets.library.reading.reader import QuoteMatch, QuoteStatus, QuoteVerdict, SectionText

MAX_SECTION_CHARS = 12_000
"""About 3,000 tokens: a long reply crowds out the conversation it is read in."""
MAX_PAPERS = 100
MAX_LISTED_CHARS = 300
"""Characters of an abstract in the list of papers."""
MAX_DIFFERENCES = 12
PAGE_UNKNOWN = "page unknown"
NOTHING_FOUND = "Nothing was found. Use other words, widen the filter, or look with list_papers at what the corpus holds."
_AFTER_REFUSAL = (
    "This is a refusal: no sentence of the corpus was found that answers the question. Do not present other knowledge "
    "as if it came from these papers. You may ask a narrower question, use other words, or look at search results."
)
_NOT_WRITTEN = "The claims are sentences of the papers as they stand, not a written summary."
_NOT_FOUND = (
    "NOT FOUND. Nothing like it stands in the papers that are searched. Reference lists are not searched, nor are "
    "papers that could not be read (list_papers names them). Check the wording, or look for the topic with search."
)
_EMPTY: tuple[Any, ...] = (None, "", (), [], {})


def hits_reply(hits: Sequence[Hit], titles: Mapping[str, str]) -> str:
    """The hits of a search, best first: place, ids and the passage that fits best. titles: by paper
    id."""
    if not hits:
        return NOTHING_FOUND
    rows = [
        {
            **_place(hit.place, titles.get(hit.chunk.paper_id)),
            "section": hit.passage.section_path,
            "evidence": hit.band,
            "note": AI_WRITTEN if hit.chunk.is_generated else "",
            "text": hit.passage.text,
        }
        for hit in hits
    ]
    return _reply(f"{len(hits)} chunks, best first.", hits=rows)


def answer_reply(result: QAResult, titles: Mapping[str, str]) -> str:
    """An answer: its claims, each with the places that prove it, and what else must be known.
    titles: by paper id."""
    notes = notes_of(result)
    if result.refused:
        heading = f"{result.answer} {_AFTER_REFUSAL}"
    elif result.withheld:
        heading = result.answer
    else:
        heading = "The claims that were verified, each with the places that prove it."
        notes += [_NOT_WRITTEN] if result.model.startswith(EXTRACTIVE) else []
    nearest = (
        {nearest_heading(result): [_claim(claim, titles) for claim in result.nearest]}
        if result.nearest
        else {}
    )
    lead = [asdict(one) for one in result.lead]
    claims = [_claim(claim, titles) for claim in result.claims]
    cost = cost_words(result.usage)
    return _reply(heading, lead=lead, claims=claims, notes=notes, cost=cost, **nearest)


def verdict_reply(verdict: QuoteVerdict) -> str:
    """The verdict in the first word, then where the quote stands, and how it differs."""
    return matches_reply([verdict.match] if verdict.match else [], {}, verdict.title)


def matches_reply(matches: Sequence[QuoteMatch], titles: Mapping[str, str], title: str = "") -> str:
    """The places where a quote, or what is like it, stands. titles: by paper id; title: of papers
    without one there."""
    if not matches:
        return _NOT_FOUND
    verdict = "VERIFIED" if matches[0].verdict is QuoteStatus.VERIFIED else "NEAR"
    return _reply(
        f"{verdict}.",
        places=[_match(match, titles.get(match.paper_id, title)) for match in matches],
    )


def section_reply(section: SectionText, start: int) -> str:
    """A section from a character on, with the chunk id of each part of its text."""
    n_chars = len(section.text)
    end = min(n_chars, start + MAX_SECTION_CHARS)
    if start >= n_chars:
        heading = f"The section has {n_chars:,} characters: there is nothing from {start:,} on."
    elif end < n_chars:
        heading = f"Characters {start:,} to {end:,} of {n_chars:,}. To read on, call again with start {end}."
    else:
        heading = "The section up to its end."
    texts = [
        (part.chunk_id, section.text[max(part.start, start) : min(part.end, end)])
        for part in section.parts
    ]
    shown = [{"chunk_id": chunk_id, "text": text} for chunk_id, text in texts if text.strip()]
    return _reply(
        heading,
        paper_id=section.paper_id,
        title=section.title,
        section=_section(section.section),
        parts=shown,
    )


def paper_reply(paper: PaperDetails) -> str:
    """The abstract of a paper and its sections in reading order."""
    return _reply(
        "The paper with its sections."
        if paper.sections
        else "It has no sections that are searched.",
        **_paper(paper, None),
        sections=list(map(_section, paper.sections)),
    )


def papers_reply(papers: Sequence[PaperSummary], matching: str | None, offset: int) -> str:
    """Up to MAX_PAPERS papers, from the one at `offset` on, whose id, title, authors and year hold
    all words of `matching`."""
    words = (matching or "").casefold().split()
    fitting = [paper for paper in papers if all(word in paper.named.casefold() for word in words)]
    shown = fitting[offset : offset + MAX_PAPERS]
    if not shown:
        return (
            f"Papers: {len(fitting)}, and none from {offset} on."
            if fitting
            else "There is no such paper."
        )
    n_left = len(fitting) - offset - len(shown)
    more = f", {n_left} more: list_papers with offset {offset + len(shown)}" if n_left else ""
    return _reply(
        f"Papers: {len(fitting)}{more}", papers=[_paper(paper, MAX_LISTED_CHARS) for paper in shown]
    )


def safe(value: Any) -> Any:
    """The value with all text in it safe to hand to a model and to a terminal; empty fields are
    left out."""
    if isinstance(value, str):
        return legible(neutral(value))
    if isinstance(value, Mapping):
        return {name: safe(field) for name, field in value.items() if field not in _EMPTY}
    if isinstance(value, Sequence):
        return list(map(safe, value))
    return value


def _reply(heading: str, **facts: Any) -> str:
    return f"{safe(heading)}\n{json.dumps(safe(facts), ensure_ascii=False)}"


def _claim(claim: Claim, titles: Mapping[str, str]) -> dict[str, Any]:
    return {
        "claim": claim.text,
        "note": claim_note(claim),
        "proved_by": [_citation(cited, claim.text, titles) for cited in claim.citations],
    }


def _citation(cited: Citation, claim: str, titles: Mapping[str, str]) -> dict[str, Any]:
    return {
        **_place(cited, titles.get(cited.paper_id)),
        "cited_as": cited.cited_as,
        "found": cited.verification,
        "quote": cited.quote if cited.quote != claim else "",
    }


def _place(place: Place, title: str | None) -> dict[str, Any]:
    return {
        "paper_id": place.paper_id,
        "title": title,
        "page": place.page_words or PAGE_UNKNOWN,
        "chunk_id": place.chunk_id,
        "characters": f"{place.start}-{place.end}",
    }


def _match(match: QuoteMatch, title: str) -> dict[str, Any]:
    return {
        "verdict": match.verdict,
        "found": match.verification or f"{match.likeness:.0f}% alike",
        "note": row_note(match.verification),
        **_place(match, title),
        "section": match.section_path,
        "as_it_stands": match.quote,
        "differences": [
            {"quote": difference.quote, "paper": difference.source}
            for difference in match.differences[:MAX_DIFFERENCES]
        ],
        "more_differences": max(len(match.differences) - MAX_DIFFERENCES, 0) or None,
    }


def _section(section: SectionSummary) -> dict[str, Any]:
    pages = page_words(section.page_start, section.page_end, None) or PAGE_UNKNOWN
    return {"title": section.path or section.title, "page": pages, "section_id": section.section_id}


def _paper(paper: PaperSummary, most_chars: int | None) -> dict[str, Any]:
    """most_chars: of the abstract; None: all."""
    facts = {
        "paper_id": paper.paper_id,
        "title": paper.title,
        "authors": paper.authors,
        "year": paper.year,
    }
    facts |= {"format": paper.source, "state": paper.state}
    if paper.state is not PaperState.READY:
        return {**facts, "reason": paper.reason}
    abstract = (
        paper.abstract
        if most_chars is None
        else shorten(paper.abstract, most_chars, placeholder=" ...")
    )
    sizes = {"n_pages": paper.n_pages, "n_chunks": paper.n_chunks, "page_images": paper.has_pages}
    return {**facts, **sizes, "abstract": abstract}
