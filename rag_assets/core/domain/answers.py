"""An answer: its claims, the citations that support them, and what they cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from rag_assets.core.domain.chunks import Place


class Verification(StrEnum):
    """How a quote was found in its source."""

    EXACT = "exact"
    """Character for character."""
    NORMALIZED = "normalized"
    """After folding what is typesetting: white space, hyphenation, ligatures, quotes, dashes, how
    numbers and per cent are written."""
    APPROXIMATE = "approximate"
    """Nearly: words were left out, with an ellipsis or without, or one was tidied. The quote given
    is the source's own words."""
    UNPLACED = "unplaced"
    """The words are there, in the row of a table, and whose values the row holds is not certain.
    Only the others prove what they show: the row is to be read in its table."""
    UNREAD = "unread"
    """The words are there, and U+FFFD among them: a sign of the PDF that could not be read may
    change their numbers. They are to be read on the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation(Place):
    """A quote and where it stands; pages and boxes are computed from the place the quote was found
    at."""

    quote: str
    """The text of its place."""
    verification: Verification
    cited_as: str = ""
    """The paper as a text cites it, "Lund & Moe (2019)"; its id where its authors are not known."""
    work: str = ""
    """Id of the first paper that is the same work, often this one; empty in rows written before
    works were compared."""
    is_retracted: bool = False
    """Whether the paper is known to be retracted."""


HALF_SUPPORT_FROM, FULL_SUPPORT_FROM = 0.25, 0.75
"""A claim whose second look gives less than the first is withheld; one that gets less than the
second is mended or marked."""


@dataclass(frozen=True, slots=True)
class Support:
    """How well the quotes of a claim carry it; every figure is 0 to 1, higher is better.

    Both are None for a claim that is its own quote: they would be 1 and say nothing.
    """

    score: float | None
    """Cosine of the claim and the nearest sentence of its quotes, by the embedded model; negative
    counts as 0."""
    judged: float | None = None
    """Verdict of the model that took a second look: 1 they carry it, 0.5 a part of it, 0 they do
    not. None without a second look. Not part of `score`."""
    why: str = ""
    """Why the claim is marked, by the second look or by the rules; empty where it is not."""
    written: str = ""
    """The statement of the model that writes, where a judge's sentence took its place."""

    @property
    def is_partial(self) -> bool:
        """Whether the quotes support only a part of the claim, by the second look."""
        return self.judged is not None and self.judged < FULL_SUPPORT_FROM


@dataclass(frozen=True, slots=True)
class CitedWork:
    """A work in the reference list of a paper."""

    text: str
    """The entry as it stands there, without its number."""
    paper_id: str | None = None
    """The paper of this corpus that it is; None where it is not here."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of an answer with the citations that carry it."""

    text: str
    citations: tuple[Citation, ...]
    support: Support | None = None
    """None in rows written before claims were scored."""
    relevance: float | None = None
    """Likeness of a sentence of the papers to the question, 0 to 1. None where a model wrote the
    claim, and in older rows."""
    computed: tuple[str, ...] = ()
    """Numbers that are in no quote and follow from two that are, as sums: "3.3 = 12.4 - 9.1"."""

    reported: tuple[CitedWork, ...] = ()
    """The works that its quotes report: what it says is theirs, not a finding of the papers cited.
    Empty in older rows."""

    @property
    def judged(self) -> float | None:
        """The verdict of the second look; None without one."""
        return self.support.judged if self.support else None

    @property
    def is_quote(self) -> bool:
        """Whether the text of the claim is that of one of its quotes."""
        return any(citation.quote == self.text for citation in self.citations)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A statement of an answer that is not published."""

    claim: str
    why: str
    """Shown to readers: "15.9 stands in none of its quotes"."""
    quote: str = ""
    """The quote given for it; empty where it was not found."""
    promise: str = ""
    """The promise about answers that it breaks; empty where the verification before found it."""


@dataclass(frozen=True, slots=True)
class LeadSentence:
    """A sentence of the paragraph that opens an answer."""

    text: str
    claims: tuple[int, ...]
    """Numbers of the claims it rests on, from 1; at least one."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer cost. All zero for an answerer that calls no model."""

    n_requests: int = 0
    """Requests that were answered; those that failed are in the run's total only."""
    n_input_tokens: int = 0
    n_output_tokens: int = 0
    cost_usd: float | None = 0.0
    """None when the price of the model is not known."""


@dataclass(frozen=True, slots=True)
class QAResult:
    """One row of qa.jsonl."""

    question_id: str
    question: str
    answer: str
    claims: tuple[Claim, ...]
    refused: bool
    single_source: bool
    """The answer rests on fewer papers than wanted even after the retry with more contexts; its
    text says so, unless the question names these papers."""
    sources_used: tuple[str, ...]
    """Distinct papers cited, in order of first citation."""
    unanswered: tuple[str, ...]
    """Parts of a compound question that the answer says nothing about; its text names them."""
    model: str
    contexts: tuple[str, ...]
    """Chunk ids of the contexts given, in order."""
    fingerprint: str
    usage: Usage = field(default_factory=Usage)
    missing_names: tuple[str, ...] = ()
    """Names in the question that what was found does not hold; empty where a model wrote, and in
    older rows."""
    named_papers: tuple[str, ...] = ()
    """Papers that the question names or is restricted to: an answer from one of them alone needs no
    remark. Empty in older rows."""
    left_out: tuple[LeftOut, ...] = ()
    """Statements that their quotes do not support, even after a repair, or that break a promise
    about answers. Empty in older rows."""
    unjudged: str = ""
    """Why the second look failed; empty where it did not, where it is switched off, and in older
    rows."""
    is_self_judged: bool = False
    """The model that wrote the claims took the second look, too. False in older rows."""
    nearest: tuple[Claim, ...] = ()
    """Sentences close to the question that are not part of the answer, the nearest first; a refusal
    has them too. Empty where a model wrote, and in older rows."""
    withheld: bool = False
    """There was an answer, and nothing of it keeps the promises about answers; `left_out` has the
    reasons. It is no refusal: the papers may answer the question."""
    lead: tuple[LeadSentence, ...] = ()
    """The paragraph that opens the answer: it orders, compares and counts the claims. Empty where
    no model wrote one that holds, and in older rows."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the line of the question file. Empty in older rows."""

    @property
    def quoted_chunk_ids(self) -> set[str]:
        """Ids of the chunks with quotes, in the claims or in the nearest sentences."""
        return {
            citation.chunk_id
            for claim in (*self.claims, *self.nearest)
            for citation in claim.citations
        }


def cost_words(usage: Usage, seconds: float | None = None) -> str:
    """The cost in words: "2 requests, 8,120 tokens read, 214 written, $0.0031, 12 s". Empty if there
    was no request."""
    if not usage.n_requests:
        return ""
    cost = "price not known" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    parts = [
        f"{usage.n_requests} request{'' if usage.n_requests == 1 else 's'}",
        f"{usage.n_input_tokens:,} tokens read",
        f"{usage.n_output_tokens:,} written",
        cost if usage.cost_usd != 0 else "",
        "" if seconds is None else f"{seconds:.0f} s",
    ]
    return ", ".join(filter(None, parts))


def summed(usages: Sequence[Usage]) -> Usage:
    """The sum of several costs; its price is None if one of the prices is not known."""
    costs = [usage.cost_usd for usage in usages]
    return Usage(
        n_requests=sum(usage.n_requests for usage in usages),
        n_input_tokens=sum(usage.n_input_tokens for usage in usages),
        n_output_tokens=sum(usage.n_output_tokens for usage in usages),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
    )
