"""What was looked up as text: verdicts on quotes, sections, lists of papers."""

from collections.abc import Mapping, Sequence
from textwrap import shorten

from rag_assets.core.domain import PaperPoint, Span, page_label, span_at
from rag_assets.faces.mcp.rendering import PAGE_UNKNOWN, pages_text, paper_text, quoted
from rag_assets.library.reading.papers import PaperDetails, PaperState, PaperSummary, SectionSummary
from rag_assets.library.reading.quotes import Difference, QuoteMatch, Verdict
from rag_assets.library.reading.reader import QuoteVerdict, SectionText

MAX_SECTION_CHARS = 12_000
"""About 3,000 tokens: a long reply crowds out the conversation it is read in."""
MAX_PAPERS = 100
MAX_LISTED_CHARS = 300
"""Of an abstract, in the list of papers."""
MAX_DIFFERENCES = 12
_NOT_FOUND = (
    "NOT FOUND. Nothing like it stands in the papers that are searched. Reference lists are not searched, nor are "
    "papers that could not be read (list_papers names them). Check the wording, or look for the topic with search."
)
_VERDICTS = {Verdict.VERIFIED: "VERIFIED", Verdict.NEAR: "NEAR", Verdict.NOT_FOUND: "NOT FOUND"}


def verdict_text(verdict: QuoteVerdict) -> str:
    """The verdict in the first word, then where the quote stands, and how it differs."""
    if verdict.match is None:
        return _NOT_FOUND
    return _match(verdict.match, verdict.title)


def matches_text(matches: Sequence[QuoteMatch], titles: Mapping[str, str]) -> str:
    """The places where a quote, or what is like it, stands."""
    if not matches:
        return _NOT_FOUND
    found = [_match(match, titles.get(match.chunk.paper_id, "")) for match in matches]
    return "\n\n".join(f"{number}. {text}" for number, text in enumerate(found, start=1))


def section_text(found: SectionText, start: int) -> str:
    """A section from a character on, with the chunk id above the text of each chunk."""
    end = min(len(found.text), start + MAX_SECTION_CHARS)
    lines = [f"{paper_text(found.paper_id)}, {quoted(found.title)}", f"Section: {_section(found.section)}"]
    for part in found.parts:
        text = found.text[max(part.start, start) : min(part.end, end)]
        if text.strip():
            lines += ["", f"[chunk_id {part.chunk_id}]", paper_text(text)]
    if start >= len(found.text):
        lines += ["", f"The section has {len(found.text):,} characters: there is nothing from {start:,} on."]
    elif end < len(found.text):
        read = f"Characters {start:,} to {end:,} of {len(found.text):,}"
        lines += ["", f"{read}. To read on, call again with start {end}."]
    return "\n".join(lines)


def sections_text(paper: PaperDetails) -> str:
    """The abstract of a paper, its summary where a model wrote one, and its sections in reading order."""
    points = [_point(told) for told in paper.points] if any(told.claims for told in paper.points) else []
    sections = [f"- {_section(section)}" for section in paper.sections] or ["It has no sections that are searched."]
    return "\n".join([_paper(paper.summary), *_abstract(paper.summary.abstract), *points, *sections])


class PaperList:
    """The papers whose id or title holds all words of `matching`, in any case."""

    def __init__(self, papers: Sequence[PaperSummary], matching: str | None) -> None:
        words = (matching or "").casefold().split()
        self._papers = [
            paper for paper in papers if all(word in f"{paper.paper_id} {paper.title}".casefold() for word in words)
        ]

    def text(self, offset: int) -> str:
        """Up to MAX_PAPERS of them, from the one at `offset` on."""
        n_papers = len(self._papers)
        shown = self._papers[offset : offset + MAX_PAPERS]
        if not shown:
            return f"Papers: {n_papers}, and none from {offset} on." if n_papers else "There is no such paper."
        lines = [f"Papers: {n_papers}" if len(shown) == n_papers else f"Papers: {n_papers}, from {offset} on"]
        lines += [line for paper in shown for line in (_paper(paper), *_abstract(_beginning(paper.abstract)))]
        left = n_papers - offset - len(shown)
        return "\n".join([*lines, *([f"{left} more: list_papers with offset {offset + len(shown)}"] if left else [])])


def _match(match: QuoteMatch, title: str) -> str:
    chunk = match.chunk
    first, last = span_at(chunk.spans, match.start), span_at(chunk.spans, max(match.start, match.end - 1))
    how = f" ({match.verification})" if match.verification else f" ({match.likeness:.0f}% alike)"
    place = [
        paper_text(chunk.paper_id),
        quoted(title) if title else "",
        _pages(first, last),
        f"section {quoted(chunk.section_path)}" if chunk.section_path else "",
        f"chunk_id {chunk.chunk_id}, characters {match.start}-{match.end}",
    ]
    said = f"{_VERDICTS[match.verdict]}{how}: {' · '.join(fact for fact in place if fact)}"
    lines = [said, f"As it stands there: {quoted(match.quote)}"]
    lines += [f"- {_difference(one)}" for one in match.differences[:MAX_DIFFERENCES]]
    more = len(match.differences) - MAX_DIFFERENCES
    return "\n".join([*lines, *([f"- and {more} more differences"] if more > 0 else [])])


def _pages(first: Span | None, last: Span | None) -> str:
    if first is None or last is None:
        return PAGE_UNKNOWN
    return pages_text(first.page_start, last.page_end, page_label(first, last))


def _difference(one: Difference) -> str:
    if not one.source:
        return f"{quoted(one.quote)} does not stand there"
    if not one.quote:
        return f"{quoted(one.source)} stands there and is missing in the quote"
    return f"{quoted(one.source)} stands there instead of {quoted(one.quote)}"


def _point(told: PaperPoint) -> str:
    """What was asked, done, found or what limits it: quotes with their pages."""
    said = [
        f"{quoted(cited.quote)} ({pages_text(cited.page_start, cited.page_end, cited.page_label)})"
        for claim in told.claims
        for cited in claim.citations
    ]
    return f"{told.point.in_words}: {' '.join(said) or 'the model found nothing in the paper that says it'}"


def _section(section: SectionSummary) -> str:
    title = " ".join(paper_text(section.path or section.title).split()) or "(without a title)"
    return f"{title} · {pages_text(section.page_start, section.page_end, None)} · section {section.section_id}"


def _paper(paper: PaperSummary) -> str:
    facts = [
        quoted(paper.title) if paper.title else "no title known",
        str(paper.source) if paper.source else "",
        f"{paper.n_pages} pages" if paper.n_pages else PAGE_UNKNOWN.replace("page", "pages"),
        f"{paper.n_chunks} chunks",
        "page images" if paper.has_pages else "no page images",
    ]
    if paper.state is not PaperState.READY:
        reason = f": {' '.join(paper_text(paper.reason).split())}" if paper.reason else ""
        facts = [*facts[:2], f"{paper.state}{reason}"]
    return f"{paper_text(paper.paper_id)} · {' · '.join(fact for fact in facts if fact)}"


def _abstract(text: str) -> list[str]:
    return [f"  {quoted(text)}"] if text else []


def _beginning(text: str) -> str:
    return shorten(text, MAX_LISTED_CHARS, placeholder=" ...")
