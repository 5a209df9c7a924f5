"""Papers, sections, chunks and pages to be read, and quotes looked up, for every face of the
project.

Pages are physical and 1-based; boxes are fractions of the page with the origin at its top left.

For a quote, chunks that share its words come from the word index; the code that verifies the
citations of answers decides whether one of them has it. A passage that is only much like the quote
is shown with every word that differs, never as a verification. No model is asked.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Self

from rapidfuzz import fuzz

from rag_assets.answering.verify.fuzzy_match import Words, words_of
from rag_assets.answering.verify.quote_search import MIN_QUOTE_CHARS, find_quote, is_long_enough
from rag_assets.core.domain import Chunk, Filter, PaperOrder, Place, Verification
from rag_assets.core.errors import InvalidQuote, MissingInput, NotFound
from rag_assets.core.settings import Settings
from rag_assets.engine import Engine
from rag_assets.library.reading.pages import FractionBox
from rag_assets.library.reading.papers import PaperDetails, Papers, PaperSummary, SectionSummary
from rag_assets.library.reading.pdfs import PageImages, PagePlace, PdfFiles, PdfWorkers, Places

MAX_QUOTE_CHARS = 4000
CANDIDATE_CHUNKS = 24
"""Chunks that are read for one quote, those that share most of its words first."""
MIN_LIKENESS, MIN_SAME_WORDS = 80.0, 0.6
"""Needed of a passage that is shown as near: likeness of the characters, 0-100, and share of the
quote's words that are there in their order; another sentence may be alike by its small words.
Measured by benchmarks/quotes.py."""


class QuoteStatus(StrEnum):
    """Whether a quote is in the corpus."""

    VERIFIED = "verified"
    """Word for word; only typesetting may differ."""
    NEAR = "near"
    """Something much like it is there; the differences say what."""
    NOT_FOUND = "not_found"
    """Nothing like it is in the searched text; reference lists and quarantined papers are not
    searched."""


@dataclass(frozen=True)
class QuoteDifference:
    """Words of the quote, and what the source has in their place; one of the two may be empty."""

    quote: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteMatch(Place):
    """The place of a quote, or of a passage much like it."""

    quote: str
    """The text as it is in the source."""
    section_path: str
    """Titles of the sections around it, from the outermost inwards, joined with " > "."""
    verdict: QuoteStatus
    verification: Verification | None
    """None where the words differ in more than tidying changes."""
    likeness: float
    """Likeness of the words, 0-100."""
    differences: tuple[QuoteDifference, ...]
    """In the order of the quote; empty for a verified one."""


def demand_quote(quote: str) -> str:
    """The quote without blanks around it. Raises InvalidQuote when it is too short or too long to
    be looked up."""
    quote = quote.strip()
    if not is_long_enough(quote):
        raise InvalidQuote(
            f"A quote has {MIN_QUOTE_CHARS} characters at least; a shorter one would be found almost anywhere. "
            "Give more of the sentence."
        )
    if len(quote) > MAX_QUOTE_CHARS:
        raise InvalidQuote(
            f"The quote has {len(quote):,} characters, more than {MAX_QUOTE_CHARS:,}. Look it up by its paragraphs."
        )
    return quote


def matches_of(quote: str, candidates: Sequence[Chunk]) -> list[QuoteMatch]:
    """The places of a quote in the candidates, verified ones first, then the most alike. A passage
    that two chunks share is given once."""
    matches = [match for chunk in candidates if (match := _match_in(quote, chunk))]
    matches.sort(
        key=lambda match: (
            match.verdict is not QuoteStatus.VERIFIED,
            match.verification is None,
            -match.likeness,
        )
    )
    distinct: dict[tuple[str, str], QuoteMatch] = {}
    for match in matches:
        distinct.setdefault((match.paper_id, match.quote), match)
    return list(distinct.values())


def _match_in(quote: str, chunk: Chunk) -> QuoteMatch | None:
    places = find_quote(quote, chunk.text)
    if not places:
        return _like(quote, chunk)
    start, end = places[0].start, places[-1].end
    kinds = {place.verification for place in places}
    given, source = Words.of(quote), Words.of(chunk.text[start:end])
    # where the rest of the sentence changes the meaning of what is quoted, the whole sentence is
    # found
    is_verified = Verification.APPROXIMATE not in kinds and len(source.words) <= len(given.words)
    verification = places[0].verification if len(kinds) == 1 else Verification.APPROXIMATE
    likeness = fuzz.ratio(given.joined, source.joined)
    return _matched(quote, chunk, (start, end), verification, likeness, is_verified=is_verified)


def _like(quote: str, chunk: Chunk) -> QuoteMatch | None:
    """The passage most like the quote, if it is like it at all."""
    wanted, source = Words.of(quote), words_of(chunk.text)
    if not wanted.words or not source.words or len(wanted.joined) > len(source.joined):
        return None
    near = fuzz.partial_ratio_alignment(wanted.joined, source.joined, score_cutoff=MIN_LIKENESS)
    if near is None:
        return None
    first = _word_at(source, near.dest_start)
    last = _word_at(source, max(near.dest_start, near.dest_end - 1))
    shared = SequenceMatcher(
        None, wanted.words, source.words[first : last + 1], autojunk=False
    ).get_matching_blocks()
    if sum(block.size for block in shared) < MIN_SAME_WORDS * len(wanted.words):
        return None
    place = source.places[first][0], source.places[last][1]
    return _matched(quote, chunk, place, None, near.score, is_verified=False)


def _matched(
    quote: str,
    chunk: Chunk,
    place: tuple[int, int],
    verification: Verification | None,
    likeness: float,
    *,
    is_verified: bool,
) -> QuoteMatch:
    start, end = place
    source = chunk.text[start:end]
    differences = []
    if not is_verified:
        # what the two do not share, by their folded words, each side as it is written
        quote_words, source_words = Words.of(quote), Words.of(source)
        compared = SequenceMatcher(None, quote_words.words, source_words.words, autojunk=False)
        for tag, a, b, c, d in compared.get_opcodes():
            if tag != "equal":
                differences.append(
                    QuoteDifference(
                        _slice(quote, quote_words, a, b), _slice(source, source_words, c, d)
                    )
                )
    return QuoteMatch.within(
        chunk,
        start,
        end,
        quote=source,
        section_path=chunk.section_at(start)[1],
        verdict=QuoteStatus.VERIFIED if is_verified else QuoteStatus.NEAR,
        verification=verification,
        likeness=likeness,
        differences=tuple(differences),
    )


def _word_at(words: Words, offset: int) -> int:
    """The word that a character of the joined words belongs to."""
    return max(0, bisect_right(words.starts, offset) - 1)


def _slice(text: str, words: Words, start: int, end: int) -> str:
    return text[words.places[start][0] : words.places[end - 1][1]] if end > start else ""


DEFAULT_WIDTH = 1000
_CHUNKS_LOOKED_AT = 200
"""For the papers that have some words: those that share most of them."""


@dataclass(frozen=True)
class SectionText:
    """A section of a paper as it is read."""

    paper_id: str
    title: str
    """Title of the paper."""
    section: SectionSummary
    text: str
    """Text of its chunks without what they repeat; `parts` says which range comes from which
    chunk."""
    parts: tuple["SectionTextPart", ...]


@dataclass(frozen=True)
class SectionTextPart:
    """The part of a section's text that comes from one chunk."""

    chunk_id: str
    start: int
    end: int
    chunk_start: int
    """Where it begins in the chunk: before it, the chunk repeats what an earlier one says."""


