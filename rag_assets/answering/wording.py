"""An answer in words: its claims with the places they come from, and what a reader must know about them."""

from collections.abc import Sequence

from rag_assets.answering.drafts import FEW_SOURCES_NOTE, INSUFFICIENT, SINGLE_SOURCE_NOTE
from rag_assets.domain import Citation, Claim, QAResult, page_numbers

UNANSWERED_NOTE = "No sentence was found for: {part}"
MISSING_NAME_NOTE = "No passage that was found names {names}."
MISSING_WORD_NOTE = "No passage of the papers quoted has the word {words}."
NEAR_AN_ANSWER = "Near the question, and no part of the answer:"
NEAR_A_REFUSAL = "Nearest sentences, which may not answer it:"
AI_WRITTEN = "AI-written"


def worded(claims: Sequence[Claim], notes: Sequence[str]) -> str:
    """The claims with the places they come from, then the notes."""
    sentences = [
        f"{claim.text} [{'; '.join(dict.fromkeys(place_of(citation) for citation in claim.citations))}]"
        for claim in claims
    ]
    return " ".join([*sentences, *notes])


def place_of(citation: Citation) -> str:
    """ "smith2020, p. 3", "smith2020, pp. 3-4", "smith2020, p. 2 (printed 118)"; without pages where none is known.

    ", AI-written" follows where the quote is no author's: a figure's description by a model.
    """
    pages = [found] if (found := pages_of(citation)) else []
    return ", ".join([citation.paper_id, *pages, *([AI_WRITTEN] if citation.is_generated else [])])


def pages_of(citation: Citation) -> str:
    """ "p. 3", "pp. 3-4", "p. 2 (printed 118)"; empty where no page is known."""
    numbers = page_numbers(citation.page_start, citation.page_end, citation.page_label)
    sign = "p." if citation.page_start == citation.page_end else "pp."
    return f"{sign} {numbers}" if numbers else ""


def remarks(result: QAResult) -> list[str]:
    """What the answer says besides its claims: what it leaves open, too few papers."""
    too_few_sources = len(result.sources_used) if result.single_source else None
    missing = missing_notes(result.missing_names, result.missing_words)
    return notes(result.unanswered, missing, too_few_sources)


def reasons_for_refusal(result: QAResult) -> list[str]:
    """What a reader may be told below the fixed sentence of a refusal."""
    return [*result.unanswered, *missing_notes(result.missing_names, result.missing_words)]


def nearest_heading(result: QAResult) -> str:
    """What stands above its nearest sentences."""
    return NEAR_A_REFUSAL if result.refused else NEAR_AN_ANSWER


def notes(
    unanswered: Sequence[str],
    missing: Sequence[str],
    too_few_sources: int | None,
) -> list[str]:
    """The same before there is a result. missing: from `missing_notes`. too_few_sources: how many papers support it,
    where they are too few."""
    found = [part if INSUFFICIENT in part else UNANSWERED_NOTE.format(part=part) for part in unanswered]
    found += missing
    if too_few_sources is None:
        return found
    return [*found, SINGLE_SOURCE_NOTE if too_few_sources == 1 else f"Only {too_few_sources} {FEW_SOURCES_NOTE}"]


def missing_notes(names: Sequence[str], words: Sequence[str]) -> list[str]:
    """What is said of the names and other words of a question that stand nowhere: 'No passage that was found names
    "Chinese" or "2019".'; nothing where none is missing. Of a word only its absence is said, which was looked up: the
    paper may say the same in another one."""
    found = [MISSING_NAME_NOTE.format(names=_quoted(names))] if names else []
    return [*found, MISSING_WORD_NOTE.format(words=_quoted(words))] if words else found


def _quoted(words: Sequence[str]) -> str:
    """'"Chinese" or "2019"'."""
    return " or ".join(f'"{word}"' for word in words)
