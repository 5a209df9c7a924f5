"""Results as text that is short to read and has the ids to go on with.

What stands in papers is written by strangers. Markers and chat tokens in it are defused, as they are in our own
prompts, and characters that act on a terminal are replaced.
"""

from collections.abc import Iterable, Mapping, Sequence

from rag_assets.answering.drafts import EXTRACTIVE
from rag_assets.answering.wording import (
    AI_WRITTEN,
    claim_note,
    nearest_heading,
    place_of,
    told_beside,
)
from rag_assets.core.domain import Citation, Claim, Hit, QAResult, page_numbers
from rag_assets.core.text.display import legible
from rag_assets.hosted.prompts import neutral

PAGE_UNKNOWN = "page unknown"
NOTHING_FOUND = (
    "Nothing was found. Use other words, widen the filter, or look with list_papers at what the corpus holds."
)
_AFTER_REFUSAL = (
    "This is a refusal: no sentence of the corpus was found that answers the question. Do not present other knowledge "
    "as if it came from these papers. You may ask a narrower question, use other words, or look at search results."
)
_NOT_WRITTEN = "The claims are sentences of the papers as they stand, not a written summary."
_INDENT = "   "


def hits_text(hits: Sequence[Hit], titles: Mapping[str, str]) -> str:
    """The hits of a search, best first: place, ids and the passage that fits best. titles: by paper id."""
    if not hits:
        return NOTHING_FOUND
    papers = papers_text([hit.chunk.paper_id for hit in hits], titles)
    return "\n\n".join([f"{len(hits)} chunks, best first.", *map(_hit, hits), papers])


def answer_text(result: QAResult, titles: Mapping[str, str]) -> str:
    """An answer: its claims, each with the places that prove it, and what else must be known. titles: by paper id."""
    if result.refused:
        said = "\n".join([result.answer, *map(paper_text, told_beside(result)), "", _AFTER_REFUSAL])
        return "\n\n".join([said, *_nearest(result)])
    claims = [_claim(number, claim) for number, claim in enumerate(result.claims, start=1)]
    notes = [paper_text(remark) for remark in told_beside(result)]
    notes += [_NOT_WRITTEN] if result.model.startswith(EXTRACTIVE) else []
    end = "\n".join([*notes, papers_text(_quoted_papers(result), titles)])
    return "\n\n".join([*claims, end, *_nearest(result)])


def papers_text(paper_ids: Iterable[str], titles: Mapping[str, str]) -> str:
    """What the ids stand for, one paper per line: 'smith2020 is "Ferritin in athletes".'"""
    return "\n".join(
        f"{paper_text(paper_id)} is {quoted(titles[paper_id])}."
        if titles.get(paper_id)
        else f"{paper_text(paper_id)} has no title."
        for paper_id in dict.fromkeys(paper_ids)
    )


def quoted(text: str) -> str:
    """A title or a short text on one line, in quotation marks."""
    return f'"{" ".join(paper_text(text).split())}"'


def paper_text(text: str) -> str:
    """Text of a paper, safe to hand to a model and to a terminal."""
    return legible(neutral(text))


def pages_text(first: int | None, last: int | None, label: str | None) -> str:
    """ "p. 3", "pp. 3-4", "p. 2 (printed 118)" or "page unknown"."""
    numbers = page_numbers(first, last, label)
    if not numbers:
        return PAGE_UNKNOWN
    return f"{'p.' if first == last else 'pp.'} {numbers}"


def _hit(hit: Hit) -> str:
    passage = hit.passage
    facts = [
        paper_text(hit.chunk.paper_id),
        pages_text(passage.page_start, passage.page_end, hit.page_label),
        paper_text(passage.section_path),
        f"{hit.band} evidence" if hit.band else "",
        AI_WRITTEN if hit.chunk.is_generated else "",
        f"chunk_id {hit.chunk.chunk_id}",
    ]
    return f"{hit.rank}. {' · '.join(fact for fact in facts if fact)}\n{paper_text(passage.text)}"


def _claim(number: int, claim: Claim) -> str:
    lines = [f"{number}. {paper_text(claim.text)}"]
    if note := claim_note(claim):
        lines.append(f"{_INDENT}({note})")
    for citation in claim.citations:
        lines.append(f"{_INDENT}{_source(citation)}")
        if citation.quote != claim.text:
            lines.append(f'{_INDENT}"{paper_text(citation.quote)}"')
    return "\n".join(lines)


def _nearest(result: QAResult) -> list[str]:
    """The nearest sentences below their heading, as one block; nothing where there are none."""
    if not result.nearest:
        return []
    near = [_claim(number, claim) for number, claim in enumerate(result.nearest, start=1)]
    return ["\n".join([nearest_heading(result), *near])]


def _quoted_papers(result: QAResult) -> list[str]:
    """The papers of the answer, then those of the nearest sentences."""
    return [*result.sources_used, *(citation.paper_id for claim in result.nearest for citation in claim.citations)]


def _source(citation: Citation) -> str:
    """ "[smith2020, p. 3] chunk_id smith2020:1f, characters 12-80, quote exact"."""
    pages = "" if citation.page_start is not None else f", {PAGE_UNKNOWN}"
    return (
        f"[{paper_text(place_of(citation))}{pages}] chunk_id {citation.chunk_id}, characters "
        f"{citation.start}-{citation.end}, quote {citation.verification}"
    )