@dataclass(frozen=True)
class QuoteVerdict:
    """Whether a quote is in the corpus, and where."""

    verdict: QuoteStatus
    """verified: word for word, typesetting aside. near: the source says something much like it; see
    differences. not_found: nothing like it stands in the text that is searched."""
    match: QuoteMatch | None
    """None when nothing like it was found."""
    title: str
    """Title of the paper that has it; empty when nothing was found."""
    pages: tuple[PagePlace, ...]
    """Its pages in order; empty when no page is known."""


class Reader:
    """Looks things up in one data folder; may be used by several threads. Close it, or use it as a
    context manager."""

    def __init__(self, settings: Settings, engine: Engine) -> None:
        """engine: over the same data folder; it stays open when the reader is closed."""
        self._engine = engine
        self._papers = Papers(settings)
        self._workers = PdfWorkers(settings)
        self._pdfs = PdfFiles(settings, self._papers)
        self._places = Places(self._pdfs, self._workers)
        self._images = PageImages(settings, self._workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes that read PDFs."""
        self._workers.close()

    def papers(self, text: str = "", order: PaperOrder = PaperOrder.ID) -> list[PaperSummary]:
        """The papers with all words of a text, or words that hold them, in title, id, authors, year
        and abstract, or in one chunk. Every paper of the data folder if the text has no word."""
        papers = self._papers.all(order)
        if not text.strip():
            return papers
        texts = [(paper.paper_id, f"{paper.named} {paper.abstract}") for paper in papers]
        with suppress(MissingInput):  # not indexed yet
            chunks = self._engine.sharing_words(text, _CHUNKS_LOOKED_AT)
            texts += [(chunk.paper_id, chunk.text) for chunk in chunks]
        words = text.casefold().split()
        paper_ids = {
            paper_id
            for paper_id, content in texts
            if all(word in content.casefold() for word in words)
        }
        return [paper for paper in papers if paper.paper_id in paper_ids]

    def paper(self, paper_id: str) -> PaperDetails:
        """A paper with its sections. Raises NotFound."""
        return self._papers.paper(paper_id)

    def titles(self) -> Mapping[str, str]:
        """Title by id of the papers that were read; empty where a paper has none."""
        return self._papers.titles()

    def n_parsed(self) -> int:
        """Papers that could be read."""
        return self._papers.n_parsed()

    def section(self, paper_id: str, section: str) -> SectionText:
        """A section of a paper, found as `PaperDetails.section` does. Raises NotFound."""
        details = self._papers.paper(paper_id)
        section_summary = details.section(section)
        chunks = self._engine.chunks(section_summary.chunk_ids)
        parts: list[SectionTextPart] = []
        texts: list[str] = []
        at = 0
        for chunk in (
            chunks[chunk_id] for chunk_id in section_summary.chunk_ids if chunk_id in chunks
        ):
            own = chunk.text[chunk.own_start :]
            parts.append(SectionTextPart(chunk.chunk_id, at, at + len(own), chunk.own_start))
            texts.append(own)
            at += len(own) + 1
        return SectionText(paper_id, details.title, section_summary, "\n".join(texts), tuple(parts))

    def chunk(self, chunk_id: str) -> Chunk:
        """A chunk; its own fields hold the text before and after it. Raises NotFound."""
        chunk = self._engine.chunks([chunk_id]).get(chunk_id)
        if chunk is None:
            raise NotFound(
                f"There is no chunk with the id {chunk_id!r}. Its paper was changed or deleted since; search again."
            )
        return chunk

    def place(self, chunk_id: str, start: int = 0, end: int | None = None) -> tuple[PagePlace, ...]:
        """The pages and boxes of `text[start:end]` of a chunk, in order; empty if no page is known.

        Offsets beyond the text are cut to it. Raises NotFound for an unknown chunk.
        """
        chunk = self.chunk(chunk_id)
        return self._places.of(chunk, *chunk.part(start, end))

    def page_image(
        self,
        paper_id: str,
        page: int,
        *,
        width: int = DEFAULT_WIDTH,
        boxes: Sequence[FractionBox] = (),
    ) -> bytes:
        """A page of a paper's PDF as a PNG, `width` pixels wide (cut to what is allowed), with the
        boxes marked.

        Raises NotFound for a paper without a PDF or a page that is not there, UnreadableDocument
        for a PDF that cannot be read, DocumentLimit for a page that passes a limit of time or
        memory.
        """
        pdf = self._pdfs.of(paper_id)
        if pdf is None:
            raise NotFound(
                f"{paper_id} has no PDF, so its pages cannot be shown. Read its sections instead."
            )
        return self._images.png(pdf, page, width, tuple(boxes))

    def verify_quote(self, quote: str, paper_id: str | None = None) -> QuoteVerdict:
        """Whether a quote is in the corpus, or in one paper, and where. No model is asked.

        Raises InvalidQuote for one that is too short or too long, NotFound for an unknown paper.
        """
        chunks = self._chunks_like(quote, paper_id)
        best = next(iter(matches_of(quote.strip(), chunks)), None)
        if best is None:
            return QuoteVerdict(QuoteStatus.NOT_FOUND, None, "", ())
        chunk = next(candidate for candidate in chunks if candidate.chunk_id == best.chunk_id)
        pages = self._places.of(chunk, best.start, best.end)
        return QuoteVerdict(best.verdict, best, self.titles().get(best.paper_id, ""), pages)

    def find_quote(
        self, quote: str, paper_id: str | None = None, limit: int = 5
    ) -> list[QuoteMatch]:
        """The places of a quote, or of passages much like it: at most `limit`, verified ones first.

        Raises as `verify_quote`.
        """
        return matches_of(quote.strip(), self._chunks_like(quote, paper_id))[:limit]

    def _chunks_like(self, quote: str, paper_id: str | None) -> list[Chunk]:
        """The chunks that share most words with a quote."""
        demand_quote(quote)
        where = None
        if paper_id is not None:
            where = Filter.of_papers([self._papers.paper(paper_id).paper_id])
        return self._engine.sharing_words(quote, CANDIDATE_CHUNKS, where)
