"""The second request of an answer: what is asked for in it, and how its claims join those of the
first.

Claims that did not hold go back with the reason. Where too few papers are cited, passages of papers
not yet cited go with them; where the model found nothing about a part of the question, passages
found by its words. One request for all; there is no third.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_assets.answering.drafts import ObjectedClaim, Unmet
from rag_assets.answering.trace import Attempt
from rag_assets.answering.verify.verification import Outcome, VerifiedClaims, sources_of
from rag_assets.core.domain import PARTIAL_FROM, Context, Evidence
from rag_assets.core.text.terms import terms_of

_UNCITED_SOURCES = 3
"""Contexts that a claim is mended from which named no source that was given."""
_MOST_OF_OTHERS = 6
"""Contexts of papers not yet cited."""
_MOST_OF_A_PART = 3
"""Contexts for a part that was missing."""


@dataclass(frozen=True)
class SecondRequest:
    """The contexts that the model reads, and the request."""

    contexts: tuple[Context, ...]
    unmet: Unmet
    objected: tuple[Outcome, ...]
    """The outcomes behind the objections, in their order."""


def passages_for(found: Evidence, read: Sequence[Context]) -> tuple[Context, ...]:
    """The best contexts of a search for a missing part that may answer it and were not read
    before."""
    relevance = _relevance(found)
    known = {(context.chunk_id, context.text) for context in read}
    new = (context for context in found.contexts if (context.chunk_id, context.text) not in known)
    return tuple(context for context in new if _may_answer(context, relevance))[:_MOST_OF_A_PART]


def second_request(
    first: Attempt, evidence: Evidence, found: Mapping[str, Evidence], *, wants_papers: bool
) -> SecondRequest | None:
    """evidence: from more chunks, where other papers are wanted. found: what may answer a missing
    part, by the part. None where nothing is to be mended or answered and no other paper has a
    passage that may answer."""
    objected = tuple(first.verified.objected)
    cited = sources_of(first.verified.claims)
    others = _of_others(evidence, cited, first.named_papers) if wants_papers else []
    if not objected and not others and not found:
        return None
    of_parts = (context for one in found.values() for context in one.contexts)
    contexts = dict.fromkeys([*_read_for(objected, first.contexts), *others, *of_parts])
    claims = tuple(
        ObjectedClaim(one.proposed, one.objection.why) for one in objected if one.objection
    )
    return SecondRequest(
        tuple(contexts), Unmet(claims, cited if others else (), tuple(found)), objected
    )


def merged(first: Attempt, second: Attempt, request: SecondRequest) -> Attempt:
    """The first attempt with mended claims in the places of those objected to, and further claims
    behind them all.

    A part is missing no more where a further claim holds that shares a word with it, unless the
    model misses it still.
    """
    mending = {id(one): nth for nth, one in enumerate(request.objected, start=1)}
    outcomes: list[Outcome] = []
    for one in first.verified.outcomes:
        answers = [
            new
            for new in second.verified.outcomes
            if new.proposed.mends == mending.get(id(one), -1)
        ]
        held = [new for new in answers if new.holds]
        outcomes += held or answers[:1] or [one]
    known = {(one.proposed.text, one.proposed.citations) for one in outcomes}
    further: set[str] = set()
    for new in second.verified.outcomes:
        is_further = not 1 <= new.proposed.mends <= len(mending)
        if is_further and (new.proposed.text, new.proposed.citations) not in known:
            outcomes.append(new)
            further |= terms_of(new.proposed.text) if new.holds else set()
    still = second.draft.missing
    missing = (
        part for part in first.draft.missing if part in still or further.isdisjoint(terms_of(part))
    )
    draft = replace(first.draft, missing=tuple(missing))
    verified = VerifiedClaims(tuple(outcomes))
    contexts = dict.fromkeys([*first.contexts, *second.contexts])
    return replace(
        first,
        draft=draft,
        verified=verified,
        contexts=tuple(contexts),
        fingerprint=second.fingerprint,
    )


def _read_for(objected: Sequence[Outcome], contexts: Sequence[Context]) -> Iterator[Context]:
    named = {citation.chunk_id for one in objected for citation in one.proposed.citations}
    found = [context for context in contexts if context.chunk_id in named]
    yield from found if found or not objected else contexts[:_UNCITED_SOURCES]


def _of_others(evidence: Evidence, cited: Sequence[str], named: Sequence[str]) -> list[Context]:
    """Contexts of papers that the question names, else of any with a passage that may answer."""
    relevance = _relevance(evidence)
    others = [
        context
        for context in evidence.contexts
        if context.paper_id not in cited
        and (context.paper_id in named if named else _may_answer(context, relevance))
    ]
    return others[:_MOST_OF_OTHERS]


def _relevance(evidence: Evidence) -> dict[str, float | None]:
    return {hit.chunk.chunk_id: hit.relevance for hit in evidence.hits}


def _may_answer(context: Context, relevance: dict[str, float | None]) -> bool:
    if context.chunk_id not in relevance:
        return False
    rated = relevance[context.chunk_id]
    return rated is None or rated >= PARTIAL_FROM
