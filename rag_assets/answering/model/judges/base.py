"""The interface of judges, which tell how far the quotes of a claim support it, and the texts they read.

Adapters are in `hosted` and `cross_encoder`; which one is opened, and when it is asked, is decided in `second_look`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.answering.verify.verification import Outcome
from rag_assets.core.domain import Usage

MAX_QUOTE_CHARS, MAX_FRAME_CHARS = 800, 200
"""Limits of what a judge reads of one quote: some 300 tokens for a claim."""


@dataclass(frozen=True)
class ClaimVerdicts:
    """The verdicts on the claims of one draft, as they are kept."""

    supports: tuple[float | None, ...]
    """One per claim, 0 to 1; None for a claim that the judge passed over."""
    whys: tuple[str, ...]
    """What is wrong with each claim; empty for a supported one, and from judges that give no reasons."""
    usage: Usage
    seconds: float


class ClaimJudge(Protocol):
    """Judges claims by their quotes alone. Opening one loads nothing. Safe to use from several threads."""

    @property
    def identity(self) -> str:
        """The judge and how it is asked; part of the key of its verdicts and of published answers."""
        ...

    def verdicts(self, outcomes: Sequence[Outcome]) -> ClaimVerdicts:
        """One verdict for each claim, in order.

        Raises ModelFault, BudgetExhausted or MissingModel when it cannot tell.
        """
        ...


def quote_in_place(one: QuotedText) -> str:
    """The quote and its place in the paper, on one line."""
    frame = " > ".join(on_one_line(text)[:MAX_FRAME_CHARS] for text in one.place)
    quote = f'"{on_one_line(one.quote)[:MAX_QUOTE_CHARS]}"'
    return f"{quote} (in: {frame})" if frame else quote


def document_of(outcome: Outcome) -> str:
    """The quotes of a claim as one text, for models trained on a document and a claim: places first, as headings."""
    parts = [(" > ".join(one.place)[:MAX_FRAME_CHARS], one.quote[:MAX_QUOTE_CHARS]) for one in outcome.quotes]
    return " ".join(on_one_line(f"{place}: {quote}" if place else quote) for place, quote in parts)


def on_one_line(text: str) -> str:
    """Puts a text on one line, so that it cannot begin a statement of its own."""
    return " ".join(text.split())
